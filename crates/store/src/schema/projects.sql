-- Projects, and all the names by which one is recognised: normalised remotes and root paths. An
-- alias that a person made is firm: it wins over what the repository says about itself.
CREATE TABLE IF NOT EXISTS projects (
  id         INTEGER PRIMARY KEY,
  key        TEXT    NOT NULL UNIQUE,
  name       TEXT    NOT NULL,
  root       TEXT,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS projects_by_name ON projects (name COLLATE NOCASE);
CREATE TABLE IF NOT EXISTS project_aliases (
  id      INTEGER PRIMARY KEY,
  value   TEXT    NOT NULL UNIQUE,
  project INTEGER NOT NULL REFERENCES projects (id),
  firm    INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX IF NOT EXISTS project_aliases_by_project ON project_aliases (project);
