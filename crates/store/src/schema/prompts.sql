-- Prompts: what the user said, and how many actions followed. The agent's own id links actions that
-- arrive late or come from a subagent.
CREATE TABLE IF NOT EXISTS prompts (
  id              INTEGER PRIMARY KEY,
  session         INTEGER NOT NULL REFERENCES sessions (id),
  project         INTEGER NOT NULL REFERENCES projects (id),
  at              INTEGER NOT NULL,
  source          TEXT    NOT NULL,
  source_event    TEXT    NOT NULL,
  content         TEXT    NOT NULL,
  agent_prompt_id TEXT,
  actions         INTEGER NOT NULL DEFAULT 0,
  pinned          INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX IF NOT EXISTS prompts_by_session ON prompts (session, at);
CREATE INDEX IF NOT EXISTS prompts_by_project ON prompts (project, at);
CREATE UNIQUE INDEX IF NOT EXISTS prompts_by_agent_id
  ON prompts (session, agent_prompt_id) WHERE agent_prompt_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS prompts_pinned ON prompts (project, at) WHERE pinned = 1;
