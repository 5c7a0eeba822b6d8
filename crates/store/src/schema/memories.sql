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
-- Where imported memories come from: the tool or the kind of file, and a hash of the path of a file that is imported as a
-- whole, so that the next import finds its memories.
CREATE TABLE IF NOT EXISTS memory_sources (
  id     INTEGER PRIMARY KEY,
  source TEXT NOT NULL,
  file   BLOB CHECK (file IS NULL OR length(file) = 16)
) STRICT;
CREATE INDEX IF NOT EXISTS memory_sources_by_file ON memory_sources (file) WHERE file IS NOT NULL;
