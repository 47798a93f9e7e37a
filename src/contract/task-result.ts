import { z } from "zod";
import { count, instant } from "./wire.ts";

const DEFAULT_PAGE_BYTES = 32_768;
/** The longest character has four bytes; with less a page could be empty. */
const SMALLEST_PAGE_BYTES = 4;
/** The database keeps no more in one value. */
const LARGEST_OFFSET = 2 ** 30;

const format = z.enum(["raw", "pretty"]);

export const taskResultRequest = z.strictObject({
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
  format: format.default("raw").describe("pretty indents JSON; its offsets are its own."),
});

/** The first text of the answer, as JSON; the page itself is the second. */
export const taskResultPage = z.object({
  workflow_id: z.string(),
  task_id: z.string(),
  tool: z.string().nullable(),
  content_type: z.string().nullable(),
  format,
  offset: count,
  next_offset: count.nullable().describe("null: that was all."),
  total_bytes: count,
  expires_at: instant,
});
