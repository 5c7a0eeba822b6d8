-- The pieces of documents that are found. They are numbered in the order in which they came into the
-- index, and no number is used twice. `length` counts the words of the passage, `words` those of its
-- document; of this also `session`, `project`, `at` and `kind` are kept here, so that a search need not
-- look up every document that it weighs. The vector says what the passage is about; none yet if it is
-- still to be worked out.
CREATE TABLE IF NOT EXISTS passages (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  doc     INTEGER NOT NULL,
  session INTEGER NOT NULL,
  project INTEGER NOT NULL,
  at      INTEGER NOT NULL,
  kind    TEXT    NOT NULL,
  length  INTEGER NOT NULL,
  words   INTEGER NOT NULL,
  vector  BLOB
) STRICT;
CREATE INDEX IF NOT EXISTS passages_by_doc ON passages (doc);
CREATE INDEX IF NOT EXISTS passages_bare ON passages (doc) WHERE vector IS NULL;
-- How often passages became others than they were, besides being added and removed: whoever read them
-- before reads them again.
CREATE TABLE IF NOT EXISTS passage_changes (
  id    INTEGER PRIMARY KEY CHECK (id = 1),
  count INTEGER NOT NULL
) STRICT;
-- The one full-text index. It keeps words and where they stand, not the text. `parts` has the parts of
-- compound words, and pairs of characters of scripts without spaces.
CREATE VIRTUAL TABLE IF NOT EXISTS passage_fts USING fts5 (
  body, parts, content = '', contentless_delete = 1, tokenize = 'porter unicode61'
);
-- Which passages have a stem and how often, in blocks of passages, for what asks for any of several
-- words: the full-text index takes about a microsecond for every passage that has one of them.
CREATE TABLE IF NOT EXISTS postings (
  block   INTEGER NOT NULL,
  term    TEXT    NOT NULL,
  entries BLOB    NOT NULL,
  PRIMARY KEY (block, term)
) STRICT, WITHOUT ROWID;
-- Passages that are gone but still stand in postings; these are rewritten with the full-text index.
CREATE TABLE IF NOT EXISTS removed_passages (
  id INTEGER PRIMARY KEY
) STRICT;
-- Documents whose words are not in the index yet; `known` if other words of theirs are.
CREATE TABLE IF NOT EXISTS unindexed (
  doc   INTEGER PRIMARY KEY,
  known INTEGER NOT NULL
) STRICT;
