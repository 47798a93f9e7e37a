import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { once } from "node:events";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { App } from "../app/app.ts";
import type { GuardedRequest } from "../auth/caller.ts";
import type { ResourceServer } from "../auth/resource-server.ts";
import { PmlError, toErrorReport } from "../base/errors.ts";
import { createApprovalRoutes } from "./approval-routes.ts";
import { createCurationRoutes } from "./curation-routes.ts";
import { createInboxRoutes } from "./inbox-routes.ts";
import type { DecisionKey } from "./decision-key.ts";
import type { Returned } from "../contract/route.ts";
import { routes } from "../contract/routes.ts";
import type { DaemonStatus, ImportResult } from "../contract/status.ts";
import { type Route, sendDocument, sendJson } from "./http-server.ts";
import { readQuery, serveData, serveRaw } from "./serve-route.ts";
import type { Metrics } from "./metrics.ts";
import { createRecordRoutes } from "./record-routes.ts";
import { createRegistryRoutes } from "./registry-routes.ts";
import { createRunRoutes } from "./run-routes.ts";
import { createUpstreamRoutes } from "./upstream-routes.ts";

export interface RouteOptions {
  readonly app: App;
  /** Serves MCP at /mcp. */
  readonly endpoint: { handle(request: GuardedRequest, response: ServerResponse): Promise<void> };
  /** Set for remote use only. */
  readonly resourceServer: ResourceServer | undefined;
  /** Lists all tools that may be called. */
  readonly tools: () => Promise<Returned<typeof routes.listTools>>;
  /** Lists the clients that made calls. */
  readonly clients: () => Returned<typeof routes.listClients>;
  readonly metrics: Metrics;
  readonly decisionKey: DecisionKey;
  /** Computes the proof that this daemon answers. */
  readonly prove: (nonce: string) => string;
  /** The folder of uploads that are not checked yet; a start removes the leftovers of a killed daemon. */
  readonly uploads: string;
  readonly status: () => Promise<DaemonStatus>;
  /** Explains the names that tools are listed under. */
  readonly names: () => Returned<typeof routes.reportNames>;
  readonly stop: () => void;
}

/** All routes of the gateway. Those of `/api` are for the command line, and described by `openapi.json`. */
export function createRoutes(options: RouteOptions): Route[] {
  const { app, endpoint, resourceServer, decisionKey } = options;
  return [
    ...createApprovalRoutes(app, decisionKey),
    ...createInboxRoutes(app),
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
    ...createDaemonRoutes(options),
    ...createProbeRoutes(options),
  ];
}

function createDaemonRoutes(options: RouteOptions): Route[] {
  const { app, tools, clients, names, status, uploads, stop } = options;
  return [
    serveData(routes.listClients, clients),
    serveData(routes.listTools, tools),
    serveData(routes.reportNames, names),
    serveData(routes.getIndex, () => app.indexStatus()),
    serveData(routes.getStatus, status),
    serveRaw(routes.exportMemory, (_request, response) => streamExport(app, response)),
    serveData(routes.importMemory, (_input, request) => receiveImport(app, request, uploads)),
    serveData(routes.backUp, () => app.backup()),
    serveRaw(routes.shutDown, async (_request, response) => {
      sendJson(response, routes.shutDown.status, { ok: true, data: {} });
      response.once("close", stop);
    }),
    serveRaw(routes.getOpenApi, async (_request, response) => {
      const { describeApi } = await import("../contract/openapi.ts");
      sendDocument(response, routes.getOpenApi, describeApi());
    }),
  ];
}

function createProbeRoutes({ app, metrics, prove }: RouteOptions): Route[] {
  return [
    serveRaw(routes.getProof, async (request, response) => answerProof(prove, request, response)),
    serveRaw(routes.getHealth, async (_request, response) =>
      sendDocument(response, routes.getHealth, { status: "ok" }),
    ),
    serveRaw(routes.getReadiness, (_request, response) => answerReady(app, response)),
    serveRaw(routes.getMetrics, async (_request, response) => {
      response.writeHead(200, { "Content-Type": metrics.contentType }).end(await metrics.print());
    }),
  ];
}

/** Serves the metadata that names the authorization server to ask for a token. */
function metadataRoutes(resourceServer: ResourceServer | undefined): Route[] {
  const { metadata, metadataPaths = [] } = resourceServer ?? {};
  return metadataPaths.map((path) => ({
    method: "GET",
    path,
    access: "public",
    handle: async (_request, response) => sendJson(response, 200, metadata),
  }));
}

function answerProof(prove: RouteOptions["prove"], request: IncomingMessage, response: ServerResponse): void {
  const query = routes.getProof.query.safeParse(readQuery(request));
  if (!query.success) {
    const error = new PmlError("usage", "The nonce is missing, or not 32 bytes in base64url");
    sendJson(response, 400, { ok: false, error: toErrorReport(error) });
    return;
  }
  const proof = prove(query.data.nonce);
  response.writeHead(200, { "Content-Type": "text/plain", "Content-Length": proof.length }).end(proof);
}

async function answerReady(app: App, response: ServerResponse): Promise<void> {
  try {
    await app.databaseStatus();
    sendDocument(response, routes.getReadiness, { status: "ready" });
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

/** Puts an import aside first: it is checked as a whole before anything is written. */
async function receiveImport(app: App, request: IncomingMessage, uploads: string): Promise<ImportResult> {
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
