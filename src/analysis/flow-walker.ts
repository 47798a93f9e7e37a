import type { Draft, DraftNode, DraftPart, Frontier, Loose } from "./draft.ts";
import type { Scopes } from "./scopes.ts";
import type { SourceText } from "./source-text.ts";
import type { FunctionNode, Node } from "./syntax-tree.ts";

/** Something `break` can leave. */
export interface BreakTarget {
  readonly labels: readonly string[];
  /** `break` without a label leaves it. */
  readonly plain: boolean;
  /** Where its breaks come from. */
  readonly breaks: Loose[];
}

/** What the parts of the structure builder share while they walk through a program in the order in which it runs. */
export interface FlowWalker {
  readonly draft: Draft;
  readonly scopes: Scopes;
  readonly source: SourceText;
  /** Calls that are under way, by the call of `Promise.all` that waits for them. */
  readonly started: Map<Node, { readonly fork: DraftNode; readonly arrived: Frontier }>;
  walk(node: Node | null | undefined, frontier: Frontier): Frontier;
  walkAll(nodes: readonly (Node | null)[], frontier: Frontier): Frontier;
  /** The body of a function, at the place where it runs. */
  walkFunction(fn: FunctionNode, frontier: Frontier): Frontier;
  add(part: DraftPart, frontier: Frontier): DraftNode;
  /** Runs `body` with every node put into `container`. */
  within(container: DraftNode, body: (entry: Frontier) => Frontier): Frontier;
  breakable(target: BreakTarget, body: () => Frontier): Frontier;
  leave(kind: "return" | "throw" | "break" | "continue", label: string | undefined, frontier: Frontier): Frontier;
  /** Runs `body`; also says where it was left by return, throw, break or continue. */
  guarded(body: () => Frontier): { readonly frontier: Frontier; readonly abrupt: Frontier };
  returnFrom(frontier: Frontier): void;
  labelsOf(node: Node): readonly string[];
}
