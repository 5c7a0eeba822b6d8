//! Memories in the store: texts that an agent or a user asked to keep. A newer memory can supersede older ones; each
//! memory has at most one direct successor, so the chain of successors ends at the current memory.

use meaning::Vector;
use model::OpError;
use model::memory::{MemoryCategory, MemoryStatus, id_of};
use model::observation::{Observation, RecordType};
use model::origin::Origin;
use rusqlite::{OptionalExtension, Row, params};
use serde_json::{Value, json};
use text::secrets::Redacted;

use crate::aggregate::{Aggregate, Document, GuardedColumn, Records, json_ids};
use crate::calls;
use crate::cells::Cells as _;
pub use crate::memory_vectors::NearestMemories;
use crate::memory_vectors::{KnownVectors, MemoryVectors};
use crate::table_info::{Reference, TableInfo, TableRole, TextColumns, WordColumn};
use crate::texts::{Replacement, Texts};
use crate::tx::{Rx, Tx};
use crate::{origins, passages, prefixes, receipts, record_ids};

/// The row of the registry.
pub(crate) struct Memories;

/// The word for the kind of these records, and the scheme of their entries.
pub const KIND: &str = "memory";

/// The column with the category.
const CATEGORY: WordColumn = WordColumn {
    name: "category",
    knows: |word| MemoryCategory::parse(word).is_some(),
    fallback: "fact",
};

/// A memory to be stored.
pub struct NewMemory<'a> {
    pub project: i64,
    /// The session of the call, in the store.
    pub stored_in: Option<i64>,
    /// The root of the project's directory where it was stored, by which a split of the project moves it.
    pub root: Option<&'a str>,
    /// Milliseconds since 1970, UTC.
    pub at: i64,
    pub category: MemoryCategory,
    /// From 0 to 1.
    pub importance: f64,
    pub tags: &'a [Redacted<String>],
    pub content: &'a Redacted<String>,
}

/// A stored memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// The record id.
    pub id: i64,
    pub uuid: String,
    pub project: i64,
    /// The session of the call that stored it, in the store.
    pub stored_in: Option<i64>,
    pub at: i64,
    pub category: MemoryCategory,
    pub importance: f64,
    pub tags: Vec<String>,
    pub content: String,
    /// The record id of the memory that superseded it.
    pub superseded_by: Option<i64>,
}

impl Memory {
    pub fn status(&self) -> MemoryStatus {
        match self.superseded_by {
            None => MemoryStatus::Stored,
            Some(_) => MemoryStatus::Superseded,
        }
    }
}

/// Stores a memory. Returns its record id and its UUID.
pub fn add(tx: &Tx<'_>, new: &NewMemory<'_>) -> Result<(i64, String), OpError> {
    const RANDOM: &str = "SELECT random(), random()";
    let read = |row: &Row<'_>| Ok([row.cell::<i64>(0)?, row.cell::<i64>(1)?]);
    let [high, low] = tx.sql(|db| db.prepare_cached(RANDOM)?.query_row([], read))?;
    let random = (u128::from(high.cast_unsigned()) << 64) | u128::from(low.cast_unsigned());
    let uuid = id_of(random.to_be_bytes());
    Ok((add_with_uuid(tx, new, &uuid)?, uuid))
}

/// Stores a memory under a UUID that no other has. Returns its record id.
pub(crate) fn add_with_uuid(tx: &Tx<'_>, new: &NewMemory<'_>, uuid: &str) -> Result<i64, OpError> {
    const ADD: &str = "INSERT INTO memories \
         (id, uuid, stored_in, project, root, at, category, importance, tags, content) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    let id = record_ids::next(tx)?;
    let NewMemory { project, stored_in, root, at, category, importance, tags, content } = new;
    let tags: Vec<&str> = tags.iter().map(|tag| tag.as_str()).collect();
    let tags = json!(tags).to_string();
    let (category, content) = (category.word(), content.as_str());
    let given =
        params![id, uuid, stored_in, project, root, at, category, importance, tags, content];
    tx.sql(|db| db.prepare_cached(ADD)?.execute(given))?;
    passages::add(tx, id)?;
    Ok(id)
}

/// Notes where an imported memory comes from: the tool or the kind of file, and a hash of the file's path.
pub(crate) fn set_source(
    tx: &Tx<'_>,
    id: i64,
    source: Option<&str>,
    file: Option<Origin>,
) -> Result<(), OpError> {
    const SET: &str = "INSERT INTO memory_sources (id, source, file) VALUES (?1, ?2, ?3)";
    let Some(source) = source else { return Ok(()) };
    let given = params![id, source, file.map(|file| file.0)];
    tx.sql(|db| db.prepare_cached(SET)?.execute(given).map(drop))
}

