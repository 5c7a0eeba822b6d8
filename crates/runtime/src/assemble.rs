//! The assembler: builds every text that reaches an agent from the plugins' candidates.
//!
//! *candidates → scope gate → score with reasons → de-duplicate → fit the budget → render → receipt*: the plugins
//! gate and score; de-duplication, fitting and rendering are here. Equal candidates give equal bytes. Collecting the
//! candidates and storing the receipt are not here (see `tell`).

pub(crate) mod budgets;
mod near_duplicates;
mod rendering;

use std::collections::{BTreeMap, HashSet};

use contract::{Candidate, Slot};
use model::limits;
use place::NotCaptured;
use text::HostSize;

use budgets::Budget;
use near_duplicates::RowStatement;

/// The text, its entries, and the candidates that were left out.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Assembled {
    pub(crate) text: String,
    pub(crate) told: Vec<ShownEntry>,
    /// Candidates that say nearly the same as one in the text. They are left out, but count as shown.
    pub(crate) merged: Vec<ShownEntry>,
    pub(crate) left_out: Vec<LeftOutCandidate>,
    /// The reason for an empty text at a place where nothing is captured.
    pub(crate) not_captured: Option<NotCaptured>,
}

/// An entry of the text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ShownEntry {
    pub(crate) path: String,
    pub(crate) stamp: i64,
    pub(crate) score: f64,
    pub(crate) reasons: Vec<String>,
    pub(crate) tokens: usize,
    /// Whether the end of its text is missing.
    pub(crate) is_cut: bool,
}

/// A candidate that is not in the text, and why.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LeftOutCandidate {
    pub(crate) path: String,
    pub(crate) score: f64,
    pub(crate) why: &'static str,
}

const NEAR_DUPLICATE: &str = "a better one says the same";

/// A row that is part of the text so far.
struct AssembledRow {
    candidate: Candidate,
    lines: Vec<String>,
    statement: RowStatement,
    is_cut: bool,
    /// Worse candidates that say nearly the same.
    merged: Vec<Candidate>,
}

impl AssembledRow {
    /// Takes the reasons of a worse candidate that says nearly the same.
    fn merge(&mut self, worse: Candidate) {
        for reason in &worse.reasons {
            if !self.candidate.reasons.contains(reason) {
                self.candidate.reasons.push(reason.clone());
            }
        }
        self.merged.push(worse);
    }
}

/// The rows of a section.
#[derive(Default)]
struct Section {
    rows: Vec<AssembledRow>,
    /// The number of rows that were left out.
    left_out: usize,
}

impl Section {
    fn drop_last(&mut self) -> Option<AssembledRow> {
        let row = self.rows.pop()?;
        self.left_out += 1;
        Some(row)
    }

    /// Whether the section is not shown, not even as a count of left-out rows.
    fn is_empty(&self, slot: Slot) -> bool {
        self.rows.is_empty() && !(slot.counted_as().is_some() && self.left_out > 0)
    }
}

/// Sections by their slot, their position in the slot and their title.
type Sections = BTreeMap<(Slot, usize, String), Section>;

/// Builds one text from the candidates; without candidates it is empty and has no title.
pub(crate) fn assemble(title: &str, candidates: Vec<Candidate>, budget: Budget) -> Assembled {
    let mut left_out = Vec::new();
    let mut sections = rows(candidates, budget, &mut left_out);
    while !fits(title, &sections, budget) {
        if hide_count(&mut sections) {
            continue;
        }
        let Some(row) = drop_least_row(&mut sections) else { break };
        let gone = std::iter::once(row.candidate).chain(row.merged);
        left_out.extend(gone.map(|candidate| out(candidate, "there was no room for it")));
    }
    sections.retain(|(slot, ..), section| !section.is_empty(*slot));
    let text = rendering::text(title, &sections);
    let (mut told, mut merged) = (Vec::new(), Vec::new());
    for row in sections.into_values().flat_map(|section| section.rows) {
        for worse in row.merged {
            merged.push(merged_entry(&worse, &row.candidate));
            left_out.push(out(worse, NEAR_DUPLICATE));
        }
        told.push(ShownEntry {
            path: row.candidate.path,
            stamp: row.candidate.stamp,
            score: row.candidate.score,
            reasons: row.candidate.reasons,
            tokens: text::tokens::estimate(&row.lines.join("\n")),
            is_cut: row.is_cut,
        });
    }
    Assembled { text, told, merged, left_out, not_captured: None }
}

/// The receipt of a near-duplicate of an entry: it cost no tokens.
fn merged_entry(worse: &Candidate, better: &Candidate) -> ShownEntry {
    ShownEntry {
        path: worse.path.clone(),
        stamp: worse.stamp,
        score: worse.score,
        reasons: vec![format!("says the same as {}", better.path)],
        tokens: 0,
        is_cut: false,
    }
}

