//! `session://ID`: a session by the agent's own id, as an entry of the one address space.

use contract::{Cx, OpError, Scheme};
use model::context::ContextSets;
use model::entry::{Entry, EntryLine, EntryPath};
use model::event::{EventFilter, Published};
use model::limits;
use model::session::Session;
use model::time::rfc3339_seconds;
use place::Wanted;
use serde_json::{Map, Value, json};
use store::sessions::{self, SessionFilter};
use store::{Rx, context};

use crate::rows::SessionRow;
use crate::target;

const TEXT: &str = "text/plain";

/// `session://ID`: a session by the agent's own id.
pub(crate) struct SessionScheme;

impl Scheme for SessionScheme {
    fn name(&self) -> &'static str {
        "session"
    }

    fn template(&self) -> &'static str {
        "session://{session_id}"
    }

    fn summary(&self) -> &'static str {
        "A conversation with an agent: its intent, its outcome, its place and times"
    }

    fn list(&self, cx: &Cx<'_>) -> Result<Vec<EntryLine>, OpError> {
        let question = cx.caller.projects(Wanted::Here);
        cx.store.read(|rx| {
            let projects = question.scope(rx)?.ids();
            let filter =
                SessionFilter { projects: projects.as_deref(), ..SessionFilter::default() };
            let found = sessions::list(rx, &filter, limits::RECORDS_LISTED)?;
            let line = |session: Session| EntryLine {
                path: EntryPath::format("session", &[&session.session_id]),
                summary: session.title(),
                media_type: TEXT.to_owned(),
            };
            Ok(found.into_iter().map(line).collect())
        })
    }

    fn read(&self, cx: &Cx<'_>, path: &EntryPath) -> Result<Entry, OpError> {
        let name = name_of(path)?;
        cx.store.read(|rx| {
            let session = sessions::find(rx, name, cx.caller.session_id_form())?;
            let row = SessionRow::read(rx, session)?;
            let sets = context::of_session(rx, row.session.id)?;
            let path = EntryPath::format("session", &[&row.session.session_id]);
            let attributes = attributes(rx, &row, &sets)?;
            Ok(Entry { path, body: body(&row, &sets), media_type: TEXT.to_owned(), attributes })
        })
    }

    fn updated_by(&self, path: &EntryPath) -> Result<Option<EventFilter>, OpError> {
        let subject = Some(format!("session://{}", name_of(path)?));
        Ok(Some(EventFilter { subject, ..EventFilter::default() }))
    }

    /// These two reasons change nothing here: an earlier event reported the start of the resumed session, or the empty
    /// context of the deleted one.
    fn concerns(&self, _: &EntryPath, event: &Published) -> bool {
        !matches!(event.reason.as_deref(), Some("resume" | "deleted"))
    }
}

/// The agent's own id that a path names.
fn name_of(path: &EntryPath) -> Result<&str, OpError> {
    let [name] = path.segments.as_slice() else {
        return Err(OpError::invalid("path", "the path of a session is its id"));
    };
    target::check_id(name)?;
    Ok(name)
}

/// The session as data. Times are seconds since 1970, UTC.
fn attributes(
    rx: &Rx<'_>,
    row: &SessionRow,
    sets: &ContextSets,
) -> Result<Map<String, Value>, OpError> {
    let Value::Object(mut members) = json!(row.session) else {
        return Err(OpError::internal("a session is not an object"));
    };
    // Numbers of rows mean nothing outside of the store.
    for inner in ["id", "project_id"] {
        members.remove(inner);
    }
    let details = &row.details;
    for (name, at) in [
        ("started_at", Some(row.session.started_at)),
        ("last_at", Some(row.session.last_at)),
        ("ended_at", row.session.ended_at),
        ("idle_at", details.idle_at),
        ("observed_at", details.observed_at),
    ] {
        members.insert(name.into(), at.map(|at| at.div_euclid(1_000)).into());
    }
    for (name, text) in [
        ("name", details.label.as_deref()),
        ("env_hint", details.env_hint.as_deref()),
        ("cwd", row.cwd()),
        ("model", row.start.model.as_deref()),
        ("parent", row.parent(rx)?.as_deref()),
    ] {
        members.insert(name.into(), text.into());
    }
    members.insert("context".into(), json!(sets));
    Ok(members)
}

/// The text of a session: its intent, a line for each fact about it and for each set, and the rest of its summary.
fn body(row: &SessionRow, sets: &ContextSets) -> String {
    let SessionRow { session, details, start, .. } = row;
    let line = |text: &str| text::one_line(text, limits::CONTEXT_ITEM_CHARS_MAX);
    let mut lines = vec![session.title()];
    lines.push(format!("session: {}", session.session_id));
    lines.extend(details.label.as_ref().map(|name| format!("name: {}", line(name))));
    lines.push(format!("agent: {}", session.agent));
    lines.extend(start.model.as_ref().map(|model| format!("model: {}", line(model))));
    lines.push(format!("project: {}", session.project));
    lines.extend(row.cwd().map(|cwd| format!("directory: {cwd}")));
    lines.extend(details.env_hint.as_ref().map(|hint| format!("environment: {}", line(hint))));
    lines.push(format!("state: {}", session.state.word()));
    lines.push(format!("started: {}", rfc3339_seconds(session.started_at)));
    lines.push(match session.ended_at {
        Some(at) => format!("ended: {}", rfc3339_seconds(at)),
        None => format!("last event: {}", rfc3339_seconds(session.last_at)),
    });
    for (name, items) in sets.iter() {
        let items: Vec<String> = items.iter().map(|item| line(item)).collect();
        lines.push(format!("set {}: {}", line(name), items.join(", ")));
    }
    if let Some(summary) = &session.summary {
        lines.extend(summary.details());
    }
    lines.join("\n")
}
