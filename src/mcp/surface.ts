import type { Prompt, Resource, ResourceTemplateType, Tool } from "@modelcontextprotocol/server";
import type { KnownServer } from "../upstream/upstreams.ts";
import { canonicalName, createNameTable, type NamedTool, type NameTable } from "./wire-names.ts";

/** Where something that a client named really is. */
export interface Target {
  readonly server: string;
  /** The name or URI as that server knows it. */
  readonly name: string;
}

export interface SurfaceSettings {
  readonly toolNames: "portable" | "canonical";
}

/** Everything the gateway offers at one moment: built once per change, read by every connection. */
export interface Surface {
  readonly tools: readonly Tool[];
  readonly prompts: readonly Prompt[];
  readonly resources: readonly Resource[];
  readonly resourceTemplates: readonly ResourceTemplateType[];
  readonly toolNames: NameTable;
  readonly promptNames: NameTable;
  /** Tools that are not offered, with the reason. */
  readonly hidden: readonly { readonly tool: string; readonly reason: string }[];
  /** The wire URI of a server's resource. */
  wrapUri(server: string, uri: string): string;
  findResource(uri: string): Target | undefined;
  splitCanonical(canonical: string): Target;
}

export const CANONICAL_NAME_KEY = "dev.pml/canonicalName";

export function buildSurface(servers: readonly KnownServer[], settings: SurfaceSettings): Surface {
  const ordered = servers.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const transparent = new Set(ordered.filter(({ entry }) => entry.pml?.prefix === "").map(({ name }) => name));
  const offered = ordered.flatMap(({ name, entry, offer }) =>
    firstOfEachName(offer?.tools ?? []).map((tool) => ({
      server: name,
      tool,
      reason: hiddenReason(tool, entry.tools),
    })),
  );
  const visible = offered.filter(({ reason }) => reason === undefined);
  const named = (server: string, tool: string): NamedTool => ({ server, tool, transparent: transparent.has(server) });
  const toolNames = createNameTable(visible.map(({ server, tool }) => named(server, tool.name)));
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
    tools: visible.map(({ server, tool }) => listTool(server, tool, { names: toolNames, settings })),
    prompts: prompts.map(({ server, prompt }) => ({
      ...prompt,
      name: promptNames.wireName(canonicalName(server, prompt.name)),
    })),
    resources: ordered.flatMap(({ name, offer }) =>
      (offer?.resources ?? []).map((each) => ({ ...each, uri: wrapUri(name, each.uri) })),
    ),
    resourceTemplates: ordered.flatMap(({ name, offer }) =>
      (offer?.resourceTemplates ?? []).map((each) => ({ ...each, uriTemplate: wrapUri(name, each.uriTemplate) })),
    ),
    hidden: offered.flatMap(({ server, tool, reason }) =>
      reason === undefined ? [] : [{ tool: canonicalName(server, tool.name), reason }],
    ),
    findResource: createResourceFinder(ordered),
    splitCanonical,
  };
}

/** A server that lists a name twice could be called under it only once. */
function firstOfEachName<T extends { readonly name: string }>(items: readonly T[]): T[] {
  const byName = new Map(items.toReversed().map((item) => [item.name, item]));
  return items.filter((item) => byName.get(item.name) === item);
}

function listTool(
  server: string,
  tool: Tool,
  { names, settings }: { names: NameTable; settings: SurfaceSettings },
): Tool {
  const canonical = canonicalName(server, tool.name);
  return {
    ...tool,
    name: settings.toolNames === "canonical" ? canonical : names.wireName(canonical),
    title: tool.title ?? canonical,
    _meta: { ...tool._meta, [CANONICAL_NAME_KEY]: canonical },
  };
}

function hiddenReason(tool: Tool, allowed: readonly string[] | undefined): string | undefined {
  if (allowed !== undefined && !allowed.includes(tool.name)) return "it is not among the server's allowed tools";
  if (tool.execution?.taskSupport === "required") return "it can only be run as a task, which PML does not offer yet";
  return undefined;
}

function splitCanonical(canonical: string): Target {
  const colon = canonical.indexOf(":");
  return { server: canonical.slice(0, colon), name: canonical.slice(colon + 1) };
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
