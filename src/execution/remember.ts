import { formatCapabilityId } from "../catalogue/tool-id.ts";
import type { StructureNode } from "../analysis/structure.ts";
import type { Db } from "../db/client.ts";
import type { GraphEdge } from "../learning/edge-store.ts";
import type { JsonValue } from "../base/json.ts";
import type { Logger } from "../base/log.ts";
import { readOutputSchemas, widenOutputSchema } from "../learning/learning-store.ts";
import { declaredEdges, observedEdges } from "../learning/observed-edges.ts";
import { inferSchema, mergeSchemas, type InferredSchema } from "../learning/output-schema.ts";
import { isDeepStrictEqual } from "node:util";
import type { FinishedRun } from "./finish-store.ts";
import type { CallEntry, Journal, JournalEntry } from "./journal.ts";
import type { PermissionSet } from "../permissions/effect.ts";
import { writePermissionSet } from "../permissions/permission-set-store.ts";
import { BoundedMap } from "../base/bounded-map.ts";
import { isProvisional, type Runnable } from "./programs.ts";
import type { SettledRun } from "./generaliser.ts";
import type { RunKeeper } from "./run-keeper.ts";
import type { SessionEnd } from "./run-session.ts";
import type { LogLine, Run } from "./run-store.ts";
import { buildTrace, type Trace } from "./trace.ts";

export interface MemoryOptions {
  readonly db: Db;
  readonly keeper: RunKeeper;
  readonly resultSeconds: number;
  /** Larger values are replaced by a preview; the full ones expire with the results. */
  readonly maxValueBytes: number;
  readonly log: Logger;
}

export interface EndedRun {
  readonly run: Run;
  readonly runnable: Runnable;
  readonly journal: Journal;
  readonly ended: Exclude<SessionEnd, { kind: "parked" }>;
  readonly logs: readonly LogLine[];
  readonly durationMs: number;
  readonly nested: CalledCapabilities;
  /** Undefined for a run that never started, and for a nested run, which is covered by its parent's plan. */
  readonly permissions?: PermissionSet;
  /** The capability that the run belongs to, if that is not the program as it was written. */
  readonly settled?: SettledRun | undefined;
}

export interface CalledCapability {
  readonly id: string;
  readonly version: number;
}

/** Capabilities that a run called, by the name it used. */
export type CalledCapabilities = ReadonlyMap<string, CalledCapability>;

const MAX_PERMISSION_SETS = 500;

/** Stores finished runs and learns from them. */
export class RunMemory {
  readonly #options: MemoryOptions;
  readonly #schemas = new Map<string, InferredSchema>();
  readonly #permissions = new BoundedMap<string, string>(MAX_PERMISSION_SETS);

  constructor(options: MemoryOptions) {
    this.#options = options;
  }

  async remember(ended: EndedRun): Promise<Trace> {
    const { runnable, journal } = ended;
    await journal.close();
    const trace = buildTrace(journal.entries, runnable.structure);
    const belonging = settle(ended);
    const hidden = hideRun(belonging, { ...trace, ...ended.settled?.trace });
    await this.#options.keeper.finish(this.#describe(belonging, hidden));
    await this.#learn(belonging, hidden);
    return trace;
  }

