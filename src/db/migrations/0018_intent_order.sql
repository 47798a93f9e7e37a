-- When an intent was first learned: changed_at moves with each use, and models are rebuilt in a fixed order.
ALTER TABLE discovery_intent ADD COLUMN learned_at timestamptz NOT NULL DEFAULT clock_timestamp();
