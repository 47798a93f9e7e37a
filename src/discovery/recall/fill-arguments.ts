import { isObject, type JsonObject, type JsonSchema, type JsonValue } from "../../base/json.ts";
import { spellOut } from "../query-words.ts";
import { findValues, type IntentValue } from "./delexicalise.ts";

/** A past run: its intent and arguments. */
export interface PastRun {
  readonly intent: string;
  readonly args: JsonObject;
}

/**
 * Where a value comes from: the same in all past runs, a choice of the schema or a value of few that stands in the
 * intent, or a part of the intent that looks like past values. The last is a guess.
 */
export type ArgumentSource = "given" | "constant" | "enum" | "seen" | "span";

export interface FilledArguments {
  readonly args: JsonObject;
  readonly sources: Readonly<Record<string, ArgumentSource>>;
  /** Required parameters without a value. */
  readonly missing: readonly string[];
  /** Share of the intent's values that some argument has; 1 if there are none. */
  readonly consumed: number;
}

export interface FillRequest {
  readonly intent: string;
  readonly parameters: JsonSchema;
  readonly given: JsonObject;
  /** Latest first. */
  readonly runs: readonly PastRun[];
}

interface Parameter {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly runs: readonly PastRun[];
}

/** One run cannot show that a value is constant. */
const FEWEST_FOR_CONSTANT = 2;
const MOST_SEEN = 8;
/** Points of a span; a likeness to past values is necessary. */
const POINTS = { shape: 3, kind: 1, left: 2, right: 1, named: 2 };
const FEWEST_POINTS = 3;
const WORDS_NEARBY = 3;

/** Fills the parameters of a capability from its past runs and an intent; leaves empty what is not clear. */
export function fillArguments({ intent, parameters, given, runs }: FillRequest): FilledArguments {
  const properties = isObject(parameters["properties"]) ? parameters["properties"] : {};
  const args: Record<string, JsonValue> = { ...given };
  const sources: Record<string, ArgumentSource> = Object.fromEntries(Object.keys(given).map((key) => [key, "given"]));
  const open: Parameter[] = [];
  for (const [name, schema] of Object.entries(properties)) {
    if (Object.hasOwn(given, name)) continue;
    const parameter = { name, schema: isObject(schema) ? schema : {}, runs };
    const known = findConstant(parameter) ?? findChoice(parameter, intent) ?? findSeen(parameter, intent);
    if (known === undefined) open.push(parameter);
    else [args[name], sources[name]] = known;
  }
  const values = findValues(intent);
  const free = values.filter(({ text }) => !Object.values(args).some((value) => isIn(text, value)));
  for (const { parameter, value } of assignSpans(open, free, intent)) {
    args[parameter.name] = value;
    sources[parameter.name] = "span";
  }
  const required = Array.isArray(parameters["required"]) ? (parameters["required"] as readonly string[]) : [];
  const consumed = values.filter(({ text }) => Object.values(args).some((value) => isIn(text, value)));
  return {
    args,
    sources,
    missing: required.filter((name) => !Object.hasOwn(args, name)),
    consumed: values.length === 0 ? 1 : consumed.length / values.length,
  };
}

type Known = readonly [JsonValue, ArgumentSource];

function valuesOf({ name, runs }: Parameter): JsonValue[] {
  return runs.flatMap(({ args }) => {
    const value = args[name];
    return value === undefined || JSON.stringify(value).includes("‹secret") ? [] : [value];
  });
}

function findConstant(parameter: Parameter): Known | undefined {
  const values = valuesOf(parameter);
  if (values.length < FEWEST_FOR_CONSTANT || values.length < parameter.runs.length) return undefined;
  const [first] = values;
  const text = JSON.stringify(first);
  return values.every((value) => JSON.stringify(value) === text) ? [first as JsonValue, "constant"] : undefined;
}

function findChoice({ schema }: Parameter, intent: string): Known | undefined {
  const choices = Array.isArray(schema["enum"]) ? (schema["enum"] as readonly JsonValue[]) : [];
  const named = choices.filter((choice) => typeof choice === "string" && isNamed(choice, intent));
  return named.length === 1 ? [named[0] as JsonValue, "enum"] : undefined;
}

function findSeen(parameter: Parameter, intent: string): Known | undefined {
  const seen = new Set(valuesOf(parameter).filter((value) => typeof value === "string" || typeof value === "number"));
  if (seen.size > MOST_SEEN) return undefined;
  const named = [...seen].filter((value) => isNamed(textOf(value), intent));
  return named.length === 1 ? [named[0] as JsonValue, "seen"] : undefined;
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? "");
}

/** True if a text has the words of a value, whatever separates them. */
function isNamed(value: string, text: string): boolean {
  const words = spellOut(value).toLowerCase();
  return words !== "" && ` ${spellOut(text).toLowerCase()} `.includes(` ${words} `);
}

