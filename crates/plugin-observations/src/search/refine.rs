//! The last step of the default order: hits with equal texts are folded into one, and the first hits are put in
//! order by what their records say of each other.

use std::collections::HashMap;

use model::observation::{ObsType, Observation};
use model::run::RunKey;
use model::{OpError, limits};
use store::search::{self, Filter, Hit, TextsRead};
use store::{Rx, observations, prompts};

use super::{Named, Ranked};
use crate::note::Note;
use crate::records_read::RecordsRead;
use crate::replaced::{Replacements, is_newer_first};
use crate::same_run;

/// Failed commands among the first hits for which the store is searched for a later run that worked.
const WORKED_LOOKED_UP: usize = 5;

/// The records that became one hit with others, each with the record that is shown for all of them.
#[derive(Default)]
pub(super) struct Folds(HashMap<i64, i64>);

impl Folds {
    /// The record that is shown for another one; itself if it is not part of a fold.
    pub(super) fn shown(&self, id: i64) -> i64 {
        self.0.get(&id).copied().unwrap_or(id)
    }

    /// Whether a record became one hit with others.
    pub(super) fn holds(&self, id: i64) -> bool {
        self.0.contains_key(&id)
    }

    /// Merges the hits of two records into one, which shows the second record. Returns the number of its records.
    fn join(&mut self, other: i64, shown: i64) -> usize {
        self.0.extend([(other, shown), (shown, shown)]);
        let of_other = self.0.values_mut().filter(|of| **of == other);
        of_other.for_each(|of| *of = shown);
        self.0.values().filter(|of| **of == shown).count()
    }
}

/// Folds hits with equal texts into one, with a count and the newest of their ids, at the place of the first. Only hits
/// of the kinds that `is_compared` accepts are compared.
pub(super) fn fold(
    rx: &Rx<'_>,
    ranked: Vec<Ranked>,
    (texts, folds): (&mut TextsRead, &mut Folds),
    is_compared: impl Fn(ObsType) -> bool,
) -> Result<Vec<Ranked>, OpError> {
    let compared =
        ranked.iter().enumerate().filter(|(_, one)| is_compared(one.hit.kind.obs_type()));
    let (compared, hits): (Vec<usize>, Vec<Hit>) =
        compared.map(|(place, one)| (place, one.hit)).unzip();
    let mut first: Vec<usize> = (0..ranked.len()).collect();
    for (place, of) in compared.iter().zip(search::same_texts(rx, &hits, texts)?) {
        if let (Some(first), Some(of)) = (first.get_mut(*place), compared.get(of)) {
            *first = *of;
        }
    }
    Ok(merged(ranked, first, folds))
}

/// Folds failures of one command with the same error into one hit.
pub(super) fn fold_failures(
    ranked: Vec<Ranked>,
    records: &RecordsRead,
    folds: &mut Folds,
) -> Vec<Ranked> {
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
    merged(ranked, first, folds)
}

/// The line of an output that names the error: the last that contains `error`, else the last line.
fn error_line(output: &str) -> &str {
    let mut lines = output.lines().map(str::trim).filter(|line| !line.is_empty()).rev();
    let names = |line: &&str| line.to_ascii_lowercase().contains("error");
    let last = lines.clone().next().unwrap_or_default();
    lines.find(names).unwrap_or(last)
}

