//! Tables and paragraphs that fit the width of a terminal.

/// The least room for the last column of a table; columns that can be spared are left out for it.
const LAST_COLUMN_MIN: usize = 30;

/// Spaces between two columns.
const GAP: usize = 2;

/// Indentation of the last cell below the others, where the columns do not fit next to each other.
const INDENT: usize = 2;

/// The widest label whose text is aligned when it is wrapped, with the space behind it.
const LABEL_MAX: usize = 16;

/// Characters after which a word that is wider than a line is broken.
const BREAKS: [char; 8] = ['/', '-', '_', '.', ',', ':', '=', '&'];

/// The columns that a character takes on a terminal.
fn columns_of(c: char) -> usize {
    match u32::from(c) {
        // Combining marks, joiners and variation selectors.
        0x300..=0x36f | 0x200b..=0x200d | 0xfe00..=0xfe0f => 0,
        // East Asian wide characters and emoji.
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1faff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

/// The columns that a line takes on a terminal. Our own styles, such as bold, take none.
pub fn columns(line: &str) -> usize {
    let mut styles = line.split("\u{1b}[");
    let before = styles.next().unwrap_or_default();
    let after = styles.map(|styled| styled.split_once('m').map_or(styled, |(_, text)| text));
    std::iter::once(before).chain(after).flat_map(str::chars).map(columns_of).sum()
}

/// The text in lines of at most `width` columns, broken between words. A word that is wider than a line is
/// broken behind a `/` or another separator, or where the line ends if it has none.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    if columns(text) <= width {
        return vec![text.to_owned()];
    }
    filled(text, width, true)
}

/// Lines filled with words. A word that is wider than a line is broken; without `breaks`, a path or an address is not,
/// so that it can be copied.
fn filled(text: &str, width: usize, breaks: bool) -> Vec<String> {
    let (mut lines, mut line) = (Vec::new(), String::new());
    for word in words(text, width) {
        let room = width.saturating_sub(columns(&line) + usize::from(!line.is_empty()));
        if columns(word) <= room {
            line.extend((!line.is_empty()).then_some(' '));
            line.push_str(word);
            continue;
        }
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        let mut rest = word;
        while columns(rest) > width && (breaks || !is_address(word)) {
            let (part, after) = rest.split_at(break_of(rest, width));
            lines.push(part.to_owned());
            rest = after;
        }
        line.push_str(rest);
    }
    lines.extend((!line.is_empty()).then_some(line));
    lines
}

/// Whether a word is a path or an address, or an assignment of one.
fn is_address(word: &str) -> bool {
    word.contains('/') || word.contains('\\')
}

/// The words of a text. A command in backticks counts as one word if it fits into a line.
fn words(text: &str, width: usize) -> Vec<&str> {
    let (mut words, mut rest) = (Vec::new(), text.trim_start());
    while !rest.is_empty() {
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let quoted = rest.find('`').filter(|open| *open < end).and_then(|open| {
            let close = open + 1 + rest.get(open + 1..)?.find('`')?;
            let end = rest[close..].find(char::is_whitespace).map_or(rest.len(), |end| close + end);
            (columns(&rest[..end]) <= width).then_some(end)
        });
        let (word, after) = rest.split_at(quoted.unwrap_or(end));
        words.push(word);
        rest = after.trim_start();
    }
    words
}

/// The byte at which a word that is wider than `width` is broken.
fn break_of(word: &str, width: usize) -> usize {
    let (mut used, mut end, mut slash, mut separator) = (0, 0, 0, 0);
    for (at, c) in word.char_indices() {
        used += columns_of(c);
        // At least one character, however narrow the line is.
        if used > width && at > 0 {
            break;
        }
        end = at + c.len_utf8();
        if c == '/' {
            slash = end;
        }
        if BREAKS.contains(&c) {
            separator = end;
        }
    }
    // A separator near the beginning would leave the line almost empty.
    [slash, separator].into_iter().find(|at| at * 2 >= end).unwrap_or(end)
}

/// The text with its longer lines wrapped to `width` columns. The rest of a line is indented further than its
/// beginning, so that it cannot be taken for a line of its own. A path or address that is wider than a line stays
/// whole, so that it can be copied.
pub fn fitted(text: &str, width: usize) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        let words = line.trim_start();
        let indent = &line[..line.len() - words.len()];
        let room = width.saturating_sub(columns(indent));
        if columns(words) <= room || room <= 2 * INDENT {
            lines.push(line.to_owned());
            continue;
        }
        let (label, words) = if room >= 2 * LABEL_MAX { label_of(words) } else { ("", words) };
        let more = if label.is_empty() { INDENT } else { columns(label) };
        for (nth, part) in filled(words, room - more, false).into_iter().enumerate() {
            let before = if nth == 0 { label.to_owned() } else { " ".repeat(more) };
            lines.push(format!("{indent}{before}{part}"));
        }
    }
    let end = if text.ends_with('\n') { "\n" } else { "" };
    lines.join("\n") + end
}

