//! Rules about the text of Rust files: headers, sizes, and words that belong to certain crates.

use super::layers::Layers;
use crate::project::TextFile;
use crate::report::Problem;
use crate::rust_source::{SourceLine, lines};

const LINES_MAX: usize = 800;

/// Crates whose job includes writing to the terminal.
const PRINTING_CRATES: [&str; 6] = ["bench", "cli", "hook", "program", "fuzz", "xtask"];

const SQL_WORDS: [&str; 7] = [
    "SELECT ",
    "INSERT INTO",
    "INSERT OR",
    "CREATE TABLE",
    "DELETE FROM",
    "PRAGMA ",
    "BEGIN IMMEDIATE",
];

// Written in two halves, so that this file does not break its own rule.
const UNFINISHED: [(&str, &str); 4] = [
    (concat!("#[ign", "ore"), "a test that does not run proves nothing; make it pass or delete it"),
    (concat!("tod", "o!("), "finish it"),
    (concat!("unimplem", "ented!("), "finish it"),
    (concat!("FIX", "ME"), "fix it or file an issue"),
];

/// Files of the store that read no rows of our tables, or check for damage themselves.
const RAW_READERS: [&str; 7] = [
    "crates/store/src/backup.rs",
    "crates/store/src/bare.rs",
    "crates/store/src/cells.rs",
    "crates/store/src/connection.rs",
    "crates/store/src/damaged.rs",
    "crates/store/src/health.rs",
    "crates/store/src/recover.rs",
];
const RAW_READS: [&str; 2] = ["row.get(", "row.get::<"];

pub(crate) fn check(file: &TextFile, layers: &Layers, problems: &mut Vec<Problem>) {
    let mut report =
        |line: usize, what: String| problems.push(Problem::new(&file.path, line, what));
    let first = file.text.lines().next().unwrap_or_default();
    if first.strip_prefix("//!").is_none_or(|sentence| sentence.trim().is_empty()) {
        report(1, "no header; open the file with a `//!` sentence saying what it is for".into());
    }
    let count = file.text.lines().count();
    if count > LINES_MAX {
        report(LINES_MAX, format!("{count} lines; split the file, {LINES_MAX} is the most"));
    }
    let owner = crate_of(&file.path);
    let reads_raw = owner != "store" || RAW_READERS.contains(&file.path.as_str());
    for line in lines(&file.path, &file.text) {
        if !reads_raw
            && !line.test
            && !line.comment
            && RAW_READS.iter().any(|w| line.text.contains(w))
        {
            let what = "a raw cell fails on a damaged row; read it with `row.cell(…)` of `cells`";
            report(line.number, what.into());
        }
        for what in line_problems(owner, layers, &line) {
            report(line.number, what);
        }
    }
}

/// The directory name of the crate that a file belongs to.
fn crate_of(path: &str) -> &str {
    let inside = path.strip_prefix("crates/").unwrap_or(path);
    inside.split('/').next().unwrap_or(inside)
}

fn line_problems(owner: &str, layers: &Layers, line: &SourceLine<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for (word, advice) in UNFINISHED {
        if line.text.contains(word) {
            found.push(format!("`{word}`: {advice}"));
        }
    }
    if line.comment {
        return found;
    }
    // xtask has no dependency on it, but tells about it.
    if owner != "xtask" && !layers.may_use(owner, "tokio") && uses_tokio(line.text) {
        found.push(format!("tokio in `{owner}`; async stands only where sockets are"));
    }
    if line.test {
        // xtask's own tests quote the checked text, and nothing in them waits for a process of ours.
        if owner != "xtask" && line.text.contains("sleep(") {
            found.push("a test sleeps; wait for a line, a file or a reply with a deadline".into());
        }
        return found;
    }
    if !PRINTING_CRATES.contains(&owner) && prints(line.text) {
        found.push(format!("`{owner}` prints; return the text to the surface that called"));
    }
    if !["store", "import", "xtask"].contains(&owner)
        && let Some(word) = sql_word(line.text)
    {
        let word = word.trim();
        found.push(format!("SQL (`{word}`) outside of `store`; put it beside its aggregate"));
    }
    found
}

