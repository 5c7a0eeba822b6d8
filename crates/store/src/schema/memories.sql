-- Texts that an agent or a user asked to store. They outlive their session, so none is a part of one: `session` is always
-- NULL, and `stored_in` names the session of the call, which may be gone.
CREATE TABLE IF NOT EXISTS memories (
  id            INTEGER PRIMARY KEY,
  uuid          TEXT    NOT NULL UNIQUE,
  session       INTEGER,
  stored_in     INTEGER,
  project       INTEGER NOT NULL REFERENCES projects (id),
  root          TEXT,
  at            INTEGER NOT NULL,
  category      TEXT    NOT NULL,
  importance    REAL    NOT NULL,
  tags          TEXT    NOT NULL,
  content       TEXT    NOT NULL,
  superseded_by INTEGER REFERENCES memories (id)
) STRICT;
CREATE INDEX IF NOT EXISTS memories_by_project ON memories (project, at);
CREATE INDEX IF NOT EXISTS memories_by_successor ON memories (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX IF NOT EXISTS memories_by_session ON memories (session) WHERE session IS NOT NULL;
