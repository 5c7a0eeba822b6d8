//! An aggregate, as the rest of the store sees it: one row of the registry. The parts of the store that concern all data
//! walk the registry and name no table; an aggregate overrides the functions that it needs and leaves the rest to the
//! defaults.
//!
//! `registry` has the list. No aggregate is named here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use index::RecordKind;
use model::OpError;
use model::observation::{ObsType, Observation};
use rusqlite::{Row, params};

use crate::cells::Cells as _;
use crate::table_info::{TableInfo, TextColumns};
use crate::texts::{Replacement, Texts};
use crate::tx::{Rx, Tx};

/// A group of tables that belong together, with the functions over them.
pub trait Aggregate: Sync {
    /// The name of its main table.
    fn name(&self) -> &'static str;

    /// The statements that create its tables and indices. They run whenever the database is opened for writing, so
    /// they leave existing tables alone.
    fn schema(&self) -> &'static str;

    /// Its records, if search finds them and a purge removes them by id.
    fn records(&self) -> Option<&'static dyn Records> {
        None
    }

    /// Its tables, as far as repair, salvage, and the merge and split of projects have to know them.
    fn tables(&self) -> &'static [TableInfo] {
        &[]
    }

    /// Texts of rows about records, such as receipts. A purge of a literal text deletes the rows that contain it.
    fn notes(&self) -> &'static [TextColumns] {
        &[]
    }

    /// Tables and columns with notes whose rows are still needed: a purge of a literal text empties the cells that contain
    /// it.
    fn emptied_notes(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// Texts that a purge of a literal text only counts and does not delete, such as hints, because the user
    /// deletes them with other commands.
    fn texts_left(&self) -> &'static [TextColumns] {
        &[]
    }

    /// Columns with texts of rows that are no records, for the secret guard: `scrub` reads and redacts them.
    fn guarded_columns(&self) -> &'static [GuardedColumn] {
        &[]
    }

    /// The scheme of receipts about its rows, if each row has the id of the record that it links to.
    fn scheme_of_links(&self) -> Option<&'static str> {
        None
    }

    /// A query for the bytes of its texts.
    fn text_bytes(&self) -> Option<&'static str> {
        None
    }

    /// Removes rows that are no longer needed, after a sweep of expired records.
    fn after_sweep(&self, _tx: &Tx<'_>, _now: i64) -> Result<(), OpError> {
        Ok(())
    }

    /// Moves those rows of one project to another for which a change of the project column is not enough.
    fn merge_project(&self, _tx: &Tx<'_>, _from: i64, _into: i64) -> Result<(), OpError> {
        Ok(())
    }

    /// Does the work that the writes of a group deferred, just before COMMIT.
    fn before_commit(&self, _tx: &Tx<'_>) -> Result<(), OpError> {
        Ok(())
    }

    /// Removes rows that nothing reads any more. Runs with a group of writes, at most once a minute.
    fn prune(&self, _tx: &Tx<'_>, _now: i64) -> Result<(), OpError> {
        Ok(())
    }
}

/// A column with texts of rows that are no records. Its rows have an `id`.
pub struct GuardedColumn {
    pub table: &'static str,
    pub column: &'static str,
    /// The name of its texts in the result of a scrub.
    pub place: &'static str,
    /// Whether a user or an agent declared the text; otherwise it is a captured path.
    pub is_declared: bool,
}

impl GuardedColumn {
    /// A column with texts that a user or an agent declared.
    pub const fn declared(
        table: &'static str,
        column: &'static str,
        place: &'static str,
    ) -> GuardedColumn {
        GuardedColumn { table, column, place, is_declared: true }
    }

    /// A column with captured paths.
    pub const fn path(
        table: &'static str,
        column: &'static str,
        place: &'static str,
    ) -> GuardedColumn {
        GuardedColumn { is_declared: false, ..GuardedColumn::declared(table, column, place) }
    }
}

