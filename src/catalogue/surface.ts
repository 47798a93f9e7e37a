import type { Prompt, Resource, ResourceTemplateType, Tool } from "@modelcontextprotocol/server";
import type { KnownServer } from "../upstream/upstreams.ts";
import type { CatalogueTool, ToolIndex, WithheldTool } from "./catalogue.ts";
import { chooseListed, type ExposureSettings } from "./exposure.ts";
import { shortenTexts } from "./listed-texts.ts";
import { createUriMatcher } from "./uri-template.ts";
import { foldServer, formatToolId, parseToolId } from "./tool-id.ts";
import { capabilityWireName, createNameTable, type NamedTool, type NameTable } from "./wire-names.ts";

/** A prompt or resource at the server that has it. */
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

/** A tool of a server with the name that clients call it by. */
export interface OfferedTool extends CatalogueTool {
  readonly wireName: string;
}

interface ListedTool {
  readonly server: string;
  /** The canonical name: `server:tool`, `cap:fs:read_json`, `dns:lookup`, `pml_execute`. */
  readonly id: string;
  readonly wireName: string;
  readonly definition: Tool;
}

/** Everything the gateway offers at one moment: built once per change, read by every connection. */
export interface Surface {
  /** Every tool of a server that may be called, listed or not. */
  readonly tools: readonly OfferedTool[];
  /** Tools of servers that may not be called. */
  readonly withheld: readonly WithheldTool[];
  /** The list that clients get, PML's own tools first. */
  listTools(names?: ToolNames): readonly Tool[];
  findTool(id: string): OfferedTool | undefined;
  readonly prompts: readonly Prompt[];
  readonly resources: readonly Resource[];
  readonly resourceTemplates: readonly ResourceTemplateType[];
  readonly toolNames: NameTable;
  readonly promptNames: NameTable;
  /** The wire URI of a server's resource. */
  wrapUri(server: string, uri: string): string;
  findResource(uri: string): Target | undefined;
}

const CANONICAL_NAME_KEY = "dev.pml/canonicalName";

export interface SurfaceParts {
  readonly tools: ToolIndex;
  /** For their prompts and resources. */
  readonly servers: readonly KnownServer[];
  /** PML's own tools that are always listed, in that order. */
  readonly own: readonly Tool[];
  /** The tools of the standard library. */
  readonly library?: readonly Tool[];
  /** Capabilities that may be listed, the most used first. */
  readonly capabilities?: readonly Tool[];
  readonly settings: SurfaceSettings;
}

export function buildSurface(parts: SurfaceParts): Surface {
  const { servers, own, library = [], capabilities = [], settings } = parts;
  const { withheld } = parts.tools;
  const ordered = servers.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const transparent = new Set(ordered.filter(({ entry }) => entry.pml?.prefix === "").map(({ name }) => name));
  const toNamed = (server: string, tool: string): NamedTool => ({ server, tool, transparent: transparent.has(server) });
  // Held tools keep their names, or others could be called by them meanwhile.
  const named = [...parts.tools.tools, ...withheld.filter(({ held }) => held)];
  const toolNames = createNameTable(
    named.map(({ server, name }) => toNamed(server, name)),
    [...own, ...library].map(({ name }) => name),
  );
  const tools = parts.tools.tools.map((tool): OfferedTool => ({ ...tool, wireName: toolNames.wireName(tool.id) }));
  const prompts = ordered.flatMap(({ name, offer }) =>
    (offer?.prompts ?? []).map((prompt) => ({ server: name, prompt })),
  );
  const promptNames = createNameTable(prompts.map(({ server, prompt }) => toNamed(server, prompt.name)));
  const wrapUri = (server: string, uri: string): string =>
    transparent.has(server) ? uri : `${URI_PREFIX}${toScheme(server)}:${uri}`;
  return {
    toolNames,
    promptNames,
    wrapUri,
    tools,
    withheld,
    ...createToolLists({ tools, own, library, capabilities, toolNames, settings }),
    prompts: prompts.map(({ server, prompt }) => ({
      ...shortenTexts(prompt),
      name: promptNames.wireName(formatToolId(server, prompt.name)),
    })),
    resources: ordered.flatMap(({ name, offer }) =>
      (offer?.resources ?? []).map((each) => ({ ...shortenTexts(each), uri: wrapUri(name, each.uri) })),
    ),
    resourceTemplates: ordered.flatMap(({ name, offer }) =>
      (offer?.resourceTemplates ?? []).map((each) => ({
        ...shortenTexts(each),
        uriTemplate: wrapUri(name, each.uriTemplate),
      })),
    ),
    findResource: createResourceFinder(ordered),
  };
}

