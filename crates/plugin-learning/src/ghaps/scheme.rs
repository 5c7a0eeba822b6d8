//! `ghap://ID`: ghaps as entries.

use contract::{Cx, Scheme};
use model::entry::{Entry, EntryLine, EntryPath};
use model::event::EventFilter;
use model::ghap::{Ghap, GhapStatus};
use model::{OpError, limits};
use place::Wanted;
use serde_json::{Map, Value};
use store::ghaps::{self, GhapFilter};

use super::place::named;
use super::view::GhapView;

pub(crate) struct GhapScheme;

const TEXT: &str = "text/plain";

fn path(name: &str) -> String {
    format!("{}://{name}", ghaps::SCHEME)
}

fn name_of(path: &EntryPath) -> Result<&str, OpError> {
    match path.segments.as_slice() {
        [name] => Ok(name),
        _ => Err(OpError::invalid("path", "the path of a ghap is ghap://ID")),
    }
}

impl Scheme for GhapScheme {
    fn name(&self) -> &'static str {
        ghaps::SCHEME
    }

    fn template(&self) -> &'static str {
        "ghap://{id}"
    }

    fn summary(&self) -> &'static str {
        "A hypothesis with its prediction and, if it is resolved, what became of it"
    }

    fn list(&self, cx: &Cx<'_>) -> Result<Vec<EntryLine>, OpError> {
        let question = cx.caller.projects(Wanted::Here);
        let found = cx.store.read(|rx| {
            let projects = question.scope(rx)?.ids();
            let filter = GhapFilter { projects: projects.as_deref(), ..GhapFilter::default() };
            let active = GhapFilter { status: Some(GhapStatus::Hypothesis), ..filter };
            let mut found = ghaps::list(rx, &active, limits::RECORDS_LISTED)?;
            found.extend(ghaps::list(rx, &filter, limits::RECORDS_LISTED)?);
            Ok(found)
        })?;
        let line = |one: Ghap| EntryLine {
            path: path(&one.name),
            summary: text::one_line(
                &format!("{}: {}", one.status.word(), one.goal),
                limits::PREVIEW_CHARS,
            ),
            media_type: TEXT.to_owned(),
        };
        Ok(found.into_iter().take(limits::RECORDS_LISTED).map(line).collect())
    }

    fn read(&self, cx: &Cx<'_>, entry: &EntryPath) -> Result<Entry, OpError> {
        let name = name_of(entry)?;
        let ghap = cx.store.read(|rx| named(rx, name))?;
        let view = GhapView::of(ghap);
        let body = view.body();
        let view = serde_json::to_value(view).unwrap_or_default();
        let mut attributes = Map::new();
        if let Value::Object(members) = view {
            let is_text = |member: &str| {
                ["id", "goal", "hypothesis", "action", "prediction", "result"].contains(&member)
            };
            attributes.extend(members.into_iter().filter(|(member, _)| !is_text(member)));
        }
        Ok(Entry { path: path(name), body, media_type: TEXT.to_owned(), attributes })
    }

    fn updated_by(&self, entry: &EntryPath) -> Result<Option<EventFilter>, OpError> {
        let subject = Some(path(name_of(entry)?));
        Ok(Some(EventFilter { subject, ..EventFilter::default() }))
    }
}
