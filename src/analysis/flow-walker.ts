import type { Draft, DraftNode, DraftPart, Frontier, OpenEdge } from "./draft.ts";
import type { Scopes } from "./scopes.ts";
import type { SourceText } from "./source-text.ts";
import type { FunctionNode, Node } from "./syntax-tree.ts";

/** A statement that `break` can leave. */
export interface BreakTarget {
  readonly labels: readonly string[];
  /** True where `break` without a label leaves it. */
  readonly plain: boolean;
  /** Edges from its `break` statements. */
  readonly breaks: OpenEdge[];
}

/** A walked part: where it goes on, and the edges that leave it in a way that was asked for. */
export interface Collected {
  readonly frontier: Frontier;
  readonly edges: Frontier;
}

/** The state and steps that the parts of the structure builder share while they walk a program in execution order. */
export interface FlowWalker {
  readonly draft: Draft;
  readonly scopes: Scopes;
  readonly source: SourceText;
  /** Running calls, by the `Promise.all` that awaits them. */
  readonly started: Map<Node, { readonly fork: DraftNode; readonly arrived: Frontier }>;
  walk(node: Node | null | undefined, frontier: Frontier): Frontier;
  walkAll(nodes: readonly (Node | null)[], frontier: Frontier): Frontier;
  /** Walks the body of a function where it runs. */
  walkFunction(fn: FunctionNode, frontier: Frontier): Frontier;
  add(part: DraftPart, frontier: Frontier): DraftNode;
  /** Runs `body` and puts every node it adds into `container`. */
  within(container: DraftNode, body: (entry: Frontier) => Frontier): Frontier;
  breakable(target: BreakTarget, body: () => Frontier): Frontier;
  leave(kind: "return" | "throw" | "break" | "continue", label: string | undefined, frontier: Frontier): Frontier;
  /** Runs `body` and collects the edges from each return, throw, break and continue in it. */
  guarded(body: () => Frontier): Collected;
  /** Runs `body` and collects the edges from each throw in it. */
  catching(body: () => Frontier): Collected;
  returnFrom(frontier: Frontier): void;
  labelsOf(node: Node): readonly string[];
}
