-- The orders of lists: without these, a page would sort everything that could be on it.

CREATE INDEX capability_stat_usage ON capability_stat (org, usage_count, record_id);
CREATE INDEX capability_records_shared_created ON capability_records (org, created_at, id)
  WHERE visibility IN ('org', 'public') AND deleted_at IS NULL;
CREATE INDEX capability_records_public_name ON capability_records (display_name, id)
  WHERE visibility = 'public' AND deleted_at IS NULL;
CREATE INDEX capability_records_public_created ON capability_records (created_at, id)
  WHERE visibility = 'public' AND deleted_at IS NULL;

-- What changed lately, and who calls it.
CREATE INDEX capability_records_updated ON capability_records (org, project, updated_at);
CREATE INDEX capability_dependency_called ON capability_dependency (org, to_record_id);
CREATE INDEX tool_edge_observed ON tool_edge (org, project, last_at) WHERE source = 'observed';

-- Lists by usage read what has counters; every record has them from now on.
INSERT INTO capability_stat (org, record_id)
  SELECT org, id FROM capability_records ON CONFLICT DO NOTHING;
