/** A structure as it comes over the wire. */
export interface DrawnGraph {
  readonly nodes: readonly { readonly id: string; readonly type: string; readonly label: string }[];
  readonly edges: readonly {
    readonly from: string;
    readonly to: string;
    readonly type: string;
    readonly outcome?: string;
  }[];
}

/** Nodes in their order, what is inside a branch or loop further to the right, with where data comes from. */
export function drawOutline({ nodes, edges }: DrawnGraph): string {
  if (nodes.length === 0) return "It calls nothing.";
  const depths = new Map<string, number>();
  const lines = nodes.map(({ id, type, label }) => {
    const incoming = edges.filter(({ to, type: kind }) => to === id && kind !== "provides");
    const depth = Math.max(0, ...incoming.map((edge) => (depths.get(edge.from) ?? 0) + (isInside(edge.type) ? 1 : 0)));
    depths.set(id, depth);
    const branch = incoming.find((edge) => edge.outcome !== undefined)?.outcome;
    const sources = edges.filter((edge) => edge.to === id && edge.type === "provides").map(({ from }) => from);
    const from = sources.length === 0 ? "" : `  ← ${sources.join(", ")}`;
    return `${"  ".repeat(depth)}${branch === undefined ? "" : `[${branch}] `}${id}  ${type}  ${label}${from}`;
  });
  return lines.join("\n");
}

function isInside(type: string): boolean {
  return type === "conditional" || type === "contains";
}

export function drawMermaid({ nodes, edges }: DrawnGraph): string {
  const shapes = nodes.map(({ id, type, label }) => {
    const text = JSON.stringify(label).replaceAll("`", "'");
    return type === "decision" ? `  ${id}{${text}}` : `  ${id}[${text}]`;
  });
  const arrows = edges.map(({ from, to, type, outcome }) => {
    const text = outcome ?? (type === "sequence" ? undefined : type);
    const arrow = type === "provides" ? "-.->" : "-->";
    return `  ${from} ${arrow}${text === undefined ? "" : `|${JSON.stringify(text)}|`} ${to}`;
  });
  return ["flowchart TD", ...shapes, ...arrows].join("\n");
}

export function drawDot({ nodes, edges }: DrawnGraph): string {
  const boxes = nodes.map(
    ({ id, type, label }) =>
      `  ${id} [label=${JSON.stringify(label)}, shape=${type === "decision" ? "diamond" : "box"}];`,
  );
  const arrows = edges.map(({ from, to, type, outcome }) => {
    const style = type === "provides" ? ", style=dashed" : "";
    return `  ${from} -> ${to} [label=${JSON.stringify(outcome ?? (type === "sequence" ? "" : type))}${style}];`;
  });
  return ["digraph capability {", ...boxes, ...arrows, "}"].join("\n");
}