interface ToolListParts extends Required<Pick<SurfaceParts, "own" | "library" | "capabilities" | "settings">> {
  readonly tools: readonly OfferedTool[];
  readonly toolNames: NameTable;
}

function createToolLists(parts: ToolListParts): Pick<Surface, "listTools" | "findTool"> {
  const { tools, own, library, capabilities, toolNames, settings } = parts;
  const byId = new Map(tools.map((each) => [each.id, each]));
  const toOwn = (definition: Tool): ListedTool => {
    const { server } = parseToolId(definition.name);
    return { server, id: definition.name, wireName: toolNames.wireName(definition.name), definition };
  };
  const offered = {
    core: own.length,
    library: library.map(toOwn),
    capabilities: capabilities.map(toListed),
    tools: tools.map((tool): ListedTool => tool),
  };
  const listed = [...own.map(toOwn), ...chooseListed(offered, settings)];
  const lists = {
    portable: listed.map((each) => renameTool(each, each.wireName)),
    canonical: listed.map((each) => renameTool(each, each.id)),
  };
  return {
    listTools: (names = settings.toolNames) => lists[names],
    findTool: (id) => byId.get(id),
  };
}

function toListed(capability: Tool): ListedTool {
  const { name: id } = capability;
  return { server: "cap", id, wireName: capabilityWireName(id), definition: capability };
}

function renameTool({ id, definition }: ListedTool, name: string): Tool {
  return {
    ...definition,
    name,
    title: definition.title ?? id,
    _meta: { ...definition._meta, [CANONICAL_NAME_KEY]: id },
  };
}

/** Templates of a server that plain URIs are compared with; wrapped URIs say where they belong. */
const MOST_TEMPLATES = 500;
const URI_PREFIX = "pml+";
const WRAPPED_URI = /^pml\+([a-z0-9][a-z0-9-]*):(.*)$/is;

/** Schemes of URIs have no underscores and spaces. */
function toScheme(server: string): string {
  return server.replace(/[^A-Za-z0-9-]/g, "-");
}

/** Wrapped URIs say where they belong. Plain ones (links in results) belong to the server that lists them. */
function createResourceFinder(servers: readonly KnownServer[]): (uri: string) => Target | undefined {
  const byScheme = new Map(servers.map(({ name }) => [foldServer(name), name]));
  const listed = new Map(servers.flatMap(({ name, offer }) => (offer?.resources ?? []).map(({ uri }) => [uri, name])));
  const templates = servers.flatMap(({ name, offer }) =>
    (offer?.resourceTemplates ?? []).slice(0, MOST_TEMPLATES).map(({ uriTemplate }) => ({
      server: name,
      matches: createUriMatcher(uriTemplate),
    })),
  );
  return (uri) => {
    const [, wrapped, name] = WRAPPED_URI.exec(uri) ?? [];
    if (wrapped !== undefined && name !== undefined)
      return { server: byScheme.get(foldServer(wrapped)) ?? wrapped, name };
    const server =
      listed.get(uri) ?? templates.find(({ matches }) => matches(uri))?.server ?? onlyServerWithResources(servers);
    return server === undefined ? undefined : { server, name: uri };
  };
}

function onlyServerWithResources(servers: readonly KnownServer[]): string | undefined {
  const [only, ...others] = servers.filter(({ offer }) => offer?.capabilities.resources !== undefined);
  return others.length === 0 ? only?.name : undefined;
}
