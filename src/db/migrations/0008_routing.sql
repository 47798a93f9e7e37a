-- Where a capability runs is inherited from its tools and kept in `routing`, unless somebody said it.
ALTER TABLE capability_records ADD COLUMN routing_explicit boolean NOT NULL DEFAULT false;
