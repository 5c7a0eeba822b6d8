//! `bookmark://ID`: bookmarks as entries.

use contract::{Cx, Scheme};
use model::entry::{Entry, EntryLine, EntryPath};
use model::{OpError, limits};
use place::Wanted;
use serde_json::Map;
use store::bookmarks;

use crate::path;

pub(crate) struct BookmarkScheme;

const TEXT: &str = "text/plain";

impl Scheme for BookmarkScheme {
    fn name(&self) -> &'static str {
        "bookmark"
    }

    fn template(&self) -> &'static str {
        "bookmark://{id}"
    }

    fn summary(&self) -> &'static str {
        "A web page that a prompt named or a user added"
    }

    fn list(&self, cx: &Cx<'_>) -> Result<Vec<EntryLine>, OpError> {
        let question = cx.caller.projects(Wanted::Here);
        let found = cx.store.read(|rx| {
            let projects = question.scope(rx)?.ids();
            bookmarks::newest(rx, projects.as_deref(), limits::RECORDS_LISTED)
        })?;
        let line = |one: bookmarks::Bookmark| EntryLine {
            path: path(one.id),
            summary: text::one_line(&one.url, limits::PREVIEW_CHARS),
            media_type: TEXT.to_owned(),
        };
        Ok(found.into_iter().map(line).collect())
    }

    fn read(&self, cx: &Cx<'_>, entry: &EntryPath) -> Result<Entry, OpError> {
        let id = match entry.segments.as_slice() {
            [id] => id.parse().ok(),
            _ => None,
        };
        let id = id.ok_or_else(|| OpError::invalid("path", "a bookmark's path is a number"))?;
        let found = cx.store.read(|rx| bookmarks::get(rx, id))?;
        let found = found.ok_or_else(|| OpError::not_found(format!("there is no {}", path(id))))?;
        let mut attributes = Map::new();
        attributes.insert("url".to_owned(), found.url.into());
        Ok(Entry { path: path(id), body: found.note, media_type: TEXT.to_owned(), attributes })
    }
}
