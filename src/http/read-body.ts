import type { IncomingMessage } from "node:http";
import { PmlError } from "../base/errors.ts";

/** Reads a whole body, up to a limit, as text. */
export async function readBody(request: IncomingMessage, mostBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > mostBytes) throw new PmlError("request_refused", `The body is larger than ${mostBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Returns undefined for text that is not JSON: a schema refuses it like any other wrong body. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
