import { type Node, type NodeOf, pushAll } from "./syntax-tree.ts";

/** Returns the variables a pattern assigns to. */
export function namesIn(pattern: Node): NodeOf<"Identifier">[] {
  const names: NodeOf<"Identifier">[] = [];
  const left: Node[] = [pattern];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    if (node.type === "Identifier") names.push(node);
    else pushAll(left, partsOf(node).toReversed());
  }
  return names;
}

function partsOf(pattern: Node): Node[] {
  if (pattern.type === "ObjectPattern") {
    return pattern.properties.map((property) => (property.type === "Property" ? property.value : property.argument));
  }
  if (pattern.type === "ArrayPattern") return pattern.elements.filter((element) => element !== null);
  if (pattern.type === "AssignmentPattern") return [pattern.left];
  if (pattern.type === "RestElement") return [pattern.argument];
  return pattern.type === "TSParameterProperty" ? [pattern.parameter] : [];
}
