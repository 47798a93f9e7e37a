-- What runs asked of people, and what people said. A decided row never changes its decision.
CREATE TABLE approvals (
  org text COLLATE "C" NOT NULL,
  id uuid NOT NULL,
  project text COLLATE "C" NOT NULL,
  -- For people: apr_ and ten letters and digits.
  short_id text COLLATE "C" NOT NULL,
  -- The run may be gone before the decision is forgotten, so it is a fact, not a foreign key.
  run_id uuid NOT NULL,
  principal text COLLATE "C" NOT NULL,
  client text,
  capability text,
  intent text NOT NULL,
  code text NOT NULL,
  code_hash text COLLATE "C" NOT NULL,
  input jsonb,
  tools jsonb NOT NULL,
  reasons jsonb NOT NULL,
  -- Over everything the approval is good for.
  binding_hash text COLLATE "C" NOT NULL,
  state text NOT NULL DEFAULT 'pending'
    CHECK (state IN ('pending', 'approved', 'refused', 'expired', 'superseded')),
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  decided_at timestamptz,
  decided_by text,
  decided_via text CHECK (decided_via IN ('cli', 'dashboard', 'elicitation')),
  reason text,
  used_at timestamptz,
  PRIMARY KEY (org, id),
  UNIQUE (org, short_id),
  CHECK (state NOT IN ('approved', 'refused')
    OR (decided_at IS NOT NULL AND decided_by IS NOT NULL AND decided_via IS NOT NULL))
);
-- The same question is asked once at a time.
CREATE UNIQUE INDEX approvals_open ON approvals (org, project, binding_hash) WHERE state = 'pending';
CREATE INDEX approvals_binding ON approvals (org, project, binding_hash, created_at);
CREATE INDEX approvals_run ON approvals (org, run_id);
CREATE INDEX approvals_newest ON approvals (org, project, created_at);
CREATE INDEX approvals_expiry ON approvals (expires_at) WHERE state IN ('pending', 'approved') AND used_at IS NULL;

-- What a person allowed once and for all: one tool as it was then, in one program, for one principal.
CREATE TABLE permission_rules (
  org text COLLATE "C" NOT NULL,
  id uuid NOT NULL,
  project text COLLATE "C" NOT NULL,
  short_id text COLLATE "C" NOT NULL,
  principal text COLLATE "C" NOT NULL,
  code_hash text COLLATE "C" NOT NULL,
  tool_id text COLLATE "C" NOT NULL,
  schema_hash text COLLATE "C" NOT NULL,
  capability text,
  approval_id text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  created_by text NOT NULL,
  created_via text NOT NULL CHECK (created_via IN ('cli', 'dashboard', 'elicitation')),
  expires_at timestamptz,
  PRIMARY KEY (org, id),
  UNIQUE (org, short_id),
  UNIQUE (org, project, principal, code_hash, tool_id, schema_hash)
);
