//! Earlier turns about the subject of a prompt, found by its words and by its meaning, each with its
//! outcome.

use std::collections::BTreeSet;

use contract::{Candidate, Moment, Slot};
use model::hook::Source;
use model::observation::{ObsType, Observation};
use model::rank::{self, Score};
use model::{OpError, limits, time};
use place::Place;
use store::search::{self, Filter};
use store::{Rx, observations, passages, prompts};
use text::{Statement, query};

use super::reader::BriefingReader;
use super::sections::{commit, whole_decision};
use super::topic::{begins_subject, own_subject, subject, teaches, teaches_beside_question};
use crate::note::Note;
use crate::records_read::RecordsRead;
use crate::replaced::{Replacements, is_newer_first};

pub(super) fn candidates(moment: &Moment<'_>, said: &str) -> Result<Vec<Candidate>, OpError> {
    let asked = own_subject(said);
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    let query = query::any_of(said);
    let question = moment.projects();
    // Records that are not in the index by then are not found.
    moment.store.catch_up(limits::RELATED_PATIENCE);
    moment.store.read(|rx| {
        let scope = question.scope(rx)?;
        let projects = scope.ids();
        let filter = Filter { projects: projects.as_deref(), ..Filter::default() };
        let brief = BriefingReader {
            rx,
            now: moment.now,
            without: moment.session,
            session: moment.session,
            source: Source::Startup,
            place: &Place::default(),
            answers: true,
        };
        let found = search::related(rx, &query, &filter)?;
        let best = found.iter().map(|hit| hit.score).fold(0.0, f64::max);
        let mut ranked: Vec<(Score, i64)> = (found.iter())
            .map(|hit| {
                (rank::best(hit.score, best, hit.kind.obs_type(), hit.at, brief.now), hit.id)
            })
            .collect();
        ranked.sort_by(|a, b| b.0.total.total_cmp(&a.0.total).then(b.1.cmp(&a.1)));
        let mut reader = RelatedReader {
            brief: &brief,
            said,
            asked,
            filter: &filter,
            records: RecordsRead::default(),
            replaced: Replacements::of_question(said),
            outdated: BTreeSet::new(),
        };
        let mut turns: BTreeSet<i64> = BTreeSet::new();
        let mut texts: BTreeSet<String> = BTreeSet::new();
        let mut related: Vec<(RelatedRow, Score)> = Vec::new();
        for (score, id) in ranked {
            if related.len() == limits::RELATED_MAX {
                break;
            }
            let hit = observations::one(rx, id)?.filter(|seen| {
                // Records of other kinds, such as memories, are shown by their own plugin.
                seen.obs_type == seen.obs_type.kind()
                    && brief.is_worth_telling(seen)
                    && is_about(seen, &reader.asked)
            });
            let Some(hit) = hit else { continue };
            if is_incidental(&hit) && !reader.turn_is_about(&hit)? {
                continue;
            }
            let Some(RelatedTurn { turn, hit, replaces }) = reader.current(hit)? else { continue };
            if turn.is_some_and(|turn| !turns.insert(turn)) {
                continue;
            }
            let row = reader.row(turn, &hit, replaces)?;
            if let Some(row) = row.filter(|row| texts.insert(row.text.clone())) {
                related.push((row, score));
            }
        }
        newer_first(rx, &mut related)?;
        Ok(related.into_iter().map(|(row, score)| row.into_candidate(&score, brief.now)).collect())
    })
}

/// Gives the newer of two rows about the same subject the score of the older one if its own score is nearly as high: at
/// equal scores the newer row is first.
fn newer_first(rx: &Rx<'_>, rows: &mut [(RelatedRow, Score)]) -> Result<(), OpError> {
    for newer in 1..rows.len() {
        for older in 0..newer {
            let [(old, old_score), (new, score)] = [&rows[older], &rows[newer]];
            let least = old_score.total;
            let cosine = || passages::cosine(rx, old.id, new.id);
            let [said, was] = [new, old].map(|row| || Statement::of(&row.text));
            let chooses_other = || said().chooses_other(&was());
            if new.at > old.at && is_newer_first((least, score.total), chooses_other, cosine)? {
                rows[newer].1.total = least.max(rows[newer].1.total);
            }
        }
    }
    Ok(())
}

/// Whether a record has one of these stems.
fn is_about(seen: &Observation, asked: &BTreeSet<String>) -> bool {
    let none = serde_json::Value::Null;
    let metadata = seen.metadata.as_ref().unwrap_or(&none);
    let text = Observation::searched(&seen.content, seen.file_path.as_deref(), metadata);
    stems_in(&text, asked) > 0
}

