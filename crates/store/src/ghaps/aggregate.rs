//! Ghaps as a row of the registry.

use model::OpError;
use model::ghap::{GhapDomain, GhapStatus, GhapStrategy};
use model::observation::{Observation, RecordType};
use rusqlite::{Row, params};
use serde_json::{Value, json};

use super::{ACTIVE, EXPERIENCE, SCHEME, by_id, remove};
use crate::aggregate::{Aggregate, Document, GuardedColumn, Records};
use crate::cells::Cells as _;
use crate::passages;
use crate::table_info::{Reference, TableInfo, TableRole, TextColumns, WordColumn};
use crate::texts::{Replacement, Texts};
use crate::tx::{Rx, Tx};

/// The row of the registry.
pub(crate) struct Ghaps;

const WORDS: &[WordColumn] = &[
    WordColumn {
        name: "domain",
        knows: |word| GhapDomain::parse(word).is_some(),
        fallback: "debugging",
    },
    WordColumn {
        name: "status",
        knows: |word| GhapStatus::parse(word).is_some(),
        fallback: "abandoned",
    },
    WordColumn {
        name: "strategy",
        knows: |word| GhapStrategy::parse(word).is_some(),
        fallback: "trial-and-error",
    },
];

/// The texts besides the goal, in the order of the statement that replaces them.
const OTHER_TEXTS: [&str; 10] = [
    "hypothesis",
    "action",
    "prediction",
    "result",
    "surprise",
    "root_cause",
    "lesson",
    "history",
    "notes",
    "evidence",
];

/// The position of the first JSON column in [`OTHER_TEXTS`].
const FIRST_JSON: usize = 5;

impl Aggregate for Ghaps {
    fn name(&self) -> &'static str {
        "ghaps"
    }

    fn schema(&self) -> &'static str {
        include_str!("../schema/ghaps.sql")
    }

    fn records(&self) -> Option<&'static dyn Records> {
        Some(&Ghaps)
    }

    fn tables(&self) -> &'static [TableInfo] {
        const TABLES: &[TableInfo] = &[TableInfo {
            name: "ghaps",
            role: TableRole::Record,
            is_indexed: true,
            json: &["history", "notes", "evidence", "root_cause", "lesson"],
            words: WORDS,
            references: &[Reference::needed("project", "projects")],
            links: &[("owner", "sessions")],
            at: Some("started_at"),
            root: Some("root"),
            times: &["at", "started_at", "changed_at"],
            agrees: None,
        }];
        TABLES
    }

    fn guarded_columns(&self) -> &'static [GuardedColumn] {
        const COLUMNS: &[GuardedColumn] = &[GuardedColumn::path("ghaps", "root", "ghap_root")];
        COLUMNS
    }

    fn text_bytes(&self) -> Option<&'static str> {
        Some(
            "SELECT total(octet_length(goal) + octet_length(hypothesis) + octet_length(action) \
             + octet_length(prediction) + octet_length(coalesce(result, '')) \
             + octet_length(coalesce(surprise, '')) + octet_length(coalesce(root_cause, '')) \
             + octet_length(coalesce(lesson, '')) + octet_length(history) + octet_length(notes) \
             + octet_length(evidence)) FROM ghaps",
        )
    }
}

impl Records for Ghaps {
    fn is_declared(&self) -> bool {
        true
    }

