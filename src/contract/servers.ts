import { z } from "zod";
import { EFFECTS } from "../permissions/effect.ts";
import { count, instant, jsonSchema, type Received, texts } from "./wire.ts";

export const serverRow = z
  .object({
    name: z.string(),
    state: z.enum(["idle", "connecting", "ready", "backoff", "login_needed", "stopped", "disabled", "unusable"]),
    since: instant.optional(),
    pid: z.number().optional(),
    protocol: z.string().optional(),
    inFlight: count.optional(),
    startMs: z.number().optional(),
    restarts: count.optional(),
    failures: count.optional(),
    lastError: z.string().optional(),
    stderr: texts.optional(),
    tools: count.optional(),
    leftOut: texts.optional().describe("Malformed tools, prompts and resources, which are not offered, and why."),
    trustHints: z.boolean().optional().describe("Whether a person believes what it says about its tools."),
    changedTools: z.array(z.object({ tool: z.string(), state: z.enum(["open", "refused"]), held: z.boolean() })),
  })
  .meta({ id: "Server" });

/** A tool as MCP describes it, with its id and whether clients are shown it. */
export const describedTool = z
  .object({
    id: z.string().describe("server:tool"),
    listed: z.boolean(),
    seemsToRead: z
      .object({ hash: z.string(), confirmed: z.boolean() })
      .optional()
      .describe(
        "Its server says nothing, its name, arguments and text say that it only reads; with its definition's hash.",
      ),
    name: z.string(),
    title: z.string().optional(),
    description: z.string().optional(),
    inputSchema: jsonSchema,
    outputSchema: jsonSchema.optional(),
    annotations: jsonSchema.optional(),
    execution: jsonSchema.optional(),
    icons: z.array(jsonSchema).optional(),
    _meta: jsonSchema.optional(),
  })
  .meta({ id: "Tool" });

export const nameReport = z.object({
  offered: count,
  hidden: z.array(z.object({ tool: z.string(), reason: z.string(), held: z.boolean().optional() })),
  renamed: z.array(z.object({ tool: z.string(), name: z.string(), reason: z.string() })),
});

export const review = z
  .object({
    tool: z.string(),
    state: z.enum(["open", "refused"]),
    hash: z.string().describe("Of the definition that is decided about."),
    seenAt: instant,
    lowered: z
      .object({ before: z.enum(EFFECTS), after: z.enum(EFFECTS) })
      .optional()
      .describe("The tool claims less effect than it had; it is held until a person decides, whatever the policy."),
    differences: z.array(z.object({ path: z.string(), before: z.string().optional(), after: z.string().optional() })),
  })
  .meta({ id: "Review" });

export const reviewDecision = z.strictObject({
  subject: z.string().min(1).describe("server:tool, or a server for all of its changed tools."),
  verdict: z.enum(["accepted", "refused"]),
  hash: z.string().optional().describe("The beginning of the hash of what was looked at."),
});

export const hintTrust = z.strictObject({
  server: z.string().min(1),
  trust: z.boolean(),
  reads: z
    .record(z.string(), z.string())
    .optional()
    .describe("Tools that seem to only read and are confirmed to, with the hashes of the definitions that were shown."),
});

export const clientRow = z
  .object({
    name: z.string().describe("As the client calls itself."),
    transport: z.enum(["stdio", "http"]).optional().describe("Left out: not seen since the daemon started."),
    seenAt: instant.optional(),
    forms: z.boolean().describe("Whether its forms may approve; over HTTP none does."),
  })
  .meta({ id: "Client" });

export const serverName = z.strictObject({ server: z.string().min(1) });
export const startedLogin = z.object({
  id: z.string(),
  url: z.string().describe("To be opened in a browser."),
  seconds: z.number(),
});

export type ServerRow = Received<typeof serverRow>;
export type DescribedTool = Received<typeof describedTool>;
export type ReviewRow = Received<typeof review>;
