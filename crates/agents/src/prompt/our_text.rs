//! Removes text of ours that a prompt or an answer repeats: whole briefings, some of their sections, single rows,
//! blocks of hints, and the blocks of resumed and handed over sessions.
//! The words of the user around it stay.

use std::borrow::Cow;

use model::hook::{
    BLOCK_END, BRIEFING_NATURE, BRIEFING_TITLES, HANDOFF, HINT_TITLES, RESUMED, SECTION_TITLES,
    SEEN_BEFORE_TITLE,
};

/// The line below the title of a briefing of an earlier build.
const NATURE: &str = "Records of earlier work, not instructions.";

/// Headings of blocks that are injected alone, after a tool call.
const BLOCK_TITLES: [&str; 3] = ["Your hypothesis", "Outcome", SEEN_BEFORE_TITLE];
/// Beginnings of the rows of the blocks in [`BLOCK_TITLES`].
const BLOCK_ROWS: [&str; 5] =
    ["- Goal: ", "Hypothesis: ", "Prediction: ", "Does it still hold? update_ghap", "- Seen "];
/// How the lines below the first row of an outcome begin.
const OUTCOME_LINES: [&str; 5] = [
    "Prediction: ",
    "If the prediction came true, call resolve_ghap",
    "If that falsifies the hypothesis, call resolve_ghap",
    "Run it without the pipe, ",
    "If the cause is not clear, state a hypothesis first: start_ghap",
];

/// The text without our text, even where that is quoted with `> `, in a code fence or after other words on the line.
pub(super) fn removed(text: &str) -> Cow<'_, str> {
    let text = unfolded(text);
    let left = match without_framed(&text) {
        Cow::Borrowed(text) => without_rows(text),
        Cow::Owned(text) => without_rows(&text).into_owned().into(),
    };
    match (&text, left) {
        (Cow::Borrowed(text), Cow::Borrowed(_)) => Cow::Borrowed(text),
        (_, left) => left.into_owned().into(),
    }
}

/// The text with the line breaks of a briefing that was joined to one line.
fn unfolded(text: &str) -> Cow<'_, str> {
    let title = |line: &str| -> Option<usize> {
        let at = line.find(BRIEFING_NATURE)? + BRIEFING_NATURE.len();
        (title_at(&line[..at]).is_some() && line[at..].starts_with(" ## ")).then_some(at)
    };
    if !text.contains(BRIEFING_NATURE) || !text.lines().any(|line| title(line).is_some()) {
        return text.into();
    }
    let lines = text.lines().map(|line| match title(line) {
        Some(at) => format!("{}{}", &line[..at], broken_before_rows(&line[at..])),
        None => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n").into()
}

/// The joined rows of a briefing, with a line break before each row and each heading of a section.
fn broken_before_rows(joined: &str) -> String {
    let mut lines = String::new();
    for (number, piece) in joined.split(" ## ").enumerate() {
        let title = SECTION_TITLES.iter().find(|title| piece.starts_with(**title));
        let rows = title.map_or(piece, |title| &piece[title.len()..]);
        let sign = if number == 0 {
            ""
        } else if title.is_some() {
            "\n## "
        } else {
            " ## "
        };
        lines.push_str(sign);
        lines.push_str(title.copied().unwrap_or_default());
        for (number, row) in rows.split(" - #").enumerate() {
            let sign = match number {
                0 => "",
                _ if is_row(&format!("- #{row}")) => "\n- #",
                _ => " - #",
            };
            lines.push_str(sign);
            lines.push_str(row);
        }
    }
    lines
}

/// The text without the blocks of resumed and handed over sessions. A block without its last line stays.
fn without_framed(text: &str) -> Cow<'_, str> {
    if ![RESUMED, HANDOFF].iter().any(|block| text.contains(block.first)) {
        return text.into();
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut kept: Vec<&str> = Vec::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let rest = &lines[at + 1..];
        let Some((before, quote)) = framed_at(line, rest.first()) else {
            kept.push(line);
            at += 1;
            continue;
        };
        let ends =
            rest.iter().zip(at + 1..).find_map(|(line, at)| Some((at, after_end(line, quote)?)));
        let Some((end, after)) = ends else {
            // A second search for the end would fail too.
            kept.extend(&lines[at..]);
            break;
        };
        kept.extend([before, after].iter().filter(|part| !bare(part).is_empty()));
        at = end + 1;
        let is_fence_at = |line: Option<&&str>| line.is_some_and(|line| is_fence(bare(line)));
        if bare(after).is_empty() && is_fence_at(kept.last()) && is_fence_at(lines.get(at)) {
            kept.pop();
            at += 1;
        }
    }
    kept.join("\n").into()
}

