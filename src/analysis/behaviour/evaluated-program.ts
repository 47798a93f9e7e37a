import type { Scopes } from "../scopes.ts";
import type { Node } from "../syntax-tree.ts";
import type { Site } from "../values.ts";
import type { Lifted, Place } from "./lift-arguments.ts";
import type { Effect, Term } from "./term.ts";

export interface EvaluatedProgram {
  readonly effects: readonly Effect[];
  readonly targets: readonly string[];
  readonly places: readonly Place[];
  readonly lifted: readonly Lifted[];
  /** All literals that were read, in the order of evaluation. */
  readonly literals: readonly Extract<Term, { kind: "literal" }>[];
}

export interface ProgramParts {
  readonly scopes: Scopes;
  readonly sites: ReadonlyMap<Node, Site>;
  readonly implicitParameters: readonly string[];
}
