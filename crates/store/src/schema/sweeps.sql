-- What retention removed and when, so that the next sweep knows when it is due.
CREATE TABLE IF NOT EXISTS sweeps (
  id       INTEGER PRIMARY KEY,
  at       INTEGER NOT NULL,
  removed  INTEGER NOT NULL,
  finished INTEGER NOT NULL
) STRICT;