/// Splits a line such as `clients:    2 connections` into its label, with the space behind it, and the rest.
fn label_of(line: &str) -> (&str, &str) {
    let gap = line.find("  ").filter(|gap| *gap <= LABEL_MAX);
    let start = gap.and_then(|gap| Some(gap + line[gap..].find(|c: char| c != ' ')?));
    line.split_at(start.filter(|start| *start <= LABEL_MAX).unwrap_or(0))
}

/// Text as a paragraph of this width and indentation.
pub fn paragraph(text: &str, indent: usize, width: usize) -> String {
    let lines = text.lines().flat_map(|line| filled(line, width.saturating_sub(indent), false));
    lines.map(|line| format!("{}{line}", " ".repeat(indent))).collect::<Vec<_>>().join("\n")
}

/// Rows of cells in columns of at most `width` altogether; the first row has the headings. The last column is
/// wrapped between words. If it has too little room, the columns in `spare` are left out one after the other. If that
/// does not suffice, each row has several lines: see [`stacked`].
pub fn table(rows: &[Vec<String>], spare: &[&str], width: usize) -> String {
    table_rows(rows, spare, width).concat().join("\n")
}

/// The lines of each row of [`table`], for a table with further text below its rows. The headings may have no line.
pub fn table_rows(rows: &[Vec<String>], spare: &[&str], width: usize) -> Vec<Vec<String>> {
    let mut shown: Vec<usize> = (0..rows.first().map_or(0, Vec::len)).collect();
    let heading = |column: usize| rows.first().and_then(|row| row.get(column));
    let mut spare = spare.iter();
    loop {
        let widths: Vec<usize> = shown.iter().map(|column| widest(rows, *column)).collect();
        let Some((last, others)) = widths.split_last() else { return Vec::new() };
        let before: usize = others.iter().map(|width| width + GAP).sum();
        let room = width.saturating_sub(before);
        if room >= (*last).min(LAST_COLUMN_MIN) {
            return side_by_side(rows, &shown, others, before, room);
        }
        match spare.next() {
            Some(name) => shown.retain(|column| heading(*column).is_none_or(|is| is != name)),
            None => return stacked(rows, &shown, width),
        }
    }
}

fn widest(rows: &[Vec<String>], column: usize) -> usize {
    rows.iter()
        .filter_map(|row| row.get(column))
        .map(|cell| columns(cell))
        .max()
        .unwrap_or_default()
}

fn cell(row: &[String], column: usize) -> &str {
    row.get(column).map_or("", String::as_str)
}

/// The rows with all their columns next to each other.
fn side_by_side(
    rows: &[Vec<String>],
    shown: &[usize],
    widths: &[usize],
    before: usize,
    room: usize,
) -> Vec<Vec<String>> {
    let lines_of = |row: &Vec<String>| {
        let mut line = String::new();
        for (column, width) in shown.iter().zip(widths) {
            let cell = cell(row, *column);
            line.push_str(cell);
            line.push_str(&" ".repeat(width - columns(cell) + GAP));
        }
        let last = shown.last().map_or("", |last| cell(row, *last));
        let parts = wrapped(last, room).into_iter().enumerate().map(|(nth, part)| {
            let start = if nth == 0 { std::mem::take(&mut line) } else { " ".repeat(before) };
            format!("{start}{part}").trim_end().to_owned()
        });
        parts.collect()
    };
    rows.iter().map(lines_of).collect()
}

