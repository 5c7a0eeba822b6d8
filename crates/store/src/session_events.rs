//! Events about sessions: their context, and the list of sessions. They are published after COMMIT.

use std::collections::BTreeMap;

use model::OpError;
use model::context::ContextSets;
use model::event::Event;
use serde_json::json;

use crate::tx::Tx;
use crate::{context, session_details, sessions};

/// The kind of the event about a changed context. Its subject is the session.
const CONTEXT_CHANGED: &str = "context/changed";

/// The kind of the events about the list of sessions. Their subject is a session, or [`ALL`].
pub const LIST_CHANGED: &str = "session/list_changed";

/// The kind of the event about a changed environment hint. Its subject is the session. Clients then read the hint.
const HINT_CHANGED: &str = "session/env_hint";

/// In place of a session: the event is about several. A message for each could be more than a client's queue has room
/// for.
pub const ALL: &str = "*";

/// Why the list of sessions changed.
#[derive(Clone, Copy, Debug)]
pub enum ListChange {
    Started,
    Renamed,
    Idle,
    Observed,
    Ended,
    Deleted,
}

impl ListChange {
    fn word(self) -> &'static str {
        match self {
            ListChange::Started => "started",
            ListChange::Renamed => "renamed",
            ListChange::Idle => "idle",
            ListChange::Observed => "observed",
            ListChange::Ended => "ended",
            ListChange::Deleted => "deleted",
        }
    }

    /// Notes that the list changed because of this session, given by the agent's own id, of this project. With [`ALL`]
    /// the project is none: the event is about every project.
    pub fn note(self, tx: &Tx<'_>, (project, session): (Option<i64>, &str)) -> Result<(), OpError> {
        let count = session_details::count_unobserved(tx)?;
        tx.note(Event {
            reason: Some(self.word()),
            project,
            data: json!({ "unobservedCount": count }),
            ..Event::new(LIST_CHANGED, format!("session://{session}"))
        })
        .map(drop)
    }
}

/// Notes that an import added records, which may be those of many sessions: one event for each of its calls.
pub fn imported(tx: &Tx<'_>, added: u64) -> Result<(), OpError> {
    if added == 0 {
        return Ok(());
    }
    ListChange::Started.note(tx, (None, ALL))
}

/// Publishes that the environment hint of a session changed: subscribers of its entry `session://ID` read it again.
pub fn env_hint_changed(
    tx: &Tx<'_>,
    (project, session): (Option<i64>, &str),
) -> Result<(), OpError> {
    let event = Event::new(HINT_CHANGED, format!("session://{session}"));
    tx.note(Event { project, ..event }).map(drop)
}

/// Notes the sets of a session after a change. `set_name` is the set that changed, if it is only one. Returns the number
/// of the event.
pub fn context_changed(
    tx: &Tx<'_>,
    (project, session): (Option<i64>, &str),
    sets: &ContextSets,
    set_name: Option<&str>,
) -> Result<u64, OpError> {
    let mut data = json!({ "context": sets });
    if let Some(name) = set_name {
        data["setName"] = name.into();
    }
    tx.note(Event {
        reason: Some("changed"),
        project,
        data,
        ..Event::new(CONTEXT_CHANGED, format!("session://{session}"))
    })
}

/// Deletes sessions with `remove` and notes for each that its context is empty, then that the list changed.
pub(crate) fn removing(
    tx: &Tx<'_>,
    these: &[i64],
    remove: impl Fn(i64) -> Result<(), OpError>,
) -> Result<(), OpError> {
    let mut listed = Vec::new();
    for id in these {
        if let Some(session) = sessions::listed(tx, *id)? {
            let of = (Some(session.project_id), session.session_id.as_str());
            context_changed(tx, of, &ContextSets::default(), None)?;
            listed.push((Some(session.project_id), session.session_id));
        }
        remove(*id)?;
    }
    match listed.as_slice() {
        [] => Ok(()),
        [(project, name)] => ListChange::Deleted.note(tx, (*project, name)),
        _ => ListChange::Deleted.note(tx, (None, ALL)),
    }
}

/// Changes texts of any sessions with `change`, and notes which contexts, names and hints differ after it.
pub(crate) fn rewriting<T>(
    tx: &Tx<'_>,
    change: impl FnOnce() -> Result<T, OpError>,
) -> Result<T, OpError> {
    let (contexts, texts) = (context::all(tx)?, session_details::texts(tx)?);
    let done = change()?;
    contexts_changed(tx, &contexts)?;
    let after = session_details::texts(tx)?;
    let mut renamed = Vec::new();
    // A purge may have deleted the session.
    for (name, (label, hint)) in &texts {
        let Some((label_now, hint_now)) = after.get(name) else { continue };
        if label != label_now {
            renamed.push(name);
        }
        if hint != hint_now {
            env_hint_changed(tx, (sessions::project_of(tx, name)?, name))?;
        }
    }
    match renamed.as_slice() {
        [] => {}
        [name] => ListChange::Renamed.note(tx, (sessions::project_of(tx, name)?, name))?,
        _ => ListChange::Renamed.note(tx, (None, ALL))?,
    }
    Ok(done)
}

/// Notes the differences between the contexts of a restored database and those of the database before it, and that the
/// list of sessions changed.
pub(crate) fn restored(tx: &Tx<'_>, before: &BTreeMap<String, ContextSets>) -> Result<(), OpError> {
    contexts_changed(tx, before)?;
    ListChange::Started.note(tx, (None, ALL))
}

/// Notes each context that differs from the one before, with a new version.
fn contexts_changed(tx: &Tx<'_>, before: &BTreeMap<String, ContextSets>) -> Result<(), OpError> {
    let after = context::all(tx)?;
    let empty = ContextSets::default();
    let names = before.keys().chain(after.keys().filter(|name| !before.contains_key(*name)));
    for name in names {
        let sets = after.get(name).unwrap_or(&empty);
        if before.get(name).unwrap_or(&empty) == sets {
            continue;
        }
        let session = sessions::by_name(tx, name)?;
        let project = session.as_ref().map(|session| session.project_id);
        let version = context_changed(tx, (project, name), sets, None)?;
        if let Some(session) = session {
            context::set_version(tx, session.id, version)?;
        }
    }
    Ok(())
}
