import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { once } from "node:events";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { App } from "../app/app.ts";
import type { GuardedRequest } from "../auth/caller.ts";
import type { ResourceServer } from "../auth/resource-server.ts";
import { createApprovalRoutes } from "./approval-routes.ts";
import { createCurationRoutes } from "./curation-routes.ts";
import type { DecisionKey } from "./decision-key.ts";
import { answer, type Route, sendJson } from "./http-server.ts";
import type { Metrics } from "./metrics.ts";
import { createRecordRoutes } from "./record-routes.ts";
import { createRegistryRoutes } from "./registry-routes.ts";
import { createRunRoutes } from "./run-routes.ts";
import { createUpstreamRoutes } from "./upstream-routes.ts";

export interface RouteOptions {
  readonly app: App;
  /** Serves MCP at /mcp. */
  readonly endpoint: { handle(request: GuardedRequest, response: ServerResponse): Promise<void> };
  /** Only with remote use. */
  readonly resourceServer: ResourceServer | undefined;
  /** All tools that may be called. */
  readonly tools: () => Promise<readonly unknown[]>;
  readonly metrics: Metrics;
  readonly decisionKey: DecisionKey;
  /** Where uploads are put until they are checked; whatever a killed daemon left there is removed by the next. */
  readonly uploads: string;
  readonly status: () => Promise<unknown>;
  /** Which tools are listed under what name, and why. */
  readonly names: () => unknown;
  readonly stop: () => void;
}

/** What the gateway answers over plain HTTP. Everything below /api is what the command line calls. */
export function createRoutes(options: RouteOptions): Route[] {
  const { app, endpoint, tools, resourceServer, metrics, decisionKey, uploads, status, names, stop } = options;
  return [
    ...createApprovalRoutes(app, decisionKey),
    ...createRunRoutes(app),
    ...createRecordRoutes(app),
    ...createRegistryRoutes(app),
    ...createCurationRoutes(app),
    {
      method: "*",
      path: "/mcp",
      access: "principals",
      handle: (request, response) => endpoint.handle(request, response),
    },
    ...metadataRoutes(resourceServer),
    ...createUpstreamRoutes(app),
    { method: "GET", path: "/api/tools", handle: (_request, response) => answer(response, () => tools()) },
    {
      method: "GET",
      path: "/api/names",
      handle: (_request, response) => answer(response, async () => names()),
    },
    {
      method: "GET",
      path: "/healthz",
      access: "public",
      handle: async (_request, response) => sendJson(response, 200, { status: "ok" }),
    },
    { method: "GET", path: "/readyz", access: "public", handle: (_request, response) => answerReady(app, response) },
    {
      method: "GET",
      path: "/metrics",
      handle: async (_request, response) => {
        response.writeHead(200, { "Content-Type": metrics.contentType }).end(await metrics.print());
      },
    },
    { method: "GET", path: "/api/index", handle: (_request, response) => answer(response, () => app.indexStatus()) },
    { method: "GET", path: "/api/status", handle: (_request, response) => answer(response, status) },
    { method: "GET", path: "/api/export", handle: (_request, response) => streamExport(app, response) },
    {
      method: "POST",
      path: "/api/import",
      handle: (request, response) => answer(response, () => receiveImport(app, request, uploads)),
    },
    { method: "POST", path: "/api/backup", handle: (_request, response) => answer(response, () => app.backup()) },
    {
      method: "POST",
      path: "/api/shutdown",
      handle: async (_request, response) => {
        sendJson(response, 202, { ok: true, data: {} });
        response.once("close", stop);
      },
    },
  ];
}

/** Where a client learns which authorization server to ask for a token. */
function metadataRoutes(resourceServer: ResourceServer | undefined): Route[] {
  const { metadata, metadataPaths = [] } = resourceServer ?? {};
  return metadataPaths.map((path) => ({
    method: "GET",
    path,
    access: "public",
    handle: async (_request, response) => sendJson(response, 200, metadata),
  }));
}

async function answerReady(app: App, response: ServerResponse): Promise<void> {
  try {
    await app.databaseStatus();
    sendJson(response, 200, { status: "ready" });
  } catch {
    // the reason may name hosts and users; it is in the log and in pml doctor
    sendJson(response, 503, { status: "database does not answer" });
  }
}

async function streamExport(app: App, response: ServerResponse): Promise<void> {
  response.writeHead(200, { "Content-Type": "application/x-ndjson" });
  await app.exportMemory(async (lines) => {
    if (response.destroyed) throw new Error("the reader of the export went away");
    if (!response.write(lines)) await Promise.race([once(response, "drain"), once(response, "close")]);
  });
  response.end();
}

/** An import is checked as a whole before anything is written, so it is put aside first. */
async function receiveImport(app: App, request: IncomingMessage, uploads: string): Promise<unknown> {
  await mkdir(uploads, { recursive: true, mode: 0o700 });
  const folder = await mkdtemp(join(uploads, "import-"));
  try {
    const path = join(folder, "import.pml");
    await pipeline(request, createWriteStream(path, { mode: 0o600 }));
    return await app.importMemory(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
