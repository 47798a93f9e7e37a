import { formatCallName } from "../../catalogue/tool-id.ts";
import { ProtocolError, type Tool } from "@modelcontextprotocol/server";
import { type Asker, OWNER, type Scope } from "../../registry/scope.ts";
import { PmlError } from "../../base/errors.ts";
import { CapabilityLists } from "./capability-lists.ts";
import { choiceFor, type ExposureSettings } from "../../catalogue/exposure.ts";
import type { OwnTool } from "../own-tools/own-tool.ts";
import type { CapabilityServer } from "../servers/capability-server.ts";
import { capabilityWireName, fold, readCapabilityName } from "../../catalogue/wire-names.ts";

/** PML's own server, as the gateway uses it. */
export interface StandardLibrary {
  readonly serverId: string;
  /** Tools with fixed names, unlike capabilities. */
  readonly tools: readonly OwnTool[];
  readonly capabilities: CapabilityServer;
}

const INVALID_PARAMS = -32_602;
const CAPABILITY_NAME = /^cap(?::|__)/;
const ALIKE = /^cap[^a-z0-9]/i;

/** Spares calls of tools the lookup of a capability. */
export function mayBeCapability(name: string): boolean {
  return ALIKE.test(name);
}

/** Refuses a capability's name that stands for nothing, with a text for the model that made it up. */
export class CapabilityRefused extends ProtocolError {
  constructor(message: string) {
    super(INVALID_PARAMS, message);
  }
}

interface CapabilityTarget {
  readonly own: OwnTool;
  readonly server: string;
  readonly name: string;
}

export interface CapabilityCallsParts {
  readonly library: StandardLibrary;
  readonly scope: Scope;
  readonly settings: () => ExposureSettings;
}

/** Lists capabilities as tools and resolves the names that clients use for them. */
export class CapabilityCalls {
  readonly lists: CapabilityLists;
  readonly #library: StandardLibrary;
  readonly #scope: Scope;

  constructor({ library, scope, settings }: CapabilityCallsParts) {
    this.#library = library;
    this.#scope = scope;
    this.lists = new CapabilityLists({
      scope,
      list: (asker, choice) => library.capabilities.listTools(asker, choice),
      choice: () => choiceFor(settings()),
    });
  }

  onChange(listener: () => void): () => void {
    return this.#library.capabilities.onChange(() => {
      this.lists.markStale();
      listener();
    });
  }

  /** Undefined where no capability has the name; a tool may still have it. */
  async find(name: string, principal: string = OWNER): Promise<CapabilityTarget | undefined> {
    const asker = { scope: this.#scope, principal };
    if (CAPABILITY_NAME.test(name)) return this.#resolve(asker, name);
    const listed = mayBeCapability(name) ? await this.lists.read(principal) : [];
    const alike = listed.filter((tool) => fold(tool.name) === fold(name)).map((tool) => tool.name);
    const [only, ...others] = alike;
    if (others.length > 0)
      throw new CapabilityRefused(`Ambiguous capability "${name}": it could be ${alike.toSorted().join(" or ")}`);
    return only === undefined ? undefined : this.#resolve(asker, only);
  }

  async #resolve(asker: Asker, name: string): Promise<CapabilityTarget> {
    const { capabilities } = this.#library;
    const reference = await this.#toReference(asker, name);
    const resolved = await capabilities.resolve(asker, reference).catch((error: unknown) => {
      throw error instanceof PmlError ? new CapabilityRefused(error.message) : error;
    });
    const canonical = formatCallName(resolved.capability.displayName);
    const listed = this.lists.known(asker.principal).find((tool) => tool.name === canonical);
    const definition: Tool = listed ?? { name: canonical, inputSchema: { type: "object" } };
    const call: OwnTool["call"] = (input, context) => capabilities.call(resolved, input, context);
    return { own: { definition, call }, server: capabilities.serverId, name: canonical };
  }

  /** Returns the registry's spelling, also of a name that was cut to fit the wire. */
  async #toReference(asker: Asker, name: string): Promise<string> {
    const { canonical, cut } = readCapabilityName(name);
    if (cut === undefined) return canonical;
    const at = canonical.indexOf("@");
    const wire = at < 0 ? name : name.slice(0, name.indexOf("@"));
    const names = await this.#library.capabilities.namesLike(asker, cut);
    const found = names.find((each) => capabilityWireName(formatCallName(each)) === wire);
    return found === undefined ? canonical : `${formatCallName(found)}${at < 0 ? "" : canonical.slice(at)}`;
  }
}
