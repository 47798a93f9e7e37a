import { z } from "zod";
import { foldServer } from "../catalogue/tool-id.ts";
import { EFFECTS } from "../permissions/effect.ts";
import { checkPattern } from "../permissions/tool-pattern.ts";
import { analysisSchema } from "./analysis-schema.ts";
import { curationSchema } from "./curation-schema.ts";
import { discoverySchema } from "./discovery-schema.ts";
import { authSchema, limitsSchema } from "./edge-schema.ts";
import { namingSchema } from "./naming-schema.ts";
import { registrySchema, scopeSchema, signingSchema } from "./record-schema.ts";
import { sandboxSchema } from "./sandbox-schema.ts";
import { secretReference } from "./secret-schema.ts";

const port = z.number().int().min(0).max(65_535);
const seconds = z.number().positive();
const changedTools = z.enum(["allow", "warn", "block"]);
const directCalls = z.enum(["effects", "written"]);

const serverOauth = z
  .strictObject({
    clientId: z.string().min(1).optional().describe("A client that was registered beforehand."),
    clientSecret: secretReference.optional().describe('Its secret: `{"env": "NAME"}` or `{"file": "/path"}`.'),
    issuer: z.url().optional().describe("Where the client is registered; its secret is sent nowhere else."),
    grant: z
      .enum(["authorization_code", "client_credentials"])
      .default("authorization_code")
      .describe("A person logs in with `pml login`, or PML authenticates with the client secret."),
    scope: z.string().min(1).optional().describe("Scopes to request if the server does not name any."),
  })
  .refine(
    ({ clientSecret, clientId, issuer }) =>
      clientSecret === undefined || (clientId !== undefined && issuer !== undefined),
    {
      message: 'with "clientSecret" needs "clientId" and "issuer"',
    },
  )
  .refine(({ grant, clientSecret }) => grant === "authorization_code" || clientSecret !== undefined, {
    message: '"client_credentials" needs "clientId", "clientSecret" and "issuer"',
  });

/** Less would hardly hold more than the note about the missing rest. */
const MIN_RESULT_BYTES = 4096;
const resultBytes = z
  .number()
  .int()
  .refine((bytes) => bytes === 0 || bytes >= MIN_RESULT_BYTES, {
    message: `must be 0 (no limit) or at least ${MIN_RESULT_BYTES}`,
  });

/** One MCP server, in the form that other clients use. `${VAR}` is expanded on use. */
const mcpServer = z
  .strictObject({
    command: z.string().min(1).optional().describe("Program to start (stdio)."),
    args: z.array(z.string()).optional().describe("Its arguments."),
    env: z.record(z.string(), z.string()).optional().describe("Its environment, besides a small safe default."),
    cwd: z.string().optional().describe("Its working directory."),
    envFile: z.string().optional().describe("A file with further environment variables."),
    url: z.string().min(1).optional().describe("Address of a remote server."),
    headers: z.record(z.string(), z.string()).optional().describe("HTTP headers sent to it."),
    type: z.enum(["stdio", "http", "streamable-http", "sse"]).optional().describe("Transport; guessed when left out."),
    disabled: z.boolean().optional().describe("Keep the entry but do not use it."),
    enabled: z.boolean().optional().describe("The opposite of `disabled`."),
    timeout: seconds.optional().describe("Seconds a call may take."),
    tools: z.array(z.string()).optional().describe("Only these tools are offered."),
    pml: z
      .strictObject({
        prefix: z.literal("").optional().describe('`""` lists the server\'s tools under their own names.'),
        maxResultBytes: resultBytes
          .optional()
          .describe(
            "`results.maxBytes` for this server; with an empty prefix its results pass whole unless this is set.",
          ),
        extraConnections: z
          .number()
          .int()
          .nonnegative()
          .max(16)
          .optional()
          .describe(
            "Further connections for calls that ask something, of servers that cannot say which call asks. For a program each is another process. 4 for an address, 0 for a program.",
          ),
        oauth: serverOauth.optional().describe("Credentials of PML for a remote server that requires a login."),
        changedTools: changedTools.optional().describe("`upstream.changedTools` for this server."),
        trustHints: z
          .boolean()
          .optional()
          .describe(
            "Believe the server's annotations: a tool that says it only reads runs unasked. Without it, such a tool counts as `write`. Set by a person: `pml hints <server> --trust`.",
          ),
        reads: z
          .record(z.string(), z.string())
          .optional()
          .describe(
            "Tools of which the server says nothing and that a person confirmed to only read, with the hash of the definition they saw. Written by `pml hints <server> --trust`.",
          ),
      })
      .optional()
      .describe("Settings that only PML reads."),
  })
  .refine((server) => (server.command === undefined) !== (server.url === undefined), {
    message: 'needs either "command" (stdio) or "url" (remote), and not both',
  });

/** Namespaces of PML's own tools; a server of the same name would be ambiguous. */
const RESERVED_NAMES = ["cap", "dns", "meta", "learn", "skill", "test", "pml", "mcp"];

