/** A JSON Schema. */
type Schema = Readonly<Record<string, unknown>>;
export type Visibility = "private" | "project" | "org" | "public";

/** What a name stands for. */
export interface LookupAnswer {
  readonly type: "capability" | "mcp-server";
  readonly id: string;
  readonly fqdn: string;
  readonly display_name: string;
  readonly description: string;
  /** A number; of an MCP server the version it gives itself. */
  readonly version: number | string;
  readonly version_tag: string | null;
  readonly visibility: Visibility;
  readonly state: "draft" | "active" | "archived" | "deleted";
  readonly health: string;
  /** Where it runs: local as soon as one of its tools is. */
  readonly routing: "local" | "cloud";
  readonly tags: readonly string[];
  readonly usage_count: number;
  readonly success_rate: number;
  readonly avg_latency_ms: number;
  readonly parameters_schema?: Schema;
  readonly tools_used?: readonly string[];
  /** Only of MCP servers: where its implementation can be fetched, and its `server.json`. */
  readonly code_url?: string;
  readonly registry_name?: string;
  readonly server_json?: Readonly<Record<string, unknown>>;
  readonly warnings?: readonly string[];
}

/** Everything about a record. */
export interface WhoisAnswer extends LookupAnswer {
  readonly org: string;
  readonly project: string;
  readonly namespace: string;
  readonly action: string;
  readonly hash: string;
  readonly created_by: string;
  readonly created_at: string;
  readonly updated_by: string;
  readonly updated_at: string;
  readonly archived_at: string | null;
  readonly parent_id: string | null;
  readonly forked_from: string | null;
  readonly aliases: readonly string[];
  readonly verified: boolean;
  readonly signature: string | null;
  readonly success_count: number;
  readonly total_latency_ms: number;
  readonly last_used_at: string | null;
  readonly code_snippet: string | null;
  /** The tools that this version was last allowed to call; left out by older gateways. */
  readonly permission_set?: readonly {
    readonly tool: string;
    readonly effect: string;
    readonly allowed_by: "rule" | "person";
  }[];
}

/** All conditions must hold; `*` in texts stands for anything. */
export interface QueryRequest {
  readonly created_by?: string;
  readonly tags?: readonly string[];
  readonly visibility?: Visibility;
  readonly version_tag?: string;
  readonly namespace?: string;
  readonly pattern?: string;
  readonly text?: string;
  readonly routing?: "local" | "cloud";
  readonly health?: string;
  readonly record_type?: "capability" | "mcp-server";
  readonly archived?: boolean;
  readonly sort_by?: "name" | "usage" | "created";
  readonly limit?: number;
  readonly cursor?: string;
}

export interface QueryAnswer {
  readonly records: readonly LookupAnswer[];
  readonly total: number;
  /** For the next page; null: that was all. */
  readonly next_cursor: string | null;
}

/** How a version differs from the one before it. */
export interface VersionChanges {
  /** Unified. */
  readonly code: string;
  readonly structure: {
    readonly nodes: AddedAndRemoved;
    readonly changed: readonly string[];
    readonly edges: AddedAndRemoved;
  };
  readonly tools: AddedAndRemoved;
  readonly parameters: readonly {
    readonly path: string;
    readonly kind: string;
    readonly breaking: boolean;
    readonly explanation: string;
  }[];
  /** Whether calls that were right before may fail or mean something else. */
  readonly breaking: boolean;
}

interface AddedAndRemoved {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

export interface VersionAnswer {
  readonly version: number;
  readonly version_tag: string | null;
  readonly change_summary: string | null;
  readonly updated_by: string;
  readonly updated_at: string;
  readonly source_hash: string;
  readonly signature: string | null;
  readonly tools_used: readonly string[];
  readonly parameters_schema: Schema;
  readonly code_snippet: string | null;
  /** null: there is none before it. */
  readonly diff: VersionChanges | null;
}

/** Newest first. */
export interface HistoryAnswer {
  readonly name: string;
  readonly versions: readonly VersionAnswer[];
}

export interface ExecuteRequest {
  readonly intent: string;
  readonly code?: string;
  readonly capability?: string;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly name?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly visibility?: Visibility;
  readonly on_conflict?: "error" | "version" | "suffix";
  readonly version_tag?: string;
  readonly options?: Readonly<Record<string, unknown>>;
  readonly [more: string]: unknown;
}

export interface ExecuteAnswer {
  readonly status: "success" | "error" | "approval_required" | "suggestions" | "layer_complete" | "dry_run";
  readonly result?: unknown;
  readonly error?: { readonly code: string; readonly message: string; readonly line?: number; readonly hint?: string };
  readonly capabilityId?: string;
  readonly capabilityName?: string;
  readonly capabilityFqdn?: string;
  readonly version?: number;
  readonly workflowId?: string;
  readonly approval?: {
    readonly id: string;
    readonly url: string;
    readonly cli: string;
    readonly tools: readonly string[];
  };
  readonly warnings: readonly string[];
}

export interface DiscoverRequest {
  readonly filter?: {
    readonly type?: "tool" | "capability" | "skill" | "all";
    readonly minScore?: number;
    readonly server?: string;
    readonly namespace?: string;
  };
  readonly limit?: number;
  readonly offset?: number;
}

export interface DiscoverAnswer {
  readonly results: readonly {
    readonly type: "tool" | "capability" | "skill";
    readonly id: string;
    readonly name: string;
    readonly callName: string;
    readonly description: string;
    readonly score: number;
    readonly inputSchema?: Schema;
  }[];
  readonly meta: Readonly<Record<string, unknown>>;
}