/// How many of these stems a text has.
fn stems_in(text: &str, asked: &BTreeSet<String>) -> usize {
    let text = text.to_lowercase();
    asked.iter().filter(|stem| text.contains(stem.as_str())).count()
}

/// A row before it is rendered.
struct RelatedRow {
    id: i64,
    at: i64,
    kind: ObsType,
    text: String,
}

impl RelatedRow {
    fn of(seen: &Observation, text: String) -> RelatedRow {
        RelatedRow { id: seen.id, at: seen.at_ms, kind: seen.obs_type.kind(), text }
    }

    fn into_candidate(self, score: &Score, now: i64) -> Candidate {
        let RelatedRow { id, at, kind, text } = self;
        Candidate {
            path: format!("obs://{id}"),
            stamp: at.div_euclid(1000),
            score: score.total,
            reasons: vec![score.parts()],
            cells: vec![format!("#{id}"), time::age(at, now), kind.word().to_owned(), text],
            labels: 2,
            ..Candidate::new(Slot::Related)
        }
    }
}

/// How many replacements of a statement are followed to find the current one.
const CHANGES_FOLLOWED: usize = 3;

/// Reads the outcomes of the turns that are related to a prompt.
struct RelatedReader<'a> {
    brief: &'a BriefingReader<'a>,
    said: &'a str,
    /// The stems of the prompt that are not common to work on any subject.
    asked: BTreeSet<String>,
    filter: &'a Filter<'a>,
    records: RecordsRead,
    replaced: Replacements,
    /// Prompts that were replaced, in turns whose answer says something else that still holds.
    outdated: BTreeSet<i64>,
}

/// A hit and the prompt of its turn.
struct RelatedTurn {
    turn: Option<i64>,
    hit: Observation,
    /// The record that this one replaces, if that was found.
    replaces: Option<i64>,
}

