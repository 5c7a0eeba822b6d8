//! The one assembler: every text that reaches an agent is made here of what the plugins bring.
//!
//! *candidates → scope gate → score with reasons → de-duplicate → fit the budget → render → receipt*:
//! the plugins have gated and scored; de-duplication, fitting and rendering are here, and the same
//! candidates give the same bytes. Who asks the plugins and keeps the receipt is not here.

use std::collections::{BTreeMap, HashSet};

use contract::{Candidate, Form};
use model::hook::BRIEFING_NATURE;
use model::limits;

/// How much may be told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    pub(crate) tokens: usize,
    pub(crate) lines: usize,
}

/// The text, what stands in it, and what does not.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Assembled {
    pub(crate) text: String,
    pub(crate) told: Vec<Told>,
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

/// A row that is still in.
struct Row {
    candidate: Candidate,
    line: String,
}

/// Rows by the place of their section in the text; all rows of a place have the same section.
type Sections = BTreeMap<(u8, String), Vec<Row>>;

/// Makes one text of the candidates; without any there is no text, not even a title.
pub(crate) fn assemble(title: &str, candidates: Vec<Candidate>, budget: Budget) -> Assembled {
    let mut left_out = Vec::new();
    let mut sections = rows(candidates, &mut left_out);
    while !fits(title, &sections, budget) {
        let Some(row) = give_way(&mut sections) else { break };
        left_out.push(out(row.candidate, "there was no room for it"));
    }
    sections.retain(|_, rows| !rows.is_empty());
    Assembled { text: render(title, &sections), told: told(sections), left_out }
}

/// The best of each, best first, as the lines they will be.
fn rows(mut candidates: Vec<Candidate>, left_out: &mut Vec<LeftOut>) -> Sections {
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
            left_out.push(out(candidate, "a better one says the same"));
            continue;
        }
        let place = (candidate.section.order, candidate.section.title.clone());
        let rows = sections.entry(place).or_default();
        if rows.len() >= candidate.section.rows_max {
            left_out.push(out(candidate, "its section is full"));
            continue;
        }
        let line = line(&candidate);
        rows.push(Row { candidate, line });
    }
    sections
}

fn line(candidate: &Candidate) -> String {
    let cells =
        candidate.cells.iter().map(|cell| text::quoted(cell, limits::INJECT_CELL_CHARS_MAX));
    match candidate.section.form {
        Form::Bullets => format!("- {}", cells.collect::<Vec<_>>().join(" ")),
        Form::Table(_) => {
            let cells: Vec<String> =
                cells.map(|cell| cell.replace('\\', "\\\\").replace('|', "\\|")).collect();
            format!("| {} |", cells.join(" | "))
        }
    }
}

/// The lines above the rows of a section.
fn head(rows: &[Row]) -> Vec<String> {
    let Some(first) = rows.first() else { return Vec::new() };
    let section = &first.candidate.section;
    let mut lines =
        vec![format!("## {}", text::quoted(&section.title, limits::INJECT_CELL_CHARS_MAX))];
    if let Form::Table(headings) = section.form {
        lines.push(format!("| {} |", headings.join(" | ")));
        lines.push(format!("|{}", "---|".repeat(headings.len())));
    }
    lines
}

fn lines<'s>(title: &'s str, sections: &'s Sections) -> impl Iterator<Item = String> + 's {
    let top = (!title.is_empty()).then(|| format!("# {title}{BRIEFING_NATURE}"));
    let body = sections.values().filter(|rows| !rows.is_empty());
    top.into_iter().chain(
        body.flat_map(|rows| head(rows).into_iter().chain(rows.iter().map(|row| row.line.clone()))),
    )
}

fn fits(title: &str, sections: &Sections, budget: Budget) -> bool {
    let (mut count, mut chars) = (0, 0);
    for line in lines(title, sections) {
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
    let over_floor = |rows: &&mut Vec<Row>| {
        rows.last()
            .is_some_and(|row| !row.candidate.pinned && rows.len() > row.candidate.section.floor)
    };
    let first = sections
        .values_mut()
        .filter(|rows| over_floor(rows))
        .min_by_key(|rows| rows.last().map(|row| row.candidate.section.gives_way));
    if let Some(rows) = first {
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

fn render(title: &str, sections: &Sections) -> String {
    if sections.is_empty() {
        return String::new();
    }
    let mut text: String = lines(title, sections).collect::<Vec<_>>().join("\n");
    text.push('\n');
    text
}

fn told(sections: Sections) -> Vec<Told> {
    let rows = sections.into_values().flatten();
    rows.map(|Row { candidate, line }| Told {
        path: candidate.path,
        stamp: candidate.stamp,
        score: candidate.score,
        reasons: candidate.reasons,
        tokens: text::tokens::estimate(&line),
    })
    .collect()
}

fn out(candidate: Candidate, why: &'static str) -> LeftOut {
    LeftOut { path: candidate.path, score: candidate.score, why }
}

#[cfg(test)]
mod tests;
