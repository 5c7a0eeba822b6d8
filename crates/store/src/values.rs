//! Learned values: rules in words, drawn from a cluster of experiences. Callers have refused secrets in their texts.

mod aggregate;

use model::OpError;
use model::ghap::ExperienceAxis;
use model::value::value_name;
use rusqlite::{OptionalExtension, Row, params};

use crate::aggregate::json_ids;
use crate::cells::Cells as _;
use crate::tx::{Rx, Tx};
use crate::{calls, passages, receipts, record_ids};

pub(crate) use aggregate::LearnedValues;

/// The word for the kind of these records, and the scheme of their entries.
pub const KIND: &str = "value";

/// A value to be stored.
#[derive(Clone, Copy, Debug)]
pub struct NewValue<'a> {
    pub project: i64,
    /// The session that stores it.
    pub stored_in: Option<i64>,
    /// The root of the project's directory, by which a split of the project moves it.
    pub root: Option<&'a str>,
    /// Milliseconds since 1970, UTC.
    pub at: i64,
    pub axis: ExperienceAxis,
    /// The number of its cluster.
    pub cluster: i64,
    pub text: &'a str,
    /// One minus its similarity to the lessons of the cluster.
    pub distance: f64,
    /// The mean weight of the cluster's experiences, from 0 to 1.
    pub weight: f64,
}

/// A stored value.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnedValue {
    /// The record id.
    pub id: i64,
    /// `value_AXIS_N_8hex`.
    pub name: String,
    pub project: i64,
    pub project_name: String,
    /// The session that stored it.
    pub stored_in: Option<i64>,
    /// When it was checked against its cluster and stored, in milliseconds since 1970.
    pub at: i64,
    pub axis: ExperienceAxis,
    pub cluster: i64,
    pub text: String,
    pub distance: f64,
    pub weight: f64,
}

/// Stores a value. Returns its name.
pub fn add(tx: &Tx<'_>, new: &NewValue<'_>) -> Result<String, OpError> {
    const ADD: &str = "INSERT INTO learned_values \
         (id, name, project, root, at, axis, cluster, value, distance, weight, stored_in) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    let id = record_ids::next(tx)?;
    let name = value_name(new.axis, new.cluster, id);
    let NewValue { project, root, at, cluster, text, distance, weight, .. } = new;
    let axis = new.axis.word();
    let stored_in = new.stored_in;
    let given =
        params![id, name, project, root, at, axis, cluster, text, distance, weight, stored_in];
    tx.sql(|db| db.prepare_cached(ADD)?.execute(given))?;
    passages::add(tx, id)?;
    Ok(name)
}

const COLUMNS: &str = "SELECT v.id, v.name, v.project, coalesce(p.name, ''), v.at, v.axis, \
     v.cluster, v.value, v.distance, v.weight, v.stored_in FROM learned_values v \
     LEFT JOIN projects p ON p.id = v.project ";

fn read(row: &Row<'_>) -> rusqlite::Result<LearnedValue> {
    Ok(LearnedValue {
        id: row.cell(0)?,
        name: row.cell(1)?,
        project: row.cell(2)?,
        project_name: row.cell(3)?,
        at: row.cell(4)?,
        axis: ExperienceAxis::parse(&row.text(5)?).unwrap_or(ExperienceAxis::Full),
        cluster: row.cell(6)?,
        text: row.cell(7)?,
        distance: row.cell(8)?,
        weight: row.cell(9)?,
        stored_in: row.cell(10)?,
    })
}

/// The newest values of these projects or of all, on one axis or on all.
pub fn list(
    rx: &Rx<'_>,
    projects: Option<&[i64]>,
    axis: Option<ExperienceAxis>,
    limit: usize,
) -> Result<Vec<LearnedValue>, OpError> {
    let order = "v.at DESC, v.id DESC";
    ordered(rx, order, (projects, axis, limit))
}

/// The values of these projects or of all that rest on the best-proven experiences; of equal ones the newest.
pub fn best(
    rx: &Rx<'_>,
    projects: Option<&[i64]>,
    limit: usize,
) -> Result<Vec<LearnedValue>, OpError> {
    let order = "v.weight DESC, v.at DESC, v.id DESC";
    ordered(rx, order, (projects, None, limit))
}

fn ordered(
    rx: &Rx<'_>,
    order: &str,
    (projects, axis, limit): (Option<&[i64]>, Option<ExperienceAxis>, usize),
) -> Result<Vec<LearnedValue>, OpError> {
    let select = format!(
        "{COLUMNS} WHERE (?1 IS NULL OR v.project IN (SELECT value FROM json_each(?1))) \
         AND (?2 IS NULL OR v.axis = ?2) ORDER BY {order} LIMIT ?3"
    );
    let projects = projects.map(|ids| json_ids(ids.iter().copied()));
    let given = params![projects, axis.map(ExperienceAxis::word), limit];
    rx.sql(|db| db.prepare_cached(&select)?.query_map(given, read)?.collect())
}

/// The value with this text that was drawn from a cluster.
pub fn of_cluster(
    rx: &Rx<'_>,
    (project, axis, cluster): (i64, ExperienceAxis, i64),
    text: &str,
) -> Result<Option<LearnedValue>, OpError> {
    let select = format!(
        "{COLUMNS} WHERE v.project = ?1 AND v.axis = ?2 AND v.cluster = ?3 AND v.value = ?4 \
         ORDER BY v.id LIMIT 1"
    );
    let given = params![project, axis.word(), cluster, text];
    rx.sql(|db| db.prepare_cached(&select)?.query_row(given, read).optional())
}

/// The value with this name.
pub fn by_name(rx: &Rx<'_>, name: &str) -> Result<Option<LearnedValue>, OpError> {
    let select = format!("{COLUMNS} WHERE v.name = ?1");
    rx.sql(|db| db.prepare_cached(&select)?.query_row([name], read).optional())
}

/// The value with this record id.
pub fn by_id(rx: &Rx<'_>, id: i64) -> Result<Option<LearnedValue>, OpError> {
    let select = format!("{COLUMNS} WHERE v.id = ?1");
    rx.sql(|db| db.prepare_cached(&select)?.query_row([id], read).optional())
}

/// Removes a value, its words and its receipts.
pub fn remove(tx: &Tx<'_>, id: i64) -> Result<bool, OpError> {
    const REMOVE: &str = "DELETE FROM learned_values WHERE id = ?1 RETURNING name";
    passages::remove(tx, id)?;
    let name: Option<String> =
        tx.sql(|db| db.prepare_cached(REMOVE)?.query_row([id], |row| row.cell(0)).optional())?;
    let Some(name) = name else { return Ok(false) };
    receipts::forget_path(tx, &format!("{KIND}://{name}"))?;
    // Stored answers of calls may contain its text.
    calls::forget_with(tx, &name, true)?;
    Ok(true)
}
