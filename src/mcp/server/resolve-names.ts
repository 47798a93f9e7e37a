import { ProtocolError, type Tool } from "@modelcontextprotocol/server";
import { findClosest } from "../../base/closest.ts";
import { PmlError } from "../../base/errors.ts";
import { shorten } from "../../base/shorten.ts";
import type { OfferedTool, Surface, Target } from "../../catalogue/surface.ts";
import { LONGEST_URI } from "../../catalogue/uri-template.ts";
import { parseToolId } from "../../catalogue/tool-id.ts";
import type { NameTable } from "../../catalogue/wire-names.ts";
import type { UpstreamServer } from "../../upstream/upstream-server.ts";
import { newNameOf, withNotice } from "../own-tools/deprecated-tools.ts";
import type { OwnTool } from "../own-tools/own-tool.ts";
import { type CapabilityCalls, mayBeCapability } from "./capability-calls.ts";

/** Longest part of an unknown name that the error repeats. */
const LONGEST_ECHO = 200;

/** A tool, prompt or resource with the server that has it. */
export interface ResolvedTarget extends Target {
  readonly upstream: UpstreamServer;
}

/** A tool that a name stands for: of a server behind the gateway, or PML's own, capabilities included. */
export type ResolvedTool = Pick<OfferedTool, "id" | "definition" | "maxResultBytes"> &
  (({ readonly kind: "upstream" } & ResolvedTarget) | ({ readonly kind: "own"; readonly own: OwnTool } & Target));

/** A tool that PML itself serves, and the server under which its calls are recorded. */
export interface ServedTool {
  readonly own: OwnTool;
  readonly server: string;
}

export interface NameResolverParts {
  /** The current surface. */
  readonly surface: () => Surface;
  /** PML's own tools by name, capabilities excepted. */
  readonly ownTools: ReadonlyMap<string, ServedTool>;
  /** The definition of an own tool, as clients list it. */
  readonly define: (own: OwnTool) => Tool;
  readonly capabilities: Pick<CapabilityCalls, "find">;
  readonly findServer: (name: string) => UpstreamServer | undefined;
}

type Kind = "tool" | "prompt";

const INVALID_PARAMS = -32_602;

/** Resolves the names that clients use, in any spelling, to the one thing each stands for. */
export class NameResolver {
  readonly #parts: NameResolverParts;

  constructor(parts: NameResolverParts) {
    this.#parts = parts;
  }

  /** Throws where the name stands for nothing, for several tools, or for one that may not be called. */
  async resolveTool(name: string, principal?: string): Promise<ResolvedTool> {
    const capability = mayBeCapability(name) ? await this.#parts.capabilities.find(name, principal) : undefined;
    return capability === undefined
      ? this.#resolveKnown(name)
      : toOwn(capability, capability.name, capability.own.definition);
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
    return this.#locate(this.#resolveName(this.#parts.surface().promptNames, name, "prompt"), "prompt");
  }

  resolveResource(uri: string): ResolvedTarget {
    if (uri.length > LONGEST_URI)
      throw new ProtocolError(INVALID_PARAMS, `The URI has ${uri.length} characters, more than ${LONGEST_URI}`);
    const target = this.#parts.surface().findResource(uri);
    const upstream = target === undefined ? undefined : this.#parts.findServer(target.server);
    if (target === undefined || upstream === undefined)
      throw new ProtocolError(INVALID_PARAMS, `Resource not found: ${uri}`, { uri });
    return { ...target, upstream };
  }

  /** The tool of a server as it is now. Throws where it may not be called. */
  resolveUpstream(id: string, name = id): OfferedTool {
    this.#refuseHeld(id);
    const offered = this.#parts.surface().findTool(id);
    if (offered === undefined) throw new ProtocolError(INVALID_PARAMS, this.#describeUnknown("tool", name));
    return offered;
  }

  #resolveKnown(name: string): ResolvedTool {
    const surface = this.#parts.surface();
    const newName = newNameOf(name);
    const id = this.#resolveName(surface.toolNames, newName ?? name, "tool");
    const served = this.#parts.ownTools.get(id);
    if (served !== undefined) {
      const own = newName === undefined ? served.own : withNotice(served.own, name);
      return toOwn({ ...served, own }, id, this.#parts.define(own));
    }
    const { definition, maxResultBytes } = this.resolveUpstream(id, name);
    return { kind: "upstream", id, definition, maxResultBytes, ...this.#locate(id, "tool") };
  }

  #resolveName(table: NameTable, name: string, kind: Kind): string {
    const resolution = table.resolve(name);
    if (resolution.kind === "found") return resolution.canonical;
    const text =
      resolution.kind === "ambiguous"
        ? `Ambiguous ${kind} "${name}": it could be ${resolution.candidates.join(" or ")}`
        : this.#describeUnknown(kind, name);
    throw new ProtocolError(INVALID_PARAMS, text);
  }

  #locate(id: string, kind: Kind): ResolvedTarget {
    const { server, tool: name } = parseToolId(id);
    const upstream = this.#parts.findServer(server);
    if (upstream === undefined) throw new ProtocolError(INVALID_PARAMS, this.#describeUnknown(kind, id));
    return { server, name, upstream };
  }

  #refuseHeld(tool: string): void {
    const held = this.#parts.surface().withheld.find((each) => each.held && each.id === tool);
    if (held === undefined) return;
    throw new PmlError("tool_changed", `The tool ${tool} is not offered: ${held.reason}`, {
      hint: "A person has to look at it first; it is in their inbox",
      details: { tool },
    });
  }

  #describeUnknown(kind: Kind, name: string): string {
    const { tools, prompts, withheld } = this.#parts.surface();
    const reason = withheld.find(({ id }) => id === name)?.reason;
    if (reason !== undefined) return `The tool ${name} is not offered: ${reason}`;
    const known =
      kind === "tool"
        ? [...this.#parts.ownTools.keys(), ...tools.map(({ wireName }) => wireName)]
        : prompts.map((prompt) => prompt.name);
    const closest = findClosest(name, known);
    return `Unknown ${kind}: ${shorten(name, LONGEST_ECHO)}${closest === undefined ? "" : `. Did you mean ${closest}?`}`;
  }
}

function toOwn({ own, server }: ServedTool, id: string, definition: Tool): ResolvedTool {
  return { kind: "own", own, server, name: id, id, definition, maxResultBytes: undefined };
}
