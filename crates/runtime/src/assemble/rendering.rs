//! Rows as lines, and sections as a text. Every piece of data is neutralised here.

use contract::{Candidate, Form, RowCut, Slot};
use model::hook::BRIEFING_NATURE;
use model::limits;

use super::{Section, Sections};

/// The lines of a row as they are shown, with at most `chars_max` characters besides their marks.
pub(super) fn row(candidate: &Candidate, chars_max: usize) -> Vec<String> {
    match candidate.slot.info().form {
        Form::Bullets => {
            let mut mark = "- ";
            let mut lines = Vec::new();
            let (chars_max, line_max) = match candidate.slot.is_declared() {
                true => (limits::INJECT_CHARS_MAX, limits::INJECT_CHARS_MAX),
                false => (chars_max, limits::INJECT_CELL_CHARS_MAX),
            };
            for line in texts(candidate, chars_max, line_max) {
                let line = if lines.is_empty() { line } else { no_heading(line) };
                lines.push(format!("{mark}{line}"));
                mark = "  ";
            }
            lines
        }
        // The plugin that offers the row counts the items that do not fit.
        Form::Verbatim => {
            let most = limits::INJECT_CHARS_MAX;
            texts(candidate, most, most).into_iter().map(no_heading).collect()
        }
        Form::Table(_) => vec![format!("| {} |", cells(candidate, chars_max).join(" | "))],
    }
}

/// Whether the rendered lines lack the end of the candidate's text.
pub(super) fn is_cut(candidate: &Candidate, lines: &[String]) -> bool {
    if candidate.cut != RowCut::AtEnd {
        let whole = text::quoted(&candidate.cells.join(" "), usize::MAX);
        return lines.first().is_none_or(|line| !line.ends_with(&whole));
    }
    let whole = candidate.more.last().or(candidate.cells.last());
    let ends = |text: Option<&String>| {
        text.is_some_and(|text| text.trim_end_matches([' ', '|']).ends_with('…'))
    };
    lines.len() <= candidate.more.len() || (ends(lines.last()) && !ends(whole))
}

/// The first line and the further ones, each cut after `line_max` characters, and all after `chars_max` in total.
fn texts(candidate: &Candidate, chars_max: usize, line_max: usize) -> Vec<String> {
    let (first, line_max) = match &candidate.cut {
        RowCut::AtEnd => (candidate.cells.join(" "), line_max),
        RowCut::EachCell(yields) => (shortened_cells(candidate, yields, chars_max), chars_max),
    };
    let mut left = chars_max;
    let mut lines: Vec<String> = Vec::new();
    for line in std::iter::once(&first).chain(&candidate.more) {
        let line = text::quoted(line, line_max);
        let chars = line.chars().count();
        if chars <= left {
            // The line break counts too.
            left = left.saturating_sub(chars + 1);
            lines.push(line);
            continue;
        }
        match lines.last_mut() {
            Some(last) if left == 0 => {
                last.pop();
                last.push('…');
            }
            _ => lines.push(text::line_of_words(&line, left)),
        }
        break;
    }
    lines
}

/// The cells as one line of at most `chars_max` characters. Each long cell is cut on its own, all at the same length,
/// so that the end of the line is not lost.
fn shortened_cells(candidate: &Candidate, yields: &[usize], chars_max: usize) -> String {
    let mut cells: Vec<(usize, String)> = (candidate.cells.iter().enumerate())
        .map(|(place, cell)| (place, text::quoted(cell, usize::MAX)))
        .filter(|(_, cell)| !cell.is_empty())
        .collect();
    let mut yielding = yields.iter();
    let length = loop {
        let chars: Vec<usize> = cells.iter().map(|(_, cell)| cell.chars().count()).collect();
        let room = chars_max.saturating_sub(cells.len().saturating_sub(1));
        let length = common_length(&chars, room);
        if length >= limits::INJECT_PART_CHARS_MIN {
            break length;
        }
        let Some(next) = yielding.next() else { break length };
        cells.retain(|(place, _)| place != next);
    };
    let cut = |(_, cell): &(usize, String)| text::line_of_words(cell, length.max(1));
    cells.iter().map(cut).collect::<Vec<_>>().join(" ")
}

