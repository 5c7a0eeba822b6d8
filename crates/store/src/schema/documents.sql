-- Everything that can be found, in one shape, whichever table it stands in. A search filters here and
-- nowhere else, so that a record of one project cannot answer for another. The casts give each column
-- one type throughout: only then does SQLite look into each table as if it were asked for alone.
CREATE VIEW IF NOT EXISTS documents (id, project, session, at, kind, file, agent, failed, pinned) AS
  SELECT o.id, o.project, o.session, o.at, o.kind, o.file,
         (SELECT s.agent FROM sessions s WHERE s.id = o.session), o.failed, o.pinned
    FROM observations o
  UNION ALL
  SELECT p.id, p.project, p.session, p.at, CAST('user_prompt' AS TEXT), CAST(NULL AS INTEGER),
         (SELECT s.agent FROM sessions s WHERE s.id = p.session), CAST(0 AS INTEGER), p.pinned
    FROM prompts p
  UNION ALL
  SELECT s.id, s.project, s.id, s.last_at, CAST('session_summary' AS TEXT), CAST(NULL AS INTEGER),
         s.agent, CAST(0 AS INTEGER), s.pinned
    FROM sessions s;
