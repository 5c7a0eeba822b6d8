-- The last id that was given to a session, a prompt or an observation: they share one sequence, and
-- a number is never used twice, so that `obs://ID` always means the same thing.
CREATE TABLE IF NOT EXISTS record_ids (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  last INTEGER NOT NULL
) STRICT;
