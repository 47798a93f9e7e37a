import type { knownServer, KnownTool, usageFacts } from "../../../src/contract/introspection.ts";
import { tools } from "../../../src/contract/tools.ts";
import type { Sent } from "../../../src/contract/wire.ts";
import { askerOf, defineTool, type OwnTool } from "../../../src/mcp/own-tools/own-tool.ts";
import { ToolModule } from "../../../src/mcp/servers/tool-module.ts";
import type { Asker, Scope } from "../../../src/registry/scope.ts";
import { json } from "./dns-parts.ts";

export interface MetaParts {
  readonly scope: Scope;
  /** Lists every tool and named capability that the asker can call, in a fixed order. */
  readonly tools: (asker: Asker) => Promise<readonly KnownTool[]>;
  readonly servers: () => readonly Sent<typeof knownServer>[];
  readonly stats: (asker: Asker, since: Date) => Promise<Sent<typeof usageFacts>>;
}

const annotations = { readOnlyHint: true, openWorldHint: false } as const;

/** Introspection as tools: lists tools and servers, and reports their use. */
export class MetaModule extends ToolModule {
  constructor(parts: MetaParts) {
    super("meta", [createTools(parts), createServers(parts), createStats(parts)]);
  }
}

function createTools({ scope, tools: listAll }: MetaParts): OwnTool {
  return defineTool({
    ...tools["meta:tools"],
    title: "List all tools",
    description: "Everything that can be called, listed or not: tools of servers, named capabilities, PML's own.",
    annotations,
    async run({ server, limit, offset }, context) {
      const all = (await listAll(askerOf(scope, context))).filter(
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
    ...tools["meta:servers"],
    title: "List the servers",
    description: "The MCP servers behind the gateway, with their state and how many tools they offer.",
    annotations,
    run: () => json({ servers: servers() }),
  });
}

function createStats({ scope, stats }: MetaParts): OwnTool {
  return defineTool({
    ...tools["meta:stats"],
    title: "Usage statistics",
    description: "How often tools and capabilities were called, with what success and how long that took.",
    annotations,
    run: async ({ days }, context) =>
      json({ days, ...(await stats(askerOf(scope, context), new Date(Date.now() - days * 86_400_000))) }),
  });
}
