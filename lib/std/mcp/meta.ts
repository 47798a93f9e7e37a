import { z } from "zod";
import { askerOf, defineTool, type OwnTool } from "../../../src/mcp/own-tools/own-tool.ts";
import { ToolModule } from "../../../src/mcp/servers/tool-module.ts";
import type { Asker, Scope } from "../../../src/registry/scope.ts";
import { json } from "./dns-parts.ts";

/** Something that can be called. */
export interface KnownTool {
  readonly name: string;
  readonly callName: string;
  readonly server: string;
  readonly description: string;
}

type Facts = Readonly<Record<string, unknown>>;

export interface MetaParts {
  readonly scope: Scope;
  /** Every tool and named capability that the asker can call, in a fixed order. */
  readonly tools: (asker: Asker) => Promise<readonly KnownTool[]>;
  readonly servers: () => readonly Facts[];
  readonly stats: (asker: Asker, since: Date) => Promise<Facts>;
}

const MOST_TOOLS = 1_000;
const annotations = { readOnlyHint: true, openWorldHint: false } as const;

/** What is behind the gateway, and how it is used. */
export class MetaModule extends ToolModule {
  constructor(parts: MetaParts) {
    super("meta", [createTools(parts), createServers(parts), createStats(parts)]);
  }
}

function createTools({ scope, tools }: MetaParts): OwnTool {
  return defineTool({
    name: "meta:tools",
    title: "List all tools",
    description: "Everything that can be called, listed or not: tools of servers, named capabilities, PML's own.",
    input: z.strictObject({
      server: z.string().optional().describe("Only of this server; pml-capabilities are the capabilities."),
      limit: z.number().int().min(1).max(MOST_TOOLS).default(200),
      offset: z.number().int().min(0).default(0),
    }),
    annotations,
    async run({ server, limit, offset }, context) {
      const all = (await tools(askerOf(scope, context))).filter(
        (tool) => server === undefined || tool.server === server,
      );
      const next = offset + limit;
      return json({
        tools: all.slice(offset, next),
        total: all.length,
        next_offset: next < all.length ? next : null,
      });
    },
  });
}

function createServers({ servers }: MetaParts): OwnTool {
  return defineTool({
    name: "meta:servers",
    title: "List the servers",
    description: "The MCP servers behind the gateway, with their state and how many tools they offer.",
    input: z.strictObject({}),
    annotations,
    run: () => json({ servers: servers() }),
  });
}

function createStats({ scope, stats }: MetaParts): OwnTool {
  return defineTool({
    name: "meta:stats",
    title: "Usage statistics",
    description: "How often tools and capabilities were called, with what success and how long that took.",
    input: z.strictObject({ days: z.number().positive().max(3650).default(30).describe("Of the last so many days.") }),
    annotations,
    run: async ({ days }, context) =>
      json({ days, ...(await stats(askerOf(scope, context), new Date(Date.now() - days * 86_400_000))) }),
  });
}
