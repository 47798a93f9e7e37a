import { formatToolId } from "../catalogue/tool-id.ts";
import { z } from "zod";
import { findClosest } from "../base/closest.ts";
import { EFFECTS } from "./effect.ts";
import type { Decision, DecisionSource } from "./plan.ts";
import { joinRules, type Rules } from "./rule-model.ts";
import { checkPattern, createPattern } from "./tool-pattern.ts";
import { broken, parseYamlFile, type YamlFile, type YamlPath } from "./yaml-file.ts";

/** Both spellings are in use. */
const MODES: Readonly<Record<string, Decision>> = {
  auto: "allow",
  allow: "allow",
  hil: "ask",
  ask: "ask",
  deny: "deny",
};

function oneOf<const T extends string>(words: readonly T[]) {
  return z.preprocess((value) => (typeof value === "string" ? value.toLowerCase() : value), z.enum(words)).optional();
}

const settings = {
  scope: z.string().min(1).optional(),
  approvalMode: oneOf(Object.keys(MODES)),
  routing: oneOf(["local", "cloud"]),
  effect: oneOf(EFFECTS),
};
const toolEntry = z.strictObject(settings);
const serverEntry = z.strictObject({ ...settings, tools: z.record(z.string(), toolEntry).optional() });
const mapping = z.record(z.string(), z.unknown());
const patterns = z.array(z.string());
type ToolSettings = z.infer<typeof toolEntry>;

const LISTS: readonly string[] = ["allow", "ask", "deny"] satisfies Decision[];

/**
 * Parses a permissions file: an entry per server, at the top or below `servers`, and lists of patterns named `allow`,
 * `ask` and `deny`. An unknown key is an error with its line, since a misspelt prohibition must not be ignored.
 */
export function parsePermissionsFile(path: string, text: string): Rules {
  const file = parseYamlFile(path, text);
  const top = check(file, [], mapping);
  return joinRules(
    Object.entries(top).flatMap(([key, value]): Rules[] => {
      if (LISTS.includes(key) && Array.isArray(value)) return [readList(file, key as Decision)];
      if (key !== "servers") return [readServer(file, [key], key)];
      return Object.keys(check(file, [key], mapping)).map((name) => readServer(file, [key, name], name));
    }),
  );
}

function readList(file: YamlFile, decision: Decision): Rules {
  const decisions = check(file, [decision], patterns).map((text, index) => ({
    pattern: patternAt(file, [decision, index], text),
    value: decision,
    source: sourceAt(file, [decision, index]),
  }));
  return { decisions, effects: [], routings: [], scopes: [] };
}

function readServer(file: YamlFile, path: YamlPath, name: string): Rules {
  const { tools = {}, ...entry } = check(file, path, serverEntry);
  const below = Object.entries(tools).map(([tool, settingsOfTool]) => ({
    text: formatToolId(name, tool),
    path: [...path, "tools", tool],
    entry: settingsOfTool,
  }));
  // A tool's own mode replaces its server's, except that a denied server stays denied.
  const mode = entry.approvalMode === undefined ? undefined : MODES[entry.approvalMode];
  const except = below
    .filter((tool) => mode !== "deny" && tool.entry.approvalMode !== undefined)
    .map((tool) => patternAt(file, tool.path, tool.text));
  const all = readEntry(file, { text: name, path, entry });
  return joinRules([
    { ...all, decisions: all.decisions.map((statement) => ({ ...statement, except })) },
    ...below.map((tool) => readEntry(file, tool)),
  ]);
}

interface LocatedEntry {
  readonly text: string;
  readonly path: YamlPath;
  readonly entry: ToolSettings;
}

function readEntry(file: YamlFile, { text, path, entry }: LocatedEntry): Rules {
  const pattern = patternAt(file, path, text);
  const state = <T>(key: keyof ToolSettings, value: T | undefined) =>
    value === undefined ? [] : [{ pattern, value, source: sourceAt(file, [...path, key]) }];
  const { approvalMode, effect, routing, scope } = entry;
  return {
    decisions: state("approvalMode", approvalMode === undefined ? undefined : MODES[approvalMode]),
    effects: state("effect", effect),
    routings: state("routing", routing),
    scopes: state("scope", scope),
  };
}

function patternAt(file: YamlFile, path: YamlPath, text: string) {
  const problem = checkPattern(text);
  if (problem !== undefined) throw broken(file.locate(path), problem);
  return createPattern(text);
}

function sourceAt(file: YamlFile, path: YamlPath): DecisionSource {
  return { kind: "file", at: file.locate(path) };
}

/** Returns the validated value at a path; throws an error with its line and the expected keys. */
function check<T>(file: YamlFile, path: YamlPath, schema: z.ZodType<T>): T {
  const value = path.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], file.value);
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  if (issue === undefined) throw parsed.error;
  const where = [...path, ...issue.path.map((key) => (typeof key === "number" ? key : String(key)))];
  if (issue.code !== "unrecognized_keys") {
    throw broken(file.locate(where), `"${where.join(".")}": ${lowerFirst(issue.message)}`);
  }
  const key = issue.keys[0] ?? "";
  const known = Object.keys(where.includes("tools") ? toolEntry.shape : serverEntry.shape);
  const closest = findClosest(key, known);
  const fix = closest === undefined ? `known keys are ${known.join(", ")}` : `did you mean "${closest}"?`;
  throw broken(file.locate([...where, key]), `"${[...where, key].join(".")}" is not a known key; ${fix}`);
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
