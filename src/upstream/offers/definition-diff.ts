/** One difference between two definitions; an absent side has no value. */
export interface Difference {
  readonly path: string;
  readonly before?: string;
  readonly after?: string;
}

/** Compares two definitions of a tool down to single values and lines of text. */
export function diffDefinitions(before: unknown, after: unknown): Difference[] {
  const [old, current] = [flatten(before), flatten(after)];
  return [...new Set([...old.keys(), ...current.keys()])].toSorted().flatMap((path) => {
    const [was, is] = [old.get(path), current.get(path)];
    return was === is ? [] : diffText(path, was, is);
  });
}

/** Flattens values by their path, such as `inputSchema.properties.path.type`. */
function flatten(value: unknown, path = ""): Map<string, string> {
  if (typeof value !== "object" || value === null) return new Map([[path, toText(value)]]);
  const entries = Object.entries(value);
  if (entries.length === 0) return new Map([[path, Array.isArray(value) ? "[]" : "{}"]]);
  return new Map(entries.flatMap(([key, item]) => [...flatten(item, path === "" ? key : `${path}.${key}`)]));
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Trims long texts to the lines between their common start and end. */
function diffText(path: string, before: string | undefined, after: string | undefined): Difference[] {
  if (before === undefined || after === undefined)
    return [{ path, ...side("before", before), ...side("after", after) }];
  const [old, current] = [before.split("\n"), after.split("\n")];
  const shorter = Math.min(old.length, current.length);
  let start = 0;
  while (start < shorter && old[start] === current[start]) start += 1;
  let end = 0;
  while (end < shorter - start && old.at(-1 - end) === current.at(-1 - end)) end += 1;
  const cut = (lines: string[]): string | undefined => {
    const kept = lines.slice(start, lines.length - end);
    return kept.length === 0 ? undefined : kept.join("\n");
  };
  return [{ path, ...side("before", cut(old)), ...side("after", cut(current)) }];
}

function side(name: "before" | "after", text: string | undefined): Partial<Difference> {
  return text === undefined ? {} : { [name]: text };
}
