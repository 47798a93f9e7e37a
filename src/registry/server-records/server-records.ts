import { v5 as namedId } from "uuid";
import { authorId } from "../author-store.ts";
import { findNameHolder, lockNames } from "../naming-store.ts";
import type { CapabilityRecord } from "../record.ts";
import type { Visibility } from "../record-words.ts";
import type { Registry } from "../registry.ts";
import { formatFqdn } from "../fqdn.ts";
import { refusePublishing } from "../visibility.ts";
import { type Asker, OWNER, type Scope, STANDARD_SCOPE } from "../scope.ts";
import { bumpScope } from "../scope-version-store.ts";
import type { Signing } from "../signature.ts";
import { contentHash } from "../../base/content-hash.ts";
import type { Db, Tx } from "../../db/client.ts";
import { PmlError } from "../../base/errors.ts";
import { baseServers } from "./base-servers.ts";
import { type ConnectedServer, describeConnected } from "./describe-connected.ts";
import { toModule } from "./module-text.ts";
import { parseServerJson, type ServerJson, shortServerName } from "./server-json.ts";
import {
  findByRegistryName,
  insertServer,
  insertServerVersion,
  listServerVersions,
  listVisibleVersions,
  pointAtVersion,
  type StoredServer,
} from "./server-store.ts";
import { compareVersions, toVersionTag } from "./server-version.ts";

export interface ServerRecordsOptions {
  readonly db: Db;
  readonly registry: Pick<Registry, "lookup">;
  readonly signing: Signing;
  /** Base URL of the registry routes; known once the gateway listens. */
  readonly baseUrl: () => string;
}

export interface NewServerRecord {
  /** A `server.json`, stored byte for byte. */
  readonly text: string;
  /** Without `mcp:`; derived from the registry name if left out. */
  readonly name?: string;
  readonly visibility?: Visibility;
}

export interface RegisteredServer {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  /** False if the same version was already registered. */
  readonly changed: boolean;
}

/** Fields that a lookup adds for a server. */
export interface ServerFacts {
  readonly version: string;
  readonly version_number: number;
  readonly registry_name: string;
  readonly code_url: string;
  readonly server_json: ServerJson;
}

/** Server ids derive from scope and registry name, so exports of two machines can be merged. */
const ID_SPACE = "7a1d6c1e-2f0b-5d1a-9c53-4b1f0f6d2a11";

/** Records of MCP servers: registered, seeded, or seen connected. */
export class ServerRecords {
  readonly #options: ServerRecordsOptions;

  constructor(options: ServerRecordsOptions) {
    this.#options = options;
  }

  /** Registers a server or a further version of one; throws if the version exists with other content. */
  async register(asker: Asker, wanted: NewServerRecord): Promise<RegisteredServer> {
    refusePublishing(asker, wanted.name ?? "the server", wanted.visibility);
    return await this.#store(asker.scope, { visibility: "private", ...wanted, createdBy: authorId(asker) });
  }

