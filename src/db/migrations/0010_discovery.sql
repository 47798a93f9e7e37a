-- What discovery learns from use, and what it would be slow to compute again.

-- Vectors by what was embedded and by what embedded it. A cache: it can be dropped at any time.
CREATE TABLE embedding_cache (
  org text COLLATE "C" NOT NULL,
  provider text COLLATE "C" NOT NULL,
  text_hash text COLLATE "C" NOT NULL,
  dimensions integer NOT NULL CHECK (dimensions > 0),
  vector bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org, provider, text_hash)
);

-- How a tool ('server:tool') or capability ('cap:' and its id) fared: in all under the empty tag, and by context tag.
CREATE TABLE discovery_tally (
  org text COLLATE "C" NOT NULL,
  project text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  tag text COLLATE "C" NOT NULL,
  uses bigint NOT NULL DEFAULT 0,
  successes bigint NOT NULL DEFAULT 0,
  changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (org, project, subject, tag)
) WITH (fillfactor = 70);
CREATE INDEX discovery_tally_changed ON discovery_tally (org, project, changed_at);

-- What it was used for when that went well.
CREATE TABLE discovery_intent (
  org text COLLATE "C" NOT NULL,
  project text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  intent_hash text COLLATE "C" NOT NULL,
  intent text NOT NULL,
  uses bigint NOT NULL DEFAULT 1,
  changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (org, project, subject, intent_hash)
) WITH (fillfactor = 70);
CREATE INDEX discovery_intent_changed ON discovery_intent (org, project, changed_at);
