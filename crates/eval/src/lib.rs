//! Measures how well search finds: documents go into stores of their own through the functions that
//! capture uses, questions are asked through the one search, and what comes back is compared with
//! what should have.
//!
//! Read in this order: `input` (a line and its members), `corpus` (scopes, documents and questions, in
//! order), `formats` (published files as such lines), `index` (a scope becomes a store), `find` (the one
//! call of search), `metrics` and `bootstrap` (numbers of a question, and of many), `report` and
//! `table` (what is shown), `floor` (what must not be fallen short of).

mod bootstrap;
mod corpus;
mod find;
mod floor;
mod formats;
mod index;
mod input;
mod metrics;
mod report;
mod scratch;
mod table;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use model::OpError;
use store::plain::Plain;

use corpus::{Corpus, Question};
use find::Found;
use index::Indexed;
use report::{Asked, Outcome, Tally};
use scratch::Scratch;

pub use bootstrap::Interval;
pub use find::Config;
pub use floor::Floor;
pub use formats::{Format, LeftOut};
pub use metrics::{METRICS, Scores};
pub use report::{Group, Latency, Measured, Report, Unit};

/// What is to be measured.
#[derive(Clone, Debug)]
pub struct Plan {
    pub input: Input,
    /// Whether all scopes are searched as one.
    pub pooled: bool,
    /// What is measured side by side; the others are compared with the first.
    pub configs: Vec<Config>,
    /// Milliseconds since 1970, UTC.
    pub clock: fn() -> i64,
}

/// Where documents and questions come from.
#[derive(Clone, Debug)]
pub enum Input {
    /// One JSON object a line.
    Lines { documents: PathBuf, questions: PathBuf },
    /// A file as it was published.
    Published { file: PathBuf, format: Format },
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    pub doing: &'static str,
    pub done: u64,
    /// 0 if that is not known.
    pub of: u64,
}

/// Who follows a run, and may end it.
pub struct Watch<'w> {
    pub tell: &'w mut dyn FnMut(Progress),
    pub stop: &'w AtomicBool,
}

impl Watch<'_> {
    /// Tells how far it is, and fails if it is to end.
    fn reached(&mut self, doing: &'static str, done: u64, of: u64) -> Result<(), OpError> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(OpError::unavailable("the evaluation was interrupted"));
        }
        (self.tell)(Progress { doing, done, of });
        Ok(())
    }
}

/// Measures everything. What it needs on disk is in a folder under the temporary directory, which is
/// gone when this returns.
pub fn run(plan: &Plan, watch: &mut Watch<'_>) -> Result<Report, OpError> {
    let scratch = Scratch::new(&std::env::temp_dir())?;
    let (documents, questions, left_out) = lines(plan, scratch.path(), watch)?;
    let mut corpus = Corpus::read(&documents, &questions, plan.pooled, watch)?;
    let searches = corpus.questions() * plan.configs.len();
    let mut steps = Steps { done: 0, of: (corpus.documents() + searches) as u64 };
    let mut tally = Tally::new(&plan.configs, corpus.documents(), corpus.scopes.len());
    for number in 0..corpus.scopes.len() {
        let scope = corpus.take(number);
        let folder = scratch.path().join(format!("scope-{number}"));
        let plain = plan.configs.contains(&Config::Plain);
        let documents = (&scope, &mut corpus.texts);
        let indexed = Indexed::make(&folder, documents, plain, plan.clock, &mut |documents| {
            steps.done += documents as u64;
            watch.reached("indexing", steps.done, steps.of)
        })?;
        tally.index_bytes += indexed.index_bytes;
        tally.plain_bytes += indexed.plain.as_ref().map_or(Ok(0), Plain::bytes)?;
        if let Some(first) = scope.questions.first() {
            // A daemon that was asked before has opened its readers and loaded what it needs.
            for config in &plan.configs {
                find::find(&indexed, &first.text, *config)?;
            }
        }
        for (turn, question) in scope.questions.iter().enumerate() {
            tally.asked.push(ask(&indexed, question, &plan.configs, turn)?);
            steps.done += plan.configs.len() as u64;
            watch.reached("searching", steps.done, steps.of)?;
        }
    }
    Ok(Report { left_out, ..tally.report() })
}

struct Steps {
    done: u64,
    of: u64,
}

/// The lines of documents and of questions, made from a published file if that is what is given.
fn lines(
    plan: &Plan,
    folder: &Path,
    watch: &mut Watch<'_>,
) -> Result<(input::Source, input::Source, LeftOut), OpError> {
    let own = |name: &str| folder.join(name);
    match &plan.input {
        Input::Lines { documents, questions } => Ok((
            input::Source::given("docs", documents, &own("documents.jsonl"))?,
            input::Source::given("questions", questions, &own("questions.jsonl"))?,
            LeftOut::default(),
        )),
        Input::Published { file, format } => {
            let (documents, questions) = (own("documents.jsonl"), own("questions.jsonl"));
            let left_out = formats::convert(*format, file, &documents, &questions, watch)?;
            Ok((
                input::Source::made("documents", file, documents),
                input::Source::made("questions", file, questions),
                left_out,
            ))
        }
    }
}

/// Asks a question in every configuration. They take turns in being the first, so that what else the
/// machine does falls on all alike.
fn ask(
    indexed: &Indexed,
    question: &Question,
    configs: &[Config],
    turn: usize,
) -> Result<Asked, OpError> {
    let gold = |numbers: &[usize], ids: &[i64]| -> Vec<i64> {
        numbers.iter().filter_map(|number| ids.get(*number).copied()).collect()
    };
    let documents = gold(&question.gold, &indexed.records);
    let sessions = gold(&question.gold_sessions, &indexed.sessions);
    let mut outcomes = vec![Outcome::default(); configs.len()];
    for step in 0..configs.len() {
        let place = (turn + step) % configs.len();
        let (Some(config), Some(outcome)) = (configs.get(place), outcomes.get_mut(place)) else {
            continue;
        };
        let Found { documents: found, sessions: of_found, took } =
            find::find(indexed, &question.text, *config)?;
        let never = documents.is_empty() && sessions.is_empty();
        let silent = match never {
            true => find::is_silent(indexed, question, *config)?,
            false => None,
        };
        *outcome = Outcome {
            silent,
            documents: metrics::scores(&found, &documents),
            sessions: metrics::scores(&of_found, &sessions),
            ms: took.as_secs_f64() * 1e3,
        };
    }
    Ok(Asked { kind: question.kind.clone(), outcomes })
}
