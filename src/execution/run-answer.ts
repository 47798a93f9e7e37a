import type { PlannedCall, RunAnswer, RunError, TaskReport } from "../contract/execute.ts";
import type { StructureNode } from "../analysis/structure.ts";
import type { JsonObject, JsonSchema } from "../base/json.ts";
import type { Approval } from "../permissions/approval.ts";
import { PREVIEW_LENGTH } from "./finish-store.ts";
import type { JournalEntry } from "./journal.ts";
import type { Runnable } from "./programs.ts";
import type { SessionEnd } from "./run-session.ts";
import type { LogLine, Run, StoredRun } from "./run-store.ts";
import { buildTrace, type Trace } from "./trace.ts";

/** Everything known about a run at the time of its answer. */
export interface RunReport {
  readonly run: Run;
  readonly runnable: Runnable;
  readonly started: number;
  /** True if the run was requested by capability name. */
  readonly byName?: boolean;
  readonly trace?: Trace;
  readonly entries?: readonly JournalEntry[];
  readonly logs?: readonly LogLine[];
  readonly warnings?: readonly string[];
  /** Parameters of the capability that the run belongs to, where the program has other ones. */
  readonly learned?: JsonSchema;
}

/** A call that would not have to ask. */
export interface ReadyCall {
  readonly capability: string;
  readonly args: JsonObject;
}

export type ReportedOutcome =
  | { readonly kind: "ended"; readonly ended: Exclude<SessionEnd, { kind: "parked" }> }
  | { readonly kind: "over"; readonly run: StoredRun }
  | { readonly kind: "waiting"; readonly approval: Approval; readonly ready?: ReadyCall | undefined }
  | { readonly kind: "layer" }
  | ({ readonly kind: "dry_run" } & DryRunReport);

interface DryRunReport {
  readonly plan: readonly PlannedCall[];
  /** Tools of the program that the dry run did not reach. */
  readonly possible: readonly string[];
  /** How the run would end, if all answers were known. */
  readonly outcome: Exclude<SessionEnd, { kind: "parked" }> | undefined;
}

export function toAnswer(report: RunReport, outcome: ReportedOutcome): RunAnswer {
  const base = describe(report);
  switch (outcome.kind) {
    case "ended":
      return { ...base, ...describeEnd(outcome.ended) };
    case "over":
      return { ...base, ...describeOver(outcome.run) };
    case "layer":
      return { ...base, status: "layer_complete" };
    case "dry_run": {
      const { plan, possible, outcome: foreseen } = outcome;
      const { workflowId: _none, traceId: _neither, ...rest } = base;
      const end = foreseen === undefined ? {} : describeEnd(foreseen);
      return { ...rest, ...end, status: "dry_run", plan, possible };
    }
    case "waiting":
    default: {
      const { id, tools, expiresAt } = outcome.approval;
      const asked = tools.filter(({ decision }) => decision === "ask").map(({ tool }) => tool);
      const approval = { id, tools: asked, expiresAt: expiresAt.toISOString() };
      const { ready } = outcome;
      return { ...base, status: "approval_required", approval, ...(ready === undefined ? {} : { ready }) };
    }
  }
}

/** Answer for a denied plan, which has no run to continue. */
export function refusalAnswer(report: RunReport, error: RunError): RunAnswer {
  const { workflowId: _none, traceId: _neither, ...base } = describe(report);
  return { ...base, status: "error", error };
}

function describe(report: RunReport) {
  const { run, runnable, started, byName = false, trace, entries, logs = [], warnings = [], learned } = report;
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
    ...(learned === undefined ? {} : { parameters: listParameters(learned) }),
    ...(done === undefined ? {} : { tasks: done.tasks.map(reportTask) }),
    ...(logs.length === 0
      ? {}
      : { logs: logs.map(({ level, text }) => (level === "log" ? text : `[${level}] ${text}`)) }),
    warnings: [...runnable.warnings, ...runnable.notices, ...warnings],
  };
}

/** Names and types of parameters, the required ones first. */
function listParameters(schema: JsonSchema): NonNullable<RunAnswer["parameters"]> {
  const properties = (schema["properties"] ?? {}) as Readonly<Record<string, JsonSchema>>;
  const required = new Set((schema["required"] ?? []) as readonly string[]);
  return Object.entries(properties)
    .map(([name, { type }]) => ({
      name,
      ...(typeof type === "string" ? { type } : {}),
      required: required.has(name),
    }))
    .toSorted((a, b) => Number(b.required) - Number(a.required));
}

const MODES = { code: "direct", dag: "dag", tool: "call_by_name" } as const;

function describeEnd(ended: Exclude<SessionEnd, { kind: "parked" }>) {
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
