-- What a run needs so that another process can go on with it, and how it ended.
ALTER TABLE execution_run
  ADD COLUMN kind text NOT NULL DEFAULT 'code' CHECK (kind IN ('code', 'dag', 'tool')),
  -- The process that works on it; whoever finds the lease run out may take it over.
  ADD COLUMN owner text,
  ADD COLUMN lease_until timestamptz,
  ADD COLUMN seed bigint NOT NULL DEFAULT 0,
  ADD COLUMN started_ms bigint NOT NULL DEFAULT 0,
  -- The call of the parent run that this run answers.
  ADD COLUMN parent_call text COLLATE "C",
  ADD COLUMN client text,
  ADD COLUMN principal text,
  ADD COLUMN options jsonb,
  ADD COLUMN approval_id text,
  ADD COLUMN approved_tools text[],
  ADD COLUMN result jsonb,
  ADD COLUMN error jsonb,
  ADD COLUMN logs jsonb;
CREATE INDEX execution_run_children ON execution_run (org, parent_run_id) WHERE parent_run_id IS NOT NULL;
CREATE INDEX execution_run_record ON execution_run (org, record_id, created_at);
CREATE INDEX execution_run_time ON execution_run (org, project, created_at);

-- The same program in the same scope is the same capability, whoever comes first.
CREATE TABLE capability_source (
  org text COLLATE "C" NOT NULL,
  project text COLLATE "C" NOT NULL,
  source_hash text COLLATE "C" NOT NULL,
  record_id uuid NOT NULL,
  version integer NOT NULL,
  PRIMARY KEY (org, project, source_hash),
  FOREIGN KEY (org, record_id) REFERENCES capability_records (org, id)
);

CREATE TABLE capability_dependency (
  org text COLLATE "C" NOT NULL,
  from_record_id uuid NOT NULL,
  to_record_id uuid NOT NULL,
  edge_type text NOT NULL DEFAULT 'contains' CHECK (edge_type IN ('dependency', 'contains')),
  observed_count bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org, from_record_id, to_record_id),
  FOREIGN KEY (org, from_record_id) REFERENCES capability_records (org, id),
  FOREIGN KEY (org, to_record_id) REFERENCES capability_records (org, id)
);

-- What was learned from runs. Counters only ever grow by additions, so that replicas need no lock.
CREATE TABLE capability_path (
  org text COLLATE "C" NOT NULL,
  record_id uuid NOT NULL,
  version integer NOT NULL,
  path_key text COLLATE "C" NOT NULL,
  path text[] NOT NULL,
  count bigint NOT NULL DEFAULT 0,
  success_count bigint NOT NULL DEFAULT 0,
  total_ms double precision NOT NULL DEFAULT 0,
  last_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org, record_id, version, path_key),
  FOREIGN KEY (org, record_id) REFERENCES capability_records (org, id)
) WITH (fillfactor = 70);

CREATE TABLE capability_decision (
  org text COLLATE "C" NOT NULL,
  record_id uuid NOT NULL,
  version integer NOT NULL,
  node_id text COLLATE "C" NOT NULL,
  outcome text COLLATE "C" NOT NULL,
  count bigint NOT NULL DEFAULT 0,
  success_count bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (org, record_id, version, node_id, outcome),
  FOREIGN KEY (org, record_id) REFERENCES capability_records (org, id)
) WITH (fillfactor = 70);

-- The shape of what a tool ('server:tool') or capability ('cap:' and its id) has given back so far.
CREATE TABLE output_schema (
  org text COLLATE "C" NOT NULL,
  project text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  schema jsonb NOT NULL,
  changed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org, project, subject)
);

CREATE TABLE tool_edge (
  org text COLLATE "C" NOT NULL,
  project text COLLATE "C" NOT NULL,
  from_id text COLLATE "C" NOT NULL,
  to_id text COLLATE "C" NOT NULL,
  edge_type text COLLATE "C" NOT NULL CHECK (edge_type IN ('dependency', 'contains', 'sequence', 'provides')),
  source text NOT NULL CHECK (source IN ('template', 'inferred', 'observed')),
  observed_count bigint NOT NULL DEFAULT 0,
  last_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org, project, from_id, to_id, edge_type)
) WITH (fillfactor = 70);

-- Answers of capabilities that may be remembered.
CREATE TABLE capability_memo (
  org text COLLATE "C" NOT NULL,
  record_id uuid NOT NULL,
  version integer NOT NULL,
  args_hash text COLLATE "C" NOT NULL,
  result jsonb,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz,
  PRIMARY KEY (org, record_id, version, args_hash),
  FOREIGN KEY (org, record_id) REFERENCES capability_records (org, id)
);
