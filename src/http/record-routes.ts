import type { ServerResponse } from "node:http";
import { z } from "zod";
import type { App } from "../app/app.ts";
import { OWNER } from "../registry/scope.ts";
import { withoutUndefined } from "../base/without-undefined.ts";
import { readBody, sendNotFound } from "./send-answer.ts";
import { answer, type Route } from "./http-server.ts";
import { NOBODY } from "./registry-routes.ts";

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
  const { registry, scope } = app;
  const { servers } = app.records;
  const owner = { scope, principal: OWNER };
  return [
    {
      method: "POST",
      path: "/api/aliases/add",
      handle: (request, response) =>
        answer(response, async () => (await registry.alias(owner, await readBody(request, aliasRequest))).record),
    },
    {
      method: "POST",
      path: "/api/aliases/retire",
      handle: (request, response) =>
        answer(response, async () => (await registry.retireAlias(owner, await readBody(request, aliasRequest))).record),
    },
    {
      method: "POST",
      path: "/api/server-records",
      handle: (request, response) =>
        answer(response, async () => servers.register(owner, withoutUndefined(await readBody(request, serverRequest)))),
    },
    {
      method: "GET",
      path: "/api/server-records/:name",
      handle: (_request, response, { name = "" }) => answer(response, () => servers.export(owner, name)),
    },
    {
      method: "GET",
      path: "/registry/mcp/:name/:version/mod.ts",
      access: "public",
      handle: (_request, response, { name = "", version = "" }) =>
        send(response, { name, type: "text/typescript; charset=utf-8" }, () =>
          servers.readModule(NOBODY, name, version),
        ),
    },
    {
      method: "GET",
      path: "/registry/mcp/:name/:version/server.json",
      access: "public",
      handle: (_request, response, { name = "", version = "" }) =>
        send(response, { name, type: "application/json" }, () => servers.readText(NOBODY, name, version)),
    },
  ];
}

async function send(
  response: ServerResponse,
  { name, type }: { readonly name: string; readonly type: string },
  read: () => Promise<string | undefined>,
): Promise<void> {
  const text = await read();
  if (text === undefined) return sendNotFound(response, name);
  response.writeHead(200, { "Content-Type": type }).end(text);
}
