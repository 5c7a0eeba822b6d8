//! References to rows that do not exist. No record is lost by them: readers treat them as NULL, `doctor` names them,
//! and a repair removes them or creates the missing row.

use rusqlite::Connection;

use crate::aggregate::Registry;
use crate::cells::Cells as _;
use crate::error::is_damaged_row;
use crate::projects;
use crate::table_info::{Reference, TableInfo};

/// The statements that create the missing projects and sessions of records. Without its project a record is missing
/// from lists, and without its session from traces.
fn adopt(registry: &Registry) -> String {
    let rows = |columns: &str, needs: &[&str]| {
        let tables = registry
            .tables()
            .filter(|table| needs.iter().all(|target| table.refers_to(target)))
            .filter_map(|table| Some((table.name, table.at?)));
        let rows: Vec<String> = tables
            .map(|(table, at)| format!("SELECT {columns}, {at} AS at FROM {table}"))
            .collect();
        rows.join(" UNION ALL ")
    };
    let (of_projects, of_sessions) =
        (rows("project", &["projects"]), rows("session, project", &["projects", "sessions"]));
    format!(
        "INSERT OR IGNORE INTO projects (id, key, name, created_at) \
           SELECT project, 'lost-' || project, 'lost-' || project, min(at) FROM ({of_projects}) \
           WHERE typeof(project) = 'integer' AND typeof(at) = 'integer' \
             AND project NOT IN (SELECT id FROM projects) GROUP BY project; \
         INSERT OR IGNORE INTO sessions \
             (id, name, project, agent, started_at, last_at, ended_at, state) \
           SELECT session, 'lost-' || session, min(project), 'unknown', min(at), max(at), max(at), \
             'ended' FROM ({of_sessions}) \
           WHERE typeof(session) = 'integer' AND typeof(project) = 'integer' \
             AND typeof(at) = 'integer' AND session NOT IN (SELECT id FROM sessions) \
           GROUP BY session;"
    )
}

/// A cell with the id of a row that does not exist.
pub(crate) struct DanglingReference {
    pub(crate) table: &'static str,
    pub(crate) row: i64,
    pub(crate) column: &'static str,
    pub(crate) target: i64,
    /// Whether the row is of use without the referenced row.
    is_optional: bool,
}

/// Calls back with every dangling reference, table by table. Each table is read once: with 100,000 records this
/// takes about 0.1 s.
pub(crate) fn dangling(
    db: &Connection,
    registry: &Registry,
    each: &mut dyn FnMut(DanglingReference),
) -> rusqlite::Result<()> {
    let mut tables: Vec<&TableInfo> =
        registry.tables().filter(|table| !table.references.is_empty()).collect();
    tables.sort_by_key(|table| table.name);
    for TableInfo { name: table, references, .. } in tables {
        let mut select = db.prepare(&rows_with_dangling(table, references))?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            for (at, Reference { column, is_optional, .. }) in references.iter().enumerate() {
                if let Some(target) = row.cell(at + 1)? {
                    let (row, is_optional) = (row.cell(0)?, *is_optional);
                    each(DanglingReference { table, row, column, target, is_optional });
                }
            }
        }
    }
    Ok(())
}

/// Selects the rows of a table with a dangling reference, and these references. An index may differ from a damaged
/// row, so the rows themselves are read.
fn rows_with_dangling(table: &str, references: &[Reference]) -> String {
    let dangles: Vec<String> = references
        .iter()
        .map(|Reference { column, target, .. }| {
            format!("{column} NOT IN (SELECT id FROM {target})")
        })
        .collect();
    // Cells of another type are reported as damaged.
    let targets: Vec<String> = (references.iter().zip(&dangles))
        .map(|(Reference { column, .. }, dangles)| {
            format!("CASE WHEN typeof({column}) = 'integer' AND {dangles} THEN {column} END")
        })
        .collect();
    let (targets, dangles) = (targets.join(", "), dangles.join(" OR "));
    format!("SELECT id, {targets} FROM {table} NOT INDEXED WHERE {dangles}")
}

/// Creates missing sessions and projects of records, and clears optional references, such as those to missing prompts
/// and paths. An alias of a missing project is pointed at the project that has it as key or root, or else deleted.
/// Returns how many references were dangling.
pub(crate) fn repair(db: &Connection, registry: &Registry) -> rusqlite::Result<u64> {
    const ALIAS: &str = "UPDATE project_aliases SET project = (SELECT id FROM projects \
           WHERE value IN (key, root) ORDER BY key = value DESC, id LIMIT 1) \
         WHERE id = ?1 AND value IN (SELECT key FROM projects UNION SELECT root FROM projects)";
    const REMOVE_ALIAS: &str = "DELETE FROM project_aliases WHERE id = ?1";
    let mut found = Vec::new();
    dangling(db, registry, &mut |reference| found.push(reference))?;
    if found.is_empty() {
        return Ok(0);
    }
    db.execute_batch(&adopt(registry))?;
    let mut left = Vec::new();
    dangling(db, registry, &mut |reference| left.push(reference))?;
    for DanglingReference { table, row, column, is_optional, .. } in left {
        let done = match is_optional {
            _ if table == projects::ALIAS_TABLE => match db.execute(ALIAS, [row])? {
                0 => db.execute(REMOVE_ALIAS, [row]),
                done => Ok(done),
            },
            true => db.execute(&format!("UPDATE {table} SET {column} = NULL WHERE id = ?1"), [row]),
            false => Ok(0),
        };
        match done {
            // Another cell of the row is damaged; it can be purged by its id.
            Err(error) if is_damaged_row(&error) => {}
            done => drop(done?),
        }
    }
    Ok(u64::try_from(found.len()).unwrap_or_default())
}
