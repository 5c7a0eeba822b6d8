//! The last step of the default order: hits that say the same become one, and the first hits are put in
//! order by what their records say of each other.

use std::collections::{HashMap, HashSet};

use model::observation::{ObsType, Observation};
use model::{OpError, limits};
use store::search::{self, Filter, Hit};
use store::{Rx, observations, prompts};

use super::Ranked;

/// A hit of a turn is listed before the question of the turn if its own score is at least this share of the
/// question's: `ls` in the same turn answers nothing.
const ANSWERS_FROM: f64 = 0.5;
/// Cosine from which on two records of talk are about the same subject, and from which on one of them that
/// says that it changes a decision is taken to change the other.
const SAME_SUBJECT: f64 = 0.8;
const SAME_DECISION: f64 = 0.6;
/// Failed commands on the first hits for which the session is searched for the run that worked.
const WORKED_LOOKED_UP: usize = 5;
/// First places whose turns bring their answer and their commit, and how many turns do.
const OUTCOMES_FROM: usize = 8;
const OUTCOMES_TURNS: usize = 4;
/// Outcomes that no word led to leave the first places to hits of their own.
const OUTCOMES_BEHIND: usize = 3;

/// The relation of a hit to other hits of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    /// The agent's answer to the prompt with this id.
    Answers(i64),
    /// A commit of the turn of the prompt with this id.
    CameOf(i64),
    /// It failed; this later run of the same command worked.
    WorkedLater(i64),
    Replaces(i64),
    ReplacedBy(i64),
    /// Nothing that was found is likely to be what was asked for.
    MerelySimilar,
}

impl Note {
    pub(crate) fn text(self) -> String {
        match self {
            Note::Answers(id) => format!("answers #{id}"),
            Note::CameOf(id) => format!("came of #{id}"),
            Note::WorkedLater(id) => format!("failed, #{id} worked later"),
            Note::Replaces(id) => format!("replaces #{id}"),
            Note::ReplacedBy(id) => format!("replaced by #{id}"),
            Note::MerelySimilar => "merely similar".to_owned(),
        }
    }
}

/// Makes hits that say the same one, with a count and the newest of their ids, at the place of the first.
pub(super) fn fold(rx: &Rx<'_>, ranked: Vec<Ranked>) -> Result<Vec<Ranked>, OpError> {
    let hits: Vec<Hit> = ranked.iter().map(|one| one.hit).collect();
    let first = search::same_texts(rx, &hits)?;
    let mut folded: Vec<Ranked> = Vec::with_capacity(ranked.len());
    let mut places: HashMap<usize, usize> = HashMap::new();
    for (place, (one, of)) in ranked.into_iter().zip(first).enumerate() {
        let known = places.get(&of).and_then(|at| folded.get_mut(*at));
        match known.filter(|_| of != place) {
            Some(leader) => {
                leader.count += 1;
                if (one.hit.at, one.hit.id) > (leader.hit.at, leader.hit.id) {
                    leader.hit = one.hit;
                }
            }
            None => {
                places.insert(place, folded.len());
                folded.push(one);
            }
        }
    }
    Ok(folded)
}

/// Puts the first hits in order by what their records say of each other. Only a question also lists what its
/// hits came to: a word or a name lists what contains it.
pub(super) fn refine(
    rx: &Rx<'_>,
    filter: &Filter<'_>,
    is_question: bool,
    mut ranked: Vec<Ranked>,
) -> Result<Vec<Ranked>, OpError> {
    let behind = ranked.split_off(limits::SEARCH_READ.min(ranked.len()));
    let ids: Vec<i64> = ranked.iter().map(|one| one.hit.id).collect();
    let records = observations::get(rx, &ids)?;
    let records: HashMap<i64, Observation> = records.into_iter().map(|one| (one.id, one)).collect();
    let mut window = Window { rx, filter, first: ranked, behind, records };
    window.newer_first()?;
    window.worked_first()?;
    if is_question {
        window.outcomes_beside()?;
    }
    let Window { mut first, behind, .. } = window;
    first.extend(behind);
    Ok(first)
}

struct Window<'w, 'r> {
    rx: &'w Rx<'r>,
    filter: &'w Filter<'w>,
    first: Vec<Ranked>,
    behind: Vec<Ranked>,
    /// The records of the first hits, by id.
    records: HashMap<i64, Observation>,
}

