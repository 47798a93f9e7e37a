import { formatToolId, parseToolId } from "./tool-id.ts";
import type { Prompt, Resource, ResourceTemplateType, Tool } from "@modelcontextprotocol/server";
import { firstOfEachName } from "../upstream/offers/offer.ts";
import type { KnownServer } from "../upstream/upstreams.ts";
import { chooseListed, type ExposureSettings } from "./exposure.ts";
import { capabilityWireName, createNameTable, type NamedTool, type NameTable } from "./wire-names.ts";

/** Where something that a client named really is. */
export interface Target {
  readonly server: string;
  /** The name or URI as that server knows it. */
  readonly name: string;
}

/** How tools are listed: legal in every client, or as PML calls them. */
export type ToolNames = "portable" | "canonical";

export interface SurfaceSettings extends ExposureSettings {
  readonly toolNames: ToolNames;
}

/** A tool of a server that may be called. */
export interface OfferedTool {
  readonly server: string;
  readonly canonical: string;
  readonly wireName: string;
  /** As its server describes it. */
  readonly tool: Tool;
  /** Where its server has a limit of its own. */
  readonly maxResultBytes: number | undefined;
}

type ListedTool = Omit<OfferedTool, "maxResultBytes">;

interface HiddenTool {
  readonly tool: string;
  readonly reason: string;
  /** It is kept back until a person has accepted what it says of itself now. */
  readonly held: boolean;
}

/** Everything the gateway offers at one moment: built once per change, read by every connection. */
export interface Surface {
  /** Every tool of a server that may be called, listed or not. */
  readonly tools: readonly OfferedTool[];
  /** What clients are shown, PML's own tools first. */
  listTools(names?: ToolNames): readonly Tool[];
  findTool(canonical: string): OfferedTool | undefined;
  readonly prompts: readonly Prompt[];
  readonly resources: readonly Resource[];
  readonly resourceTemplates: readonly ResourceTemplateType[];
  readonly toolNames: NameTable;
  readonly promptNames: NameTable;
  /** Tools that are not offered, with the reason. */
  readonly hidden: readonly HiddenTool[];
  /** The wire URI of a server's resource. */
  wrapUri(server: string, uri: string): string;
  findResource(uri: string): Target | undefined;
  splitCanonical(canonical: string): Target;
}

const CANONICAL_NAME_KEY = "dev.pml/canonicalName";
const HELD_REASON = "its definition changed under its name and nobody has accepted that";

export interface SurfaceParts {
  readonly servers: readonly KnownServer[];
  /** PML's own tools that are always listed, in that order. */
  readonly own: readonly Tool[];
  /** Those of its standard library. */
  readonly library?: readonly Tool[];
  /** Capabilities that may be listed, those that are used most first. */
  readonly capabilities?: readonly Tool[];
  readonly settings: SurfaceSettings;
}

export function buildSurface(parts: SurfaceParts): Surface {
  const { servers, own, library = [], capabilities = [], settings } = parts;
  const ordered = servers.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const transparent = new Set(ordered.filter(({ entry }) => entry.pml?.prefix === "").map(({ name }) => name));
  const offered = ordered.flatMap(({ name, entry, offer, flags }) =>
    firstOfEachName(offer?.tools ?? []).map((tool) => ({
      server: name,
      tool,
      held: flags.get(tool.name)?.held === true,
      reason: hiddenReason(tool, entry.tools),
      maxResultBytes: ownResultLimit(entry),
    })),
  );
  const usable = offered.filter(({ reason }) => reason === undefined);
  const visible = usable.filter(({ held }) => !held);
  const named = (server: string, tool: string): NamedTool => ({ server, tool, transparent: transparent.has(server) });
  // Those that are held keep their names, or others could be called by them meanwhile.
  const toolNames = createNameTable(
    usable.map(({ server, tool }) => named(server, tool.name)),
    [...own, ...library].map(({ name }) => name),
  );
  const tools = visible.map(({ server, tool, maxResultBytes }): OfferedTool => {
    const canonical = formatToolId(server, tool.name);
    return { server, canonical, wireName: toolNames.wireName(canonical), tool, maxResultBytes };
  });
  const prompts = ordered.flatMap(({ name, offer }) =>
    firstOfEachName(offer?.prompts ?? []).map((prompt) => ({ server: name, prompt })),
  );
  const promptNames = createNameTable(prompts.map(({ server, prompt }) => named(server, prompt.name)));
  const wrapUri = (server: string, uri: string): string =>
    transparent.has(server) ? uri : `${URI_PREFIX}${server}:${uri}`;
  return {
    toolNames,
    promptNames,
    wrapUri,
    tools,
    ...createToolLists({ tools, own, library, capabilities, toolNames, settings }),
    prompts: prompts.map(({ server, prompt }) => ({
      ...prompt,
      name: promptNames.wireName(formatToolId(server, prompt.name)),
    })),
    resources: ordered.flatMap(({ name, offer }) =>
      (offer?.resources ?? []).map((each) => ({ ...each, uri: wrapUri(name, each.uri) })),
    ),
    resourceTemplates: ordered.flatMap(({ name, offer }) =>
      (offer?.resourceTemplates ?? []).map((each) => ({ ...each, uriTemplate: wrapUri(name, each.uriTemplate) })),
    ),
    hidden: offered.flatMap(({ server, tool, held, reason = held ? HELD_REASON : undefined }) =>
      reason === undefined ? [] : [{ tool: formatToolId(server, tool.name), reason, held }],
    ),
    findResource: createResourceFinder(ordered),
    splitCanonical,
  };
}

