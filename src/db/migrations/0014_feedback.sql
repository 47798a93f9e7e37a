-- The last verdict of each principal about a capability: it counts once, however often it is given.
CREATE TABLE capability_feedback (
  org text COLLATE "C" NOT NULL,
  record_id uuid NOT NULL,
  principal text COLLATE "C" NOT NULL,
  success boolean NOT NULL,
  given_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org, record_id, principal),
  FOREIGN KEY (org, record_id) REFERENCES capability_records (org, id) ON DELETE CASCADE
);