/// The greatest length to which texts of these lengths are cut so that together they have at most `room` characters.
fn common_length(chars: &[usize], room: usize) -> usize {
    let mut sorted = chars.to_vec();
    sorted.sort_unstable();
    let mut left = room;
    for (shorter, length) in sorted.iter().enumerate() {
        let share = left / (sorted.len() - shorter);
        if *length > share {
            return share;
        }
        left -= length;
    }
    usize::MAX
}

/// The cells of a row of a table. The last one has the text, and is cut if the row is too long.
fn cells(candidate: &Candidate, chars_max: usize) -> Vec<String> {
    let Some((last, labels)) = candidate.cells.split_last() else { return Vec::new() };
    let most = limits::INJECT_CELL_CHARS_MAX.min(chars_max);
    let mut cells: Vec<String> = labels.iter().map(|cell| text::quoted(cell, most)).collect();
    let chars: usize = cells.iter().map(|cell| cell.chars().count()).sum();
    let last: Vec<&str> =
        std::iter::once(last).chain(&candidate.more).map(String::as_str).collect();
    let last = text::quoted(&last.join(" "), limits::INJECT_CELL_CHARS_MAX);
    cells.push(text::line_of_words(&last, chars_max.saturating_sub(chars).max(1)));
    cells.iter().map(|cell| cell.replace('\\', "\\\\").replace('|', "\\|")).collect()
}

/// A line that cannot be taken for the title of a text or a section.
fn no_heading(line: String) -> String {
    match line.strip_prefix('#') {
        Some(rest) => format!("＃{rest}"),
        None => line,
    }
}

/// The lines above the rows of a section.
fn head(slot: Slot, title: &str) -> Vec<String> {
    let title = text::quoted(title, limits::INJECT_CELL_CHARS_MAX);
    let mut lines = vec![format!("## {title}")];
    if let Form::Table(headings) = slot.info().form {
        lines.push(format!("| {} |", headings.join(" | ")));
        lines.push(format!("|{}", "---|".repeat(headings.len())));
    }
    lines
}

/// The lines of the whole text. Verbatim rows are first, without a heading; the title follows if any section does.
pub(super) fn lines<'s>(
    title: &'s str,
    sections: &'s Sections,
) -> impl Iterator<Item = String> + 's {
    let of = move |verbatim: bool| {
        sections.iter().filter(move |((slot, ..), section)| {
            (slot.info().form == Form::Verbatim) == verbatim && !section.is_empty(*slot)
        })
    };
    let shown =
        |section: &'s Section| section.rows.iter().flat_map(|row| row.lines.iter().cloned());
    let has_title = !title.is_empty() && of(false).next().is_some();
    let top = has_title.then(|| format!("# {title}{BRIEFING_NATURE}"));
    let body = of(false).flat_map(move |((slot, _, title), section)| {
        head(*slot, title).into_iter().chain(shown(section)).chain(left_out(*slot, section))
    });
    of(true).flat_map(move |(_, section)| shown(section)).chain(top).chain(body)
}

/// The line below a section that says how many rows were left out.
fn left_out(slot: Slot, section: &Section) -> Option<String> {
    let (count, row) = (section.left_out, slot.counted_as()?);
    (count > 0)
        .then(|| format!("- ({} left out; `session_trace` lists all)", text::counted(count, row)))
}

/// The number of lines and characters of a text that has only the rows that a session declared.
pub(super) fn declared_size(title: &str, sections: &Sections) -> (usize, usize) {
    let mut all: Vec<String> = Vec::new();
    let declared = sections.iter().filter(|((slot, ..), _)| slot.is_declared());
    for ((slot, _, of_section), section) in declared {
        if slot.info().form != Form::Verbatim && !section.rows.is_empty() {
            all.push(format!("# {title}{BRIEFING_NATURE}"));
            all.extend(head(*slot, of_section));
        }
        all.extend(section.rows.iter().flat_map(|row| row.lines.iter().cloned()));
    }
    (all.len(), all.iter().map(|line| line.chars().count() + 1).sum())
}

/// The whole text; empty without sections.
pub(super) fn text(title: &str, sections: &Sections) -> String {
    if sections.is_empty() {
        return String::new();
    }
    let mut text: String = lines(title, sections).collect::<Vec<_>>().join("\n");
    text.push('\n');
    text
}
