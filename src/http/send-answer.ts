import type { IncomingMessage, ServerResponse } from "node:http";
import type { z } from "zod";
import { PmlError } from "../base/errors.ts";
import { sendJson } from "./http-server.ts";

/** Nobody is told whether something is hidden or was never there. */
export function sendNotFound(response: ServerResponse, name: string): void {
  const message = `Nothing public is called "${name}"`;
  sendJson(response, 404, {
    ok: false,
    error: { code: "not_found", message, hint: "What is: /registry/capabilities" },
  });
}

const MOST_BYTES = 1024 * 1024;

/** The body of a request of the command line, which has a program in it at most. */
export async function readBody<T>(request: IncomingMessage, schema: z.ZodType<T>): Promise<T> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MOST_BYTES) throw new PmlError("request_refused", `The body is larger than ${MOST_BYTES} bytes`);
    chunks.push(chunk);
  }
  const parsed = schema.safeParse(parseJson(Buffer.concat(chunks).toString("utf8")));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new PmlError("usage", `The request is not valid: ${issue?.path.join(".")} ${issue?.message}`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // told like every other body that is not what it should be
  }
}

export function readQuery(request: IncomingMessage, name: string): string | undefined {
  return new URL(request.url ?? "/", "http://gateway").searchParams.get(name) ?? undefined;
}
