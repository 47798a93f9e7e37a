import type { CallableTool, ToolDirectory } from "../execution/ports.ts";
import { contentHash } from "../upstream/offers/offer.ts";
import type { KnownServer, Upstreams } from "../upstream/upstreams.ts";

/** The tools of all servers, by id and by the names that code uses. Rebuilt when a server changes. */
export function createToolDirectory(upstreams: Upstreams): ToolDirectory & Disposable {
  let current = index(upstreams.known);
  let version = 1;
  const stop = upstreams.onChange(() => {
    current = index(upstreams.known);
    version++;
  });
  return {
    findTool: (server, tool) => current.byName.get(nameKey(server, tool)),
    findById: (id) => current.byId.get(id),
    get all() {
      return current.all;
    },
    get version() {
      return version;
    },
    [Symbol.dispose]: stop,
  };
}

interface Index {
  readonly all: readonly CallableTool[];
  readonly byId: ReadonlyMap<string, CallableTool>;
  readonly byName: ReadonlyMap<string, CallableTool>;
}

function index(servers: readonly KnownServer[]): Index {
  const named = servers.flatMap((server) => toolsOf(server).map((tool) => ({ server: server.name, ...tool })));
  const byName = new Map<string, CallableTool>();
  for (const { server, name, tool } of named) byName.set(nameKey(server, name), tool);
  // `get-sum` can be written get_sum in code, unless another tool has that very name.
  const spelled = Map.groupBy(named, ({ server, name }) => nameKey(identifier(server), identifier(name)));
  for (const [key, group] of spelled) {
    const [only, ...others] = group;
    if (only !== undefined && others.length === 0 && !byName.has(key)) byName.set(key, only.tool);
  }
  const all = named.map(({ tool }) => tool);
  return { all, byName, byId: new Map(all.map((tool) => [tool.id, tool])) };
}

function toolsOf({ name: server, entry, offer, flags }: KnownServer): { name: string; tool: CallableTool }[] {
  return (offer?.tools ?? [])
    .filter((tool) => entry.tools?.includes(tool.name) !== false && tool.execution?.taskSupport !== "required")
    .filter((tool) => flags.get(tool.name)?.held !== true)
    .map((tool) => ({
      name: tool.name,
      tool: {
        id: `${server}:${tool.name}`,
        contentHash: contentHash(tool),
        inputSchema: tool.inputSchema,
        ...(tool.outputSchema === undefined ? {} : { outputSchema: tool.outputSchema }),
        ...(tool.annotations === undefined ? {} : { annotations: tool.annotations }),
        ...(tool.description === undefined ? {} : { description: tool.description }),
      },
    }));
}

/** Names are never joined in a way that could make two of one. */
function nameKey(server: string, tool: string): string {
  return JSON.stringify([server, tool]);
}

function identifier(name: string): string {
  return name.replace(/[^A-Za-z0-9_$]/g, "_");
}
