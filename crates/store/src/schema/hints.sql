-- Hints by component and key. The checks also keep what salvage reads from a damaged file readable.
CREATE TABLE IF NOT EXISTS hints (
  id         INTEGER PRIMARY KEY,
  component  TEXT    NOT NULL,
  key        TEXT    NOT NULL,
  value      TEXT    NOT NULL CHECK (json_valid(value)),
  reason     TEXT,
  tags       TEXT    NOT NULL CHECK (json_valid(tags)),
  ttl        TEXT    CHECK (ttl IN ('session', 'forever')),
  version    INTEGER NOT NULL CHECK (version >= 1),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (component, key)
) STRICT;
