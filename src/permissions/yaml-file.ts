import { isAlias, isCollection, isMap, isScalar, LineCounter, parseDocument } from "yaml";
import { PmlError } from "../base/errors.ts";

type Path = readonly (string | number)[];

/** The text of a YAML file, which knows on which line everything stands. */
export interface YamlFile {
  readonly path: string;
  readonly value: unknown;
  /** `file:line` of a key or list item; of the nearest one around it when it is absent. */
  locate(keys: Path): string;
}

export function parseYamlFile(path: string, text: string): YamlFile {
  const lines = new LineCounter();
  const document = parseDocument(text.replace(/^\uFEFF/, ""), { lineCounter: lines, prettyErrors: false });
  // a warning is a tag that is not known, so the value may not be what was meant
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem !== undefined) {
    const { line } = lines.linePos(problem.pos[0]);
    throw broken(`${path}:${line}`, `is not valid YAML: ${firstLower(problem.message)}`, text.split("\n")[line - 1]);
  }
  if (document.contents === null) throw broken(`${path}:1`, "is empty");
  const locate = (keys: Path): string => {
    let node: unknown = document.contents;
    let offset = 0;
    for (const key of keys) {
      const container = isAlias(node) ? node.resolve(document) : node;
      const pair = isMap(container) ? container.items.find((item) => keyOf(item.key) === String(key)) : undefined;
      node = pair === undefined ? (isCollection(container) ? container.get(key, true) : undefined) : pair.value;
      const start = rangeStart(pair === undefined ? node : pair.key);
      if (start === undefined) break;
      offset = start;
    }
    return `${path}:${lines.linePos(offset).line}`;
  };
  try {
    return { path, value: document.toJS(), locate };
  } catch (error) {
    throw broken(`${path}:1`, `cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

export const UNTIL_MENDED = "Until that is mended nothing is permitted";

/** The one error of a file that cannot be used: where, what, and how to get out of it. */
export function broken(at: string, problem: string, line?: string): PmlError {
  const look =
    line === undefined || line.trim() === "" ? "" : `Look at this line, or the one before it: ${line.trim()}\n`;
  return new PmlError("permissions_broken", `${at} ${problem}. ${UNTIL_MENDED}`, {
    hint: `${look}Mend it or remove it; it is read again by itself. Its keys are in docs/design/permissions.md`,
    details: { at },
  });
}

function keyOf(key: unknown): string | undefined {
  return isScalar(key) ? String(key.value) : undefined;
}

function rangeStart(node: unknown): number | undefined {
  const range = typeof node === "object" && node !== null && "range" in node ? node.range : undefined;
  return Array.isArray(range) ? (range[0] as number) : undefined;
}

function firstLower(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1).replace(/\.$/, "");
}
