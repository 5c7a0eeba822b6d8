-- Long operations: one row per job. AUTOINCREMENT: a number is never used twice.
CREATE TABLE IF NOT EXISTS jobs (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  op         TEXT    NOT NULL,
  state      TEXT    NOT NULL CHECK (state IN ('running', 'done', 'failed', 'cancelled')),
  -- Why it failed: the word of the error's code, or `interrupted`.
  why        TEXT,
  started_at INTEGER NOT NULL,
  ended_at   INTEGER
) STRICT;
