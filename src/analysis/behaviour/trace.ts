import { type Binding, bindingOf } from "../bindings.ts";
import type { Node, NodeOf } from "../syntax-tree.ts";
import { readsVariable } from "./members.ts";
import { type Effect, type Term, UnknownConstruct, type Variable } from "./term.ts";

/** The steps of a program so far, and what its variables hold. */
export class Trace {
  readonly #known = new Map<Binding, Term>();
  readonly #variables = new Map<Binding, Variable>();
  #effects: Effect[] = [];
  #depth = 0;

  get effects(): readonly Effect[] {
    return this.#effects;
  }

  /** How many loops and callbacks are around the current place. */
  get depth(): number {
    return this.#depth;
  }

  emit(effect: Effect): void {
    this.#effects.push(effect);
  }

  /** Runs work and returns the steps it made instead of adding them. */
  capture(work: () => unknown): readonly Effect[] {
    const outer = this.#effects;
    const inner: Effect[] = [];
    this.#effects = inner;
    try {
      work();
    } finally {
      this.#effects = outer;
    }
    return inner;
  }

  deeper<T>(work: () => T): T {
    this.#depth += 1;
    try {
      return work();
    } finally {
      this.#depth -= 1;
    }
  }

  /** A name that is assigned once stands for its value; others are variables. */
  assign(target: NodeOf<"Identifier">, value: Term): void {
    const binding = bindingOf(target);
    if (binding === undefined) throw new UnknownConstruct("assignment to an undeclared name");
    const isConstant = binding.writes.length <= 1 && binding.inflows.length === 0 && !readsVariable(value);
    if (isConstant && !this.#variables.has(binding)) this.#known.set(binding, value);
    else this.emit({ kind: "set", variable: this.#variable(binding), value });
  }

  know(binding: Binding, value: Term): void {
    this.#known.set(binding, value);
  }

  find(binding: Binding): Term | undefined {
    const variable = this.#variables.get(binding);
    return variable === undefined ? this.#known.get(binding) : { kind: "variable", variable };
  }

  /** Reads a name before it is assigned, as a function that is declared above its variables does. */
  read(binding: Binding): Term {
    return { kind: "variable", variable: this.#variable(binding) };
  }

  /** Stores values inside of an object or list; false where it is none of the program's own. */
  fill(container: Node, values: readonly Term[]): boolean {
    let object = container;
    while (object.type === "MemberExpression") object = object.object;
    const binding = bindingOf(object);
    if (binding === undefined || binding.builtin) return false;
    this.emit({ kind: "fill", variable: this.#variable(binding), values });
    return true;
  }

  #variable(binding: Binding): Variable {
    const known = this.#variables.get(binding) ?? { name: binding.name };
    this.#variables.set(binding, known);
    return known;
  }
}
