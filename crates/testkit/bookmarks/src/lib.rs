//! Bookmarks: the web pages that prompts name. The sample plugin: it uses every part of the contract once, is compiled for
//! tests only, and CONTRIBUTING.md walks through it.
//!
//! Read in this order: `capture` (a prompt becomes a record), `add` and `list` (operations, one of them at a REST path),
//! `deduplicate` (a job), `scheme` (records as entries), `feed` (events for subscribers), `briefing` (a row for the
//! agent). The records themselves are in `store::bookmarks`.

mod add;
mod briefing;
mod capture;
mod deduplicate;
mod feed;
mod list;
mod scheme;

use std::sync::Arc;

use contract::{
    Asset, Candidate, Config, Feed, Moment, Occasion, OpError, Operation, Plugin, Scheme,
};
use place::Captured;
use store::bookmarks::Bookmarks;
use store::{Aggregate, Tx};

/// The bookmarks plugin.
pub struct BookmarksPlugin;

impl Plugin for BookmarksPlugin {
    fn name(&self) -> &'static str {
        "bookmarks"
    }

    fn operations(&self) -> Vec<Operation> {
        vec![
            Operation::new(add::AddBookmark),
            Operation::new(list::ListBookmarks),
            Operation::new(deduplicate::DeduplicateBookmarks),
        ]
    }

    fn command_groups(&self) -> &'static [(&'static str, &'static str)] {
        &[("bookmark", "Keep the addresses of web pages")]
    }

    fn schemes(&self) -> Vec<Arc<dyn Scheme>> {
        vec![Arc::new(scheme::BookmarkScheme)]
    }

    fn feeds(&self) -> Vec<Arc<dyn Feed>> {
        vec![Arc::new(feed::BookmarkFeed)]
    }

    fn assets(&self) -> &'static [Asset] {
        const ASSETS: &[Asset] =
            &[Asset::script("/bookmarks.js", include_str!("../page/bookmarks.js"))];
        ASSETS
    }

    /// A plugin of every build has a line in `store::registry` instead.
    fn aggregates(&self) -> &'static [&'static dyn Aggregate] {
        &[&Bookmarks]
    }

    fn observe(&self, seen: &Captured<'_>, tx: &Tx<'_>, _: &Config) -> Result<(), OpError> {
        capture::capture(tx, seen)
    }

    fn may_have_candidates(&self, occasion: &Occasion<'_>, _: &Config) -> bool {
        matches!(occasion, Occasion::SessionStart(_))
    }

    fn candidates(&self, moment: &Moment<'_>) -> Result<Vec<Candidate>, OpError> {
        briefing::candidates(moment)
    }
}

/// The path of a bookmark as an entry.
fn path(id: i64) -> String {
    format!("bookmark://{id}")
}
