-- Calls that wrote something, with the answer that a repeat gets. Rows come in order of time, so
-- that old ones are removed from the low end without an index on the time.
CREATE TABLE IF NOT EXISTS answers (
  seq         INTEGER PRIMARY KEY,
  id          BLOB    NOT NULL UNIQUE CHECK (length(id) = 16),
  fingerprint INTEGER NOT NULL,
  at          INTEGER NOT NULL,
  answer      TEXT    NOT NULL
) STRICT;
