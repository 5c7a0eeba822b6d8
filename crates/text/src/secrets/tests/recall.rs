//! Recall of the guard on lines that were written before the rules for them, and its false alarms on ordinary
//! lines. The figures are in `docs/secret-guard.md` too.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::super::*;

const COMMANDS: &str = include_str!("../../../testdata/commands.jsonl");
const HELD_OUT: &str = include_str!("../../../testdata/commands-held-out.jsonl");
/// Lines that a tester found to be missed, and more of the same kinds.
const REPORTED: &str = include_str!("../../../testdata/commands-reported.jsonl");
const REPORTED_HELD_OUT: &str = include_str!("../../../testdata/commands-reported-held-out.jsonl");
/// Lines of a second tester, with a secret of letters and digits and with one that is a word.
const ATTACKED: &str = include_str!("../../../testdata/commands-attacked.jsonl");
const ATTACKED_WORDS: &str = include_str!("../../../testdata/commands-attacked-words.jsonl");
/// Lines of a third tester, and lines of the same kinds, written after the rules for those.
const ATTACKED_AGAIN: &str = include_str!("../../../testdata/commands-attacked-again.jsonl");
const ATTACKED_AGAIN_SIMILAR: &str =
    include_str!("../../../testdata/commands-attacked-again-similar.jsonl");
/// 32 commands, each with passwords that a shell has to quote.
const ODD_PASSWORDS: &str = include_str!("../../../testdata/commands-odd-passwords.jsonl");
/// Lines of a fourth tester, with a secret of letters and digits and with one that is a word; and lines of the same
/// kinds, written after the rules for those.
const FLAGS: &str = include_str!("../../../testdata/commands-flags.jsonl");
const FLAGS_WORDS: &str = include_str!("../../../testdata/commands-flags-words.jsonl");
const FLAGS_SIMILAR: &str = include_str!("../../../testdata/commands-flags-similar.jsonl");
/// Lines of a fifth tester and more of the same kinds: options before a flag, short flags in one word, strings of SQL,
/// and arguments after `--`.
const OPTIONS: &str = include_str!("../../../testdata/commands-options.jsonl");
const DETECTORS: &str = include_str!("../../../testdata/detectors.jsonl");
const HARMLESS: &str = include_str!("../../../testdata/harmless-commands.jsonl");

/// False alarms are at most one line in this many (0.2 %).
const LINES_FOR_EACH_ALARM: usize = 500;

fn rows(lines: &str) -> Vec<Value> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn joined(row: &Value, key: &str) -> String {
    row[key].as_array().unwrap().iter().map(|part| part.as_str().unwrap()).collect()
}

/// The line with its secret marked, if redaction leaves a part of the secret in it.
fn missed(row: &Value) -> Option<String> {
    let [before, secret, after] = ["before", "secret", "after"].map(|key| joined(row, key));
    let safe = redact(&format!("{before}{secret}{after}"), Profile::Strict).into_inner();
    let size = secret.len().min(10);
    let left = secret
        .as_bytes()
        .windows(size)
        .any(|piece| safe.as_bytes().windows(size).any(|window| window == piece));
    left.then(|| format!("{before}«{secret}»{after}"))
}

