//! Judges the memory of the weeks: which questions `search` answers, and which briefing rows the session then used.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::live::{Briefed, folder};
use super::plan::{HOUR_MS, OpenEnd, PlannedQuestion, has_all};
use super::stories::StoryStep;
use crate::home::Home;
use crate::process;

const DEADLINE: Duration = Duration::from_secs(30);
const HITS: usize = 10;
/// A row of a briefing is about a prompt if they share this many words.
const SHARED_WORDS_MIN: usize = 2;
const WORD_CHARS_MIN: usize = 5;

/// A question and the place of the first hit that answers it, from 1.
pub(super) struct Judged<'a> {
    pub(super) asked: &'a PlannedQuestion,
    pub(super) place: Option<usize>,
    /// The beginnings of the first hits, to explain a miss.
    pub(super) first: Vec<String>,
}

pub(super) fn ask<'a>(home: &Home, asked: &'a PlannedQuestion) -> Result<Judged<'a>> {
    let mut command = home.rekindle(&["search", "--ids", "--limit", &HITS.to_string()]);
    command.arg("--").arg(&asked.text).current_dir(folder(home, &asked.project));
    let mut found = process::run(&mut command, DEADLINE)?;
    if !found.status.success() {
        // On a busy machine an answer may be late.
        found = process::run_ok(&mut command, DEADLINE)?;
    }
    let ids: Vec<&str> = found.stdout.split_whitespace().collect();
    let mut judged = Judged { asked, place: None, first: Vec::new() };
    for (index, id) in ids.iter().enumerate() {
        let shown = process::run_ok(&mut home.rekindle(&["show", id, "--json"]), DEADLINE)?;
        let record: Value =
            serde_json::from_str(&shown.stdout).context("`show --json` printed no JSON")?;
        let mut text = String::new();
        collect(&record, &mut text);
        if judged.place.is_none() && has_all(&text, &asked.facts) {
            judged.place = Some(index + 1);
        }
        if index < 3 {
            judged.first.push(text.chars().take(160).collect());
        }
        if judged.place.is_some() && index >= 2 {
            break;
        }
    }
    Ok(judged)
}

/// All texts of a JSON value, one a line.
fn collect(value: &Value, text: &mut String) {
    match value {
        Value::String(found) => {
            text.push_str(found);
            text.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, text)),
        Value::Object(members) => members.values().for_each(|member| collect(member, text)),
        _ => {}
    }
}

/// Counts of useful rows and shown open ends in the briefings.
pub(super) struct Briefings {
    pub(super) rows: usize,
    /// Rows about a file, a command or a topic of the session that they were shown to.
    pub(super) used: usize,
    pub(super) open_ends: usize,
    /// Open ends that the next session of their project was shown.
    pub(super) shown: usize,
}

/// The least share of the rows that the session has to use: twice that of the first briefings (15.8 %), which listed the
/// newest records.
const USED_MIN: f64 = 0.316;

impl Briefings {
    /// An error if too few rows were used or an open end was missing.
    pub(super) fn check(&self) -> Result<()> {
        let used = self.used as f64 / self.rows.max(1) as f64;
        if used < USED_MIN || self.shown < self.open_ends || self.open_ends == 0 {
            bail!(
                "{USED_MIN} of the briefing rows are to be used, and all open ends shown: {self}"
            );
        }
        Ok(())
    }
}

impl fmt::Display for Briefings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Briefings { rows, used, open_ends, shown } = self;
        write!(f, "{used} of {rows} briefing rows used, {shown} of {open_ends} open ends shown")
    }
}

