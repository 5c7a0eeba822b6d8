//! Bookmarks: web pages, each with a note. They are the store's part of the sample plugin, which shows all that a plugin
//! can bring and is compiled for tests only; CONTRIBUTING.md walks through it.

#![cfg(any(test, feature = "bookmarks"))]

use model::OpError;
use model::observation::{Observation, RecordType};
use rusqlite::{OptionalExtension, Row, params};
use serde_json::json;
use text::secrets::Redacted;

use crate::aggregate::{Aggregate, Document, Expiry, GuardedColumn, Records};
use crate::cells::Cells as _;
use crate::table_info::{Reference, TableInfo, TableRole, TextColumns};
use crate::texts::{Replacement, Texts};
use crate::tx::{Rx, Tx};
use crate::{passages, record_ids};

/// The row of the registry.
pub struct Bookmarks;

/// The word for the kind of these records.
pub const KIND: &str = "bookmark";

/// How many days a bookmark is kept.
const KEPT_DAYS: i64 = 365;

/// A bookmark to be stored.
pub struct NewBookmark<'a> {
    /// The session in the store, if an agent fetched the page.
    pub session: Option<i64>,
    pub project: i64,
    /// The root of the project's directory where the user added it, if it is in no session.
    pub root: Option<&'a str>,
    /// Milliseconds since 1970, UTC.
    pub at: i64,
    pub url: &'a Redacted<String>,
    pub note: &'a Redacted<String>,
}

/// A stored bookmark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bookmark {
    pub id: i64,
    /// Milliseconds since 1970, UTC.
    pub at: i64,
    pub url: String,
    pub note: String,
}

/// Stores a bookmark and marks it for the index.
pub fn add(tx: &Tx<'_>, new: &NewBookmark<'_>) -> Result<i64, OpError> {
    const ADD: &str = "INSERT INTO bookmarks (id, session, project, root, at, url, note) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let id = record_ids::next(tx)?;
    let NewBookmark { session, project, root, at, url, note } = new;
    let given = params![id, session, project, root, at, url.as_str(), note.as_str()];
    tx.sql(|db| db.prepare_cached(ADD)?.execute(given))?;
    passages::add(tx, id)?;
    Ok(id)
}

/// The newest bookmarks of these projects, or of all.
pub fn newest(
    rx: &Rx<'_>,
    projects: Option<&[i64]>,
    limit: usize,
) -> Result<Vec<Bookmark>, OpError> {
    const NEWEST: &str = "SELECT id, at, url, note FROM bookmarks \
         WHERE ?1 IS NULL OR project IN (SELECT value FROM json_each(?1)) \
         ORDER BY at DESC, id DESC LIMIT ?2";
    let projects = projects.map(|ids| json!(ids).to_string());
    let given = params![projects, limit];
    rx.sql(|db| db.prepare_cached(NEWEST)?.query_map(given, bookmark)?.collect())
}

/// The bookmark with this id.
pub fn get(rx: &Rx<'_>, id: i64) -> Result<Option<Bookmark>, OpError> {
    const ONE: &str = "SELECT id, at, url, note FROM bookmarks WHERE id = ?1";
    rx.sql(|db| db.prepare_cached(ONE)?.query_row([id], bookmark).optional())
}

fn bookmark(row: &Row<'_>) -> rusqlite::Result<Bookmark> {
    Ok(Bookmark { id: row.cell(0)?, at: row.cell(1)?, url: row.cell(2)?, note: row.cell(3)? })
}

/// The ids of older bookmarks with the page of a newer one in the same project, in order.
pub fn repeated(rx: &Rx<'_>) -> Result<Vec<i64>, OpError> {
    const REPEATED: &str = "SELECT id FROM bookmarks b WHERE EXISTS (SELECT 1 FROM bookmarks \
         WHERE url = b.url AND project = b.project AND (at, id) > (b.at, b.id)) ORDER BY id";
    rx.sql(|db| db.prepare(REPEATED)?.query_map([], |row| row.cell(0))?.collect())
}

/// Removes a bookmark and its words.
pub fn remove(tx: &Tx<'_>, id: i64) -> Result<(), OpError> {
    passages::remove(tx, id)?;
    tx.sql(|db| db.prepare_cached("DELETE FROM bookmarks WHERE id = ?1")?.execute([id]).map(drop))
}

impl Aggregate for Bookmarks {
    fn name(&self) -> &'static str {
        "bookmarks"
    }

    fn schema(&self) -> &'static str {
        include_str!("schema/bookmarks.sql")
    }

    fn records(&self) -> Option<&'static dyn Records> {
        Some(&Bookmarks)
    }

    fn tables(&self) -> &'static [TableInfo] {
        const TABLES: &[TableInfo] = &[TableInfo {
            name: "bookmarks",
            role: TableRole::Record,
            references: &[
                Reference::needed("project", "projects"),
                Reference::optional("session", "sessions"),
            ],
            at: Some("at"),
            root: Some("root"),
            times: &["at"],
            ..TableInfo::PLAIN
        }];
        TABLES
    }

    fn guarded_columns(&self) -> &'static [GuardedColumn] {
        const COLUMNS: &[GuardedColumn] =
            &[GuardedColumn::path("bookmarks", "root", "bookmark_root")];
        COLUMNS
    }

    fn text_bytes(&self) -> Option<&'static str> {
        Some("SELECT total(octet_length(url) + octet_length(note)) FROM bookmarks")
    }
}

