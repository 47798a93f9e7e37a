import { canonical } from "../../base/canonical.ts";
import { isObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import type { BehaviourFacts, CallPlaces, OutsideValue } from "./behaviour-facts.ts";

/** A run of a program with the same behaviour key: what it is made of, and the arguments it had. */
interface PlacedRun {
  readonly calls: BehaviourFacts["calls"];
  readonly args: JsonObject;
}

/**
 * Finds the arguments with which a stored program should make the calls of a run; undefined where the two do not line
 * up. A proposal: replay decides.
 */
export function bindArguments(stored: BehaviourFacts["calls"], run: PlacedRun): JsonObject | undefined {
  const pairs = alignCalls(stored, run.calls);
  if (pairs === undefined) return undefined;
  // Parameters that reach no call, as in a condition, have the run's own values.
  const bound: JsonObject = {};
  for (const { to, from, turn } of pairs) {
    const sources = Map.groupBy(from.places, ({ path }) => JSON.stringify(path));
    for (const { path, value } of to.places) {
      const source = sources.get(JSON.stringify(path))?.shift();
      if (value.kind !== "parameter" || source === undefined) continue;
      if (!bindPlace(bound, { value, source: source.value, turn, args: run.args })) return undefined;
    }
  }
  return { ...run.args, ...bound };
}

/** A call of the stored program, and the call of the run in its place; `turn` counts iterations that the run wrote out. */
interface CallPair {
  readonly to: CallPlaces;
  readonly from: CallPlaces;
  readonly turn: number | undefined;
}

/** Pairs the calls; what a stored program does in a loop, a run may have written out. */
function alignCalls(stored: readonly CallPlaces[], run: readonly CallPlaces[]): CallPair[] | undefined {
  const pairs: CallPair[] = [];
  let at = 0;
  for (let index = 0; index < stored.length;) {
    const block = blockAt(stored, index);
    const isWrittenOut = iteratedOver(block[0]) !== undefined && iteratedOver(run[at]) === undefined;
    let turns = 0;
    for (const most = isWrittenOut ? run.length : 1; turns < most; turns += 1) {
      const taken = run.slice(at, at + block.length);
      if (!block.every(({ target }, step) => target === taken[step]?.target)) break;
      const turn = isWrittenOut ? turns : undefined;
      pairs.push(...block.map((to, step) => ({ to, from: taken[step] as CallPlaces, turn })));
      at += block.length;
    }
    if (turns === 0) return undefined;
    index += block.length;
  }
  return at === run.length ? pairs : undefined;
}

/** The calls that run through one list together, or a single call. */
function blockAt(calls: readonly CallPlaces[], start: number): readonly CallPlaces[] {
  const over = iteratedOver(calls[start]);
  const others = calls.slice(start + 1);
  const after = others.findIndex((call) => over === undefined || iteratedOver(call) !== over);
  return calls.slice(start, after === -1 ? undefined : start + 1 + after);
}

function iteratedOver(call: CallPlaces | undefined): string | undefined {
  for (const { value } of call?.places ?? []) {
    if (value.kind === "list") return canonical([...value.value]);
    if (value.kind === "parameter" && value.item !== undefined) return canonical([...value.path]);
  }
  return undefined;
}

interface PlaceToBind {
  readonly value: Extract<OutsideValue, { kind: "parameter" }>;
  readonly source: OutsideValue;
  readonly turn: number | undefined;
  readonly args: JsonObject;
}

/** False where the place already has another value: the run has two values where the program has one parameter. */
function bindPlace(bound: JsonObject, { value: { path, item }, source, turn, args }: PlaceToBind): boolean {
  if (item === undefined) {
    const given = singleValue(source, args);
    return given === undefined || put(bound, path, given);
  }
  if (turn !== undefined) {
    const given = singleValue(source, args);
    return given === undefined || put(bound, [...path, String(turn), ...item], given);
  }
  const items = listedItems(source, args);
  return items?.every((each, index) => put(bound, [...path, String(index), ...item], each)) ?? false;
}

function singleValue(source: OutsideValue, args: JsonObject): JsonValue | undefined {
  if (source.kind === "literal") return source.value;
  if (source.kind === "parameter" && source.item === undefined) return read(args, source.path);
  const items = listedItems(source, args);
  return items?.length === 1 ? items[0] : undefined;
}

function listedItems(source: OutsideValue, args: JsonObject): readonly JsonValue[] | undefined {
  if (source.kind === "literal") return undefined;
  const list = source.kind === "list" ? source.value : read(args, source.path);
  if (!Array.isArray(list)) return undefined;
  const items = (list as readonly JsonValue[]).map((each) => read(each, source.item ?? []));
  return items.every((each) => each !== undefined) ? items : undefined;
}

function read(value: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>(
    (inner, key) =>
      typeof inner === "object" && inner !== null && Object.hasOwn(inner, key) ? (inner as JsonObject)[key] : undefined,
    value,
  );
}

type Container = Record<string, JsonValue>;

/** Sets a part of the arguments; false if it has another value already. */
function put(bound: JsonObject, path: readonly string[], value: JsonValue): boolean {
  let inner = bound as Container;
  for (const [index, key] of path.slice(0, -1).entries()) {
    const next = Object.hasOwn(inner, key) ? inner[key] : undefined;
    if (next !== undefined && !isObject(next) && !Array.isArray(next)) return false;
    inner[key] = next ?? (/^\d+$/.test(path[index + 1] ?? "") ? [] : {});
    inner = inner[key] as Container;
  }
  const last = path.at(-1) ?? "";
  if (Object.hasOwn(inner, last)) return canonical(inner[last] ?? null) === canonical(value);
  inner[last] = value;
  return true;
}
