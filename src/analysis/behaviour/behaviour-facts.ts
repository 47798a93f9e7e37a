import type { JsonSchema, JsonValue } from "../../base/json.ts";
import type { Behaviour } from "./behaviour.ts";
import { liftParameters } from "./generalise.ts";
import type { Place } from "./lift-arguments.ts";
import type { ParameterPart } from "./term.ts";

/** A range of the submitted text that is a literal. */
export interface LiteralRange {
  readonly start: number;
  readonly end: number;
  /** True where a larger expression may stand in its place without parentheses. */
  readonly bare: boolean;
}

/** A parameter that stands as a literal in the program. */
export interface LiftedParameter {
  readonly name: string;
  /** From the tool's schema where it has one for the argument, else from the value. */
  readonly schema: JsonSchema;
  readonly value: JsonValue;
  readonly ranges: readonly LiteralRange[];
  /** The tools that get it, with the path of the argument. */
  readonly uses: readonly { readonly target: string; readonly path: readonly string[] }[];
}

/** A value from outside that a call gets. */
export type OutsideValue =
  | { readonly kind: "literal"; readonly value: JsonValue }
  /** A list that is run through; `item` is the part of each item that the call gets. */
  | { readonly kind: "list"; readonly value: readonly JsonValue[]; readonly item: readonly string[] }
  | ({ readonly kind: "parameter" } & ParameterPart);

/** A call of the program, with the values from outside by their place among its arguments. */
export interface CallPlaces {
  readonly target: string;
  readonly places: readonly { readonly path: readonly string[]; readonly value: OutsideValue }[];
}

export interface BehaviourFacts {
  /** Equal for programs that do the same with other values, in other words. */
  readonly key: string;
  readonly calls: readonly CallPlaces[];
  readonly lifted: readonly LiftedParameter[];
}

/** `taken` are the names of the parameters that the program has already. */
export function toBehaviourFacts(behaviour: Behaviour, taken: readonly string[]): BehaviourFacts {
  const { key, evaluated } = behaviour;
  const places = Map.groupBy(evaluated.places, ({ call }) => call);
  return {
    key,
    calls: evaluated.targets.map((target, call) => ({ target, places: (places.get(call) ?? []).map(toPlace) })),
    lifted: liftParameters(behaviour, taken),
  };
}

function toPlace({ path, source }: Place): CallPlaces["places"][number] {
  if (source.kind === "parameter") return { path, value: { kind: "parameter", ...source.part } };
  if (source.kind === "literal") return { path, value: { kind: "literal", value: source.value } };
  const { value, path: item } = source.list;
  return { path, value: { kind: "list", value, item } };
}
