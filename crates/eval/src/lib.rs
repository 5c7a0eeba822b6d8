//! Measures the quality of search: documents are written into stores of their own through the functions that capture
//! uses, questions are asked through the one search, and the results are compared with the expected ones.
//!
//! Read in this order: `input` (a line and its members), `corpus` (scopes, documents and questions, sorted),
//! `formats` (published files as such lines), `index` (writes a scope into a store), `find` (the one call of search),
//! `metrics` and `bootstrap` (metrics of a question, and of many), `report` and `table` (the output), `floor`
//! (minimum values).

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

use corpus::{EvalCorpus, EvalQuestion};
use find::SearchResults;
use index::Indexed;
use report::{AskedQuestion, QuestionOutcome, Tally};
use scratch::RunDir;

pub use bootstrap::Interval;
pub use find::SearchConfig;
pub use floor::Floor;
pub use formats::{Omitted, PublishedFormat};
pub use metrics::{METRICS, Scores};
pub use report::{EvalReport, Latency, Measured, QuestionGroup, UnitScores};

/// The measurements of a run.
#[derive(Clone, Debug)]
pub struct EvalPlan {
    pub input: EvalInput,
    /// Whether all scopes are searched as one pool.
    pub pooled: bool,
    /// Configurations to compare, each with the first.
    pub configs: Vec<SearchConfig>,
    /// Milliseconds since 1970, UTC.
    pub clock: fn() -> i64,
}

/// The source of documents and questions.
#[derive(Clone, Debug)]
pub enum EvalInput {
    /// JSON Lines files.
    Lines { documents: PathBuf, questions: PathBuf },
    /// A published file.
    Published { file: PathBuf, format: PublishedFormat },
}

/// The progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunProgress {
    pub doing: &'static str,
    pub done: u64,
    /// 0 if unknown.
    pub of: u64,
}

/// Observes the progress of a run, and may stop it.
pub struct RunWatch<'w> {
    pub tell: &'w mut dyn FnMut(RunProgress),
    pub stop: &'w AtomicBool,
}

impl RunWatch<'_> {
    /// Reports the progress, and fails if the run is stopped.
    fn reached(&mut self, doing: &'static str, done: u64, of: u64) -> Result<(), OpError> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(OpError::unavailable("the evaluation was interrupted"));
        }
        (self.tell)(RunProgress { doing, done, of });
        Ok(())
    }
}

/// Runs all measurements. Its files are in a directory under the temporary directory, which is deleted when this
/// returns.
pub fn run(plan: &EvalPlan, watch: &mut RunWatch<'_>) -> Result<EvalReport, OpError> {
    let scratch = RunDir::new(&std::env::temp_dir())?;
    let (documents, questions, left_out) = lines(plan, scratch.path(), watch)?;
    let mut corpus = EvalCorpus::read(&documents, &questions, plan.pooled, watch)?;
    let searches = corpus.questions() * plan.configs.len();
    let mut steps = Steps { done: 0, of: (corpus.documents() + searches) as u64 };
    let mut tally = Tally::new(&plan.configs, corpus.documents(), corpus.scopes.len());
    for number in 0..corpus.scopes.len() {
        let scope = corpus.take(number);
        let folder = scratch.path().join(format!("scope-{number}"));
        let plain = plan.configs.contains(&SearchConfig::Plain);
        let documents = (&scope, &mut corpus.texts);
        let indexed = Indexed::make(&folder, documents, plain, plan.clock, &mut |documents| {
            steps.done += documents as u64;
            watch.reached("indexing", steps.done, steps.of)
        })?;
        tally.index_bytes += indexed.index_bytes;
        tally.plain_bytes += indexed.plain.as_ref().map_or(Ok(0), Plain::bytes)?;
        if let Some(first) = scope.questions.first() {
            // Warm up: a running daemon has opened its readers and loaded its caches.
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
    Ok(EvalReport { left_out, ..tally.report() })
}

struct Steps {
    done: u64,
    of: u64,
}

/// The lines of documents and of questions, converted from a published file if one is given.
fn lines(
    plan: &EvalPlan,
    folder: &Path,
    watch: &mut RunWatch<'_>,
) -> Result<(input::InputFile, input::InputFile, Omitted), OpError> {
    let own = |name: &str| folder.join(name);
    match &plan.input {
        EvalInput::Lines { documents, questions } => Ok((
            input::InputFile::given("docs", documents, &own("documents.jsonl"))?,
            input::InputFile::given("questions", questions, &own("questions.jsonl"))?,
            Omitted::default(),
        )),
        EvalInput::Published { file, format } => {
            let (documents, questions) = (own("documents.jsonl"), own("questions.jsonl"));
            let left_out = formats::convert(*format, file, &documents, &questions, watch)?;
            Ok((
                input::InputFile::made("documents", file, documents),
                input::InputFile::made("questions", file, questions),
                left_out,
            ))
        }
    }
}

/// Asks a question in every configuration. The configurations take turns in being the first, so that other load on
/// the machine affects all of them equally.
fn ask(
    indexed: &Indexed,
    question: &EvalQuestion,
    configs: &[SearchConfig],
    turn: usize,
) -> Result<AskedQuestion, OpError> {
    let gold = |numbers: &[usize], ids: &[i64]| -> Vec<i64> {
        numbers.iter().filter_map(|number| ids.get(*number).copied()).collect()
    };
    let documents = gold(&question.gold, &indexed.records);
    let sessions = gold(&question.gold_sessions, &indexed.sessions);
    let mut outcomes = vec![QuestionOutcome::default(); configs.len()];
    for step in 0..configs.len() {
        let place = (turn + step) % configs.len();
        let (Some(config), Some(outcome)) = (configs.get(place), outcomes.get_mut(place)) else {
            continue;
        };
        let SearchResults { documents: found, sessions: of_found, took } =
            find::find(indexed, &question.text, *config)?;
        let never = documents.is_empty() && sessions.is_empty();
        let silent = match never {
            true => find::is_silent(indexed, question, *config)?,
            false => None,
        };
        *outcome = QuestionOutcome {
            silent,
            documents: metrics::scores(&found, &documents),
            sessions: metrics::scores(&of_found, &sessions),
            ms: took.as_secs_f64() * 1e3,
        };
    }
    Ok(AskedQuestion { kind: question.kind.clone(), outcomes })
}
