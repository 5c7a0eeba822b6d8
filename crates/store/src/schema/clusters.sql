-- Clusters of experiences. The id is from the sequence of all records, so no other cluster ever has it. Rows that are not
-- current stay, so that a cluster that appears again gets its id back. `members` has the ids of its experiences, and
-- `fingerprint` is a hash of the experiences that were clustered.
CREATE TABLE IF NOT EXISTS clusters (
  id          INTEGER PRIMARY KEY,
  project     INTEGER NOT NULL REFERENCES projects (id),
  at          INTEGER NOT NULL,
  axis        TEXT    NOT NULL,
  current     INTEGER NOT NULL,
  fingerprint INTEGER NOT NULL,
  members     TEXT    NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS clusters_by_project ON clusters (project, axis);
