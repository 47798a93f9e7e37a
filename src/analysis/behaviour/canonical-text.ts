import type { JsonValue } from "../../base/json.ts";
import { canonical } from "../../base/canonical.ts";
import { findComputed } from "./computed.ts";
import { findLive, findWrites, innerSteps, isKept, termsOf, type Writes } from "./steps.ts";
import {
  type CallEffect,
  type Effect,
  type LoopEffect,
  partsOf,
  type Term,
  UnknownConstruct,
  type Variable,
} from "./term.ts";

const LONGEST_TEXT = 200_000;
const LONGEST_BLOCK = 4;

type End = "return" | "continue";

interface Written {
  readonly effect: Effect;
  readonly text: string;
  /** Calls and loops before it. */
  readonly count: number;
}

/** Writes the steps of a program so that programs that do the same have the same text. */
export function writeCanonical(effects: readonly Effect[], liftedValues: ReadonlySet<JsonValue>): string {
  return new CanonicalWriter(effects, liftedValues).write();
}

class CanonicalWriter {
  readonly #effects: readonly Effect[];
  readonly #lifted: ReadonlySet<JsonValue>;
  readonly #writes: Writes;
  readonly #live: ReadonlySet<Variable>;
  /** The steps that read the result of a call or loop, each with the steps around it. */
  readonly #readers = new Map<CallEffect | LoopEffect, (readonly Effect[])[]>();
  readonly #numbers = new Map<CallEffect | LoopEffect, number>();
  readonly #variables = new Map<Variable, number>();
  #count = 0;
  #length = 0;

  constructor(effects: readonly Effect[], lifted: ReadonlySet<JsonValue>) {
    this.#effects = effects;
    this.#lifted = lifted;
    this.#writes = findWrites(effects);
    this.#live = findLive(effects, this.#writes);
    for (const effect of effects) this.#findReaders(effect, []);
  }

  write(): string {
    return this.#writeAll(this.#effects, "return");
  }

  /** `end` is how the last step may leave without a difference. */
  #writeAll(effects: readonly Effect[], end?: End): string {
    const written: Written[] = [];
    const kept = effects.filter((effect) => isKept(effect, this.#live));
    for (const [index, effect] of kept.entries()) {
      const count = this.#count;
      const text = this.#writeEffect(effect, index === kept.length - 1 ? end : undefined);
      if (text === "") continue;
      written.push({ effect, text, count });
      this.#fold(written);
    }
    return written.map(({ text }) => text).join(";");
  }

  /** Removes the last steps if they repeat the ones before: several times is like once. */
  #fold(written: Written[]): void {
    for (let size = 1; size <= LONGEST_BLOCK && 2 * size <= written.length; size += 1) {
      const block = written.slice(-size);
      const before = written.slice(-2 * size, -size);
      const isEqual = block.every(({ text }, index) => text === before[index]?.text);
      const hasHole = block.some(({ text }) => text.includes("?"));
      if (!isEqual || !hasHole || !this.#isClosed(block) || !this.#isClosed(before)) continue;
      written.splice(-size);
      this.#count = block[0]?.count ?? this.#count;
      return;
    }
  }

  /** True if nothing outside of the steps reads their results. */
  #isClosed(block: readonly Written[]): boolean {
    const own = new Set(block.map(({ effect }) => effect));
    return block.every(({ effect }) => {
      const readers = effect.kind === "call" || effect.kind === "loop" ? this.#readers.get(effect) : undefined;
      return readers?.every((path) => path.some((each) => own.has(each))) ?? true;
    });
  }

  #findReaders(effect: Effect, around: readonly Effect[]): void {
    if (!isKept(effect, this.#live)) return;
    const path = [...around, effect];
    const read = (term: Term): void => {
      if (term.kind === "result") this.#readers.set(term.of, [...(this.#readers.get(term.of) ?? []), path]);
      partsOf(term).forEach(read);
    };
    termsOf(effect, this.#writes).forEach(read);
    for (const inner of innerSteps(effect)) this.#findReaders(inner, path);
  }

  #writeEffect(effect: Effect, end: End | undefined): string {
    switch (effect.kind) {
      case "call": {
        const text = `${effect.target}(${effect.args.map((arg) => this.#term(arg)).join(",")})`;
        this.#number(effect);
        return text;
      }
      case "loop": {
        const over = this.#term(effect.over);
        const body = this.#writeAll(effect.body, "continue");
        const value = effect.value === undefined ? "" : `=>${this.#term(effect.value)}`;
        this.#number(effect);
        return `${effect.name}(${over}){${body}${value}}`;
      }
      case "branch":
        return `${effect.name}(${this.#term(effect.test)})${effect.arms
          .map(
            ({ label, body }) =>
              `${label === undefined ? "" : this.#term(label)}{${this.#writeAll(body, effect.name === "if" ? end : undefined)}}`,
          )
          .join("")}`;
      case "set":
        return `${this.#variable(effect.variable)}=${this.#term(effect.value)}`;
      case "fill":
        return `${this.#variable(effect.variable)}<<${effect.values.map((value) => this.#term(value)).join(",")}`;
      case "do":
        return this.#term(effect.term);
      case "leave":
      default:
        return this.#writeLeave(effect, end);
    }
  }

  #writeLeave({ how, value }: Extract<Effect, { kind: "leave" }>, end: End | undefined): string {
    if (how !== "return") return how === end ? "" : how;
    const computed = value === undefined ? [] : findComputed(value, this.#writes);
    const parts = [...new Set(computed.map((term) => this.#term(term)))].toSorted();
    return parts.length === 0 && end === "return" ? "" : `return ${parts.join(",")}`;
  }

  #number(effect: CallEffect | LoopEffect): void {
    this.#count += 1;
    this.#numbers.set(effect, this.#count);
  }

  #variable(variable: Variable): string {
    const known = this.#variables.get(variable) ?? this.#variables.size;
    this.#variables.set(variable, known);
    return `v${known}`;
  }

  #term(term: Term): string {
    const text = this.#termText(term);
    this.#length += text.length;
    if (this.#length > LONGEST_TEXT) throw new UnknownConstruct("too long");
    return text;
  }

  #termText(term: Term): string {
    switch (term.kind) {
      case "literal":
        return this.#lifted.has(term.value) ? "?" : canonical(term.value);
      case "hole":
        return "?";
      case "result":
        // Counted backwards, so that equal steps have equal texts wherever they stand.
        return `^${this.#count - (this.#numbers.get(term.of) ?? 0)}`;
      case "item":
        return `$${term.depth}.${term.index}`;
      case "variable":
        return this.#variable(term.variable);
      case "object":
        return `{${this.#entries(term).join(",")}}`;
      case "list":
        return `[${term.items.map((item) => this.#term(item)).join(",")}]`;
      case "lambda":
        return `=>${this.#term(term.value)}`;
      case "operation":
      default:
        return `${term.name}(${partsOf(term)
          .map((part) => this.#term(part))
          .join(",")})`;
    }
  }

  #entries({ entries }: Extract<Term, { kind: "object" }>): string[] {
    const texts = entries.map(
      ({ key, value }) => `${key === undefined ? "..." : `${JSON.stringify(key)}:`}${this.#term(value)}`,
    );
    return entries.every(({ key }) => key !== undefined) ? texts.toSorted() : texts;
  }
}
