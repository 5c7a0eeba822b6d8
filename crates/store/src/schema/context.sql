-- The context of sessions: one row per item of a named set, with who added it and when.
CREATE TABLE IF NOT EXISTS context_items (
  id        INTEGER PRIMARY KEY,
  session   INTEGER NOT NULL,
  set_place INTEGER NOT NULL,
  set_name  TEXT    NOT NULL,
  place     INTEGER NOT NULL,
  item      TEXT    NOT NULL,
  at        INTEGER NOT NULL,
  added_by  TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS context_items_by_session
  ON context_items (session, set_place, place);
-- The number of the event about the last change of a session's context. It outlives the last item.
CREATE TABLE IF NOT EXISTS context_versions (
  id      INTEGER PRIMARY KEY,
  version INTEGER NOT NULL
) STRICT;
