//! Counts sentences that are hard to read (see `docs/style.md`) in comments, docs, test names and strings. Each area
//! has a ceiling in `xtask/prose.toml`, which may only fall.

use anyhow::{Context, Result};
use toml_edit::DocumentMut;

use super::is_our_rust;
use crate::project::{Project, TextFile};
use crate::report::Problem;
use crate::rust_source::lines;
use crate::rust_tokens::strings;

/// The ceilings, one number for each area.
const CEILINGS: &str = "xtask/prose.toml";
/// A ceiling this far above the count is to be lowered.
const MARGIN: usize = 10;
/// Words from which on a sentence, a name or a string is checked.
const WORDS_MIN: usize = 3;
/// Hits that a failure lists.
const LISTED: usize = 20;

/// The tools as agents read them. They are generated from comments and strings, but have a ceiling of their own.
const TOOLS: &str = "docs/reference/mcp-tools.json";

/// Files that quote hard sentences, are generated from checked text, or are data.
const EXCEPTIONS: [&str; 8] = [
    "docs/style.md",
    "docs/reference/",
    "/testdata/",
    "LICENSE",
    "quality/",
    "xtask/src/tidy/prose.rs",
    "node_modules/",
    "target/",
];
/// Crates whose strings are not for users: tools, and word lists.
const NOT_FOR_USERS: [&str; 5] =
    ["crates/bench/", "crates/fuzz/", "crates/testkit/", "crates/text/", "xtask/"];

/// A clause that takes the place of a noun starts with one of these.
const CLAUSES: [&str; 5] = ["what", "who", "whoever", "whatever", "whichever"];
/// Persons, where a caller, client, thread or process is meant.
const PERSONS: [&str; 14] = [
    "whoever",
    "somebody",
    "someone",
    "nobody",
    "anybody",
    "of whom",
    "for who",
    "who asks",
    "who calls",
    "who comes",
    "who looks",
    "who stands",
    "who takes",
    "who waits",
];
/// Verbs for which the field has a term: is, reports, computed, ingested, rebuilt, admitted, searched, started.
const VERBS: [&str; 24] = [
    "stand in",
    "stands in",
    "stands for",
    "stand for",
    "stands there",
    "stands at",
    "stands beside",
    "stands behind",
    "stands before",
    "stands alone",
    "made anew",
    "drawn anew",
    "started anew",
    "worked out",
    "taken in",
    "takes in",
    "is told",
    "are told",
    "was told",
    "were told",
    "let in",
    "gives way",
    "looked for",
    "begun",
];

/// The kinds of text, each with a ceiling of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Area {
    Comments,
    Docs,
    Strings,
    Tests,
    /// Descriptions of MCP tools and their parameters.
    Tools,
}

impl Area {
    const ALL: [Area; 5] = [Area::Comments, Area::Docs, Area::Strings, Area::Tests, Area::Tools];

    fn name(self) -> &'static str {
        match self {
            Area::Comments => "comments",
            Area::Docs => "docs",
            Area::Strings => "strings",
            Area::Tests => "tests",
            Area::Tools => "tools",
        }
    }
}

/// A hard sentence.
struct Hard {
    area: Area,
    path: String,
    line: usize,
    rule: &'static str,
    sentence: String,
}

/// Compares the counts with the ceilings. Returns notes about ceilings that can be lowered.
pub(super) fn check(files: &[TextFile], problems: &mut Vec<Problem>) -> Vec<String> {
    let ceilings = files.iter().find(|file| file.path == CEILINGS);
    let ceilings = ceilings.and_then(|file| file.text.parse::<DocumentMut>().ok());
    let Some(ceilings) = ceilings else {
        problems.push(Problem::new(CEILINGS, 1, "missing, or not TOML; restore it"));
        return Vec::new();
    };
    let hard = find(files);
    let mut notes = Vec::new();
    for area in Area::ALL {
        let name = area.name();
        let hits: Vec<&Hard> = hard.iter().filter(|hard| hard.area == area).collect();
        let ceiling = ceilings.get(name).and_then(toml_edit::Item::as_integer);
        let Some(ceiling) = ceiling.and_then(|number| usize::try_from(number).ok()) else {
            problems.push(Problem::new(CEILINGS, 1, format!("no number `{name}`; add it")));
            continue;
        };
        let count = hits.len();
        if count > ceiling {
            let what = format!(
                "{count} hard sentences in {name}, at most {ceiling}; rewrite the new ones \
                 (`cargo xtask prose` lists all)"
            );
            problems.push(Problem::new(CEILINGS, 1, what));
            problems.extend(hits.iter().take(LISTED).map(|hard| hard.problem()));
        } else if count + MARGIN < ceiling {
            notes.push(format!("{CEILINGS}: lower `{name}` from {ceiling} to {count}"));
        }
    }
    notes
}

