//! Observations as a row of the registry.

use index::kind_of;
use model::observation::{ObsType, Observation};
use model::{OpError, limits};
use rusqlite::{OptionalExtension, Row, params};
use serde_json::Value;

use crate::aggregate::{Aggregate, Document, Expiry, Records};
use crate::cells::Cells as _;
use crate::table_info::{Reference, TableInfo, TableRole, TextColumns, WordColumn};
use crate::texts::{Replacement, Texts};
use crate::tx::{Rx, Tx};
use crate::{passages, paths, recent};

pub(crate) struct Observations;

const FIRST_OF_KIND: &str = "SELECT min(at) FROM observations WHERE project = ?1 AND kind = ?2";
const LAST_OF_KIND: &str = "SELECT max(at) FROM observations WHERE project = ?1 AND kind = ?2";
pub(crate) const OLD: &str = "SELECT id FROM observations \
     WHERE project = ?1 AND kind = ?2 AND at < ?3 AND NOT pinned ORDER BY at LIMIT ?4";

const KIND: WordColumn = WordColumn {
    name: "kind",
    knows: |word| ObsType::parse(word).is_some(),
    fallback: "tool_other",
};

impl Aggregate for Observations {
    fn name(&self) -> &'static str {
        "observations"
    }

    fn schema(&self) -> &'static str {
        include_str!("../schema/observations.sql")
    }

    fn records(&self) -> Option<&'static dyn Records> {
        Some(&Observations)
    }

    fn tables(&self) -> &'static [TableInfo] {
        const TABLES: &[TableInfo] = &[
            TableInfo {
                name: "observations",
                role: TableRole::Record,
                json: &["metadata"],
                words: &[KIND],
                references: &[
                    Reference::optional("file", "paths"),
                    Reference::needed("project", "projects"),
                    Reference::optional("prompt", "prompts"),
                    Reference::needed("session", "sessions"),
                ],
                at: Some("at"),
                times: &["at", "last_at"],
                ..TableInfo::PLAIN
            },
            TableInfo {
                name: "repeats",
                links: &[("observation", "observations"), ("session", "sessions")],
                ..TableInfo::PLAIN
            },
        ];
        TABLES
    }

    fn text_bytes(&self) -> Option<&'static str> {
        Some(
            "SELECT total(octet_length(content) + octet_length(coalesce(metadata, ''))) \
             FROM observations",
        )
    }

    fn after_sweep(&self, tx: &Tx<'_>, now: i64) -> Result<(), OpError> {
        let old = now.saturating_sub(limits::REPEAT_MS);
        tx.sql(|db| db.execute("DELETE FROM repeats WHERE at < ?1", [old]).map(drop))
    }
}

