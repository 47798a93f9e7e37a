import { z } from "zod";
import { askedApproval, decidedApproval, decisionRequest, rememberedRule, toolVerdict } from "./approvals.ts";
import { capabilityDetails } from "./capabilities.ts";
import {
  appliedNames,
  curationState,
  decidedNames,
  decideNamesRequest,
  proposedNames,
  proposeRequest,
} from "./curation.ts";
import {
  adoptAnswer,
  adoptRequest,
  aliasRequest,
  publishedCapability,
  publishedList,
  registeredServer,
  serverRecordRequest,
  serverRecordText,
  shareRequest,
  storedRecord,
} from "./published.ts";
import { inboxPage, inboxQuery } from "./inbox.ts";
import { probeRoutes } from "./probe-routes.ts";
import { data, document, type RouteContract } from "./route.ts";
import { replayReport, RUN_STATES, runDetails, runSummary } from "./runs.ts";
import {
  clientRow,
  describedTool,
  hintTrust,
  nameReport,
  review,
  reviewDecision,
  serverName,
  serverRow,
  startedLogin,
} from "./servers.ts";
import { backupResult, daemonStatus, importResult, indexStatus } from "./status.ts";
import { jsonSchema } from "./wire.ts";

export const API = "/api/v1";

const DEFAULT_RUNS = 20;

const page = { kind: "text", mediaType: "text/html" } as const;
const nothing = z.object({});
const NOT_PUBLIC = { 404: "Nothing public is called so." };

const approvalRoutes = {
  listInbox: {
    method: "GET",
    path: `${API}/inbox`,
    summary: "List everything that waits for a person",
    query: inboxQuery,
    answer: data(inboxPage),
  },
  getApproval: {
    method: "GET",
    path: `${API}/approvals/:id`,
    summary: "Get an approval, with the program that asks",
    answer: data(askedApproval),
  },
  decideApproval: {
    method: "POST",
    path: `${API}/approvals/:id/decision`,
    summary: "Approve or refuse",
    decisionKey: true,
    body: decisionRequest,
    answer: data(decidedApproval),
  },
  listRules: {
    method: "GET",
    path: `${API}/rules`,
    summary: "List the rules that people left",
    answer: data(z.array(rememberedRule)),
  },
  testRules: {
    method: "GET",
    path: `${API}/rules/test`,
    summary: "Decide about a tool as for a program that nobody has approved",
    query: z.strictObject({ tool: z.string().default("").describe("server:tool") }),
    answer: data(toolVerdict),
  },
  removeRule: {
    method: "POST",
    path: `${API}/rules/:id/remove`,
    summary: "Remove a rule that a person left",
    decisionKey: true,
    answer: data(rememberedRule),
  },
  showApprovalPage: {
    method: "GET",
    path: "/approvals/:id",
    summary: "Show the page that asks for the decision key",
    access: "public",
    answer: page,
  },
  answerApprovalPage: {
    method: "POST",
    path: "/approvals/:id",
    summary: "Show the approval with the key, take the decision with the ticket of that page",
    access: "public",
    body: "application/x-www-form-urlencoded",
    answer: page,
    failures: { 403: "Neither the key nor a valid ticket.", 409: "It cannot be decided." },
  },
} as const satisfies Readonly<Record<string, RouteContract>>;

const runRoutes = {
  listRuns: {
    method: "GET",
    path: `${API}/runs`,
    summary: "List runs, the newest first",
    query: z.strictObject({
      limit: z.coerce.number<string | number>().int().positive().catch(DEFAULT_RUNS).default(DEFAULT_RUNS),
      state: z.enum(RUN_STATES).optional(),
    }),
    answer: data(z.array(runSummary)),
  },
  getRun: {
    method: "GET",
    path: `${API}/runs/:id`,
    summary: "Get a run, step by step",
    answer: data(runDetails),
  },
  replayRun: {
    method: "POST",
    path: `${API}/runs/:id/replay`,
    summary: "Run a recorded run again against the answers of its calls",
    answer: data(replayReport),
  },
  getCapability: {
    method: "GET",
    path: `${API}/capability`,
    summary: "Get a capability with its structure and the knowledge from its runs",
    query: z.strictObject({ name: z.string().default("").describe("Name, former name, FQDN or id.") }),
    answer: data(capabilityDetails),
  },
  inferParameters: {
    method: "POST",
    path: `${API}/parameters`,
    summary: "Infer the parameters of a program",
    body: z.strictObject({ code: z.string() }),
    answer: data(jsonSchema),
  },
} as const satisfies Readonly<Record<string, RouteContract>>;