/// Changes the source of an imported memory: its file is now read by another agent too, or no longer.
pub(crate) fn rename_source(tx: &Tx<'_>, id: i64, source: &str) -> Result<(), OpError> {
    const RENAME: &str = "UPDATE memory_sources SET source = ?2 WHERE id = ?1 AND source <> ?2";
    tx.sql(|db| db.prepare_cached(RENAME)?.execute(params![id, source]).map(drop))
}

/// The tool or the kind of file that a memory was imported from.
pub fn source(rx: &Rx<'_>, id: i64) -> Result<Option<String>, OpError> {
    const SOURCE: &str = "SELECT source FROM memory_sources WHERE id = ?1";
    rx.sql(|db| db.prepare_cached(SOURCE)?.query_row([id], |row| row.cell(0)).optional())
}

/// The memories of a file that is imported as a whole: record ids.
pub fn of_file(rx: &Rx<'_>, file: Origin) -> Result<Vec<i64>, OpError> {
    const OF_FILE: &str = "SELECT id FROM memory_sources WHERE file = ?1 ORDER BY id";
    rx.sql(|db| db.prepare_cached(OF_FILE)?.query_map([file.0], |row| row.cell(0))?.collect())
}

/// The UUIDs of the memories that this one superseded.
pub(crate) fn superseded_uuids(rx: &Rx<'_>, id: i64) -> Result<Vec<String>, OpError> {
    const SUPERSEDED: &str = "SELECT uuid FROM memories WHERE superseded_by = ?1 ORDER BY id";
    rx.sql(|db| db.prepare_cached(SUPERSEDED)?.query_map([id], |row| row.cell(0))?.collect())
}

/// Lets the memory `by` supersede another one. If that is superseded already, its current successor is superseded instead.
/// Returns the memory that was superseded; none if it is the new one itself.
pub fn supersede(tx: &Tx<'_>, old: &Memory, by: i64) -> Result<Option<Memory>, OpError> {
    const SUPERSEDE: &str = "UPDATE memories SET superseded_by = ?2 WHERE id = ?1";
    let current = current(tx, old.id)?;
    if current == by {
        return Ok(None);
    }
    tx.sql(|db| db.prepare_cached(SUPERSEDE)?.execute([current, by]))?;
    get(tx, current)
}

const COLUMNS: &str = "SELECT id, uuid, project, stored_in, at, category, importance, tags, content, \
     superseded_by FROM memories";

fn memory(row: &Row<'_>) -> rusqlite::Result<Memory> {
    let tags: String = row.cell(7)?;
    Ok(Memory {
        id: row.cell(0)?,
        uuid: row.cell(1)?,
        project: row.cell(2)?,
        stored_in: row.cell(3)?,
        at: row.cell(4)?,
        category: MemoryCategory::parse(&row.text(5)?).unwrap_or(MemoryCategory::Fact),
        importance: row.cell(6)?,
        tags: serde_json::from_str(&tags).unwrap_or_default(),
        content: row.cell(8)?,
        superseded_by: row.cell(9)?,
    })
}

/// The memory with this record id.
pub fn get(rx: &Rx<'_>, id: i64) -> Result<Option<Memory>, OpError> {
    let select = format!("{COLUMNS} WHERE id = ?1");
    rx.sql(|db| db.prepare_cached(&select)?.query_row([id], memory).optional())
}

/// The memory with this UUID.
pub fn by_uuid(rx: &Rx<'_>, uuid: &str) -> Result<Option<Memory>, OpError> {
    let select = format!("{COLUMNS} WHERE uuid = ?1");
    rx.sql(|db| db.prepare_cached(&select)?.query_row([uuid], memory).optional())
}

/// The condition that a memory's id begins with the first parameter. No id has a character above `f`.
const HAS_PREFIX: &str = "uuid >= ?1 AND uuid < ?1 || 'g'";

