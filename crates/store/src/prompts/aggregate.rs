//! Prompts as a row of the registry.

use model::OpError;
use model::observation::ObsType;
use model::session::PromptSource;
use rusqlite::{OptionalExtension, Row, params};

use super::{ActionCounts, acted, recount};
use crate::aggregate::{Aggregate, Document, Expiry, Records, Removal, json_ids};
use crate::cells::Cells as _;
use crate::passages;
use crate::table_info::{Reference, TableInfo, TableRole, TextColumns, WordColumn};
use crate::texts::{Replacement, Texts};
use crate::tx::{Rx, Tx};

pub(crate) struct Prompts;

const FIRST_PROMPT: &str = "SELECT min(at) FROM prompts WHERE project = ?1";
const LAST_PROMPT: &str = "SELECT max(at) FROM prompts WHERE project = ?1";
pub(crate) const OLD_PROMPTS: &str = "SELECT id FROM prompts q WHERE project = ?1 AND at < ?2 \
     AND NOT pinned AND NOT EXISTS (SELECT 1 FROM observations WHERE prompt = q.id) \
     ORDER BY at LIMIT ?3";

const SOURCE: WordColumn = WordColumn {
    name: "source",
    knows: |word| PromptSource::parse(word).is_some(),
    fallback: "agent",
};

impl Aggregate for Prompts {
    fn name(&self) -> &'static str {
        "prompts"
    }

    fn schema(&self) -> &'static str {
        include_str!("../schema/prompts.sql")
    }

    fn records(&self) -> Option<&'static dyn Records> {
        Some(&Prompts)
    }

    fn tables(&self) -> &'static [TableInfo] {
        const TABLES: &[TableInfo] = &[TableInfo {
            name: "prompts",
            role: TableRole::Record,
            words: &[SOURCE],
            references: &[
                Reference::needed("project", "projects"),
                Reference::needed("session", "sessions"),
            ],
            at: Some("at"),
            times: &["at"],
            ..TableInfo::PLAIN
        }];
        TABLES
    }

    fn text_bytes(&self) -> Option<&'static str> {
        Some("SELECT total(octet_length(content)) FROM prompts")
    }

    fn before_commit(&self, tx: &Tx<'_>) -> Result<(), OpError> {
        let ActionCounts { further, .. } = tx.take_deferred();
        for (prompt, times) in further {
            tx.unless_fault(acted(tx, prompt, times))?;
        }
        Ok(())
    }
}

impl Records for Prompts {
    fn document(&self, rx: &Rx<'_>, id: i64) -> Result<Option<Document>, OpError> {
        const SEARCHED: &str = "SELECT session, project, at, content FROM prompts WHERE id = ?1";
        let read = |row: &Row<'_>| {
            let (session, project, at) = (row.cell(0)?, row.cell(1)?, row.cell(2)?);
            let (kind, texts) = (ObsType::UserPrompt.word(), vec![row.cell(3)?]);
            Ok(Document { id, session, project, at, kind, texts })
        };
        rx.sql(|db| db.prepare_cached(SEARCHED)?.query_row([id], read).optional())
    }

    fn documents(&self) -> &'static str {
        // The casts give each column one type throughout the view: only then does SQLite search each table as if it
        // were queried alone.
        "SELECT p.id, p.project, p.session, p.at, CAST('user_prompt' AS TEXT) AS kind, CAST(NULL AS INTEGER),
         (SELECT s.agent FROM sessions s WHERE s.id = p.session) AS agent, CAST(0 AS INTEGER), p.pinned
    FROM prompts p"
    }

    fn can_be_pinned(&self) -> bool {
        true
    }

    fn remove(&self, tx: &Tx<'_>, id: i64) -> Result<(), OpError> {
        super::remove(tx, id)
    }

    /// A prompt that loses all its observations, answers included, is deleted too. For one that keeps some, the actions
    /// are counted again.
    fn extend_removal(&self, rx: &Rx<'_>, removal: &mut Removal) -> Result<(), OpError> {
        const LOST: &str = "SELECT prompt, count(*) FROM observations WHERE prompt IS NOT NULL \
             AND id IN (SELECT value FROM json_each(?1)) GROUP BY prompt";
        const ACTIONS: &str = "SELECT count(*) FROM observations WHERE prompt = ?1";
        const KNOWN: &str = "SELECT 1 FROM prompts WHERE id = ?1";
        let gone = json_ids(removal.of("observations"));
        let read = |row: &Row<'_>| Ok((row.cell(0)?, row.cell(1)?));
        let losses: Vec<(i64, u64)> =
            rx.sql(|db| db.prepare(LOST)?.query_map([gone], read)?.collect())?;
        for (prompt, lost) in losses {
            if removal.has(self.name(), prompt) {
                continue;
            }
            let had: u64 =
                rx.sql(|db| db.prepare_cached(ACTIONS)?.query_row([prompt], |row| row.cell(0)))?;
            if had > lost {
                removal.renew(recount, prompt);
            } else if rx.sql(|db| db.prepare_cached(KNOWN)?.exists([prompt]))? {
                // A damaged record may name a prompt that does not exist.
                removal.add(self.name(), prompt);
            }
        }
        Ok(())
    }

    fn text_columns(&self) -> TextColumns {
        TextColumns {
            from: "prompts",
            id: "id",
            plain: &["content", "agent_prompt_id", "source_event"],
            json: &[],
            indexed: &["content"],
            unindexed: &["agent_prompt_id", "source_event"],
        }
    }

    fn texts_after(&self, rx: &Rx<'_>, id: i64, limit: usize) -> Result<Vec<Texts>, OpError> {
        const AFTER: &str =
            "SELECT id, session, content FROM prompts WHERE id > ?1 ORDER BY id LIMIT ?2";
        let read = |row: &Row<'_>| {
            let (id, session, content) = (row.cell(0)?, row.cell(1)?, row.cell(2)?);
            Ok(Texts { id, session, content, file_path: None, metadata: None })
        };
        rx.sql(|db| db.prepare_cached(AFTER)?.query_map(params![id, limit], read)?.collect())
    }

    fn replace_texts(
        &self,
        tx: &Tx<'_>,
        id: i64,
        new: &Replacement,
    ) -> Result<Option<bool>, OpError> {
        const REPLACE: &str = "UPDATE prompts SET content = ?2 WHERE id = ?1";
        let given = params![id, new.content.as_str()];
        passages::replaced(tx, id, REPLACE, given)
    }

    fn span(&self, rx: &Rx<'_>, project: i64) -> Result<Vec<i64>, OpError> {
        let end = |sql: &str| -> Result<Option<i64>, OpError> {
            rx.sql(|db| db.prepare_cached(sql)?.query_row([project], |row| row.cell(0)))
        };
        Ok(end(FIRST_PROMPT)?.into_iter().chain(end(LAST_PROMPT)?).collect())
    }

    fn expired(
        &self,
        rx: &Rx<'_>,
        project: i64,
        expiry: &Expiry<'_>,
        limit: usize,
    ) -> Result<Vec<(i64, &'static str)>, OpError> {
        let kind = ObsType::UserPrompt;
        expiry.ids(rx, OLD_PROMPTS, (kind.word(), kind.kept_days()), (project, limit))
    }
}
