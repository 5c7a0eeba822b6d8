//! The hits of a question by the turns they belong to.
//!
//! A turn is a prompt and everything up to its answer. The words of a question are spread over the turn: the prompt
//! names the subject, a command or a commit names the work, and the answer, often with none of these words, states the
//! result. So a turn is scored as a whole, and its answer and its commit are added to the hits.

use std::collections::HashMap;

use model::observation::{ObsType, Observation};
use model::{OpError, limits};
use store::search::{self, Filter, Hit, Hits, TermSet};
use store::{Rx, prompts};

use super::refine::{self, Folds};
use super::{Named, Ranked};
use crate::briefing::teaches;
use crate::note::Note;
use crate::records_read::RecordsRead;
use crate::replaced::turn_of;

/// The part of a record's score that depends on the share of the question's words in its turn, and in the record
/// itself. A record without any of these words keeps the rest of its score.
const TURN_WORDS: f64 = 0.6;
const OWN_WORDS: f64 = 0.1;
/// The scores of an answer and of a commit, as factors of the best score in their turn.
const ANSWER_OF_BEST: f64 = 1.05;
const COMMIT_OF_BEST: f64 = 0.65;
/// The factor of a commit if the question asks for a commit.
const WANTED_COMMIT_OF_BEST: f64 = 1.17;
/// The number of best turns whose answer and commit are added to the hits; each costs a few reads.
const OUTCOME_TURNS: usize = 12;
/// The factor of an answer if the question asks for a reason.
const WANTED_ANSWER_OF_BEST: f64 = 1.2;
/// The best record of a turn that has the kind the question names counts at least this much of the turn's best hit.
const WANTED_OF_BEST: f64 = 1.1;
/// The factor of a prompt in a turn without an answer or a commit: nothing else says what its actions were for.
const TASK_OF_BEST: f64 = 0.8;
/// An answer of fewer characters seldom says more than that something is done, unless it has this share of the
/// question's words.
const SHORT_ANSWER_CHARS: usize = 200;
const SHORT_ANSWER: f64 = 0.7;
const SHORT_ANSWER_WORDS: f64 = 0.3;
/// An edit of a comment is seldom the wanted hit.
const COMMENT_EDIT: f64 = 0.5;
const COMMENTS: [&str; 8] = ["//", "# ", "/*", "* ", "-- ", "<!--", "\"\"\"", ";;"];

/// The share of actions among the hits from which on the kinds of records count in full. If all hits are talk, a prompt
/// may tell as much as an answer, and kinds do not count at all.
const SHARE_OF_WORK: f64 = 0.1;
/// A record that only asks the question again counts so much. Of the words of such a prompt this share are in
/// the question.
const ASKED_AGAIN: f64 = 0.4;
const ASKED_AGAIN_WORDS: f64 = 0.6;
/// A longer text says more than a question.
const ASKED_AGAIN_CHARS: usize = 300;
/// Each further hit of a session counts less than the one before, so that other sessions have a place.
const NEXT_OF_SESSION: f64 = 0.95;
/// The gain of the newest turn over an old one that matches as well, on top of the recency in their scores.
const NEWER_TURN: f64 = 0.12;
/// The factor of a record of a kind that the question names, and the highest weight of other records in that case.
const WANTED_KIND: f64 = 1.4;
const OTHER_KIND_MAX: f64 = 1.0;
/// The factor of the record of an error that the question quotes: it says nothing that the question does not say.
const QUOTED_ERROR: f64 = 0.8;
/// Ends of words that name an error.
const ERROR_WORDS: [&str; 6] = ["error", "exception", "warning", "panicked", "fatal", "traceback"];
/// The kinds of records that tell how an error was fixed.
const FIXES: [ObsType; 3] = [ObsType::GitCommit, ObsType::FileEdit, ObsType::Answer];

