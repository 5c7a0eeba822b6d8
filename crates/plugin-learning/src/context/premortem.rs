//! `get_premortem_context`: earlier failures and surprises in a domain, and their causes.

use std::collections::{BTreeMap, BTreeSet};

use contract::pretty::pretty;
use contract::{CallTarget, Candidate, CliShape, Cx, Example, Op, OpInfo, Pretty, Slot};
use model::ghap::{ConfidenceTier, Ghap, GhapDomain, GhapStatus, GhapStrategy};
use model::{OpError, limits, rank};
use place::Wanted;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use store::ghaps::{self, GhapFilter};
use store::{Rx, clusters, values};

use super::assemble_context::{AssembledContext, assembled, shown};
use super::recall::{experience_row, value_path};

pub(crate) struct GetPremortemContext;

/// The name of the source that answers this operation. Its query is the domain, and the strategy if there is one.
pub(crate) const SOURCE: &str = "premortem";

/// The titles of its sections, in their order.
const SECTIONS: [&str; 5] = [
    "Common Failures",
    "Strategy Performance",
    "Unexpected Outcomes",
    "Root Causes to Watch",
    "Relevant Principles",
];

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PremortemParams {
    domain: GhapDomain,
    /// Only experiences with this strategy.
    #[serde(default)]
    strategy: Option<GhapStrategy>,
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

impl Op for GetPremortemContext {
    const INFO: OpInfo = OpInfo {
        name: "get_premortem_context",
        summary: "Learn what went wrong before in a domain",
        doc: "Common failures, how strategies performed, surprises, root causes and principles. Call it before risky work.",
        toolset: "learning",
        typed_errors: true,
        cli: CliShape {
            path: &["premortem"],
            positional: &["domain"],
            flag_aliases: &[("session_id", "session")],
            pretty: Some(pretty::<Self>),
            verbatim: true,
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "Before you debug",
            before: &[],
            params: r#"{"domain":"debugging","project":"*"}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = PremortemParams;
    type Output = AssembledContext;

    fn run(&self, cx: &Cx<'_>, params: PremortemParams) -> Result<AssembledContext, OpError> {
        let target = CallTarget::to_read(cx, params.session_id.as_deref(), params.cwd.as_deref())?;
        let words = [Some(params.domain.word()), params.strategy.map(GhapStrategy::word)];
        let query: Vec<&str> = words.into_iter().flatten().collect();
        let asked = json!({ "query": query.join(" "), "sources": [SOURCE],
            "limit": limits::PREMORTEM_ROWS_MAX.max(GhapStrategy::ALL.len()),
            "tokens": limits::CONTEXT_TOKENS_DEFAULT });
        assembled(cx, &target, &params.project, asked)
    }
}

impl Pretty for GetPremortemContext {
    fn pretty(params: &PremortemParams, output: &AssembledContext, _: usize) -> String {
        match output.items.is_empty() {
            true => format!("No experience with {} yet.", params.domain.word()),
            false => shown(output, false),
        }
    }
}

/// The rows of the five sections, for a domain and perhaps a strategy.
pub(crate) fn candidates(
    rx: &Rx<'_>,
    asked: &str,
    projects: Option<&[i64]>,
    now: i64,
) -> Result<Vec<Candidate>, OpError> {
    let mut words = asked.split_whitespace();
    let Some(domain) = words.next().and_then(GhapDomain::parse) else { return Ok(Vec::new()) };
    let strategy = words.next().and_then(GhapStrategy::parse);
    let filter = GhapFilter { projects, domain: Some(domain), ..GhapFilter::default() };
    let mut all = ghaps::list(rx, &filter, limits::MEMORY_HITS_READ)?;
    all.retain(|ghap| strategy.is_none_or(|strategy| strategy == ghap.strategy));
    let mut rows = Vec::new();
    for ghap in &all {
        if ghap.status == GhapStatus::Falsified {
            // The surprise has a section of its own.
            let unsurprising = Ghap { surprise: None, ..ghap.clone() };
            let Candidate { cells, cut, .. } = experience_row(&unsurprising);
            rows.push(Candidate { cells, cut, ..row(ghap, SECTIONS[0], String::new(), now) });
        }
        if let Some(surprise) = &ghap.surprise {
            let line = format!("{}: {surprise}", ghap.goal);
            rows.push(row(ghap, SECTIONS[2], line, now));
        }
    }
    rows.extend(causes(&all, now));
    rows.extend(performance(&all));
    rows.extend(principles(rx, projects, &all, now)?);
    Ok(rows)
}

/// One row for each root cause of these experiences, with the most frequent category first.
fn causes(all: &[Ghap], now: i64) -> Vec<Candidate> {
    let mut of_category: BTreeMap<&str, usize> = BTreeMap::new();
    let mut causes: BTreeMap<(&str, &str), (usize, &Ghap)> = BTreeMap::new();
    for ghap in all {
        let Some(cause) = &ghap.root_cause else { continue };
        *of_category.entry(cause.category.word()).or_default() += 1;
        let cause = (cause.category.word(), cause.description.trim());
        causes.entry(cause).or_insert((0, ghap)).0 += 1;
    }
    let line = |((category, description), (count, newest)): ((&str, &str), (usize, &Ghap))| {
        let times = match count {
            1 => String::new(),
            count => format!(", {}", text::counted(count, "time")),
        };
        let text = format!("{category}{times}: {description}");
        let score = share(of_category[category], all.len());
        Candidate {
            same_as: Some(format!("{category} {description}")),
            score,
            ..row(newest, SECTIONS[3], text, now)
        }
    };
    causes.into_iter().map(line).collect()
}

/// The values drawn from clusters with one of these experiences; without a value, the lessons of the confirmed ones.
fn principles(
    rx: &Rx<'_>,
    projects: Option<&[i64]>,
    all: &[Ghap],
    now: i64,
) -> Result<Vec<Candidate>, OpError> {
    const TITLE: &str = SECTIONS[4];
    let ids: BTreeSet<i64> = all.iter().map(|ghap| ghap.id).collect();
    let mut rows = Vec::new();
    for value in values::best(rx, projects, limits::VALUES_LISTED_MAX)? {
        if !clusters::member_ids(rx, value.cluster)?.is_disjoint(&ids) {
            let (path, line) = (value_path(&value), value.text.clone());
            rows.push(weighed(path, TITLE, line, (value.weight, value.at, now)));
        }
    }
    if rows.is_empty() {
        let confirmed =
            |ghap: &&Ghap| ghap.status == GhapStatus::Confirmed && ghap.lesson.is_some();
        let lessons = all.iter().filter(confirmed);
        rows.extend(lessons.map(|ghap| row(ghap, TITLE, ghap.lesson_text().to_owned(), now)));
    }
    Ok(rows)
}

fn share(part: usize, all: usize) -> f64 {
    part as f64 / all.max(1) as f64
}

fn row(ghap: &Ghap, title: &str, line: String, now: i64) -> Candidate {
    let weight = ghap.tier.map_or(0.0, ConfidenceTier::weight);
    let path = format!("{}://{}", ghaps::SCHEME, ghap.name);
    weighed(path, title, line, (weight, ghap.at, now))
}

/// A row that is ranked by the weight and the age of its item.
fn weighed(
    path: String,
    title: &str,
    line: String,
    (weight, at, now): (f64, i64, i64),
) -> Candidate {
    let recency = rank::recency(at, now);
    Candidate {
        same_as: Some(format!("{path} {title}")),
        path,
        stamp: at,
        title: Some(title.to_owned()),
        section: SECTIONS.iter().position(|section| *section == title).unwrap_or(SECTIONS.len()),
        score: 0.5 * weight + 0.5 * recency,
        reasons: vec![format!("weight {weight:.2}, recency {recency:.2}")],
        cells: vec![line],
        ..Candidate::new(Slot::Found)
    }
}

/// One row for each strategy: how many of these experiences were confirmed, falsified and abandoned. The most frequent
/// strategy is first, so that one that always failed is not the first to be left out.
fn performance(all: &[Ghap]) -> Vec<Candidate> {
    let mut by: BTreeMap<&str, Vec<&Ghap>> = BTreeMap::new();
    for ghap in all {
        by.entry(ghap.strategy.word()).or_default().push(ghap);
    }
    let line = |(strategy, ghaps): (&str, Vec<&Ghap>)| {
        let count = |status| ghaps.iter().filter(|ghap| ghap.status == status).count();
        let confirmed = count(GhapStatus::Confirmed);
        let text = format!(
            "{strategy}: {confirmed} confirmed, {} falsified, {} abandoned",
            count(GhapStatus::Falsified),
            count(GhapStatus::Abandoned)
        );
        let newest = *ghaps.first()?;
        let row = row(newest, SECTIONS[1], text, newest.at);
        let same_as = Some(format!("strategy {strategy}"));
        Some(Candidate { same_as, score: share(ghaps.len(), all.len()), ..row })
    };
    by.into_iter().filter_map(line).collect()
}