export function isReservedName(name: string): boolean {
  return RESERVED_NAMES.includes(name.toLowerCase());
}

const LONGEST_SERVER_NAME = 64;

const serverName = z
  .string()
  .max(LONGEST_SERVER_NAME)
  .regex(
    /^(?!.*__)[A-Za-z0-9]([A-Za-z0-9 _.-]*[A-Za-z0-9])?$/,
    "server names have letters, digits and inner spaces, hyphens, single underscores and dots",
  )
  .refine((name) => !isReservedName(name), "is a name that PML keeps for itself; choose another");

export function isServerName(name: string): boolean {
  return serverName.safeParse(name).success;
}

const serverMap = z.record(serverName, mcpServer).superRefine((servers, context) => {
  const known = new Map<string, string>();
  for (const name of Object.keys(servers)) {
    const other = known.get(foldServer(name));
    const message = `differs from "${other ?? ""}" in case and signs alone; rename one of them`;
    if (other !== undefined) context.addIssue({ code: "custom", path: [name], message });
    known.set(foldServer(name), name);
  }
});

const toolPattern = z.string().superRefine((text, context) => {
  const problem = checkPattern(text);
  if (problem !== undefined) context.addIssue(problem);
});

/** The only definition of the configuration: validation, types and the reference page derive from it. */
export const configSchema = z.strictObject({
  http: z
    .strictObject({
      host: z
        .string()
        .default("127.0.0.1")
        .describe("Address to listen on. One that other machines can reach needs `auth`."),
      port: port.default(7650).describe("Port to listen on; 0 takes any free one."),
      allowedHosts: z
        .array(z.string())
        .default([])
        .describe("Further host names under which the gateway may be addressed."),
      maxBodyBytes: z
        .number()
        .int()
        .positive()
        .default(4 * 1024 * 1024)
        .describe("Largest request body on /mcp, in bytes."),
    })
    .prefault({})
    .describe("The HTTP endpoint."),
  auth: authSchema.optional().describe("Remote use: clients with tokens of an authorization server (OAuth 2.1)."),
  limits: limitsSchema,
  database: z
    .strictObject({
      url: z.string().optional().describe("PostgreSQL server. Without it the embedded database is used."),
      poolSize: z.number().int().positive().default(10).describe("Connections to the PostgreSQL server."),
    })
    .prefault({})
    .describe("Where PML stores its data."),
  gateway: z
    .strictObject({
      toolNames: z
        .enum(["portable", "canonical"])
        .default("portable")
        .describe("How tools are listed: legal in every client, or with colons. Calls take both."),
      exposure: z
        .enum(["auto", "full", "meta", "pinned"])
        .default("auto")
        .describe(
          "Which tools are listed besides PML's own: all while they are few, all, none, or the pinned ones. Every tool can be called, listed or not.",
        ),
      maxListedTools: z
        .number()
        .int()
        .positive()
        .default(40)
        .describe("With `auto`, a list longer than this shrinks to PML's own tools and the pinned ones."),
      pinned: z
        .array(z.string().regex(/^[^:]+:.+$/, 'must be "server:tool" or "server:*"'))
        .default([])
        .describe("Tools that stay listed, as `server:tool`, or `server:*` for all of a server."),
    })
    .prefault({})
    .describe("The list of tools that clients see."),
  results: z
    .strictObject({
      maxBytes: resultBytes
        .default(75_000)
        .describe(
          "Largest tool result that is handed over whole; of a larger one the beginning of each part, the rest in pages. 0: no limit.",
        ),
      ttlSeconds: z.number().int().positive().default(3600).describe("How long the full result can be fetched."),
      maxKept: z
        .number()
        .int()
        .positive()
        .default(1_000)
        .describe("Full results that are kept for a principal; a further one drops the oldest."),
      maxKeptBytes: z
        .number()
        .int()
        .positive()
        .default(256 * 1024 * 1024)
        .describe("Size of all of them together; a single result that is larger is not kept."),
    })
    .prefault({})
    .describe("How much of a tool's result a client gets at once."),
  upstream: z
    .strictObject({
      connectSeconds: seconds.default(30).describe("How long a server may take to start and answer."),
      callSeconds: seconds
        .default(60)
        .describe("How long a call may take without progress; `timeout` of a server wins."),
      longestCallSeconds: seconds.default(900).describe("Upper limit for a call, with or without progress."),
      maxInFlight: z.number().int().positive().default(32).describe("Concurrent calls per server."),
      maxMessageBytes: z
        .number()
        .int()
        .min(64 * 1024)
        .max(256 * 1024 * 1024)
        .default(32 * 1024 * 1024)
        .describe("Largest message of a server, in bytes; a server that sends a larger one is disconnected."),
      maxQueued: z.number().int().nonnegative().default(256).describe("Queued calls per server."),
      changedTools: changedTools
        .default("warn")
        .describe(
          "A tool whose definition changed under its name: taken as it is, flagged, or not offered until `pml review`.",
        ),
      clientMetadataUrl: z
        .url({ protocol: /^https$/ })
        .optional()
        .describe(
          "Public address of PML's client metadata document, which the daemon serves at /oauth/client.json. Servers that take it need no registration.",
        ),
      redirectUrl: z
        .url()
        .optional()
        .describe("Redirect URL after a login. If omitted, /oauth/callback of the daemon, on loopback."),
    })
    .prefault({})
    .describe("The MCP servers behind the gateway."),
  runs: z
    .strictObject({
      keepDays: z.number().positive().default(90).describe("Days a finished run is kept with its journal and trace."),
      draftDays: z
        .number()
        .positive()
        .default(30)
        .describe("Days a program that never succeeded is kept after its last attempt."),
      parkedDays: z
        .number()
        .positive()
        .default(7)
        .describe("Days after which a run that waits, for a person or to go on, has failed."),
      maxParked: z.number().int().positive().default(200).describe("Runs of one principal that may wait."),
      approvalDays: z
        .number()
        .positive()
        .default(90)
        .describe("Days an approval is kept after it expired; the audit log keeps the decision."),
    })
    .prefault({})
    .describe("Retention of runs. Memory learned from them is not deleted."),
  curation: curationSchema.prefault({}).describe("Names for what agents did not name."),
  naming: namingSchema.prefault({}).describe("Names of capabilities."),
  analysis: analysisSchema.prefault({}).describe("Limits for reading what others wrote, before anything runs."),
  sandbox: sandboxSchema.prefault({}).describe("Where programs run, and what they may use up."),
  discovery: discoverySchema.prefault({}).describe("How tools and capabilities are found."),
  secrets: z
    .strictObject({
      keyFile: z
        .string()
        .optional()
        .describe(
          "File with the key that encrypts logins, 32 bytes in base64 or hex. PML_SECRET_KEY overrides it. If omitted, $PML_HOME/secret.key; with a PostgreSQL server there is no default.",
        ),
    })
    .prefault({})
    .describe("Encryption of secrets in the database."),
  scope: scopeSchema,
  signing: signingSchema,
  registry: registrySchema,
  daemon: z
    .strictObject({
      idleMinutes: z
        .number()
        .nonnegative()
        .default(15)
        .describe("Minutes without a client after which a daemon that a client started ends; 0 never ends it."),
    })
    .prefault({})
    .describe("The background process."),
  permissions: z
    .strictObject({
      allow: z.array(toolPattern).default([]).describe("Tools that run without asking; `ask` and `deny` win."),
      ask: z.array(toolPattern).default([]).describe("Tools for which a person is asked every time; `deny` wins."),
      deny: z.array(toolPattern).default([]).describe("Tools that never run."),
      effects: z
        .record(toolPattern, z.enum(EFFECTS))
        .default({})
        .describe(
          "Annotations of tools that override or complete those of their servers; the most specific pattern applies.",
        ),
      directCalls: directCalls
        .optional()
        .describe(
          "What decides about a tool that an agent calls itself, without a program: `effects` asks as for programs, `written` obeys the rules of this section and of `mcp-permissions.yaml` only, since clients ask their users. `effects` if `auth` is set, otherwise `written`.",
        ),
    })
    .prefault({})
    .describe("Patterns of `server:tool` with `*`. `mcp-permissions.yaml` is read as well."),
  approvals: z
    .strictObject({
      ttlMinutes: z
        .number()
        .positive()
        .default(60)
        .describe("How long a person has to decide, and how long a granted approval can be used."),
      maxPending: z
        .number()
        .int()
        .positive()
        .default(100)
        .describe("Questions of one principal that may be open; further ones are refused."),
      forms: z
        .array(z.string().min(1))
        .default([])
        .describe("Clients whose forms may approve, by `pml clients allow-forms`; once, and nothing destructive."),
    })
    .prefault({})
    .describe("Approvals by a person."),
  backup: z
    .strictObject({
      keep: z.number().int().positive().default(7).describe("Number of automatic copies to keep."),
    })
    .prefault({})
    .describe("Automatic copies of the embedded database, in PML_HOME/backups."),
  log: z
    .strictObject({
      level: z
        .enum(["debug", "info", "warn", "error", "silent"])
        .default("info")
        .describe("Lowest level that is logged."),
      file: z.string().optional().describe("File to write to instead of stderr and PML_HOME/daemon.log."),
    })
    .prefault({})
    .describe("Logs, one JSON object a line."),
  mcpServers: serverMap
    .optional()
    .describe(
      "The MCP servers behind the gateway, by name, as in the configuration of MCP clients. If omitted, the two that ship with PML.",
    ),
});

export type ConfigValues = z.infer<typeof configSchema>;
export type McpServerEntry = z.infer<typeof mcpServer>;
export type ServerOauth = z.infer<typeof serverOauth>;
export type SecretReference = z.infer<typeof secretReference>;
export type ChangedToolsPolicy = z.infer<typeof changedTools>;
export type DirectCallsPolicy = z.infer<typeof directCalls>;
