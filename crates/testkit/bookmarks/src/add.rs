//! `add_bookmark`: keeps a page in the caller's project, without a session.

use contract::{Access, CliShape, Cx, Op, OpInfo};
use model::OpError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::bookmarks::NewBookmark;
use store::projects;
use text::secrets::{Profile, redact};

use crate::capture;

pub(crate) struct AddBookmark;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AddBookmarkParams {
    /// Address of the page.
    url: String,
    /// The purpose of the page.
    #[serde(default)]
    note: String,
}

#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct AddBookmarkOutput {
    id: i64,
}

impl Op for AddBookmark {
    const INFO: OpInfo = OpInfo {
        name: "add_bookmark",
        summary: "Keep the address of a web page",
        doc: "It belongs to the project where you are, and is found by its address and its note.",
        access: Access::Write { destructive: false, idempotent: false },
        toolset: "memory",
        cli: CliShape {
            path: &["bookmark", "add"],
            positional: &["url", "note"],
            ..CliShape::CALL_ONLY
        },
        ..OpInfo::BASE
    };
    type Params = AddBookmarkParams;
    type Output = AddBookmarkOutput;

    fn run(&self, cx: &Cx<'_>, params: AddBookmarkParams) -> Result<AddBookmarkOutput, OpError> {
        let facts = cx.caller.place().facts.clone();
        let url = redact(&params.url, Profile::Strict);
        let note = redact(&params.note, Profile::Strict);
        let at = cx.now;
        cx.store.write(move |tx| {
            let project = projects::resolve(tx, &facts, at)?.id;
            let new = NewBookmark {
                session: None,
                project,
                root: facts.root.as_deref(),
                at,
                url: &url,
                note: &note,
            };
            Ok(AddBookmarkOutput { id: capture::store(tx, &new)? })
        })
    }
}
