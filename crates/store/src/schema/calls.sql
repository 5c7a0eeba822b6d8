-- Calls that wrote something, with the answer that a repeat gets. Rows come in order of time, so
-- that old ones are removed from the low end without an index on the time.
CREATE TABLE IF NOT EXISTS answers (
  seq         INTEGER PRIMARY KEY,
  id          BLOB    NOT NULL UNIQUE CHECK (length(id) = 16),
  fingerprint INTEGER NOT NULL,
  at          INTEGER NOT NULL,
  answer      TEXT    NOT NULL
) STRICT;
-- The hints that a stored answer quotes, so that their values leave it when the hint is changed or deleted. Every
-- change of a hint writes here: one b-tree, and rows of deleted answers are left until old answers are pruned.
DROP TABLE IF EXISTS answer_hints;
CREATE TABLE IF NOT EXISTS quoted_hints (
  component TEXT    NOT NULL,
  key       TEXT    NOT NULL,
  answer    INTEGER NOT NULL,
  PRIMARY KEY (component, key, answer)
) STRICT, WITHOUT ROWID;
