-- Tool calls of a session in a project: how many, how many there were when its active ghap began, and the call at which a
-- reminder became due that is not shown yet (0 if none).
CREATE TABLE IF NOT EXISTS check_ins (
  id      INTEGER PRIMARY KEY,
  session INTEGER NOT NULL,
  project INTEGER NOT NULL,
  count   INTEGER NOT NULL DEFAULT 0,
  base    INTEGER NOT NULL DEFAULT 0,
  due     INTEGER NOT NULL DEFAULT 0,
  due_at  INTEGER NOT NULL DEFAULT 0,
  UNIQUE (session, project)
) STRICT;
CREATE INDEX IF NOT EXISTS check_ins_due ON check_ins (due_at) WHERE due > 0;
