import { z } from "zod";
import { authSchema, limitsSchema } from "./edge-schema.ts";

const port = z.number().int().min(0).max(65_535);
const seconds = z.number().positive();

/** One MCP server, in the form the ecosystem's clients use. `${VAR}` is expanded when it is used. */
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
    disabled: z.boolean().optional().describe("Keep the entry, do not use it."),
    enabled: z.boolean().optional().describe("The same, the other way round."),
    timeout: seconds.optional().describe("Seconds a call may take."),
    tools: z.array(z.string()).optional().describe("Only these tools are offered."),
    pml: z
      .strictObject({
        prefix: z.literal("").optional().describe('`""` lists the server\'s tools under their own names.'),
      })
      .optional()
      .describe("What only PML knows."),
  })
  .refine((server) => (server.command === undefined) !== (server.url === undefined), {
    message: 'needs either "command" (stdio) or "url" (remote), and not both',
  });

/** Namespaces of PML's own tools; a server of that name could not be told from them. */
const RESERVED_NAMES = ["cap", "dns", "meta", "learn", "skill", "test", "pml", "mcp"];

export function isReservedName(name: string): boolean {
  return RESERVED_NAMES.includes(name);
}

const serverName = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/, "server names have lower-case letters, digits and inner hyphens")
  .refine((name) => !isReservedName(name), "is a name that PML keeps for itself; choose another");

/** The one definition of the configuration: validation, types and the reference page come from it. */
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
    .describe("Where memory is kept."),
  gateway: z
    .strictObject({
      toolNames: z
        .enum(["portable", "canonical"])
        .default("portable")
        .describe("How tools are listed: legal in every client, or with colons. Calls take both."),
    })
    .prefault({})
    .describe("What clients see."),
  upstream: z
    .strictObject({
      connectSeconds: seconds.default(30).describe("How long a server may take to start and answer."),
      callSeconds: seconds
        .default(60)
        .describe("How long a call may take without progress; `timeout` of a server wins."),
      longestCallSeconds: seconds.default(900).describe("How long a call may take at the most, progress or not."),
      maxInFlight: z.number().int().positive().default(32).describe("Calls a server gets at once."),
      maxQueued: z.number().int().nonnegative().default(256).describe("Calls that may wait for a server."),
    })
    .prefault({})
    .describe("The MCP servers behind the gateway."),
  daemon: z
    .strictObject({
      idleMinutes: z
        .number()
        .nonnegative()
        .default(15)
        .describe("A daemon that was started for a client ends after this long without one; 0 keeps it."),
    })
    .prefault({})
    .describe("The background process."),
  backup: z
    .strictObject({
      keep: z.number().int().positive().default(7).describe("How many automatic copies are kept."),
    })
    .prefault({})
    .describe("Automatic copies of the embedded database, in PML_HOME/backups."),
  log: z
    .strictObject({
      level: z.enum(["debug", "info", "warn", "error", "silent"]).default("info").describe("Least level written."),
      file: z.string().optional().describe("File to write to instead of stderr and PML_HOME/daemon.log."),
    })
    .prefault({})
    .describe("Logs, one JSON object a line."),
  mcpServers: z
    .record(serverName, mcpServer)
    .optional()
    .describe(
      "The MCP servers behind the gateway, by name, as in the configuration of MCP clients. Left out: the two that ship with PML.",
    ),
});

export type ConfigValues = z.infer<typeof configSchema>;
export type McpServerEntry = z.infer<typeof mcpServer>;
