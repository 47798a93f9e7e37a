import { createHash } from "node:crypto";
import { analyseProgram } from "../analysis/analyse-program.ts";
import type { AnalysedProgram, StaticStructure, SyntaxProblem } from "../analysis/structure.ts";
import type { Capability, CapabilitySource, DagStructure } from "../capabilities/capability.ts";
import {
  findCapabilityById,
  findCapabilityByName,
  findCapabilityBySource,
  insertCapability,
  insertDependencies,
  listCapabilityNames,
  type NewCapability,
} from "../capabilities/capability-store.ts";
import { parseName, unnamed } from "../capabilities/fqdn.ts";
import type { Scope } from "../capabilities/scope.ts";
import { findClosest } from "../config/closest.ts";
import type { Db } from "../db/client.ts";
import { PmlError } from "../errors.ts";
import { type GraphEdge, insertInferredEdges } from "../graph/edge-store.ts";
import type { JsonObject, JsonSchema, JsonValue } from "../json.ts";
import { structureEdges } from "../learning/observed-edges.ts";
import { dagParameters, dagToStructure, layersOf } from "./dag-executor.ts";
import type { ToolDirectory } from "./ports.ts";
import { looksSecret, redactText } from "./redact.ts";
import type { NewName } from "./requests.ts";
import { describeToolSource } from "./tool-source.ts";

/** A capability together with what is needed to run it. */
export interface Runnable {
  readonly capability: Capability;
  readonly structure: StaticStructure;
  readonly body:
    | { readonly kind: "code"; readonly program: AnalysedProgram }
    | { readonly kind: "dag"; readonly dag: DagStructure }
    | { readonly kind: "tool"; readonly source: Extract<CapabilitySource, { type: "tool" }> };
  /** What its text cannot be kept for as it is. */
  readonly warnings: readonly string[];
}

/** A tool to be used as a capability, and what it is always given. */
export interface ToolUse {
  readonly tool: string;
  readonly defaults: JsonObject;
}

const MOST_PROGRAMS_KEPT = 500;

/** Programs and the capabilities they are. */
export class Programs {
  readonly #db: Db;
  readonly #tools: ToolDirectory;
  /** By text and state of the tools: what is analysed once is not analysed again. */
  readonly #analysed = new Map<string, AnalysedProgram>();
  readonly #bySource = new Map<string, Capability>();
  readonly #byName = new Map<string, Capability>();

  constructor(db: Db, tools: ToolDirectory) {
    this.#db = db;
    this.#tools = tools;
  }

  /** Names, states and versions may have changed: they are read again. */
  forget(): void {
    this.#bySource.clear();
    this.#byName.clear();
  }

