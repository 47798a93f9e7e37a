/** A deliberate defect: a header that says which tests must notice it, and a patch. */
export interface Mutant {
  readonly name: string;
  /** Requirements whose tests must fail; empty where the named tests claim none. */
  readonly ids: readonly string[];
  readonly why: string;
  /** Test files to run; empty means every acceptance test file that claims one of the ids. */
  readonly tests: readonly string[];
  /** Pattern of the names of the tests to run, where no ids say it; undefined means all of each file. */
  readonly names: RegExp | undefined;
  /** The tests of a file build on each other, so that all of them run. */
  readonly isWhole: boolean;
  /** Takes more than about a minute, so that a sample skips it. */
  readonly isSlow: boolean;
  readonly patch: string;
}

const FIELD = /^(\w+):\s*(.*)$/;
const FIELDS = new Set(["ids", "why", "tests", "names", "whole", "slow"]);

/** Parses a file of `test/mutants`; throws where it is not one. */
export function parseMutant(name: string, text: string): Mutant {
  const start = text.search(/^(diff --git|--- )/m);
  if (start === -1) throw new Error(`${name}: the file has no patch`);
  const fields = parseHeader(name, text.slice(0, start));
  const mutant = {
    name,
    ids: words(fields.get("ids")),
    why: fields.get("why") ?? "",
    tests: words(fields.get("tests")),
    names: toPattern(fields.get("names")),
    isWhole: fields.has("whole"),
    isSlow: fields.has("slow"),
    patch: text.slice(start),
  };
  if (mutant.why === "") throw new Error(`${name}: the header needs a line "why: …"`);
  if (mutant.ids.length + mutant.tests.length === 0) throw new Error(`${name}: the header names neither ids nor tests`);
  return mutant;
}

/** Chooses by a hash of seed and name, so that each commit tries others and the same commit the same. */
export function sampleMutants(
  mutants: readonly Mutant[],
  count: number,
  rank: (name: string) => string,
): readonly Mutant[] {
  const ranked = mutants
    .filter(({ isSlow }) => !isSlow)
    .map((mutant) => ({ mutant, rank: rank(mutant.name) }))
    .toSorted((a, b) => (a.rank < b.rank ? -1 : 1));
  return ranked.slice(0, count).map(({ mutant }) => mutant);
}

/** Paths a patch changes, below the repository's root. */
export function changedFiles(patch: string): string[] {
  const paths = [...patch.matchAll(/^(?:---|\+\+\+) (?:[ab]\/)?(\S+)/gm)].map(([, path = ""]) => path);
  return [...new Set(paths)].filter((path) => path !== "/dev/null");
}

/** The pattern of test names that claim one of the ids. */
export function claimPattern(ids: readonly string[]): RegExp {
  return new RegExp(String.raw`\[(?:${ids.map((id) => id.replaceAll(".", String.raw`\.`)).join("|")})\]`);
}

function parseHeader(name: string, header: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const line of header.split("\n").filter((each) => each.trim() !== "")) {
    const [, key = "", value = ""] = FIELD.exec(line) ?? [];
    if (!FIELDS.has(key)) throw new Error(`${name}: the header has the line ${JSON.stringify(line)}`);
    fields.set(key, value.trim());
  }
  return fields;
}

function toPattern(text: string | undefined): RegExp | undefined {
  return text === undefined ? undefined : new RegExp(text);
}

function words(value: string | undefined): string[] {
  return (value ?? "").split(/\s+/).filter((word) => word !== "");
}
