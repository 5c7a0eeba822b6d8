//! `list_bookmarks`: the newest bookmarks; also `GET /api/bookmarks`.

use contract::{CliShape, Cx, Op, OpInfo, RestMethod, RestRoute};
use model::OpError;
use place::Wanted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::bookmarks;

pub(crate) struct ListBookmarks;

/// The most bookmarks of one answer.
const LISTED_MAX: usize = 100;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListBookmarksParams {
    /// Project to look in; yours if left out, `*` for all.
    #[serde(default)]
    project: Wanted,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct ListBookmarksOutput {
    /// The newest first.
    bookmarks: Vec<ListedBookmark>,
}

/// A bookmark in a list.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct ListedBookmark {
    id: i64,
    /// Seconds since 1970, UTC.
    timestamp: i64,
    url: String,
    note: String,
}

impl Op for ListBookmarks {
    const INFO: OpInfo = OpInfo {
        name: "list_bookmarks",
        summary: "List the newest bookmarks",
        doc: "Of one project or of all; `search` finds them by their words.",
        toolset: "memory",
        cli: CliShape { path: &["bookmark", "list"], ..CliShape::CALL_ONLY },
        rest: &[RestRoute::new(RestMethod::Get, "/api/bookmarks").query(&[("project", "project")])],
        ..OpInfo::BASE
    };
    type Params = ListBookmarksParams;
    type Output = ListBookmarksOutput;

    fn run(
        &self,
        cx: &Cx<'_>,
        params: ListBookmarksParams,
    ) -> Result<ListBookmarksOutput, OpError> {
        let question = cx.caller.projects(params.project);
        let found = cx.store.read(|rx| {
            let projects = question.scope(rx)?.ids();
            bookmarks::newest(rx, projects.as_deref(), LISTED_MAX)
        })?;
        let listed = found.into_iter().map(|one| ListedBookmark {
            id: one.id,
            timestamp: one.at.div_euclid(1_000),
            url: one.url,
            note: one.note,
        });
        Ok(ListBookmarksOutput { bookmarks: listed.collect() })
    }
}
