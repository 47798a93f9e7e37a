import { findComputed } from "./computed.ts";
import { type Effect, partsOf, type Term, type Variable } from "./term.ts";

/** The values that each variable gets anywhere. */
export type Writes = ReadonlyMap<Variable, readonly Term[]>;

/** The steps inside of a step. */
export function innerSteps(effect: Effect): readonly Effect[] {
  if (effect.kind === "loop") return effect.body;
  return effect.kind === "branch" ? effect.arms.flatMap(({ body }) => body) : [];
}

export function findWrites(effects: readonly Effect[]): Writes {
  const writes = new Map<Variable, Term[]>();
  const visit = (effect: Effect): void => {
    if (effect.kind === "set" || effect.kind === "fill") {
      const values = effect.kind === "set" ? [effect.value] : effect.values;
      writes.set(effect.variable, [...(writes.get(effect.variable) ?? []), ...values]);
    }
    innerSteps(effect).forEach(visit);
  };
  effects.forEach(visit);
  return writes;
}

/** The terms that a step itself reads; of a return, those that are computed. */
export function termsOf(effect: Effect, writes: Writes): readonly Term[] {
  switch (effect.kind) {
    case "call":
      return effect.args;
    case "loop":
      return effect.value === undefined ? [effect.over] : [effect.over, effect.value];
    case "branch":
      return [effect.test, ...effect.arms.flatMap(({ label }) => label ?? [])];
    case "set":
      return [effect.value];
    case "fill":
      return effect.values;
    case "do":
      return [effect.term];
    case "leave":
    default:
      return effect.how === "return" && effect.value !== undefined ? findComputed(effect.value, writes) : [];
  }
}

/** Finds the variables whose values matter: those that reach a call, a test or a computed result. */
export function findLive(effects: readonly Effect[], writes: Writes): ReadonlySet<Variable> {
  const live = new Set<Variable>();
  const read = (term: Term): void => {
    if (term.kind === "variable") live.add(term.variable);
    partsOf(term).forEach(read);
  };
  const visit = (effect: Effect): void => {
    if (!isKept(effect, live)) return;
    termsOf(effect, writes).forEach(read);
    innerSteps(effect).forEach(visit);
  };
  for (let size = -1; size < live.size;) {
    size = live.size;
    effects.forEach(visit);
  }
  return live;
}

/** True for a step that can be noticed. */
export function isKept(effect: Effect, live: ReadonlySet<Variable>): boolean {
  if (effect.kind === "set" || effect.kind === "fill") return live.has(effect.variable);
  if (effect.kind === "loop" || effect.kind === "branch")
    return innerSteps(effect).some((inner) => isKept(inner, live));
  return true;
}
