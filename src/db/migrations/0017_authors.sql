-- Each new record of a principal counts those it has.
CREATE INDEX capability_records_author ON capability_records (org, created_by) WHERE deleted_at IS NULL;
