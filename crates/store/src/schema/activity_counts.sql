-- Prompts and observations by half hour, so that statistics of months do not read every record. A key is what they are
-- counted by; counts refer to it, because a key has up to 48 counts a day. Records up to the id `last` are counted.
CREATE TABLE IF NOT EXISTS activity_keys (
  id      INTEGER PRIMARY KEY,
  project INTEGER NOT NULL,
  agent   TEXT    NOT NULL,
  kind    TEXT    NOT NULL,
  tool    TEXT    NOT NULL,
  UNIQUE (project, agent, kind, tool)
) STRICT;
CREATE TABLE IF NOT EXISTS activity_counts (
  key    INTEGER NOT NULL,
  slot   INTEGER NOT NULL,
  count  INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  PRIMARY KEY (key, slot)
) STRICT, WITHOUT ROWID;
-- The sum of a key's counts, so that lists of projects add up few rows.
CREATE TABLE IF NOT EXISTS activity_totals (
  key     INTEGER PRIMARY KEY,
  records INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS activity_counted (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  last INTEGER NOT NULL
) STRICT;
