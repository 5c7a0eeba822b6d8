//! `deduplicate_bookmarks`: removes older bookmarks of the same page. It runs as a job.

use contract::{Access, CliShape, Cx, Op, OpInfo, Tier};
use model::{OpError, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::bookmarks;

pub(crate) struct DeduplicateBookmarks;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeduplicateParams {}

#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct DeduplicateOutput {
    removed: usize,
}

impl Op for DeduplicateBookmarks {
    const INFO: OpInfo = OpInfo {
        name: "deduplicate_bookmarks",
        summary: "Remove older bookmarks of the same page",
        doc: "Of several bookmarks of one page in one project the newest stays.",
        access: Access::Write { destructive: true, idempotent: true },
        tiers: &[Tier::Person, Tier::Agent, Tier::Client],
        toolset: "memory",
        cli: CliShape { path: &["bookmark", "deduplicate"], ..CliShape::CALL_ONLY },
        job: true,
        deadline: limits::CARE_DEADLINE,
        ..OpInfo::BASE
    };
    type Params = DeduplicateParams;
    type Output = DeduplicateOutput;

    fn run(&self, cx: &Cx<'_>, _: DeduplicateParams) -> Result<DeduplicateOutput, OpError> {
        cx.store.progress("finding repeated bookmarks", 0, None)?;
        let repeated = cx.store.read(bookmarks::repeated)?;
        let total = u64::try_from(repeated.len()).ok();
        cx.store.progress("removing repeated bookmarks", 0, total)?;
        cx.store.write(move |tx| {
            let repeated = bookmarks::repeated(tx)?;
            repeated.iter().try_for_each(|id| bookmarks::remove(tx, *id))?;
            Ok(DeduplicateOutput { removed: repeated.len() })
        })
    }
}
