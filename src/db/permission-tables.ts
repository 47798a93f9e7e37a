import type { ColumnType } from "kysely";
import type { CreatedAt, Defaulted, Nullable, RequiredJson, Time } from "./columns.ts";

export interface ApprovalTable {
  org: string;
  id: string;
  project: string;
  short_id: string;
  run_id: string;
  principal: string;
  client: Nullable<string>;
  capability: Nullable<string>;
  intent: string;
  tools: RequiredJson;
  reasons: RequiredJson;
  /** JSON of the binding, as people see it. */
  binding: Defaulted<string>;
  binding_hash: string;
  state: Defaulted<"pending" | "approved" | "refused" | "expired" | "superseded">;
  created_at: CreatedAt;
  expires_at: ColumnType<Date, Date | string, Date | string>;
  decided_at: Time;
  decided_by: Nullable<string>;
  decided_via: Nullable<"cli" | "dashboard" | "elicitation">;
  reason: Nullable<string>;
  used_at: Time;
}

export interface PermissionRuleTable {
  org: string;
  id: string;
  project: string;
  short_id: string;
  principal: string;
  binding_hash: string;
  tool_id: string;
  schema_hash: string;
  capability: Nullable<string>;
  approval_id: string;
  created_at: Defaulted<Date>;
  created_by: string;
  created_via: "cli" | "dashboard" | "elicitation";
  expires_at: Time;
}

export interface PermissionSetTable {
  org: string;
  record_id: string;
  version: number;
  permissions: RequiredJson;
  changed_at: Defaulted<Date>;
}
