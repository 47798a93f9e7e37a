import { ProtocolError, type Tool } from "@modelcontextprotocol/server";
import { findClosest } from "../../base/closest.ts";
import { PmlError } from "../../base/errors.ts";
import type { Catalogue } from "../../catalogue/catalogue.ts";
import { parseToolId } from "../../catalogue/tool-id.ts";
import type { PermitCall } from "../../gateway/permit-call.ts";
import type { Logger } from "../../base/log.ts";
import type { KeptResults } from "../../gateway/results/kept-results.ts";
import type { UpstreamServer } from "../../upstream/upstream-server.ts";
import type { Upstreams } from "../../upstream/upstreams.ts";
import type { UsageLog } from "../../gateway/usage/usage-log.ts";
import { OWNER, type Scope } from "../../registry/scope.ts";
import { CapabilityCalls, mayBeCapability, type StandardLibrary } from "./capability-calls.ts";
import { newNameOf, withNotice } from "../own-tools/deprecated-tools.ts";
import { listedDefinition, type OwnTool } from "../own-tools/own-tool.ts";
import type { OwnToolParts, OwnTools } from "../own-tools/own-tools.ts";
import { ParkedCalls } from "../parked-calls.ts";
import {
  buildSurface,
  type OfferedTool,
  type Surface,
  type SurfaceSettings,
  type Target,
  type ToolNames,
} from "../../catalogue/surface.ts";
import type { NameTable } from "../../catalogue/wire-names.ts";

/** Settings that can change while the gateway runs. */
export interface GatewaySettings {
  readonly gateway: SurfaceSettings;
  readonly results: { readonly maxBytes: number; readonly ttlSeconds: number };
}

export interface GatewayOptions {
  readonly catalogue: Catalogue;
  readonly upstreams: Upstreams;
  readonly usage: UsageLog;
  readonly results: KeptResults;
  readonly settings: GatewaySettings;
  /** Creates PML's own tools, which can read the gateway's surface. */
  readonly createOwnTools: (parts: OwnToolParts) => OwnTools;
  /** Permits each call of a server's tool. */
  readonly permitCall: PermitCall;
  readonly scope: Scope;
  readonly log: Logger;
}

export interface ResolvedTarget extends Target {
  readonly upstream: UpstreamServer;
}

/** A tool that a name stands for: of a server behind the gateway, or PML's own, capabilities included. */
export type ResolvedTool = Pick<OfferedTool, "id" | "definition" | "maxResultBytes"> &
  (({ readonly kind: "upstream" } & ResolvedTarget) | ({ readonly kind: "own"; readonly own: OwnTool } & Target));

/** The server under which calls of PML's own tools are recorded. */
const OWN_SERVER = "pml";

export type ListKind = "tools" | "prompts" | "resources";
type Kind = "tool" | "prompt";

const INVALID_PARAMS = -32_602;
/** Debounces notifications: changes come in bunches, above all at start. */
const COALESCE_MS = 250;

/** Shared by all connections: the current surface, name resolution, and calls that wait for an answer. */
export class Gateway implements Disposable {
  readonly upstreams: Upstreams;
  readonly usage: UsageLog;
  readonly results: KeptResults;
  readonly permitCall: PermitCall;
  readonly log: Logger;
  readonly parked = new ParkedCalls();
  readonly #catalogue: Catalogue;
  readonly #core: readonly OwnTool[];
  readonly #library: StandardLibrary;
  readonly #capabilities: CapabilityCalls;
  readonly #ownTools: ReadonlyMap<string, OwnTool>;
  /** The surfaces of principals who see other capabilities than the owner. */
  #surfaces = new Map<string, { readonly capabilities: readonly Tool[]; readonly surface: Surface }>();
  #settings: GatewaySettings;
  #surface: Surface;
  readonly #listeners = new Set<(kinds: ReadonlySet<ListKind>) => void>();
  readonly #changedKinds = new Set<ListKind>();
  #timer: NodeJS.Timeout | undefined;
  readonly #stopListening: readonly (() => void)[];

