import type { DagStructure } from "../registry/capability.ts";
import type { Naming, Resolved } from "../registry/registry.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import type { RunError, RunOptions } from "./run-store.ts";

/** What is asked for, after its form was checked. */
export type ExecuteRequest = {
  readonly intent: string;
  readonly options: RunOptions & { readonly dryRun?: boolean };
} & (
  | ({ readonly kind: "code"; readonly code: string; readonly args: JsonObject } & NewProgram)
  | ({ readonly kind: "dag"; readonly dag: DagStructure; readonly args: JsonObject } & NewProgram)
  /** By name, or as its name was resolved already. */
  | { readonly kind: "capability"; readonly capability: string | Resolved; readonly args: JsonObject }
  /** One tool as a capability, which is always given `defaults`. */
  | ({
      readonly kind: "tool";
      readonly tool: string;
      readonly defaults: JsonObject;
      readonly args: JsonObject;
    } & NewProgram)
);

/** What is known of a program that may be new. */
export interface NewProgram {
  /** What it shall be called once it has succeeded. */
  readonly naming?: Naming;
  readonly description?: string;
  readonly tags?: readonly string[];
}

export interface TaskReport {
  readonly id: string;
  readonly tool: string;
  readonly status: "success" | "error" | "unfinished";
  readonly durationMs: number;
  readonly resultPreview: string;
}

interface ApprovalNotice {
  readonly id: string;
  readonly tools: readonly string[];
  readonly reasons: readonly string[];
  readonly expiresAt: string;
}

/** What a call that a dry run came to would be. */
export interface PlannedCall {
  readonly nodeId: string | undefined;
  readonly tool: string;
  readonly args: JsonValue;
  readonly decision: "allow" | "ask" | "deny" | "unknown";
  /** Whether an earlier run had an answer to it. */
  readonly recorded: boolean;
}

interface Identified {
  readonly mode: "direct" | "call_by_name" | "dag";
  readonly capabilityId?: string;
  readonly capabilityName?: string;
  readonly capabilityFqdn?: string;
  readonly version?: number;
  readonly workflowId?: string;
  readonly traceId?: string;
  readonly executionTimeMs: number;
  readonly dag?: { readonly nodes: readonly JsonObject[]; readonly path: readonly string[] };
  readonly tasks?: readonly TaskReport[];
  readonly logs?: readonly string[];
  readonly warnings: readonly string[];
}

export type ExecuteAnswer = Identified &
  (
    | { readonly status: "success"; readonly result: JsonValue }
    | { readonly status: "error"; readonly error: RunError }
    | { readonly status: "approval_required"; readonly approval: ApprovalNotice }
    | { readonly status: "layer_complete" }
    | {
        readonly status: "dry_run";
        readonly plan: readonly PlannedCall[];
        readonly possible: readonly string[];
        readonly result?: JsonValue;
        readonly error?: RunError;
      }
  );