/// Rows whose columns do not fit next to each other, without a line of headings. If several cells of a row have no meaning
/// without their heading, it precedes each of them: `2026-01-31  records 18  failed 1`. Else the last cell is
/// below the others, unless it has room beside them in all rows.
fn stacked(rows: &[Vec<String>], shown: &[usize], width: usize) -> Vec<Vec<String>> {
    let Some((headings, rows)) = rows.split_first() else { return Vec::new() };
    let Some((last, others)) = shown.split_last() else { return Vec::new() };
    let bare = shown.iter().filter(|column| rows.iter().any(|row| is_bare(cell(row, **column))));
    let has_labels = bare.count() > 1;
    let head = |row: &[String]| {
        let cells = others.iter().map(|column| cell(row, *column)).filter(|cell| !cell.is_empty());
        cells.collect::<Vec<_>>().join(&" ".repeat(GAP))
    };
    let fits = |row: &Vec<String>| columns(&head(row)) + GAP + columns(cell(row, *last)) <= width;
    let has_room = rows.iter().all(fits);
    let lines_of = |row: &Vec<String>| {
        let (first, below) = match (has_labels, cell(row, *last)) {
            (true, _) => return indented(labelled(headings, row, shown, width)),
            (false, last) if has_room => (format!("{}{}{last}", head(row), " ".repeat(GAP)), ""),
            (false, last) => (head(row), last),
        };
        let narrower = width.saturating_sub(INDENT);
        let first = if columns(&first) <= width { vec![first] } else { wrapped(&first, narrower) };
        let lines = first.into_iter().chain(wrapped(below, narrower));
        indented(lines.filter(|line| !line.is_empty()).collect())
    };
    std::iter::once(Vec::new()).chain(rows.iter().map(lines_of)).collect()
}

/// The lines with all but the first indented.
fn indented(mut lines: Vec<String>) -> Vec<String> {
    lines.iter_mut().skip(1).for_each(|line| line.insert_str(0, &" ".repeat(INDENT)));
    lines
}

/// The cells of a row behind their headings, in lines that are broken between cells. The first cell has a heading only
/// if it is bare, because it names the row.
fn labelled(headings: &[String], row: &[String], shown: &[usize], width: usize) -> Vec<String> {
    let room = width.saturating_sub(INDENT);
    let mut lines: Vec<String> = Vec::new();
    for (nth, column) in shown.iter().enumerate() {
        let text = match cell(row, *column) {
            "" => continue,
            text if nth == 0 && !is_bare(text) => text.to_owned(),
            text => format!("{} {text}", cell(headings, *column).to_lowercase()),
        };
        match lines.last_mut() {
            Some(line) if columns(line) + GAP + columns(&text) <= room => {
                line.push_str(&" ".repeat(GAP));
                line.push_str(&text);
            }
            _ => lines.extend(wrapped(&text, room)),
        }
    }
    lines
}

/// Whether a cell means nothing without its heading: a number, a percentage, `yes`, `no` or `-`.
fn is_bare(cell: &str) -> bool {
    let number = cell.trim_end_matches(" %");
    ["-", "yes", "no"].contains(&cell)
        || !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b',')
}

