-- Where nothing is captured for a while; project 0 means everywhere, no end means until it is taken
-- back.
CREATE TABLE IF NOT EXISTS pauses (
  project INTEGER PRIMARY KEY,
  until   INTEGER
) STRICT;
