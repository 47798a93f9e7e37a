import type {
  AnalysedProgram,
  AnalysisOutcome,
  ArgumentValue,
  StructureEdge,
  StructureNode,
} from "../../src/analysis/structure.ts";
import type { JsonSchema } from "../../src/base/json.ts";

/** Formats the result of an analysis as readable, comparable lines. */
export function formatOutcome(outcome: AnalysisOutcome): string {
  if (outcome.kind === "program") return formatProgram(outcome.program);
  const { message, line, column, excerpt, hint } = outcome.problem;
  const mark = `${" ".repeat(column)}^`;
  return [
    `error at ${line}:${column}: ${message}`,
    excerpt,
    mark,
    ...(hint === undefined ? [] : [`hint: ${hint}`]),
    "",
  ].join("\n");
}

function formatProgram({ structure, ...program }: AnalysedProgram): string {
  const lines = [...structure.nodes.map(formatNode), "", ...formatEdges(structure.edges), ""];
  const names = [...program.tools, ...program.capabilities.map((name) => `capability ${name}`)];
  lines.push(`uses ${[...names, ...(program.hasDynamicCalls ? ["anything"] : [])].join(", ") || "nothing"}`);
  lines.push(...formatParameters(program.parameters));
  if (program.implicitParameters.length > 0) lines.push(`implicit ${program.implicitParameters.join(", ")}`);
  return `${lines
    .join("\n")
    .replace(/\n{2,}/g, "\n\n")
    .trim()}\n`;
}

function formatNode(node: StructureNode): string {
  return `${node.id} ${node.type} ${describe(node)}`.trim();
}

function describe(node: StructureNode): string {
  if (node.type === "task") return node.tool + formatArguments(node.arguments);
  if (node.type === "capability") return node.capability + formatArguments(node.arguments);
  if (node.type === "dynamic") return node.expression;
  if (node.type === "decision") return node.condition;
  if (node.type === "fork") return node.combinator;
  return node.type === "loop" ? node.over : "";
}

function formatArguments(given: Readonly<Record<string, ArgumentValue>> | undefined): string {
  if (given === undefined) return "";
  const parts = Object.entries(given).map(([name, value]) => `${name}: ${formatValue(value)}`);
  return ` (${parts.join(", ")})`;
}

function formatValue(value: ArgumentValue): string {
  if (value.type === "literal") return JSON.stringify(value.value);
  if (value.type === "parameter") return `<${value.parameterName}>`;
  const isPlain = value.nodes.length === 1 && value.expression.startsWith(value.nodes[0] ?? "");
  return isPlain ? value.expression : `{${value.expression}}${value.nodes.map((id) => `@${id}`).join("")}`;
}

function formatEdges(edges: readonly StructureEdge[]): string[] {
  const contained = Map.groupBy(
    edges.filter(({ type }) => type === "contains"),
    ({ from }) => from,
  );
  return [
    ...edges.filter(({ type }) => type !== "contains").map(formatEdge),
    ...[...contained].map(([from, inner]) => `${from} contains ${inner.map(({ to }) => to).join(" ")}`),
  ];
}

function formatEdge(edge: StructureEdge): string {
  if (edge.type === "conditional") return `${edge.from} -[${edge.outcome}]-> ${edge.to}`;
  if (edge.type !== "provides") return `${edge.from} -> ${edge.to}`;
  const fields = (edge.fieldMapping ?? []).map(
    ({ fromField, toField, typeCompatible }) => `${fromField} ${typeCompatible ? "=" : "≠"}> ${toField}`,
  );
  return [`${edge.from} provides ${edge.to}`, ...(edge.coverage === undefined ? [] : [edge.coverage]), ...fields].join(
    ", ",
  );
}

function formatParameters(schema: JsonSchema): string[] {
  const required = (schema["required"] ?? []) as string[];
  const others = schema["additionalProperties"] === false ? [] : ["parameter …: any"];
  const known = Object.entries(schema["properties"] as Record<string, JsonSchema>).map(([name, property]) => {
    const details = Object.keys(property).length === 0 ? "any" : JSON.stringify(property);
    return `parameter ${name}${required.includes(name) ? "" : "?"}: ${details}`;
  });
  return [...known, ...others];
}