    fn kinds(&self) -> &'static [&'static str] {
        &[EXPERIENCE, ACTIVE]
    }

    fn scheme(&self) -> &'static str {
        SCHEME
    }

    fn document(&self, rx: &Rx<'_>, id: i64) -> Result<Option<Document>, OpError> {
        let document = |ghap: model::ghap::Ghap| Document {
            id,
            session: 0,
            project: ghap.project,
            at: ghap.at,
            kind: kind(ghap.status),
            texts: ghap.searched_texts(),
        };
        Ok(by_id(rx, id)?.map(document))
    }

    fn record(&self, rx: &Rx<'_>, id: i64) -> Result<Option<Observation>, OpError> {
        let Some(ghap) = by_id(rx, id)? else { return Ok(None) };
        let Some(obs_type) = RecordType::of(kind(ghap.status)) else { return Ok(None) };
        let metadata = json!({
            "ghap": ghap.name,
            "status": ghap.status,
            "domain": ghap.domain,
            "confidence_tier": ghap.tier,
        });
        Ok(Some(Observation {
            id,
            timestamp: ghap.at.div_euclid(1_000),
            session_id: String::new(),
            content: ghap.searched_texts().swap_remove(0),
            project: ghap.project_name,
            obs_type,
            source_event: String::new(),
            tool_name: None,
            file_path: None,
            metadata: Some(metadata),
            is_pinned: false,
            prompt_id: None,
            agent: String::new(),
            agent_id: None,
            damaged: false,
            at_ms: ghap.at,
            project_row: ghap.project,
        }))
    }

    fn documents(&self) -> &'static str {
        "SELECT g.id, g.project, g.session, g.at,
         CAST(CASE g.status WHEN 'hypothesis' THEN 'ghap' ELSE 'experience' END AS TEXT) AS kind,
         CAST(NULL AS INTEGER), CAST('' AS TEXT) AS agent, CAST(0 AS INTEGER), CAST(0 AS INTEGER)
    FROM ghaps g"
    }

    fn remove(&self, tx: &Tx<'_>, id: i64) -> Result<(), OpError> {
        remove(tx, id).map(drop)
    }

    fn text_columns(&self) -> TextColumns {
        TextColumns {
            from: "ghaps",
            id: "id",
            plain: &[
                "goal",
                "hypothesis",
                "action",
                "prediction",
                "result",
                "surprise",
                "root",
                "root_cause",
                "lesson",
                "history",
                "notes",
                "evidence",
            ],
            json: &["root_cause", "lesson", "history", "notes", "evidence"],
            indexed: &["goal", "hypothesis", "action", "prediction", "result", "surprise"],
            unindexed: &["root", "root_cause", "lesson", "history", "notes", "evidence"],
        }
    }

    fn texts_after(&self, rx: &Rx<'_>, id: i64, limit: usize) -> Result<Vec<Texts>, OpError> {
        let select = format!(
            "SELECT id, goal, {} FROM ghaps WHERE id > ?1 ORDER BY id LIMIT ?2",
            OTHER_TEXTS.join(", ")
        );
        let read = |row: &Row<'_>| {
            let mut metadata = serde_json::Map::new();
            for (place, name) in OTHER_TEXTS.iter().enumerate() {
                let Some(text) = row.cell::<Option<String>>(place + 2)? else { continue };
                let value = match place < FIRST_JSON {
                    true => Value::String(text),
                    false => serde_json::from_str(&text).unwrap_or_default(),
                };
                metadata.insert((*name).to_owned(), value);
            }
            let (id, content) = (row.cell(0)?, row.cell(1)?);
            let metadata = Some(Value::Object(metadata));
            Ok(Texts { id, session: 0, content, file_path: None, metadata })
        };
        rx.sql(|db| db.prepare_cached(&select)?.query_map(params![id, limit], read)?.collect())
    }

    fn replace_texts(
        &self,
        tx: &Tx<'_>,
        id: i64,
        new: &Replacement,
    ) -> Result<Option<bool>, OpError> {
        const REPLACE: &str = "UPDATE ghaps SET goal = ?2, hypothesis = coalesce(?3, hypothesis), \
             action = coalesce(?4, action), prediction = coalesce(?5, prediction), \
             result = coalesce(?6, result), surprise = coalesce(?7, surprise), \
             root_cause = coalesce(?8, root_cause), lesson = coalesce(?9, lesson), \
             history = coalesce(?10, history), notes = coalesce(?11, notes), \
             evidence = coalesce(?12, evidence) WHERE id = ?1";
        let metadata = new.metadata.as_ref();
        let text = |place: usize| {
            let value = metadata?.get(*OTHER_TEXTS.get(place)?)?;
            match value {
                Value::String(text) if place < FIRST_JSON => Some(text.clone()),
                Value::Object(_) | Value::Array(_) => Some(value.to_string()),
                _ => None,
            }
        };
        let goal = new.content.as_str();
        let given = params![
            id,
            goal,
            text(0),
            text(1),
            text(2),
            text(3),
            text(4),
            text(5),
            text(6),
            text(7),
            text(8),
            text(9)
        ];
        passages::replaced(tx, id, REPLACE, given)
    }
}

fn kind(status: GhapStatus) -> &'static str {
    if status == GhapStatus::Hypothesis { ACTIVE } else { EXPERIENCE }
}