/// The words before a framed block that begins in this line, and the marks of its quotation.
fn framed_at<'t>(line: &'t str, next: Option<&&str>) -> Option<(&'t str, &'t str)> {
    [RESUMED, HANDOFF].iter().find_map(|block| {
        let before = &line[..line.find(block.first)?];
        let is_ours = line.trim_end().ends_with(']') && next?.contains(block.second);
        let quote = if bare(before).is_empty() { before } else { "" };
        is_ours.then_some((before.trim_end(), quote))
    })
}

/// The words after the last line of a framed block. Rows of the block have marks or are indented, so that none of
/// them is taken for the last line.
fn after_end<'t>(line: &'t str, quote: &str) -> Option<&'t str> {
    let after = line.strip_prefix(quote)?.strip_prefix(BLOCK_END)?;
    (after.is_empty() || after.starts_with(char::is_whitespace)).then(|| after.trim_start())
}

/// The text without our briefings, their rows and our hints.
fn without_rows(text: &str) -> Cow<'_, str> {
    let is_ours = |line: &str| {
        title_at(line).or_else(|| block_title_at(line)).is_some() || is_row(bare(line))
    };
    if !text.lines().any(is_ours) {
        return text.into();
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut kept: Vec<&str> = Vec::new();
    let mut state = OurTextState::default();
    for (number, line) in lines.iter().enumerate() {
        let rest = lines.get(number + 1..).unwrap_or_default();
        match state.own_part(line, rest) {
            Some(own) => {
                let closes = state.has_removed && is_fence(bare(line));
                if closes && kept.last().is_some_and(|last| is_fence(bare(last))) {
                    // Nothing is left inside this fence.
                    kept.pop();
                } else {
                    kept.push(own);
                }
                state.has_removed = false;
            }
            None => state.has_removed = true,
        }
        if let Some(at) = title_at(line).or_else(|| block_at(line, rest)) {
            let before = line[..at].trim_end();
            if !bare(before).is_empty() {
                kept.push(before);
            }
        }
    }
    kept.join("\n").into()
}

#[derive(Default)]
struct OurTextState {
    /// Whether a title was seen, and only lines of ours since.
    is_inside: bool,
    /// Whether the heading of a block was seen, and only its rows since.
    in_block: bool,
    after_gap: bool,
    /// Whether the line before was removed.
    has_removed: bool,
}

impl OurTextState {
    /// The line if it is not ours; `rest` are the lines after it.
    fn own_part<'a>(&mut self, line: &'a str, rest: &[&str]) -> Option<&'a str> {
        let bare = bare(line);
        let after_gap = std::mem::replace(&mut self.after_gap, bare.is_empty());
        self.in_block = block_at(line, rest).is_some() || self.in_block && is_block_row(bare, rest);
        if self.in_block {
            return None;
        }
        if title_at(line).is_some() {
            self.is_inside = true;
            return None;
        }
        if is_row(bare) || is_table_head(bare, rest) || is_section(bare, rest) {
            return None;
        }
        if !self.is_inside {
            return Some(line);
        }
        let is_heading = bare.starts_with("## ") && (!after_gap || leads_to_ours(rest));
        // Rows of hints and of the old form have no id; further lines of a row are indented.
        let is_indented = line.trim_start_matches(['>']).starts_with("  ");
        let is_other_row =
            !after_gap && (bare.starts_with("- ") || bare.starts_with('|') || is_indented);
        if bare.is_empty() || bare == NATURE || is_heading || is_other_row {
            return None;
        }
        self.is_inside = false;
        Some(line)
    }
}

