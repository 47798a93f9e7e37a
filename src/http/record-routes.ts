import type { ServerResponse } from "node:http";
import type { App } from "../app/app.ts";
import { withoutUndefined } from "../base/without-undefined.ts";
import type { TextRoute } from "../contract/route.ts";
import { routes } from "../contract/routes.ts";
import { OWNER } from "../registry/scope.ts";
import type { Route } from "./http-server.ts";
import { NOBODY, sendNotFound } from "./registry-routes.ts";
import { serveData, serveRaw } from "./serve-route.ts";

/** Further names, and records of MCP servers with the addresses that serve them. */
export function createRecordRoutes({ registry, scope, records: { servers } }: App): Route[] {
  const owner = { scope, principal: OWNER };
  const person = { ...owner, admin: true };
  return [
    serveData(routes.addAlias, async ({ body }) => (await registry.alias(owner, body)).record),
    serveData(routes.retireAlias, async ({ body }) => (await registry.retireAlias(owner, body)).record),
    serveData(routes.shareRecord, async ({ body }) => (await registry.tag(person, body)).record),
    serveData(routes.registerServer, ({ body }) => servers.register(person, withoutUndefined(body))),
    serveData(routes.exportServer, ({ params: { name } }) => servers.export(owner, name)),
    serveText(routes.getServerModule, (name, version) => servers.readModule(NOBODY, name, version)),
    serveText(routes.getServerJson, (name, version) => servers.readText(NOBODY, name, version)),
  ];
}

function serveText(route: TextRoute, read: (name: string, version: string) => Promise<string | undefined>): Route {
  return serveRaw(route, async (_request, response, { name = "", version = "" }) => {
    const text = await read(name, version);
    if (text === undefined) sendNotFound(response, name);
    else sendText(response, route, text);
  });
}

function sendText(response: ServerResponse, { answer: { mediaType } }: TextRoute, text: string): void {
  const type = mediaType.startsWith("text/") ? `${mediaType}; charset=utf-8` : mediaType;
  response.writeHead(200, { "Content-Type": type }).end(text);
}