/// The candidates without duplicates, best first, as rendered rows.
fn rows(
    mut candidates: Vec<Candidate>,
    budget: Budget,
    left_out: &mut Vec<LeftOutCandidate>,
) -> Sections {
    candidates.sort_by(|a, b| {
        let rank = |c: &Candidate| (c.pinned, c.score);
        let (a_rank, b_rank) = (rank(a), rank(b));
        b_rank
            .0
            .cmp(&a_rank.0)
            .then(b_rank.1.total_cmp(&a_rank.1))
            // Of equal rows the newer one, with the later stamp, is first; the path breaks the remaining ties.
            .then_with(|| b.stamp.cmp(&a.stamp))
            .then_with(|| b.path.len().cmp(&a.path.len()))
            .then_with(|| b.path.cmp(&a.path))
    });
    let mut seen: HashSet<String> = HashSet::new();
    let mut sections = Sections::new();
    for candidate in candidates {
        let same = candidate.same_as.as_ref().unwrap_or(&candidate.path).clone();
        if !seen.insert(same) {
            left_out.push(out(candidate, NEAR_DUPLICATE));
            continue;
        }
        let statement = RowStatement::of(&candidate);
        let mut kept = sections.values_mut().flat_map(|section| &mut section.rows);
        if let Some(better) = kept.find(|row| row.statement.says_nearly(&statement)) {
            better.merge(candidate);
            continue;
        }
        let title = candidate.section_title().to_owned();
        let place = (candidate.slot, candidate.section, title);
        let Section { rows, left_out: left_out_of_section } = sections.entry(place).or_default();
        let most = match candidate.slot.counted_as() {
            Some(_) => usize::MAX,
            None => candidate.slot.rows_max(budget.recovery),
        };
        if rows.len() >= most.min(budget.rows) {
            *left_out_of_section += 1;
            left_out.push(out(candidate, "its section is full"));
            continue;
        }
        let own_chars = candidate.tokens_max.map_or(usize::MAX, text::tokens::chars);
        let lines = rendering::row(&candidate, budget.row_chars().min(own_chars));
        let is_cut = rendering::is_cut(&candidate, &lines);
        rows.push(AssembledRow { candidate, lines, statement, is_cut, merged: Vec::new() });
    }
    sections
}

fn fits(title: &str, sections: &Sections, budget: Budget) -> bool {
    let (mut count, mut chars, mut size) = (0, 0, HostSize::default());
    for line in rendering::lines(title, sections) {
        count += 1;
        chars += line.chars().count() + 1;
        size.add_line(&line, 1);
    }
    // Declared rows may fill the limits of the agents; the other sections get the rest of the budget.
    let (own_lines, own_chars) = rendering::declared_size(title, sections);
    let tokens = budget.tokens.max(text::tokens::of_chars(own_chars));
    let (tokens, most_chars) = match budget.is_answer {
        true => (tokens, usize::MAX),
        false => (tokens.min(limits::INJECT_TOKENS_MAX), limits::INJECT_CHARS_MAX),
    };
    count <= budget.lines.max(own_lines)
        && chars <= most_chars
        && budget.host.accept(size)
        && text::tokens::of_chars(chars) <= tokens
}

/// Hides the count of left-out rows in one section, if only essential rows are left in the text.
fn hide_count(sections: &mut Sections) -> bool {
    let is_left =
        |(slot, section): (Slot, &Section)| slot.is_essential() || section.rows.is_empty();
    if !sections.iter().all(|((slot, ..), section)| is_left((*slot, section))) {
        return false;
    }
    let mut counted = sections.iter_mut().filter(|((slot, ..), section)| {
        slot.counted_as().is_some() && section.rows.is_empty() && section.left_out > 0
    });
    let Some((_, section)) = counted.next() else { return false };
    section.left_out = 0;
    true
}

/// Drops one row: the last one of a section above its usual size, then of one above its floor, in the order in which
/// sections yield; then the row with the lowest score, pinned rows after the others, and essential rows after all.
fn drop_least_row(sections: &mut Sections) -> Option<AssembledRow> {
    let is_over = |slot: Slot, rows: &[AssembledRow], most: usize| {
        let is_free = |row: &AssembledRow| !row.candidate.pinned && !slot.is_declared();
        rows.last().is_some_and(|row| is_free(row) && rows.len() > most)
    };
    let is_large = |slot: Slot, rows: &[AssembledRow]| {
        slot.counted_as().is_some() && is_over(slot, rows, slot.info().rows_max)
    };
    let first = sections
        .iter_mut()
        .filter(|((slot, ..), section)| is_over(*slot, &section.rows, slot.info().floor))
        .min_by_key(|((slot, ..), section)| {
            let is_small = !is_large(*slot, &section.rows);
            (is_small, slot.yields_at(), std::cmp::Reverse(overuse(&section.rows)))
        });
    if let Some((_, section)) = first {
        return section.drop_last();
    }
    let last = |section: &Section| {
        section.rows.last().map(|row| {
            let slot = row.candidate.slot;
            let kept = (slot.is_declared(), slot.is_essential(), row.candidate.pinned);
            (kept, row.candidate.score)
        })
    };
    sections
        .values_mut()
        .filter(|section| !section.rows.is_empty())
        .min_by(|a, b| match (last(a), last(b)) {
            (Some(a), Some(b)) => a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)),
            _ => std::cmp::Ordering::Equal,
        })?
        .drop_last()
}

/// The size of a section in relation to its share: of several sections of one slot, the highest loses a row first.
fn overuse(rows: &[AssembledRow]) -> usize {
    let lines = rows.iter().flat_map(|row| &row.lines);
    let chars: usize = lines.map(|line| line.chars().count() + 1).sum();
    let share = rows.first().map_or(1, |row| row.candidate.share.max(1));
    chars.saturating_mul(100) / share
}

fn out(candidate: Candidate, why: &'static str) -> LeftOutCandidate {
    LeftOutCandidate { path: candidate.path, score: candidate.score, why }
}

#[cfg(test)]
mod tests;
