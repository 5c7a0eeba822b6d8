-- What recovery did, for people: the next process still says it.
CREATE TABLE IF NOT EXISTS notices (
  seq  INTEGER PRIMARY KEY,
  at   INTEGER NOT NULL,
  text TEXT    NOT NULL
) STRICT;
