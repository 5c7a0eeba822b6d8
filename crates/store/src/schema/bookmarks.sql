-- Web pages that agents fetched, and those that a user added: these are in no session, so they have the root where they
-- were added.
CREATE TABLE IF NOT EXISTS bookmarks (
  id      INTEGER PRIMARY KEY,
  session INTEGER REFERENCES sessions (id),
  project INTEGER NOT NULL REFERENCES projects (id),
  root    TEXT,
  at      INTEGER NOT NULL,
  url     TEXT    NOT NULL,
  note    TEXT    NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS bookmarks_by_session ON bookmarks (session, at);
CREATE INDEX IF NOT EXISTS bookmarks_by_project ON bookmarks (project, at);
