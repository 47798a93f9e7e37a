-- Names that PML proposed, and what became of them. A capability has one open proposal at a time.
CREATE TABLE capability_suggestion (
  org text COLLATE "C" NOT NULL,
  id uuid NOT NULL,
  project text COLLATE "C" NOT NULL,
  record_id uuid NOT NULL,
  suggested_name text COLLATE "C" NOT NULL,
  confidence double precision NOT NULL CHECK (confidence BETWEEN 0 AND 1),
  reasoning text NOT NULL,
  -- Who thought of it.
  source text NOT NULL CHECK (source IN ('heuristic', 'model', 'sampling')),
  fate text NOT NULL DEFAULT 'pending' CHECK (fate IN ('pending', 'accepted', 'edited', 'rejected', 'superseded')),
  -- What it is called instead, or as well.
  final_name text COLLATE "C",
  decided_via text CHECK (decided_via IN ('auto', 'user', 'agent')),
  created_at timestamptz NOT NULL DEFAULT now(),
  decided_at timestamptz,
  PRIMARY KEY (org, id),
  FOREIGN KEY (org, record_id) REFERENCES capability_records (org, id) ON DELETE CASCADE,
  CHECK (fate IN ('pending', 'superseded') OR decided_at IS NOT NULL)
);
CREATE UNIQUE INDEX capability_suggestion_open ON capability_suggestion (org, record_id) WHERE fate = 'pending';
CREATE INDEX capability_suggestion_record ON capability_suggestion (org, record_id, fate);
CREATE INDEX capability_suggestion_scope ON capability_suggestion (org, project, fate);
