import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { z } from "zod";
import { analyseProgram } from "../../src/analysis/analyse-program.ts";
import type { JsonObject } from "../../src/base/json.ts";
import type { ToolNote } from "../../src/naming/nameable.ts";
import { textsIn } from "../../src/naming/task-words.ts";
import { Random } from "../../test/support/random.ts";
import { SERVER_NAMES, toolsOfServer } from "../world/world.ts";
import { readTemplates } from "../world/templates.ts";
import { writeSolution } from "../world/write-program.ts";
import { expandBraces, type Example } from "./evaluation-set.ts";

/** A task text with its program, and the words that no name may have. */
export interface NamingTask extends Example {
  /** Every word that the task has beyond its tools: names, ids, values, leftovers of the text. */
  readonly foreign: (name: string) => readonly string[];
}

/**
 * Reads entries of `=== id`, patterns of actions with `{a,b}`, texts after `- ` with values as `{argument=value}`, and
 * a program; without one, that of the world's template of this id. A hash of the text sets half of them aside.
 */
export function readTasks(): NamingTask[] {
  const definitions = readDefinitions();
  const programs = new Map(readTemplates().map(({ id, program }) => [id, program]));
  const entries = readText("tasks.txt").split(/^=== /m).slice(1);
  return entries.flatMap((entry) => readEntry(entry, programs, definitions));
}

function readText(name: string): string {
  return readFileSync(new URL(name, import.meta.url), "utf8");
}

function readEntry(
  entry: string,
  programs: ReadonlyMap<string, string>,
  definitions: ReadonlyMap<string, ToolNote>,
): NamingTask[] {
  const [id = "", ...lines] = entry.trimEnd().split("\n");
  const patterns = lines.slice(0, lines.findIndex(isText));
  const program = lines.slice(lines.findLastIndex(isText) + 1).join("\n") || programs.get(id);
  if (program === undefined) throw new Error(`${id} has no program`);
  const acceptable = new Set(patterns.flatMap(expandBraces));
  return lines.filter(isText).map((line) => readTask({ id, line, program, acceptable, definitions }));
}

function isText(line: string): boolean {
  return line.startsWith("- ");
}

interface TaskParts {
  readonly id: string;
  readonly line: string;
  readonly program: string;
  readonly acceptable: ReadonlySet<string>;
  readonly definitions: ReadonlyMap<string, ToolNote>;
}

const VALUE = /\{(\w+)=([^}]*)\}/g;

function readTask({ id, line, program, acceptable, definitions }: TaskParts): NamingTask {
  const text = line.slice("- ".length).replace(VALUE, "$2");
  const values = readValues(line, program);
  const digest = createHash("sha256").update(text).digest();
  // Half of the programs have the values in their text, as agents write them; the others get them as arguments.
  const literal = (digest[1] ?? 0) % 2 === 0;
  const code = literal ? writeSolution(program, values, "literal", new Random(digest.readUInt32LE(2))) : program;
  const { structure, tools, parameters } = analyse(id, code);
  const used = tools.flatMap((tool) => definitions.get(tool) ?? []);
  if (used.length < tools.length) throw new Error(`${id} calls tools without a definition`);
  const nameable = {
    id: `${id}: ${text}`,
    currentName: "unnamed_00000000",
    intents: [text],
    code,
    tools,
    structure,
    parameters: Object.keys(z.record(z.string(), z.unknown()).parse(parameters["properties"] ?? {})),
    definitions: used,
    values: literal ? [] : textsIn(values),
  };
  const known = new Set(
    [...acceptable].flatMap((each) => each.split("_")).concat(used.flatMap(wordsOf), namesOf(program), JOINING),
  );
  const foreign = (name: string): string[] =>
    name
      .slice(name.indexOf(":") + 1)
      .split("_")
      .filter((word) => !known.has(word) && !known.has(`${word}s`) && !known.has(word.replace(/e?s$/, "")));
  return { nameable, acceptable, foreign, setAside: (digest[0] ?? 0) % 2 === 0 };
}

/** Words that join others in a name. */
const JOINING = ["if", "unless", "by", "with", "without", "for", "several", "and", "to", "largest", "smallest"];

/** Every word of a tool's name, description and schemas. */
function wordsOf({ id, description = "", inputSchema, outputSchema }: ToolNote): string[] {
  const text = [
    id,
    description.replace(/'[^']*'/g, ""),
    JSON.stringify(inputSchema ?? {}),
    JSON.stringify(outputSchema ?? {}),
  ];
  return text
    .join(" ")
    .toLowerCase()
    .split(/[^a-z]+/);
}

/** Parameters, properties and states in conditions are the program's, whatever the task. */
function namesOf(program: string): string[] {
  return [...program.matchAll(/\.(\w+)|== "(\w+)"/g)].flatMap(([, name, state]) => (name ?? state ?? "").split("_"));
}

/** A list in the text is a list in the program; what the text does not have gets a value all the same. */
function readValues(line: string, program: string): JsonObject {
  const said = [...line.matchAll(VALUE)].map(([, name = "", value = ""]) => [name, toValue(name, value)] as const);
  const needed = [...program.matchAll(/args\.(\w+)/g)].map(([, name = ""]) => [name, toValue(name, "x7")] as const);
  return Object.fromEntries([...needed, ...said]);
}

function toValue(name: string, value: string): string | number | string[] {
  if (name.endsWith("s") && /^(?:names|folders|\w+_ids)$/.test(name)) return value.split(", ");
  return /^\d{1,3}(?:\.\d+)?$/.test(value) ? Number(value) : value;
}

function analyse(id: string, code: string): Extract<ReturnType<typeof analyseProgram>, { kind: "program" }>["program"] {
  const outcome = analyseProgram(code, { findTool: (server, tool) => ({ id: `${server}:${tool}` }) });
  if (outcome.kind === "syntax_error") throw new Error(`${id}: ${outcome.problem.message}\n${code}`);
  return outcome.program;
}

function readDefinitions(): ReadonlyMap<string, ToolNote> {
  const world = SERVER_NAMES.flatMap((server) =>
    toolsOfServer(server).map(({ name, description, effect, input, output }): ToolNote => {
      const schemas = { inputSchema: z.toJSONSchema(input, { io: "input" }), outputSchema: z.toJSONSchema(output) };
      return { id: `${server}:${name}`, description, readOnly: effect === "read", ...schemas };
    }),
  );
  const others = readText("tools.txt").trimEnd().split("\n").map(readDefinition);
  return new Map([...world, ...others].map((each) => [each.id, each]));
}

/** `server:tool(argument, argument=one|other) effect description`. */
function readDefinition(line: string): ToolNote {
  const [, id = "", given = "", effect, description = ""] = /^(\S+?)\((.*?)\) (\w+) (.*)$/.exec(line) ?? [];
  const properties = given.split(", ").map((each) => {
    const [name = "", values] = each.split("=");
    return [name, { type: "string", ...(values === undefined ? {} : { enum: values.split("|") }) }] as const;
  });
  const inputSchema = { type: "object", properties: Object.fromEntries(properties) };
  return { id, description, readOnly: effect === "read", inputSchema };
}
