//! `value://ID`: learned values as entries.

use contract::{Cx, Scheme};
use model::entry::{Entry, EntryLine, EntryPath};
use model::time::rfc3339;
use model::value::cluster_id;
use model::{OpError, limits};
use place::Wanted;
use serde_json::{Map, json};
use store::values::{self, KIND, LearnedValue};

use super::delete::named;
use super::wire::rounded;

pub(crate) struct ValueScheme;

const TEXT: &str = "text/plain";

fn path(name: &str) -> String {
    format!("{KIND}://{name}")
}

impl Scheme for ValueScheme {
    fn name(&self) -> &'static str {
        KIND
    }

    fn template(&self) -> &'static str {
        "value://{id}"
    }

    fn summary(&self) -> &'static str {
        "A rule that was drawn from a cluster of experiences"
    }

    fn list(&self, cx: &Cx<'_>) -> Result<Vec<EntryLine>, OpError> {
        let question = cx.caller.projects(Wanted::Here);
        let found = cx.store.read(|rx| {
            let projects = question.scope(rx)?.ids();
            values::list(rx, projects.as_deref(), None, limits::RECORDS_LISTED)
        })?;
        let line = |one: LearnedValue| EntryLine {
            path: path(&one.name),
            summary: text::one_line(&one.text, limits::PREVIEW_CHARS),
            media_type: TEXT.to_owned(),
        };
        Ok(found.into_iter().map(line).collect())
    }

    fn read(&self, cx: &Cx<'_>, entry: &EntryPath) -> Result<Entry, OpError> {
        let [name] = entry.segments.as_slice() else {
            return Err(OpError::invalid("path", "the path of a value is value://ID"));
        };
        let value = cx.store.read(|rx| named(rx, "path", name))?;
        let mut attributes = Map::new();
        attributes.insert("cluster_id".into(), cluster_id(value.axis, value.cluster).into());
        attributes.insert("axis".into(), value.axis.word().into());
        attributes.insert("created_at".into(), rfc3339(value.at).into());
        attributes.insert("distance_to_centroid".into(), json!(rounded(value.distance)));
        let (path, body) = (path(&value.name), value.text);
        Ok(Entry { path, body, media_type: TEXT.to_owned(), attributes })
    }
}
