import type { Catalogue } from "../catalogue/catalogue.ts";
import { formatCapabilityId } from "../catalogue/tool-id.ts";
import { isDeepStrictEqual } from "node:util";
import type { StaticStructure } from "../analysis/structure.ts";
import type { Capability } from "../registry/capability.ts";
import { type CapabilityUsage, listDependencies, readUsage } from "../registry/capability-store.ts";
import { OWNER, type Scope } from "../registry/scope.ts";
import { markVerified } from "../registry/version-store.ts";
import type { Db } from "../db/client.ts";
import { PmlError } from "../base/errors.ts";
import type { JsonSchema, JsonValue } from "../base/json.ts";
import { type EdgeStatistics, readEdges } from "../learning/edge-store.ts";
import { type Learning, readLearning, readOutputSchemas, surpriseOf } from "../learning/learning-store.ts";
import type { InferredSchema } from "../learning/output-schema.ts";
import type { JournalEntry } from "./journal.ts";
import type { Programs } from "./programs.ts";
import { Replay } from "./replay-journal.ts";
import { targetOf } from "./run-calls.ts";
import { type BodyOptions, runBody } from "./run-session.ts";
import { findRun, listRuns, readJournal, type RunFilter, type StoredRun } from "./run-store.ts";
import { buildTrace, type Trace } from "./trace.ts";
import type { CallAnswer, GuestCall, RunHost } from "./worker-bridge.ts";

export interface InspectorOptions extends Pick<BodyOptions, "sandbox" | "limits"> {
  readonly db: Db;
  readonly programs: Programs;
  readonly tools: Catalogue;
}

export interface RunSummary extends StoredRun {
  readonly capabilityName: string;
}

export interface RunDetails extends RunSummary {
  readonly trace: Trace;
  /** From 0 (all runs take its path) to 1 (almost none does). */
  readonly surprise: number;
  /** Runs of the capabilities it called. */
  readonly nested: readonly { readonly capability: string; readonly runId: string }[];
  readonly entries: number;
}

export interface ReplayReport {
  readonly id: string;
  readonly same: boolean;
  readonly result: JsonValue | undefined;
  readonly error: string | undefined;
  readonly path: readonly string[];
  /** Differences from the recorded run, in words. */
  readonly differences: readonly string[];
}

export interface CapabilityDetails extends Capability {
  readonly graph: StaticStructure;
  readonly learning: Learning;
  readonly outputSchema: InferredSchema | undefined;
  readonly usage: CapabilityUsage;
  /** Edges among its tools, over all runs of the scope. */
  readonly edges: readonly EdgeStatistics[];
  /** Names of the capabilities it calls. */
  readonly dependencies: readonly string[];
}

/** Reads runs and capabilities for people, and replays runs. */
export class Inspector {
  readonly #options: InspectorOptions;

  constructor(options: InspectorOptions) {
    this.#options = options;
  }

  parametersOf(code: string): Promise<JsonSchema> {
    return this.#options.programs.parametersOf(code);
  }

