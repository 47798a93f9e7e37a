-- Approvals and remembered rules bind the exact text of a program, every capability it can reach, its tools, the
-- principal and the scope. Earlier ones bound a normalised hash, and the exact text is not known any more: they are dropped,
-- and the audit log says which rules were.
INSERT INTO audit_log (org, id, project, action, subject, outcome, details)
SELECT org, gen_random_uuid(), project, 'rule.drop', short_id, 'dropped',
  jsonb_build_object('tool', tool_id, 'principal', principal, 'capability', capability,
    'reason', 'it did not bind the exact text of its program')
FROM permission_rules;
DELETE FROM permission_rules;
ALTER TABLE permission_rules RENAME COLUMN code_hash TO binding_hash;

DELETE FROM approvals;
ALTER TABLE approvals DROP COLUMN code, DROP COLUMN code_hash, DROP COLUMN input;
-- JSON of the binding with its texts as people see them; text, because jsonb rejects some characters.
ALTER TABLE approvals ADD COLUMN binding text NOT NULL DEFAULT '{}';
