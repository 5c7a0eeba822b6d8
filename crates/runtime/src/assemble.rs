//! The one assembler: every text that reaches an agent is made here of what the plugins bring.
//!
//! *candidates → scope gate → score with reasons → de-duplicate → fit the budget → render → receipt*:
//! the plugins have gated and scored; de-duplication, fitting and rendering are here, and the same
//! candidates give the same bytes. Who asks the plugins and keeps the receipt is not here.

pub(crate) mod budgets;
mod near_duplicates;
mod rendering;

use std::collections::{BTreeMap, HashSet};

use contract::{Candidate, Slot};
use model::limits;

use budgets::Budget;
use near_duplicates::RowStatement;

/// The text, what stands in it, and what does not.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Assembled {
    pub(crate) text: String,
    pub(crate) told: Vec<Told>,
    /// Candidates that say nearly the same as one in the text. They are left out, and count as shown.
    pub(crate) merged: Vec<Told>,
    pub(crate) left_out: Vec<LeftOut>,
}

/// One thing that is told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Told {
    pub(crate) path: String,
    pub(crate) stamp: i64,
    pub(crate) score: f64,
    pub(crate) reasons: Vec<String>,
    pub(crate) tokens: usize,
}

/// One thing that is not told, and why.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LeftOut {
    pub(crate) path: String,
    pub(crate) score: f64,
    pub(crate) why: &'static str,
}

const SAID_BETTER: &str = "a better one says the same";

/// A row that is still in.
struct Row {
    candidate: Candidate,
    lines: Vec<String>,
    statement: RowStatement,
    /// Worse candidates that say nearly the same.
    merged: Vec<Candidate>,
}

impl Row {
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

/// Rows by the slot and the title of their section.
type Sections = BTreeMap<(Slot, String), Vec<Row>>;

/// Makes one text of the candidates; without any there is no text, not even a title.
pub(crate) fn assemble(title: &str, candidates: Vec<Candidate>, budget: Budget) -> Assembled {
    let mut left_out = Vec::new();
    let mut sections = rows(candidates, budget, &mut left_out);
    while !fits(title, &sections, budget) {
        let Some(row) = give_way(&mut sections) else { break };
        let gone = std::iter::once(row.candidate).chain(row.merged);
        left_out.extend(gone.map(|candidate| out(candidate, "there was no room for it")));
    }
    sections.retain(|_, rows| !rows.is_empty());
    let text = rendering::text(title, &sections);
    let (mut told, mut merged) = (Vec::new(), Vec::new());
    for row in sections.into_values().flatten() {
        for worse in row.merged {
            merged.push(same_as_told(&worse, &row.candidate));
            left_out.push(out(worse, SAID_BETTER));
        }
        told.push(Told {
            path: row.candidate.path,
            stamp: row.candidate.stamp,
            score: row.candidate.score,
            reasons: row.candidate.reasons,
            tokens: text::tokens::estimate(&row.lines.join("\n")),
        });
    }
    Assembled { text, told, merged, left_out }
}

/// The receipt of a candidate that a better one made superfluous: it cost nothing.
fn same_as_told(worse: &Candidate, better: &Candidate) -> Told {
    Told {
        path: worse.path.clone(),
        stamp: worse.stamp,
        score: worse.score,
        reasons: vec![format!("says the same as {}", better.path)],
        tokens: 0,
    }
}

/// The best of each, best first, as the lines they will be.
fn rows(mut candidates: Vec<Candidate>, budget: Budget, left_out: &mut Vec<LeftOut>) -> Sections {
    candidates.sort_by(|a, b| {
        let rank = |c: &Candidate| (c.pinned, c.score);
        let (a_rank, b_rank) = (rank(a), rank(b));
        b_rank
            .0
            .cmp(&a_rank.0)
            .then(b_rank.1.total_cmp(&a_rank.1))
            // Of equals the newer one, which has the later stamp; the path makes the order whole.
            .then_with(|| b.stamp.cmp(&a.stamp))
            .then_with(|| b.path.len().cmp(&a.path.len()))
            .then_with(|| b.path.cmp(&a.path))
    });
    let mut seen: HashSet<String> = HashSet::new();
    let mut sections = Sections::new();
    for candidate in candidates {
        let same = candidate.same_as.as_ref().unwrap_or(&candidate.path).clone();
        if !seen.insert(same) {
            left_out.push(out(candidate, SAID_BETTER));
            continue;
        }
        let statement = RowStatement::of(&candidate);
        let mut kept = sections.values_mut().flatten();
        if let Some(better) = kept.find(|row| row.statement.says_nearly(&statement)) {
            better.merge(candidate);
            continue;
        }
        let place = (candidate.slot, candidate.section_title().to_owned());
        let rows = sections.entry(place).or_default();
        if rows.len() >= candidate.slot.rows_max(budget.recovery).min(budget.rows) {
            left_out.push(out(candidate, "its section is full"));
            continue;
        }
        let lines = rendering::row(&candidate, budget.row_chars());
        rows.push(Row { candidate, lines, statement, merged: Vec::new() });
    }
    sections
}

fn fits(title: &str, sections: &Sections, budget: Budget) -> bool {
    let (mut count, mut chars) = (0, 0);
    for line in rendering::lines(title, sections) {
        count += 1;
        chars += line.chars().count() + 1;
    }
    let tokens = budget.tokens.min(limits::INJECT_TOKENS_MAX);
    count <= budget.lines
        && chars <= limits::INJECT_CHARS_MAX
        && text::tokens::of_chars(chars) <= tokens
}

/// Takes out the row that is missed least.
fn give_way(sections: &mut Sections) -> Option<Row> {
    let over_floor = |slot: Slot, rows: &[Row]| {
        rows.last().is_some_and(|row| !row.candidate.pinned && rows.len() > slot.info().floor)
    };
    let first = sections
        .iter_mut()
        .filter(|((slot, _), rows)| over_floor(*slot, rows))
        .min_by_key(|((slot, _), _)| slot.yields_at());
    if let Some((_, rows)) = first {
        return rows.pop();
    }
    let last = |rows: &Vec<Row>| rows.last().map(|row| (row.candidate.pinned, row.candidate.score));
    sections
        .values_mut()
        .filter(|rows| !rows.is_empty())
        .min_by(|a, b| match (last(a), last(b)) {
            (Some(a), Some(b)) => a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)),
            _ => std::cmp::Ordering::Equal,
        })?
        .pop()
}

fn out(candidate: Candidate, why: &'static str) -> LeftOut {
    LeftOut { path: candidate.path, score: candidate.score, why }
}

#[cfg(test)]
mod tests;
