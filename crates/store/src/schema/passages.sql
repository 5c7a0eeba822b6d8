-- The one full-text index. It keeps words and where they stand, not the text. `parts` has the parts of
-- compound words, and pairs of characters of scripts without spaces. The first passage of a document
-- has the document's own id, so that a short one costs nothing besides its words.
CREATE VIRTUAL TABLE IF NOT EXISTS passage_fts USING fts5 (
  body, parts, content = '', contentless_delete = 1, tokenize = 'porter unicode61'
);
-- Further passages of long documents. Their ids come from the sequence of the documents, so that the
-- order of ids is the order of time for them too.
CREATE TABLE IF NOT EXISTS further_passages (
  id  INTEGER PRIMARY KEY,
  doc INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS further_passages_by_doc ON further_passages (doc);
-- Documents whose words are not in the index yet; `known` if other words of theirs are.
CREATE TABLE IF NOT EXISTS unindexed (
  doc   INTEGER PRIMARY KEY,
  known INTEGER NOT NULL
) STRICT;