  constructor({
    catalogue,
    upstreams,
    usage,
    results,
    settings,
    createOwnTools,
    permitCall,
    scope,
    log,
  }: GatewayOptions) {
    this.#catalogue = catalogue;
    this.upstreams = upstreams;
    this.permitCall = permitCall;
    this.usage = usage;
    this.results = results;
    this.log = log;
    this.#settings = settings;
    const { core, library } = createOwnTools({
      surface: () => this.#surface,
      results,
      maxResultBytes: () => this.#settings.results.maxBytes,
    });
    this.#core = core;
    this.#library = library;
    this.#ownTools = new Map([...core, ...library.tools].map((tool) => [tool.definition.name, tool]));
    this.#capabilities = new CapabilityCalls({ library, scope, settings: () => this.#settings.gateway });
    this.#surface = this.#buildSurface();
    this.#stopListening = [
      catalogue.onChange(() => this.#rebuild()),
      this.#capabilities.onChange(() => this.#refresh()),
    ];
    this.#refresh();
  }

  get surface(): Surface {
    return this.#surface;
  }

  get settings(): GatewaySettings {
    return this.#settings;
  }

  get ownTools(): readonly OwnTool[] {
    return [...this.#ownTools.values()];
  }

  /** Applies changed settings; notifies clients whose list changes. */
  configure(settings: GatewaySettings): void {
    this.#settings = settings;
    this.#capabilities.lists.markStale();
    this.#rebuild();
    this.#refresh();
  }

  /** Lists the tools for a principal, as they are now. */
  async listTools(names?: ToolNames, principal: string = OWNER): Promise<readonly Tool[]> {
    const before = this.#capabilities.lists.known(OWNER);
    const capabilities = await this.#capabilities.lists.read(principal);
    if (principal !== OWNER) return this.#surfaceOf(principal, capabilities).listTools(names);
    if (capabilities !== before) this.#rebuild();
    return this.surface.listTools(names);
  }

  /** Lists the named capabilities that a principal may see. */
  listCapabilities(principal: string): Promise<readonly Tool[]> {
    return this.#capabilities.lists.read(principal);
  }

  /** Calls the listener with the kinds of lists that changed. Returns a function that ends the subscription. */
  onListChanged(listener: (kinds: ReadonlySet<ListKind>) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async resolveTool(name: string, principal?: string): Promise<ResolvedTool> {
    const capability = mayBeCapability(name) ? await this.#capabilities.find(name, principal) : undefined;
    if (capability === undefined) return this.#resolveKnown(name);
    const { own } = capability;
    return { kind: "own", ...capability, id: capability.name, definition: own.definition, maxResultBytes: undefined };
  }

  #resolveKnown(name: string): ResolvedTool {
    const newName = newNameOf(name);
    const id = this.#resolveName(this.surface.toolNames, newName ?? name, "tool");
    const known = this.#ownTools.get(id);
    if (known !== undefined) {
      const own = newName === undefined ? known : withNotice(known, name);
      const server = this.#core.includes(known) ? OWN_SERVER : this.#library.serverId;
      const definition = listedDefinition(own, this.#settings.gateway);
      return { kind: "own", own, server, name: id, id, definition, maxResultBytes: undefined };
    }
    this.#refuseHeld(id);
    const offered = this.surface.findTool(id);
    if (offered === undefined) throw new ProtocolError(INVALID_PARAMS, this.#unknownText("tool", name));
    const { definition, maxResultBytes } = offered;
    return { kind: "upstream", id, definition, maxResultBytes, ...this.#resolveTarget(id, "tool") };
  }

  /** Undefined where no tool, or more than one, has the name. Ignores capabilities. */
  findTool(name: string): Tool | undefined {
    try {
      return this.#resolveKnown(name).definition;
    } catch {
      return undefined; // the call itself says why
    }
  }

  resolvePrompt(name: string): ResolvedTarget {
    return this.#resolveTarget(this.#resolveName(this.surface.promptNames, name, "prompt"), "prompt");
  }

  resolveResource(uri: string): ResolvedTarget {
    const target = this.surface.findResource(uri);
    const upstream = target === undefined ? undefined : this.upstreams.findServer(target.server);
    if (target === undefined || upstream === undefined)
      throw new ProtocolError(INVALID_PARAMS, `Resource not found: ${uri}`, { uri });
    return { ...target, upstream };
  }

  [Symbol.dispose](): void {
    for (const stop of this.#stopListening) stop();
    clearTimeout(this.#timer);
    this.parked.cancelAll();
  }

  #resolveName(table: NameTable, name: string, kind: Kind): string {
    const resolution = table.resolve(name);
    if (resolution.kind === "ambiguous") {
      throw new ProtocolError(
        INVALID_PARAMS,
        `Ambiguous ${kind} "${name}": it could be ${resolution.candidates.join(" or ")}`,
      );
    }
    if (resolution.kind === "unknown") throw new ProtocolError(INVALID_PARAMS, this.#unknownText(kind, name));
    return resolution.canonical;
  }

  #resolveTarget(id: string, kind: Kind): ResolvedTarget {
    const { server, tool: name } = parseToolId(id);
    const upstream = this.upstreams.findServer(server);
    if (upstream === undefined) throw new ProtocolError(INVALID_PARAMS, this.#unknownText(kind, id));
    return { server, name, upstream };
  }

  #refuseHeld(tool: string): void {
    const held = this.surface.withheld.find((each) => each.held && each.id === tool);
    if (held === undefined) return;
    throw new PmlError("tool_changed", `The tool ${tool} is not offered: ${held.reason}`, {
      hint: `A person has to look at it: pml review ${tool}`,
      details: { tool },
    });
  }

  #unknownText(kind: Kind, name: string): string {
    const withheld = this.surface.withheld.find(({ id }) => id === name);
    if (withheld !== undefined) return `The tool ${name} is not offered: ${withheld.reason}`;
    const { tools, prompts } = this.surface;
    const known =
      kind === "tool"
        ? [...this.#ownTools.keys(), ...tools.map(({ wireName }) => wireName)]
        : prompts.map((prompt) => prompt.name);
    const closest = findClosest(name, known);
    return `Unknown ${kind}: ${name}${closest === undefined ? "" : `. Did you mean ${closest}?`}`;
  }

  #buildSurface(capabilities: readonly Tool[] = this.#capabilities.lists.known(OWNER)): Surface {
    return buildSurface({
      tools: this.#catalogue,
      servers: this.upstreams.known,
      own: this.#core.map((tool) => listedDefinition(tool, this.#settings.gateway)),
      library: this.#library.tools.map((tool) => listedDefinition(tool, this.#settings.gateway)),
      capabilities,
      settings: this.#settings.gateway,
    });
  }

  #surfaceOf(principal: string, capabilities: readonly Tool[]): Surface {
    const known = this.#surfaces.get(principal);
    if (known?.capabilities === capabilities) return known.surface;
    const surface = this.#buildSurface(capabilities);
    this.#surfaces.set(principal, { capabilities, surface });
    return surface;
  }

  /** Reads the capabilities anew and notifies clients whose list changed. */
  #refresh(): void {
    this.listTools().catch((error: unknown) =>
      this.log.error({ error: String(error) }, "reading the capabilities failed; the next list is read anew"),
    );
  }

  #rebuild(): void {
    const before = this.#surface;
    this.#surfaces = new Map();
    this.#surface = this.#buildSurface();
    for (const kind of changedLists(before, this.#surface)) this.#changedKinds.add(kind);
    if (this.#changedKinds.size > 0) this.#timer ??= setTimeout(() => this.#tell(), COALESCE_MS).unref();
  }

  #tell(): void {
    this.#timer = undefined;
    const kinds = new Set(this.#changedKinds);
    this.#changedKinds.clear();
    for (const listener of this.#listeners) listener(kinds);
  }
}

function changedLists(before: Surface, after: Surface): ListKind[] {
  const kinds: ListKind[] = [];
  if (differs(before.listTools(), after.listTools())) kinds.push("tools");
  if (differs(before.prompts, after.prompts)) kinds.push("prompts");
  if (differs([before.resources, before.resourceTemplates], [after.resources, after.resourceTemplates]))
    kinds.push("resources");
  return kinds;
}

function differs(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) !== JSON.stringify(b);
}
