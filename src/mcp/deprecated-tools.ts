import type { OwnTool } from "./own-tool.ts";

/** Names that agents may have learned earlier; they are answered, but not listed. */
const NEW_NAMES: Readonly<Record<string, string>> = {
  pml_search_tools: "pml_discover",
  pml_search_capabilities: "pml_discover",
  pml_find_capabilities: "pml_discover",
  pml_execute_dag: "pml_execute",
  pml_execute_code: "pml_execute",
};

export function newNameOf(name: string): string | undefined {
  return NEW_NAMES[name];
}

/** The tool under its old name: what it answers says how it is called now. */
export function withNotice(tool: OwnTool, oldName: string): OwnTool {
  const { definition } = tool;
  const notice = `${oldName} is deprecated; use ${definition.name}`;
  return {
    definition,
    async call(input, context) {
      const answer = await tool.call(translate(input), context);
      return answer.kind === "json" ? { ...answer, value: { ...answer.value, deprecated: notice } } : answer;
    },
  };
}

/** What was once called a query is an intent. */
function translate(input: unknown): unknown {
  if (typeof input !== "object" || input === null || "intent" in input || !("query" in input)) return input;
  const { query, ...rest } = input;
  return { ...rest, intent: query };
}