/// Memories whose ids begin with these characters, the newest first, and how many there are.
pub fn with_prefix(
    rx: &Rx<'_>,
    prefix: &str,
    limit: usize,
) -> Result<(Vec<Memory>, usize), OpError> {
    let select = format!("{COLUMNS} WHERE {HAS_PREFIX} ORDER BY at DESC, id DESC LIMIT ?2");
    let count = format!("SELECT count(*) FROM memories WHERE {HAS_PREFIX}");
    let found = rx
        .sql(|db| db.prepare_cached(&select)?.query_map(params![prefix, limit], memory)?.collect());
    let count = rx.sql(|db| db.prepare_cached(&count)?.query_row([prefix], |row| row.cell(0)));
    Ok((found?, count?))
}

/// How many first characters distinguish the id of each of these memories from all others, if more than usual.
pub fn prefix_chars<'n>(
    rx: &Rx<'_>,
    uuids: impl Iterator<Item = &'n str>,
) -> Result<Option<usize>, OpError> {
    let neighbours = "SELECT (SELECT max(uuid) FROM memories WHERE uuid < ?1), \
         (SELECT min(uuid) FROM memories WHERE uuid > ?1)";
    prefixes::chars_apart(rx, uuids, neighbours)
}

/// The memories of these projects, or of all, newest first.
pub fn newest(rx: &Rx<'_>, projects: Option<&[i64]>, limit: usize) -> Result<Vec<Memory>, OpError> {
    let select = format!(
        "{COLUMNS} WHERE ?1 IS NULL OR project IN (SELECT value FROM json_each(?1)) \
         ORDER BY at DESC, id DESC LIMIT ?2"
    );
    let projects = projects.map(|ids| json_ids(ids.iter().copied()));
    let given = params![projects, i64::try_from(limit).unwrap_or(i64::MAX)];
    rx.sql(|db| db.prepare_cached(&select)?.query_map(given, memory)?.collect())
}

/// The memories that are nearest to the beginning of a text, nearest first: record ids with cosines. Memories that are not
/// indexed yet are included.
pub fn nearest(
    rx: &Rx<'_>,
    text: &str,
    wanted: NearestMemories<'_>,
) -> Result<Vec<(i64, f64)>, OpError> {
    let Some(vector) = beginning(text) else { return Ok(Vec::new()) };
    let passages = rx.passages()?;
    let own = MemoryVectors::default();
    let (vectors, changes) = rx.memory_vectors().unwrap_or((&own, 0));
    let mut known = vectors.after((passages.changes(), changes));
    known.add_indexed(&passages, rx.registry().kind_of(KIND));
    add_unindexed(rx, &mut known)?;
    Ok(known.nearest(&passages, &vector, wanted))
}

/// Adds the memories that were written since and are not indexed, and removes those that are indexed by now.
fn add_unindexed(rx: &Rx<'_>, known: &mut KnownVectors) -> Result<(), OpError> {
    const ENDS: &str = "SELECT (SELECT min(doc) FROM unindexed), (SELECT max(doc) FROM unindexed)";
    const NEW: &str = "SELECT m.id, m.project FROM unindexed u CROSS JOIN memories m \
         ON m.id = u.doc WHERE u.doc > ?1 ORDER BY u.doc";
    let ends: (Option<i64>, Option<i64>) = rx
        .sql(|db| db.prepare_cached(ENDS)?.query_row([], |row| Ok((row.cell(0)?, row.cell(1)?))))?;
    let (Some(after), (_, Some(last))) = (known.keep_unindexed(ends), ends) else { return Ok(()) };
    let rows: Vec<(i64, i64)> = rx.sql(|db| {
        let mut select = db.prepare_cached(NEW)?;
        select.query_map([after], |row| Ok((row.cell(0)?, row.cell(1)?)))?.collect()
    })?;
    for (id, project) in rows {
        if let Some(vector) = get(rx, id)?.and_then(|memory| beginning(&memory.content)) {
            known.add_unindexed((id, project), &vector);
        }
    }
    known.set_last(last);
    Ok(())
}

/// The embedding of the beginning of a text.
fn beginning(text: &str) -> Option<Vector> {
    let first = text::passages::passages(text).into_iter().next()?;
    Vector::of(first)
}

/// The memories from this one to the current one: itself first, each followed by its successor.
pub fn successors(rx: &Rx<'_>, id: i64) -> Result<Vec<Memory>, OpError> {
    let mut chain: Vec<Memory> = Vec::new();
    let mut next = Some(id);
    while let Some(id) = next.filter(|_| chain.len() < model::limits::MEMORY_CHAIN_MAX) {
        let Some(memory) = get(rx, id)? else { break };
        next = memory.superseded_by;
        chain.push(memory);
    }
    Ok(chain)
}

