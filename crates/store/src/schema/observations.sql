-- Observations: one row for what an agent did once, or for a run of equal things (`count`). The
-- project repeats that of the session, for the index that every briefing walks. Session, project, prompt
-- and file are ids of rows that the same write has looked up or made; SQLite is not asked to look up
-- all four again with every row.
CREATE TABLE IF NOT EXISTS observations (
  id           INTEGER PRIMARY KEY,
  session      INTEGER NOT NULL,
  project      INTEGER NOT NULL,
  prompt       INTEGER,
  at           INTEGER NOT NULL,
  kind         TEXT    NOT NULL,
  source_event TEXT    NOT NULL,
  tool         TEXT,
  file         INTEGER,
  content      TEXT    NOT NULL,
  metadata     TEXT    CHECK (metadata IS NULL OR json_valid(metadata)),
  failed       INTEGER NOT NULL DEFAULT 0,
  pinned       INTEGER NOT NULL DEFAULT 0,
  agent_id     TEXT,
  count        INTEGER NOT NULL DEFAULT 1,
  last_at      INTEGER
) STRICT;
CREATE INDEX IF NOT EXISTS observations_by_session ON observations (session, at);
CREATE INDEX IF NOT EXISTS observations_by_kind ON observations (project, kind, at);
CREATE INDEX IF NOT EXISTS observations_by_file ON observations (file, at) WHERE file IS NOT NULL;
-- A row with broken JSON must not fail the statement that removes it.
DROP INDEX IF EXISTS observations_by_commit;
CREATE INDEX IF NOT EXISTS observations_by_commit_hash
  ON observations (CASE WHEN json_valid(metadata) THEN json_extract(metadata, '$.commit_hash') END)
  WHERE kind = 'git_commit';
CREATE INDEX IF NOT EXISTS observations_failed ON observations (failed) WHERE failed = 1;
-- Failures of a project by their time.
CREATE INDEX IF NOT EXISTS observations_failures ON observations (project, at) WHERE failed = 1;
-- Runs of tests and builds by their time, so that a red one is found behind any number of commands.
CREATE INDEX IF NOT EXISTS observations_runs
  ON observations (project, at) WHERE instr(metadata, '"run":{') > 0;
CREATE INDEX IF NOT EXISTS observations_pinned ON observations (project, at) WHERE pinned = 1;
CREATE INDEX IF NOT EXISTS observations_by_prompt ON observations (prompt) WHERE prompt IS NOT NULL;
-- The last answer and the last commit of a turn, without a look at its actions.
CREATE INDEX IF NOT EXISTS observations_answers ON observations (prompt, at) WHERE kind = 'answer';
CREATE INDEX IF NOT EXISTS observations_commits ON observations (prompt, at) WHERE kind = 'git_commit';
-- What a session did within the last minutes, so that a repeat is recognised without a look at the
-- observations themselves. `same` is a hash of what makes two of them equal.
CREATE TABLE IF NOT EXISTS repeats (
  session     INTEGER NOT NULL,
  same        INTEGER NOT NULL,
  observation INTEGER NOT NULL,
  first_at    INTEGER NOT NULL,
  at          INTEGER NOT NULL,
  count       INTEGER NOT NULL,
  folds       INTEGER NOT NULL,
  PRIMARY KEY (session, same, observation)
) STRICT, WITHOUT ROWID;
