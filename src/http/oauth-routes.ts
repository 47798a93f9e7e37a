import type { IncomingMessage, ServerResponse } from "node:http";
import type { App } from "../app/app.ts";
import { PmlError, toErrorReport } from "../base/errors.ts";
import { type Route, sendJson } from "./http-server.ts";

/** What browsers and authorization servers ask for. They have no token; a login is known by its state. */
export function createOauthRoutes(app: App): Route[] {
  return [
    {
      method: "GET",
      path: "/oauth/callback",
      access: "public",
      handle: (request, response) => finishLogin(app, request, response),
    },
    {
      method: "GET",
      path: "/oauth/client.json",
      access: "public",
      handle: async (_request, response) => {
        const document = app.logins.clientDocument;
        if (document === undefined) sendJson(response, 404, { error: "upstream.clientMetadataUrl is not set" });
        else sendJson(response, 200, document);
      },
    },
  ];
}

async function finishLogin({ upstreams }: App, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { searchParams } = new URL(request.url ?? "/", "http://gateway");
  const read = (name: string): string | undefined => searchParams.get(name) ?? undefined;
  try {
    const state = read("state") ?? "";
    const server = await upstreams.finishLogin({ state, code: read("code"), iss: read("iss"), error: read("error") });
    sendPage(response, 200, `PML is logged in to ${server}. You can close this window.`);
  } catch (error) {
    if (!(error instanceof PmlError)) throw error;
    const { message, hint = "" } = toErrorReport(error);
    sendPage(response, 400, `${message}. ${hint}`);
  }
}

function sendPage(response: ServerResponse, status: number, text: string): void {
  const escaped = text.replace(/[&<>"']/g, (letter) => `&#${letter.codePointAt(0)};`);
  response
    .writeHead(status, {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
      "Referrer-Policy": "no-referrer",
      "Cache-Control": "no-store",
    })
    .end(`<!doctype html><meta charset="utf-8"><title>PML</title><p>${escaped}</p>\n`);
}
