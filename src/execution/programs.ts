import { formatCapabilityId } from "../catalogue/tool-id.ts";
import type { AnalysedProgram, StaticStructure } from "../analysis/structure.ts";
import type { Capability, CapabilitySource, DagStructure, PreparedSource } from "../registry/capability.ts";
import type { CapabilityRegistry } from "../registry/capability-registry.ts";
import { findNominees } from "../registry/behaviour-store.ts";
import { findCapabilityById, findCapabilityBySource, insertCapability } from "../registry/capability-store.ts";
import { inferNamespace } from "../registry/fqdn.ts";
import type { Naming, Resolved } from "../registry/registry.ts";
import type { Asker, Scope } from "../registry/scope.ts";
import { checkVersionTag } from "../registry/specifier.ts";
import { insertDependencies } from "../registry/version-store.ts";
import type { Db } from "../db/client.ts";
import { BoundedMap } from "../base/bounded-map.ts";
import { canonical } from "../base/canonical.ts";
import { PmlError } from "../base/errors.ts";
import { type GraphEdge, insertInferredEdges } from "../learning/edge-store.ts";
import type { JsonSchema } from "../base/json.ts";
import { declaredEdges, structureEdges } from "../learning/observed-edges.ts";
import type { Logger } from "../base/log.ts";
import { type AnalysedPrograms, SyntaxFailure } from "./analysed-programs.ts";
import { describeDag } from "./describe-source.ts";
import { hideArguments, type HiddenProgram } from "./hide-literals.ts";
import type { NewProgram } from "./requests.ts";
import type { Run } from "./run-store.ts";
import type { PresetTool } from "./tool-source.ts";

/** A capability ready to run. */
export interface Runnable {
  readonly capability: Capability;
  readonly structure: StaticStructure;
  /** The exact text that runs; JSON for DAGs and tools. The stored one may differ in formatting and secrets. */
  readonly text: string;
  readonly body:
    | { readonly kind: "code"; readonly program: AnalysedProgram }
    | { readonly kind: "dag"; readonly dag: DagStructure }
    | { readonly kind: "tool"; readonly source: Extract<CapabilitySource, { type: "tool" }> };
  /** JSON Schema of the arguments that the text takes. */
  readonly parameters: JsonSchema;
  /** Parts of the program that are secret. */
  readonly hidden?: HiddenProgram<unknown>;
  /** Reasons why the program is not stored as a capability. */
  readonly warnings: readonly string[];
  /** Further messages for the caller. */
  readonly notices: readonly string[];
}

/** A capability that a program calls by name, as the name was resolved before the program ran. */
export interface NestedUse {
  /** `callerKey` of the capability that calls it; empty for the program itself. */
  readonly caller: string;
  readonly name: string;
  readonly resolved: Resolved;
  readonly runnable: Runnable;
}

/** Everything a program can reach by names in its text, transitively. */
export interface Reach {
  readonly tools: ReadonlySet<string>;
  /** In the order of their first call. */
  readonly nested: readonly NestedUse[];
  /** Names that stand for nothing; their calls fail. */
  readonly missing: readonly string[];
}

/** True if the text is not known to be the capability's own: the run belongs to it only once that is proven. */
export function isProvisional({ body, capability }: Pick<Runnable, "body" | "capability">): boolean {
  return body.kind === "code" && body.program.hash !== capability.sourceHash;
}

export function callerKey({ id, version }: Pick<Capability, "id" | "version">): string {
  return `${id} ${version}`;
}

export interface ProgramsOptions {
  readonly db: Db;
  readonly registry: CapabilityRegistry;
  readonly analysed: AnalysedPrograms;
  readonly naming: () => {
    /** Version of nested capabilities: the one the program first succeeded with, or the latest. */
    readonly nested: "pinned" | "latest";
    /** True if a new program needs a name. */
    readonly required: boolean;
  };
  readonly log: Logger;
}

const MAX_CACHED = 500;

/** Turns code, DAGs, tools and names into runnables, and stores new programs as drafts. */
export class Programs {
  readonly #options: ProgramsOptions;
  readonly #bySource = new BoundedMap<string, Capability>(MAX_CACHED);

