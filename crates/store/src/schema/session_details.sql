-- What a user or a viewer adds to a session, and when it was seen. Few sessions have a row.
CREATE TABLE IF NOT EXISTS session_details (
  id          INTEGER PRIMARY KEY,
  label       TEXT,
  env_hint    TEXT,
  idle_at     INTEGER,
  observed_at INTEGER
) STRICT;
CREATE INDEX IF NOT EXISTS session_details_unobserved ON session_details (idle_at)
  WHERE idle_at > coalesce(observed_at, 0);
-- Sessions that were deleted without their records. The records refer to the row of the session.
CREATE TABLE IF NOT EXISTS deleted_sessions (id INTEGER PRIMARY KEY) STRICT;
-- Where a session last started and with which model, or where it was first seen.
CREATE TABLE IF NOT EXISTS session_starts (
  id    INTEGER PRIMARY KEY,
  cwd   TEXT,
  model TEXT
) STRICT;
