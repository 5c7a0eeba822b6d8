-- Receipts: what was told to an agent, why and at what cost. `current` ends when the host has dropped
-- the text, so that it may be told again.
CREATE TABLE IF NOT EXISTS receipts (
  id      INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES sessions (id),
  at      INTEGER NOT NULL,
  path    TEXT    NOT NULL,
  stamp   INTEGER NOT NULL,
  reason  TEXT    NOT NULL,
  tokens  INTEGER NOT NULL,
  used    INTEGER NOT NULL DEFAULT 0,
  current INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE INDEX IF NOT EXISTS receipts_by_path ON receipts (session, path, at);
-- Sums by time, without a look at the rows.
CREATE INDEX IF NOT EXISTS receipts_by_time ON receipts (at, session, tokens, used, path);
-- Whether any session used an entry.
CREATE INDEX IF NOT EXISTS receipts_of_path ON receipts (path, session, used);
