import type { Tool } from "@modelcontextprotocol/server";
import type { Catalogue } from "../../catalogue/catalogue.ts";
import type { PermitCall } from "../../gateway/permit-call.ts";
import type { Logger } from "../../base/log.ts";
import type { FitParts } from "../../gateway/results/fit-result.ts";
import type { Secrets } from "../../secrets/secrets.ts";
import type { Upstreams } from "../../upstream/upstreams.ts";
import type { UsageLog } from "../../gateway/usage/usage-log.ts";
import { OWNER, type Scope } from "../../registry/scope.ts";
import { CapabilityCalls, type StandardLibrary } from "./capability-calls.ts";
import { listedDefinition, type OwnTool } from "../own-tools/own-tool.ts";
import type { OwnToolParts, OwnTools } from "../own-tools/own-tools.ts";
import { AskedCalls } from "../asked-calls.ts";
import { ParkedCalls } from "../parked-calls.ts";
import { SeenClients } from "./seen-clients.ts";
import { NameResolver, type ServedTool } from "./resolve-names.ts";
import { buildSurface, type Surface, type SurfaceSettings, type ToolNames } from "../../catalogue/surface.ts";

/** Settings that can change while the gateway runs. */
export interface GatewaySettings {
  readonly gateway: SurfaceSettings;
  readonly results: { readonly maxBytes: number; readonly ttlSeconds: number };
  /** Names of the clients whose forms may approve. */
  readonly approvals: { readonly forms: readonly string[] };
}

export interface GatewayOptions {
  readonly catalogue: Catalogue;
  readonly upstreams: Upstreams;
  readonly usage: UsageLog;
  readonly results: FitParts["results"];
  /** Hides secrets in what is kept of calls. */
  readonly secrets: Secrets;
  readonly settings: GatewaySettings;
  /** Creates PML's own tools, which can read the gateway's surface. */
  readonly createOwnTools: (parts: OwnToolParts) => OwnTools;
  /** Permits each call of a server's tool. */
  readonly permitCall: PermitCall;
  readonly scope: Scope;
  readonly log: Logger;
}

/** The server under which calls of PML's own tools are recorded. */
const OWN_SERVER = "pml";

export type ListKind = "tools" | "prompts" | "resources";

/** Debounces notifications: changes come in bunches, above all at start. */
const COALESCE_MS = 250;

/** Shared by all connections: the current surface, the names in it, and calls that wait for an answer. */
export class Gateway implements Disposable {
  readonly upstreams: Upstreams;
  readonly usage: UsageLog;
  readonly results: FitParts["results"];
  readonly secrets: Secrets;
  readonly permitCall: PermitCall;
  readonly log: Logger;
  readonly parked = new ParkedCalls();
  readonly asked = new AskedCalls();
  readonly clients = new SeenClients();
  readonly names: NameResolver;
  readonly #catalogue: Catalogue;
  readonly #core: readonly OwnTool[];
  readonly #library: StandardLibrary;
  readonly #capabilities: CapabilityCalls;
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
    secrets,
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
    this.secrets = secrets;
    this.log = log;
    this.#settings = settings;
    const { core, library } = createOwnTools({
      surface: () => this.#surface,
      results,
      maxResultBytes: () => this.#settings.results.maxBytes,
    });
    this.#core = core;
    this.#library = library;
    this.#capabilities = new CapabilityCalls({ library, scope, settings: () => this.#settings.gateway });
    this.names = new NameResolver({
      surface: () => this.#surface,
      ownTools: new Map([...serveAs(OWN_SERVER, core), ...serveAs(library.serverId, library.tools)]),
      define: (own) => listedDefinition(own, this.#settings.gateway),
      capabilities: this.#capabilities,
      findServer: (name) => upstreams.findServer(name),
    });
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
    return [...this.#core, ...this.#library.tools];
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

  [Symbol.dispose](): void {
    for (const stop of this.#stopListening) stop();
    clearTimeout(this.#timer);
    this.parked.cancelAll();
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

function serveAs(server: string, tools: readonly OwnTool[]): [string, ServedTool][] {
  return tools.map((own) => [own.definition.name, { own, server }]);
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
