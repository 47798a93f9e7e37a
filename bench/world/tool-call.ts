import { parseProgram } from "../../src/analysis/parse-program.ts";
import { childrenOf, type Node, type NodeOf } from "../../src/analysis/syntax-tree.ts";

/** A call of a tool in a solution. */
export interface ToolCall {
  readonly server: string;
  readonly tool: string;
  readonly input: NodeOf<"ObjectExpression">;
  /** The arguments by name. */
  readonly entries: readonly (readonly [string, Node])[];
}

/** Reads `await mcp.server.tool({ … })`. */
export function findToolCall(node: Node): ToolCall | undefined {
  if (node.type !== "AwaitExpression" || node.argument.type !== "CallExpression") return undefined;
  const { callee, arguments: given } = node.argument;
  const [input] = given;
  if (callee.type !== "MemberExpression" || callee.object.type !== "MemberExpression") return undefined;
  if (callee.property.type !== "Identifier" || callee.object.property.type !== "Identifier") return undefined;
  if (input?.type !== "ObjectExpression") throw new Error("A tool takes one object");
  return { server: callee.object.property.name, tool: callee.property.name, input, entries: entriesOf(input) };
}

/** Lists the calls of a solution in the order of its text. */
export function listToolCalls(program: string): ToolCall[] {
  const outcome = parseProgram(program);
  if (outcome.kind === "problem") throw new Error(outcome.problem.message);
  const visit = (node: Node): ToolCall[] => {
    const call = findToolCall(node);
    return call === undefined ? childrenOf(node).flatMap(visit) : [call];
  };
  return outcome.program.body.flatMap(visit);
}

export function entriesOf({ properties }: NodeOf<"ObjectExpression">): (readonly [string, Node])[] {
  return properties.map((property) => {
    if (property.type !== "Property" || property.key.type !== "Identifier")
      throw new Error("A solution has plain members of objects only");
    return [property.key.name, property.value] as const;
  });
}
