-- Long operations: one row per job, from the moment it is queued. AUTOINCREMENT: a number is never used twice.
CREATE TABLE IF NOT EXISTS job_runs (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  op         TEXT    NOT NULL,
  state      TEXT    NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'failed', 'cancelled')),
  -- Why it failed: the word of the error's code, or `interrupted`.
  why        TEXT,
  -- While it waits, the time when it was queued.
  started_at INTEGER NOT NULL,
  ended_at   INTEGER
) STRICT;
