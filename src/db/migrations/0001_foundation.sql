-- Rules of this schema: the organisation comes first in every key, ids are UUIDv7 made by the
-- application, times are timestamptz, counters live in narrow tables, GIN indexes have no pending
-- list. Rows of other engines than plain PostgreSQL must be able to live by them, so there are no
-- serials, deferrable constraints or exclusion constraints.

-- What changed in a scope. The row is the truth; a notification only makes readers look earlier.
CREATE TABLE scope_version (
  org text COLLATE "C" NOT NULL,
  project text COLLATE "C" NOT NULL,
  version bigint NOT NULL DEFAULT 1,
  changed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org, project)
);

CREATE TABLE principals (
  org text COLLATE "C" NOT NULL,
  id uuid NOT NULL,
  kind text NOT NULL CHECK (kind IN ('person', 'agent', 'service')),
  name text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  disabled_at timestamptz,
  PRIMARY KEY (org, id),
  UNIQUE (org, name)
);

CREATE TABLE capability_records (
  org text COLLATE "C" NOT NULL,
  id uuid NOT NULL,
  project text COLLATE "C" NOT NULL,
  record_type text NOT NULL DEFAULT 'capability' CHECK (record_type IN ('capability', 'mcp-server')),
  fqdn text COLLATE "C" NOT NULL,
  display_name text COLLATE "C" NOT NULL,
  namespace text COLLATE "C" NOT NULL,
  action text COLLATE "C" NOT NULL,
  hash text COLLATE "C" NOT NULL,
  state text NOT NULL DEFAULT 'draft' CHECK (state IN ('draft', 'active', 'archived', 'deleted')),
  version integer NOT NULL DEFAULT 1 CHECK (version > 0),
  version_tag text,
  visibility text NOT NULL DEFAULT 'private' CHECK (visibility IN ('private', 'project', 'org', 'public')),
  description text,
  tags text[] NOT NULL DEFAULT '{}',
  routing text CHECK (routing IN ('local', 'cloud')),
  ttl_seconds integer CHECK (ttl_seconds > 0),
  cache_policy text,
  verified boolean NOT NULL DEFAULT false,
  -- Provenance may cross organisations and outlive its source, so it is a fact, not a foreign key.
  parent_id uuid,
  forked_from uuid,
  created_by uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_by uuid,
  updated_at timestamptz NOT NULL DEFAULT now(),
  archived_at timestamptz,
  deleted_at timestamptz,
  PRIMARY KEY (org, id),
  UNIQUE (org, fqdn)
);
CREATE UNIQUE INDEX capability_records_live_name ON capability_records (org, project, display_name)
  WHERE deleted_at IS NULL;
CREATE INDEX capability_records_namespace ON capability_records (org, project, namespace, action);
CREATE INDEX capability_records_created_by ON capability_records (org, created_by);
CREATE INDEX capability_records_public ON capability_records (visibility, fqdn) WHERE visibility = 'public';
CREATE INDEX capability_records_tags ON capability_records USING gin (tags) WITH (fastupdate = off);

CREATE TABLE capability_versions (
  org text COLLATE "C" NOT NULL,
  record_id uuid NOT NULL,
  version integer NOT NULL CHECK (version > 0),
  version_tag text COLLATE "C",
  source_kind text NOT NULL CHECK (source_kind IN ('code', 'dag', 'tool', 'server')),
  code_snippet text,
  source jsonb,
  source_hash text COLLATE "C" NOT NULL,
  structure jsonb,
  parameters_schema jsonb,
  tools_used text[] NOT NULL DEFAULT '{}',
  change_summary text,
  signature text,
  created_by uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org, record_id, version),
  FOREIGN KEY (org, record_id) REFERENCES capability_records (org, id)
);
CREATE UNIQUE INDEX capability_versions_tag ON capability_versions (org, record_id, version_tag)
  WHERE version_tag IS NOT NULL;
CREATE INDEX capability_versions_source ON capability_versions (org, source_hash);
CREATE INDEX capability_versions_tools ON capability_versions USING gin (tools_used) WITH (fastupdate = off);

CREATE TABLE capability_stat (
  org text COLLATE "C" NOT NULL,
  record_id uuid NOT NULL,
  usage_count bigint NOT NULL DEFAULT 0,
  success_count bigint NOT NULL DEFAULT 0,
  total_latency_ms bigint NOT NULL DEFAULT 0,
  last_used_at timestamptz,
  PRIMARY KEY (org, record_id),
  FOREIGN KEY (org, record_id) REFERENCES capability_records (org, id)
) WITH (fillfactor = 70);

-- An alias points at the record, never at another alias: renaming twice leaves no chain.
CREATE TABLE capability_aliases (
  org text COLLATE "C" NOT NULL,
  project text COLLATE "C" NOT NULL,
  alias text COLLATE "C" NOT NULL,
  kind text NOT NULL CHECK (kind IN ('name', 'fqdn')),
  record_id uuid NOT NULL,
  created_by uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org, project, alias),
  FOREIGN KEY (org, record_id) REFERENCES capability_records (org, id)
);
CREATE INDEX capability_aliases_record ON capability_aliases (org, record_id);

