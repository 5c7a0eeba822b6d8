-- What happened, in the order of commits. AUTOINCREMENT: a number is never used twice.
CREATE TABLE IF NOT EXISTS events (
  seq     INTEGER PRIMARY KEY AUTOINCREMENT,
  at      INTEGER NOT NULL,
  kind    TEXT    NOT NULL,
  subject TEXT    NOT NULL,
  data    TEXT    NOT NULL CHECK (json_valid(data))
) STRICT;
