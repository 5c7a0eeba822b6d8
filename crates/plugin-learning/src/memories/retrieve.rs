//! `retrieve_memories`: memories by their words and meaning, best first.

use contract::listing;
use contract::pretty::{notes, pretty, refusal};
use contract::{CallTarget, CliShape, Count, Cx, Example, Listed, Op, OpInfo, Pretty};
use model::memory::{self, MemoryCategory};
use model::{OpError, limits, time};
use place::{About, Wanted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::memories as stored;
use store::search::Recipe;
use store::sessions::SessionIdForm;
use text::table;

use super::example::A_MEMORY;
use super::found::{self, MemoryFilter, ShownMemory};

pub(crate) struct RetrieveMemories;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RetrieveMemoriesParams {
    /// A question or words, up to 10000 characters.
    query: String,
    /// From 1 to 100.
    #[serde(default = "default_limit")]
    limit: Count,
    /// Only this category.
    #[serde(default)]
    category: Option<MemoryCategory>,
    /// Only those at least this important, from 0 to 1.
    #[serde(default)]
    min_importance: f64,
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
    Count::new(limits::MEMORIES_FOUND_DEFAULT)
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct RetrieveMemoriesOutput {
    /// Best first. A superseded memory comes right after its successor.
    results: Vec<ShownMemory>,
    count: usize,
    /// Present if none is likely to be what was asked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    merely_similar: bool,
    #[serde(flatten)]
    about: About,
}

impl Op for RetrieveMemories {
    const INFO: OpInfo = OpInfo {
        name: "retrieve_memories",
        summary: "Recall memories about a subject",
        doc: "By words and meaning, best first. One that a newer memory replaced has the status `superseded` and follows its successor.",
        toolset: "memory",
        typed_errors: true,
        cli: CliShape {
            path: &["memory", "find"],
            positional: &["query"],
            rest: true,
            flag_aliases: &[("session_id", "session")],
            pretty: Some(pretty::<Self>),
            notes: Some(notes::<Self>),
            refusal: Some(refusal::<Self>),
            listed: Some(Listed { member: "results", id: "id", asked: Some("query"), whole: None }),
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "When are releases built?",
            before: &[A_MEMORY],
            params: r#"{"query":"when do we build releases","project":"*"}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = RetrieveMemoriesParams;
    type Output = RetrieveMemoriesOutput;

    fn run(
        &self,
        cx: &Cx<'_>,
        params: RetrieveMemoriesParams,
    ) -> Result<RetrieveMemoriesOutput, OpError> {
        memory::check_query(&params.query)?;
        memory::check_importance("min_importance", params.min_importance)?;
        let asker = (params.session_id.as_deref(), params.cwd.as_deref());
        let question = CallTarget::question(cx, asker, params.project)?;
        let recipe = match cx.config.boolean("search.meaning") {
            true => Recipe::Table,
            false => Recipe::Lexical,
        };
        let limit = params.limit.of_caller(cx.caller, "limit", 1..=limits::MEMORIES_FOUND_MAX)?;
        let (output, _) = cx.store.search(|rx| {
            let scope = question.scope(rx)?;
            let projects = scope.ids();
            let filter = MemoryFilter {
                projects: projects.as_deref(),
                category: params.category,
                min_importance: params.min_importance,
            };
            let found = found::find(rx, &params.query, &filter, (recipe, cx.now), limit)?;
            let merely_similar = found.are_merely_similar(rx)?;
            let shown = found.rows.into_iter();
            let shown = shown.map(|row| ShownMemory::read(rx, row.memory, row.score));
            let results = shown.collect::<Result<Vec<_>, OpError>>()?;
            let ids = results.iter().map(|memory| memory.id.as_str());
            let id_chars = match cx.caller.session_id_form() {
                SessionIdForm::Prefix => stored::prefix_chars(rx, ids)?,
                SessionIdForm::Whole => None,
            };
            let (count, about) = (results.len(), About { id_chars, ..scope.about(cx.now) });
            Ok(RetrieveMemoriesOutput { results, count, merely_similar, about })
        })?;
        Ok(output)
    }
}

impl Pretty for RetrieveMemories {
    fn pretty(
        params: &RetrieveMemoriesParams,
        output: &RetrieveMemoriesOutput,
        width: usize,
    ) -> String {
        let RetrieveMemoriesOutput { results, merely_similar, about, .. } = output;
        if results.is_empty() {
            return listing::nothing("No memory matches", &params.project, about);
        }
        let now = about.answered_at.saturating_mul(1000);
        let mut lines = Vec::new();
        if *merely_similar {
            lines.push("None of these is likely to be what you asked for:".to_owned());
        }
        let ids = results.iter().map(|memory| memory.id.as_str());
        let ids = listing::session_ids(ids, about.id_chars);
        for (memory, id) in results.iter().zip(ids) {
            let age = time::parse_rfc3339(&memory.created_at).map(|at| time::ago(at, now));
            let state = memory.superseded_by.as_ref().map(|by| format!(", superseded by {by}"));
            lines.push(format!(
                "{id}  {}, importance {}, {}{}",
                memory.category.word(),
                memory.importance,
                age.unwrap_or_default(),
                state.unwrap_or_default()
            ));
            let content = text::one_line(&memory.content, limits::SHOWN_LINE_CHARS_MAX);
            lines.push(table::paragraph(&content, 2, width));
        }
        lines.join("\n")
    }

    fn notes(params: &RetrieveMemoriesParams, output: &RetrieveMemoriesOutput) -> Vec<String> {
        listing::found_notes(output.count, (params.limit, limits::MEMORIES_FOUND_MAX))
    }

    fn refusal(params: &RetrieveMemoriesParams, _: i64) -> Option<OpError> {
        listing::empty_query("query", &params.query, "`rekindle memory list` lists the memories.")
    }
}
