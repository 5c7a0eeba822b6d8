-- Goals with a hypothesis, an action and a prediction. They outlive their session, so none is a part of one: `session` is
-- always NULL, and `owner` names the session that works on it, which may be gone. `at` is the start, then the resolution.
CREATE TABLE IF NOT EXISTS ghaps (
  id         INTEGER PRIMARY KEY,
  name       TEXT    NOT NULL UNIQUE,
  session    INTEGER,
  owner      INTEGER NOT NULL,
  project    INTEGER NOT NULL REFERENCES projects (id),
  root       TEXT,
  at         INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  status     TEXT    NOT NULL,
  domain     TEXT    NOT NULL,
  strategy   TEXT    NOT NULL,
  goal       TEXT    NOT NULL,
  hypothesis TEXT    NOT NULL,
  action     TEXT    NOT NULL,
  prediction TEXT    NOT NULL,
  iteration  INTEGER NOT NULL,
  history    TEXT    NOT NULL,
  notes      TEXT    NOT NULL,
  evidence   TEXT    NOT NULL,
  result     TEXT,
  surprise   TEXT,
  root_cause TEXT,
  lesson     TEXT,
  tier       TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS ghaps_by_project ON ghaps (project, at);
CREATE INDEX IF NOT EXISTS ghaps_active ON ghaps (project, owner) WHERE status = 'hypothesis';
CREATE INDEX IF NOT EXISTS ghaps_by_session ON ghaps (session) WHERE session IS NOT NULL;
