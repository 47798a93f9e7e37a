import type { JsonObject, JsonValue } from "../../src/base/json.ts";
import { childrenOf, type Node } from "../../src/analysis/syntax-tree.ts";
import { parseProgram } from "../../src/analysis/parse-program.ts";
import type { ArgumentSite } from "../generalise/played-world.ts";
import { listToolCalls } from "./tool-call.ts";

/** Lists where values go in a solution: the tool, the argument, the value of this instance. */
export function listArgumentSites(program: string, values: JsonObject): ArgumentSite[] {
  const items = findListItems(program);
  return listToolCalls(program).flatMap(({ server, tool, entries }) =>
    entries.flatMap(([argument, node]) =>
      readValues(node, values, items).map((read) => ({ tool: `${server}:${tool}`, argument, ...read })),
    ),
  );
}

type Read = Pick<ArgumentSite, "value" | "isList">;

/** Finds the variables of loops over a list in `args`, with the name of the list. */
function findListItems(program: string): ReadonlyMap<string, string> {
  const outcome = parseProgram(program);
  if (outcome.kind === "problem") throw new Error(outcome.problem.message);
  const items = new Map<string, string>();
  const visit = (node: Node): void => {
    if (node.type === "ForOfStatement") {
      const list = argumentName(node.right);
      const [declaration] = node.left.type === "VariableDeclaration" ? node.left.declarations : [];
      if (list !== undefined && declaration?.id.type === "Identifier") items.set(declaration.id.name, list);
    }
    childrenOf(node).forEach(visit);
  };
  outcome.program.body.forEach(visit);
  return items;
}

function readValues(node: Node, values: JsonObject, items: ReadonlyMap<string, string>): Read[] {
  const name = argumentName(node);
  if (name !== undefined) return [{ value: values[name] as JsonValue, isList: false }];
  const list = node.type === "Identifier" ? items.get(node.name) : undefined;
  if (list !== undefined) return [{ value: values[list] as JsonValue, isList: true }];
  // A constant of the solution is a value like any other to a reader of one program.
  if (node.type === "Literal") return [{ value: node.value as JsonValue, isList: false }];
  if (node.type === "ArrayExpression" && node.elements.length === 0) return [{ value: [], isList: false }];
  if (node.type === "MemberExpression" && !node.computed) return readValues(node.object, values, items);
  return childrenOf(node)
    .filter(({ type }) => type !== "Literal")
    .flatMap((child) => readValues(child, values, items));
}

/** The name in `args.name`. */
function argumentName(node: Node): string | undefined {
  if (node.type !== "MemberExpression" || node.computed || node.property.type !== "Identifier") return undefined;
  return node.object.type === "Identifier" && node.object.name === "args" ? node.property.name : undefined;
}
