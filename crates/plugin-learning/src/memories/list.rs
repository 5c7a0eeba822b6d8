//! `list_memories`: memories without a query, newest first.

use std::collections::HashMap;

use contract::listing;
use contract::pretty::{notes, pretty};
use contract::{CallTarget, CliShape, Count, Cx, Example, Listed, Op, OpInfo, Pretty};
use model::memory::{self, MemoryCategory, MemoryStatus};
use model::{OpError, limits, time};
use place::{About, Wanted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::Rx;
use store::memories::{self as stored, Memory};
use store::sessions::SessionIdForm;

use super::example::A_MEMORY;
use super::found;

pub(crate) struct ListMemories;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListMemoriesParams {
    /// Only this category.
    #[serde(default)]
    category: Option<MemoryCategory>,
    /// Only those with one of these tags.
    #[serde(default)]
    tags: Vec<String>,
    /// From 1 to 200.
    #[serde(default = "default_limit")]
    limit: Count,
    /// Memories to skip.
    #[serde(default)]
    offset: usize,
    /// Yours if left out; `*` for all.
    #[serde(default)]
    project: Wanted,
    /// The session in whose directory you ask.
    #[serde(default)]
    session_id: Option<String>,
    /// The directory in whose project you ask.
    #[serde(default)]
    cwd: Option<String>,
}

fn default_limit() -> Count {
    Count::new(limits::MEMORIES_LISTED_DEFAULT)
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct ListMemoriesOutput {
    /// Newest first. A superseded memory comes right after its successor.
    results: Vec<ListedMemory>,
    count: usize,
    /// How many there are on all pages.
    total: usize,
    #[serde(flatten)]
    about: About,
}

/// A memory in a list, without its content.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct ListedMemory {
    id: String,
    category: MemoryCategory,
    importance: f64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    created_at: String,
    status: MemoryStatus,
    /// The memory that superseded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    superseded_by: Option<String>,
    /// The first 120 characters; `memory://ID` has the whole text.
    preview: String,
}

impl Op for ListMemories {
    const INFO: OpInfo = OpInfo {
        name: "list_memories",
        summary: "List the stored memories",
        doc: "Newest first, with the beginning of each; `retrieve_memories` finds them by a question.",
        toolset: "memory",
        typed_errors: true,
        cli: CliShape {
            path: &["memory", "list"],
            flag_aliases: &[("session_id", "session"), ("tags", "tag")],
            pretty: Some(pretty::<Self>),
            notes: Some(notes::<Self>),
            listed: Some(Listed { member: "results", id: "id", asked: None, whole: None }),
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "Ways to work, of all projects",
            before: &[A_MEMORY],
            params: r#"{"category":"workflow","project":"*"}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = ListMemoriesParams;
    type Output = ListMemoriesOutput;

    fn run(&self, cx: &Cx<'_>, params: ListMemoriesParams) -> Result<ListMemoriesOutput, OpError> {
        memory::check_tags(&params.tags)?;
        let asker = (params.session_id.as_deref(), params.cwd.as_deref());
        let question = CallTarget::question(cx, asker, params.project.clone())?;
        cx.store.read(|rx| {
            let scope = question.scope(rx)?;
            let all = params.matching(rx, scope.ids().as_deref())?;
            let total = all.len();
            let limit =
                params.limit.of_caller(cx.caller, "limit", 1..=limits::MEMORIES_LISTED_MAX)?;
            let page = all.into_iter().skip(params.offset).take(limit);
            let results =
                page.map(|one| ListedMemory::read(rx, one)).collect::<Result<Vec<_>, OpError>>()?;
            let ids = results.iter().map(|one| one.id.as_str());
            let id_chars = match cx.caller.session_id_form() {
                SessionIdForm::Prefix => stored::prefix_chars(rx, ids)?,
                SessionIdForm::Whole => None,
            };
            let (count, about) = (results.len(), About { id_chars, ..scope.about(cx.now) });
            Ok(ListMemoriesOutput { results, count, total, about })
        })
    }
}

impl ListMemoriesParams {
    fn admits(&self, memory: &Memory) -> bool {
        let tag = |tag: &String| memory.tags.iter().any(|own| own == tag.trim());
        self.category.is_none_or(|category| category == memory.category)
            && (self.tags.is_empty() || self.tags.iter().any(tag))
    }

    /// The memories that match, and their successors: current memories newest first, each followed by those that it
    /// supersedes.
    fn matching(&self, rx: &Rx<'_>, projects: Option<&[i64]>) -> Result<Vec<Memory>, OpError> {
        let all = stored::newest(rx, projects, usize::MAX)?;
        let by_id: HashMap<i64, &Memory> = all.iter().map(|one| (one.id, one)).collect();
        // For each memory to list, its chain from the current one down to itself, as keys to sort by.
        let mut listed: HashMap<i64, Vec<(i64, i64)>> = HashMap::new();
        for memory in all.iter().filter(|memory| self.admits(memory)) {
            let mut chain = vec![memory];
            while let Some(next) = chain.last().and_then(|last| last.superseded_by)
                && chain.len() < limits::MEMORY_CHAIN_MAX
            {
                let Some(next) = by_id.get(&next) else { break };
                chain.push(next);
            }
            chain.reverse();
            let keys: Vec<(i64, i64)> = chain.iter().map(|one| (-one.at, -one.id)).collect();
            for (place, one) in chain.iter().enumerate() {
                let key = keys.get(..=place).unwrap_or_default();
                listed.entry(one.id).or_insert_with(|| key.to_vec());
            }
        }
        let mut found: Vec<(Vec<(i64, i64)>, i64)> =
            listed.into_iter().map(|(id, key)| (key, id)).collect();
        found.sort();
        Ok(found.iter().filter_map(|(_, id)| by_id.get(id).copied().cloned()).collect())
    }
}

impl ListedMemory {
    fn read(rx: &Rx<'_>, memory: Memory) -> Result<ListedMemory, OpError> {
        Ok(ListedMemory {
            status: memory.status(),
            superseded_by: found::successor(rx, &memory)?,
            preview: text::one_line(&memory.content, limits::PREVIEW_CHARS),
            created_at: time::rfc3339(memory.at),
            id: memory.uuid,
            category: memory.category,
            importance: memory.importance,
            tags: memory.tags,
        })
    }
}

impl Pretty for ListMemories {
    fn pretty(params: &ListMemoriesParams, output: &ListMemoriesOutput, width: usize) -> String {
        let ListMemoriesOutput { results, total, about, .. } = output;
        if results.is_empty() {
            let what = match (*total, params.category.is_some() || !params.tags.is_empty()) {
                (0, false) => "No memory is stored",
                (0, true) => "No memory matches",
                _ => "No more memories",
            };
            return listing::nothing(what, &params.project, about);
        }
        let now = about.answered_at.saturating_mul(1000);
        let header = ["memory", "age", "category", "importance", "status", "content"];
        let ids = results.iter().map(|one| one.id.as_str());
        let ids = listing::session_ids(ids, about.id_chars);
        let rows = results.iter().zip(ids).map(|(one, id)| {
            let age = time::parse_rfc3339(&one.created_at).map(|at| time::ago(at, now));
            let status = match one.status {
                MemoryStatus::Stored => "stored",
                MemoryStatus::Superseded => "superseded",
            };
            vec![
                id,
                age.unwrap_or_default(),
                one.category.word().to_owned(),
                one.importance.to_string(),
                status.to_owned(),
                listing::line(&one.preview),
            ]
        });
        listing::table(&header, rows, &["importance", "age"], width)
    }

    fn notes(params: &ListMemoriesParams, output: &ListMemoriesOutput) -> Vec<String> {
        let ListMemoriesOutput { count, total, .. } = output;
        let end = params.offset.saturating_add(*count);
        let more = (end < *total && *count > 0)
            .then(|| format!("{count} of {total} memories; --offset {end} shows more"));
        let limit = listing::limit_note(params.limit, limits::MEMORIES_LISTED_MAX);
        more.into_iter().chain(limit).collect()
    }
}
