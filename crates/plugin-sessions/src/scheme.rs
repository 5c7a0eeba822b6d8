//! `context://ID` and `context://ID/SET`: the context of a session as entries.

use contract::{Cx, Scheme};
use model::OpError;
use model::entry::{Entry, EntryLine, EntryPath};
use model::event::{EventFilter, Published};
use serde_json::{Map, json};
use store::{context, sessions};

use crate::{feed, target};

pub(crate) struct ContextScheme;

const JSON: &str = "application/json";

impl Scheme for ContextScheme {
    fn name(&self) -> &'static str {
        "context"
    }

    fn template(&self) -> &'static str {
        "context://{session_id}{/setName}"
    }

    fn summary(&self) -> &'static str {
        "The files, endpoints and ports that matter to a session: all sets, or the items of one"
    }

    /// Contexts are read by path; `session://` lists the sessions.
    fn list(&self, _: &Cx<'_>) -> Result<Vec<EntryLine>, OpError> {
        Ok(Vec::new())
    }

    fn read(&self, cx: &Cx<'_>, path: &EntryPath) -> Result<Entry, OpError> {
        let (name, set) = parts(path)?;
        let form = cx.caller.session_id_form();
        let sets = cx.store.read(|rx| {
            let session = sessions::find(rx, name, form)?;
            context::of_session(rx, session.id)
        })?;
        let body = match set {
            Some(set) if sets.of(set).is_empty() => {
                let message = format!("the session has no set '{set}'");
                return Err(OpError::not_found(message)
                    .hint(format!("`context://{name}` shows all sets of the session.")));
            }
            Some(set) => json!(sets.of(set)),
            None => json!(sets),
        };
        let parts: Vec<&str> = path.segments.iter().map(String::as_str).collect();
        Ok(Entry {
            path: EntryPath::format("context", &parts),
            body: body.to_string(),
            media_type: JSON.to_owned(),
            attributes: Map::new(),
        })
    }

    fn updated_by(&self, path: &EntryPath) -> Result<Option<EventFilter>, OpError> {
        Ok(Some(feed::changes_of(parts(path)?.0)))
    }

    /// An event that names the changed set does not concern entries of other sets. A resume changes no set.
    fn concerns(&self, path: &EntryPath, event: &Published) -> bool {
        if event.reason.as_deref() == Some("resume") {
            return false;
        }
        let changed = event.data.get("setName").and_then(|name| name.as_str());
        match (path.segments.get(1), changed) {
            (Some(set), Some(changed)) => set == changed,
            _ => true,
        }
    }
}

/// The session and the set that a path names.
fn parts(path: &EntryPath) -> Result<(&str, Option<&str>), OpError> {
    let (name, set) = match path.segments.as_slice() {
        [name] => (name, None),
        [name, set] => (name, Some(set.as_str())),
        _ => {
            return Err(OpError::invalid("path", "a context has a session and at most one set")
                .hint("Write it as context://ID or context://ID/SET."));
        }
    };
    target::check_id(name)?;
    set.map_or(Ok(()), |set| model::context::check_set_name("path", set))?;
    Ok((name, set))
}
