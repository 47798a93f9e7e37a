import type {
  DiscoveryIntentTable,
  DiscoveryTallyTable,
  RecallDecisionTable,
  EmbeddingCacheTable,
} from "./discovery-tables.ts";
import type { ColumnType, GeneratedAlways } from "kysely";
import type { CreatedAt, Defaulted, Json, Nullable, RequiredJson, Time } from "./columns.ts";
import type { CapabilitySuggestionTable } from "./curation-tables.ts";
import type { ExecutionRunTable, ExecutionTraceTable, RunJournalTable, TaskResultTable } from "./execution-tables.ts";
import type {
  CapabilityDecisionTable,
  CapabilityDependencyTable,
  CapabilityFeedbackTable,
  CapabilityMemoTable,
  CapabilityPathTable,
  CapabilitySourceTable,
  OutputSchemaTable,
  ToolEdgeTable,
} from "./learning-tables.ts";
import type { ApprovalTable, PermissionRuleTable, PermissionSetTable } from "./permission-tables.ts";

interface ScopeVersionTable {
  org: string;
  project: string;
  version: Defaulted<number>;
  changed_at: Defaulted<Date>;
}

interface PrincipalTable {
  org: string;
  id: string;
  kind: "person" | "agent" | "service";
  name: string;
  created_at: CreatedAt;
  disabled_at: Time;
}

interface CapabilityRecordTable {
  org: string;
  id: string;
  project: string;
  record_type: Defaulted<"capability" | "mcp-server">;
  fqdn: string;
  display_name: string;
  namespace: string;
  action: string;
  hash: string;
  state: Defaulted<"draft" | "active" | "archived" | "deleted">;
  state_before: Nullable<"draft" | "active">;
  version: Defaulted<number>;
  version_tag: Nullable<string>;
  visibility: Defaulted<"private" | "project" | "org" | "public">;
  description: Nullable<string>;
  tags: Defaulted<string[]>;
  routing: Nullable<"local" | "cloud">;
  routing_explicit: Defaulted<boolean>;
  ttl_seconds: Nullable<number>;
  cache_policy: Nullable<string>;
  verified: Defaulted<boolean>;
  parent_id: Nullable<string>;
  forked_from: Nullable<string>;
  forked_from_fqdn: Nullable<string>;
  group_id: Nullable<string>;
  created_by: Nullable<string>;
  created_at: CreatedAt;
  updated_by: Nullable<string>;
  updated_at: Defaulted<Date>;
  archived_at: Time;
  deleted_at: Time;
}

interface CapabilityVersionTable {
  org: string;
  record_id: string;
  version: number;
  version_tag: Nullable<string>;
  source_kind: "code" | "dag" | "tool" | "server";
  code_snippet: Nullable<string>;
  source: Json;
  source_hash: string;
  behaviour_key: Nullable<string>;
  structure: Json;
  parameters_schema: Json;
  tools_used: Defaulted<string[]>;
  change_summary: Nullable<string>;
  signature: Nullable<string>;
  created_by: Nullable<string>;
  created_at: CreatedAt;
}

interface CapabilityStatTable {
  org: string;
  record_id: string;
  usage_count: Defaulted<number>;
  success_count: Defaulted<number>;
  total_latency_ms: Defaulted<number>;
  last_used_at: Time;
}

interface CapabilityAliasTable {
  org: string;
  project: string;
  alias: string;
  kind: "name" | "fqdn";
  record_id: string;
  created_by: Nullable<string>;
  created_at: CreatedAt;
}

interface RenameHistoryTable {
  org: string;
  id: string;
  record_id: string;
  old_name: string;
  new_name: string;
  old_fqdn: string;
  new_fqdn: string;
  renamed_by: Nullable<string>;
  renamed_via: "auto" | "user" | "agent";
  renamed_at: CreatedAt;
}