/// Records whose ids are from the one sequence of [`crate::record_ids`].
pub trait Records: Aggregate {
    /// A record as the index takes it; `None` if no record of this kind has the id, or it has no text to search for.
    fn document(&self, rx: &Rx<'_>, id: i64) -> Result<Option<Document>, OpError>;

    /// A record as lists and `get_observations` show it. The default is for observations, prompts and
    /// sessions, which [`crate::observations::one`] reads instead.
    fn record(&self, _rx: &Rx<'_>, _id: i64) -> Result<Option<Observation>, OpError> {
        Ok(None)
    }

    /// Its part of the view `documents`: a query for id, project, session, time, kind, file, agent, whether it failed
    /// and whether it is pinned.
    fn documents(&self) -> &'static str;

    /// The words for the kinds of its records, if they are no observations. Each word is at most
    /// `limits::KIND_BYTES_MAX` long and belongs to one aggregate.
    fn kinds(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether agents and users declare its records. They never expire, and the guard applies its rules for declared text.
    fn is_declared(&self) -> bool {
        false
    }

    /// Whether its records belong to sessions, which the column `session` of its table names; NULL for a record in no
    /// session. The summary of a session does not belong to the session in this sense.
    fn in_session(&self) -> bool {
        true
    }

    /// The scheme of its entries: receipts name a record as `SCHEME://ID`.
    fn scheme(&self) -> &'static str {
        "obs"
    }

    /// The newer record that supersedes this one, if there is one.
    fn superseded_by(&self, _rx: &Rx<'_>, _id: i64) -> Result<Option<i64>, OpError> {
        Ok(None)
    }

    /// Whether a user can pin its records; then the table has a column `pinned`.
    fn can_be_pinned(&self) -> bool {
        false
    }

    /// Deletes a record and its words in the index. A caller that must leave no word in the file,
    /// such as a purge, calls `passages::ensure_posted` before: a damaged index may have words
    /// where this does not look.
    fn remove(&self, tx: &Tx<'_>, id: i64) -> Result<(), OpError>;

    /// Adds to a purge its consequences for this kind: further records to delete, and derived rows to compute again.
    fn extend_removal(&self, _rx: &Rx<'_>, _removal: &mut Removal) -> Result<(), OpError> {
        Ok(())
    }

    /// The columns with its words, for a purge by literal text.
    fn text_columns(&self) -> TextColumns;

    /// The texts of the next records after an id, in order of their ids, for the secret guard.
    fn texts_after(&self, _rx: &Rx<'_>, _id: i64, _limit: usize) -> Result<Vec<Texts>, OpError> {
        Ok(Vec::new())
    }

    /// Replaces the texts of a record, and marks it for indexing. `None` if no record of this kind has the id; false if
    /// the record is too damaged to change.
    fn replace_texts(
        &self,
        _tx: &Tx<'_>,
        _id: i64,
        _new: &Replacement,
    ) -> Result<Option<bool>, OpError> {
        Ok(None)
    }

    /// How many records there are.
    fn count(&self, rx: &Rx<'_>) -> Result<u64, OpError> {
        let count = format!("SELECT count(*) FROM {}", self.name());
        rx.sql(|db| db.query_row(&count, [], |row| row.cell(0)))
    }

    /// The times of the first and the last record of a project; empty if it has none.
    fn span(&self, rx: &Rx<'_>, project: i64) -> Result<Vec<i64>, OpError> {
        // Two subqueries: SQLite looks `min` or `max` up in an index only if a query has one of them, and scans for both.
        let documents = self.documents();
        let end = |end: &str| format!("(SELECT {end}(at) FROM ({documents}) WHERE project = ?1)");
        let span = format!("SELECT {}, {}", end("min"), end("max"));
        let (first, last): (Option<i64>, Option<i64>) = rx.sql(|db| {
            let mut select = db.prepare_cached(&span)?;
            select.query_row([project], |row| Ok((row.cell(0)?, row.cell(1)?)))
        })?;
        Ok(first.into_iter().chain(last).collect())
    }

    /// At most `limit` records of a project that are past their age limit, with their kinds. Pinned records
    /// never expire.
    fn expired(
        &self,
        _rx: &Rx<'_>,
        _project: i64,
        _expiry: &Expiry<'_>,
        _limit: usize,
    ) -> Result<Vec<(i64, &'static str)>, OpError> {
        Ok(Vec::new())
    }

    /// At most `limit` of the oldest records with their kinds, to be deleted from a database that
    /// is larger than its limit.
    fn oldest(&self, _rx: &Rx<'_>, _limit: usize) -> Result<Vec<(i64, &'static str)>, OpError> {
        Ok(Vec::new())
    }
}

/// The age limits of kinds of records.
pub struct Expiry<'a> {
    /// The user's setting for a kind, in days, if there is one; 0 keeps its records.
    pub days: &'a dyn Fn(&str) -> Option<i64>,
    /// Milliseconds since 1970, UTC.
    pub now: i64,
}

impl Expiry<'_> {
    /// The time before which a record of this kind is too old. `default` is its limit without a setting.
    pub fn cutoff(&self, kind: &str, default: i64) -> i64 {
        const DAY_MS: i64 = 86_400_000;
        match (self.days)(kind).unwrap_or(default) {
            0 => i64::MIN,
            days => self.now.saturating_sub(days.saturating_mul(DAY_MS)),
        }
    }