  /** Logs its errors: the run is over and stored, and its result stands whatever can be learned from it. */
  async #learn(ended: EndedRun, hidden: HiddenRun): Promise<void> {
    try {
      await this.#learnSchemas(ended.run, hidden);
      // A person allowed this to the text that ran, not to the capability it joined.
      const isJoined = isProvisional(ended.runnable) && ended.runnable.capability.state !== "draft";
      if (!isJoined) await this.#keepPermissions(ended);
    } catch (error) {
      this.#options.log.error({ run: ended.run.id, error: String(error) }, "nothing could be learned from a run");
    }
  }

  /** Writes the set only if it changed, since most runs repeat the same plan. */
  async #keepPermissions({ run, permissions }: EndedRun): Promise<void> {
    if (permissions === undefined) return;
    const key = `${run.scope.org}/${run.recordId}/${run.version}`;
    const text = JSON.stringify(permissions);
    if (this.#permissions.get(key) === text) return;
    await writePermissionSet(
      this.#options.db,
      { org: run.scope.org, id: run.recordId, version: run.version },
      permissions,
    );
    this.#permissions.set(key, text);
  }

  #describe({ runnable, durationMs, nested, settled }: EndedRun, hidden: HiddenRun): FinishedRun {
    const { run, entries, ended, logs, trace } = hidden;
    const isSettled = settled !== undefined;
    return {
      run,
      state: ended.kind === "returned" ? "succeeded" : ended.kind === "failed" ? "failed" : "cancelled",
      result: ended.kind === "returned" ? this.#shorten(ended.value) : undefined,
      error: ended.kind === "failed" ? ended.error : undefined,
      logs,
      trace,
      durationMs,
      entries: entries.map((entry) => this.#shortenEntry(entry)),
      edges: learnedEdges(runnable, trace, nested),
      calledCapabilities: [...new Map([...nested.values()].map((each) => [each.id, each])).values()].filter(
        ({ id }) => id !== run.recordId,
      ),
      isNew: runnable.capability.state === "draft",
      activate: runnable.warnings.length === 0,
      resultSeconds: this.#options.resultSeconds,
      hasOwnText: hasOwnText(runnable),
      // A run in other words counts once it is proven to be a run of the capability.
      counts: ended.kind !== "cancelled" && (isSettled || !isProvisional(runnable)),
    };
  }

  #shortenEntry(entry: JournalEntry): JournalEntry {
    if (entry.kind === "call") return withArguments(entry, this.#shorten(entry.args));
    if (entry.kind !== "answer" || !entry.outcome.ok) return entry;
    const value = this.#shorten(entry.outcome.value);
    return value === entry.outcome.value ? entry : { ...entry, outcome: { ok: true, value } };
  }

  #shorten(value: JsonValue): JsonValue {
    if (typeof value !== "object" && typeof value !== "string") return value;
    const text = JSON.stringify(value);
    if (text.length <= this.#options.maxValueBytes) return value;
    return { $oversized: text.length, preview: text.slice(0, 240) };
  }

  /** Writes only schemas that a value widens; after a few runs none does. */
  async #learnSchemas(run: Run, { trace, returned }: HiddenRun): Promise<void> {
    const seen = trace.tasks.flatMap(({ tool, kind, result }) =>
      kind === "tool" && result !== undefined ? [[tool, inferSchema(result)] as const] : [],
    );
    if (returned !== undefined) seen.push([formatCapabilityId(run.recordId), inferSchema(returned)]);
    const key = (subject: string): string => `${run.scope.org}/${run.scope.project}/${subject}`;
    const unknown = [...new Set(seen.map(([subject]) => subject))].filter((each) => !this.#schemas.has(key(each)));
    for (const [subject, schema] of await readOutputSchemas(this.#options.db, run.scope, unknown))
      this.#schemas.set(key(subject), schema);
    for (const [subject, schema] of seen) {
      const known = this.#schemas.get(key(subject));
      if (known !== undefined && isDeepStrictEqual(mergeSchemas(known, schema), known)) continue;
      const widened = await widenOutputSchema(this.#options.db, run.scope, { subject, seen: schema });
      this.#schemas.set(key(subject), widened);
    }
  }
}

/** The run as a run of the capability that it belongs to. */
function settle(ended: EndedRun): EndedRun {
  const { run, runnable, settled } = ended;
  if (settled === undefined) return ended;
  const { capability, structure, args } = settled;
  const { id: recordId, version, sourceHash } = capability;
  return {
    ...ended,
    run: { ...run, args, recordId, version, sourceHash },
    runnable: { ...runnable, capability, structure, warnings: [] },
  };
}

function hasOwnText({ text, capability: { source } }: Runnable): boolean {
  return source.type === "code" && source.code !== text;
}

function withArguments(entry: CallEntry, args: JsonValue): CallEntry {
  return args === entry.args ? entry : { ...entry, args };
}

/** Everything that is kept of a run, with placeholders for its secrets. */
interface HiddenRun extends Pick<EndedRun, "run" | "ended" | "logs"> {
  readonly entries: readonly JournalEntry[];
  readonly trace: Trace;
  /** The result of the capability that the run belongs to: callers never see what only this run made of it. */
  readonly returned: JsonValue | undefined;
}

function hideRun({ run, journal, ended, logs, settled }: EndedRun, trace: Trace): HiddenRun {
  const hide = <T>(value: T): T => run.secrets.hide(value);
  // The journal comes first, because hiding it shows which values are secret.
  const entries = hide(journal.entries);
  return {
    entries,
    run: { ...run, args: hide(run.args), options: hide(run.options) },
    ended: hide(ended),
    logs: hide(logs),
    trace: hide(trace),
    returned: ended.kind === "returned" ? hide(settled === undefined ? ended.value : settled.value) : undefined,
  };
}

function learnedEdges(
  { capability, structure, body }: Runnable,
  trace: Trace,
  nested: CalledCapabilities,
): GraphEdge[] {
  const subjectOf = (node: StructureNode): string | undefined => {
    if (node.type === "task") return node.tool;
    const id = node.type === "capability" ? nested.get(node.capability)?.id : undefined;
    return id === undefined ? undefined : formatCapabilityId(id);
  };
  const own = formatCapabilityId(capability.id);
  const used = new Set([
    ...trace.tasks.flatMap(({ tool, kind }) => (kind === "tool" ? [tool] : [])),
    ...[...nested.values()].map(({ id }) => formatCapabilityId(id)),
  ]);
  used.delete(own);
  const contains = [...used].map((to): GraphEdge => ({ from: own, to, type: "contains" }));
  const declared = body.kind === "dag" ? declaredEdges(body.dag, new Set(trace.path)) : [];
  return [...observedEdges(structure, trace.path, subjectOf), ...declared, ...contains];
}
