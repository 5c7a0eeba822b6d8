//! `search_experiences`: resolved ghaps by their words and their meaning.

use std::collections::BTreeSet;

use contract::pretty::{notes, pretty, refusal};
use contract::{CallTarget, CliShape, Count, Cx, Example, Listed, Op, OpInfo, Pretty, listing};
use model::ghap::{ExperienceAxis, Ghap, GhapDomain, GhapOutcome, GhapStatus};
use model::observation::RecordType;
use model::{OpError, limits};
use place::{About, Wanted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::ghaps;
use store::search::{self, Filter, Order, Recipe, SpecificMeaning};
use text::query;

use super::place::TOOLSET;
use super::view::GhapView;
use super::{resolve, start};
use crate::relevance::{SIMILAR, content_terms};

pub(crate) struct SearchExperiences;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchExperiencesParams {
    /// A question or words.
    query: String,
    /// `surprise` and `root_cause` are those of falsified ones only.
    #[serde(default = "full")]
    axis: ExperienceAxis,
    #[serde(default)]
    domain: Option<GhapDomain>,
    #[serde(default)]
    outcome: Option<GhapOutcome>,
    /// From 1 to 50.
    #[serde(default = "default_limit")]
    limit: Count,
    /// Yours if left out; `*` for all.
    #[serde(default)]
    project: Wanted,
    /// The session whose project is meant.
    #[serde(default)]
    session_id: Option<String>,
    /// The directory whose project is meant.
    #[serde(default)]
    cwd: Option<String>,
}

fn default_limit() -> Count {
    Count::new(limits::EXPERIENCES_FOUND_DEFAULT)
}

fn full() -> ExperienceAxis {
    ExperienceAxis::Full
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FoundExperience {
    #[serde(flatten)]
    ghap: GhapView,
    /// Its text on the axis.
    text: String,
    /// From 0 to 1, relative to the best result.
    score: f64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct SearchExperiencesOutput {
    results: Vec<FoundExperience>,
    count: usize,
    #[serde(flatten)]
    about: About,
}

impl SearchExperiencesParams {
    /// The text of an experience on the axis; `None` if the experience does not pass the filters.
    fn admits(&self, ghap: &Ghap) -> Option<String> {
        let domain = self.domain.is_none_or(|domain| domain == ghap.domain);
        let outcome = self.outcome.map(GhapStatus::from);
        let fits = domain && outcome.is_none_or(|outcome| outcome == ghap.status);
        ghap.axis_text(self.axis).filter(|_| fits)
    }
}

/// How much the text of an axis is about a query: the mean of the similarity and the share of the query's words that it
/// has. None if the text has no word of the query and is not similar to it.
fn on_axis(
    (asked, meaning): (&BTreeSet<String>, Option<&SpecificMeaning>),
    text: &str,
) -> Option<f64> {
    let shared = asked.intersection(&content_terms(text)).count();
    let similarity = meaning.map_or(0.0, |meaning| meaning.similarity(std::iter::once(text)));
    let share = shared as f64 / asked.len().max(1) as f64;
    (shared > 0 || similarity >= SIMILAR).then_some(f64::midpoint(similarity, share))
}

impl Op for SearchExperiences {
    const INFO: OpInfo = OpInfo {
        name: "search_experiences",
        summary: "Search resolved ghaps: hypothesis, result and lesson",
        doc: "Call it before you state a hypothesis. A falsified one is a warning: it was believed and was wrong.",
        toolset: TOOLSET,
        typed_errors: true,
        cli: CliShape {
            path: &["ghap", "search"],
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
            title: "Is it the clock?",
            before: &[("start_ghap", start::EXAMPLE), ("resolve_ghap", resolve::EXAMPLE)],
            params: r#"{"query":"flaky login clock","project":"*"}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = SearchExperiencesParams;
    type Output = SearchExperiencesOutput;

    fn run(
        &self,
        cx: &Cx<'_>,
        params: SearchExperiencesParams,
    ) -> Result<SearchExperiencesOutput, OpError> {
        let max = limits::EXPERIENCE_QUERY_CHARS_MAX;
        if !params.query.trim().is_empty() {
            model::ghap::check_text("query", &params.query, max)?;
        }
        let asker = (params.session_id.as_deref(), params.cwd.as_deref());
        let question = CallTarget::question(cx, asker, params.project.clone())?;
        let meaning = cx.config.boolean("search.meaning");
        let recipe = if meaning { Recipe::Table } else { Recipe::Lexical };
        let limit =
            params.limit.of_caller(cx.caller, "limit", 1..=limits::EXPERIENCES_FOUND_MAX)?;
        let (output, _) = cx.store.search(|rx| {
            let scope = question.scope(rx)?;
            let projects = scope.ids();
            let kind = RecordType::of(ghaps::EXPERIENCE);
            let filter = Filter { projects: projects.as_deref(), kind, ..Filter::default() };
            let query = query::rewrite(&params.query);
            let wanted = search::Wanted::of(Order::Best, limits::EXPERIENCE_HITS_READ);
            let hits = search::hits_by(recipe, rx, &query, &filter, wanted)?.hits;
            let asked = content_terms(&params.query);
            let compared = meaning.then(|| SpecificMeaning::of(&params.query));
            let mut results = Vec::new();
            for hit in hits {
                let Some(ghap) = ghaps::by_id(rx, hit.id)? else { continue };
                let Some(text) = params.admits(&ghap) else { continue };
                let score = match params.axis {
                    ExperienceAxis::Full => Some(hit.score),
                    _ => on_axis((&asked, compared.as_ref()), &text),
                };
                let Some(score) = score else { continue };
                results.push(FoundExperience { ghap: GhapView::of(ghap), text, score });
                if results.len() == limit && params.axis == ExperienceAxis::Full {
                    break;
                }
            }
            results.sort_by(|a, b| b.score.total_cmp(&a.score));
            results.truncate(limit);
            let best = results.first().map_or(0.0, |one| one.score);
            results.iter_mut().for_each(|one| one.score /= best.max(f64::MIN_POSITIVE));
            let count = results.len();
            Ok(SearchExperiencesOutput { results, count, about: scope.about(cx.now) })
        })?;
        Ok(output)
    }
}

impl Pretty for SearchExperiences {
    fn pretty(
        params: &SearchExperiencesParams,
        output: &SearchExperiencesOutput,
        width: usize,
    ) -> String {
        if output.results.is_empty() {
            return listing::nothing("No experiences", &params.project, &output.about);
        }
        let now = output.about.answered_at.saturating_mul(1_000);
        let shown = output.results.iter().map(|one| one.ghap.shown(now, None, width));
        shown.collect::<Vec<_>>().join("\n\n")
    }

    fn notes(params: &SearchExperiencesParams, output: &SearchExperiencesOutput) -> Vec<String> {
        listing::found_notes(output.count, (params.limit, limits::EXPERIENCES_FOUND_MAX))
    }

    fn refusal(params: &SearchExperiencesParams, _: i64) -> Option<OpError> {
        listing::empty_query("query", &params.query, "`rekindle ghap list` lists the experiences.")
    }
}
