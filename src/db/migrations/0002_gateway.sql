-- What a server offered when it was last asked, so that lists can be answered before anything is connected.
CREATE TABLE upstream_catalogue (
  org text COLLATE "C" NOT NULL,
  project text COLLATE "C" NOT NULL,
  server_id text COLLATE "C" NOT NULL,
  -- Of the configuration it was fetched with: another command or address is another server.
  config_hash text NOT NULL,
  offer jsonb NOT NULL,
  fetched_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org, project, server_id)
);

-- A tool whose definition changed under the same name. Nothing is ever removed from here.
CREATE TABLE tool_schema_change (
  org text COLLATE "C" NOT NULL,
  id uuid NOT NULL,
  project text COLLATE "C" NOT NULL,
  tool_id text COLLATE "C" NOT NULL,
  old_hash text NOT NULL,
  new_hash text NOT NULL,
  old_definition jsonb NOT NULL,
  new_definition jsonb NOT NULL,
  seen_at timestamptz NOT NULL DEFAULT now(),
  reviewed_at timestamptz,
  reviewed_by uuid,
  PRIMARY KEY (org, id)
);
CREATE INDEX tool_schema_change_open ON tool_schema_change (org, project, tool_id) WHERE reviewed_at IS NULL;