/// Words of a question that ask for a kind of record: a change, a commit, a command, a file, an error or an
/// explanation.
const WANTED: [(&[&str], &[ObsType]); 6] = [
    (
        &["fix", "fixed", "fixes", "solve", "solved", "solution"],
        &[ObsType::GitCommit, ObsType::FileEdit],
    ),
    (&["commit", "commits"], &[ObsType::GitCommit]),
    (
        &["command", "commands", "invocation", "how do i", "how did i", "how to"],
        &[ObsType::Command],
    ),
    (
        &["file", "files", "where", "module", "directory", "path"],
        &[ObsType::FileEdit, ObsType::FileWrite],
    ),
    (
        &["error", "errors", "fail", "fails", "failed", "failing", "failure", "red", "exception"],
        &[ObsType::CommandError],
    ),
    (&["why", "cause", "caused", "reason", "reasons"], &[ObsType::Answer]),
];

/// The highest score of a prompt that ranks below its answer, as a share of the score of its answer.
const BEHIND_ANSWER: f64 = 0.98;

/// Whether a question wants the outcome of a turn rather than the prompt: it asks why or how, or names a kind of
/// record.
fn wants_outcome(question: &str, kinds: &[ObsType]) -> bool {
    let first = text::words::words(question).next().map(|(_, word)| word.to_lowercase());
    !kinds.is_empty() || matches!(first.as_deref(), Some("why" | "how"))
}

/// Whether a prompt comes after the outcomes of its turn: it asks, or only sets the task.
fn gives_way(record: &Observation, asks_again: bool, wants_outcome: bool) -> bool {
    use text::decisions::{asks, decides, updates};
    let said = record.content.as_str();
    record.obs_type == ObsType::UserPrompt
        && (asks_again || asks(said) || (wants_outcome && !decides(said) && !updates(said)))
}

/// Whether a question is, or contains, the message of an error: `ValueError: …`, `a.ts(9,2): error TS2345: …`.
pub(super) fn quotes_error(question: &str) -> bool {
    let names = |word: &str| ERROR_WORDS.iter().any(|end| word.to_lowercase().ends_with(end));
    question.contains(": ") && text::words::words(question).any(|(_, word)| names(word))
}

/// The kinds of record that a question names.
fn wanted_kinds(question: &str) -> Vec<ObsType> {
    if quotes_error(question) {
        return FIXES.to_vec();
    }
    let words: Vec<String> = text::words::words(question).map(|(_, w)| w.to_lowercase()).collect();
    let line = format!(" {} ", words.join(" "));
    let named = WANTED
        .iter()
        .filter(|(words, _)| words.iter().any(|word| line.contains(&format!(" {word} "))));
    let mut kinds: Vec<ObsType> = named.flat_map(|(_, kinds)| kinds.iter().copied()).collect();
    // "Why did the commit fail" asks for the error: a failed commit is a record of an error, not of a commit.
    let wants = |kind: ObsType| kinds.contains(&kind);
    if wants(ObsType::CommandError) && wants(ObsType::GitCommit) && !wants(ObsType::FileEdit) {
        kinds.retain(|kind| !matches!(kind, ObsType::GitCommit | ObsType::Answer));
    }
    kinds
}

/// How much a record says, by its kind, its text and the share of the question's words in it, against the others of
/// its turn. Tuned on the simulated weeks of work; read-only actions and questions say least.
pub(super) fn telling(record: &Observation, share: f64) -> f64 {
    use ObsType as O;
    let content = record.content.as_str();
    match record.obs_type.kind() {
        _ if only_reads(record) => 0.5,
        O::UserPrompt if text::decisions::asks(content) => 0.4,
        // Such a summary begins with the question, and its outcome is the beginning of the answer.
        O::SessionSummary if text::decisions::asks(content.lines().next().unwrap_or_default()) => {
            0.35
        }
        O::UserPrompt if text::decisions::decides(content) || text::decisions::changes(content) => {
            0.8
        }
        O::UserPrompt => 0.6,
        O::FileEdit | O::FileWrite if edits_comment(content) => 0.9 * COMMENT_EDIT,
        O::FileEdit | O::FileWrite => 0.9,
        O::GitCommit | O::Marker => 1.3,
        O::Answer => 1.1 * brevity(content, share),
        _ => 1.0,
    }
}

