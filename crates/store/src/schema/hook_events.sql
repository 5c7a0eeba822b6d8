-- Hook events, each once: by its own id, and by the agent's id of the tool call where there is one,
-- because an agent with two registrations of the hook sends the same event twice.
CREATE TABLE IF NOT EXISTS hook_events (
  seq         INTEGER PRIMARY KEY,
  id          BLOB    NOT NULL UNIQUE CHECK (length(id) = 16),
  name        TEXT    NOT NULL,
  session     TEXT,
  tool_use_id TEXT,
  at          INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS hook_events_by_tool_use
  ON hook_events (tool_use_id, coalesce(session, ''), name) WHERE tool_use_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS hook_events_by_time ON hook_events (at, id);