const recordRoutes = {
  addAlias: {
    method: "POST",
    path: `${API}/aliases/add`,
    summary: "Give a record one more name",
    body: aliasRequest,
    answer: data(storedRecord),
  },
  retireAlias: {
    method: "POST",
    path: `${API}/aliases/retire`,
    summary: "Retire a former name",
    body: aliasRequest,
    answer: data(storedRecord),
  },
  shareRecord: {
    method: "POST",
    path: `${API}/records/share`,
    summary: "Say who sees a record",
    decisionKey: true,
    body: shareRequest,
    answer: data(storedRecord),
  },
  registerServer: {
    method: "POST",
    path: `${API}/server-records`,
    summary: "Register a server.json",
    decisionKey: true,
    body: serverRecordRequest,
    answer: data(registeredServer),
  },
  exportServer: {
    method: "GET",
    path: `${API}/server-records/:name`,
    summary: "Get the server.json of a server, byte for byte",
    answer: data(serverRecordText),
  },
  adoptPublished: {
    method: "POST",
    path: `${API}/published`,
    summary: "Copy a capability that another gateway published",
    decisionKey: true,
    body: adoptRequest,
    answer: data(adoptAnswer),
  },
  listPublished: {
    method: "GET",
    path: "/registry/capabilities",
    summary: "List public capabilities",
    access: "public",
    query: z.object({
      namespace: z.string().optional(),
      text: z.string().optional().describe("Words of name or description."),
      cursor: z.string().optional(),
    }),
    answer: document(publishedList),
    failures: { 400: "The query cannot be read." },
  },
  getPublished: {
    method: "GET",
    path: "/registry/capabilities/:reference",
    summary: "Get a public capability with its program and signature",
    access: "public",
    answer: document(publishedCapability),
    failures: NOT_PUBLIC,
  },
  getServerModule: {
    method: "GET",
    path: "/registry/mcp/:name/:version/mod.ts",
    summary: "Get a public server as a module",
    access: "public",
    answer: { kind: "text", mediaType: "text/typescript" },
    failures: NOT_PUBLIC,
  },
  getServerJson: {
    method: "GET",
    path: "/registry/mcp/:name/:version/server.json",
    summary: "Get the server.json of a public server",
    access: "public",
    answer: { kind: "text", mediaType: "application/json" },
    failures: NOT_PUBLIC,
  },
} as const satisfies Readonly<Record<string, RouteContract>>;

const curationRoutes = {
  getCuration: {
    method: "GET",
    path: `${API}/curation`,
    summary: "List the names that wait for a decision, and how many were taken",
    answer: data(curationState),
  },
  suggestNames: {
    method: "POST",
    path: `${API}/curation/suggest`,
    summary: "Propose names",
    body: proposeRequest,
    answer: data(proposedNames),
  },
  applySureNames: {
    method: "POST",
    path: `${API}/curation/auto`,
    summary: "Propose names and give those that are sure enough",
    decisionKey: true,
    body: proposeRequest,
    answer: data(appliedNames),
  },
  decideNames: {
    method: "POST",
    path: `${API}/curation/apply`,
    summary: "Give names and turn proposals down",
    decisionKey: true,
    body: decideNamesRequest,
    answer: data(decidedNames),
  },
} as const satisfies Readonly<Record<string, RouteContract>>;

