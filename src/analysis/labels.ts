import type { ArgumentsStructure, ArgumentValue, SourceRange } from "./structure.ts";

const MAX_DETAIL = 40;
/** Argument names that describe a call best, in order of preference. */
const DESCRIPTIVE = ["path", "file", "filename", "url", "uri", "name", "query", "id", "key", "repo", "table"];
const SECRET = /pass|secret|token|auth|credential|api.?key|private/i;

/** A node and its title, before anything distinguishes it from nodes with the same title. */
export interface Unlabelled {
  readonly id: string;
  readonly range: SourceRange;
  readonly arguments: ArgumentsStructure | undefined;
  readonly title: string;
}

/** Labels each node, as in `fs:read (config.json)`; adds line or id where labels are equal. */
export function labelNodes(nodes: readonly Unlabelled[]): readonly string[] {
  const detailed = nodes.map(({ title, arguments: given }) => withDetail(title, given && findDetail(given)));
  const byLine = distinguish(detailed, (index) => `line ${nodes[index]?.range.line ?? 0}`);
  return distinguish(byLine, (index) => nodes[index]?.id ?? "");
}

function withDetail(title: string, detail: string | undefined): string {
  return detail === undefined ? title : `${title} (${detail})`;
}

function findDetail(given: ArgumentsStructure): string | undefined {
  for (const name of DESCRIPTIVE) {
    const detail = Object.hasOwn(given, name) ? describeValue(given[name]) : undefined;
    if (detail !== undefined) return detail;
  }
  for (const name in given) {
    const detail = SECRET.test(name) ? undefined : describeValue(given[name]);
    if (detail !== undefined) return detail;
  }
  return undefined;
}

function describeValue(value: ArgumentValue | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (value.type === "parameter") return value.parameterName;
  if (value.type === "reference") return value.expression.length > MAX_DETAIL ? undefined : value.expression;
  if (typeof value.value !== "string" || value.value === "") return undefined;
  const text = value.value.replace(/\s+/g, " ");
  return text.length > MAX_DETAIL ? `${text.slice(0, MAX_DETAIL - 1)}…` : text;
}

function distinguish(labels: readonly string[], detailOf: (index: number) => string): readonly string[] {
  const counts = new Map<string, number>();
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  if (counts.size === labels.length) return labels;
  return labels.map((label, index) => ((counts.get(label) ?? 0) > 1 ? `${label}, ${detailOf(index)}` : label));
}