interface ToolSchemaTable {
  org: string;
  project: string;
  tool_id: string;
  server_id: string;
  name: string;
  title: Nullable<string>;
  description: Nullable<string>;
  input_schema: RequiredJson;
  output_schema: Json;
  annotations: Json;
  definition: RequiredJson;
  content_hash: string;
  first_seen_at: CreatedAt;
  changed_at: Defaulted<Date>;
  removed_at: Time;
}

interface ToolSchemaChangeTable {
  org: string;
  id: string;
  project: string;
  tool_id: string;
  old_hash: string;
  new_hash: string;
  old_definition: RequiredJson;
  new_definition: RequiredJson;
  seen_at: CreatedAt;
  reviewed_at: Time;
  reviewed_by: Nullable<string>;
  verdict: Nullable<"accepted" | "refused">;
}

interface UpstreamCatalogueTable {
  org: string;
  project: string;
  server_id: string;
  config_hash: string;
  offer: RequiredJson;
  fetched_at: Defaulted<Date>;
  era: Nullable<"legacy" | "modern">;
  discovery: Json;
  era_asked_at: Time;
}

interface UpstreamCredentialTable {
  org: string;
  project: string;
  server_id: string;
  server_url: string;
  issuer: string;
  sealed: string;
  saved_at: Defaulted<Date>;
  renewing_until: Time;
}

interface ToolUsageTable {
  org: string;
  id: string;
  project: string;
  server_id: string;
  tool_name: string;
  principal_id: Nullable<string>;
  client: Nullable<string>;
  run_id: Nullable<string>;
  outcome: "success" | "error" | "refused" | "timeout" | "cancelled";
  error_code: Nullable<string>;
  duration_ms: number;
  request_bytes: Defaulted<number>;
  response_bytes: Defaulted<number>;
  called_at: CreatedAt;
}

interface AuditLogTable {
  org: string;
  id: string;
  project: string;
  at: CreatedAt;
  principal_id: Nullable<string>;
  action: string;
  subject: string;
  outcome: string;
  details: ColumnType<unknown, string | undefined, never>;
}

/** The migration runner's own table; PML only reads the schema version from it. */
interface MigrationTable {
  name: GeneratedAlways<string>;
  timestamp: GeneratedAlways<string>;
}

/** Every table by its name in the database. A test compares this with the migrated schema. */
export interface Tables {
  approvals: ApprovalTable;
  audit_log: AuditLogTable;
  capability_aliases: CapabilityAliasTable;
  capability_decision: CapabilityDecisionTable;
  capability_dependency: CapabilityDependencyTable;
  capability_memo: CapabilityMemoTable;
  capability_feedback: CapabilityFeedbackTable;
  capability_path: CapabilityPathTable;
  capability_permission_set: PermissionSetTable;
  capability_records: CapabilityRecordTable;
  capability_rename_history: RenameHistoryTable;
  capability_source: CapabilitySourceTable;
  capability_stat: CapabilityStatTable;
  capability_suggestion: CapabilitySuggestionTable;
  capability_versions: CapabilityVersionTable;
  discovery_intent: DiscoveryIntentTable;
  discovery_tally: DiscoveryTallyTable;
  recall_decision: RecallDecisionTable;
  embedding_cache: EmbeddingCacheTable;
  execution_run: ExecutionRunTable;
  execution_trace: ExecutionTraceTable;
  output_schema: OutputSchemaTable;
  permission_rules: PermissionRuleTable;
  pml_migration: MigrationTable;
  principals: PrincipalTable;
  run_journal: RunJournalTable;
  scope_version: ScopeVersionTable;
  task_results: TaskResultTable;
  tool_edge: ToolEdgeTable;
  tool_schema: ToolSchemaTable;
  tool_schema_change: ToolSchemaChangeTable;
  tool_usage: ToolUsageTable;
  upstream_catalogue: UpstreamCatalogueTable;
  upstream_credential: UpstreamCredentialTable;
}