impl Window<'_, '_> {
    fn record(&self, place: usize) -> Option<&Observation> {
        self.records.get(&self.first.get(place)?.hit.id)
    }

    fn note(&mut self, place: usize, note: Note) {
        if let Some(one) = self.first.get_mut(place) {
            one.note = one.note.or(Some(note));
        }
    }

    /// Moves a hit up to a place. It counts as much as the hit that stood there, so that scores still fall
    /// from one hit to the next.
    fn move_up(&mut self, from: usize, to: usize) {
        let Some(first) = self.first.get(to).map(|one| (one.named, one.first)) else { return };
        if from > to && from < self.first.len() {
            let mut moved = self.first.remove(from);
            moved.first = moved.first.max(first.1);
            self.first.insert(to, moved);
        }
    }

    /// Of two records of talk about the same subject the newer one first; a decision that changes another is
    /// marked, and so is the other.
    fn newer_first(&mut self) -> Result<(), OpError> {
        let mut older = 0;
        while older < self.first.len() {
            for newer in older + 1..self.first.len() {
                if let Some(changes) = self.is_newer_on_the_subject(older, newer)? {
                    if changes {
                        let ids = [older, newer].map(|at| self.first.get(at).map(|one| one.hit.id));
                        let [Some(old), Some(new)] = ids else { continue };
                        self.note(older, Note::ReplacedBy(new));
                        self.note(newer, Note::Replaces(old));
                    }
                    self.move_up(newer, older);
                    older += 1;
                }
            }
            older += 1;
        }
        Ok(())
    }

    /// Whether the second hit is a newer record of talk about the subject of the first, and whether it says
    /// that it changes what the first decided.
    fn is_newer_on_the_subject(&self, a: usize, b: usize) -> Result<Option<bool>, OpError> {
        let (Some(old), Some(new)) = (self.first.get(a), self.first.get(b)) else {
            return Ok(None);
        };
        let talk = [ObsType::UserPrompt, ObsType::Answer, ObsType::Marker, ObsType::GitCommit];
        let are_talk = talk.contains(&old.hit.kind) && talk.contains(&new.hit.kind);
        let is_newer = (new.hit.at, new.hit.id) > (old.hit.at, old.hit.id)
            && new.hit.session != old.hit.session;
        if !are_talk || !is_newer || old.hit.project != new.hit.project || new.named < old.named {
            return Ok(None);
        }
        let cosine = search::cosine(self.rx, &old.hit, &new.hit)?;
        let (Some(before), Some(after)) = (self.record(a), self.record(b)) else { return Ok(None) };
        let changes = replaces(&after.content, &before.content, cosine);
        let is_same = cosine >= SAME_SUBJECT && old.hit.kind == new.hit.kind;
        Ok((changes || is_same).then_some(changes))
    }

    /// The run of a command that worked before an earlier one that failed, which names it.
    fn worked_first(&mut self) -> Result<(), OpError> {
        let mut looked_up = 0;
        let mut failed = 0;
        while failed < self.first.len() {
            let Some(record) = self.record(failed).filter(|record| record.failed()).cloned() else {
                failed += 1;
                continue;
            };
            let worked = (0..self.first.len())
                .find(|other| self.record(*other).is_some_and(|other| has_worked(&record, other)));
            match worked {
                Some(worked) => {
                    let id = self.first.get(worked).map(|one| one.hit.id);
                    self.note(failed, Note::WorkedLater(id.unwrap_or_default()));
                    if worked > failed {
                        self.move_up(worked, failed);
                        failed += 1;
                    }
                }
                None if looked_up < WORKED_LOOKED_UP => {
                    looked_up += 1;
                    if let Some(id) = observations::worked_later(self.rx, &record)? {
                        self.note(failed, Note::WorkedLater(id));
                    }
                }
                None => {}
            }
            failed += 1;
        }
        Ok(())
    }

