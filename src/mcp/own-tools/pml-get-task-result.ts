import { GET_TASK_RESULT } from "../../gateway/results/fit-result.ts";
import { z } from "zod";
import type { KeptResults } from "../../gateway/results/kept-results.ts";
import { defineTool, type OwnTool } from "./own-tool.ts";

export interface GetTaskResultParts {
  readonly results: KeptResults;
  /** What a client gets at once; 0 means that nobody minds. */
  readonly maxBytes: () => number;
}

/** The name stands in every truncated result. */

const DEFAULT_PAGE_BYTES = 32_768;
/** The longest character has four bytes; with less a page could be empty. */
const SMALLEST_PAGE_BYTES = 4;
/** What the database keeps in one value. */
const LARGEST_OFFSET = 2 ** 30;

const input = z.strictObject({
  workflow_id: z.uuid().describe("From the truncated result."),
  task_id: z.string().min(1),
  offset: z.number().int().min(0).max(LARGEST_OFFSET).default(0).describe("In bytes."),
  limit: z
    .number()
    .int()
    .min(SMALLEST_PAGE_BYTES)
    .max(LARGEST_OFFSET)
    .default(DEFAULT_PAGE_BYTES)
    .describe("In bytes; a page may be shorter."),
  format: z.enum(["raw", "pretty"]).default("raw").describe("pretty indents JSON; its offsets are its own."),
});

export function createGetTaskResult({ results, maxBytes }: GetTaskResultParts): OwnTool {
  return defineTool({
    name: GET_TASK_RESULT,
    title: "Read a long result",
    description:
      "Read on in a result that was too long. The answer is JSON about the page, then the page as text. Go on with next_offset until it is null.",
    input,
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
      const about = {
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