CREATE TABLE capability_rename_history (
  org text COLLATE "C" NOT NULL,
  id uuid NOT NULL,
  record_id uuid NOT NULL,
  old_name text NOT NULL,
  new_name text NOT NULL,
  old_fqdn text NOT NULL,
  new_fqdn text NOT NULL,
  renamed_by uuid,
  renamed_via text NOT NULL CHECK (renamed_via IN ('auto', 'user', 'agent')),
  renamed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org, id),
  FOREIGN KEY (org, record_id) REFERENCES capability_records (org, id)
);
CREATE INDEX capability_rename_history_record ON capability_rename_history (org, record_id, renamed_at);

-- A tool of a connected server; its id everywhere is 'server:tool'.
CREATE TABLE tool_schema (
  org text COLLATE "C" NOT NULL,
  project text COLLATE "C" NOT NULL,
  tool_id text COLLATE "C" NOT NULL,
  server_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  title text,
  description text,
  input_schema jsonb NOT NULL,
  output_schema jsonb,
  annotations jsonb,
  definition jsonb NOT NULL,
  content_hash text NOT NULL,
  first_seen_at timestamptz NOT NULL DEFAULT now(),
  changed_at timestamptz NOT NULL DEFAULT now(),
  removed_at timestamptz,
  PRIMARY KEY (org, project, tool_id)
);
CREATE INDEX tool_schema_server ON tool_schema (org, project, server_id);

CREATE TABLE tool_usage (
  org text COLLATE "C" NOT NULL,
  id uuid NOT NULL,
  project text COLLATE "C" NOT NULL,
  server_id text COLLATE "C" NOT NULL,
  tool_name text COLLATE "C" NOT NULL,
  principal_id uuid,
  client text,
  run_id uuid,
  outcome text NOT NULL CHECK (outcome IN ('success', 'error', 'refused', 'timeout', 'cancelled')),
  error_code text,
  duration_ms double precision NOT NULL,
  request_bytes bigint NOT NULL DEFAULT 0,
  response_bytes bigint NOT NULL DEFAULT 0,
  called_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org, id)
);
CREATE INDEX tool_usage_tool ON tool_usage (org, project, server_id, tool_name, called_at);

CREATE TABLE execution_run (
  org text COLLATE "C" NOT NULL,
  id uuid NOT NULL,
  project text COLLATE "C" NOT NULL,
  parent_run_id uuid,
  record_id uuid,
  version integer,
  principal_id uuid,
  intent text,
  source_hash text,
  input jsonb,
  state text NOT NULL CHECK (state IN ('running', 'parked', 'succeeded', 'failed', 'cancelled')),
  created_at timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz,
  PRIMARY KEY (org, id)
);
CREATE INDEX execution_run_unfinished ON execution_run (org, project, created_at)
  WHERE state IN ('running', 'parked');

-- Everything a run did, in order: what it meant to call, what came back, how it decided.
CREATE TABLE run_journal (
  org text COLLATE "C" NOT NULL,
  run_id uuid NOT NULL,
  seq integer NOT NULL CHECK (seq >= 0),
  kind text NOT NULL,
  node_id text,
  loop_index text,
  tool_id text,
  payload jsonb,
  written_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org, run_id, seq),
  FOREIGN KEY (org, run_id) REFERENCES execution_run (org, id) ON DELETE CASCADE
);

CREATE TABLE execution_trace (
  org text COLLATE "C" NOT NULL,
  run_id uuid NOT NULL,
  project text COLLATE "C" NOT NULL,
  record_id uuid,
  version integer,
  parent_run_id uuid,
  success boolean NOT NULL,
  error jsonb,
  executed_path jsonb NOT NULL,
  decisions jsonb NOT NULL,
  task_summaries jsonb NOT NULL,
  duration_ms double precision NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org, run_id),
  FOREIGN KEY (org, run_id) REFERENCES execution_run (org, id) ON DELETE CASCADE
);
CREATE INDEX execution_trace_record ON execution_trace (org, record_id, created_at);

CREATE TABLE task_results (
  org text COLLATE "C" NOT NULL,
  run_id uuid NOT NULL,
  task_id text COLLATE "C" NOT NULL,
  tool_id text,
  status text NOT NULL,
  preview text NOT NULL,
  result bytea,
  result_bytes bigint NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (org, run_id, task_id),
  FOREIGN KEY (org, run_id) REFERENCES execution_run (org, id) ON DELETE CASCADE
);
CREATE INDEX task_results_expiry ON task_results (expires_at);

CREATE TABLE audit_log (
  org text COLLATE "C" NOT NULL,
  id uuid NOT NULL,
  project text COLLATE "C" NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  principal_id uuid,
  action text NOT NULL,
  subject text NOT NULL,
  outcome text NOT NULL,
  details jsonb NOT NULL DEFAULT '{}',
  PRIMARY KEY (org, id)
);
CREATE INDEX audit_log_time ON audit_log (org, project, at);

-- The database itself keeps history unchanged, whoever asks and through whatever program.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE TRIGGER capability_versions_append_only BEFORE UPDATE OR DELETE ON capability_versions
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER capability_versions_no_truncate BEFORE TRUNCATE ON capability_versions
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE ON audit_log
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_log_no_truncate BEFORE TRUNCATE ON audit_log
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
