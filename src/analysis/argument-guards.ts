import { bindingOf, isLogicalAssignment } from "./bindings.ts";
import { type ByType, handlerOf, type Node, pushChildren } from "./syntax-tree.ts";
import { type ValueFlow, valueOf } from "./value-flow.ts";

/** A decision that a use depends on, and the way it has to turn out. */
interface Guard {
  readonly decision: Node;
  readonly outcome: boolean;
}

interface Exit extends Guard {
  /** The end of the statement that may return. */
  readonly end: number;
}

/** A condition with more parts counts as independent of the arguments. */
const MAX_PARTS = 1_000;

/** Tells which uses the arguments themselves can switch off: a program handles a parameter missing that only those have. */
export class ArgumentGuards {
  readonly #sites: ValueFlow["sites"];
  readonly #dependent = new Map<Node, boolean>();
  readonly #exits = new Map<Node, Exit | undefined>();
  /** Outcomes of a decision under which a parameter was seen, by the decision and the parameter. */
  readonly #seen = new Map<Node, Map<string, boolean>>();

  constructor({ sites }: ValueFlow) {
    this.#sites = sites;
  }

  /** True for a use that no argument can switch off, or whose parameter is used on both sides of the decision. */
  isCertain(node: Node, path: readonly string[]): boolean {
    const [guard, ...others] = this.#guardsOf(node);
    if (guard === undefined) return true;
    if (others.length > 0) return false;
    const seen = this.#seen.get(guard.decision) ?? new Map<string, boolean>();
    this.#seen.set(guard.decision, seen);
    const key = path.join("\n");
    const known = seen.get(key) ?? guard.outcome;
    seen.set(key, known);
    return known !== guard.outcome;
  }

  #guardsOf(node: Node): Guard[] {
    const guards: Guard[] = [];
    let child = node;
    for (let parent = node.parent; parent; parent = child.parent) {
      const found = handlerOf(BRANCHES, parent)?.(parent, child);
      if (found !== undefined && this.#dependsOnArgs(found.test))
        guards.push({ decision: parent, outcome: found.outcome });
      const exit = this.#exitOf(parent);
      if (exit !== undefined && child.start >= exit.end) guards.push(exit);
      child = parent;
    }
    return guards;
  }

  /** Finds the first statement of a block that returns early because of an argument. */
  #exitOf(block: Node): Exit | undefined {
    if (this.#exits.has(block)) return this.#exits.get(block);
    const statements = statementsOf(block);
    let exit: Exit | undefined;
    for (const statement of statements) {
      if (statement.type !== "IfStatement" || !endsWithReturn(statement.consequent)) continue;
      if (!this.#dependsOnArgs(statement.test)) continue;
      exit = { decision: statement, outcome: false, end: statement.end };
      break;
    }
    this.#exits.set(block, exit);
    return exit;
  }

  /** Follows variables, but not into calls of tools: their results decide on their own. */
  #dependsOnArgs(test: Node): boolean {
    const known = this.#dependent.get(test);
    if (known !== undefined) return known;
    const left = [test];
    const seen = new Set<Node>();
    let depends = false;
    for (let node = left.pop(); node !== undefined && !depends && seen.size < MAX_PARTS; node = left.pop()) {
      if (seen.has(node) || this.#sites.has(node)) continue;
      seen.add(node);
      depends = valueOf(node)?.kind === "args";
      pushChildren(left, node);
      for (const { source } of bindingOf(node)?.writes ?? []) if (source !== undefined) left.push(source);
    }
    this.#dependent.set(test, depends);
    return depends;
  }
}

interface Branch {
  readonly test: Node;
  readonly outcome: boolean;
}

/** The condition under which a child of the node is evaluated. */
const BRANCHES: ByType<readonly [Node], Branch | undefined> = {
  IfStatement: ({ test, consequent }, child) => (child === test ? undefined : { test, outcome: child === consequent }),
  ConditionalExpression: ({ test, consequent }, child) =>
    child === test ? undefined : { test, outcome: child === consequent },
  LogicalExpression: ({ left, right }, child) => (child === right ? { test: left, outcome: true } : undefined),
  AssignmentExpression: (node, child) =>
    child === node.right && isLogicalAssignment(node) ? { test: node.left, outcome: true } : undefined,
  SwitchCase: ({ test, parent }, child) =>
    child !== test && parent?.type === "SwitchStatement" ? { test: parent.discriminant, outcome: true } : undefined,
};

function statementsOf(node: Node): readonly Node[] {
  if (node.type === "SwitchCase") return node.consequent;
  return node.type === "BlockStatement" || node.type === "Program" ? node.body : [];
}

function endsWithReturn(statement: Node): boolean {
  const last = statement.type === "BlockStatement" ? statement.body.at(-1) : statement;
  return last?.type === "ReturnStatement";
}
