-- Marks runs that came with a file. They count as experience, but nothing here has seen them happen: replaying one does not
-- verify a version.
ALTER TABLE execution_run ADD COLUMN imported_at timestamptz;
CREATE INDEX execution_run_imported ON execution_run (org, project, imported_at) WHERE imported_at IS NOT NULL;
