-- What a program does, whatever its words and values: it nominates a capability that a run may belong to.
ALTER TABLE capability_versions ADD COLUMN behaviour_key text COLLATE "C";
CREATE INDEX capability_versions_behaviour ON capability_versions (org, behaviour_key) WHERE behaviour_key IS NOT NULL;

-- Records with the same group are variants of one behaviour.
ALTER TABLE capability_records ADD COLUMN group_id uuid;
CREATE INDEX capability_records_group ON capability_records (org, group_id) WHERE group_id IS NOT NULL;
