//! Sessions as a row of the registry. A session's record is its summary.

use model::OpError;
use model::observation::ObsType;
use model::session::SessionState;
use rusqlite::{OptionalExtension, Row};

use super::{SessionWork, end_if_quiet, summarise, summary_of, was_active};
use crate::aggregate::{Aggregate, Document, Expiry, GuardedColumn, Records, Registry};
use crate::cells::Cells as _;
use crate::table_info::{Reference, TableInfo, TableRole, TextColumns, WordColumn};
use crate::tx::{Rx, Tx};

pub(crate) struct Sessions;

/// The names and directories of sessions: if one of them contains a searched text, all records of the session match.
pub(crate) const NAMES: TextColumns = TextColumns {
    from: "sessions",
    id: "id",
    plain: &["name", "root"],
    json: &[],
    indexed: &[],
    unindexed: &["name", "root"],
};

/// The query for the sessions of a project that are past their age limit and have no record left.
pub(crate) fn old_sessions(registry: &Registry) -> String {
    let kinds = registry.records().filter(|records| records.in_session());
    let empty: String = kinds
        .map(|kind| format!("AND NOT EXISTS (SELECT 1 FROM {} WHERE session = s.id) ", kind.name()))
        .collect();
    format!(
        "SELECT id FROM sessions s WHERE project = ?1 AND last_at < ?2 AND NOT pinned \
         {empty}ORDER BY last_at LIMIT ?3"
    )
}

const STATE: WordColumn = WordColumn {
    name: "state",
    knows: |word| SessionState::parse(word).is_some(),
    fallback: "ended",
};

impl Aggregate for Sessions {
    fn name(&self) -> &'static str {
        "sessions"
    }

    fn schema(&self) -> &'static str {
        include_str!("../schema/sessions.sql")
    }

    fn records(&self) -> Option<&'static dyn Records> {
        Some(&Sessions)
    }

    fn tables(&self) -> &'static [TableInfo] {
        const TABLES: &[TableInfo] = &[TableInfo {
            name: "sessions",
            role: TableRole::Referred,
            is_indexed: true,
            json: &["signature", "summary"],
            words: &[STATE],
            references: &[Reference::needed("project", "projects")],
            links: &[("parent", "sessions")],
            at: Some("started_at"),
            times: &["started_at", "last_at", "ended_at"],
            ..TableInfo::PLAIN
        }];
        TABLES
    }

    fn guarded_columns(&self) -> &'static [GuardedColumn] {
        const COLUMNS: &[GuardedColumn] =
            &[GuardedColumn::path("sessions", "root", "session_root")];
        COLUMNS
    }

    fn text_bytes(&self) -> Option<&'static str> {
        Some("SELECT total(octet_length(summary)) FROM sessions")
    }

    fn before_commit(&self, tx: &Tx<'_>) -> Result<(), OpError> {
        let SessionWork { active, over, summaries } = tx.take_deferred();
        for (session, at) in active {
            tx.unless_fault(was_active(tx, session, at))?;
        }
        for (session, until) in over {
            tx.unless_fault(end_if_quiet(tx, session, until))?;
        }
        summaries.into_iter().try_for_each(|session| tx.unless_fault(summarise(tx, session)))
    }
}

impl Records for Sessions {
    fn document(&self, rx: &Rx<'_>, id: i64) -> Result<Option<Document>, OpError> {
        const SEARCHED: &str = "SELECT project, last_at, summary FROM sessions WHERE id = ?1";
        let read = |row: &Row<'_>| {
            let (project, at) = (row.cell(0)?, row.cell(1)?);
            let Some(text) = row.text_or_null(2)? else { return Ok(None) };
            // A summary is about the session and not one of its records.
            let (session, kind) = (0, ObsType::SessionSummary.word());
            let texts = vec![summary_of(&text).text()];
            Ok(Some(Document { id, session, project, at, kind, texts }))
        };
        let found = rx.sql(|db| db.prepare_cached(SEARCHED)?.query_row([id], read).optional())?;
        Ok(found.flatten())
    }

    fn documents(&self) -> &'static str {
        "SELECT s.id, s.project, s.id AS session, s.last_at AS at, CAST('session_summary' AS TEXT) AS kind,
         CAST(NULL AS INTEGER), s.agent, CAST(0 AS INTEGER), s.pinned
    FROM sessions s"
    }

    fn in_session(&self) -> bool {
        false
    }

    fn can_be_pinned(&self) -> bool {
        true
    }

    fn remove(&self, tx: &Tx<'_>, id: i64) -> Result<(), OpError> {
        super::remove(tx, id)
    }

    fn text_columns(&self) -> TextColumns {
        let summary = &["summary"];
        TextColumns {
            from: "sessions",
            id: "id",
            plain: summary,
            json: summary,
            indexed: summary,
            unindexed: &[],
        }
    }

    /// The times of a session are those of its records.
    fn span(&self, _rx: &Rx<'_>, _project: i64) -> Result<Vec<i64>, OpError> {
        Ok(Vec::new())
    }

    fn expired(
        &self,
        rx: &Rx<'_>,
        project: i64,
        expiry: &Expiry<'_>,
        limit: usize,
    ) -> Result<Vec<(i64, &'static str)>, OpError> {
        let kind = ObsType::SessionSummary;
        let old = old_sessions(rx.registry());
        expiry.ids(rx, &old, (kind.word(), kind.kept_days()), (project, limit))
    }
}