  constructor(options: ProgramsOptions) {
    this.#options = options;
    options.registry.onChange(() => this.#bySource.clear());
  }

  /** Clears cached names, states and versions. */
  forget(): void {
    this.#options.registry.forget();
  }

  /** Parameters of a program; empty for a syntax error, which the run reports. */
  async parametersOf(code: string): Promise<JsonSchema> {
    try {
      return (await this.#options.analysed.analyse(code)).parameters;
    } catch (error) {
      if (error instanceof SyntaxFailure) return {};
      throw error;
    }
  }

  async fromCode(asker: Asker, code: string, wanted: NewProgram): Promise<Runnable> {
    const { analysed } = this.#options;
    const program = await analysed.analyse(code);
    const hidden = await analysed.hide(code);
    const { capability, notices } = await this.#ensure(asker, wanted, await analysed.describe(code, hidden));
    const { structure, parameters } = program;
    const body = { kind: "code", program } as const;
    return { capability, structure, text: code, body, parameters, hidden, warnings: warnOf(hidden), notices };
  }

  async fromDag(asker: Asker, dag: DagStructure, wanted: NewProgram): Promise<Runnable> {
    const hidden = hideArguments(dag, this.#options.analysed.secrets);
    const prepared = this.#options.analysed.sign(describeDag(dag, hidden.source));
    const { capability, notices } = await this.#ensure(asker, wanted, prepared);
    const { structure, parameters } = prepared;
    const body = { kind: "dag", dag } as const;
    return { capability, structure, text: toText(dag), body, parameters, hidden, warnings: warnOf(hidden), notices };
  }

  /** A tool with some of its arguments preset. */
  async fromTool(asker: Asker, used: PresetTool, wanted: NewProgram): Promise<Runnable> {
    const { capability, notices } = await this.#ensure(asker, wanted, this.#options.analysed.describeTool(used));
    return { ...(await this.toRunnable(capability)), notices };
  }

  /** Finds the capability by the name, already resolved or not, that an agent or a person gave. */
  async byName(asker: Asker, name: string | Resolved): Promise<Runnable> {
    const resolved = typeof name === "string" ? await this.#options.registry.resolve(asker, name) : name;
    const { capability, warning } = resolved;
    this.logAlias(resolved);
    const notices = warning === undefined ? [] : [warning];
    if (capability.scope.org !== asker.scope.org) return this.#copy(asker, capability);
    return { ...(await this.toRunnable(capability)), notices };
  }

  /** Resolves the name in a program's call, in the version it is pinned to. */
  async nested(asker: Asker, caller: Capability, name: string): Promise<Runnable> {
    const { resolved, runnable } = await this.#findNested(asker, caller, name);
    this.logAlias(resolved);
    return runnable;
  }

  async byId(scope: Scope, version: { readonly id: string; readonly version: number }): Promise<Runnable> {
    const capability = await findCapabilityById(this.#options.db, scope, version);
    if (capability === undefined)
      throw new PmlError("capability_not_found", `Capability not found: ${version.id}`, { hint: "It may be gone." });
    return this.toRunnable(capability);
  }

  /** The program of a stored run, in the exact text it was started with and with the secrets that were sealed. */
  async ofRun({ scope, recordId, version, secrets, options }: Run): Promise<Runnable> {
    const runnable = await this.byId(scope, { id: recordId, version });
    const { source } = runnable.capability;
    const own =
      options.text === undefined ? source : ({ type: "code", code: JSON.parse(options.text) as string } as const);
    const open = secrets.restore(own);
    if (open === source) return runnable;
    const { body, text } = await this.toRunnable({ ...runnable.capability, source: open });
    return { ...runnable, body, text };
  }

  async toRunnable(capability: Capability): Promise<Runnable> {
    const { source, structure, parameters } = capability;
    const common = { capability, parameters, warnings: [], notices: [] };
    switch (source.type) {
      case "code": {
        const program = await this.#options.analysed.analyse(source.code);
        return { ...common, structure: program.structure, text: source.code, body: { kind: "code", program } };
      }
      case "dag": {
        const dag = source.dagStructure;
        return { ...common, structure, text: toText(dag), body: { kind: "dag", dag } };
      }
      case "tool":
      default:
        return { ...common, structure, text: toText(source), body: { kind: "tool", source } };
    }
  }

  /** Resolves every name in the program, and in the capabilities it names. */
  async reach(asker: Asker, runnable: Runnable): Promise<Reach> {
    const tools = new Set<string>();
    const nested: NestedUse[] = [];
    const missing = new Set<string>();
    const seen = new Set<string>();
    const visit = async ({ capability, body }: Runnable, caller: string): Promise<void> => {
      if (seen.has(caller)) return;
      seen.add(caller);
      for (const tool of toolsOf(capability, body)) tools.add(tool);
      if (body.kind !== "code") return;
      for (const name of body.program.capabilities) {
        const use = await this.#findNested(asker, capability, name).catch(() => undefined); // unknown names fail at the call
        if (use === undefined) {
          missing.add(name);
          continue;
        }
        nested.push({ caller, name, ...use });
        await visit(use.runnable, callerKey(use.runnable.capability));
      }
    };
    await visit(runnable, "");
    return { tools, nested, missing: [...missing] };
  }

  async #findNested(
    asker: Asker,
    caller: Capability,
    name: string,
  ): Promise<{ readonly resolved: Resolved; readonly runnable: Runnable }> {
    const { registry, naming } = this.#options;
    const resolved = await registry.resolve(asker, name, { inCode: true });
    const { capability } = resolved;
    if (capability.scope.org !== asker.scope.org) return { resolved, runnable: await this.#copy(asker, capability) };
    const pinned = naming().nested === "pinned" && !name.includes("@") ? caller.pins[capability.id] : undefined;
    if (pinned === undefined || pinned === capability.version) {
      return { resolved, runnable: await this.toRunnable(capability) };
    }
    return { resolved, runnable: await this.byId(asker.scope, { id: capability.id, version: pinned }) };
  }

  logAlias({ alias, capability: { displayName } }: Resolved): void {
    if (alias === undefined) return;
    const message = `Deprecated: Using alias "${alias}" for capability "${displayName}". Update your code.`;
    this.#options.log.warn({ capability: displayName }, message);
  }

  /** Runs another organisation's code as a program of the caller's own, under the caller's rules. */
  #copy(asker: Asker, { source, fqdn }: Capability): Promise<Runnable> {
    switch (source.type) {
      case "code":
        return this.fromCode(asker, source.code, {});
      case "dag":
        return this.fromDag(asker, source.dagStructure, {});
      case "tool":
      default:
        throw new PmlError("capability_foreign", `${fqdn} is a tool of another organisation`, {
          hint: "Only programs can be run from elsewhere.",
        });
    }
  }

  async #ensure(
    asker: Asker,
    { naming, description, tags }: NewProgram,
    source: PreparedSource,
  ): Promise<{ readonly capability: Capability; readonly notices: readonly string[] }> {
    const { scope, principal } = asker;
    const key = `${scope.org}/${scope.project}/${principal}/${source.sourceHash}`;
    const known = this.#bySource.get(key) ?? (await this.#findKnown(asker, source, naming));
    if (known === undefined && naming === undefined && this.#options.naming().required) throw nameMissing();
    const notices = naming === undefined ? [] : await this.#checkNaming(asker, naming, { known, source });
    const capability =
      known ??
      (await this.#create(asker, {
        ...source,
        ...(description === undefined ? {} : { description }),
        ...(tags === undefined ? {} : { tags }),
        ...(naming?.versionTag === undefined ? {} : { versionTag: checkVersionTag(naming.versionTag) }),
      }));
    this.#bySource.set(key, capability);
    return { capability, notices };
  }

  /** The capability with this source or, without a name, one that may do the same in other words; the run tells. */
  async #findKnown(asker: Asker, source: PreparedSource, naming?: Naming): Promise<Capability | undefined> {
    const { db } = this.#options;
    const known = await findCapabilityBySource(db, asker, source.sourceHash);
    const { behaviourKey } = source;
    if (known !== undefined || naming !== undefined || behaviourKey === undefined) return known;
    // Where names are required, a program that might turn out to be new needs one.
    if (this.#options.naming().required) return undefined;
    const [nominee] = await findNominees(db, asker, behaviourKey);
    return nominee;
  }

  #checkNaming(
    asker: Asker,
    naming: Naming,
    { known, source }: { readonly known: Capability | undefined; readonly source: PreparedSource },
  ): Promise<readonly string[]> {
    const defaultNamespace = inferNamespace(source.toolsUsed);
    return this.#options.registry.checkNaming({ asker, naming, current: known, defaultNamespace });
  }

