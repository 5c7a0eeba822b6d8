-- Rules that were drawn from a cluster of experiences. They outlive their session and their cluster: `session` is always
-- NULL, `stored_in` names the session of the call, which may be gone, and so may `cluster`.
CREATE TABLE IF NOT EXISTS learned_values (
  id       INTEGER PRIMARY KEY,
  name     TEXT    NOT NULL UNIQUE,
  session  INTEGER,
  stored_in INTEGER,
  project  INTEGER NOT NULL REFERENCES projects (id),
  root     TEXT,
  at       INTEGER NOT NULL,
  axis     TEXT    NOT NULL,
  cluster  INTEGER NOT NULL,
  value    TEXT    NOT NULL,
  distance REAL    NOT NULL,
  weight   REAL    NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS learned_values_by_project ON learned_values (project, at);
CREATE INDEX IF NOT EXISTS learned_values_by_session ON learned_values (session) WHERE session IS NOT NULL;
