import type { StructureNode } from "../analysis/structure.ts";
import type { JsonObject } from "../base/json.ts";
import type { Approval } from "../permissions/approval.ts";
import { PREVIEW_LENGTH } from "./finish-store.ts";
import type { JournalEntry } from "./journal.ts";
import type { Runnable } from "./programs.ts";
import type { ExecuteAnswer, PlannedCall, TaskReport } from "./requests.ts";
import type { Ended } from "./run-session.ts";
import type { LogLine, Run, RunError, StoredRun } from "./run-store.ts";
import { buildTrace, type Trace } from "./trace.ts";

/** What is known of a run when it is told about. */
export interface Told {
  readonly run: Run;
  readonly runnable: Runnable;
  readonly started: number;
  /** Whether it was asked for by its name. */
  readonly byName?: boolean;
  readonly trace?: Trace;
  readonly entries?: readonly JournalEntry[];
  readonly logs?: readonly LogLine[];
  readonly warnings?: readonly string[];
}

export type Stop =
  | { readonly kind: "ended"; readonly ended: Exclude<Ended, { kind: "parked" }> }
  | { readonly kind: "over"; readonly run: StoredRun }
  | { readonly kind: "waiting"; readonly approval: Approval }
  | { readonly kind: "layer" }
  | ({ readonly kind: "dry_run" } & DryRunReport);

interface DryRunReport {
  readonly plan: readonly PlannedCall[];
  /** Tools of the program that it did not come to. */
  readonly possible: readonly string[];
  /** How it would end, where everything it asked for was known. */
  readonly outcome: Exclude<Ended, { kind: "parked" }> | undefined;
}

export function toAnswer(told: Told, stop: Stop): ExecuteAnswer {
  const base = describe(told);
  switch (stop.kind) {
    case "ended":
      return { ...base, ...describeEnd(stop.ended) };
    case "over":
      return { ...base, ...describeOver(stop.run) };
    case "layer":
      return { ...base, status: "layer_complete" };
    case "dry_run": {
      const { plan, possible, outcome } = stop;
      const { workflowId: _none, traceId: _neither, ...rest } = base;
      const end = outcome === undefined ? {} : describeEnd(outcome);
      return { ...rest, ...end, status: "dry_run", plan, possible };
    }
    case "waiting":
    default: {
      const { id, tools, reasons, expiresAt } = stop.approval;
      const asked = tools.filter(({ decision }) => decision === "ask").map(({ tool }) => tool);
      const approval = { id, tools: asked, reasons, expiresAt: expiresAt.toISOString() };
      return { ...base, status: "approval_required", approval };
    }
  }
}

/** A plan that was not permitted has no run to go on with. */
export function refusalAnswer(told: Told, error: RunError): ExecuteAnswer {
  const { workflowId: _none, traceId: _neither, ...base } = describe(told);
  return { ...base, status: "error", error };
}

function describe({ run, runnable, started, byName = false, trace, entries, logs = [], warnings = [] }: Told) {
  const { capability, structure } = runnable;
  const done = trace ?? (entries === undefined ? undefined : buildTrace(entries, structure));
  return {
    mode: byName ? ("call_by_name" as const) : MODES[run.kind],
    capabilityId: capability.id,
    capabilityName: capability.displayName,
    capabilityFqdn: capability.fqdn,
    version: capability.version,
    workflowId: run.id,
    traceId: run.id,
    executionTimeMs: Math.round((performance.now() - started) * 100) / 100,
    dag: { nodes: structure.nodes.map(describeNode), path: done?.path ?? [] },
    ...(done === undefined ? {} : { tasks: done.tasks.map(reportTask) }),
    ...(logs.length === 0
      ? {}
      : { logs: logs.map(({ level, text }) => (level === "log" ? text : `[${level}] ${text}`)) }),
    warnings: [...runnable.warnings, ...runnable.notices, ...warnings],
  };
}

const MODES = { code: "direct", dag: "dag", tool: "call_by_name" } as const;

function describeEnd(ended: Exclude<Ended, { kind: "parked" }>) {
  if (ended.kind === "returned") return { status: "success", result: ended.value } as const;
  const error = ended.kind === "failed" ? ended.error : CANCELLED;
  return { status: "error", error } as const;
}

function describeOver({ state, result, error }: StoredRun) {
  if (state === "succeeded") return { status: "success", result: result ?? null } as const;
  return { status: "error", error: error ?? CANCELLED } as const;
}

const CANCELLED: RunError = { code: "cancelled", message: "The run was cancelled" };

function describeNode(node: StructureNode): JsonObject {
  const { id, type } = node;
  return {
    id,
    type,
    ...(node.type === "task" ? { tool: node.tool } : {}),
    ...(node.type === "capability" ? { capability: node.capability } : {}),
    ...(node.type === "decision" ? { condition: node.condition } : {}),
  };
}

function reportTask({ id, tool, status, durationMs, result, error }: Trace["tasks"][number]): TaskReport {
  const text = error?.message ?? (result === undefined ? "" : JSON.stringify(result));
  return { id, tool, status, durationMs, resultPreview: text.slice(0, PREVIEW_LENGTH) };
}