/// Folds each hit into the hit at the place that `first` has for it. A fold has a count and the newest id.
fn merged(ranked: Vec<Ranked>, first: Vec<usize>, folds: &mut Folds) -> Vec<Ranked> {
    let mut folded: Vec<Ranked> = Vec::with_capacity(ranked.len());
    let mut places: HashMap<usize, usize> = HashMap::new();
    for (place, (one, of)) in ranked.into_iter().zip(first).enumerate() {
        let known = places.get(&of).and_then(|at| folded.get_mut(*at));
        match known.filter(|_| of != place) {
            Some(leader) => {
                leader.oldest = leader.oldest.min(one.oldest);
                let is_newer = (one.hit.at, one.hit.id) > (leader.hit.at, leader.hit.id);
                let (newer, older) = if is_newer { (one, *leader) } else { (*leader, one) };
                // A record that was part of a fold may have become a hit again, as the answer of its turn.
                leader.count = folds.join(older.hit.id, newer.hit.id);
                (leader.hit, leader.note) = (newer.hit, newer.note);
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
    filter: &Filter<'_>,
    mut ranked: Vec<Ranked>,
    (folds, is_question): (&Folds, bool),
    (records, replaced): (&mut RecordsRead, &mut Replacements),
) -> Result<Vec<Ranked>, OpError> {
    let mut behind = ranked.split_off(limits::SEARCH_READ.min(ranked.len()));
    for one in &ranked {
        records.read_hit(rx, one.hit)?;
    }
    let looked_up = ranked.iter().take(limits::REPLACED_LOOKED_UP).map(|one| one.hit);
    replaced.look_up(rx, looked_up, records)?;
    let mut window = Window { rx, first: ranked, folds, records };
    window.newer_first()?;
    match is_question {
        true => window.replacing_first(filter, replaced, &mut behind)?,
        // For a look-up, no record without the word, the path or the error is put before those that have it.
        false => window.replaced_behind(replaced)?,
    }
    window.worked_first()?;
    let Window { mut first, .. } = window;
    first.extend(behind);
    Ok(first)
}

struct Window<'w, 'r> {
    rx: &'w Rx<'r>,
    first: Vec<Ranked>,
    folds: &'w Folds,
    /// The records that were read, including those of the first hits.
    records: &'w RecordsRead,
}

impl Window<'_, '_> {
    fn record(&self, place: usize) -> Option<&Observation> {
        self.records.get(self.first.get(place)?.hit.id)
    }

    fn note(&mut self, place: usize, note: Note) {
        if let Some(one) = self.first.get_mut(place) {
            one.note = match one.note {
                // The note that a record was replaced matters more than the note on what it answers or replaces.
                Some(Note::Answers(_) | Note::CameOf(_)) | None => Some(note),
                Some(Note::Replaces(_)) if matches!(note, Note::ReplacedBy(_)) => Some(note),
                known => known,
            };
        }
    }

    /// Moves a hit up to a place. It gets at least the score of the hit that was there, so that scores still fall
    /// from one hit to the next.
    fn move_up(&mut self, from: usize, to: usize) {
        let Some(first) = self.first.get(to).map(|one| (one.named, one.first)) else { return };
        if from > to && from < self.first.len() {
            let mut moved = self.first.remove(from);
            moved.first = moved.first.max(first.1);
            self.first.insert(to, moved);
        }
    }

    /// Moves a hit down behind the hit at a place. Its score becomes at most that of this other hit.
    fn move_down(&mut self, from: usize, to: usize) {
        if from < to && to < self.first.len() {
            let mut moved = self.first.remove(from);
            let behind = self.first.get(to - 1).map_or(0.0, |one| one.first);
            moved.first = moved.first.min(behind);
            self.first.insert(to, moved);
        }
    }

    /// Puts the newer of two records of talk about the same subject first.
    fn newer_first(&mut self) -> Result<(), OpError> {
        let mut at = 0;
        while at < self.first.len() {
            for other in at + 1..self.first.len() {
                if self.is_newer_on_the_subject(at, other)? {
                    self.move_up(other, at);
                    at += 1;
                }
            }
            at += 1;
        }
        Ok(())
    }

    /// For a look-up: moves a replaced hit behind the hit that replaces it, or behind the answer to that hit, and adds
    /// a note to both. No other hit moves down. A hit that the query names stays before others.
    fn replaced_behind(&mut self, replaced: &Replacements) -> Result<(), OpError> {
        let ids: Vec<i64> = self.first.iter().map(|one| one.hit.id).collect();
        for old in ids {
            let Some(new) = replaced.of_said(old) else { continue };
            let Some(mut from) = self.place(old) else { continue };
            let named = |place: usize| self.first.get(place).map(|one| one.named);
            let by = match self.place(self.folds.shown(new)) {
                Some(place) => Some(place),
                // The word may be in the answer to the newer prompt only.
                None => prompts::answer_to(self.rx, new)?.and_then(|answer| self.place(answer)),
            };
            if let Some(to) = by.filter(|to| named(*to) >= named(from) && *to > from) {
                self.move_down(from, to);
                from = to;
            }
            self.note(from, Note::ReplacedBy(new));
            let by = self.place(self.folds.shown(new)).filter(|_| replaced.of(old).is_some());
            if let Some(place) = by {
                self.note(place, Note::Replaces(old));
            }
        }
        Ok(())
    }

    /// Puts a record that replaces a hit, and the answer to that record, before the hit and the hits that repeat it.
    /// Adds a note to the replaced hits and to those that repeat them. The record and its answer are listed even if
    /// they have none of the query's words, unless the filter excludes them.
    fn replacing_first(
        &mut self,
        filter: &Filter<'_>,
        replaced: &Replacements,
        behind: &mut Vec<Ranked>,
    ) -> Result<(), OpError> {
        let ids = self.first.iter().map(|one| one.hit.id);
        let mut pairs: Vec<(i64, i64)> =
            ids.filter_map(|old| Some((old, replaced.of(old)?))).collect();
        let mut newest: HashMap<i64, (i64, i64)> = HashMap::new();
        for one in &self.first {
            if let Some(new) = replaced.of(one.hit.id) {
                let known = newest.entry(new).or_insert((one.hit.at, one.hit.id));
                *known = (*known).max((one.hit.at, one.hit.id));
            }
        }
        // A summary is moved behind the newer record too, also if the statement that it repeats is not a hit.
        for summary in self.first.iter().filter(|one| one.hit.kind == ObsType::SessionSummary) {
            if let Some((old, new)) = replaced.repeated_by(summary.hit.id) {
                newest.entry(new).or_insert((i64::MIN, old));
                pairs.push((summary.hit.id, new));
            }
        }
        // An answer or a commit whose prompt is not a hit is moved, too.
        for one in self.first.iter().filter(|one| one.hit.kind != ObsType::SessionSummary) {
            let repeated = replaced.repeated_by(one.hit.id);
            if let Some((old, new)) = repeated.filter(|(old, _)| self.place(*old).is_none()) {
                newest.entry(new).or_insert((i64::MIN, old));
                pairs.push((one.hit.id, new));
            }
        }
        let mut answers: HashMap<i64, i64> = HashMap::new();
        for (_, new) in &pairs {
            if !answers.contains_key(new) {
                answers.extend(prompts::answer_to(self.rx, *new)?.map(|answer| (*new, answer)));
            }
        }
        let added = pairs.iter().map(|(_, new)| *new).chain(answers.values().copied());
        // A record that was folded into a hit is not listed again.
        let is_missing = |id: &i64| self.folds.shown(*id) == *id && self.place(*id).is_none();
        let missing: Vec<i64> = added.filter(is_missing).collect();
        let found = search::admitted(self.rx, filter, &missing)?;
        behind.retain(|one| !found.contains_key(&one.hit.id));
        for (old, new) in pairs {
            let Some(at) = self.place(old) else { continue };
            let to = self.first_that_says(at, replaced);
            let shown = self.folds.shown(new);
            self.put(shown, to, &found);
            if let (Some(answer), Some(at)) = (answers.get(&new), self.place(shown)) {
                self.put(*answer, at + 1, &found);
                if let Some(place) = self.place(*answer) {
                    self.note(place, Note::Answers(new));
                }
            }
            // As in the briefing, the note names the newest of the replaced records.
            let newest = newest.get(&new).map_or(old, |(_, id)| *id);
            for (id, note) in [(old, Note::ReplacedBy(new)), (shown, Note::Replaces(newest))] {
                if let Some(place) = self.place(id) {
                    self.note(place, note);
                }
            }
        }
        Ok(())
    }

    /// Moves a record up to a place; one that is not among the first hits is inserted there if it was found.
    fn put(&mut self, id: i64, to: usize, found: &HashMap<i64, Hit>) {
        let beside = self.first.get(to).or_else(|| self.first.last()).copied();
        match (self.place(id), found.get(&id), beside) {
            (Some(place), ..) => self.move_up(place, to),
            (None, Some(hit), Some(beside)) => {
                let newer = Ranked { hit: *hit, named: Named::No, ..beside };
                self.first.insert(to, Ranked { count: 1, oldest: id, note: None, ..newer });
            }
            _ => {}
        }
    }

    fn place(&self, id: i64) -> Option<usize> {
        self.first.iter().position(|one| one.hit.id == id)
    }

    /// The place of the first hit that is the one at a place, or repeats what it says. Other records of the turn keep
    /// their places: the error that was asked for does not come after a decision that its turn happened to change.
    fn first_that_says(&self, place: usize, replaced: &Replacements) -> usize {
        let Some(id) = self.first.get(place).map(|one| one.hit.id) else { return place };
        let said = replaced.repeated_by(id).map_or(id, |(old, _)| old);
        let repeats = |one: &Ranked| {
            let other = one.hit.id;
            other == said || replaced.repeated_by(other).is_some_and(|(old, _)| old == said)
        };
        self.first.iter().take(place).position(repeats).unwrap_or(place)
    }

    /// Whether the second hit is a newer record of talk about the subject of the first.
    fn is_newer_on_the_subject(&self, a: usize, b: usize) -> Result<bool, OpError> {
        let (Some(old), Some(new)) = (self.first.get(a), self.first.get(b)) else {
            return Ok(false);
        };
        use ObsType::{Answer, GitCommit, Marker, SessionSummary, UserPrompt};
        let are_talk = match (old.hit.kind.obs_type(), new.hit.kind.obs_type()) {
            (UserPrompt | Answer | Marker | GitCommit | SessionSummary, _)
                if old.hit.kind == new.hit.kind =>
            {
                true
            }
            (SessionSummary, Answer) => true,
            // Other prompts may only ask what the summary tells.
            (SessionSummary, UserPrompt) => self.record(b).is_some_and(|prompt| {
                text::decisions::decides(&prompt.content) || text::change(&prompt.content).is_some()
            }),
            _ => false,
        };
        let is_newer = (new.hit.at, new.hit.id) > (old.hit.at, old.hit.id)
            && new.hit.session != old.hit.session;
        let is_candidate = are_talk && is_newer && old.hit.project == new.hit.project;
        if !is_candidate || new.named < old.named {
            return Ok(false);
        }
        let cosine = || search::cosine(self.rx, &old.hit, &new.hit);
        is_newer_first((old.first, new.first), || self.chooses_other(a, b), cosine)
    }

    /// Whether two prompts or marks choose different values for one thing.
    fn chooses_other(&self, older: usize, newer: usize) -> bool {
        let states = |record: &&Observation| {
            matches!(record.obs_type.kind(), ObsType::UserPrompt | ObsType::Marker)
        };
        let said = |place: usize| self.record(place).filter(states);
        let (Some(old), Some(new)) = (said(older), said(newer)) else { return false };
        let statement = |record: &Observation| self.rx.statement(record.id, &record.content);
        statement(new).chooses_other(&statement(old))
    }

    /// Moves a failed run behind the later run of its command that worked, and names that run in its note.
    fn worked_first(&mut self) -> Result<(), OpError> {
        let mut later = LaterRuns::default();
        let mut failed = 0;
        while failed < self.first.len() {
            let Some(record) = self.record(failed).filter(|record| record.failed()).cloned() else {
                failed += 1;
                continue;
            };
            let worked = (0..self.first.len()).find(|other| {
                self.record(*other).is_some_and(|other| same_run::worked_later(&record, other))
            });
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
                None => {
                    if let Some(id) = later.first(self.rx, &record)? {
                        self.note(failed, Note::WorkedLater(id));
                    }
                }
            }
            failed += 1;
        }
        Ok(())
    }
}

/// Looks up runs that worked and are not among the hits.
#[derive(Default)]
struct LaterRuns {
    looked_up: usize,
}

impl LaterRuns {
    /// The first later run of a command that worked; none after too many look-ups.
    fn first(&mut self, rx: &Rx<'_>, failed: &Observation) -> Result<Option<i64>, OpError> {
        self.looked_up += 1;
        if self.looked_up > WORKED_LOOKED_UP {
            return Ok(None);
        }
        if let Some(id) = observations::worked_later(rx, failed)? {
            return Ok(Some(id));
        }
        if RunKey::of(failed).is_none() {
            let around = observations::around(rx, failed.id, 0, limits::LATER_RUNS_READ)?;
            let later = around.map(|(_, _, after)| after).unwrap_or_default();
            let worked = later.iter().find(|seen| same_run::worked_later(failed, seen));
            return Ok(worked.map(|seen| seen.id));
        }
        let projects = [failed.project_row];
        let runs = observations::runs(rx, &projects, failed.at_ms, limits::LATER_RUNS_READ)?;
        let worked = runs.iter().rev().find(|run| same_run::worked_later(failed, run));
        Ok(worked.map(|run| run.id))
    }
}