/// The memories that this one superseded, directly (these first) or through others.
pub fn predecessors(rx: &Rx<'_>, id: i64) -> Result<Vec<Memory>, OpError> {
    let select = format!("{COLUMNS} WHERE superseded_by = ?1 ORDER BY id DESC");
    let mut found: Vec<Memory> = Vec::new();
    let mut next = Some(id);
    let mut followed = 0;
    while let Some(id) = next.filter(|_| found.len() < model::limits::MEMORY_CHAIN_MAX) {
        let direct: Vec<Memory> =
            rx.sql(|db| db.prepare_cached(&select)?.query_map([id], memory)?.collect())?;
        found.extend(direct);
        next = found.get(followed).map(|memory| memory.id);
        followed += 1;
    }
    Ok(found)
}

/// The record id of the current successor of this memory: itself if it is not superseded.
pub fn current(rx: &Rx<'_>, id: i64) -> Result<i64, OpError> {
    const NEXT: &str = "SELECT superseded_by FROM memories WHERE id = ?1";
    let mut current = id;
    for _ in 0..model::limits::MEMORY_CHAIN_MAX {
        let next: Option<Option<i64>> = rx.sql(|db| {
            db.prepare_cached(NEXT)?.query_row([current], |row| row.cell(0)).optional()
        })?;
        match next.flatten() {
            Some(next) => current = next,
            None => break,
        }
    }
    Ok(current)
}

/// Deletes a memory for the user: an import does not bring it back. Returns the UUIDs of the memories that are current
/// again.
pub fn delete(tx: &Tx<'_>, id: i64) -> Result<Vec<String>, OpError> {
    origins::forget(tx, &json_ids([id]))?;
    remove(tx, id)
}

/// Deletes the memories of a file that the file no longer contains: those without any of these origins. Returns how
/// many.
pub fn retain_of_file(tx: &Tx<'_>, file: Origin, present: &[Origin]) -> Result<u64, OpError> {
    let mut removed = 0;
    for id in of_file(tx, file)? {
        let origins = origins::all_of(tx, id)?;
        if !origins.iter().any(|origin| present.contains(origin)) {
            remove(tx, id)?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// Deletes a memory. The memories that it superseded get its own successor; without one they are current again. Returns the
/// UUIDs of those that are current again.
pub fn remove(tx: &Tx<'_>, id: i64) -> Result<Vec<String>, OpError> {
    const AGAIN: &str = "UPDATE memories SET superseded_by = \
         (SELECT superseded_by FROM memories WHERE id = ?1) WHERE superseded_by = ?1 \
         RETURNING uuid, superseded_by";
    const REMOVE: &str = "DELETE FROM memories WHERE id = ?1";
    let uuid = get(tx, id)?.map(|memory| memory.uuid);
    passages::remove(tx, id)?;
    let read = |row: &Row<'_>| Ok((row.cell(0)?, row.cell(1)?));
    let relinked: Vec<(String, Option<i64>)> =
        tx.sql(|db| db.prepare_cached(AGAIN)?.query_map([id], read)?.collect())?;
    tx.sql(|db| {
        db.prepare_cached("DELETE FROM memory_sources WHERE id = ?1")?.execute([id])?;
        db.prepare_cached(REMOVE)?.execute([id])
    })?;
    origins::remove(tx, id)?;
    if let Some(uuid) = uuid {
        // Answers to other calls may quote its beginning.
        calls::forget_with(tx, &uuid, true)?;
        receipts::forget_path(tx, &model::memory::path(&uuid))?;
    }
    let again = relinked.into_iter().filter(|(_, by)| by.is_none());
    Ok(again.map(|(uuid, _)| uuid).collect())
}

impl Aggregate for Memories {
    fn name(&self) -> &'static str {
        "memories"
    }

    fn schema(&self) -> &'static str {
        include_str!("schema/memories.sql")
    }

    fn records(&self) -> Option<&'static dyn Records> {
        Some(&Memories)
    }

    fn tables(&self) -> &'static [TableInfo] {
        const TABLES: &[TableInfo] = &[
            TableInfo {
                name: "memories",
                role: TableRole::Record,
                is_indexed: true,
                json: &["tags"],
                words: &[CATEGORY],
                references: &[
                    Reference::needed("project", "projects"),
                    Reference::optional("superseded_by", "memories"),
                ],
                links: &[("stored_in", "sessions")],
                at: Some("at"),
                root: Some("root"),
                times: &["at"],
                agrees: None,
            },
            TableInfo { name: "memory_sources", links: &[("id", "memories")], ..TableInfo::PLAIN },
        ];
        TABLES
    }

    fn guarded_columns(&self) -> &'static [GuardedColumn] {
        const COLUMNS: &[GuardedColumn] = &[GuardedColumn::path("memories", "root", "memory_root")];
        COLUMNS
    }

    fn text_bytes(&self) -> Option<&'static str> {
        Some("SELECT total(octet_length(content) + octet_length(tags)) FROM memories")
    }
}