  /** Registers the servers that ship with PML, and newer versions of them after an upgrade. */
  async seed(): Promise<void> {
    for (const { name, document } of baseServers()) {
      await this.#store(STANDARD_SCOPE, {
        text: JSON.stringify(document, null, 2),
        name,
        visibility: "public",
        createdBy: null,
      });
    }
  }

  /** Registers connected servers, except those that ship with PML. */
  async noteConnected(scope: Scope, servers: readonly ConnectedServer[]): Promise<void> {
    for (const server of servers) {
      const document = describeConnected(scope, server);
      const base = await findByRegistryName(this.#options.db, STANDARD_SCOPE, document.name);
      if (base !== undefined) continue;
      const text = JSON.stringify(document, null, 2);
      await this.#store(scope, { text, name: server.name, visibility: "project", createdBy: null, observed: true });
    }
  }

  /** Returns undefined if the record is not a server. */
  async describe(
    record: Pick<CapabilityRecord, "recordType" | "org" | "id" | "version">,
  ): Promise<ServerFacts | undefined> {
    if (record.recordType !== "mcp-server") return undefined;
    const versions = await listServerVersions(this.#options.db, record);
    const found = versions.find(({ version }) => version === record.version);
    if (found === undefined) return undefined;
    const document = parseServerJson(found.text);
    return {
      version: document.version,
      version_number: found.version,
      registry_name: document.name,
      code_url: this.#codeUrl(found, document),
      server_json: document,
    };
  }

  /** Text of every version by its number; empty if the record is not a server. */
  async listTexts(record: Pick<CapabilityRecord, "recordType" | "org" | "id">): Promise<ReadonlyMap<number, string>> {
    if (record.recordType !== "mcp-server") return new Map();
    const versions = await listServerVersions(this.#options.db, record);
    return new Map(versions.map(({ version, text }) => [version, text]));
  }

  /** Returns the `server.json` behind a reference, byte for byte as registered. */
  async export(asker: Asker, reference: string): Promise<{ readonly text: string; readonly document: ServerJson }> {
    const record = await this.#options.registry.lookup(asker, reference);
    const versions = await listServerVersions(this.#options.db, record);
    const found = versions.find(({ version }) => version === record.version);
    if (found === undefined) {
      throw new PmlError("capability_not_found", `${reference} is no MCP server`, {
        hint: "MCP servers have names like mcp:filesystem.",
      });
    }
    return { text: found.text, document: parseServerJson(found.text) };
  }

  /** Text of one version; undefined if the caller can see none. */
  async readText(asker: Asker, name: string, version: string): Promise<string | undefined> {
    const versions = await listVisibleVersions(this.#options.db, asker, `mcp:${name}`);
    return versions.find((each) => versionOf(each) === version)?.text;
  }

  /** The same version as a module, served under `code_url`. */
  async readModule(asker: Asker, name: string, version: string): Promise<string | undefined> {
    const text = await this.readText(asker, name, version);
    return text === undefined ? undefined : toModule(parseServerJson(text));
  }

  #codeUrl({ displayName }: StoredServer, { version }: ServerJson): string {
    const name = displayName.replace(/^mcp:/, "");
    return `${this.#options.baseUrl()}/registry/mcp/${encodeURIComponent(name)}/${encodeURIComponent(version)}/mod.ts`;
  }

  #store(scope: Scope, wanted: WantedServer): Promise<RegisteredServer> {
    const document = parseServerJson(wanted.text);
    return this.#options.db.transaction().execute(async (tx) => {
      await lockNames(tx, scope);
      const known = await findByRegistryName(tx, scope, document.name);
      const versions = known === undefined ? [] : await listServerVersions(tx, known);
      const name = known?.displayName.replace(/^mcp:/, "") ?? wanted.name ?? shortServerName(document.name);
      const id = known?.id ?? namedId(`${scope.org}/${scope.project}/${document.name}`, ID_SPACE);
      const registered = { id, name: `mcp:${name}`, version: document.version };
      if (!isNew(versions, document, wanted)) return { ...registered, changed: false };
      if (known === undefined && !(await this.#insert(tx, scope, { ...wanted, id, name, document })))
        return { ...registered, changed: false };
      await this.#insertVersion(tx, scope, { ...wanted, id, document, versions });
      await bumpScope(tx, scope);
      return { ...registered, changed: true };
    });
  }

  async #insert(
    tx: Tx,
    scope: Scope,
    {
      id,
      name,
      document,
      visibility,
      createdBy,
      observed,
    }: WantedServer & { id: string; name: string; document: ServerJson },
  ): Promise<boolean> {
    if (
      (await findNameHolder(tx, { scope, principal: OWNER }, { name: `mcp:${name}`, reserveDays: 0 })) !== undefined
    ) {
      if (observed === true) return false;
      throw new PmlError("capability_name_taken", `Capability name 'mcp:${name}' already exists`, {
        hint: "Choose another name with --name.",
      });
    }
    const hash = contentHash(document).slice(0, 4);
    const fqdn = formatFqdn({ ...scope, namespace: "mcp", action: name, hash });
    const { description } = document;
    const routing = document.packages === undefined && document.remotes !== undefined ? "cloud" : "local";
    return insertServer(tx, scope, {
      id,
      name,
      fqdn,
      hash,
      description,
      visibility,
      routing,
      createdBy,
    });
  }

  async #insertVersion(
    tx: Tx,
    scope: Scope,
    { id, document, versions, text, createdBy }: WantedServer & StoredVersions,
  ): Promise<void> {
    const version = (versions.at(-1)?.version ?? 0) + 1;
    const versionTag = toVersionTag(document.version);
    const sourceHash = contentHash(document);
    const registryName = document.name;
    const source = { registryName };
    const signature = this.#options.signing.sign({
      sourceHash,
      text,
      source,
      parameters: undefined,
      toolsUsed: [],
    });
    await insertServerVersion(tx, scope, {
      id,
      version,
      versionTag,
      text,
      registryName,
      sourceHash,
      signature,
      createdBy,
    });
    const highest = versions.every((each) => compareVersions(versionOf(each), document.version) < 0);
    if (highest) await pointAtVersion(tx, scope, { id, version, versionTag });
  }
}

interface WantedServer {
  readonly text: string;
  readonly name?: string;
  readonly visibility: Visibility;
  readonly createdBy: string | null;
  /** Set for connected servers: a conflict then stores nothing and raises no error. */
  readonly observed?: boolean;
}

interface StoredVersions {
  readonly id: string;
  readonly document: ServerJson;
  readonly versions: readonly StoredServer[];
}

function isNew(versions: readonly StoredServer[], document: ServerJson, { text, observed }: WantedServer): boolean {
  const same = versions.find((each) => versionOf(each) === document.version);
  if (same === undefined) return true;
  if (same.text === text || observed === true) return false;
  if (contentHash(parseServerJson(same.text)) === contentHash(document)) return false;
  throw new PmlError(
    "server_version_exists",
    `${document.name} ${document.version} is registered with another content`,
    {
      hint: "Give the changed server.json a new version.",
    },
  );
}

function versionOf({ text }: StoredServer): string {
  return parseServerJson(text).version;
}
