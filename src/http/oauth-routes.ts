import type { IncomingMessage, ServerResponse } from "node:http";
import type { App } from "../app/app.ts";
import { PmlError, toErrorReport } from "../base/errors.ts";
import { routes } from "../contract/routes.ts";
import { type Route, sendDocument, sendJson } from "./http-server.ts";
import { parse, readQuery, serveRaw } from "./serve-route.ts";

/** Routes for browsers and authorization servers. They have no token; the state of a login identifies it. */
export function createOauthRoutes(app: App): Route[] {
  return [
    serveRaw(routes.finishLogin, (request, response) => finishLogin(app, request, response)),
    serveRaw(routes.getClientDocument, async (_request, response) => {
      const document = app.logins.clientDocument;
      if (document === undefined) sendJson(response, 404, { ok: false, error: toErrorReport(noDocument()) });
      else sendDocument(response, routes.getClientDocument, document);
    }),
  ];
}

function noDocument(): PmlError {
  return new PmlError("usage", "upstream.clientMetadataUrl is not set");
}

async function finishLogin({ upstreams }: App, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const { state = "", code, iss, error } = parse(routes.finishLogin.query, readQuery(request));
    const server = await upstreams.finishLogin({ state, code, iss, error });
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