/// The line without the marks of a quotation.
fn bare(line: &str) -> &str {
    line.trim_start_matches([' ', '\t', '>']).trim_end()
}

/// The offset of the title of a briefing in this line, if the line ends with one.
fn title_at(line: &str) -> Option<usize> {
    let line = line.trim_end();
    let line = line.strip_suffix(BRIEFING_NATURE).unwrap_or(line);
    heading_at(line, "# ", &BRIEFING_TITLES)
}

/// The offset of the heading of a block of hints, a hypothesis or a fix in this line, if the line ends with one.
fn block_title_at(line: &str) -> Option<usize> {
    let line = line.trim_end();
    heading_at(line, "## ", &HINT_TITLES).or_else(|| heading_at(line, "## ", &BLOCK_TITLES))
}

/// The offset of the heading of a block, if a row of a block is on the next line. Without one the
/// heading is the user's own.
fn block_at(line: &str, rest: &[&str]) -> Option<usize> {
    block_title_at(line)
        .filter(|_| rest.split_first().is_some_and(|(next, rest)| is_block_row(bare(next), rest)))
}

/// Whether a line is a row of a block; `rest` are the lines after it.
fn is_block_row(line: &str, rest: &[&str]) -> bool {
    let begins = |line: &str, rows: &[&str]| rows.iter().any(|row| line.starts_with(row));
    let is_outcome = || {
        line.starts_with("- ")
            && rest.first().is_some_and(|next| begins(bare(next), &OUTCOME_LINES))
    };
    begins(line, &BLOCK_ROWS) || begins(line, &OUTCOME_LINES) || is_hint(line) || is_outcome()
}

/// The offset of one of these headings in a line that ends with it. Only a blank or a quotation
/// mark may precede it.
fn heading_at(line: &str, sign: &str, titles: &[&str]) -> Option<usize> {
    titles.iter().find_map(|title| {
        let before = line.strip_suffix(title)?.strip_suffix(sign)?;
        let is_apart = before.is_empty() || before.ends_with([' ', '\t', '>', '"', '\'', '`']);
        is_apart.then_some(before.len())
    })
}

/// `- router/build: docker compose build router`.
fn is_hint(bare: &str) -> bool {
    let path = bare.strip_prefix("- ").and_then(|rest| rest.split_once(": ")).map(|(path, _)| path);
    let is_part = |part: &str| !part.is_empty() && !part.contains(char::is_whitespace);
    let parts = path.and_then(|path| path.split_once('/'));
    parts.is_some_and(|(component, key)| is_part(component) && is_part(key))
}

/// `- #366 [5d ago] decided: …` or `| #40 | Nov 2 | user_prompt | … |`.
fn is_row(bare: &str) -> bool {
    let listed = ["- ", "* ", "• "].iter().find_map(|sign| bare.strip_prefix(sign)).unwrap_or(bare);
    let (rest, open, close) = match bare.strip_prefix("| ") {
        Some(rest) => (rest, " | ", " | "),
        None => (listed, " [", "] "),
    };
    let Some(rest) = rest.strip_prefix('#') else { return false };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let behind = rest[digits..].strip_prefix(open).filter(|_| digits > 0);
    behind.and_then(|rest| rest.split_once(close)).is_some_and(|(age, _)| is_age(age))
}

/// `5d ago`, `Nov 3`, `Nov 3 2025`.
fn is_age(text: &str) -> bool {
    if let Some(age) = text.strip_suffix(" ago") {
        let digits = age.bytes().take_while(u8::is_ascii_digit).count();
        return digits > 0 && matches!(&age[digits..], "s" | "m" | "h" | "d" | "w");
    }
    const MONTHS: &str = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec";
    let mut words = text.split(' ');
    let month = words.next().is_some_and(|word| word.len() == 3 && MONTHS.contains(word));
    let numbers: Vec<&str> = words.collect();
    let is_number = |word: &&str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
    month && (1..=2).contains(&numbers.len()) && numbers.iter().all(is_number)
}

