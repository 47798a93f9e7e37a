import type { ProgramStructure } from "../contract/structure.ts";

/** Draws the nodes in their order, those of a branch or loop indented, each with the sources of its data. */
export function drawOutline({ nodes, edges }: ProgramStructure): string {
  if (nodes.length === 0) return "It calls nothing.";
  const depths = new Map<string, number>();
  const lines = nodes.map(({ id, type, label }) => {
    const incoming = edges.filter(({ to, type: kind }) => to === id && kind !== "provides");
    const depth = Math.max(0, ...incoming.map((edge) => (depths.get(edge.from) ?? 0) + (isInside(edge.type) ? 1 : 0)));
    depths.set(id, depth);
    const branch = incoming.map(outcomeOf).find((outcome) => outcome !== undefined);
    const sources = edges.filter((edge) => edge.to === id && edge.type === "provides").map(({ from }) => from);
    const from = sources.length === 0 ? "" : `  ← ${sources.join(", ")}`;
    return `${"  ".repeat(depth)}${branch === undefined ? "" : `[${branch}] `}${id}  ${type}  ${label}${from}`;
  });
  return lines.join("\n");
}

function outcomeOf(edge: ProgramStructure["edges"][number]): string | undefined {
  return edge.type === "conditional" ? edge.outcome : undefined;
}

function isInside(type: string): boolean {
  return type === "conditional" || type === "contains";
}

export function drawMermaid({ nodes, edges }: ProgramStructure): string {
  const shapes = nodes.map(({ id, type, label }) => {
    const text = JSON.stringify(label).replaceAll("`", "'");
    return type === "decision" ? `  ${id}{${text}}` : `  ${id}[${text}]`;
  });
  const arrows = edges.map((edge) => {
    const { from, to, type } = edge;
    const outcome = outcomeOf(edge);
    const text = outcome ?? (type === "sequence" ? undefined : type);
    const arrow = type === "provides" ? "-.->" : "-->";
    return `  ${from} ${arrow}${text === undefined ? "" : `|${JSON.stringify(text)}|`} ${to}`;
  });
  return ["flowchart TD", ...shapes, ...arrows].join("\n");
}

export function drawDot({ nodes, edges }: ProgramStructure): string {
  const boxes = nodes.map(
    ({ id, type, label }) =>
      `  ${id} [label=${JSON.stringify(label)}, shape=${type === "decision" ? "diamond" : "box"}];`,
  );
  const arrows = edges.map((edge) => {
    const { from, to, type } = edge;
    const outcome = outcomeOf(edge);
    const style = type === "provides" ? ", style=dashed" : "";
    return `  ${from} -> ${to} [label=${JSON.stringify(outcome ?? (type === "sequence" ? "" : type))}${style}];`;
  });
  return ["digraph capability {", ...boxes, ...arrows, "}"].join("\n");
}