    /// The ids that a query for old rows of a project returns, with their kind. Its parameters are the project, the time
    /// before which a row is too old, and the limit.
    pub fn ids(
        &self,
        rx: &Rx<'_>,
        old: &str,
        (kind, default): (&'static str, i64),
        (project, limit): (i64, usize),
    ) -> Result<Vec<(i64, &'static str)>, OpError> {
        let given = params![project, self.cutoff(kind, default), limit];
        let read = |row: &Row<'_>| Ok((row.cell(0)?, kind));
        rx.sql(|db| db.prepare_cached(old)?.query_map(given, read)?.collect())
    }
}

/// Computes a derived row again, by its id.
pub(crate) type Renew = fn(&Tx<'_>, i64) -> Result<(), OpError>;

/// The records that a purge removes, and the derived rows that it computes again.
#[derive(Default)]
pub struct Removal {
    /// Ids by the name of their aggregate.
    ids: BTreeMap<&'static str, BTreeSet<i64>>,
    pub(crate) renewed: Vec<(Renew, i64)>,
}

impl Removal {
    pub fn add(&mut self, aggregate: &'static str, id: i64) {
        self.ids.entry(aggregate).or_default().insert(id);
    }

    pub fn has(&self, aggregate: &str, id: i64) -> bool {
        self.ids.get(aggregate).is_some_and(|ids| ids.contains(&id))
    }

    pub fn count(&self, aggregate: &str) -> usize {
        self.ids.get(aggregate).map_or(0, BTreeSet::len)
    }

    /// The ids of an aggregate's records, in order.
    pub fn of(&self, aggregate: &str) -> impl Iterator<Item = i64> {
        self.ids.get(aggregate).into_iter().flatten().copied()
    }

    /// All ids.
    pub fn all(&self) -> impl Iterator<Item = i64> {
        self.ids.values().flatten().copied()
    }

    /// Has the purge compute a derived row again that it does not delete.
    pub fn renew(&mut self, renew: Renew, id: i64) {
        self.renewed.push((renew, id));
    }
}

/// Ids as a JSON array, for `json_each`.
pub(crate) fn json_ids(ids: impl IntoIterator<Item = i64>) -> String {
    let words: Vec<String> = ids.into_iter().map(|id| id.to_string()).collect();
    format!("[{}]", words.join(","))
}

/// A record as the index takes it.
pub struct Document {
    pub id: i64,
    /// 0 for a record that is in no session.
    pub session: i64,
    pub project: i64,
    /// Milliseconds since 1970, UTC.
    pub at: i64,
    /// The word for its kind.
    pub kind: &'static str,
    /// The texts that search finds it by. Each becomes passages of its own.
    pub texts: Vec<String>,
}

impl Document {
    /// Its passages, in their order.
    pub(crate) fn passages(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().flat_map(|text| text::passages::passages(text))
    }

    /// All of its texts in one.
    pub(crate) fn whole(mut self) -> String {
        match self.texts.len() {
            1 => self.texts.swap_remove(0),
            _ => self.texts.join("\n"),
        }
    }
}

/// The aggregates of a store. If the tables of one aggregate refer to those of another, the referring aggregate comes
/// first.
pub(crate) struct Registry {
    aggregates: Vec<&'static dyn Aggregate>,
    schema: String,
    documents: String,
    /// The words of all kinds of records; the position of a word is the number of its [`RecordKind`].
    kinds: Vec<&'static str>,
    /// The query for the highest record id, which is built once.
    pub(crate) last_id: OnceLock<String>,
}

impl Registry {
    pub(crate) fn new(aggregates: Vec<&'static dyn Aggregate>) -> Registry {
        let schema = aggregates.iter().map(|aggregate| aggregate.schema()).collect();
        let records = aggregates.iter().filter_map(|aggregate| aggregate.records());
        let mut kinds: Vec<&str> = ObsType::ALL.iter().map(|kind| kind.word()).collect();
        let mut parts: Vec<&str> = Vec::new();
        for records in records {
            kinds.extend(records.kinds());
            parts.push(records.documents());
        }
        debug_assert!(
            kinds.iter().collect::<BTreeSet<_>>().len() == kinds.len(),
            "two aggregates have the same kind of record"
        );
        // All documents that search finds, in one shape, whichever table they are in. The SQL conditions of a search
        // filter apply to this view, so that a record of one project cannot answer for another.
        let documents = format!(
            "CREATE VIEW documents (id, project, session, at, kind, file, agent, failed, pinned) AS\n  {}",
            parts.join("\n  UNION ALL\n  ")
        );
        let mut all = Registry { aggregates, schema, documents, kinds, last_id: OnceLock::new() };
        all.schema.push_str(&all.documents.replacen("VIEW", "VIEW IF NOT EXISTS", 1));
        all.schema.push(';');
        all
    }

    /// The statement that creates the view of all records, as SQLite stores it.
    pub(crate) fn documents(&self) -> &str {
        &self.documents
    }

    /// The kind with this word. A word that no aggregate has, which only damage produces, counts as
    /// `ToolOther`.
    pub(crate) fn kind_of(&self, word: &str) -> RecordKind {
        let other = || self.other_kinds().iter().position(|other| *other == word);
        match ObsType::parse(word) {
            Some(kind) => kind.into(),
            None => other().map_or(ObsType::ToolOther.into(), |place| {
                RecordKind::at(ObsType::ALL.len() + place)
            }),
        }
    }

    /// The words for the types of all records.
    pub(crate) fn record_types(&self) -> &[&'static str] {
        &self.kinds
    }

    /// The words of the kinds that are no types of observations.
    pub(crate) fn other_kinds(&self) -> &[&'static str] {
        self.kinds.get(ObsType::ALL.len()..).unwrap_or_default()
    }

    /// All tables that aggregates describe.
    pub(crate) fn tables(&self) -> impl Iterator<Item = &'static TableInfo> {
        self.iter().flat_map(|aggregate| aggregate.tables())
    }

    /// Moves the rows of one project to another.
    pub(crate) fn merge_project(&self, tx: &Tx<'_>, from: i64, into: i64) -> Result<(), OpError> {
        for table in self.tables().filter(|table| table.refers_to("projects")) {
            let update = format!("UPDATE {} SET project = ?2 WHERE project = ?1", table.name);
            tx.sql(|db| db.execute(&update, [from, into]))?;
        }
        self.iter().try_for_each(|aggregate| aggregate.merge_project(tx, from, into))
    }

    /// Moves the rows of the sessions that began at one root of a project, and those in no session that were written
    /// there, to another project. The sessions themselves are left to the caller.
    pub(crate) fn split_project(
        &self,
        tx: &Tx<'_>,
        (from, root): (i64, &str),
        to: i64,
    ) -> Result<(), OpError> {
        let both = |table: &&TableInfo| table.refers_to("projects") && table.refers_to("sessions");
        for table in self.tables().filter(both) {
            let update = format!(
                "UPDATE {} SET project = ?3 WHERE session IN \
                 (SELECT id FROM sessions WHERE project = ?1 AND root = ?2)",
                table.name
            );
            tx.sql(|db| db.execute(&update, params![from, root, to]))?;
        }
        for table in self.tables() {
            let Some(column) = table.root else { continue };
            let update = format!(
                "UPDATE {} SET project = ?3 WHERE project = ?1 AND {column} = ?2 AND session IS NULL",
                table.name
            );
            tx.sql(|db| db.execute(&update, params![from, root, to]))?;
        }
        Ok(())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'static dyn Aggregate> {
        self.aggregates.iter().copied()
    }

    /// The aggregates with records.
    pub(crate) fn records(&self) -> impl Iterator<Item = &'static dyn Records> {
        self.iter().filter_map(Aggregate::records)
    }

    /// The record with this id as the index takes it.
    pub(crate) fn document(&self, rx: &Rx<'_>, id: i64) -> Result<Option<Document>, OpError> {
        for records in self.records() {
            let found = records.document(rx, id)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// The record of another kind than observation, prompt and session with this id.
    pub(crate) fn record(&self, rx: &Rx<'_>, id: i64) -> Result<Option<Observation>, OpError> {
        for records in self.records().filter(|records| !records.kinds().is_empty()) {
            let found = records.record(rx, id)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// The newer record that supersedes a record of another kind than observation, prompt and session.
    pub(crate) fn superseded_by(&self, rx: &Rx<'_>, id: i64) -> Result<Option<i64>, OpError> {
        for records in self.records().filter(|records| !records.kinds().is_empty()) {
            let found = records.superseded_by(rx, id)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// The statements that create all tables, views and indices.
    pub(crate) fn schema(&self) -> &str {
        &self.schema
    }
}
