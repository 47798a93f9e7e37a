import { isAlias, isCollection, isMap, isScalar, LineCounter, parseDocument } from "yaml";
import { PmlError } from "../base/errors.ts";

export type YamlPath = readonly (string | number)[];

/** A parsed YAML file that knows the line of every key. */
export interface YamlFile {
  readonly path: string;
  readonly value: unknown;
  /** `file:line` of a key or list item, or of its nearest ancestor if it is absent. */
  locate(keys: YamlPath): string;
}

export function parseYamlFile(path: string, text: string): YamlFile {
  const lines = new LineCounter();
  const document = parseDocument(text.replace(/^\uFEFF/, ""), { lineCounter: lines, prettyErrors: false });
  // a warning means an unknown tag, so the value may not be the intended one
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem !== undefined) {
    const { line } = lines.linePos(problem.pos[0]);
    throw broken(`${path}:${line}`, `is not valid YAML: ${firstLower(problem.message)}`, text.split("\n")[line - 1]);
  }
  if (document.contents === null) throw broken(`${path}:1`, "is empty");
  const locate = (keys: YamlPath): string => {
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

export const NOTHING_PERMITTED = "Nothing is permitted until this is fixed";

/** The error for an unusable file: location, problem, remedy. */
export function broken(at: string, problem: string, line?: string): PmlError {
  const look =
    line === undefined || line.trim() === "" ? "" : `Look at this line, or the one before it: ${line.trim()}\n`;
  return new PmlError("permissions_broken", `${at} ${problem}. ${NOTHING_PERMITTED}`, {
    hint: `${look}Fix it or remove it; PML reads it again on change. Its keys are in docs/design/permissions.md`,
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