  async list(scope: Scope, filter: RunFilter): Promise<RunSummary[]> {
    return Promise.all((await listRuns(this.#options.db, scope, filter)).map((run) => this.#name(run)));
  }

  async show(scope: Scope, id: string): Promise<RunDetails> {
    const run = await this.#find(scope, id);
    const { structure } = await this.#options.programs.byId(scope, { id: run.recordId, version: run.version });
    const entries = await readJournal(this.#options.db, scope, run.id);
    const trace = buildTrace(entries, structure);
    const { paths } = await readLearning(this.#options.db, scope, { id: run.recordId, version: run.version });
    const surprise = surpriseOf(trace.path, paths);
    const nested = entries.flatMap((entry) =>
      entry.kind === "call" && entry.target.kind === "capability"
        ? [{ capability: entry.target.name, runId: entry.target.runId }]
        : [],
    );
    return { ...(await this.#name(run)), trace, surprise, nested, entries: entries.length };
  }

  /**
   * Replays the program against its recorded answers, without calling anything. An equal replay verifies the version.
   */
  async replay(scope: Scope, id: string): Promise<ReplayReport> {
    const { db, programs, sandbox, limits } = this.#options;
    const run = await this.#find(scope, id);
    const runnable = await programs.byId(scope, { id: run.recordId, version: run.version });
    const entries = await readJournal(db, scope, run.id);
    const stop = new AbortController();
    const host = new RecordedHost(entries, this.#options.tools, () => stop.abort());
    const { ended } = await runBody({ run, runnable, sandbox, limits, depth: 0 }, host, stop.signal);
    const path = buildTrace(host.entries, runnable.structure).path;
    const before = buildTrace(entries, runnable.structure).path;
    const result = ended.kind === "returned" ? ended.value : undefined;
    const error = ended.kind === "failed" ? ended.error.message : undefined;
    const differences = [
      ...host.differences,
      ...(isDeepStrictEqual(path, before) ? [] : [`the path was ${before.join(" → ")}, now ${path.join(" → ")}`]),
      ...(isDeepStrictEqual(result, run.result) ? [] : ["the result differs"]),
      ...(error === run.error?.message
        ? []
        : [`the error was ${run.error?.message ?? "none"}, now ${error ?? "none"}`]),
    ];
    const same = differences.length === 0;
    if (same && run.state === "succeeded")
      await markVerified(db, scope, { id: run.recordId, version: run.version, runId: run.id });
    return { id: run.id, same, result, error, path, differences };
  }

  async capability(scope: Scope, name: string): Promise<CapabilityDetails> {
    const { db, programs } = this.#options;
    const { capability, structure } = await programs.byName({ scope, principal: OWNER }, name);
    const subject = formatCapabilityId(capability.id);
    const schemas = await readOutputSchemas(db, scope, [subject]);
    return {
      ...capability,
      graph: structure,
      learning: await readLearning(db, scope, capability),
      outputSchema: schemas.get(subject),
      usage: await readUsage(db, scope, capability.id),
      edges: await readEdges(db, scope, [subject, ...capability.toolsUsed]),
      dependencies: await listDependencies(db, scope, capability.id),
    };
  }

  async #find(scope: Scope, id: string): Promise<StoredRun> {
    const run = UUID.test(id) ? await findRun(this.#options.db, scope, id) : undefined;
    if (run !== undefined) return run;
    throw new PmlError("run_not_found", `No run has the id ${id}`, { hint: "`pml runs` lists them." });
  }

  async #name(run: StoredRun): Promise<RunSummary> {
    const { capability } = await this.#options.programs.byId(run.scope, { id: run.recordId, version: run.version });
    return { ...run, capabilityName: capability.displayName };
  }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Answers every call from the journal of a run. */
class RecordedHost implements RunHost {
  readonly entries: JournalEntry[] = [];
  readonly differences: string[] = [];
  readonly #replay: Replay;
  readonly #tools: Catalogue;
  readonly #stop: () => void;

  constructor(entries: readonly JournalEntry[], tools: Catalogue, stop: () => void) {
    this.#replay = new Replay(entries);
    this.#tools = tools;
    this.#stop = stop;
  }

  async call(call: GuestCall): Promise<CallAnswer> {
    const { node, loop, args } = call;
    const target = targetOf(call, this.#tools, () => "");
    const known = this.#replay.find({ node, loop, target, args });
    const seq = this.entries.push({ kind: "call", seq: this.entries.length, node, loop, target, args, at: 0 }) - 1;
    if (known.kind === "answered") {
      await this.#replay.turnOf(known.answer);
      this.entries.push({ ...known.answer, seq: this.entries.length, call: seq });
      return { ...known.answer.outcome, clock: known.answer.clock };
    }
    this.differences.push(`at ${node ?? "a dynamic call"} it makes a call that the journal does not have`);
    this.#stop();
    return new Promise(() => undefined);
  }

  decided({ node, loop }: { node: string | undefined; loop: string }, outcome: string): void {
    if (node !== undefined) this.entries.push({ kind: "decision", seq: this.entries.length, node, loop, outcome });
  }

  logged(): void {
    // the stored run has the output
  }
}