/// Prints every hard sentence of the files whose path starts with `prefix`, and the counts.
pub(crate) fn list(project: &Project, prefix: &str) -> Result<()> {
    let mut files = project.text_files().context("cannot read the project")?;
    files.retain(|file| file.path.starts_with(prefix));
    let hard = find(&files);
    for hard in &hard {
        let Problem { path, line, what } = hard.problem();
        println!("{path}:{line}: {what}");
    }
    for area in Area::ALL {
        let count = hard.iter().filter(|hard| hard.area == area).count();
        println!("{}: {count}", area.name());
    }
    Ok(())
}

fn find(files: &[TextFile]) -> Vec<Hard> {
    let checked = |file: &&TextFile| !EXCEPTIONS.iter().any(|part| file.path.contains(part));
    let mut found = Vec::new();
    files.iter().filter(|file| file.path == TOOLS).for_each(|file| descriptions(file, &mut found));
    for file in files.iter().filter(checked) {
        if is_our_rust(&file.path) {
            comments(file, &mut found);
            names(file, &mut found);
            if !NOT_FOR_USERS.iter().any(|part| file.path.starts_with(part)) {
                literals(file, &mut found);
            }
        } else if file.path.ends_with(".md") {
            paragraphs(file, &mut found);
        }
    }
    found
}

/// Checks the comments: consecutive comment lines are one text.
fn comments(file: &TextFile, found: &mut Vec<Hard>) {
    let mut block = TextBlock::new(Area::Comments, &file.path);
    for line in lines(&file.path, &file.text) {
        let text = line.text.trim_start();
        match text.strip_prefix("//") {
            Some(text) => block.push(line.number, text.trim_start_matches(['/', '!'])),
            None => block.end(found),
        }
    }
    block.end(found);
}

/// Checks the names of functions in test code, with spaces for underscores.
fn names(file: &TextFile, found: &mut Vec<Hard>) {
    for line in lines(&file.path, &file.text).iter().filter(|line| line.test && !line.comment) {
        let text = line.text.trim_start();
        let text = text.strip_prefix("async ").unwrap_or(text);
        let Some(name) = text.strip_prefix("fn ").and_then(|text| text.split('(').next()) else {
            continue;
        };
        let mut block = TextBlock::new(Area::Tests, &file.path);
        block.push(line.number, &name.replace('_', " "));
        block.end(found);
    }
}

/// Checks the string literals outside of test code.
fn literals(file: &TextFile, found: &mut Vec<Hard>) {
    for token in strings(&file.path, &file.text) {
        let mut block = TextBlock::new(Area::Strings, &file.path);
        let inside = token.text.trim_start_matches(['b', 'r', '#', '"']);
        let inside = inside.trim_end_matches(['#', '"']).replace("\\n", ". ");
        for (index, line) in inside.split('\n').enumerate() {
            block.push(token.line + index, line.trim_end_matches('\\'));
        }
        block.end(found);
    }
}

/// Checks the descriptions in the list of MCP tools, which has one member per line.
fn descriptions(file: &TextFile, found: &mut Vec<Hard>) {
    for (index, line) in file.text.lines().enumerate() {
        let Some(text) = line.trim_start().strip_prefix("\"description\": ") else { continue };
        let mut block = TextBlock::new(Area::Tools, &file.path);
        block.push(index + 1, text.trim_end_matches(',').trim_matches('"'));
        block.end(found);
    }
}

/// Checks the paragraphs of a page: not headings and not code.
fn paragraphs(file: &TextFile, found: &mut Vec<Hard>) {
    let mut block = TextBlock::new(Area::Docs, &file.path);
    let mut fenced = false;
    for (index, line) in file.text.lines().enumerate() {
        let text = line.trim_start();
        if text.starts_with("```") {
            fenced = !fenced;
        }
        let is_item = text.starts_with(['*', '-', '>', '|', '#'])
            || text.starts_with(|c: char| c.is_ascii_digit());
        if fenced || text.is_empty() || is_item || text.starts_with("```") {
            block.end(found);
        }
        if !fenced && !text.is_empty() && !text.starts_with("```") && !text.starts_with('#') {
            // A cell of a table is a sentence.
            let text = text.trim_start_matches(|c: char| !c.is_alphabetic() && c != '`');
            block.push(index + 1, &text.replace(" | ", ". "));
        }
    }
    block.end(found);
}

/// Lines of one text, which may break within a sentence.
struct TextBlock<'p> {
    area: Area,
    path: &'p str,
    text: String,
    /// Where each line starts in the text, and its number.
    starts: Vec<(usize, usize)>,
}

impl TextBlock<'_> {
    fn new(area: Area, path: &str) -> TextBlock<'_> {
        TextBlock { area, path, text: String::new(), starts: Vec::new() }
    }

    fn push(&mut self, number: usize, line: &str) {
        self.starts.push((self.text.len(), number));
        self.text.push_str(line.trim());
        self.text.push(' ');
    }

    /// Checks the sentences of the text, and starts a new text.
    fn end(&mut self, found: &mut Vec<Hard>) {
        let mut at = 0;
        for sentence in self.text.split_inclusive(". ").flat_map(|text| text.split_inclusive("; "))
        {
            for part in sentence.split_inclusive(": ") {
                let starts = self.starts.iter().rev().find(|(start, _)| *start <= at);
                at += part.len();
                if let (Some(rule), Some((_, line))) = (broken_rule(part), starts) {
                    found.push(Hard {
                        area: self.area,
                        path: self.path.to_owned(),
                        line: *line,
                        rule,
                        sentence: part.trim().to_owned(),
                    });
                }
            }
        }
        self.text.clear();
        self.starts.clear();
    }
}

