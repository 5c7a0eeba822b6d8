-- Calls that wrote something, with the answer that a repeat gets. Rows come in order of time, so
-- that old ones are removed from the low end without an index on the time.
CREATE TABLE IF NOT EXISTS answers (
  seq         INTEGER PRIMARY KEY,
  id          BLOB    NOT NULL UNIQUE CHECK (length(id) = 16),
  fingerprint INTEGER NOT NULL,
  at          INTEGER NOT NULL,
  answer      TEXT    NOT NULL
) STRICT;
-- The hints that a stored answer quotes, so that their values leave it when the hint is changed or deleted.
CREATE TABLE IF NOT EXISTS answer_hints (
  id        INTEGER PRIMARY KEY,
  answer    INTEGER NOT NULL REFERENCES answers (seq) ON DELETE CASCADE,
  component TEXT    NOT NULL,
  key       TEXT    NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS answer_hints_by_answer ON answer_hints (answer);
CREATE INDEX IF NOT EXISTS answer_hints_by_name ON answer_hints (component, key);
