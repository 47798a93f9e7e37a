import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import { PmlError } from "../base/errors.ts";
import type { Environment } from "./environment.ts";
import { CONFIG_FILE } from "./project-file.ts";

export interface ConfigFile {
  readonly path: string;
  readonly value: Record<string, unknown>;
  /** Returns the position of a key as `file:line:column`, or of the nearest enclosing value if it is absent. */
  locate(path: readonly PropertyKey[]): string;
}

/** Returns the first of: the requested file, PML_CONFIG, $PML_HOME/pml.json. The working directory is not looked at. */
export function findConfigFile(asked: string | undefined, env: Environment, home: string): ConfigFile | undefined {
  const named = asked ?? env["PML_CONFIG"];
  if (named !== undefined && named !== "") return readConfigFile(resolve(named), "required");
  return readConfigFile(join(home, CONFIG_FILE), "optional");
}

const MISSING: ReadonlySet<unknown> = new Set(["ENOENT", "ENOTDIR"]);

function readConfigFile(path: string, presence: "required" | "optional"): ConfigFile | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    const missing = cause instanceof Error && "code" in cause && MISSING.has(cause.code);
    if (missing && presence === "optional") return undefined;
    const reason = missing ? "it does not exist" : String(cause instanceof Error ? cause.message : cause);
    throw new PmlError("config_not_found", `Cannot read the configuration file ${path}: ${reason}`, {
      hint: "Check --config and PML_CONFIG, or leave both out to use $PML_HOME/pml.json",
      cause,
    });
  }
  return parseConfigFile(path, text.replace(/^\uFEFF/, ""));
}

export function parseConfigFile(path: string, text: string): ConfigFile {
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined) throw syntaxError(path, text, error);
  if (tree?.type !== "object") {
    throw new PmlError("config_syntax", `${path}:1:1 must hold one JSON object`, { hint: "An empty one is fine: {}" });
  }
  return {
    path,
    value: getNodeValue(tree) as Record<string, unknown>,
    locate: (keys) => `${path}:${position(text, nearestNode(tree, keys).offset)}`,
  };
}

/** Leaves the line out: it may hold a secret, and the error goes to the log and to agents. */
function syntaxError(path: string, text: string, error: ParseError): PmlError {
  const where = position(text, error.offset);
  const what = printParseErrorCode(error.error)
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase();
  return new PmlError("config_syntax", `${path}:${where} is not valid JSON: ${what}`, {
    hint: "Look at this line, or the one before it",
    details: { path, position: where },
  });
}

function nearestNode(tree: Node, keys: readonly PropertyKey[]): Node {
  for (let length = keys.length; length > 0; length -= 1) {
    const found = findNodeAtLocation(tree, keys.slice(0, length).map(jsonKey));
    if (found !== undefined) return found.parent?.type === "property" ? found.parent : found;
  }
  return tree;
}

function jsonKey(key: PropertyKey): string | number {
  return typeof key === "symbol" ? String(key) : key;
}

/** Formats `line:column`, both counted from 1. */
function position(text: string, offset: number): string {
  const before = text.slice(0, offset).split("\n");
  return `${before.length}:${(before.at(-1) ?? "").length + 1}`;
}
