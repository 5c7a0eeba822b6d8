//! `find_similar`: the records that are like a text or like another record, and which of them are duplicates.

use std::collections::HashMap;

use contract::pretty::{notes, pretty, refusal};
use contract::{CliShape, Cx, Example, Op, OpInfo, Pretty};
use model::entry::EntryPath;
use model::observation::RecordType;
use model::{Code, OpError, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::search::{self, Alike, Filter, Hit, Recipe, Similar};
use store::{Rx, observations, passages, sessions, superseded_by};

use crate::examples;
use crate::get_observations::LISTED_RECORDS;
use crate::replaced::{self, MarkedRecord};
use crate::show::{self, RecordRow, Unlisted};
use contract::Count;
use place::{About, Wanted};

pub(crate) struct FindSimilar;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FindSimilarParams {
    /// A text, or the id of a record or the path of an entry alone; similar records are returned. Its first 4,000 characters
    /// count.
    #[serde(default)]
    text: Option<String>,
    /// Instead of a text: the path of an entry such as `obs://42`.
    #[serde(default)]
    path: Option<String>,
    /// Project to look in; yours if left out, `*` for all.
    #[serde(default)]
    project: Wanted,
    /// How many records, from 1 to 100.
    #[serde(default = "default_limit")]
    limit: Count,
}

fn default_limit() -> Count {
    Count::new(limits::SIMILAR_DEFAULT)
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct FindSimilarOutput {
    /// The nearest first.
    results: Vec<SimilarRecord>,
    /// Whether records may be missing, because not all were compared.
    partial: bool,
    /// Whether a larger limit has more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    more: bool,
    #[serde(flatten)]
    about: About,
}

/// A record that is like the text.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct SimilarRecord {
    id: i64,
    /// Seconds since 1970, UTC.
    timestamp: i64,
    #[schemars(with = "String")]
    obs_type: RecordType,
    /// The first 120 characters; `get_observations` has the whole text.
    content_preview: String,
    file_path: Option<String>,
    /// Left out for a record that is in no session.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    session_id: String,
    project: String,
    is_pinned: bool,
    /// `replaced by #ID`, or the status of a hypothesis that is not proved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// From 0 to 1, relative to the best hit.
    score: f64,
    parts: SimilarityParts,
    /// Whether it says the same: `cosine` is 0.9 or more and `overlap` 0.85 or more, the words are in the
    /// same order, and neither denies what the other says.
    duplicate: bool,
}

/// The parts of a score, and how similar the two texts are; each from 0 to 1.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct SimilarityParts {
    /// Its words, relative to the best hit.
    lexical: f64,
    /// How near its nearest passage is in meaning.
    meaning: f64,
    /// How near the two texts are in meaning as a whole.
    cosine: f64,
    /// Share of the different words of both texts that both have.
    overlap: f64,
}

impl Op for FindSimilar {
    const INFO: OpInfo = OpInfo {
        name: "find_similar",
        summary: "Find records that are like a text or like another record",
        doc: "Compares words and meaning. Call it before you write something down, to see whether it is \
              there already: a near-duplicate is marked as one. Give either a text or a path.",
        toolset: "memory",
        cli: CliShape {
            path: &["similar"],
            positional: &["text"],
            rest: true,
            pretty: Some(pretty::<Self>),
            notes: Some(notes::<Self>),
            refusal: Some(refusal::<Self>),
            listed: Some(LISTED_RECORDS),
            ..CliShape::CALL_ONLY
        },
        examples: &[
            Example {
                title: "Is this known already?",
                before: examples::A_SESSION,
                params: r#"{"text":"users are logged out because the token expires","project":"*"}"#,
            },
            Example {
                title: "What else is like this record?",
                before: examples::A_SESSION,
                params: r#"{"path":"obs://3","project":"*","limit":3}"#,
            },
        ],
        ..OpInfo::BASE
    };
    type Params = FindSimilarParams;
    type Output = FindSimilarOutput;

    fn run(&self, cx: &Cx<'_>, params: FindSimilarParams) -> Result<FindSimilarOutput, OpError> {
        let subject = params.subject(cx)?;
        let limit = params.limit.within(1..=limits::SIMILAR_MAX);
        let meaning = cx.config.boolean("search.meaning");
        let recipe = if meaning { Recipe::Table } else { Recipe::Lexical };
        let question = cx.caller.projects(params.project);
        let (output, whole) = cx.store.search(|rx| {
            let scope = question.scope(rx)?;
            let projects = scope.ids();
            let (text, except) = subject.read(rx)?;
            let filter = Filter { projects: projects.as_deref(), except, ..Filter::default() };
            // One hit beyond the limit shows whether there are more.
            let found = search::similar(rx, recipe, &text, &filter, limit + 1)?;
            let more = found.len() > limit;
            let mut found = with_successors(rx, &text, &filter, &found)?;
            found.truncate(limit);
            let results = records(rx, &found)?;
            Ok(FindSimilarOutput { results, partial: false, more, about: scope.about(cx.now) })
        })?;
        Ok(FindSimilarOutput { partial: !whole, ..output })
    }
}

/// The text or entry that records are compared with.
enum Subject {
    Text(String),
    /// An entry, and its text as `get` gives it.
    Entry(EntryPath, String),
}

impl FindSimilarParams {
    fn subject(&self, cx: &Cx<'_>) -> Result<Subject, OpError> {
        match (&self.text, &self.path) {
            (Some(text), None) => match entry(cx, text.trim()) {
                // A text that is not the path of an entry is compared as text.
                Err(error) if error.code != Code::NotFound => Ok(Subject::Text(text.clone())),
                found => found,
            },
            (None, Some(path)) => entry(cx, path.trim()),
            (Some(_), Some(_)) => Err(OpError::invalid("path", "both a text and a path are given")
                .hint("Give one of them.")),
            (None, None) => Err(OpError::invalid("text", "neither a text nor a path is given")
                .hint("Give a text, or the path of an entry such as obs://42.")),
        }
    }
}