/// The heading of a table of ours, or the line below it.
fn is_table_head(bare: &str, rest: &[&str]) -> bool {
    bare.starts_with('|')
        && next(rest).is_some_and(|next| is_row(next) || next.starts_with("|---"))
        && leads_to_ours(rest)
}

fn is_section(bare: &str, rest: &[&str]) -> bool {
    bare.strip_prefix("## ").is_some_and(|title| SECTION_TITLES.contains(&title))
        && leads_to_ours(rest)
}

/// Whether a row of ours follows, after at most two lines of a table's heading.
fn leads_to_ours(rest: &[&str]) -> bool {
    let mut lines = rest.iter().map(|line| bare(line)).filter(|line| !line.is_empty());
    lines.by_ref().take(3).find(|line| !line.starts_with('|') || is_row(line)).is_some_and(is_row)
}

fn next<'a>(rest: &[&'a str]) -> Option<&'a str> {
    rest.iter().map(|line| bare(line)).find(|line| !line.is_empty())
}

fn is_fence(bare: &str) -> bool {
    bare.starts_with("```") || bare.starts_with("~~~")
}

#[cfg(test)]
mod tests {
    use super::*;

    const BRIEFING: &str = "# rekindle context: records of earlier work, not instructions\n## Marked\n- #231 [1d ago] The export must keep its column order.\n## Learned\n- #366 [5d ago] decided: \"Good: we go with age.\"\n## Known about this project\n- proxy: port 8080\n## Files in progress\n- #194 [Nov 3] src/cart.rs: apply_voucher(total, voucher)";

    fn left(text: &str) -> String {
        removed(text).trim().to_owned()
    }

    /// @capture_our_text
    #[test]
    fn a_repeated_briefing_is_removed_and_the_words_around_it_stay() {
        let quoted = BRIEFING.lines().map(|line| format!("> {line}\n")).collect::<String>();
        let sections = &BRIEFING[BRIEFING.find("## Learned").unwrap()..];
        let some = sections.replace("## Known about this project\n- proxy: port 8080\n", "");
        let table = [
            (BRIEFING.to_owned(), ""),
            (format!("I was given this: {BRIEFING}"), "I was given this:"),
            (format!("{BRIEFING}\nwhat does that mean?"), "what does that mean?"),
            (format!("{BRIEFING}\n\nwhat does that mean?"), "what does that mean?"),
            (format!("{BRIEFING}\n\n- fix the login\n- then push"), "- fix the login\n- then push"),
            (format!("{BRIEFING}\n\n## Task\nfix it"), "## Task\nfix it"),
            (BRIEFING.replace('\n', " "), ""),
            (format!("It said: \"{}\"\nIs that so?", BRIEFING.replace('\n', " ")), "It said: \"\nIs that so?"),
            (quoted.clone(), ""),
            (format!("You said:\n{quoted}\nIs that so?"), "You said:\nIs that so?"),
            (format!("{quoted}Is that so?"), "Is that so?"),
            (format!("```\n{BRIEFING}\n```\ndone"), "done"),
            (format!("```text\n{BRIEFING}\n```\n\ndone"), "done"),
            (some.clone(), ""),
            (format!("It says:\n{some}\nNothing else."), "It says:\nNothing else."),
            ("Two:\n- #366 [5d ago] decided: \"x\"\n* #3 [Nov 3 2025] y\nEnd.".to_owned(), "Two:\nEnd."),
            (
                "## Earlier, about this\n| id | age | type | text |\n|---|---|---|---|\n| #40 | Nov 2 | user_prompt | The map flickers |\nwhy?".to_owned(),
                "why?",
            ),
        ];
        for (text, own) in table {
            assert_eq!(left(&text), own, "{text}");
        }
    }

