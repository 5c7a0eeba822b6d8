//! The last step of the default order: hits that say the same become one, and the first hits are put in
//! order by what their records say of each other.

use std::collections::HashMap;

use model::observation::{ObsType, Observation};
use model::{OpError, limits};
use store::search::{self, Hit};
use store::{Rx, observations};

use super::records_read::RecordsRead;
use super::{Ranked, turns};

/// Cosine from which on two records of talk are about the same subject.
const SAME_SUBJECT: f64 = 0.8;
/// Cosine from which on a record that says that it changes a decision is taken to change another that decides,
/// and from which on a prompt that says how something is now is taken to change any statement.
const SAME_DECISION: f64 = 0.6;
const SAME_STATEMENT: f64 = 0.7;
/// The newer of two such records comes first only if it counts at least this share of the older one: among
/// hits that hardly match, many are about one subject, and none of them is an answer.
const SAME_LIKE: f64 = 0.9;
const CHANGES_LIKE: f64 = 0.7;
/// Failed commands on the first hits for which the session is searched for the run that worked.
const WORKED_LOOKED_UP: usize = 5;
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
/// Only hits of these kinds are compared.
pub(super) fn fold(
    rx: &Rx<'_>,
    ranked: Vec<Ranked>,
    is_compared: impl Fn(ObsType) -> bool,
) -> Result<Vec<Ranked>, OpError> {
    let compared = ranked.iter().enumerate().filter(|(_, one)| is_compared(one.hit.kind));
    let (compared, hits): (Vec<usize>, Vec<Hit>) =
        compared.map(|(place, one)| (place, one.hit)).unzip();
    let mut first: Vec<usize> = (0..ranked.len()).collect();
    for (place, of) in compared.iter().zip(search::same_texts(rx, &hits)?) {
        if let (Some(first), Some(of)) = (first.get_mut(*place), compared.get(of)) {
            *first = *of;
        }
    }
    Ok(merged(ranked, first))
}

/// Makes failures of one command with one error one hit.
pub(super) fn fold_failures(ranked: Vec<Ranked>, records: &RecordsRead) -> Vec<Ranked> {
    let mut known: HashMap<(i64, &str, &str), usize> = HashMap::new();
    let first = ranked.iter().enumerate().map(|(place, one)| {
        match records.get(one.hit.id).filter(|record| record.failed()) {
            Some(record) => {
                let error = error_line(record.error().unwrap_or_default());
                *known.entry((one.hit.project, record.content.trim(), error)).or_insert(place)
            }
            None => place,
        }
    });
    let first = first.collect();
    merged(ranked, first)
}

/// The line of an output that names the error: the last that says so, or else the last one.
fn error_line(output: &str) -> &str {
    let mut lines = output.lines().map(str::trim).filter(|line| !line.is_empty()).rev();
    let names = |line: &&str| line.to_ascii_lowercase().contains("error");
    let last = lines.clone().next().unwrap_or_default();
    lines.find(names).unwrap_or(last)
}

