import { findToolId } from "../catalogue/tool-id.ts";
import { PmlStdServer } from "../../lib/std/mcp/mod.ts";
import type { KnownTool } from "../contract/introspection.ts";
import type { App } from "../app/app.ts";
import { type Asker, OWNER, type Scope } from "../registry/scope.ts";
import type { Gateway } from "../mcp/server/gateway.ts";
import { CapabilityServer } from "../mcp/servers/capability-server.ts";
import { createCurate } from "../mcp/own-tools/pml-curate.ts";
import { withLinks } from "../mcp/own-tools/pml-execute.ts";
import { capabilityWireName } from "../catalogue/wire-names.ts";

export interface LibraryParts {
  readonly scope: Scope;
  readonly approvalUrl: (id: string) => string;
  /** The gateway that the library is part of. */
  readonly gateway: () => Gateway;
}

/** Creates PML's own MCP server over the operations of the app. */
export function createStandardLibrary(app: App, { scope, approvalUrl, gateway }: LibraryParts): PmlStdServer {
  const { registry, engine, names, curator, upstreams } = app;
  const capabilities = new CapabilityServer({
    registry,
    scope,
    engine,
    list: (asker, choice) => names.listed(asker, choice),
    effects: (tools) => names.effects(tools),
    approvalNote: (answer) => withLinks({ approvalUrl }, answer),
  });
  return new PmlStdServer({
    scope,
    registry,
    facts: app.records.facts,
    capabilities,
    maxResultBytes: () => gateway().settings.results.maxBytes,
    tools: (asker) => listKnown(gateway(), capabilities, asker),
    servers: () =>
      upstreams.statuses.map((status) => ({
        name: status.name,
        state: status.state,
        tools: gateway().surface.tools.filter(({ server }) => server === status.name).length,
        ...("failures" in status ? { protocol: status.protocol ?? null, failures: status.failures } : {}),
      })),
    stats: async (asker, since) => ({
      ...(await names.stats(asker, since)),
      // Only the owner sees counts: they would reveal other principals' private proposals.
      ...(asker.principal === OWNER ? { naming: await curator.stats(scope) } : {}),
    }),
    more: [createCurate({ curator, scope }, "learn:curate")],
  });
}

/** Lists everything callable: PML's own tools, capabilities, tools of servers. */
async function listKnown(gateway: Gateway, server: CapabilityServer, asker: Asker): Promise<KnownTool[]> {
  const named = await server.listTools(asker);
  const { surface, ownTools } = gateway;
  return [
    ...ownTools.map(({ definition: { name, description = "" } }) => ({
      name,
      callName: surface.toolNames.wireName(name),
      server: findToolId(name) === undefined ? "pml" : "pml-std",
      description,
    })),
    ...named
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ name, description = "" }) => ({
        name,
        callName: capabilityWireName(name),
        server: server.serverId,
        description,
      })),
    ...surface.tools.map(({ id, wireName, server: of, description = "" }) => ({
      name: id,
      callName: wireName,
      server: of,
      description,
    })),
  ];
}