impl Records for Bookmarks {
    fn kinds(&self) -> &'static [&'static str] {
        &[KIND]
    }

    fn scheme(&self) -> &'static str {
        KIND
    }

    /// Address and note are two texts, so that a long note does not hide the address.
    fn document(&self, rx: &Rx<'_>, id: i64) -> Result<Option<Document>, OpError> {
        const SEARCHED: &str = "SELECT coalesce(session, 0), project, at, url, note \
             FROM bookmarks WHERE id = ?1";
        let read = |row: &Row<'_>| {
            let (session, project, at) = (row.cell(0)?, row.cell(1)?, row.cell(2)?);
            let texts = vec![row.cell(3)?, row.cell(4)?];
            Ok(Document { id, session, project, at, kind: KIND, texts })
        };
        rx.sql(|db| db.prepare_cached(SEARCHED)?.query_row([id], read).optional())
    }

    fn record(&self, rx: &Rx<'_>, id: i64) -> Result<Option<Observation>, OpError> {
        const SHOWN: &str = "SELECT b.at, coalesce(s.name, ''), coalesce(p.name, ''), b.project, \
             coalesce(s.agent, ''), b.url, b.note FROM bookmarks b \
             LEFT JOIN sessions s ON s.id = b.session LEFT JOIN projects p ON p.id = b.project \
             WHERE b.id = ?1";
        let Some(obs_type) = RecordType::of(KIND) else { return Ok(None) };
        let read = |row: &Row<'_>| {
            let at_ms: i64 = row.cell(0)?;
            let (url, note): (String, String) = (row.cell(5)?, row.cell(6)?);
            Ok(Observation {
                id,
                timestamp: at_ms.div_euclid(1_000),
                session_id: row.cell(1)?,
                project: row.cell(2)?,
                obs_type,
                source_event: String::new(),
                tool_name: None,
                file_path: None,
                content: format!("{url}\n{note}"),
                metadata: Some(json!({ "url": url })),
                is_pinned: false,
                prompt_id: None,
                agent: row.cell(4)?,
                agent_id: None,
                damaged: false,
                at_ms,
                project_row: row.cell(3)?,
            })
        };
        rx.sql(|db| db.prepare_cached(SHOWN)?.query_row([id], read).optional())
    }

    fn documents(&self) -> &'static str {
        "SELECT b.id, b.project, b.session, b.at, CAST('bookmark' AS TEXT) AS kind, CAST(NULL AS INTEGER),
         (SELECT s.agent FROM sessions s WHERE s.id = b.session) AS agent, CAST(0 AS INTEGER), CAST(0 AS INTEGER)
    FROM bookmarks b"
    }

    fn remove(&self, tx: &Tx<'_>, id: i64) -> Result<(), OpError> {
        remove(tx, id)
    }

    fn text_columns(&self) -> TextColumns {
        let words = &["url", "note"];
        TextColumns {
            from: "bookmarks",
            id: "id",
            plain: &["url", "note", "root"],
            json: &[],
            indexed: words,
            unindexed: &["root"],
        }
    }

    fn texts_after(&self, rx: &Rx<'_>, id: i64, limit: usize) -> Result<Vec<Texts>, OpError> {
        const AFTER: &str = "SELECT id, coalesce(session, 0), note, url FROM bookmarks \
             WHERE id > ?1 ORDER BY id LIMIT ?2";
        let read = |row: &Row<'_>| {
            let metadata = Some(json!({ "url": row.cell::<String>(3)? }));
            let (id, session, content) = (row.cell(0)?, row.cell(1)?, row.cell(2)?);
            Ok(Texts { id, session, content, file_path: None, metadata })
        };
        rx.sql(|db| db.prepare_cached(AFTER)?.query_map(params![id, limit], read)?.collect())
    }

    fn replace_texts(
        &self,
        tx: &Tx<'_>,
        id: i64,
        new: &Replacement,
    ) -> Result<Option<bool>, OpError> {
        const REPLACE: &str =
            "UPDATE bookmarks SET note = ?2, url = coalesce(?3, url) WHERE id = ?1";
        let url = new.metadata.as_ref().and_then(|metadata| metadata.get("url")?.as_str());
        let given = params![id, new.content.as_str(), url];
        passages::replaced(tx, id, REPLACE, given)
    }

    fn expired(
        &self,
        rx: &Rx<'_>,
        project: i64,
        expiry: &Expiry<'_>,
        limit: usize,
    ) -> Result<Vec<(i64, &'static str)>, OpError> {
        const OLD: &str = "SELECT id FROM bookmarks WHERE project = ?1 AND at < ?2 \
             ORDER BY at LIMIT ?3";
        expiry.ids(rx, OLD, (KIND, KEPT_DAYS), (project, limit))
    }

    fn oldest(&self, rx: &Rx<'_>, limit: usize) -> Result<Vec<(i64, &'static str)>, OpError> {
        const OLDEST: &str = "SELECT id FROM bookmarks ORDER BY id LIMIT ?1";
        let read = |row: &Row<'_>| Ok((row.cell(0)?, KIND));
        rx.sql(|db| db.prepare_cached(OLDEST)?.query_map([limit], read)?.collect())
    }
}