/// The shortest prefixes of these ids, at least `least` characters long, that tell them apart. Equal ids have equal
/// prefixes.
pub fn short_ids<'i>(ids: &[&'i str], least: usize) -> Vec<&'i str> {
    let mut sorted = ids.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let shared = |one: &str, other: &str| {
        one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count()
    };
    let short = |id: &&'i str| {
        let at = sorted.partition_point(|other| other < id);
        let neighbours = [at.checked_sub(1), Some(at + 1)];
        let neighbours = neighbours.into_iter().flatten().filter_map(|at| sorted.get(at));
        let needed = neighbours.map(|other| shared(id, other) + 1).max().unwrap_or_default();
        let end = id.char_indices().nth(needed.max(least)).map_or(id.len(), |(end, _)| end);
        &id[..end]
    };
    ids.iter().map(short).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: &[&[&str]]) -> Vec<Vec<String>> {
        rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect()
    }

    const RECORDS: &[&[&str]] = &[
        &["id", "date", "type", "text"],
        &["#7", "2026-01-31 14:05", "command", "cargo nextest run --package app --test e2e"],
        &["#1234", "2026-01-30 09:00", "file_edit", "crates/store/src/search/whole_documents.rs"],
    ];

    #[test]
    fn a_paragraph_is_broken_between_words_and_long_words_behind_separators() {
        let table: [(&str, usize, &[&str]); 7] = [
            ("one two three", 20, &["one two three"]),
            ("one two three", 7, &["one two", "three"]),
            ("keep  two spaces", 20, &["keep  two spaces"]),
            ("see /home/me/work/project now", 12, &["see", "/home/me/", "work/project", "now"]),
            ("abcdefghij", 4, &["abcd", "efgh", "ij"]),
            ("漢字漢字", 5, &["漢字", "漢字"]),
            ("", 5, &[""]),
        ];
        for (text, width, lines) in table {
            assert_eq!(wrapped(text, width), lines, "{text:?} {width}");
        }
        assert_eq!(wrapped("ab", 0), ["a", "b"], "a width of zero ends too");
        assert_eq!(wrapped("\u{1b}[1mone\u{1b}[0m two", 7), ["\u{1b}[1mone\u{1b}[0m two"]);
    }

    #[test]
    fn long_lines_of_a_text_are_wrapped_with_an_indentation_of_their_own() {
        let text = "short\n  next: run `rekindle stop` and start the daemon again\n  /a/path/that/is/longer/than/the/line\n";
        assert_eq!(
            fitted(text, 24),
            "short\n  next: run\n    `rekindle stop` and\n    start the daemon\n    again\n  \
             /a/path/that/is/longer/than/the/line\n"
        );
        assert_eq!(fitted(text, usize::MAX), text);
        let labelled = "clients:    2 connections and 3 sessions";
        assert_eq!(fitted(labelled, 32), "clients:    2 connections and 3\n            sessions");
        assert_eq!(paragraph("one two three", 2, 9), "  one two\n  three");
    }

    #[test]
    fn a_wide_table_has_every_column_and_no_wrapped_row() {
        let text = table(&rows(RECORDS), &["date"], usize::MAX);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert_eq!(lines[0], "id     date              type       text");
        assert!(lines[1].ends_with("cargo nextest run --package app --test e2e"), "{text}");
    }

    #[test]
    fn a_narrow_table_spares_columns_and_wraps_the_last_one() {
        assert_eq!(
            table(&rows(RECORDS), &["date"], 50),
            "id     type       text\n\
             #7     command    cargo nextest run --package app\n\
             \x20                 --test e2e\n\
             #1234  file_edit  crates/store/src/search/\n\
             \x20                 whole_documents.rs"
        );
    }

    #[test]
    fn the_last_cell_is_below_the_others_where_the_columns_do_not_fit() {
        assert_eq!(
            table(&rows(RECORDS), &["date"], 40),
            "#7  command\n  cargo nextest run --package app --test\n  e2e\n\
             #1234  file_edit\n  crates/store/src/search/\n  whole_documents.rs"
        );
    }

    const COUNTS: &[&[&str]] = &[
        &["From", "Records", "Failed", "Injected", "Used"],
        &["2026-10-29", "18", "1", "0 tokens", "-"],
        &["2026-10-30", "1204", "0", "1200 tokens", "33 %"],
    ];

    #[test]
    fn numbers_of_a_narrow_table_have_their_headings() {
        assert_eq!(
            table(&rows(COUNTS), &[], 40),
            "2026-10-29  records 18  failed 1\n  injected 0 tokens  used -\n\
             2026-10-30  records 1204  failed 0\n  injected 1200 tokens  used 33 %"
        );
        let unnamed: &[&[&str]] = &[&["prompts", "known", "project"], &["3", "12", "shop"]];
        assert_eq!(table(&rows(unnamed), &[], 19), "prompts 3\n  known 12\n  project shop");
        let switches: &[&[&str]] = &[&["agent", "found", "connected"], &["codex", "yes", "no"]];
        assert_eq!(table(&rows(switches), &[], 20), "codex  found yes\n  connected no");
    }

    #[test]
    fn a_last_cell_with_room_in_every_row_is_beside_the_others() {
        let jobs: &[&[&str]] =
            &[&["id", "age of the job", "job", "state"], &["7", "3h ago", "backup", "done"]];
        assert_eq!(table(&rows(jobs), &[], 26), "7  3h ago  backup  done");
    }

    #[test]
    fn further_text_of_a_row_can_be_below_its_lines() {
        for (width, headings) in [(80, 1), (30, 0)] {
            let lines = table_rows(&rows(COUNTS), &[], width);
            assert_eq!((lines.len(), lines[0].len()), (3, headings), "{lines:?}");
            assert!(lines[2][0].starts_with("2026-10-30"), "{lines:?}");
        }
    }

    #[test]
    fn every_line_of_a_table_fits_its_width() {
        for width in 12..=120 {
            for table in [table(&rows(RECORDS), &["date"], width), table(&rows(COUNTS), &[], width)]
            {
                for line in table.lines() {
                    assert!(columns(line) <= width, "{width}: {line:?}");
                }
            }
        }
    }

    #[test]
    fn ids_are_cut_to_the_prefixes_that_tell_them_apart() {
        let ids = ["0198aaaa-1111", "0198aaaa-1122", "77ab0000-0000", "short", "77ab0000-0000"];
        let short = ["0198aaaa-111", "0198aaaa-112", "77ab0000", "short", "77ab0000"];
        assert_eq!(short_ids(&ids, 8), short);
        assert_eq!(short_ids(&[], 8), [""; 0]);
    }
}
