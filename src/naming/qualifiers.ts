import type { StaticStructure } from "../analysis/structure.ts";
import type { ProgramCall } from "./program-calls.ts";
import type { ProgramClues } from "./program-clues.ts";
import { enumValues, propertiesOf } from "./schema-words.ts";
import { isObject } from "../base/json.ts";

/** Words that tell two programs with the same verb and object apart, by what they do: conditions first, then inputs. */
export function findQualifiers(structure: StaticStructure | undefined, clues: ProgramClues): string[] {
  const { calls, main, taskWords } = clues;
  if (structure === undefined || main === undefined) return [];
  const states = new Set(
    calls.flatMap(({ note }) => [...enumValues(note?.inputSchema), ...enumValues(note?.outputSchema)]),
  );
  const found = [
    ...readConditions(structure).map((condition) => toQualifier(condition, states)),
    ...calls.filter((call) => call !== main).flatMap(readStates),
    ...calls.filter(({ words }) => words.effect === "read").flatMap(readKeys),
    ...(main.repeated ? ["for_several"] : []),
    ...calls
      .filter((call) => call !== main && call.words.effect !== "read")
      .flatMap(({ words }) => `and_${words.verb}`),
  ];
  return found.filter(
    (each): each is string =>
      each !== undefined && each.split("_").every((word) => isPlain(word) && !taskWords.has(word)),
  );
}

/** Names stay readable without digits and initials. */
function isPlain(word: string): boolean {
  return /^[a-z]{2,14}$/.test(word);
}

interface Condition {
  readonly text: string;
  /** The call happens where the condition does not hold. */
  readonly negated: boolean;
}

function readConditions({ nodes, edges }: StaticStructure): Condition[] {
  return nodes.flatMap((node) => {
    if (node.type === "loop") return readFilters(node.over);
    if (node.type !== "decision") return [];
    const outcomes = edges.flatMap((edge) =>
      edge.type === "conditional" && edge.from === node.id ? [edge.outcome] : [],
    );
    return [{ text: node.condition, negated: outcomes.length > 0 && !outcomes.includes("true") }];
  });
}

function readFilters(expression: string): Condition[] {
  const text = /\.filter\(\(?\w+\)?\s*=>\s*([^()]*)\)/.exec(expression)?.[1];
  return text === undefined ? [] : [{ text, negated: false }];
}

/** Arguments and properties that have few values everywhere. */
const STATE_NAMES =
  /^(?:state|status|type|kind|priority|severity|tier|level|membership|role|cabin|format|mode|visibility)$/;

const STATE = /\.(\w+)\s*([!=]==?)\s*["'`]([a-z_ -]+)["'`]/;
const ABSENCE = /\.(\w+?)(?:\.length)?\s*([!=]==?)\s*(?:null|undefined|0)\b/;
const FLAG = /^(!?)\w+\.(\w+)$/;
const COMPARED = /\.(\w+)\s*[<>]=?/;

/** `status === "pending"` becomes `if_pending`, `assignee === null` becomes `without_assignee`. */
function toQualifier({ text, negated }: Condition, states: ReadonlySet<string>): string | undefined {
  const [, property = "", equal, value] = STATE.exec(text) ?? [];
  if (value !== undefined) return toState({ property, value, holds: equal?.startsWith("!") === negated }, states);
  return toPresence({ text, negated }) ?? toComparison({ text, negated });
}

function toPresence({ text, negated }: Condition): string | undefined {
  const [, missing, same] = ABSENCE.exec(text) ?? [];
  return missing === undefined
    ? undefined
    : `${same?.startsWith("!") === negated ? "without" : "with"}_${snake(missing)}`;
}

function toComparison({ text, negated }: Condition): string | undefined {
  const [, not, flag] = FLAG.exec(text.trim()) ?? [];
  if (flag !== undefined) return `${(not === "!") === negated ? "if" : "unless"}_${snake(flag)}`;
  const compared = COMPARED.exec(text)?.[1];
  return compared === undefined ? undefined : `by_${snake(compared)}`;
}

interface StateTest {
  readonly property: string;
  readonly value: string;
  readonly holds: boolean;
}

/** A value that is none of a closed list may be of one task only; then the property has to do. */
function toState({ property, value, holds }: StateTest, states: ReadonlySet<string>): string {
  if (value === "yes" || value === "no") return `${holds === (value === "yes") ? "if" : "unless"}_${snake(property)}`;
  if (!states.has(value) && !STATE_NAMES.test(property)) return `by_${snake(property)}`;
  return `${holds ? "if" : "unless"}_${snake(value)}`;
}

function snake(word: string): string {
  return word
    .replace(/([a-z])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replace(/[ -]/g, "_");
}

/** Values of closed lists that a call has in the program itself: `list_orders({ status: "pending" })`. */
export function readStates({ arguments: given, note }: ProgramCall): string[] {
  return Object.entries(given).flatMap(([name, argument]) => {
    if (argument.type !== "literal" || typeof argument.value !== "string") return [];
    return isState(name, argument.value, note?.inputSchema) ? [snake(argument.value)] : [];
  });
}

function isState(name: string, value: string, schema: Parameters<typeof propertiesOf>[0]): boolean {
  const property = propertiesOf(schema)[name];
  const closed = isObject(property) ? enumValues(property) : [];
  return closed.length > 0 ? closed.includes(value) : STATE_NAMES.test(name) && /^[a-z]{3,12}$/.test(value);
}

/** Parameters by which a reading call finds the thing: `by_email`. */
function readKeys({ arguments: given, words }: ProgramCall): string[] {
  const keys = Object.entries(given).flatMap(([name, { type }]) =>
    type === "parameter" || type === "literal" ? [name] : [],
  );
  return [
    ...(words.rest[0] === "by" ? [words.rest.join("_")] : []),
    ...keys.filter((name) => !name.endsWith("id")).map((name) => `by_${snake(name)}`),
  ];
}