/// Each hit becomes a part of the one at the place that is given for it, which has a count and the newest id.
fn merged(ranked: Vec<Ranked>, first: Vec<usize>) -> Vec<Ranked> {
    let mut folded: Vec<Ranked> = Vec::with_capacity(ranked.len());
    let mut places: HashMap<usize, usize> = HashMap::new();
    for (place, (one, of)) in ranked.into_iter().zip(first).enumerate() {
        let known = places.get(&of).and_then(|at| folded.get_mut(*at));
        match known.filter(|_| of != place) {
            Some(leader) => {
                leader.count += one.count;
                leader.oldest = leader.oldest.min(one.oldest);
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
    folded
}

/// Puts the first hits in order by what their records say of each other.
pub(super) fn refine(
    rx: &Rx<'_>,
    mut ranked: Vec<Ranked>,
    records: &mut RecordsRead,
) -> Result<Vec<Ranked>, OpError> {
    let behind = ranked.split_off(limits::SEARCH_READ.min(ranked.len()));
    for one in &ranked {
        records.read(rx, one.hit.id)?;
    }
    let mut window = Window { rx, first: ranked, records };
    window.newer_first()?;
    window.worked_first()?;
    let Window { mut first, .. } = window;
    first.extend(behind);
    Ok(first)
}

struct Window<'w, 'r> {
    rx: &'w Rx<'r>,
    first: Vec<Ranked>,
    /// The records of the first hits are among them.
    records: &'w RecordsRead,
}

impl Window<'_, '_> {
    fn record(&self, place: usize) -> Option<&Observation> {
        self.records.get(self.first.get(place)?.hit.id)
    }

    fn note(&mut self, place: usize, note: Note) {
        if let Some(one) = self.first.get_mut(place) {
            one.note = match one.note {
                // That a record no longer holds is worth more than what it answers.
                Some(Note::Answers(_) | Note::CameOf(_)) | None => Some(note),
                known => known,
            };
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

    /// Moves a hit down behind the one at a place. It counts no more than that one.
    fn move_down(&mut self, from: usize, to: usize) {
        if from < to && to < self.first.len() {
            let mut moved = self.first.remove(from);
            let behind = self.first.get(to - 1).map_or(0.0, |one| one.first);
            moved.first = moved.first.min(behind);
            self.first.insert(to, moved);
        }
    }

    /// Of two records of talk about the same subject the newer one first; a decision that changes another is
    /// marked, and so is the other.
    fn newer_first(&mut self) -> Result<(), OpError> {
        let mut at = 0;
        while at < self.first.len() {
            for other in at + 1..self.first.len() {
                if let Some(changes) = self.is_newer_on_the_subject(at, other)? {
                    self.note_change(at, other, changes);
                    let to = if changes { self.first_of_turn(at) } else { at };
                    self.move_up(other, to);
                    at += 1;
                } else if let Some(changes) = self.is_newer_on_the_subject(other, at)? {
                    self.note_change(other, at, changes);
                }
            }
            at += 1;
        }
        Ok(())
    }

    fn note_change(&mut self, older: usize, newer: usize, changes: bool) {
        let ids = [older, newer].map(|at| self.first.get(at).map(|one| one.hit.id));
        if let ([Some(old), Some(new)], true) = (ids, changes) {
            self.note(older, Note::ReplacedBy(new));
            self.note(newer, Note::Replaces(old));
        }
    }

    /// The place of the first hit that repeats what the one at a place says: of its turn, or the summary of
    /// its session.
    fn first_of_turn(&self, place: usize) -> usize {
        let turn =
            |at: usize| self.record(at).map(|record| turns::turn_of(record).unwrap_or(record.id));
        let session = |at: usize| self.first.get(at).map(|one| one.hit.session);
        let is_summary = |at: usize| {
            self.first.get(at).is_some_and(|one| one.hit.kind == ObsType::SessionSummary)
        };
        let repeats = |at: &usize| {
            turn(*at) == turn(place) || (is_summary(*at) && session(*at) == session(place))
        };
        (0..place).find(repeats).unwrap_or(place)
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
        let counts_like = |share: f64| new.first >= share * old.first;
        if !counts_like(CHANGES_LIKE) {
            return Ok(None);
        }
        let cosine = search::cosine(self.rx, &old.hit, &new.hit)?;
        let is_same =
            cosine >= SAME_SUBJECT && old.hit.kind == new.hit.kind && counts_like(SAME_LIKE);
        let (Some(before), Some(after)) = (self.record(a), self.record(b)) else { return Ok(None) };
        let changes = replaces(&after.content, &before.content, cosine)
            || (new.hit.kind == ObsType::UserPrompt
                && cosine >= SAME_STATEMENT
                && !text::decisions::asks(&before.content)
                && text::decisions::updates(&after.content));
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
                        self.move_down(failed, worked);
                        // Another hit is at this place now.
                        continue;
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
}

/// Whether one run of a command worked after another of it that failed: with an equal text, or with an equal
/// program and subcommand in one session.
fn has_worked(failed: &Observation, other: &Observation) -> bool {
    let same = failed.content.trim() == other.content.trim()
        || (failed.session_id == other.session_id
            && beginning(&failed.content).is_some_and(|of| beginning(&other.content) == Some(of)));
    // A run with an unknown result proves nothing.
    matches!(other.obs_type, ObsType::Command | ObsType::GitCommit | ObsType::GitPush)
        && !other.failed()
        && model::run::result(other) != Some("unknown")
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