    /// Lists the outcome of a turn beside its first hit: the agent's answer and the commit, also with none of the
    /// words. It comes before a question and after any other hit.
    fn outcomes_beside(&mut self) -> Result<(), OpError> {
        let mut turns: HashSet<i64> = HashSet::new();
        let mut at = 0;
        while at < self.first.len() {
            let turn = self.record(at).and_then(|record| {
                let is_prompt = record.obs_type == ObsType::UserPrompt;
                let asks = is_prompt && text::decisions::asks(&record.content);
                record.prompt_id.map(|turn| (turn, asks))
            });
            let Some((turn, asks)) = turn.filter(|(turn, _)| turns.insert(*turn)) else {
                at += 1;
                continue;
            };
            if asks {
                at = self.works_before(turn, at);
            }
            if asks || (at < OUTCOMES_FROM && turns.len() <= OUTCOMES_TURNS) {
                let mut place = if asks { at } else { OUTCOMES_BEHIND.max(at + 1) };
                let answer = prompts::answer_to(self.rx, turn)?.map(|id| (id, Note::Answers(turn)));
                let commit = prompts::commit_of(self.rx, turn)?.map(|id| (id, Note::CameOf(turn)));
                for (id, note) in answer.into_iter().chain(commit) {
                    place += usize::from(self.list_outcome(id, note, (at, place))?);
                }
                // A question is now behind its answers; its turn is not looked at again.
                at = if asks { place } else { at };
            }
            at += 1;
        }
        Ok(())
    }

    /// Moves edits, commits and commands of a turn that match about as well before its question; the place
    /// of the question afterwards.
    fn works_before(&mut self, turn: i64, mut at: usize) -> usize {
        let own = self.first.get(at).map_or(0.0, |one| one.own);
        let is_work = |record: &Observation| {
            let works = matches!(
                record.obs_type,
                ObsType::GitCommit | ObsType::FileEdit | ObsType::FileWrite | ObsType::Command
            );
            record.prompt_id == Some(turn) && works && !record.failed()
        };
        for place in at + 1..self.first.len() {
            let strong = self.first.get(place).is_some_and(|one| one.own >= ANSWERS_FROM * own);
            if strong && self.record(place).is_some_and(is_work) {
                self.move_up(place, at);
                at += 1;
            }
        }
        at
    }

    /// Puts a record of a turn at a place, beside the hit of the turn. Returns whether it is there now.
    fn list_outcome(
        &mut self,
        id: i64,
        note: Note,
        (beside, to): (usize, usize),
    ) -> Result<bool, OpError> {
        let is_it = |one: &Ranked| one.hit.id == id;
        if let Some(place) = self.first.iter().position(is_it) {
            self.note(place, note);
            self.move_up(place, to);
            return Ok(place >= to);
        }
        let Some(hit) = self.first.get(beside).copied() else { return Ok(false) };
        let known = self.behind.iter().position(is_it).map(|place| self.behind.remove(place).hit);
        let found = match known {
            Some(hit) => Some(hit),
            None => search::admitted(self.rx, self.filter, &[id])?.pop(),
        };
        let Some(found) = found else { return Ok(false) };
        let listed =
            Ranked { hit: found, note: Some(note), count: 1, named: super::Named::No, ..hit };
        self.first.insert(to.min(self.first.len()), listed);
        Ok(true)
    }
}

/// Whether one run of a command worked after another of it that failed: with an equal text, or with an equal
/// program and subcommand in one session.
fn has_worked(failed: &Observation, other: &Observation) -> bool {
    let same = failed.content.trim() == other.content.trim()
        || (failed.session_id == other.session_id
            && beginning(&failed.content).is_some_and(|of| beginning(&other.content) == Some(of)));
    other.obs_type == ObsType::Command
        && !other.failed()
        && other.project_row == failed.project_row
        && other.at_ms > failed.at_ms
        && same
}

/// The program and the subcommand of a command; none where it is a program alone.
fn beginning(command: &str) -> Option<(&str, &str)> {
    let mut words = command.split_whitespace();
    let (program, sub) = (words.next()?, words.next()?);
    sub.starts_with(char::is_alphabetic).then_some((program, sub))
}

/// Whether a newer text replaces what an older one decided; `cosine` is that of their records.
pub(crate) fn replaces(newer: &str, older: &str, cosine: f64) -> bool {
    cosine >= SAME_DECISION && text::decisions::decides(older) && text::decisions::changes(newer)
}