impl Records for Memories {
    fn is_declared(&self) -> bool {
        true
    }

    fn kinds(&self) -> &'static [&'static str] {
        &[KIND]
    }

    fn scheme(&self) -> &'static str {
        KIND
    }

    /// Content and tags are two texts, so that a memory is found by its tags, too.
    fn document(&self, rx: &Rx<'_>, id: i64) -> Result<Option<Document>, OpError> {
        let found = get(rx, id)?.map(|Memory { project, at, content, tags, .. }| {
            let tags = Some(tags.join(" ")).filter(|tags| !tags.is_empty());
            let texts = [content].into_iter().chain(tags).collect();
            Document { id, session: 0, project, at, kind: KIND, texts }
        });
        Ok(found)
    }

    fn record(&self, rx: &Rx<'_>, id: i64) -> Result<Option<Observation>, OpError> {
        const PROJECT: &str = "SELECT name FROM projects WHERE id = ?1";
        let Some(obs_type) = RecordType::of(KIND) else { return Ok(None) };
        let Some(memory) = get(rx, id)? else { return Ok(None) };
        let project: Option<String> = rx.sql(|db| {
            let mut select = db.prepare_cached(PROJECT)?;
            select.query_row([memory.project], |row| row.cell(0)).optional()
        })?;
        let source = source(rx, id)?;
        let Memory { uuid, at, category, importance, tags, content, .. } = memory;
        let mut metadata = json!({
            "memory_id": uuid,
            "category": category,
            "importance": importance,
            "tags": tags,
        });
        if let Some(source) = source {
            metadata["source"] = json!(source);
        }
        Ok(Some(Observation {
            id,
            timestamp: at.div_euclid(1_000),
            session_id: String::new(),
            project: project.unwrap_or_default(),
            obs_type,
            source_event: String::new(),
            tool_name: None,
            file_path: None,
            content,
            metadata: Some(metadata),
            is_pinned: false,
            prompt_id: None,
            agent: String::new(),
            agent_id: None,
            damaged: false,
            at_ms: at,
            project_row: memory.project,
        }))
    }

    fn superseded_by(&self, rx: &Rx<'_>, id: i64) -> Result<Option<i64>, OpError> {
        Ok(Some(current(rx, id)?).filter(|current| *current != id))
    }

    fn documents(&self) -> &'static str {
        "SELECT m.id, m.project, m.session, m.at, CAST('memory' AS TEXT) AS kind, CAST(NULL AS INTEGER),
         CAST('' AS TEXT) AS agent, CAST(0 AS INTEGER), CAST(0 AS INTEGER)
    FROM memories m"
    }

    fn remove(&self, tx: &Tx<'_>, id: i64) -> Result<(), OpError> {
        remove(tx, id).map(drop)
    }

    fn text_columns(&self) -> TextColumns {
        TextColumns {
            from: "memories",
            id: "id",
            plain: &["content", "root"],
            json: &["tags"],
            indexed: &["content", "tags"],
            unindexed: &["root"],
        }
    }

    fn texts_after(&self, rx: &Rx<'_>, id: i64, limit: usize) -> Result<Vec<Texts>, OpError> {
        const AFTER: &str =
            "SELECT id, content, tags FROM memories WHERE id > ?1 ORDER BY id LIMIT ?2";
        let read = |row: &Row<'_>| {
            let (id, content, tags): (i64, String, String) =
                (row.cell(0)?, row.cell(1)?, row.cell(2)?);
            let tags: Value = serde_json::from_str(&tags).unwrap_or_default();
            let metadata = Some(json!({ "tags": tags }));
            Ok(Texts { id, session: 0, content, file_path: None, metadata })
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
            "UPDATE memories SET content = ?2, tags = coalesce(?3, tags) WHERE id = ?1";
        let tags = new.metadata.as_ref().and_then(|metadata| metadata.get("tags"));
        let tags = tags.filter(|tags| tags.is_array()).map(Value::to_string);
        passages::replaced(tx, id, REPLACE, params![id, new.content.as_str(), tags])
    }
}
