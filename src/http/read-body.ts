import type { IncomingMessage } from "node:http";
import { PmlError } from "../base/errors.ts";

/** Enough for anything a person fills in. */
const MOST_BYTES = 64 * 1024;

/** The body of a small request as text. */
export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MOST_BYTES) throw new PmlError("request_refused", `The request is larger than ${MOST_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
