import type { IncomingMessage, ServerResponse } from "node:http";
import { z } from "zod";
import type { App } from "../app.ts";
import { DEFAULT_SCOPE, OWNER } from "../capabilities/scope.ts";
import { PmlError } from "../errors.ts";
import { answer } from "./answer.ts";
import type { Route } from "./http-server.ts";
import { sendJson } from "./http-server.ts";
import { readBody } from "./read-body.ts";

const owner = { scope: DEFAULT_SCOPE, principal: OWNER };
/** Nobody in particular: sees what is public. */
const NOBODY = { scope: { org: "", project: "" }, principal: "" };

const LARGEST_BODY = 1024 * 1024;

const aliasRequest = z.strictObject({ name: z.string().min(1), alias: z.string().min(1) });
const serverRequest = z.strictObject({
  text: z.string().min(1),
  name: z
    .string()
    .regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/, "has lower-case letters, digits and inner hyphens")
    .optional(),
  visibility: z.enum(["private", "project", "org", "public"]).optional(),
});

/** Further names, records of MCP servers, and where those can be fetched. */
export function createRecordRoutes(app: App): Route[] {
  const { registry, servers, aliases } = app;
  return [
    {
      method: "POST",
      path: "/api/aliases/add",
      handle: (request, response) =>
        answer(response, async () => (await registry.alias(owner, await readJson(request, aliasRequest))).record),
    },
    {
      method: "POST",
      path: "/api/aliases/retire",
      handle: (request, response) =>
        answer(response, async () => aliases.retire(owner, await readJson(request, aliasRequest))),
    },
    {
      method: "POST",
      path: "/api/server-records",
      handle: (request, response) =>
        answer(response, async () => servers.register(owner, await readJson(request, serverRequest))),
    },
    {
      method: "GET",
      path: "/api/server-records/:name",
      handle: (_request, response, { name = "" }) =>
        answer(response, () => servers.export(owner, decodeURIComponent(name))),
    },
    {
      method: "GET",
      path: "/registry/mcp/:name/:version/mod.ts",
      access: "public",
      handle: (_request, response, { name = "", version = "" }) =>
        send(response, "text/typescript; charset=utf-8", () => servers.readModule(NOBODY, name, version)),
    },
    {
      method: "GET",
      path: "/registry/mcp/:name/:version/server.json",
      access: "public",
      handle: (_request, response, { name = "", version = "" }) =>
        send(response, "application/json", () => servers.readText(NOBODY, name, version)),
    },
  ];
}

async function send(response: ServerResponse, type: string, read: () => Promise<string | undefined>): Promise<void> {
  const text = await read();
  if (text === undefined) return sendJson(response, 404, { ok: false, error: { code: "not_found" } });
  response.writeHead(200, { "Content-Type": type }).end(text);
}

async function readJson<T>(request: IncomingMessage, schema: z.ZodType<T>): Promise<T> {
  const parsed = schema.safeParse(JSON.parse(await readBody(request, LARGEST_BODY)));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".") || "the whole"}: ${message}`);
  throw new PmlError("arguments_invalid", `The request is not right: ${problems.join("; ")}`);
}
