-- What a version of a program calls, and which version of that it first succeeded with.
ALTER TABLE capability_dependency
  ADD COLUMN from_version integer NOT NULL DEFAULT 1,
  ADD COLUMN to_version integer;
ALTER TABLE capability_dependency DROP CONSTRAINT capability_dependency_pkey;
ALTER TABLE capability_dependency ADD PRIMARY KEY (org, from_record_id, from_version, to_record_id);

-- The source of a copy may be renamed or gone, so its name is kept as it was.
ALTER TABLE capability_records ADD COLUMN forked_from_fqdn text COLLATE "C";
-- What an archived or deleted record is again when it is restored.
ALTER TABLE capability_records ADD COLUMN state_before text CHECK (state_before IN ('draft', 'active'));

-- Names of other projects, names of actions, names that are still reserved, and the order of lists.
CREATE INDEX capability_records_shared ON capability_records (org, display_name)
  WHERE visibility IN ('org', 'public') AND deleted_at IS NULL;
CREATE INDEX capability_records_action ON capability_records (org, project, action) WHERE deleted_at IS NULL;
CREATE INDEX capability_records_deleted ON capability_records (org, project, display_name) WHERE deleted_at IS NOT NULL;
CREATE INDEX capability_records_created ON capability_records (org, project, created_at, id);