  async #create(asker: Asker, wanted: Parameters<typeof insertCapability>[2]): Promise<Capability> {
    const { db, registry } = this.#options;
    await registry.checkRoom(asker);
    const called = await Promise.all(
      wanted.calls.map((name) => registry.resolve(asker, name, { inCode: true }).catch(() => undefined)),
    );
    const to = called.flatMap((each) => (each === undefined ? [] : [each.capability.id]));
    const ids = new Map(wanted.calls.map((name, index) => [name, called[index]?.capability.id]));
    return await db.transaction().execute(async (tx) => {
      const created = await insertCapability(tx, asker, wanted);
      await insertDependencies(tx, asker.scope, { from: created.id, version: created.version, to });
      await insertInferredEdges(tx, asker.scope, inferredEdges(wanted, ids));
      return created;
    });
  }
}

function inferredEdges(
  { structure, source }: PreparedSource,
  ids: ReadonlyMap<string, string | undefined>,
): GraphEdge[] {
  const connected = structureEdges(structure, (node) => {
    if (node.type === "task") return node.tool;
    const id = node.type === "capability" ? ids.get(node.capability) : undefined;
    return id === undefined ? undefined : formatCapabilityId(id);
  });
  return [...connected, ...(source.type === "dag" ? declaredEdges(source.dagStructure) : [])];
}

/** The tools of the text that runs, and those recorded for it. */
function toolsOf({ toolsUsed }: Capability, body: Runnable["body"]): readonly string[] {
  return body.kind === "code" ? [...toolsUsed, ...body.program.tools] : toolsUsed;
}

/** One text for one source, whatever the order in which the database returns its keys. */
function toText(source: unknown): string {
  return canonical(JSON.parse(JSON.stringify(source)));
}

function nameMissing(): PmlError {
  return new PmlError("capability_name_missing", "A new program needs a name here", {
    hint: "Pass name, as namespace:action, for example fs:read_json. naming.required is set.",
  });
}

function warnOf({ parts, values }: Omit<HiddenProgram<unknown>, "source">): string[] {
  return parts.length + values.length === 0 ? [] : [SECRET_WARNING];
}

const SECRET_WARNING =
  "The program seems to contain a secret. It ran, but is not stored as a capability: pass secrets in args, or give them to the server in its configuration.";
