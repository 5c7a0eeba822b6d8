//! Tables, views and triggers in our database that another program added.

use rusqlite::{Connection, Row};

use crate::aggregate::Registry;
use crate::cells::Cells as _;

/// The tables, views and triggers of the database that the schema does not have, as `table NAME`. They are the work of
/// another program, and a purge does not reach them.
pub(crate) fn foreign_objects(
    db: &Connection,
    registry: &Registry,
) -> rusqlite::Result<Vec<String>> {
    const OBJECTS: &str = "SELECT type, name FROM sqlite_schema \
         WHERE type IN ('table', 'trigger', 'view') AND name NOT GLOB 'sqlite_*' ORDER BY 1, 2";
    let objects = |db: &Connection| -> rusqlite::Result<Vec<String>> {
        let named = |row: &Row<'_>| Ok(format!("{} {}", row.text(0)?, row.text(1)?));
        db.prepare(OBJECTS)?.query_map([], named)?.collect()
    };
    let model = Connection::open_in_memory()?;
    model.execute_batch(registry.schema())?;
    let own = objects(&model)?;
    Ok(objects(db)?.into_iter().filter(|object| !own.contains(object)).collect())
}

/// Drops all triggers: the schema has none.
pub(crate) fn drop_triggers(db: &Connection) -> rusqlite::Result<()> {
    const TRIGGERS: &str = "SELECT name FROM sqlite_schema WHERE type = 'trigger'";
    let names: Vec<String> =
        db.prepare(TRIGGERS)?.query_map([], |row| row.cell(0))?.collect::<rusqlite::Result<_>>()?;
    for name in names {
        db.execute_batch(&format!("DROP TRIGGER IF EXISTS \"{}\"", name.replace('"', "\"\"")))?;
    }
    Ok(())
}
