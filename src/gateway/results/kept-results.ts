import { v7 as newId } from "uuid";
import type { Scope } from "../../registry/scope.ts";
import type { Db } from "../../db/client.ts";
import { PmlError } from "../../base/errors.ts";
import { KeptLedger, type KeptLimits } from "./kept-ledger.ts";
import {
  expireResults,
  findResult,
  insertResult,
  type NewResult,
  type OwnedKey,
  type ResultKey,
  type ResultRow,
} from "./result-store.ts";

/** A long result of a call outside of any run. */
export type CallResultText = Pick<NewResult, "tool" | "principal" | "status" | "contentType" | "text">;

export interface KeptResult extends ResultKey {
  readonly expiresAt: Date;
}

export interface PageRequest extends OwnedKey {
  /** In bytes of the requested format. */
  readonly offset: number;
  readonly limit: number;
  /** `pretty` indents JSON. */
  readonly format: "raw" | "pretty";
}

interface ResultPage extends Omit<ResultRow, "bytes"> {
  readonly offset: number;
  readonly text: string;
  /** undefined at the end. */
  readonly nextOffset: number | undefined;
}

/** Stores results that were too large to send at once, for reading in pages until they expire. */
export interface KeptResults {
  keep(result: CallResultText, seconds: number): Promise<KeptResult>;
  readPage(request: PageRequest): Promise<ResultPage>;
}

/** The one task of such a call. */
const CALL_TASK = "call";

export function createKeptResults(db: Db, scope: Scope, limits: KeptLimits): KeptResults {
  const ledger = new KeptLedger(limits);
  return {
    async keep(result, seconds) {
      const kept = { workflow: newId(), task: CALL_TASK, expiresAt: new Date(Date.now() + seconds * 1000) };
      const key = { workflow: kept.workflow, task: kept.task, principal: result.principal };
      const outdated = ledger.enter(key, Buffer.byteLength(result.text), kept.expiresAt);
      if (outdated.length > 0) await expireResults(db, scope, outdated);
      await insertResult(db, scope, { ...result, ...kept });
      return kept;
    },
    async readPage(request) {
      const { offset, limit, format } = request;
      const row = await findResult(db, scope, request, format === "raw" ? { offset, limit } : undefined);
      if (row === undefined) throw notFound(request);
      const { bytes, ...rest } = row;
      if (bytes === null || row.expiresAt.getTime() <= Date.now()) throw expired(row);
      if (format === "raw") return toPage(rest, offset, bytes);
      const pretty = indent(bytes);
      return toPage({ ...rest, totalBytes: pretty.length }, offset, pretty.subarray(offset, offset + limit));
    },
  };
}

/** Cuts at whole characters; the next page has the rest. */
function toPage(row: Omit<ResultRow, "bytes">, asked: number, bytes: Buffer): ResultPage {
  const start = bytes.findIndex((byte) => !isContinuation(byte));
  const offset = asked + Math.max(0, start);
  let end = bytes.length;
  if (asked + end < row.totalBytes) while (end > 0 && !isComplete(bytes, end)) end -= 1;
  const nextOffset = asked + end < row.totalBytes ? asked + end : undefined;
  return { ...row, offset, text: bytes.toString("utf8", Math.max(0, start), end), nextOffset };
}

function isContinuation(byte: number): boolean {
  return (byte & 0b1100_0000) === 0b1000_0000;
}

/** Whether the bytes end with a complete character. */
function isComplete(bytes: Buffer, end: number): boolean {
  let lead = end - 1;
  while (lead > 0 && isContinuation(bytes[lead] ?? 0)) lead -= 1;
  const first = bytes[lead] ?? 0;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  return end - lead === length;
}

/** Larger or deeper results stay as they are: with spaces they would be many times as long. */
const LARGEST_INDENTED = 1024 * 1024;
const DEEPEST_INDENTED = 32;

function indent(bytes: Buffer): Buffer {
  if (bytes.length > LARGEST_INDENTED) return bytes;
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return isDeeper(value, DEEPEST_INDENTED) ? bytes : Buffer.from(JSON.stringify(value, null, 2));
  } catch {
    return bytes; // plain text stays as it is
  }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => isDeeper(item, levels - 1));
}

function notFound({ workflow, task }: ResultKey): PmlError {
  return new PmlError("result_not_found", `No result is kept under workflow_id ${workflow} and task_id "${task}"`, {
    hint: "Both are in the truncated result, word for word",
  });
}

function expired({ tool, expiresAt }: ResultRow): PmlError {
  const at = expiresAt.toISOString();
  return new PmlError("result_expired", `The result${tool === null ? "" : ` of ${tool}`} expired at ${at}`, {
    hint: "Call the tool again if that does no harm. results.ttlSeconds says how long results are kept, results.maxKept and results.maxKeptBytes how many",
    details: { expiredAt: at },
  });
}