/// Whether a record only asks the question again: a prompt that says little more, or the summary of a session
/// in which nothing followed.
fn asks_again(record: &Observation, hits: &Hits) -> bool {
    let content = record.content.as_str();
    match record.obs_type.kind() {
        ObsType::UserPrompt => {
            content.len() <= ASKED_AGAIN_CHARS
                && !text::decisions::decides(content)
                && !text::decisions::updates(content)
                && !tells_value(content, hits)
                && hits.evidence.share_of_text(content) >= ASKED_AGAIN_WORDS
        }
        ObsType::SessionSummary => only_asks(record),
        _ => false,
    }
}

/// Whether a prompt says how something is, with a word that the question lacks: the value that was asked for.
fn tells_value(prompt: &str, hits: &Hits) -> bool {
    text::states_fact(prompt) && hits.evidence.share_of_text(prompt) < 1.0
}

/// Whether a record asks and tells nothing: a prompt that is a question, or the summary of a session in which nothing
/// followed.
pub(super) fn only_asks(record: &Observation) -> bool {
    let content = record.content.as_str();
    match record.obs_type.kind() {
        ObsType::UserPrompt => text::decisions::asks(content),
        ObsType::SessionSummary => content.lines().skip(1).all(|line| line.starts_with("next: ")),
        _ => false,
    }
}

/// Whether a record is a read, a search or a command that only looks.
pub(super) fn only_reads(record: &Observation) -> bool {
    use ObsType as O;
    let kind = record.obs_type.kind();
    only_looks(record) || matches!(kind, O::FileRead | O::Search | O::WebSearch | O::WebFetch)
}

fn only_looks(record: &Observation) -> bool {
    matches!(record.obs_type.kind(), ObsType::Command | ObsType::Github)
        && agents::is_read_only(&record.content)
}

fn brevity(answer: &str, share: f64) -> f64 {
    let is_short = answer.chars().nth(SHORT_ANSWER_CHARS).is_none();
    if is_short && share < SHORT_ANSWER_WORDS { SHORT_ANSWER } else { 1.0 }
}

fn edits_comment(content: &str) -> bool {
    let lines = content.split_once(": ").map_or("", |(_, lines)| lines);
    let is_comment = |line: &str| COMMENTS.iter().any(|sign| line.trim_start().starts_with(sign));
    lines.split('⏎').all(is_comment)
}

/// The hits of one turn.
#[derive(Default)]
struct Turn {
    /// The prompt, or the record itself if it belongs to none.
    id: i64,
    /// The oldest of several prompts that were folded into this one: a later one may have no answer.
    asked_first: Option<i64>,
    best: f64,
    terms: TermSet,
    /// The highest cosine among those of its hits that may be evidence of an answer; 0 if none may.
    meaning: f64,
    hits: Vec<Weighed>,
}

/// A hit, what it counts so far, and the terms of the question that it has.
struct Weighed {
    ranked: Ranked,
    score: f64,
    terms: TermSet,
    /// Whether it is a prompt that comes after the outcomes of its turn.
    gives_way: bool,
    /// Whether it is an answer such as "Noted." to a task.
    is_empty: bool,
}

