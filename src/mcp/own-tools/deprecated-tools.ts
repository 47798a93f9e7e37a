import type { OwnTool } from "./own-tool.ts";

/** Former names of tools that agents may still use; not listed. */
const NEW_NAMES: Readonly<Record<string, string>> = {
  pml_search_tools: "pml_discover",
  pml_search_capabilities: "pml_discover",
  pml_find_capabilities: "pml_discover",
  pml_execute_dag: "pml_execute",
  pml_execute_code: "pml_execute",
};

/** The kind of result that each of the former searches was for. */
const LOOKED_FOR: Readonly<Record<string, "tool" | "capability">> = {
  pml_search_tools: "tool",
  pml_search_capabilities: "capability",
  pml_find_capabilities: "capability",
};

export function newNameOf(name: string): string | undefined {
  return NEW_NAMES[name];
}

/** Makes the tool under its old name; its answers carry a notice with the new one. */
export function withNotice(tool: OwnTool, oldName: string): OwnTool {
  const { definition } = tool;
  const notice = `${oldName} is deprecated; use ${definition.name}`;
  return {
    definition,
    async call(input, context) {
      const answer = await tool.call(translate(input, LOOKED_FOR[oldName]), context);
      return answer.kind === "json" ? { ...answer, value: { ...answer.value, deprecated: notice } } : answer;
    },
  };
}

/** Converts arguments of a former search: `query` is `intent` now, the kind is a filter, and answers were not brief. */
function translate(input: unknown, type: string | undefined): unknown {
  if (typeof input !== "object" || input === null) return input;
  const kept = type === undefined ? input : { detail: "full", filter: { type }, ...input };
  if ("intent" in kept || !("query" in kept)) return kept;
  const { query, ...rest } = kept;
  return { ...rest, intent: query };
}
