import type { CallToolResult, Tool } from "@modelcontextprotocol/server";
import type { Logger } from "../../base/log.ts";
import { jsonBytes } from "./json-size.ts";
import type { KeptResult, KeptResults } from "./kept-results.ts";
import type { Cut } from "./shrink-json.ts";
import { type ResultText, toResultText } from "./result-text.ts";

import type { ResultCutter } from "./fit-thread.ts";
import type { TruncatedResult } from "./truncate-result.ts";

export interface SizedResult {
  readonly result: CallToolResult;
  /** An estimate: the number of its characters. */
  readonly size: number;
  /** `server:tool`. */
  readonly tool: string;
  readonly outputSchema: Tool["outputSchema"];
  /** Limits content and structured content, of which a client shows one; 0 for no limit. */
  readonly maxBytes: number;
  /** The setting that has the limit. */
  readonly limitName: string;
}

export interface FitParts {
  readonly results: KeptResults & ResultCutter;
  /** The principal who may read the result. */
  readonly principal: string | undefined;
  readonly ttlSeconds: number;
  /** Hides the secrets of the call in the result that is kept. */
  readonly hide: <T>(value: T) => T;
  readonly log: Logger;
}

/** The tool that reads on in a result that was cut. */
export const GET_TASK_RESULT = "pml_get_task_result";
/** An escaped control character, the longest that JSON makes of one. */
const MOST_BYTES_PER_CHARACTER = 6;
const FAR_BEYOND = 4;
/** Reserved for the note that says what is missing. */
const NOTE_BYTES = 1_500;
const CUTS_NAMED = 5;
const LONGEST_PATH = 80;
const LONGEST_REASON = 300;

/**
 * Passes results within the limit unchanged. Cuts larger ones to fit and adds a handle to the whole, or a note where
 * the whole could not be stored.
 */
export async function fitResult(sized: SizedResult, parts: FitParts): Promise<CallToolResult> {
  const { result, size, maxBytes } = sized;
  if (maxBytes === 0 || size * MOST_BYTES_PER_CHARACTER <= maxBytes) return result;
  const { structuredContent, ...shown } = result;
  // Serialising is faster than counting, except for a value far beyond the limit, where counting stops early.
  const limit = size < FAR_BEYOND * maxBytes ? Infinity : maxBytes;
  if (Math.max(jsonBytes(shown, limit), jsonBytes(structuredContent ?? null, limit)) <= maxBytes) return result;
  const hidden = parts.hide(result);
  const text = toResultText(hidden);
  const kept = await keep(sized, text, parts);
  const cut = await parts.results.cut({
    result,
    outputSchema: structuredContent === undefined ? undefined : sized.outputSchema,
    maxBytes: maxBytes - NOTE_BYTES,
  });
  const truncated = "reason" in cut ? withoutContent(result, cut.reason) : cut;
  // Placeholders are not as long as secrets, so that the places in the two texts differ.
  const isSameText = hidden === result && text.contentType === "text/plain";
  const offset = isSameText ? findContinuation(text.text, truncated.cuts) : 0;
  return addNote(truncated, { ...sized, totalBytes: Buffer.byteLength(text.text), kept, offset });
}

/** Stands for a result of which nothing could be cut in time. */
function withoutContent({ structuredContent, isError }: CallToolResult, notCut: string): TruncatedResult & NotCut {
  return {
    result: { content: [], ...(isError === undefined ? {} : { isError }) },
    cuts: [],
    structureLost: structuredContent !== undefined,
    notCut,
  };
}

interface NotCut {
  /** The reason why no part is shown. */
  readonly notCut?: string;
}

type Keeping = KeptResult | { readonly reason: string };

async function keep(
  { result, tool }: SizedResult,
  text: ResultText,
  { results, principal, ttlSeconds, log }: FitParts,
): Promise<Keeping> {
  try {
    const status = result.isError === true ? "error" : "success";
    return await results.keep({ tool, principal, status, ...text }, ttlSeconds);
  } catch (error) {
    log.error({ tool, error: String(error) }, "a long result could not be kept");
    return { reason: String(error).slice(0, LONGEST_REASON) };
  }
}

/** Finds the byte at which the omitted part of a plain text begins. */
function findContinuation(text: string, cuts: readonly Cut[]): number {
  const cut = cuts.find(({ path }) => path === "content[0].text");
  return cut === undefined ? 0 : Buffer.byteLength(text.slice(0, cut.kept));
}

interface Circumstances extends SizedResult {
  readonly totalBytes: number;
  readonly kept: Keeping;
  /** The byte to read on from. */
  readonly offset: number;
}

function addNote(truncated: TruncatedResult & NotCut, circumstances: Circumstances): CallToolResult {
  const { result, structureLost } = truncated;
  const { kept, totalBytes, outputSchema, offset } = circumstances;
  const text = describeTruncation(truncated, circumstances);
  const handle =
    "reason" in kept
      ? {}
      : { workflow_id: kept.workflow, task_id: kept.task, offset, expires_at: kept.expiresAt.toISOString() };
  return {
    ...result,
    content: [...result.content, { type: "text", text }],
    // Clients refuse a result without the structure it promised, unless it is an error.
    ...(structureLost && outputSchema !== undefined ? { isError: true } : {}),
    _meta: { ...result._meta, "dev.pml/truncated": { total_bytes: totalBytes, ...handle } },
  };
}

function describeTruncation(
  { cuts, structureLost, notCut }: TruncatedResult & NotCut,
  { kept, totalBytes, maxBytes, limitName, result, outputSchema, offset }: Circumstances,
): string {
  const named = cuts.slice(0, CUTS_NAMED).map(describeCut);
  const more = cuts.length > named.length ? [`and ${cuts.length - named.length} more`] : [];
  const missing = notCut === undefined ? `not complete here: ${[...named, ...more].join("; ")}` : `left out: ${notCut}`;
  const sentences = [
    `[PML] This result has ${totalBytes} bytes, more than the limit of ${maxBytes} (${limitName}), and is ${missing}.`,
  ];
  if (structureLost && notCut === undefined)
    sentences.push("Its structured content is left out, since nothing shorter would fit its output schema.");
  if (structureLost && outputSchema !== undefined && result.isError !== true)
    sentences.push("The call itself succeeded; do not repeat it.");
  if ("reason" in kept) sentences.push(`The rest could not be kept: ${kept.reason}`);
  else {
    const handle = JSON.stringify({ workflow_id: kept.workflow, task_id: kept.task, offset });
    sentences.push(
      `The whole is kept until ${kept.expiresAt.toISOString()}. Read on with ${GET_TASK_RESULT} ${handle}`,
    );
  }
  return sentences.join(" ");
}

function describeCut({ path, kept, of, unit }: Cut): string {
  return `${path.slice(0, LONGEST_PATH) || "all"}: ${kept} of ${of} ${unit}`;
}
