-- The tools a version was last allowed to call, each with its effect and who allowed it. Exports leave it out: importing a
-- file must not permit anything.
CREATE TABLE capability_permission_set (
  org text COLLATE "C" NOT NULL,
  record_id uuid NOT NULL,
  version integer NOT NULL,
  permissions jsonb NOT NULL,
  changed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org, record_id, version),
  FOREIGN KEY (org, record_id) REFERENCES capability_records (org, id)
);
