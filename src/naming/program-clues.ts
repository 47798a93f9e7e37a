import { parseToolId } from "../catalogue/tool-id.ts";
import { toPlural, toSingular } from "./common-words.ts";
import { type ProgramCall, readCalls } from "./program-calls.ts";
import type { Nameable } from "./nameable.ts";
import { isGeneralPurpose } from "./namespace-rules.ts";
import { enumValues, propertyNames } from "./schema-words.ts";
import { findTaskWords } from "./task-words.ts";
import { findEntity } from "./tool-words.ts";
import { DATA_FORMATS, splitWords } from "./verbs.ts";

/** Verb and object that a program's calls suggest, and the words it knows. */
export interface ProgramClues {
  readonly verb: string | undefined;
  readonly target: readonly string[];
  /** The call that the name stands for; undefined without calls. */
  readonly main: ProgramCall | undefined;
  readonly calls: readonly ProgramCall[];
  /** The tools serve any purpose (files, SQL, commands), so that only the intent knows this one. */
  readonly general: boolean;
  /** Words of its tools' definitions, its tables, formats and identifiers, without those of one task. */
  readonly vocabulary: ReadonlySet<string>;
  readonly taskWords: ReadonlySet<string>;
}

export type ProgramFacts = Pick<
  Nameable,
  "code" | "tools" | "intents" | "structure" | "definitions" | "values" | "parameters"
>;

export function readProgram(facts: ProgramFacts): ProgramClues {
  const { code } = facts;
  const sql = readSql(code);
  const calls = readCalls(facts);
  const formats = [...DATA_FORMATS].filter((each) => usesFormat(code, each));
  const main = findMainCall(calls, facts.intents);
  const spoken = main === undefined ? undefined : speak(main, calls, code);
  const target = sql?.target ?? spoken?.target ?? [];
  const taskWords = findTaskWords(facts);
  return {
    verb: sql?.verb ?? spoken?.verb,
    target: target.length === 0 ? formats.slice(0, 1) : target,
    main,
    calls,
    general: sql !== undefined || main === undefined || isGeneral(main),
    vocabulary: readVocabulary(facts, [...calls.flatMap(({ words }) => words.words), ...target, ...formats], taskWords),
    taskWords,
  };
}

/** A tool for anything, or one whose name has no verb or no object (`git_log`). */
function isGeneral({ words: { id, verb, target } }: ProgramCall): boolean {
  return verb === undefined || target.length === 0 || isGeneralPurpose(id, verb);
}

/** Words of the tools count whatever the task; words of the program only if they are not of one task. */
function readVocabulary(
  { code, definitions = [], parameters }: ProgramFacts,
  own: readonly string[],
  taskWords: ReadonlySet<string>,
): ReadonlySet<string> {
  const defined = definitions.flatMap(({ description = "", inputSchema, outputSchema }) => [
    ...splitWords(withoutExamples(description)),
    ...[...propertyNames(inputSchema), ...propertyNames(outputSchema)].flatMap(splitWords),
  ]);
  const closed = definitions.flatMap(({ inputSchema, outputSchema }) => [
    ...enumValues(inputSchema),
    ...enumValues(outputSchema),
  ]);
  const written = [...readMembers(code), ...parameters.flatMap(splitWords), ...defined];
  // A closed list has values of every task; this program's own are those it is written with.
  const states = closed.filter((value) => code.includes(value));
  return new Set([...own, ...states.flatMap(splitWords), ...written.filter((word) => !taskWords.has(word))]);
}