fn entry(cx: &Cx<'_>, path: &str) -> Result<Subject, OpError> {
    let parsed = EntryPath::parse_or_id(path)?;
    let got = cx.call("get", json!({ "path": path }))?;
    let body = got["entry"]["body"].as_str().unwrap_or_default();
    Ok(Subject::Entry(parsed, body.to_owned()))
}

impl Subject {
    /// The text, and the id of the record if it is that of a record.
    fn read(self, rx: &Rx<'_>) -> Result<(String, Option<i64>), OpError> {
        let (path, body) = match self {
            Subject::Text(text) => return Ok((text, None)),
            Subject::Entry(path, body) => (path, body),
        };
        let name = path.segments.join("/");
        let record = match path.scheme.as_str() {
            "obs" => name.parse().ok(),
            "session" => sessions::id_of(rx, &name)?,
            _ => None,
        };
        // A record is found by more than its text: by its path, its error, its commit's message.
        let searched = record.map(|id| passages::text(rx, id)).transpose()?.flatten();
        Ok((searched.unwrap_or(body), record))
    }
}

/// The records, with the successor of each superseded record right before it, even if the successor is not similar.
fn with_successors(
    rx: &Rx<'_>,
    text: &str,
    filter: &Filter<'_>,
    found: &[Similar],
) -> Result<Vec<Similar>, OpError> {
    let mut placed: Vec<Similar> = Vec::with_capacity(found.len());
    for one in found {
        let is_placed = |placed: &[Similar], id: i64| placed.iter().any(|known| known.hit.id == id);
        if is_placed(&placed, one.hit.id) {
            continue;
        }
        let by = match one.hit.kind == one.hit.kind.obs_type() {
            true => None,
            false => superseded_by(rx, one.hit.id)?,
        };
        if let Some(by) = by.filter(|by| !is_placed(&placed, *by))
            && let Some(hit) = search::admitted(rx, filter, &[by])?.remove(&by)
        {
            let known = found.iter().find(|other| other.hit.id == by).copied();
            let successor = match known {
                Some(known) => known,
                None => {
                    let own = passages::text(rx, by)?.unwrap_or_default();
                    let alike = Alike::of(text, &own);
                    Similar { hit: Hit { meaning: alike.meaning, ..hit }, alike }
                }
            };
            let score = successor.hit.score.max(one.hit.score);
            placed.push(Similar { hit: Hit { score, ..successor.hit }, ..successor });
        }
        placed.push(*one);
    }
    Ok(placed)
}

fn records(rx: &Rx<'_>, found: &[Similar]) -> Result<Vec<SimilarRecord>, OpError> {
    let most = |of: fn(&Similar) -> f64| {
        let most = found.iter().map(of).fold(0.0, f64::max);
        if most > 0.0 { most } else { 1.0 }
    };
    let (score, lexical) = (most(|one| one.hit.score), most(|one| one.hit.lexical));
    let ids: Vec<i64> = found.iter().map(|one| one.hit.id).collect();
    let similar: HashMap<i64, &Similar> = found.iter().map(|one| (one.hit.id, one)).collect();
    let record = |record: MarkedRecord| {
        let Similar { hit, alike } = similar.get(&record.id)?;
        Some(SimilarRecord {
            id: record.id,
            timestamp: record.timestamp,
            obs_type: record.obs_type,
            content_preview: show::preview(record.content.clone()),
            file_path: record.file_path.clone(),
            session_id: record.session_id.clone(),
            project: record.project.clone(),
            is_pinned: record.is_pinned,
            note: record.note().map(str::to_owned),
            score: show::rounded(hit.score / score),
            parts: SimilarityParts {
                lexical: show::rounded(hit.lexical / lexical),
                meaning: show::rounded(hit.meaning),
                cosine: show::rounded(alike.meaning),
                overlap: show::rounded(alike.overlap),
            },
            duplicate: alike.is_duplicate(),
        })
    };
    let found = replaced::marked(rx, observations::get(rx, &ids)?)?;
    Ok(found.into_iter().filter_map(record).collect())
}

impl Pretty for FindSimilar {
    fn pretty(params: &FindSimilarParams, output: &FindSimilarOutput, width: usize) -> String {
        let FindSimilarOutput { results, about, .. } = output;
        if results.is_empty() {
            return show::nothing("No record is similar", &params.project, about);
        }
        let mut text =
            show::records_about(results.iter().map(SimilarRecord::row), about, &[], width);
        if results.iter().any(|record| record.duplicate) {
            text.push_str("\n= says the same");
        }
        text
    }

    fn notes(params: &FindSimilarParams, output: &FindSimilarOutput) -> Vec<String> {
        let unlisted = output.more.then_some(Unlisted::Unknown);
        let bounds = (params.limit, limits::SIMILAR_MAX);
        show::list_notes(output.results.len(), "record", unlisted, bounds)
    }

    fn refusal(params: &FindSimilarParams, _: i64) -> Option<OpError> {
        let text = params.text.as_deref()?;
        show::empty_query("text", text, "`rekindle recent` lists the last records.")
    }
}

impl SimilarRecord {
    fn row(&self) -> RecordRow<'_> {
        RecordRow {
            mark: if self.duplicate { "=" } else { "" },
            id: self.id,
            timestamp: self.timestamp,
            kind: self.obs_type,
            project: &self.project,
            session: "",
            file: None,
            text: &self.content_preview,
            aside: self.note.clone(),
            is_pinned: self.is_pinned,
        }
    }
}