impl Records for Observations {
    fn document(&self, rx: &Rx<'_>, id: i64) -> Result<Option<Document>, OpError> {
        const SEARCHED: &str = "SELECT o.session, o.project, o.at, o.content, o.kind, f.path, \
             o.metadata FROM observations o LEFT JOIN paths f ON f.id = o.file WHERE o.id = ?1";
        let read = |row: &Row<'_>| {
            let kind = kind_of(&row.text(4)?);
            if kind.is_mark() {
                return Ok(None);
            }
            let metadata = row.text_or_null(6)?;
            let metadata = metadata.and_then(|text| serde_json::from_str(&text).ok());
            let metadata: Value = metadata.unwrap_or_default();
            let (content, path) = (row.text(3)?, row.text_or_null(5)?);
            let texts = vec![Observation::searched(&content, path.as_deref(), &metadata)];
            let (session, project, at) = (row.cell(0)?, row.cell(1)?, row.cell(2)?);
            Ok(Some(Document { id, session, project, at, kind: kind.word(), texts }))
        };
        let found = rx.sql(|db| db.prepare_cached(SEARCHED)?.query_row([id], read).optional())?;
        Ok(found.flatten())
    }

    fn documents(&self) -> &'static str {
        "SELECT o.id, o.project, o.session, o.at, o.kind, o.file,
         (SELECT s.agent FROM sessions s WHERE s.id = o.session) AS agent, o.failed, o.pinned
    FROM observations o"
    }

    fn can_be_pinned(&self) -> bool {
        true
    }

    fn remove(&self, tx: &Tx<'_>, id: i64) -> Result<(), OpError> {
        super::remove(tx, id)
    }

    fn text_columns(&self) -> TextColumns {
        TextColumns {
            from: "observations o LEFT JOIN paths f ON f.id = o.file",
            id: "o.id",
            plain: &["o.content", "f.path", "o.tool", "o.agent_id", "o.source_event", "o.metadata"],
            json: &["o.metadata"],
            indexed: &["o.content", "f.path"],
            unindexed: &["o.tool", "o.agent_id", "o.source_event", "o.metadata"],
        }
    }

    fn texts_after(&self, rx: &Rx<'_>, id: i64, limit: usize) -> Result<Vec<Texts>, OpError> {
        const AFTER: &str = "SELECT o.id, o.session, o.content, f.path, o.metadata \
             FROM observations o LEFT JOIN paths f ON f.id = o.file WHERE o.id > ?1 \
             ORDER BY 1 LIMIT ?2";
        let read = |row: &Row<'_>| {
            let metadata: Option<String> = row.cell(4)?;
            Ok(Texts {
                id: row.cell(0)?,
                session: row.cell(1)?,
                content: row.cell(2)?,
                file_path: row.cell(3)?,
                // Invalid JSON may contain a secret too: it is checked as one string.
                metadata: metadata
                    .map(|text| serde_json::from_str(&text).unwrap_or(Value::String(text))),
            })
        };
        rx.sql(|db| db.prepare_cached(AFTER)?.query_map(params![id, limit], read)?.collect())
    }

    fn replace_texts(
        &self,
        tx: &Tx<'_>,
        id: i64,
        new: &Replacement,
    ) -> Result<Option<bool>, OpError> {
        const FILE: &str = "SELECT file FROM observations WHERE id = ?1";
        const REPLACE: &str =
            "UPDATE observations SET content = ?2, file = ?3, metadata = ?4 WHERE id = ?1";
        let old: Option<Option<i64>> =
            tx.sql(|db| db.prepare_cached(FILE)?.query_row([id], |row| row.cell(0)).optional())?;
        let Some(old) = old else { return Ok(None) };
        let file = new.file_path.as_ref().map(|path| paths::intern(tx, path)).transpose()?;
        let metadata = new.metadata.as_ref().map(|metadata| metadata.to_string());
        let given = params![id, new.content.as_str(), file, metadata];
        if tx.sql_on_row(|db| db.prepare_cached(REPLACE)?.execute(given))?.is_none() {
            return Ok(Some(false));
        }
        if let Some(old) = old.filter(|old| Some(*old) != file) {
            paths::forget_unused(tx, old)?;
        }
        passages::renewed(tx, id)?;
        Ok(Some(true))
    }

    /// The index knows both ends of one project and one kind, so that no row is read.
    fn span(&self, rx: &Rx<'_>, project: i64) -> Result<Vec<i64>, OpError> {
        let mut ends = Vec::new();
        for (word, _) in recent::kinds(rx, project)? {
            for end in [FIRST_OF_KIND, LAST_OF_KIND] {
                let at: Option<i64> = rx.sql(|db| {
                    db.prepare_cached(end)?.query_row(params![project, word], |row| row.cell(0))
                })?;
                ends.extend(at);
            }
        }
        Ok(ends)
    }

    fn expired(
        &self,
        rx: &Rx<'_>,
        project: i64,
        expiry: &Expiry<'_>,
        limit: usize,
    ) -> Result<Vec<(i64, &'static str)>, OpError> {
        for (word, kind) in recent::kinds(rx, project)? {
            let cutoff = expiry.cutoff(kind.word(), kind.kept_days());
            let given = params![project, word, cutoff, limit];
            let read = |row: &Row<'_>| Ok((row.cell(0)?, kind.word()));
            let found: Vec<(i64, &'static str)> =
                rx.sql(|db| db.prepare_cached(OLD)?.query_map(given, read)?.collect())?;
            if !found.is_empty() {
                return Ok(found);
            }
        }
        Ok(Vec::new())
    }

    fn oldest(&self, rx: &Rx<'_>, limit: usize) -> Result<Vec<(i64, &'static str)>, OpError> {
        const OLDEST: &str =
            "SELECT id, kind FROM observations WHERE NOT pinned ORDER BY id LIMIT ?1";
        let read = |row: &Row<'_>| Ok((row.cell(0)?, kind_of(&row.text(1)?).word()));
        rx.sql(|db| db.prepare_cached(OLDEST)?.query_map([limit], read)?.collect())
    }
}
