//! Learned values as a row of the registry.

use model::OpError;
use model::observation::{Observation, RecordType};
use model::value::cluster_id;
use rusqlite::{Row, params};
use serde_json::json;

use super::{KIND, by_id, remove};
use crate::aggregate::{Aggregate, Document, GuardedColumn, Records};
use crate::cells::Cells as _;
use crate::clusters::AXIS;
use crate::passages;
use crate::table_info::{Reference, TableInfo, TableRole, TextColumns};
use crate::texts::{Replacement, Texts};
use crate::tx::{Rx, Tx};

/// The row of the registry.
pub(crate) struct LearnedValues;

impl Aggregate for LearnedValues {
    fn name(&self) -> &'static str {
        "learned_values"
    }

    fn schema(&self) -> &'static str {
        include_str!("../schema/learned_values.sql")
    }

    fn records(&self) -> Option<&'static dyn Records> {
        Some(&LearnedValues)
    }

    fn tables(&self) -> &'static [TableInfo] {
        const TABLES: &[TableInfo] = &[TableInfo {
            name: "learned_values",
            role: TableRole::Record,
            is_indexed: true,
            words: AXIS,
            references: &[Reference::needed("project", "projects")],
            links: &[("stored_in", "sessions")],
            at: Some("at"),
            root: Some("root"),
            times: &["at"],
            ..TableInfo::PLAIN
        }];
        TABLES
    }

    fn guarded_columns(&self) -> &'static [GuardedColumn] {
        const COLUMNS: &[GuardedColumn] =
            &[GuardedColumn::path("learned_values", "root", "value_root")];
        COLUMNS
    }

    fn text_bytes(&self) -> Option<&'static str> {
        Some("SELECT total(octet_length(value)) FROM learned_values")
    }
}

impl Records for LearnedValues {
    fn is_declared(&self) -> bool {
        true
    }

    fn kinds(&self) -> &'static [&'static str] {
        &[KIND]
    }

    fn scheme(&self) -> &'static str {
        KIND
    }

    fn document(&self, rx: &Rx<'_>, id: i64) -> Result<Option<Document>, OpError> {
        let document = |value: super::LearnedValue| Document {
            id,
            session: 0,
            project: value.project,
            at: value.at,
            kind: KIND,
            texts: vec![value.text],
        };
        Ok(by_id(rx, id)?.map(document))
    }

    fn record(&self, rx: &Rx<'_>, id: i64) -> Result<Option<Observation>, OpError> {
        let Some(value) = by_id(rx, id)? else { return Ok(None) };
        let Some(obs_type) = RecordType::of(KIND) else { return Ok(None) };
        let cluster = cluster_id(value.axis, value.cluster);
        Ok(Some(Observation {
            id,
            timestamp: value.at.div_euclid(1_000),
            session_id: String::new(),
            content: value.text,
            project: value.project_name,
            obs_type,
            source_event: String::new(),
            tool_name: None,
            file_path: None,
            metadata: Some(json!({ "value": value.name, "cluster_id": cluster })),
            is_pinned: false,
            prompt_id: None,
            agent: String::new(),
            agent_id: None,
            damaged: false,
            at_ms: value.at,
            project_row: value.project,
        }))
    }

    fn documents(&self) -> &'static str {
        "SELECT v.id, v.project, v.session, v.at, CAST('value' AS TEXT) AS kind,
         CAST(NULL AS INTEGER), CAST('' AS TEXT) AS agent, CAST(0 AS INTEGER), CAST(0 AS INTEGER)
    FROM learned_values v"
    }

    fn remove(&self, tx: &Tx<'_>, id: i64) -> Result<(), OpError> {
        remove(tx, id).map(drop)
    }

    fn text_columns(&self) -> TextColumns {
        TextColumns {
            from: "learned_values",
            id: "id",
            plain: &["value", "root"],
            json: &[],
            indexed: &["value"],
            unindexed: &["root"],
        }
    }

    fn texts_after(&self, rx: &Rx<'_>, id: i64, limit: usize) -> Result<Vec<Texts>, OpError> {
        const AFTER: &str =
            "SELECT id, value FROM learned_values WHERE id > ?1 ORDER BY id LIMIT ?2";
        let read = |row: &Row<'_>| {
            let (id, content) = (row.cell(0)?, row.cell(1)?);
            Ok(Texts { id, session: 0, content, file_path: None, metadata: None })
        };
        rx.sql(|db| db.prepare_cached(AFTER)?.query_map(params![id, limit], read)?.collect())
    }

    fn replace_texts(
        &self,
        tx: &Tx<'_>,
        id: i64,
        new: &Replacement,
    ) -> Result<Option<bool>, OpError> {
        const REPLACE: &str = "UPDATE learned_values SET value = ?2 WHERE id = ?1";
        passages::replaced(tx, id, REPLACE, params![id, new.content.as_str()])
    }
}