function isIn(text: string, value: JsonValue): boolean {
  if (Array.isArray(value)) return value.some((each) => isIn(text, each as JsonValue));
  if (isObject(value)) return Object.values(value).some((each) => isIn(text, each));
  return textOf(value) === text || `#${textOf(value)}` === text || textOf(value) === `#${text}`;
}

interface Assignment {
  readonly parameter: Parameter;
  readonly span: IntentValue;
  readonly value: JsonValue;
  readonly points: number;
}

/** Gives each span to the parameter that it fits best, the best fits first. */
function assignSpans(open: readonly Parameter[], spans: readonly IntentValue[], intent: string): Assignment[] {
  const fits = open.flatMap((parameter) => {
    const examples = describeExamples(parameter);
    return spans.flatMap((span): Assignment[] => {
      const value = toValue(span, parameter.schema, examples.values);
      if (value === undefined) return [];
      return [{ parameter, span, value, points: rateSpan(span, intent, { parameter, examples, value }) }];
    });
  });
  const taken = new Set<unknown>();
  return fits
    .filter(({ points }) => points >= FEWEST_POINTS)
    .toSorted((a, b) => b.points - a.points || a.span.start - b.span.start)
    .filter(({ parameter, span }) => {
      if (taken.has(parameter) || taken.has(span)) return false;
      taken.add(parameter).add(span);
      return true;
    });
}

interface Examples {
  readonly values: readonly JsonValue[];
  readonly shapes: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
  /** Words before and after past values in past intents. */
  readonly left: ReadonlySet<string>;
  readonly right: ReadonlySet<string>;
}

function describeExamples(parameter: Parameter): Examples {
  const values = valuesOf(parameter).filter((value) => typeof value === "string" || typeof value === "number");
  const places = parameter.runs.flatMap(({ intent, args }) => {
    const value = args[parameter.name];
    const at = value === undefined || value === "" ? -1 : intent.indexOf(textOf(value));
    return at < 0 ? [] : [neighbours(intent, at, at + textOf(value).length)];
  });
  return {
    values,
    shapes: new Set(values.map((value) => shapeOf(textOf(value)))),
    kinds: new Set(values.flatMap((value) => findValues(`value ${textOf(value)}`).map(({ kind }) => kind))),
    left: new Set(places.map(({ left }) => left)),
    right: new Set(places.map(({ right }) => right)),
  };
}

function rateSpan(
  { kind, start, end }: IntentValue,
  intent: string,
  { parameter, examples, value }: { parameter: Parameter; examples: Examples; value: JsonValue },
): number {
  const { left, right } = neighbours(intent, start, end);
  const before = intent.slice(0, start).toLowerCase().split(/\W+/).filter(Boolean).slice(-WORDS_NEARBY);
  const names = spellOut(parameter.name).toLowerCase().split(" ");
  return (
    (examples.shapes.has(shapeOf(textOf(value))) ? POINTS.shape : 0) +
    (examples.kinds.has(kind) ? POINTS.kind : 0) +
    (left !== "" && examples.left.has(left) ? POINTS.left : 0) +
    (right !== "" && examples.right.has(right) ? POINTS.right : 0) +
    (names.some((word) => before.includes(word)) ? POINTS.named : 0)
  );
}

/** Converts a span to the type that a parameter takes, spelled like past values; undefined if it cannot be one. */
function toValue({ kind, text }: IntentValue, schema: JsonSchema, past: readonly JsonValue[]): JsonValue | undefined {
  const wantsNumber =
    schema["type"] === "number" || schema["type"] === "integer" || past.some((value) => typeof value === "number");
  if (wantsNumber) {
    const value = Number(text.replace(/^[#$€£]|%$|,(?=\d{3})/g, ""));
    return kind === "number" && Number.isFinite(value) ? value : undefined;
  }
  if (kind === "options" || (schema["type"] !== undefined && schema["type"] !== "string")) return undefined;
  const isMarked = past.length > 0 && past.every((value) => !textOf(value).startsWith("#"));
  return isMarked ? text.replace(/^#/, "") : text;
}

function neighbours(intent: string, start: number, end: number): { readonly left: string; readonly right: string } {
  const left = /(\w+)\W*$/.exec(intent.slice(0, start))?.[1] ?? "";
  const right = /^\W*(\w+)/.exec(intent.slice(end))?.[1] ?? "";
  return { left: left.toLowerCase(), right: right.toLowerCase() };
}

/** Runs of letters and digits by their kind: `W6067464` and `W1` look alike. */
function shapeOf(value: string): string {
  return value
    .replace(/\p{Lu}+/gu, "A")
    .replace(/\p{Ll}+/gu, "a")
    .replace(/\d+/g, "9");
}
