-- Failures of tests and builds: one row for each failed run, under the id of its observation, without any text.
-- `alike` is the first failure with this fingerprint, `run` a hash of program and sub-command, `lines` the hashes of the
-- significant lines, `fixed_by` the observation of the first later run that passed.
CREATE TABLE IF NOT EXISTS failures (
  id       INTEGER PRIMARY KEY,
  alike    INTEGER NOT NULL,
  project  INTEGER NOT NULL,
  session  INTEGER NOT NULL,
  run      INTEGER NOT NULL,
  at       INTEGER NOT NULL,
  seen     INTEGER NOT NULL DEFAULT 1,
  fixed_by INTEGER,
  lines    BLOB    NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS failures_alike ON failures (alike, at);
CREATE INDEX IF NOT EXISTS failures_by_project ON failures (project, at);
-- Only these wait for a run that passes.
CREATE INDEX IF NOT EXISTS failures_open ON failures (project, run, id) WHERE fixed_by IS NULL;
CREATE INDEX IF NOT EXISTS failures_fixed ON failures (fixed_by) WHERE fixed_by IS NOT NULL;
-- The lines of the first failure of each fingerprint, by which the same failure is found.
CREATE TABLE IF NOT EXISTS failure_lines (
  line    INTEGER NOT NULL,
  failure INTEGER NOT NULL,
  PRIMARY KEY (line, failure)
) STRICT, WITHOUT ROWID;
