import { operation, type Term } from "./term.ts";

const OPPOSITES: ReadonlyMap<string, string> = new Map([
  ["!==", "==="],
  ["!=", "=="],
  [">=", "<"],
  ["<=", ">"],
]);

/** The condition without its negation, so that both ways to write a branch are one; `isNegated` swaps its arms. */
export function withoutNegation(test: Term): { readonly test: Term; readonly isNegated: boolean } {
  if (test.kind !== "operation") return { test, isNegated: false };
  const [first] = test.parts;
  if (test.name === "!" && first !== undefined) {
    const inner = withoutNegation(first);
    return { test: inner.test, isNegated: !inner.isNegated };
  }
  const opposite = OPPOSITES.get(test.name);
  return opposite === undefined
    ? { test, isNegated: false }
    : { test: operation(opposite, ...test.parts), isNegated: true };
}
