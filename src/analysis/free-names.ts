import { KNOWN_GLOBALS } from "./known-globals.ts";
import type { Scopes } from "./scopes.ts";
import type { Node } from "./syntax-tree.ts";

export interface FreeNames {
  /** Read from `args`. */
  readonly parameters: readonly string[];
  /** Assigned before they are read, but never declared. */
  readonly variables: readonly string[];
}

/** Finds undeclared names: implicit parameters and variables. */
export function findFreeNames({ free }: Scopes): FreeNames {
  const parameters: string[] = [];
  const variables: string[] = [];
  for (const [name, { reads, writes }] of free) {
    if (KNOWN_GLOBALS.has(name) || reads.some(isCalled)) continue;
    const firstWrite = writes.reduce((first, { target }) => Math.min(first, target.start), Infinity);
    const isWrittenFirst = reads.every(({ start }) => start > firstWrite);
    (isWrittenFirst ? variables : parameters).push(name);
  }
  return { parameters, variables };
}

/** A called name cannot be a parameter: arguments are JSON. */
function isCalled(node: Node): boolean {
  const { parent } = node;
  if (parent?.type === "TaggedTemplateExpression") return parent.tag === node;
  return (parent?.type === "CallExpression" || parent?.type === "NewExpression") && parent.callee === node;
}
