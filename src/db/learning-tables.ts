import type { CreatedAt, Defaulted, Json, Nullable, RequiredJson, Time } from "./columns.ts";

export interface CapabilitySourceTable {
  org: string;
  project: string;
  source_hash: string;
  record_id: string;
  version: number;
}

export interface CapabilityDependencyTable {
  org: string;
  from_record_id: string;
  from_version: Defaulted<number>;
  to_record_id: string;
  to_version: Nullable<number>;
  edge_type: Defaulted<"dependency" | "contains">;
  observed_count: Defaulted<number>;
  created_at: CreatedAt;
}

export interface CapabilityPathTable {
  org: string;
  record_id: string;
  version: number;
  path_key: string;
  path: string[];
  count: Defaulted<number>;
  success_count: Defaulted<number>;
  total_ms: Defaulted<number>;
  last_at: Defaulted<Date>;
}

export interface CapabilityDecisionTable {
  org: string;
  record_id: string;
  version: number;
  node_id: string;
  outcome: string;
  count: Defaulted<number>;
  success_count: Defaulted<number>;
}

export interface CapabilityMemoTable {
  org: string;
  record_id: string;
  version: number;
  args_hash: string;
  result: Json;
  created_at: CreatedAt;
  expires_at: Time;
}

export interface OutputSchemaTable {
  org: string;
  project: string;
  subject: string;
  schema: RequiredJson;
  changed_at: Defaulted<Date>;
}

export interface ToolEdgeTable {
  org: string;
  project: string;
  from_id: string;
  to_id: string;
  edge_type: "dependency" | "contains" | "sequence" | "provides";
  source: "template" | "inferred" | "observed";
  observed_count: Defaulted<number>;
  last_at: Defaulted<Date>;
}

export interface CapabilityFeedbackTable {
  org: string;
  record_id: string;
  principal: string;
  success: boolean;
  given_at: CreatedAt;
}