const serverRoutes = {
  listServers: {
    method: "GET",
    path: `${API}/servers`,
    summary: "List the MCP servers behind the gateway",
    answer: data(z.array(serverRow)),
  },
  trustHints: {
    method: "POST",
    path: `${API}/servers/hints`,
    summary: "Say whether the hints of a server are believed",
    decisionKey: true,
    body: hintTrust,
    answer: data(z.object({ file: z.string().describe("The configuration that has it now.") })),
  },
  listTools: {
    method: "GET",
    path: `${API}/tools`,
    summary: "List everything that can be called, whether or not clients are shown it",
    answer: data(z.array(describedTool)),
  },
  reportNames: {
    method: "GET",
    path: `${API}/names`,
    summary: "Explain the names that tools are listed under",
    answer: data(nameReport),
  },
  listReviews: {
    method: "GET",
    path: `${API}/reviews`,
    summary: "List changed tools that nobody has accepted",
    query: z.strictObject({ subject: z.string().optional().describe("server:tool, or a server.") }),
    answer: data(z.array(review)),
  },
  decideReviews: {
    method: "POST",
    path: `${API}/reviews`,
    summary: "Accept or refuse changed tools",
    decisionKey: true,
    body: reviewDecision,
    answer: data(z.array(review)),
  },
  listClients: {
    method: "GET",
    path: `${API}/clients`,
    summary: "List the clients that made calls, and whose forms may approve",
    answer: data(z.array(clientRow)),
  },
  beginLogin: {
    method: "POST",
    path: `${API}/logins`,
    summary: "Begin a login to a server",
    decisionKey: true,
    body: serverName,
    answer: data(startedLogin),
  },
  awaitLogin: {
    method: "GET",
    path: `${API}/logins`,
    summary: "Wait for a login, for as long as a request may take",
    query: z.strictObject({ id: z.string().default("") }),
    answer: data(z.object({ done: z.boolean() })),
  },
  endLogin: {
    method: "POST",
    path: `${API}/logout`,
    summary: "Forget the login to a server",
    decisionKey: true,
    body: serverName,
    answer: data(z.object({ ended: z.boolean() })),
  },
  finishLogin: {
    method: "GET",
    path: "/oauth/callback",
    summary: "Finish a login; authorization servers send browsers here",
    access: "public",
    query: z.object({
      state: z.string().optional(),
      code: z.string().optional(),
      iss: z.string().optional(),
      error: z.string().optional(),
    }),
    answer: page,
    failures: { 400: "The login failed." },
  },
  getClientDocument: {
    method: "GET",
    path: "/oauth/client.json",
    summary: "Get the client metadata of this gateway",
    access: "public",
    answer: document(jsonSchema),
    failures: { 404: "upstream.clientMetadataUrl is not set." },
  },
} as const satisfies Readonly<Record<string, RouteContract>>;

const daemonRoutes = {
  getStatus: {
    method: "GET",
    path: `${API}/status`,
    summary: "Report how the gateway is",
    answer: data(daemonStatus),
  },
  getIndex: {
    method: "GET",
    path: `${API}/index`,
    summary: "Report what can be found, and with which evidence",
    answer: data(indexStatus),
  },
  exportMemory: {
    method: "GET",
    path: `${API}/export`,
    summary: "Export the whole memory",
    answer: { kind: "text", mediaType: "application/x-ndjson" },
  },
  importMemory: {
    method: "POST",
    path: `${API}/import`,
    summary: "Import an export",
    decisionKey: true,
    body: "application/x-ndjson",
    answer: data(importResult),
  },
  backUp: {
    method: "POST",
    path: `${API}/backup`,
    summary: "Write a backup into PML_HOME/backups",
    answer: data(backupResult),
  },
  shutDown: {
    method: "POST",
    path: `${API}/shutdown`,
    summary: "End the gateway in order",
    answer: data(nothing),
    status: 202,
  },
  getOpenApi: {
    method: "GET",
    path: `${API}/openapi.json`,
    summary: "Get this description",
    answer: document(jsonSchema),
  },
} as const satisfies Readonly<Record<string, RouteContract>>;

/** Every HTTP route but those that other standards define: `/mcp`, and the metadata of RFC 9728. */
export const routes = {
  ...approvalRoutes,
  ...runRoutes,
  ...recordRoutes,
  ...curationRoutes,
  ...serverRoutes,
  ...daemonRoutes,
  ...probeRoutes,
};
