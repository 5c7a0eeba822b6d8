-- Origins: a hash of what identifies a record at the agent that it comes from, so that hooks and imports store it once.
-- Several origins may have one record, because equal records are folded. Without a record: the user purged it.
-- `batch` is the import that brought the origin. A negative record is no origin: it marks the record as unfinished.
CREATE TABLE IF NOT EXISTS origins (
  origin BLOB    PRIMARY KEY CHECK (length(origin) = 16),
  record INTEGER,
  batch  INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS origins_by_record ON origins (record) WHERE record IS NOT NULL;
CREATE INDEX IF NOT EXISTS origins_by_batch ON origins (batch) WHERE batch IS NOT NULL;
-- Imports, each with the number of records that it added.
CREATE TABLE IF NOT EXISTS import_batches (
  id     INTEGER PRIMARY KEY AUTOINCREMENT,
  at     INTEGER NOT NULL,
  source TEXT    NOT NULL,
  files  INTEGER NOT NULL DEFAULT 0,
  added  INTEGER NOT NULL DEFAULT 0
) STRICT;
-- Sessions (kind 1), projects (2) and aliases of projects (3) that an import created, and sessions that it named (4),
-- with a hash of the name. From 5 on: rows of others that it changed, with the value before, see `import_effects`.
CREATE TABLE IF NOT EXISTS import_created (
  batch INTEGER NOT NULL,
  kind  INTEGER NOT NULL,
  id    INTEGER NOT NULL,
  hash  INTEGER,
  PRIMARY KEY (batch, kind, id)
) STRICT, WITHOUT ROWID;
-- How far each file was imported. `file` is a hash of its path, `head` one of its first bytes, by which a replaced file
-- is recognised.
CREATE TABLE IF NOT EXISTS import_cursors (
  file     BLOB    PRIMARY KEY CHECK (length(file) = 16),
  size     INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  position INTEGER NOT NULL,
  head     BLOB    NOT NULL CHECK (length(head) = 16),
  batch    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
