-- The paths that observations are about, each once: a file is touched many times. The name is the
-- last part, by which all forms of a path find it; many files have the same, so that the index has
-- the path too, and exactly a path is found by both.
CREATE TABLE IF NOT EXISTS paths (
  id   INTEGER PRIMARY KEY,
  path TEXT    NOT NULL,
  name TEXT    NOT NULL
) STRICT;
DROP INDEX IF EXISTS paths_by_name;
CREATE UNIQUE INDEX IF NOT EXISTS paths_by_name_and_path ON paths (name, path);
