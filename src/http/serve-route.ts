import type { IncomingMessage, ServerResponse } from "node:http";
import { z } from "zod";
import { PmlError } from "../base/errors.ts";
import type { DataRoute, Returned, RouteContract, RouteInput } from "../contract/route.ts";
import { answer, type Route } from "./http-server.ts";
import { parseJson, readBody } from "./read-body.ts";

/** Enough for a program, which is the largest thing that a request of the command line carries. */
const MOST_BODY_BYTES = 1024 * 1024;

/** Implements a route of the contract: parses the request, and wraps the value that the handler returns. */
export function serveData<Contract extends DataRoute>(
  contract: Contract,
  handle: (input: RouteInput<Contract>, request: IncomingMessage) => Promise<Returned<Contract>> | Returned<Contract>,
): Route {
  return serveRaw(contract, (request, response, params) =>
    answer(response, contract.status ?? 200, async () => handle(await readInput(contract, request, params), request)),
  );
}

type Handle = (
  request: IncomingMessage,
  response: ServerResponse,
  params: Readonly<Record<string, string>>,
) => Promise<void>;

/** Implements a route whose handler writes the response itself. */
export function serveRaw({ method, path, access, decisionKey }: RouteContract, handle: Handle): Route {
  return { method, path, access: access ?? "owner", decisionKey, handle };
}

async function readInput<Contract extends RouteContract>(
  { query, body }: Contract,
  request: IncomingMessage,
  params: Readonly<Record<string, string>>,
): Promise<RouteInput<Contract>> {
  return {
    params,
    query: query && parse(query, readQuery(request)),
    body: body instanceof z.ZodType ? parse(body, parseJson(await readBody(request, MOST_BODY_BYTES))) : undefined,
  } as RouteInput<Contract>;
}

export function readQuery({ url = "/" }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(new URL(url, "http://gateway").searchParams);
}

export function parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new PmlError("usage", `The request is not valid: ${issue?.path.join(".")} ${issue?.message}`);
}
