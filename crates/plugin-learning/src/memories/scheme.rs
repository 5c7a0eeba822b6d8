//! `memory://ID`: memories as entries.

use contract::{Cx, Scheme};
use model::entry::{Entry, EntryLine, EntryPath};
use model::event::EventFilter;
use model::{OpError, limits, memory, time};
use place::Wanted;
use serde_json::{Map, json};
use store::memories as stored;

use super::store_memory::unknown;
use super::{found, named};

pub(crate) struct MemoryScheme;

const TEXT: &str = "text/plain";

fn id_of(path: &EntryPath) -> Result<String, OpError> {
    match path.segments.as_slice() {
        [id] => memory::read_id("path", id),
        _ => Err(OpError::invalid("path", "the path of a memory is memory://ID")),
    }
}

impl Scheme for MemoryScheme {
    fn name(&self) -> &'static str {
        stored::KIND
    }

    fn template(&self) -> &'static str {
        "memory://{id}"
    }

    fn summary(&self) -> &'static str {
        "A text that an agent or a user asked to remember"
    }

    fn list(&self, cx: &Cx<'_>) -> Result<Vec<EntryLine>, OpError> {
        let question = cx.caller.projects(Wanted::Here);
        let found = cx.store.read(|rx| {
            let projects = question.scope(rx)?.ids();
            stored::newest(rx, projects.as_deref(), limits::RECORDS_LISTED)
        })?;
        let holds = found.into_iter().filter(|one| one.superseded_by.is_none());
        let line = |one: stored::Memory| EntryLine {
            path: memory::path(&one.uuid),
            summary: text::one_line(&one.content, limits::PREVIEW_CHARS),
            media_type: TEXT.to_owned(),
        };
        Ok(holds.map(line).collect())
    }

    fn read(&self, cx: &Cx<'_>, path: &EntryPath) -> Result<Entry, OpError> {
        let id = match path.segments.as_slice() {
            [given] => named::id(cx, "path", given)?,
            _ => id_of(path)?,
        };
        let (found, superseded_by) = cx.store.read(|rx| {
            let found = stored::by_uuid(rx, &id)?.ok_or_else(|| unknown(&id))?;
            let by = found::successor(rx, &found)?;
            Ok((found, by))
        })?;
        let mut attributes = Map::new();
        for (name, value) in [
            ("category", json!(found.category)),
            ("importance", json!(found.importance)),
            ("tags", json!(found.tags)),
            ("created_at", json!(time::rfc3339(found.at))),
            ("status", json!(found.status())),
        ] {
            attributes.insert(name.to_owned(), value);
        }
        let mut body = found.content;
        if let Some(by) = superseded_by {
            // A client that shows the text alone must not take it for a fact.
            body = format!("Superseded by {}, so it no longer holds:\n\n{body}", memory::path(&by));
            attributes.insert("superseded_by".to_owned(), by.into());
        }
        Ok(Entry { path: memory::path(&id), body, media_type: TEXT.to_owned(), attributes })
    }

    fn updated_by(&self, path: &EntryPath) -> Result<Option<EventFilter>, OpError> {
        let subject = Some(memory::path(&id_of(path)?));
        Ok(Some(EventFilter { subject, ..EventFilter::default() }))
    }
}
