import type { ColumnType } from "kysely";
import type { CreatedAt, Defaulted, Json, Nullable, RequiredJson, Time } from "./columns.ts";

export interface ExecutionRunTable {
  org: string;
  id: string;
  project: string;
  parent_run_id: Nullable<string>;
  record_id: Nullable<string>;
  version: Nullable<number>;
  principal_id: Nullable<string>;
  intent: Nullable<string>;
  source_hash: Nullable<string>;
  input: Json;
  state: "running" | "parked" | "succeeded" | "failed" | "cancelled";
  created_at: CreatedAt;
  finished_at: Time;
  kind: Defaulted<"code" | "dag" | "tool">;
  owner: Nullable<string>;
  lease_until: Time;
  seed: Defaulted<number>;
  started_ms: Defaulted<number>;
  parent_call: Nullable<string>;
  client: Nullable<string>;
  principal: Nullable<string>;
  options: Json;
  approval_id: Nullable<string>;
  approved_tools: Nullable<string[]>;
  result: Json;
  error: Json;
  logs: Json;
  /** Set for runs that came with a file. */
  imported_at: Time;
}

export interface RunJournalTable {
  org: string;
  run_id: string;
  seq: number;
  kind: string;
  node_id: Nullable<string>;
  loop_index: Nullable<string>;
  tool_id: Nullable<string>;
  payload: Json;
  written_at: CreatedAt;
}

export interface ExecutionTraceTable {
  org: string;
  run_id: string;
  project: string;
  record_id: Nullable<string>;
  version: Nullable<number>;
  parent_run_id: Nullable<string>;
  success: boolean;
  error: Json;
  executed_path: RequiredJson;
  decisions: RequiredJson;
  task_summaries: RequiredJson;
  duration_ms: number;
  created_at: CreatedAt;
}

export interface TaskResultTable {
  org: string;
  project: Defaulted<string>;
  run_id: string;
  task_id: string;
  principal_id: Nullable<string>;
  tool_id: Nullable<string>;
  content_type: Defaulted<"text/plain" | "application/json">;
  status: string;
  preview: string;
  result: Nullable<Buffer>;
  result_bytes: number;
  created_at: CreatedAt;
  expires_at: ColumnType<Date, Date | string, Date | string>;
}