fn sql_word(text: &str) -> Option<&'static str> {
    let update = text.contains("UPDATE ") && text.contains(" SET ");
    SQL_WORDS.into_iter().find(|word| text.contains(word)).or(update.then_some("UPDATE"))
}

fn prints(text: &str) -> bool {
    ["print!(", "println!("].iter().any(|word| text.contains(word))
}

fn uses_tokio(text: &str) -> bool {
    text.match_indices("tokio").any(|(at, word)| {
        let before = text[..at].chars().next_back();
        let after = &text[at + word.len()..];
        let part_of_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '"');
        !before.is_some_and(part_of_word) && (after.starts_with("::") || after.starts_with(';'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<(usize, String)> {
        let mut problems = Vec::new();
        let page =
            "Crates from outside that only some of ours may use:\n\n```\ntokio  server\n```\n";
        let page = TextFile { path: "ARCHITECTURE.md".into(), text: page.into() };
        let layers = Layers::read(&[page], &mut Vec::new());
        check(&TextFile { path: path.into(), text: text.into() }, &layers, &mut problems);
        problems.into_iter().map(|problem| (problem.line, problem.what)).collect()
    }

    fn one(path: &str, line: &str) -> String {
        let found = found(path, &format!("//! A file.\n{line}\n"));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].0, 2);
        found[0].1.clone()
    }

    fn none(path: &str, text: &str) {
        assert_eq!(found(path, &format!("//! A file.\n{text}\n")), []);
    }

    #[test]
    fn a_file_without_a_header_is_reported() {
        assert!(found("crates/model/src/a.rs", "use x;\n")[0].1.contains("no header"));
        assert!(found("crates/model/src/a.rs", "//!\n")[0].1.contains("no header"));
        assert!(found("crates/model/src/a.rs", "")[0].1.contains("no header"));
    }

    #[test]
    fn a_file_over_the_limit_is_reported() {
        let text = format!("//! Long.\n{}", "\n".repeat(LINES_MAX));
        assert!(found("crates/model/src/a.rs", &text)[0].1.contains("801 lines"));
    }

    #[test]
    fn sql_outside_of_the_store_is_reported() {
        let query = "    let sql = \"SELECT a FROM b\";";
        assert!(one("crates/runtime/src/a.rs", query).contains("SQL"));
        assert!(one("crates/runtime/src/a.rs", "\"UPDATE t SET a = 1\"").contains("SQL"));
        none("crates/store/src/a.rs", query);
        none("crates/app/tests/a.rs", query);
    }

    #[test]
    fn tokio_away_from_sockets_is_reported_even_in_tests() {
        assert!(one("crates/hook/src/a.rs", "use tokio::net;").contains("tokio"));
        assert!(one("crates/store/tests/a.rs", "#[tokio::test]").contains("tokio"));
        none("crates/server/src/a.rs", "use tokio::net;");
        none("crates/hook/src/a.rs", "// tokio::net is not used here.");
        none("crates/hook/src/a.rs", "use tokio_like::net;");
    }

    #[test]
    fn printing_outside_of_surfaces_is_reported() {
        assert!(one("crates/runtime/src/a.rs", "    eprintln!(\"x\");").contains("prints"));
        assert!(one("crates/mcp/src/a.rs", "    print!(\"x\");").contains("prints"));
        none("crates/cli/src/a.rs", "println!(\"x\");");
        none("crates/runtime/tests/a.rs", "println!(\"x\");");
    }

    #[test]
    fn a_sleeping_test_is_reported_and_sleeping_code_is_not() {
        let nap = "    thread::sleep(pause);";
        let module = format!("#[cfg(test)]\nmod tests {{\n{nap}\n}}");
        assert!(found("crates/x/src/a.rs", &format!("//! A.\n{module}"))[0].1.contains("sleeps"));
        assert!(one("crates/testkit/src/a.rs", nap).contains("sleeps"));
        none("crates/client/src/a.rs", nap);
    }

    #[test]
    fn unfinished_work_is_reported_everywhere() {
        for (word, _) in UNFINISHED {
            assert!(!one("crates/x/tests/a.rs", &format!("    {word}")).is_empty());
            assert!(!one("xtask/src/a.rs", &format!("// {word}")).is_empty());
        }
    }
}
