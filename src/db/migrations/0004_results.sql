-- A call that belongs to no run of a program can leave a result, too, so a run is not required any more.
ALTER TABLE task_results DROP CONSTRAINT task_results_org_run_id_fkey;
ALTER TABLE task_results ADD COLUMN project text COLLATE "C" NOT NULL DEFAULT 'default';
-- Who alone may read it; the owner of the gateway is nobody.
ALTER TABLE task_results ADD COLUMN principal_id uuid;
ALTER TABLE task_results ADD COLUMN content_type text NOT NULL DEFAULT 'application/json'
  CHECK (content_type IN ('text/plain', 'application/json'));