/** Examples in a description have values of some task: `like O-5017`, `such as 'sara_doe_496'`. */
function withoutExamples(description: string): string {
  return description
    .replace(/["'`“‘][^"'`”’]*["'`”’]/g, " ")
    .replace(/\b(?:like|such as|e\.g\.?|for example)[^.;)]*/gi, " ")
    .replace(/(?<=[a-z,] )[A-Z][\p{L}]+/gu, " ")
    .replace(/\S*\d\S*/g, " ");
}

/** Removes literals and comments: a user's values have no part in the shape of a program. */
export function withoutLiterals(code: string): string {
  return code
    .replace(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g, (text) => `${text[0]}…${text[0]}`)
    .replace(/\/\/[^\n]*|\/\*[\s\S]*?\*\//g, "")
    .replace(/\b\d[\d_.]*\b/g, "0");
}

/** Members that the program reads or writes; its own variables may be called after the task. */
function readMembers(code: string): string[] {
  const members = withoutLiterals(code).match(/\.\s*[a-z_]\w*|\b[a-z_]\w*(?=\s*:)/gi) ?? [];
  return members.flatMap(splitWords);
}

function usesFormat(code: string, format: string): boolean {
  return code.includes(`.${format}"`) || (format === "json" && /JSON\.(?:parse|stringify)/.test(code));
}

const RANK = { read: 0, tell: 1, change: 2 } as const;

/**
 * The call that changes something defines the purpose; telling somebody mostly goes with it. Of several, the one
 * whose words the intents have, then the last. Without a change it is the last call with an object.
 */
function findMainCall(calls: readonly ProgramCall[], intents: readonly string[]): ProgramCall | undefined {
  const said = new Set(intents.flatMap(splitWords).flatMap((word) => [word, toSingular(word)]));
  const rate = ({ words: { effect, verb, target } }: ProgramCall): number => {
    const known = [verb, ...target].filter((word) => word !== undefined && said.has(toSingular(word)));
    const fit = effect === "read" ? 0 : 2 * known.length - target.length;
    // `set`, `add` and `update` go with a more telling change as often as not.
    const telling = verb !== undefined && SETTING.has(verb) ? 0 : 1;
    return RANK[effect] * 20 + fit + telling + (target.length > 0 ? 1 : 0);
  };
  const best = Math.max(...calls.map(rate));
  return calls.findLast((call) => rate(call) === best);
}

interface Spoken {
  readonly verb: string | undefined;
  readonly target: readonly string[];
}

/** Verbs whose object is a property, so that the name needs the thing as well: `set_ticket_status`. */
const SETTING = new Set(["set", "update", "add", "change", "grant", "mark", "log"]);

function speak(main: ProgramCall, calls: readonly ProgramCall[], code: string): Spoken {
  const { verb, target, effect } = main.words;
  if (effect === "read") return speakReading(main, calls, code);
  const stored = verb === "write" || verb === "save" || verb === "upload" ? findStored(main, calls) : undefined;
  if (stored !== undefined) return stored;
  const thing = [...findOwner(main), ...target];
  const object = thing.at(-1);
  return { verb, target: main.repeated && object !== undefined ? [...thing.slice(0, -1), toPlural(object)] : thing };
}

/** The thing whose property a call sets. */
function findOwner({ words: { verb = "", target }, note }: ProgramCall): string[] {
  const [entity] = findEntity(note);
  return SETTING.has(verb) && target.length === 1 && entity !== undefined && entity !== target[0] ? [entity] : [];
}

/** A file that other things are written into: `export_events`. A file that was read before is edited. */
function findStored(main: ProgramCall, calls: readonly ProgramCall[]): Spoken | undefined {
  const before = calls.slice(0, calls.indexOf(main)).filter(({ words }) => words.effect === "read");
  const source = before.findLast(({ words }) => words.target.length > 0);
  if (source === undefined) return undefined;
  const same = parseToolId(source.words.id).server === parseToolId(main.words.id).server;
  return same ? { verb: "edit", target: main.words.target } : { verb: "export", target: source.words.target };
}

/** Verbs and adjectives for computations over the things that were read. */
const COMPUTED: readonly (readonly [RegExp, string, string | undefined])[] = [
  [/Math\.max\(|\b(?:most|largest|longest|biggest|highest)\b/, "find", "largest"],
  [/Math\.min\(|\b(?:least|smallest|shortest|cheapest|lowest)\b/, "find", "smallest"],
  [/\.reduce\(|\+=\s*\w+\./, "sum", undefined],
  [/return[^;]*\.(?:length|size)\b/, "count", undefined],
];

function speakReading(main: ProgramCall, calls: readonly ProgramCall[], code: string): Spoken {
  const { verb, target } = main.words;
  const list = calls.findLast(({ words }) => words.verb === "list" || words.verb === "search");
  if (list === undefined || list.words.target.length === 0) return { verb, target };
  const computed = COMPUTED.find(([pattern]) => pattern.test(withoutLiterals(code)));
  if (computed === undefined) return { verb, target };
  const [, doing, which] = computed;
  const things = list.words.target;
  if (which === undefined) return { verb: doing, target: things };
  return { verb: doing, target: [which, ...things.slice(0, -1), toSingular(things.at(-1) ?? "")] };
}

const SQL_VERBS: readonly (readonly [RegExp, string])[] = [
  [/\binsert\s+into\s+["`]?(\w+)/i, "insert"],
  [/\bupdate\s+["`]?(\w+)["`]?\s+set\b/i, "update"],
  [/\bdelete\s+from\s+["`]?(\w+)/i, "delete"],
  [/\bcreate\s+table\s+(?:if\s+not\s+exists\s+)?["`]?(\w+)/i, "create"],
  [/\bselect\b[\s\S]*?\bfrom\s+["`]?(\w+)/i, "query"],
];

function readSql(code: string): { readonly verb: string; readonly target: readonly string[] } | undefined {
  for (const [pattern, verb] of SQL_VERBS) {
    const table = pattern.exec(code)?.[1];
    if (table !== undefined) return { verb, target: splitWords(table) };
  }
  return undefined;
}
