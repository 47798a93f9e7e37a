-- What a person decided about a changed definition, or the policy in their place. NULL: nobody has yet.
ALTER TABLE tool_schema_change ADD COLUMN verdict text CHECK (verdict IN ('accepted', 'refused'));
CREATE INDEX tool_schema_change_tool ON tool_schema_change (org, project, tool_id, id);

-- Which protocol era the server was found to speak, with its answer where it is the current one.
ALTER TABLE upstream_catalogue
  ADD COLUMN era text CHECK (era IN ('legacy', 'modern')),
  ADD COLUMN discovery jsonb,
  ADD COLUMN era_asked_at timestamptz;

-- Logins to remote servers: sealed, never exported, and bound to the address and issuer they were made for.
CREATE TABLE upstream_credential (
  org text COLLATE "C" NOT NULL,
  project text COLLATE "C" NOT NULL,
  server_id text COLLATE "C" NOT NULL,
  server_url text COLLATE "C" NOT NULL,
  issuer text COLLATE "C" NOT NULL,
  sealed text NOT NULL,
  saved_at timestamptz NOT NULL DEFAULT now(),
  -- One gateway at a time renews it: a token that may be used once must not be used by two.
  renewing_until timestamptz,
  PRIMARY KEY (org, project, server_id, server_url, issuer)
);
