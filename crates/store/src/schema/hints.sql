-- Hints: a row for each variant of a component's key; a variant is known by its scope in canonical
-- form. What was said about it is kept as it was written. `ttl` and `expires_at` are drawn from that,
-- for who clears and sweeps. The checks also keep what salvage reads from a damaged file readable.
CREATE TABLE IF NOT EXISTS hint_variants (
  id           INTEGER PRIMARY KEY,
  component    TEXT    NOT NULL,
  key          TEXT    NOT NULL,
  scope        TEXT    NOT NULL CHECK (json_valid(scope)),
  value        TEXT    NOT NULL CHECK (json_valid(value)),
  meta         TEXT    NOT NULL CHECK (json_valid(meta)),
  ttl          TEXT    NOT NULL,
  expires_at   INTEGER,
  version      INTEGER NOT NULL CHECK (version >= 1),
  created_at   INTEGER NOT NULL,
  updated_at   INTEGER NOT NULL,
  last_used_at INTEGER,
  use_count    INTEGER NOT NULL CHECK (use_count >= 0),
  UNIQUE (component, key, scope)
) STRICT;
CREATE INDEX IF NOT EXISTS hint_variants_by_end
  ON hint_variants (expires_at) WHERE expires_at IS NOT NULL;
