import { z } from "zod";

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
  })
  .refine((server) => (server.command === undefined) !== (server.url === undefined), {
    message: 'needs either "command" (stdio) or "url" (remote), and not both',
  });

const serverName = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/i, "server names have letters, digits and inner hyphens");

/** The one definition of the configuration: validation, types and the reference page come from it. */
export const configSchema = z.strictObject({
  http: z
    .strictObject({
      host: z.string().default("127.0.0.1").describe("Address to listen on."),
      port: port.default(7650).describe("Port to listen on; 0 takes any free one."),
      allowedHosts: z
        .array(z.string())
        .default([])
        .describe("Further host names under which the gateway may be addressed."),
    })
    .prefault({})
    .describe("The loopback HTTP endpoint."),
  database: z
    .strictObject({
      url: z.string().optional().describe("PostgreSQL server. Without it the embedded database is used."),
      poolSize: z.number().int().positive().default(10).describe("Connections to the PostgreSQL server."),
    })
    .prefault({})
    .describe("Where memory is kept."),
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
      file: z.string().optional().describe("File to write to instead of stderr."),
    })
    .prefault({})
    .describe("Logs, one JSON object a line."),
  mcpServers: z
    .record(serverName, mcpServer)
    .default({})
    .describe("The MCP servers behind the gateway, by name, as in the configuration of MCP clients."),
});

export type ConfigValues = z.infer<typeof configSchema>;
export type McpServerEntry = z.infer<typeof mcpServer>;