/// The rule that a sentence breaks, if any.
fn broken_rule(sentence: &str) -> Option<&'static str> {
    // Code in backticks and a placeholder in braces count as one word.
    let plain = sentence.split('`').step_by(2).collect::<Vec<_>>().join("x").to_lowercase();
    let plain = plain.split('{').map(|part| part.split('}').next_back().unwrap_or_default());
    let plain = plain.collect::<Vec<_>>().join("x");
    let words: Vec<&str> = plain
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|w| !w.is_empty())
        .collect();
    if words.len() < WORDS_MIN {
        return None;
    }
    let text = format!(" {} ", words.join(" "));
    let has = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(&format!(" {phrase} ")));
    // The cell of a table ends with a full stop here.
    let is_question = plain.trim_end_matches(['.', ' ']).ends_with('?');
    if CLAUSES.contains(&words[0]) && !is_question {
        return Some("a clause instead of a noun");
    }
    if text.starts_with(" the same ") {
        return Some("`The same …` does not say what it is");
    }
    if has(&PERSONS) {
        return Some("a person for a program");
    }
    has(&VERBS).then_some("a verb for which there is a term")
}

impl Hard {
    fn problem(&self) -> Problem {
        Problem::new(&self.path, self.line, format!("{}: {}", self.rule, self.sentence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> TextFile {
        TextFile { path: path.into(), text: text.into() }
    }

    fn hard_lines(path: &str, text: &str) -> Vec<(&'static str, usize)> {
        find(&[file(path, text)]).iter().map(|hard| (hard.area.name(), hard.line)).collect()
    }

    #[test]
    fn each_rule_reports_its_sentences() {
        for hard in [
            "What the store holds.",
            "Counts rows: whatever is there.",
            "The same for a table.",
            "The thread waits for somebody else.",
            "Its name stands in the file.",
        ] {
            let last = hard.split_inclusive(": ").last().unwrap_or(hard);
            assert!(broken_rule(last).is_some(), "{hard}");
        }
        for plain in [
            "What does it cost?. ",
            "The caller holds it.",
            "Prints `somebody` twice.",
            "{who} holds the lock",
        ] {
            assert_eq!(broken_rule(plain), None, "{plain}");
        }
    }

    #[test]
    fn comments_strings_and_test_names_are_checked_and_code_is_not() {
        let text = "/// Counts rows. A row\n/// stands in the table.\nfn whatever_is_there_is_counted() {\n    \
                    say(\"nobody reads this text\", somebody);\n}\n#[cfg(test)]\nmod tests {\n    \
                    fn whatever_is_there_is_counted() {}\n}\n";
        assert_eq!(
            hard_lines("crates/x/src/lib.rs", text),
            [("comments", 1), ("tests", 8), ("strings", 4)]
        );
        assert_eq!(hard_lines("crates/text/src/lib.rs", "a(\"nobody reads this text\");"), []);
    }

    #[test]
    fn pages_are_checked_outside_of_headings_and_code() {
        let text = "# What is not there\n\nText of\ntwo lines; whoever asks\nreads it.\n\n```\nnobody reads \
                    code\n```\n\n| a | what a cell says |\n* Who stands here.\n";
        assert_eq!(hard_lines("docs/a.md", text), [("docs", 4), ("docs", 11), ("docs", 12)]);
        assert_eq!(hard_lines("docs/style.md", text), []);
    }

    #[test]
    fn descriptions_of_tools_are_checked() {
        let text = "[\n  {\n    \"description\": \"Search records. Whatever is there.\",\n    \"enum\": [\"what it is called\"]\n  }\n]\n";
        assert_eq!(hard_lines(TOOLS, text), [("tools", 3)]);
        assert_eq!(hard_lines("docs/reference/other.json", text), []);
    }

    #[test]
    fn a_count_above_its_ceiling_is_a_problem_and_one_far_below_is_noted() {
        let text = "comments = 0\ndocs = 50\nstrings = 0\ntests = 0\ntools = 0\n";
        let files = [file(CEILINGS, text), file("crates/x/src/lib.rs", "// Whatever is there.\n")];
        let mut problems = Vec::new();
        assert_eq!(check(&files, &mut problems), ["xtask/prose.toml: lower `docs` from 50 to 0"]);
        let paths: Vec<&str> = problems.iter().map(|problem| problem.path.as_str()).collect();
        assert_eq!(paths, [CEILINGS, "crates/x/src/lib.rs"]);
    }
}