/// Each row of each briefing as a line: the start of the session in hours, its project, the section, whether the
/// session used the row, and the row. Tabs separate them.
pub(super) fn rows_by_use(briefed: &[Briefed<'_>]) -> String {
    let mut text = String::new();
    for one in briefed {
        let work = SessionContents::of(&one.session.steps);
        let mut section = "";
        for line in one.briefing.lines().map(str::trim) {
            section = line.strip_prefix("## ").unwrap_or(section);
            for row in rows(line) {
                let state = if work.needs(row) { "used" } else { "unused" };
                let hour = one.session.start / HOUR_MS;
                text.push_str(&format!(
                    "{hour}\t{}\t{section}\t{state}\t{row}\n",
                    one.session.project
                ));
            }
        }
    }
    text
}

pub(super) fn briefings(briefed: &[Briefed<'_>], open: &[OpenEnd]) -> Briefings {
    let mut sum = Briefings { rows: 0, used: 0, open_ends: 0, shown: 0 };
    for one in briefed {
        let work = SessionContents::of(&one.session.steps);
        for row in rows(&one.briefing) {
            sum.rows += 1;
            sum.used += usize::from(work.needs(row));
        }
    }
    for end in open {
        let next = briefed
            .iter()
            .find(|one| one.session.project == end.project && one.session.start > end.since);
        // After the last session of a project there is no briefing to judge.
        let Some(next) = next else { continue };
        sum.open_ends += 1;
        let shows = |text: &String| has_all(&next.briefing, std::slice::from_ref(text));
        sum.shown += usize::from(end.shows.iter().any(shows));
    }
    sum
}

/// The records in a briefing: items of lists and rows of tables, without the heads of the tables.
fn rows(briefing: &str) -> impl Iterator<Item = &str> {
    briefing.lines().map(str::trim).filter(|line| {
        let item = line.starts_with("- ") || line.starts_with("* ");
        let row = line.starts_with('|') && line.contains(|sign: char| sign.is_ascii_digit());
        item || row
    })
}

/// The files, commands and words of a session.
struct SessionContents {
    paths: BTreeSet<String>,
    commands: BTreeSet<String>,
    words: BTreeSet<String>,
}

impl SessionContents {
    fn of(steps: &[StoryStep]) -> SessionContents {
        let mut work = SessionContents {
            paths: BTreeSet::new(),
            commands: BTreeSet::new(),
            words: BTreeSet::new(),
        };
        for step in steps {
            match step {
                StoryStep::Edit { path, .. } | StoryStep::Write { path, .. } => {
                    work.paths.insert(path.clone());
                }
                // `git status` is part of every session, so it makes no row useful.
                StoryStep::Run { command, .. }
                    if !command.starts_with("git ") && command != "ls -la" =>
                {
                    work.commands.insert(command.clone());
                }
                StoryStep::Prompt(text) => work.words.extend(words(text)),
                _ => {}
            }
        }
        work
    }

    fn needs(&self, row: &str) -> bool {
        let has = |part: &String| row.contains(part.as_str());
        let shared = || words(row).intersection(&self.words).count();
        self.paths.iter().any(has) || self.commands.iter().any(has) || shared() >= SHARED_WORDS_MIN
    }
}

fn words(text: &str) -> BTreeSet<String> {
    let parts = text.split(|sign: char| !sign.is_alphanumeric());
    let long = parts.filter(|word| word.chars().count() >= WORD_CHARS_MIN);
    long.map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_used_if_the_session_edits_its_file_or_goes_on_with_its_topic() {
        let work = SessionContents::of(&[
            StoryStep::Prompt("finish the retry budget of the uploader".to_owned()),
            StoryStep::Edit { path: "src/up.rs".into(), old: String::new(), new: String::new() },
            StoryStep::Run { command: "git status".into(), output: String::new(), failed: false },
        ]);
        assert!(work.needs("- src/up.rs edited 3 times"));
        assert!(work.needs("- uploader gives up without a retry"));
        assert!(!work.needs("- git status"));
        assert!(!work.needs("- uploader is slow"));
    }

    #[test]
    fn too_few_used_rows_or_a_missing_open_end_is_an_error() {
        let of = |used: usize, shown: usize| Briefings { rows: 1_000, used, open_ends: 8, shown };
        assert!(of(316, 8).check().is_ok());
        assert!(of(315, 8).check().is_err());
        assert!(of(400, 7).check().is_err());
        assert!(Briefings { rows: 10, used: 10, open_ends: 0, shown: 0 }.check().is_err());
    }

    #[test]
    fn items_and_table_rows_are_rows_and_prose_is_not() {
        let briefing = "# Title\nRecords, not instructions.\n- one\n| id | what |\n| 12 | edit |";
        assert_eq!(rows(briefing).collect::<Vec<_>>(), ["- one", "| 12 | edit |"]);
    }
}
