import type { StructureNode } from "./structure.ts";
import type { Node } from "./syntax-tree.ts";
import type { Site } from "./values.ts";

/** A node of the structure before it has an id. */
export interface DraftNode {
  readonly type: StructureNode["type"];
  readonly syntax: Node;
  readonly start: number;
  readonly end: number;
  /** Condition, iterated expression or combinator. */
  readonly text: string;
  readonly site: Site | undefined;
  /** The loop or `try` whose body contains the node. */
  readonly container: DraftNode | undefined;
  /** True for a decision that only matters if a node follows it. */
  readonly prunable: boolean;
  /** Position in the order of execution. */
  readonly order: number;
  id: string;
}

export interface DraftEdge {
  readonly from: DraftNode;
  readonly to: DraftNode;
  /** Undefined for a sequence edge. */
  readonly outcome: string | undefined;
}

/** An edge whose target is not known yet. */
export interface OpenEdge {
  readonly from: DraftNode;
  readonly outcome?: string;
  /** Starts the body of a container: the next node inside needs a `contains` edge only. */
  readonly entry?: true;
}

/** Edges that lead to the next node; empty where the program cannot get there. */
export type Frontier = readonly OpenEdge[];

export type DraftPart = Pick<DraftNode, "type" | "syntax"> &
  Partial<Pick<DraftNode, "text" | "site" | "prunable" | "start" | "end">>;

const LETTERS: Readonly<Record<StructureNode["type"], string>> = {
  task: "n",
  capability: "n",
  dynamic: "n",
  decision: "d",
  fork: "f",
  join: "j",
  loop: "l",
  try: "t",
};

export class Draft {
  #nodes: DraftNode[] = [];
  #edges: DraftEdge[] = [];

  get nodes(): readonly DraftNode[] {
    return this.#nodes;
  }

  get edges(): readonly DraftEdge[] {
    return this.#edges;
  }

  add(part: DraftPart, container: DraftNode | undefined, frontier: Frontier): DraftNode {
    const { type, syntax, text = "", site, prunable = false, start = syntax.start, end = syntax.end } = part;
    const order = this.#nodes.length;
    const node: DraftNode = { type, syntax, start, end, text, site, container, prunable, order, id: "" };
    this.#nodes.push(node);
    for (const { from, outcome, entry } of frontier) {
      if (entry !== true || container !== from) this.#edges.push({ from, to: node, outcome });
    }
    return node;
  }

  /** Drops decisions that no other node depends on, and assigns ids in source order. */
  finish(): void {
    this.#prune();
    this.#nodes.sort((a, b) => a.start - b.start || b.end - a.end);
    const counts = new Map<string, number>();
    for (const node of this.#nodes) {
      const letter = LETTERS[node.type];
      const count = (counts.get(letter) ?? 0) + 1;
      counts.set(letter, count);
      node.id = letter + count;
    }
  }

  #prune(): void {
    if (!this.#nodes.some(({ prunable }) => prunable)) return;
    const used = new Set<DraftNode>();
    const dropped = new Set<DraftNode>();
    const outgoing = Map.groupBy(this.#edges, ({ from }) => from);
    // Edges lead from older to newer nodes, so one pass from the end finds all that are needed.
    for (const node of this.#nodes.toReversed()) {
      const leads = outgoing.get(node)?.some(({ to }) => used.has(to)) ?? false;
      if (node.prunable && !leads) dropped.add(node);
      else used.add(node);
    }
    if (dropped.size === 0) return;
    this.#nodes = this.#nodes.filter((node) => used.has(node));
    this.#edges = this.#edges.filter(({ to }) => used.has(to));
  }
}
