import { tools } from "../../contract/tools.ts";
import type { Sent } from "../../contract/wire.ts";
import { GET_TASK_RESULT } from "../../gateway/results/fit-result.ts";
import type { KeptResults } from "../../gateway/results/kept-results.ts";
import { defineTool, type OwnTool } from "./own-tool.ts";

export interface GetTaskResultParts {
  readonly results: KeptResults;
  /** The largest page a client gets; 0 for no limit. */
  readonly maxBytes: () => number;
}

export function createGetTaskResult({ results, maxBytes }: GetTaskResultParts): OwnTool {
  return defineTool({
    // Not its answer: that is the first of two texts, and clients expect structured content of a listed schema.
    name: GET_TASK_RESULT,
    title: "Read a long result",
    description:
      "Read on in a result that was too long. The answer is JSON about the page, then the page as text. Go on with next_offset until it is null.",
    input: tools.pml_get_task_result.input,
    annotations: { readOnlyHint: true, openWorldHint: false },
    meta: { "anthropic/alwaysLoad": true },
    async run({ workflow_id, task_id, offset, limit, format }, { principal }) {
      const page = await results.readPage({
        workflow: workflow_id,
        task: task_id,
        principal,
        offset,
        limit: Math.min(limit, maxBytes() || limit),
        format,
      });
      const about: Sent<typeof tools.pml_get_task_result.answer> = {
        workflow_id,
        task_id,
        tool: page.tool,
        content_type: page.contentType,
        format,
        offset: page.offset,
        next_offset: page.nextOffset ?? null,
        total_bytes: page.totalBytes,
        expires_at: page.expiresAt.toISOString(),
      };
      return {
        kind: "content",
        content: [
          { type: "text", text: JSON.stringify(about) },
          { type: "text", text: page.text },
        ],
      };
    },
  });
}