  async fromCode(scope: Scope, code: string, naming: NewName): Promise<Runnable> {
    const program = this.#analyse(code);
    const hasSecret = looksSecret(code);
    const capability = await this.#ensure(scope, naming, {
      source: { type: "code", code: redactText(code) },
      sourceHash: program.hash,
      parameters: program.parameters,
      structure: program.structure as unknown as JsonValue,
      toolsUsed: program.tools,
      calls: program.capabilities,
    });
    const warnings = hasSecret ? [SECRET_WARNING] : [];
    return { capability, structure: program.structure, body: { kind: "code", program }, warnings };
  }

  async fromDag(scope: Scope, dag: DagStructure, naming: NewName): Promise<Runnable> {
    layersOf(dag);
    const structure = dagToStructure(dag);
    const capability = await this.#ensure(scope, naming, {
      source: { type: "dag", dagStructure: dag },
      sourceHash: createHash("sha256")
        .update(`dag ${JSON.stringify(dag)}`)
        .digest("hex"),
      parameters: dagParameters(dag),
      structure: structure as unknown as JsonValue,
      toolsUsed: [...new Set(dag.tasks.map(({ tool }) => tool))].toSorted(),
      calls: [],
    });
    return { capability, structure, body: { kind: "dag", dag }, warnings: [] };
  }

  /** One tool, with some of its arguments given. */
  async fromTool(scope: Scope, wanted: ToolUse, naming: NewName): Promise<Runnable> {
    const tool = this.#tools.findById(wanted.tool);
    if (tool === undefined) throw toolNotFound(wanted.tool, this.#tools);
    const described = describeToolSource(tool, wanted.defaults);
    return this.toRunnable(await this.#ensure(scope, naming, { ...described, calls: [] }));
  }

  /** By the name an agent or a program uses. */
  async byName(scope: Scope, name: string): Promise<Runnable> {
    return this.toRunnable(await this.#resolve(scope, name));
  }

  async byId(scope: Scope, version: { readonly id: string; readonly version: number }): Promise<Runnable> {
    const capability = await findCapabilityById(this.#db, scope, version);
    if (capability === undefined) throw notFound(version.id);
    return this.toRunnable(capability);
  }

  toRunnable(capability: Capability): Runnable {
    const { source } = capability;
    const structure = capability.structure as unknown as StaticStructure;
    switch (source.type) {
      case "code": {
        const program = this.#analyse(source.code);
        return { capability, structure: program.structure, body: { kind: "code", program }, warnings: [] };
      }
      case "dag":
        return { capability, structure, body: { kind: "dag", dag: source.dagStructure }, warnings: [] };
      case "tool":
      default:
        return { capability, structure, body: { kind: "tool", source }, warnings: [] };
    }
  }

  /** All tools it can reach, through the capabilities it calls too. */
  async reachableTools(scope: Scope, runnable: Runnable): Promise<ReadonlySet<string>> {
    const tools = new Set<string>();
    const seen = new Set<string>();
    const visit = async (each: Runnable): Promise<void> => {
      if (seen.has(each.capability.id)) return;
      seen.add(each.capability.id);
      for (const tool of each.capability.toolsUsed) tools.add(tool);
      if (each.body.kind !== "code") return;
      for (const name of each.body.program.capabilities) {
        const nested = await this.byName(scope, name).catch(() => undefined); // the call itself will say so
        if (nested !== undefined) await visit(nested);
      }
    };
    await visit(runnable);
    return tools;
  }

  #analyse(code: string): AnalysedProgram {
    const key = `${this.#tools.version} ${code}`;
    const known = this.#analysed.get(key);
    if (known !== undefined) return known;
    const outcome = analyseProgram(code, this.#tools);
    if (outcome.kind === "syntax_error") throw new SyntaxFailure(outcome.problem);
    keep(this.#analysed, key, outcome.program);
    return outcome.program;
  }

  async #ensure(scope: Scope, naming: NewName, wanted: Wanted): Promise<Capability> {
    const key = `${scope.org}/${scope.project}/${wanted.sourceHash}`;
    const known = this.#bySource.get(key) ?? (await findCapabilityBySource(this.#db, scope, wanted.sourceHash));
    const capability = known ?? (await this.#create(scope, naming, wanted));
    keep(this.#bySource, key, capability);
    return capability;
  }

  async #create(scope: Scope, { name, description, tags }: NewName, wanted: Wanted): Promise<Capability> {
    const { calls, ...version } = wanted;
    const named = name === undefined ? unnamed(wanted.sourceHash, wanted.toolsUsed) : parseName(name, wanted.toolsUsed);
    if (named === undefined) throw invalidName(name ?? "");
    if (name !== undefined && (await findCapabilityByName(this.#db, scope, name)) !== undefined)
      throw nameTaken(name, scope);
    const nested = await Promise.all(calls.map((each) => this.#resolve(scope, each).catch(() => undefined)));
    return await this.#db.transaction().execute(async (tx) => {
      const created = await insertCapability(tx, scope, {
        ...version,
        naming: named,
        ...(description === undefined ? {} : { description }),
        ...(tags === undefined ? {} : { tags }),
      });
      const to = nested.flatMap((each) => (each === undefined || each.id === created.id ? [] : [each.id]));
      await insertDependencies(tx, scope, { from: created.id, to });
      const ids = new Map(calls.map((each, index) => [each, nested[index]?.id]));
      await insertInferredEdges(tx, scope, inferredEdges(wanted.structure as unknown as StaticStructure, ids));
      return created;
    });
  }

  /** `cap:fs:read_json`, `fs:read_json`, and in code `fs.read_json` or an action that only one has. */
  async #resolve(scope: Scope, spelled: string): Promise<Capability> {
    const name = spelled.replace(/^cap:/, "");
    const key = `${scope.org}/${scope.project}/${name}`;
    const known = this.#byName.get(key);
    if (known !== undefined) return known;
    const found =
      (await findCapabilityByName(this.#db, scope, name)) ??
      (await findCapabilityByName(this.#db, scope, name.replaceAll("_", "-")));
    if (found === undefined) {
      const closest = findClosest(name, await listCapabilityNames(this.#db, scope));
      throw notFound(spelled, closest);
    }
    keep(this.#byName, key, found);
    return found;
  }
}

function inferredEdges(structure: StaticStructure, ids: ReadonlyMap<string, string | undefined>): GraphEdge[] {
  return structureEdges(structure, (node) => {
    if (node.type === "task") return node.tool;
    const id = node.type === "capability" ? ids.get(node.capability) : undefined;
    return id === undefined ? undefined : `cap:${id}`;
  });
}

type Wanted = Omit<NewCapability, "naming"> & { readonly calls: readonly string[]; readonly parameters: JsonSchema };

/** A program that cannot be read. */
export class SyntaxFailure extends Error {
  readonly problem: SyntaxProblem;

  constructor(problem: SyntaxProblem) {
    super(problem.message);
    this.problem = problem;
  }
}

const SECRET_WARNING =
  "The program contains what looks like a secret. It ran, but is not kept as a capability: pass secrets in args, or give them to the server in its configuration.";

/** A map that forgets what it was given first. */
function keep<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > MOST_PROGRAMS_KEPT && oldest !== undefined) map.delete(oldest);
}

function notFound(name: string, closest?: string): PmlError {
  return new PmlError("capability_not_found", `Capability not found: ${name}`, {
    hint: closest === undefined ? "pml_discover finds capabilities by intent." : `Did you mean ${closest}?`,
  });
}

function toolNotFound(id: string, { all }: ToolDirectory): PmlError {
  const closest = findClosest(
    id,
    all.map((tool) => tool.id),
  );
  return new PmlError("tool_not_found", `There is no tool "${id}"`, {
    hint: closest === undefined ? "pml_discover finds tools by intent." : `Did you mean ${closest}?`,
  });
}

function nameTaken(name: string, { org, project }: Scope): PmlError {
  return new PmlError("capability_name_taken", `Capability name '${name}' already exists in scope ${org}.${project}`, {
    hint: "Choose another name.",
  });
}

function invalidName(name: string): PmlError {
  return new PmlError(
    "capability_name_invalid",
    `Invalid capability name: "${name}". Must be alphanumeric with underscores, hyphens, and colons only.`,
    { hint: "Write it as namespace:action, for example fs:read_json, with at most 50 characters." },
  );
}
