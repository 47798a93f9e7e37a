import type { Tool } from "@modelcontextprotocol/server";
import type { ToolFacts, ToolCatalogue } from "../analysis/structure.ts";
import { contentHash } from "../base/content-hash.ts";
import { type EffectHints, readHints } from "../permissions/effect.ts";
import { seemsToRead } from "../permissions/read-like.ts";
import type { KnownServer, Upstreams } from "../upstream/upstreams.ts";
import { findExcessiveDefinition, shortenTexts } from "./listed-texts.ts";
import { formatToolId } from "./tool-id.ts";

/** A tool of a server behind the gateway: the one definition that is listed, found, judged, asked about and called. */
export interface CatalogueTool extends ToolFacts {
  readonly server: string;
  /** The name its server knows it by. */
  readonly name: string;
  /** As its server describes it; long texts are cut. */
  readonly definition: Tool;
  /** Identifies the whole definition, cut texts included. */
  readonly contentHash: string;
  /** Its claimed effect, and whether its server is believed. */
  readonly annotations?: EffectHints;
  readonly description?: string;
  readonly routing: "local" | "cloud";
  /** The server's own limit, where it has one. */
  readonly maxResultBytes: number | undefined;
}

export interface WithheldTool extends CatalogueTool {
  readonly reason: string;
  /** It waits for a person to accept its changed definition, and keeps its name meanwhile. */
  readonly held: boolean;
}

/** The tools of all servers at one moment. */
export interface ToolIndex extends ToolCatalogue {
  /** Every tool that may be called, by server and then in the order the server lists them. */
  readonly tools: readonly CatalogueTool[];
  /** Tools that may not be called. */
  readonly withheld: readonly WithheldTool[];
  /** By the names that code uses. */
  findTool(server: string, tool: string): CatalogueTool | undefined;
  findById(id: string): CatalogueTool | undefined;
}

/** The tools of all servers, as they are now. */
export interface Catalogue extends ToolIndex {
  /** Changes with every change of a tool. */
  readonly version: number;
  /** Returns a function that ends the subscription. */
  onChange(listener: () => void): () => void;
}

export function createCatalogue(upstreams: Upstreams): Catalogue & Disposable {
  let index = indexTools(upstreams.known);
  let version = 1;
  const listeners = new Set<() => void>();
  const stop = upstreams.onChange(() => {
    index = indexTools(upstreams.known);
    version++;
    for (const listener of listeners) listener();
  });
  return {
    get tools() {
      return index.tools;
    },
    get withheld() {
      return index.withheld;
    },
    findTool: (server, tool) => index.findTool(server, tool),
    findById: (id) => index.findById(id),
    get version() {
      return version;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    [Symbol.dispose]: stop,
  };
}

export function indexTools(servers: readonly KnownServer[]): ToolIndex {
  const known = servers.toSorted((a, b) => (a.name < b.name ? -1 : 1)).flatMap(describeTools);
  const tools = known.filter((each) => each.withheld === undefined).map(({ tool }) => tool);
  const byId = new Map(tools.map((tool) => [tool.id, tool]));
  const byName = indexByName(tools);
  return {
    tools,
    withheld: known.flatMap(({ tool, withheld }) => (withheld === undefined ? [] : [{ ...tool, ...withheld }])),
    findTool: (server, tool) => byName.get(nameKey(server, tool)),
    findById: (id) => byId.get(id),
  };
}

/** Code may spell `get-sum` as get_sum, unless another tool has that very name. */
function indexByName(tools: readonly CatalogueTool[]): ReadonlyMap<string, CatalogueTool> {
  const byName = new Map(tools.map((tool) => [nameKey(tool.server, tool.name), tool]));
  const spelled = Map.groupBy(tools, ({ server, name }) => nameKey(toIdentifier(server), toIdentifier(name)));
  for (const [key, [only, ...others]] of spelled) {
    if (only !== undefined && others.length === 0 && !byName.has(key)) byName.set(key, only);
  }
  return byName;
}

interface Described {
  readonly tool: CatalogueTool;
  readonly withheld: Pick<WithheldTool, "reason" | "held"> | undefined;
}

function describeTools(known: KnownServer): Described[] {
  return (known.offer?.tools ?? []).map((definition) => ({
    tool: describeTool(known, definition),
    withheld: findReason(known, definition),
  }));
}

function describeTool({ name: server, entry }: KnownServer, whole: Tool): CatalogueTool {
  const definition = shortenTexts(whole);
  const { name, inputSchema, outputSchema, description } = definition;
  return {
    id: formatToolId(server, name),
    server,
    name,
    definition,
    contentHash: contentHash(whole),
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    annotations: hintsOf(entry, whole),
    ...(description === undefined ? {} : { description }),
    routing: entry.url === undefined ? "local" : "cloud",
    maxResultBytes: findResultLimit(entry),
  };
}

/** A confirmation holds for the very definition that a person saw, while they believe its server. */
function hintsOf({ pml }: KnownServer["entry"], whole: Tool): EffectHints {
  const hints = readHints(whole.annotations, pml?.trustHints === true);
  if (!seemsToRead(whole)) return hints;
  const { reads = {} } = pml ?? {};
  const isConfirmed =
    hints.believed === true && Object.hasOwn(reads, whole.name) && reads[whole.name] === contentHash(whole);
  return { ...hints, seemsToRead: isConfirmed ? "confirmed" : "proposed" };
}

const HELD_REASON = "its definition changed under its name and nobody has accepted that";

function findReason({ entry, flags }: KnownServer, definition: Tool): Described["withheld"] {
  const { name, execution } = definition;
  const excess = findExcessiveDefinition(shortenTexts(definition));
  if (excess !== undefined) return { reason: excess, held: false };
  if (entry.tools?.includes(name) === false)
    return { reason: "it is not among the server's allowed tools", held: false };
  if (execution?.taskSupport === "required")
    return { reason: "it can only be run as a task, which PML does not offer yet", held: false };
  return flags.get(name)?.held === true ? { reason: HELD_REASON, held: true } : undefined;
}

/** A server that is listed under its own names looks as if nobody stood in between, so nothing is cut. */
function findResultLimit({ pml }: KnownServer["entry"]): number | undefined {
  return pml?.maxResultBytes ?? (pml?.prefix === "" ? 0 : undefined);
}

/** Joins two names so that no two pairs make the same key. */
function nameKey(server: string, tool: string): string {
  return JSON.stringify([server, tool]);
}

function toIdentifier(name: string): string {
  return name.replace(/[^A-Za-z0-9_$]/g, "_");
}