/// Puts the first hits of a question in order by their turns, and lists the answers and commits of these
/// turns with them. Also says whether one of the best turns as a whole is a likely answer: the words of a question are
/// spread over the prompt, the answer and the commit.
pub(super) fn by_turns(
    rx: &Rx<'_>,
    (filter, own_session): (&Filter<'_>, Option<i64>),
    (hits, question): (&Hits, &str),
    mut ranked: Vec<Ranked>,
    (records, folds): (&mut RecordsRead, &mut Folds),
) -> Result<(Vec<Ranked>, bool), OpError> {
    let mut behind = ranked.split_off(limits::SEARCH_READ.min(ranked.len()));
    for one in &ranked {
        records.read_hit(rx, one.hit)?;
    }
    let mut turns: Vec<Turn> = Vec::new();
    let mut places: HashMap<i64, usize> = HashMap::new();
    let ranked = refine::fold_failures(ranked, records, folds);
    let kinds = KindWeights {
        wanted: wanted_kinds(question),
        quotes_error: quotes_error(question),
        work: share_of_work(&ranked),
    };
    let wants_outcome = kinds.work > 0.0 && wants_outcome(question, &kinds.wanted);
    for (rank, one) in ranked.into_iter().enumerate() {
        let record = records.get(one.hit.id);
        // A record without a turn, such as a summary, is a turn of its own.
        let turn = record.and_then(turn_of).unwrap_or(one.hit.id);
        let place = *places.entry(turn).or_insert_with(|| {
            turns.push(Turn { id: turn, ..Turn::default() });
            turns.len() - 1
        });
        let terms = records.terms(rx, hits, one.hit.id)?;
        let record = records.get(one.hit.id);
        let share = hits.evidence.share(terms);
        let mut weight = record.map_or(1.0, |record| kinds.weight(record, share));
        if one.named == Named::Command {
            // A command that only looks says little, unless it is what was asked for.
            weight = weight.max(1.0);
        }
        let mut score = one.first * weight;
        score *= 1.0 + NEWER_TURN * kinds.work * one.score.recency;
        if let Some(turn) = turns.get_mut(place) {
            // The answer to a prompt that asks the same counts as much as that prompt would.
            turn.best = turn.best.max(score);
            turn.terms = turn.terms.or(terms);
            if rank < limits::EVIDENCE_HITS {
                turn.meaning = turn.meaning.max(hits.meaning(rx, &one.hit)?);
            }
            let asks_again = record.is_some_and(|record| asks_again(record, hits));
            if asks_again {
                score *= ASKED_AGAIN;
            }
            let gives_way =
                record.is_some_and(|record| gives_way(record, asks_again, wants_outcome));
            if one.hit.kind == ObsType::UserPrompt && one.oldest != turn.id {
                turn.asked_first = Some(one.oldest);
            }
            turn.hits.push(Weighed { ranked: one, score, terms, gives_way, is_empty: false });
        }
    }
    turns.sort_by(|a, b| b.best.total_cmp(&a.best));
    let best = turns.len().min(OUTCOME_TURNS);
    let outcomes = Outcomes { rx, filter, own_session, hits, kinds: &kinds, folds, records };
    outcomes.add_to(turns.split_at_mut(best).0, &mut behind)?;
    // A question without a reply does not answer another question.
    let is_unanswered = |turn: &Turn| {
        turn.hits.iter().all(|one| records.get(one.ranked.hit.id).is_some_and(only_asks))
    };
    let is_likely = |turn: &Turn| {
        let project = turn.hits.first().map_or(0, |one| one.ranked.hit.project);
        turn.meaning > 0.0
            && !is_unanswered(turn)
            && hits.evidence.is_enough(project, turn.terms, turn.meaning)
    };
    let ids = |turn: &Turn| turn.hits.iter().map(|one| one.ranked.hit.id).collect::<Vec<i64>>();
    let likely: Vec<Vec<i64>> =
        turns.iter().take(best).filter(|turn| is_likely(turn)).map(ids).collect();
    let unanswered: Vec<i64> =
        turns.iter().filter(|turn| is_unanswered(turn)).flat_map(ids).collect();
    let is_answered = !likely.is_empty();
    let mut first = in_order(hits, turns);
    questions_behind(&mut first, &unanswered, &likely);
    first.extend(behind);
    Ok((first, is_answered))
}

/// How much the kinds of records count for a question.
struct KindWeights {
    /// The kinds that it names.
    wanted: Vec<ObsType>,
    /// Whether it quotes an error.
    quotes_error: bool,
    /// From 0 to 1: 1 where enough of the hits are actions, and 0 where there is only talk.
    work: f64,
}

impl KindWeights {
    /// The weight of a record, adapted to the share of actions among the hits: 1 if all hits are talk.
    fn count(&self, telling: f64) -> f64 {
        telling.powf(self.work)
    }

    /// Whether the question names the kind of a record. A command that only looks at something does not count.
    fn wants(&self, record: &Observation) -> bool {
        self.wanted.contains(&record.obs_type.kind()) && !only_looks(record)
    }

    /// The weight of a record that has this share of the question's words.
    fn weight(&self, record: &Observation, share: f64) -> f64 {
        let telling = telling(record, share);
        if self.wants(record) {
            return self.count(telling) * WANTED_KIND;
        }
        let most = if self.wanted.is_empty() { f64::MAX } else { OTHER_KIND_MAX };
        let is_quoted = self.quotes_error && record.obs_type == ObsType::CommandError;
        self.count(telling.min(most)) * if is_quoted { QUOTED_ERROR } else { 1.0 }
    }
}

pub(super) fn share_of_work(ranked: &[Ranked]) -> f64 {
    let is_talk = |one: &&Ranked| {
        matches!(
            one.hit.kind.obs_type(),
            ObsType::UserPrompt | ObsType::Answer | ObsType::SessionSummary
        )
    };
    let talk = ranked.iter().filter(is_talk).count() as f64;
    let share = 1.0 - talk / ranked.len().max(1) as f64;
    (share / SHARE_OF_WORK).min(1.0)
}

/// Finds the answers and the last commits of turns, and the prompts of turns that have neither.
struct Outcomes<'o, 'r> {
    rx: &'o Rx<'r>,
    filter: &'o Filter<'o>,
    /// The prompts of the caller's own session answer nothing.
    own_session: Option<i64>,
    hits: &'o Hits,
    kinds: &'o KindWeights,
    folds: &'o Folds,
    records: &'o mut RecordsRead,
}

impl Outcomes<'_, '_> {
    /// Adds the outcomes of these turns to their hits, unless they are among them. The words of the
    /// outcomes and of the prompts count as words of their turn.
    fn add_to(self, turns: &mut [Turn], behind: &mut Vec<Ranked>) -> Result<(), OpError> {
        let Outcomes { rx, filter, own_session, hits, kinds, folds, records } = self;
        let mut outcomes: Vec<Vec<(i64, Option<Note>)>> = Vec::with_capacity(turns.len());
        for turn in turns.iter() {
            let mut answer = None;
            for prompt in [Some(turn.id), turn.asked_first].into_iter().flatten() {
                if answer.is_none() {
                    let id = prompts::answer_to(rx, prompt)?;
                    answer = id.map(|id| (id, Some(Note::Answers(prompt))));
                }
            }
            let commit = prompts::commit_of(rx, turn.id)?;
            let commit = commit.map(|id| (id, Some(Note::CameOf(turn.id))));
            // A question without an answer tells nothing.
            let prompt = records.read_turn(rx, turn.id)?;
            let sets_task = prompt.is_some_and(|prompt| !text::decisions::asks(&prompt.content));
            let is_hit = turn.hits.iter().any(|one| one.ranked.hit.id == turn.id)
                || folds.shown(turn.id) != turn.id;
            let wants_task = answer.or(commit).is_none() && sets_task && !is_hit;
            let task = wants_task.then_some((turn.id, None));
            outcomes.push(answer.into_iter().chain(commit).chain(task).collect());
        }
        let is_hit =
            |id: i64| turns.iter().flat_map(|turn| &turn.hits).any(|one| one.ranked.hit.id == id);
        let missing: Vec<i64> =
            outcomes.iter().flatten().map(|(id, _)| *id).filter(|id| !is_hit(*id)).collect();
        let mut found = search::admitted(rx, filter, &missing)?;
        found.retain(|_, hit| hit.kind != ObsType::UserPrompt || own_session != Some(hit.session));
        // A hit that was found further behind keeps its score.
        behind.retain(|one| match found.get_mut(&one.hit.id) {
            Some(hit) => {
                *hit = one.hit;
                false
            }
            None => true,
        });
        let wants_commit = kinds.wanted.contains(&ObsType::GitCommit);
        let of_best = if wants_commit { WANTED_COMMIT_OF_BEST } else { COMMIT_OF_BEST };
        // Where there is only talk, a prompt may tell as much as an answer.
        let has_work = kinds.work > 0.0;
        let wants_answer = has_work && kinds.wanted.contains(&ObsType::Answer);
        let answer_of_best = if wants_answer { WANTED_ANSWER_OF_BEST } else { ANSWER_OF_BEST };
        for (turn, outcomes) in turns.iter_mut().zip(outcomes) {
            let asked = records.terms(rx, hits, turn.id)?;
            turn.terms = turn.terms.or(asked);
            let prompt = records.read_turn(rx, turn.id)?;
            let asks = prompt.is_some_and(|prompt| text::decisions::asks(&prompt.content));
            for (id, note) in outcomes {
                let terms = records.terms(rx, hits, id)?;
                let outcome = match note {
                    Some(Note::Answers(_)) => {
                        // A short answer to a question is still an answer; after a task it only says that it is done.
                        let said = records.get(id).filter(|_| !asks && !wants_answer);
                        let share = hits.evidence.share(terms);
                        let brevity = said.map_or(1.0, |said| brevity(&said.content, share));
                        // "Noted." tells less than the prompt, also where there is only talk.
                        let is_empty = said.is_some_and(|said| !teaches(&said.content));
                        let count = if is_empty { SHORT_ANSWER } else { kinds.count(brevity) };
                        let score = turn.best * answer_of_best * count;
                        // An answer is also about the words of the prompt that it answers.
                        let terms = if asks { terms.or(asked) } else { terms };
                        TurnOutcome { id, note, score, terms, is_empty }
                    }
                    other => {
                        let of_best = if other.is_some() { of_best } else { TASK_OF_BEST };
                        TurnOutcome { id, note, score: turn.best * of_best, terms, is_empty: false }
                    }
                };
                turn.add(outcome, found.remove(&id));
            }
            if has_work {
                turn.prefer(|id| records.get(id).is_some_and(|record| kinds.wants(record)));
            }
        }
        Ok(())
    }
}

/// The answer or the last commit of a turn, or its prompt without a note, and what it counts.
struct TurnOutcome {
    id: i64,
    note: Option<Note>,
    score: f64,
    terms: TermSet,
    is_empty: bool,
}

impl Turn {
    /// Raises the score of the best hit of each wanted kind a little above that of the turn's best hit: the turn is
    /// about the question, and this is the record that was asked for.
    fn prefer(&mut self, is_wanted: impl Fn(i64) -> bool) {
        let mut best: HashMap<ObsType, usize> = HashMap::new();
        for (place, one) in self.hits.iter().enumerate() {
            let score = |at: &usize| self.hits.get(*at).map_or(0.0, |one| one.score);
            let kind = one.ranked.hit.kind.obs_type();
            if is_wanted(one.ranked.hit.id)
                && best.get(&kind).is_none_or(|at| score(at) < one.score)
            {
                best.insert(kind, place);
            }
        }
        for place in best.into_values() {
            if let Some(one) = self.hits.get_mut(place) {
                one.score = one.score.max(self.best * WANTED_OF_BEST);
            }
        }
    }

    /// Adds an outcome to the hits; `hit` is given where it is not yet among them and the filter admits it.
    fn add(&mut self, outcome: TurnOutcome, hit: Option<Hit>) {
        let TurnOutcome { id, note, score, terms, is_empty } = outcome;
        if let Some(known) = self.hits.iter_mut().find(|one| one.ranked.hit.id == id) {
            known.score = known.score.max(score);
            known.terms = terms;
            known.is_empty = is_empty;
            known.ranked.note = known.ranked.note.or(note);
        } else if let (Some(beside), Some(hit)) = (self.hits.first().map(|one| one.ranked), hit) {
            self.terms = self.terms.or(terms);
            let ranked = Ranked { hit, note, count: 1, oldest: hit.id, named: Named::No, ..beside };
            self.hits.push(Weighed { ranked, score, terms, gives_way: false, is_empty });
        }
    }
}

/// Ranks a prompt that yields below the answer of its turn, or below its commit if the turn has no answer. An answer
/// that says nothing is no reason to yield.
fn outcomes_first(turn: &mut [Weighed]) {
    let best = |kind: ObsType| {
        let these = turn.iter().filter(|one| one.ranked.hit.kind == kind && !one.is_empty);
        these.map(|one| one.ranked.first).max_by(f64::total_cmp)
    };
    let Some(best) = best(ObsType::Answer).or_else(|| best(ObsType::GitCommit)) else { return };
    for one in turn.iter_mut().filter(|one| one.gives_way) {
        one.ranked.first = one.ranked.first.min(best * BEHIND_ANSWER);
    }
}

/// All hits of the turns, the best first.
fn in_order(hits: &Hits, turns: Vec<Turn>) -> Vec<Ranked> {
    let mut all: Vec<Ranked> = Vec::new();
    for turn in turns {
        let shared = 1.0 - TURN_WORDS + TURN_WORDS * hits.evidence.share(turn.terms);
        let mut counted = turn.hits;
        for one in &mut counted {
            let own = 1.0 - OWN_WORDS + OWN_WORDS * hits.evidence.share(one.terms);
            one.ranked.first = one.score * own * shared;
        }
        outcomes_first(&mut counted);
        all.extend(counted.into_iter().map(|one| one.ranked));
    }
    best_first(&mut all);
    let mut told: HashMap<i64, i32> = HashMap::new();
    for one in &mut all {
        let before = told.entry(one.hit.session).or_default();
        one.first *= NEXT_OF_SESSION.powi(*before);
        *before += 1;
    }
    best_first(&mut all);
    let most = all.iter().map(|one| one.first).fold(1.0, f64::max);
    all.iter_mut().for_each(|one| one.first /= most);
    all
}

/// Puts the questions without an answer behind the best hit of each turn that is a likely answer.
fn questions_behind(hits: &mut [Ranked], unanswered: &[i64], likely: &[Vec<i64>]) {
    let best = |ids: &Vec<i64>| {
        let of = hits.iter().filter(|one| ids.contains(&one.hit.id)).map(|one| one.first);
        of.fold(0.0, f64::max)
    };
    let Some(least) = likely.iter().map(best).reduce(f64::min) else { return };
    for one in hits.iter_mut().filter(|one| unanswered.contains(&one.hit.id)) {
        one.first = one.first.min(BEHIND_ANSWER * least);
    }
    best_first(hits);
}

fn best_first(hits: &mut [Ranked]) {
    hits.sort_by(|a, b| {
        let newer = (b.hit.at, b.hit.id).cmp(&(a.hit.at, a.hit.id));
        b.first.total_cmp(&a.first).then(newer)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_of_a_comment_is_no_edit_of_code() {
        assert!(edits_comment("Edit src/a.rs: // old"));
        assert!(edits_comment("Edit a.py: # note"));
        assert!(!edits_comment("Edit src/a.rs: const A: u8 = 1; // one"));
        assert!(!edits_comment("Edit src/a.rs: #[arg(long)]"));
        assert!(edits_comment("Edit src/a.rs: // old ⏎ // and new"));
        assert!(!edits_comment("Edit src/a.rs: /// Seconds. ⏎ pub grace: u64,"));
        assert!(!edits_comment("Write src/a.rs"));
    }

    #[test]
    fn a_question_names_the_kind_of_record_it_wants() {
        assert_eq!(wanted_kinds("Which commit sped it up?"), [ObsType::GitCommit]);
        assert_eq!(wanted_kinds("how do I deploy a preview"), [ObsType::Command]);
        assert_eq!(wanted_kinds("why no captcha"), [ObsType::Answer]);
        assert_eq!(wanted_kinds("which error did the build print"), [ObsType::CommandError]);
        assert_eq!(wanted_kinds("ValueError: Table schema does not match"), FIXES);
        assert_eq!(wanted_kinds("a.ts(9,2): error TS2345: not assignable"), FIXES);
        assert_eq!(wanted_kinds("why did the commit fail"), [ObsType::CommandError]);
        assert!(wanted_kinds("the test fails, what was the fix").contains(&ObsType::GitCommit));
        assert!(wanted_kinds("committed batch size").is_empty());
    }
}