impl RelatedReader<'_> {
    /// The turn of a hit; if a newer record replaced what the turn says, the turn of that record. None if a record
    /// of this session replaced it: its agent knows that.
    fn current(&mut self, hit: Observation) -> Result<Option<RelatedTurn>, OpError> {
        let turn = self.turn(&hit)?;
        let turn = turn.map(|turn| self.overtaking(turn)).transpose()?;
        let mut one = RelatedTurn { turn, hit, replaces: None };
        for _ in 0..CHANGES_FOLLOWED {
            let Some((older, newer)) = self.replacing(&one)? else { break };
            let Some(newer) = observations::one(self.brief.rx, newer)? else { break };
            if !self.brief.is_of_another(&newer.session_id) {
                // The agent should know the decision that this prompt changes.
                let is_this_prompt = newer.content == self.said;
                return Ok(Some(one).filter(|_| is_this_prompt));
            }
            one = RelatedTurn { turn: self.turn(&newer)?, hit: newer, replaces: Some(older) };
        }
        Ok(Some(one))
    }

    /// For a question about the state: the last turn that continued it and changed something, because the answer to the
    /// question is older than the change. Else the turn itself.
    fn overtaking(&self, turn: i64) -> Result<i64, OpError> {
        let rx = self.brief.rx;
        let prompt = observations::one(rx, turn)?;
        if !prompt.is_some_and(|prompt| text::asks_for_state(&prompt.content)) {
            return Ok(turn);
        }
        let Some(hit) = search::admitted(rx, &Filter::default(), &[turn])?.remove(&turn) else {
            return Ok(turn);
        };
        let newest = prompts::last_of_session(rx, hit.session, limits::BRIEFING_READ_TURNS)?;
        let later: Vec<_> = newest.into_iter().take_while(|(id, ..)| *id != turn).collect();
        let mut last = turn;
        for (id, _, actions) in
            later.into_iter().rev().take_while(|(_, said, _)| !begins_subject(said))
        {
            let answer = prompts::answer_to(rx, id)?.filter(|_| actions > 0);
            let answer = answer.map(|id| observations::one(rx, id)).transpose()?.flatten();
            if answer.is_some_and(|said| teaches(&said.content)) {
                last = id;
            }
        }
        Ok(last)
    }

    /// Whether the error of a record, or the prompt, the answer or the commit of its turn, has one of these stems. A record
    /// without a turn has no other words than its own.
    fn turn_is_about(&self, seen: &Observation) -> Result<bool, OpError> {
        let rx = self.brief.rx;
        let Some(turn) = seen.prompt_id else { return Ok(true) };
        if seen.error().is_some_and(|error| stems_in(error, &self.asked) > 0) {
            return Ok(true);
        }
        let said = [Some(turn), prompts::answer_to(rx, turn)?, prompts::commit_of(rx, turn)?];
        for id in said.into_iter().flatten() {
            if observations::one(rx, id)?.is_some_and(|said| is_about(&said, &self.asked)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The prompt, the answer or the hit of a turn that was replaced, and the record that replaces it. None if the part of
    /// the turn that the prompt is about still holds.
    fn replacing(&mut self, one: &RelatedTurn) -> Result<Option<(i64, i64)>, OpError> {
        let rx = self.brief.rx;
        let answer = one.turn.map(|turn| prompts::answer_to(rx, turn)).transpose()?.flatten();
        let said: Vec<i64> = one.turn.into_iter().chain(answer).chain([one.hit.id]).collect();
        let mut hits = search::admitted(rx, self.filter, &said)?;
        hits.retain(|_, hit| hit.kind.obs_type().is_talk());
        let talk: Vec<i64> = hits.keys().copied().collect();
        self.replaced.look_up(rx, hits.into_values(), &mut self.records)?;
        let replaced = said.iter().find_map(|id| Some((*id, self.replaced.of(*id)?)));
        let Some((_, newer)) = replaced else { return Ok(None) };
        for id in said.into_iter().filter(|id| talk.contains(id)) {
            if self.replaced.holds_as_asked(rx, (id, newer), &mut self.records)? {
                self.outdated.extend(one.turn);
                return Ok(None);
            }
        }
        Ok(replaced)
    }

    /// The prompt of the turn that a hit belongs to. For a summary it is the prompt of its session that shares
    /// the most words with the new one.
    fn turn(&self, hit: &Observation) -> Result<Option<i64>, OpError> {
        match hit.obs_type.kind() {
            ObsType::UserPrompt => Ok(Some(hit.id)),
            ObsType::SessionSummary => {
                let words = subject(self.said);
                let most = limits::RELATED_PROMPTS_READ;
                let asked = prompts::of_session(self.brief.rx, hit.id, most)?;
                let common = |text: &str| subject(text).intersection(&words).count();
                let best = asked.iter().rev().max_by_key(|(_, text)| common(text));
                Ok(best.map(|(id, _)| *id))
            }
            _ => Ok(hit.prompt_id),
        }
    }

    /// The outcome of a turn: the decision that the prompt states, the answer, and the commit or the command
    /// that worked. Without an answer it is the hit itself, unless that is a read, a search or only asks.
    fn row(
        &self,
        turn: Option<i64>,
        hit: &Observation,
        replaces: Option<i64>,
    ) -> Result<Option<RelatedRow>, OpError> {
        let rx = self.brief.rx;
        let answer = self.answer(turn, hit)?;
        // "Done." tells nothing, nor does a question back, unless the prompt may be the reply to it.
        let replies = !begins_subject(self.said);
        let answer = answer.filter(|said| match text::decisions::asks(&said.content) {
            true => replies && teaches_beside_question(&said.content),
            false => teaches(&said.content),
        });
        let prompt = turn.map(|turn| observations::one(rx, turn)).transpose()?.flatten();
        let holds = |prompt: &&Observation| !self.outdated.contains(&prompt.id);
        let decided = prompt.as_ref().filter(holds).and_then(|prompt| {
            let said = prompt.content.as_str();
            let changes = replaces.is_some() && hit.id == prompt.id;
            let changed = || changes.then(|| text::change(said).unwrap_or(said));
            let sentence = text::decision(said).or_else(changed)?;
            Some((prompt, text::line_of_words(sentence, limits::BRIEFING_DECISION_CHARS)))
        });
        let mut row = match (decided, &answer) {
            (Some((prompt, sentence)), Some(answer)) => {
                let left = limits::RELATED_CHARS.saturating_sub(sentence.chars().count());
                let gist = self.gist(answer, left.max(limits::BRIEFING_CHANGE_CHARS));
                RelatedRow::of(prompt, format!("{sentence} → {gist}"))
            }
            (Some((prompt, sentence)), None) => RelatedRow::of(prompt, sentence),
            (None, Some(answer)) => {
                RelatedRow::of(answer, self.gist(answer, limits::RELATED_CHARS))
            }
            (None, None) => {
                let tells =
                    |seen: &&Observation| !is_look(seen.obs_type.kind()) && !self.only_asks(seen);
                let asked = prompt.as_ref().filter(|_| hit.obs_type == ObsType::Answer);
                let Some(seen) = [hit].into_iter().chain(asked).find(tells) else {
                    return Ok(None);
                };
                RelatedRow::of(seen, self.own(seen))
            }
        };
        if let Some(outcome) = self.outcome(turn, hit)? {
            row.text = format!("{} → {outcome}", row.text);
        }
        if let Some(newer) = self.replaced.partly_by(row.id) {
            row.text = format!("{} ({})", row.text, Note::PartlyReplacedBy(newer).text());
        }
        if let Some(older) = replaces {
            row.text = format!("{} ({})", row.text, Note::Replaces(older).text());
        }
        Ok(Some(row))
    }

    /// The answer of a turn. If the hit is another one, such as a subagent's, and has more words of the prompt, it is the hit.
    fn answer(&self, turn: Option<i64>, hit: &Observation) -> Result<Option<Observation>, OpError> {
        let rx = self.brief.rx;
        let own = turn.map(|turn| prompts::answer_to(rx, turn)).transpose()?.flatten();
        let own = own.map(|id| observations::one(rx, id)).transpose()?.flatten();
        let stems = |said: &Observation| stems_in(&said.content, &self.asked);
        let is_better = hit.obs_type == ObsType::Answer
            && hit.prompt_id == turn
            && own.as_ref().map_or(0, stems) < stems(hit);
        Ok(if is_better { Some(hit.clone()) } else { own })
    }

    /// Whether a record says nothing that the prompt does not say: a question, a prompt with no other words, or the summary of
    /// a session in which nothing followed.
    fn only_asks(&self, seen: &Observation) -> bool {
        let said = seen.content.as_str();
        match seen.obs_type.kind() {
            ObsType::UserPrompt => {
                text::decisions::asks(said)
                    || subject(said).is_subset(&subject(self.said))
                    || own_subject(said).is_empty()
            }
            ObsType::Answer => text::decisions::asks(said) || !teaches(said),
            ObsType::SessionSummary => {
                let answer = |line: &str| line.strip_prefix("last answer: ").map(teaches);
                said.lines().skip(1).all(|line| {
                    line.starts_with("next: ") || answer(line).is_some_and(|teaches| !teaches)
                })
            }
            _ => false,
        }
    }

    /// The sentences of an answer that contain words of the prompt, with a decision among them as a whole.
    fn gist(&self, answer: &Observation, max_chars: usize) -> String {
        let gist = text::gist_about(&answer.content, self.said, max_chars);
        let gist = whole_decision(gist, &answer.content);
        if answer.agent_id.is_some() { format!("a subagent found: {gist}") } else { gist }
    }

    /// The text of a record, and the error of one that failed.
    fn own(&self, seen: &Observation) -> String {
        let line = text::line_of_words(&seen.content, limits::RELATED_CHARS);
        let finding = seen.error().map(text::telling::finding).unwrap_or_default();
        match text::line_of_words(finding, limits::RED_FINDING_CHARS) {
            _ if !seen.failed() => line,
            finding if finding.is_empty() => format!("{line} (failed)"),
            finding => format!("{line} (failed: {finding})"),
        }
    }

    /// The commit of a turn, else the later run of a command that failed.
    fn outcome(&self, turn: Option<i64>, hit: &Observation) -> Result<Option<String>, OpError> {
        let rx = self.brief.rx;
        let id = turn.map(|turn| prompts::commit_of(rx, turn)).transpose()?.flatten();
        if let Some(found) = id.map(|id| observations::one(rx, id)).transpose()?.flatten() {
            return Ok(Some(commit(&found)));
        }
        if !hit.failed() {
            return Ok(None);
        }
        Ok(observations::worked_later(rx, hit)?.map(|id| format!("worked later (#{id})")))
    }
}

/// Whether a record only looked, or ran tests or a build. The file that was read, or the runner, need not be what its turn
/// is about: the answer to "how long do tokens live?" says nothing about `src/util.py`.
fn is_incidental(seen: &Observation) -> bool {
    let is_run = || seen.metadata.as_ref().is_some_and(|metadata| metadata.get("run").is_some());
    is_look(seen.obs_type.kind()) || is_run()
}

/// Whether a record is a read or a search.
fn is_look(kind: ObsType) -> bool {
    matches!(kind, ObsType::FileRead | ObsType::Search | ObsType::WebSearch | ObsType::WebFetch)
}