#[test]
fn recall_on_command_lines_and_detector_lines_does_not_fall() {
    // The corpus, its lines, and how many of them may be missed.
    let table = [
        ("commands", COMMANDS, 260, 1),
        ("commands that were held out", HELD_OUT, 130, 5),
        ("reported commands", REPORTED, 99, 0),
        ("reported commands that were held out", REPORTED_HELD_OUT, 42, 2),
        ("attacked commands", ATTACKED, 298, 6),
        ("attacked commands with words", ATTACKED_WORDS, 298, 25),
        ("commands attacked again", ATTACKED_AGAIN, 507, 9),
        ("commands similar to those", ATTACKED_AGAIN_SIMILAR, 70, 3),
        ("odd passwords", ODD_PASSWORDS, 575, 36),
        ("commands with flags", FLAGS, 450, 41),
        ("commands with flags and words", FLAGS_WORDS, 450, 73),
        ("commands similar to those with flags", FLAGS_SIMILAR, 58, 0),
        ("commands with options", OPTIONS, 103, 0),
        ("detectors", DETECTORS, 855, 28),
    ];
    let mut wrong = Vec::new();
    for (name, lines, count, most) in table {
        let rows = rows(lines);
        let missed: Vec<String> = rows.iter().filter_map(missed).collect();
        if rows.len() != count || missed.len() > most {
            let (found, lines) = (rows.len() - missed.len(), missed.join("\n"));
            wrong.push(format!("{name}: {found} of {} are found, missed:\n{lines}", rows.len()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// A word after the flag of any program is its argument, whatever follows on the command line. In code these signs after
/// the word make an expression.
#[test]
fn a_word_after_a_secret_flag_is_found_whatever_follows_but_an_expression_is_not() {
    let flags = ["--password", "--passwd", "--token", "--api-key", "--secret", " -password"];
    let ends = [
        "",
        " bar",
        "; bar",
        " --email c",
        " -- env",
        " --",
        " -v",
        " | tee x",
        "|tee",
        " && bar",
        " > out",
        " 2>&1",
        " < in",
        " \\\n -v",
        "\"",
        "'",
        ")",
    ];
    for (flag, end) in flags.iter().flat_map(|flag| ends.map(|end| (flag, end))) {
        let line = format!("foo {flag} copperlatch{end}");
        let safe = redact(&line, Profile::Strict).into_inner();
        assert!(!safe.contains("copperlatch") && safe.ends_with(end), "{line:?} became {safe:?}");
    }
    let code = ["password = offset - 1", "token = one | other", "secret = one && other"];
    let usage =
        ["foo --password PASSWD -v", "foo --token value | bar", "grep -- --token docs | wc"];
    for line in code.iter().chain(&usage) {
        assert_eq!(find(line, Profile::Strict), [], "{line}");
    }
}

#[test]
fn no_harmless_command_is_taken_for_a_secret() {
    let mut alarms = Vec::new();
    let rows = rows(HARMLESS);
    for row in &rows {
        let line = row["text"].as_str().unwrap();
        for profile in [Profile::Strict, Profile::Declared] {
            alarms.extend(find(line, profile).iter().map(|found| format!("{} {line}", found.rule)));
        }
    }
    assert!(rows.len() >= 300 && alarms.is_empty(), "{}", alarms.join("\n"));
}

/// All files below a directory with ordinary text of this repository. Tests contain secrets on purpose.
fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    let skipped = ["target", "tests", "testdata", "secrets", "node_modules", ".git"];
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let ending = path.extension().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && !skipped.contains(&name.as_str()) {
            sources(&path, found);
        } else if ["rs", "md", "toml", "js", "ts", "css", "html"].contains(&ending.as_str())
            && !name.contains("test")
            && !name.contains("secret")
        {
            found.push(path);
        }
    }
}

fn assert_few_alarms<'a>(lines: impl Iterator<Item = &'a str>) {
    let (mut count, mut alarms) = (0, Vec::new());
    for line in lines.filter(|line| !line.trim().is_empty()) {
        count += 1;
        alarms.extend(first(line, Profile::Strict).map(|found| format!("{} {line}", found.rule)));
    }
    let few = alarms.len() * LINES_FOR_EACH_ALARM <= count;
    let share = format!("{} of {count} lines are false alarms", alarms.len());
    assert!(count >= 4_500 && few, "{share}:\n{}", alarms.join("\n"));
}

#[test]
fn few_lines_of_source_are_taken_for_secrets() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let mut paths = Vec::new();
    ["crates", "docs", "xtask"].iter().for_each(|dir| sources(&root.join(dir), &mut paths));
    let texts: Vec<String> =
        paths.iter().filter_map(|path| std::fs::read_to_string(path).ok()).collect();
    // Some lines of each file: all of them would take long without optimisation.
    assert_few_alarms(texts.iter().flat_map(|text| text.lines().step_by(7)));
}
