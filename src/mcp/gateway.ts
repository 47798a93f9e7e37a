import { ProtocolError, type Tool } from "@modelcontextprotocol/server";
import { findClosest } from "../config/closest.ts";
import type { UpstreamServer } from "../upstream/upstream-server.ts";
import type { Upstreams } from "../upstream/upstreams.ts";
import type { UsageLog } from "../usage/usage-log.ts";
import { ParkedCalls } from "./parked-calls.ts";
import { buildSurface, type Surface, type SurfaceSettings, type Target } from "./surface.ts";
import type { NameTable } from "./wire-names.ts";

export interface GatewayOptions {
  readonly upstreams: Upstreams;
  readonly usage: UsageLog;
  readonly settings: SurfaceSettings;
}

export interface ResolvedTarget extends Target {
  readonly upstream: UpstreamServer;
}

export interface ResolvedTool extends ResolvedTarget {
  readonly tool: Tool;
}

export type ListKind = "tools" | "prompts" | "resources";

const INVALID_PARAMS = -32_602;
/** Changes that come in a bunch, as at start, are told once. */
const COALESCE_MS = 250;
const CAPABILITY_NAME = /^cap(?::|__)/;

/** A name that only a capability can have, and none has it: the model that made it up has to read this. */
export class CapabilityNotFound extends ProtocolError {
  constructor(name: string) {
    super(INVALID_PARAMS, `Capability not found: ${name.replace(CAPABILITY_NAME, "")}`);
  }
}

/** What all connections share: the current surface, where things are, and calls that wait for an answer. */
export class Gateway implements Disposable {
  readonly upstreams: Upstreams;
  readonly usage: UsageLog;
  readonly parked = new ParkedCalls();
  readonly #settings: SurfaceSettings;
  #surface: Surface;
  readonly #listeners = new Set<(kinds: ReadonlySet<ListKind>) => void>();
  readonly #changedKinds = new Set<ListKind>();
  #timer: NodeJS.Timeout | undefined;
  readonly #stopListening: () => void;

  constructor({ upstreams, usage, settings }: GatewayOptions) {
    this.upstreams = upstreams;
    this.usage = usage;
    this.#settings = settings;
    this.#surface = buildSurface(upstreams.known, settings);
    this.#stopListening = upstreams.onChange(() => this.#rebuild());
  }

  get surface(): Surface {
    return this.#surface;
  }

  /** Told which lists changed, once per bunch of changes. Returns what ends the subscription. */
  onListChanged(listener: (kinds: ReadonlySet<ListKind>) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  resolveTool(name: string): ResolvedTool {
    const target = this.#resolveName(this.surface.toolNames, name, "tool");
    const tool = this.upstreams.known
      .find((server) => server.name === target.server)
      ?.offer?.tools.find((each) => each.name === target.name);
    if (tool === undefined) throw new ProtocolError(INVALID_PARAMS, `Unknown tool: ${name}`);
    return { ...target, tool };
  }

  /** undefined where there is no such tool, or more than one. */
  findTool(name: string): ResolvedTool | undefined {
    try {
      return this.resolveTool(name);
    } catch {
      return undefined; // whoever calls it is told why
    }
  }

  resolvePrompt(name: string): ResolvedTarget {
    return this.#resolveName(this.surface.promptNames, name, "prompt");
  }

  resolveResource(uri: string): ResolvedTarget {
    const target = this.surface.findResource(uri);
    const upstream = target === undefined ? undefined : this.upstreams.findServer(target.server);
    if (target === undefined || upstream === undefined)
      throw new ProtocolError(INVALID_PARAMS, `Resource not found: ${uri}`, { uri });
    return { ...target, upstream };
  }

  [Symbol.dispose](): void {
    this.#stopListening();
    clearTimeout(this.#timer);
    this.parked.cancelAll();
  }

  #resolveName(table: NameTable, name: string, kind: string): ResolvedTarget {
    const resolution = table.resolve(name);
    if (resolution.kind === "ambiguous") {
      throw new ProtocolError(
        INVALID_PARAMS,
        `Ambiguous ${kind} "${name}": it could be ${resolution.candidates.join(" or ")}`,
      );
    }
    if (resolution.kind === "unknown" && kind === "tool" && CAPABILITY_NAME.test(name))
      throw new CapabilityNotFound(name);
    if (resolution.kind === "unknown") throw new ProtocolError(INVALID_PARAMS, this.#unknownText(kind, name));
    const target = this.surface.splitCanonical(resolution.canonical);
    const upstream = this.upstreams.findServer(target.server);
    if (upstream === undefined) throw new ProtocolError(INVALID_PARAMS, this.#unknownText(kind, name));
    return { ...target, upstream };
  }

  #unknownText(kind: string, name: string): string {
    const hidden = this.surface.hidden.find(({ tool }) => tool === name);
    if (hidden !== undefined) return `The tool ${name} is not offered: ${hidden.reason}`;
    const listed = kind === "tool" ? this.surface.tools : this.surface.prompts;
    const closest = findClosest(
      name,
      listed.map((each) => each.name),
    );
    return `Unknown ${kind}: ${name}${closest === undefined ? "" : `. Did you mean ${closest}?`}`;
  }

  #rebuild(): void {
    const before = this.#surface;
    this.#surface = buildSurface(this.upstreams.known, this.#settings);
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
  if (differs(before.tools, after.tools)) kinds.push("tools");
  if (differs(before.prompts, after.prompts)) kinds.push("prompts");
  if (differs([before.resources, before.resourceTemplates], [after.resources, after.resourceTemplates]))
    kinds.push("resources");
  return kinds;
}

function differs(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) !== JSON.stringify(b);
}
