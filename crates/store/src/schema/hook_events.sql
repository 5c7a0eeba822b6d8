-- Hook events that were taken in, each once: by its own id, and by a hash of session, event and the
-- agent's id of the tool call where there is one (`twin`), because an agent with two registrations
-- of the hook sends the same event twice. Rows come in the order of arrival.
CREATE TABLE IF NOT EXISTS hooks_seen (
  seq  INTEGER PRIMARY KEY,
  id   BLOB    NOT NULL UNIQUE CHECK (length(id) = 16),
  name TEXT    NOT NULL,
  at   INTEGER NOT NULL,
  twin INTEGER
) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS hooks_seen_by_twin
  ON hooks_seen (twin) WHERE twin IS NOT NULL;
-- The last event of each session; the empty name stands for events without a session.
CREATE TABLE IF NOT EXISTS hook_sessions (
  id      INTEGER PRIMARY KEY,
  session TEXT    NOT NULL UNIQUE,
  event   BLOB    NOT NULL CHECK (length(event) = 16),
  name    TEXT    NOT NULL,
  at      INTEGER NOT NULL
) STRICT;