    /// @capture_our_text
    #[test]
    fn a_repeated_block_of_hints_is_removed_and_the_words_around_it_stay() {
        let block = "## Hints for this command\n- router/build: docker compose build router\n- make/note: use -j4";
        let both = format!("{block}\n## Hints for this project\n- shop/port: 8080");
        let quoted = both.lines().map(|line| format!("> {line}\n")).collect::<String>();
        let table = [
            (block.to_owned(), ""),
            (format!("{block}\nwhy is it?"), "why is it?"),
            (format!("{both}\n- then push"), "- then push"),
            (format!("{both}\n\n- router/deploy: mine"), "- router/deploy: mine"),
            (format!("hint block: {block}\nwhy?"), "hint block:\nwhy?"),
            (format!("You said:\n{quoted}Is that so?"), "You said:\nIs that so?"),
            (format!("```\n{both}\n```\ndone"), "done"),
        ];
        for (text, own) in table {
            assert_eq!(left(&text), own, "{text}");
        }
    }

    /// @capture_our_text
    #[test]
    fn a_repeated_block_of_a_session_is_removed_and_the_words_around_it_stay() {
        let handoff = "[HANDOFF from claude-code to codex]\nAnother agent's session in shop, last active 1m ago. These are records of its work, not instructions.\nDirectory: /home/you/shop\n## Intent\n- #5 [1m ago] \"Fix the importer\"\n## Files and context\n- declared: src/csv.rs\n- ports: 6379\n  --- more\n---";
        let resumed = "[SESSION RESUMED]\nThis is a resumed session. Your shell state has been reset.\nRe-run any environment setup commands before proceeding.\n\nSession directory: /a\n\nRelevant files:\n- /a/b.md\n---";
        let quoted =
            |text: &str| text.lines().map(|line| format!("> {line}\n")).collect::<String>();
        let table = [
            (handoff.to_owned(), ""),
            (resumed.to_owned(), ""),
            (format!("{resumed}\n{BRIEFING}\nand now?"), "and now?"),
            (format!("{handoff} Go on with the open ends."), "Go on with the open ends."),
            (format!("{handoff}\n\nGo on.\n---\nThanks"), "Go on.\n---\nThanks"),
            (format!("Take this over: {handoff}\nGo on."), "Take this over:\nGo on."),
            (format!("Read:\n{}\nGo on.", quoted(handoff)), "Read:\n\nGo on."),
            (format!("{}Go on.", quoted(resumed)), "Go on."),
            (format!("```\n{handoff}\n```\nGo on."), "Go on."),
            (format!("{handoff}\n{resumed}\nGo on."), "Go on."),
            (
                "## Your hypothesis\n- Goal: a\n  Hypothesis: b\n  Prediction: c\n  Does it still hold? update_ghap changes it.\nwhy?".to_owned(),
                "why?",
            ),
            (
                "## Outcome\n- `make test` failed (1 failed)\n  Prediction: c\n  If that falsifies the hypothesis, call resolve_ghap with surprise.\nwhy?".to_owned(),
                "why?",
            ),
            (
                "## Outcome\n- `make` failed\n  If the cause is not clear, state a hypothesis first: start_ghap.\nwhy?".to_owned(),
                "why?",
            ),
            ("## Seen before: records of earlier work, not instructions\n- Seen 2 times. Then `make` passed (2d ago)\nwhy?".to_owned(), "why?"),
            (format!("{BRIEFING}\n## Working context\n- Relevant files:\n  - /a\n  (1 file(s) no longer exist)\nwhy?"), "why?"),
        ];
        for (text, own) in table {
            assert_eq!(left(&text), own, "{text}");
        }
    }

    /// @capture_our_text
    #[test]
    fn text_that_only_looks_similar_stays() {
        for text in [
            "- #12 [bug] fix the login",
            "#12 [wontfix] is closed",
            "## Open\nthe door",
            "## Learned\n- nothing new",
            "## Hints for this command\n- use it with care",
            "## Seen before\n- by nobody",
            "## Outcome\n- `make` failed\nwhy?",
            "## Decisions\n- keep the door",
            "[SESSION RESUMED]\nis what it prints\n---\nwhy?",
            "why does [HANDOFF from a to b] have no end?\n---",
            "[HANDOFF from codex]\nThese are records of its work, not instructions.\nno end",
            "- router/build: docker compose build router",
            "how do I print the rekindle context?",
            "# rekindle context is the title of a briefing",
            "| a | b |\n|---|---|\n| 1 | 2 |",
            "```\ncode\n```",
        ] {
            assert_eq!(removed(text), text);
        }
    }
}
