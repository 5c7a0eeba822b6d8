//! The sessions that lists show.

/// The agent name of the session with a project's marks that were made outside any session. That session is no
/// conversation and is found only by its name.
pub const OF_MARKS: &str = "rekindle";

/// The condition that a session was not deleted. A session that was deleted without its records keeps its row, because
/// the records refer to it.
pub(crate) fn not_deleted(id: &str) -> String {
    format!("NOT EXISTS (SELECT 1 FROM deleted_sessions d WHERE d.id = {id})")
}

/// The condition that a session is one that lists show: not that of marks outside a session, and not deleted.
pub(crate) fn is_listed(table: &str) -> String {
    format!("{table}.agent <> '{OF_MARKS}' AND {}", not_deleted(&format!("{table}.id")))
}

/// The condition that no list shows a session, in a form that is looked up in indexes.
pub(crate) fn is_hidden(table: &str) -> String {
    format!("({table}.agent = '{OF_MARKS}' OR {table}.id IN (SELECT id FROM deleted_sessions))")
}
