-- Whether a suggested capability was the one that the agent then ran. Calibrates the confidence of this principal's
-- suggestions; never leaves this database.
CREATE TABLE recall_decision (
  org text COLLATE "C" NOT NULL,
  project text COLLATE "C" NOT NULL,
  principal text COLLATE "C" NOT NULL,
  id uuid NOT NULL,
  features double precision[] NOT NULL,
  confidence double precision NOT NULL,
  was_right boolean NOT NULL,
  PRIMARY KEY (org, project, principal, id)
);
