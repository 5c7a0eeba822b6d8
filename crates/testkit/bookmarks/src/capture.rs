//! Capture: a prompt that names a web page becomes a bookmark of its session and project.

use model::OpError;
use model::event::Event;
use model::hook::Happening;
use place::Captured;
use serde_json::json;
use store::Tx;
use store::bookmarks::{self, NewBookmark};
use text::secrets::{Profile, Redacted, redact};

use crate::path;

/// Characters of a prompt that are the note of its page.
const NOTE_CHARS: usize = 200;

pub(crate) fn capture(tx: &Tx<'_>, seen: &Captured<'_>) -> Result<(), OpError> {
    let Happening::Prompted(said) = &seen.event.what else { return Ok(()) };
    let Some(url) = first_address(said) else { return Ok(()) };
    let (session, at) = (seen.session, seen.event.at);
    let (url, note) = (redact(url, Profile::Strict), said.line(NOTE_CHARS));
    let new = NewBookmark {
        session: Some(session.id),
        project: session.project,
        root: None,
        at,
        url: &url,
        note: &note,
    };
    store(tx, &new).map(drop)
}

/// Stores a bookmark and notes the event in the same transaction.
pub(crate) fn store(tx: &Tx<'_>, new: &NewBookmark<'_>) -> Result<i64, OpError> {
    let id = bookmarks::add(tx, new)?;
    let added = Event::new("bookmark/added", path(id)).with_data(json!({ "url": **new.url }));
    tx.note(Event { project: Some(new.project), ..added })?;
    Ok(id)
}

fn first_address(said: &Redacted<String>) -> Option<&str> {
    let is_address = |word: &&str| word.starts_with("https://") && word.len() > "https://".len();
    said.split_whitespace().find(is_address)
}