interface ToolListParts extends Required<Pick<SurfaceParts, "own" | "library" | "capabilities" | "settings">> {
  readonly tools: readonly OfferedTool[];
  readonly toolNames: NameTable;
}

function createToolLists(parts: ToolListParts): Pick<Surface, "listTools" | "findTool"> {
  const { tools, own, library, capabilities, toolNames, settings } = parts;
  const byCanonical = new Map(tools.map((each) => [each.canonical, each]));
  const ownTool = (tool: Tool): ListedTool => {
    const { server } = splitCanonical(tool.name);
    return { server, canonical: tool.name, wireName: toolNames.wireName(tool.name), tool };
  };
  const offered = {
    core: own.length,
    library: library.map(ownTool),
    capabilities: capabilities.map(toListed),
    tools: tools.map((tool): ListedTool => tool),
  };
  const listed = [...own.map(ownTool), ...chooseListed(offered, settings)];
  const lists = {
    portable: listed.map((each) => listTool(each, each.wireName)),
    canonical: listed.map((each) => listTool(each, each.canonical)),
  };
  return {
    listTools: (names = settings.toolNames) => lists[names],
    findTool: (canonical) => byCanonical.get(canonical),
  };
}

function toListed(capability: Tool): ListedTool {
  const { name: canonical } = capability;
  return { server: "cap", canonical, wireName: capabilityWireName(canonical), tool: capability };
}

function listTool({ canonical, tool }: Pick<OfferedTool, "canonical" | "tool">, name: string): Tool {
  return {
    ...tool,
    name,
    title: tool.title ?? canonical,
    _meta: { ...tool._meta, [CANONICAL_NAME_KEY]: canonical },
  };
}

function hiddenReason(tool: Tool, allowed: readonly string[] | undefined): string | undefined {
  if (allowed !== undefined && !allowed.includes(tool.name)) return "it is not among the server's allowed tools";
  if (tool.execution?.taskSupport === "required") return "it can only be run as a task, which PML does not offer yet";
  return undefined;
}

/** A server that is listed under its own names is meant to look as if nobody stood in between. */
function ownResultLimit({ pml }: KnownServer["entry"]): number | undefined {
  return pml?.maxResultBytes ?? (pml?.prefix === "" ? 0 : undefined);
}

function splitCanonical(canonical: string): Target {
  const { server, tool } = parseToolId(canonical);
  return { server, name: tool };
}

const URI_PREFIX = "pml+";
const WRAPPED_URI = /^pml\+([a-z0-9][a-z0-9-]*):(.*)$/is;

/** Wrapped URIs say where they belong. Plain ones (links in results) belong to the server that lists them. */
function createResourceFinder(servers: readonly KnownServer[]): (uri: string) => Target | undefined {
  const listed = new Map(servers.flatMap(({ name, offer }) => (offer?.resources ?? []).map(({ uri }) => [uri, name])));
  const templates = servers.flatMap(({ name, offer }) =>
    (offer?.resourceTemplates ?? []).map(({ uriTemplate }) => ({
      server: name,
      pattern: templatePattern(uriTemplate),
    })),
  );
  return (uri) => {
    const [, wrapped, name] = WRAPPED_URI.exec(uri) ?? [];
    if (wrapped !== undefined && name !== undefined) return { server: wrapped, name };
    const server =
      listed.get(uri) ?? templates.find(({ pattern }) => pattern.test(uri))?.server ?? onlyServerWithResources(servers);
    return server === undefined ? undefined : { server, name: uri };
  };
}

function templatePattern(template: string): RegExp {
  const parts = template.split(/\{[^}]*\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join(".+")}$`, "s");
}

function onlyServerWithResources(servers: readonly KnownServer[]): string | undefined {
  const [only, ...others] = servers.filter(({ offer }) => offer?.capabilities.resources !== undefined);
  return others.length === 0 ? only?.name : undefined;
}
