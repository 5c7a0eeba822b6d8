-- Sessions: conversations of agents, known by the agent's own id. The project is the one where the
-- session was first seen. The summary is drawn from what the session did, and can be again.
CREATE TABLE IF NOT EXISTS sessions (
  id         INTEGER PRIMARY KEY,
  name       TEXT    NOT NULL UNIQUE,
  project    INTEGER NOT NULL REFERENCES projects (id),
  agent      TEXT    NOT NULL,
  root       TEXT,
  parent     INTEGER,
  started_at INTEGER NOT NULL,
  last_at    INTEGER NOT NULL,
  ended_at   INTEGER,
  state      TEXT    NOT NULL CHECK (state IN ('active', 'idle', 'ended')),
  pinned     INTEGER NOT NULL DEFAULT 0,
  signature  TEXT    CHECK (signature IS NULL OR json_valid(signature)),
  summary    TEXT    CHECK (summary IS NULL OR json_valid(summary))
) STRICT;
CREATE INDEX IF NOT EXISTS sessions_by_agent ON sessions (agent);
CREATE INDEX IF NOT EXISTS sessions_by_project ON sessions (project, last_at);
CREATE INDEX IF NOT EXISTS sessions_by_time ON sessions (last_at);
CREATE INDEX IF NOT EXISTS sessions_pinned ON sessions (project, last_at) WHERE pinned = 1;
