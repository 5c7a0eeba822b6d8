//! The stories of `quality/weeks.toml`: their sessions, the questions about them, and their open ends.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use toml_edit::{Array, DocumentMut, Item, Table, Value};

pub(super) struct Stories {
    pub(super) projects: Vec<WorkProject>,
    pub(super) stories: Vec<Story>,
}

/// A project and the vocabulary for its filler work.
pub(super) struct WorkProject {
    pub(super) name: String,
    pub(super) files: Vec<String>,
    pub(super) tests: String,
    pub(super) words: Vec<String>,
    pub(super) filler: Vec<String>,
    pub(super) idle_answers: Vec<String>,
}

pub(super) struct Story {
    pub(super) name: String,
    pub(super) project: String,
    /// Names in the texts and the values that a seed chooses from.
    pub(super) slots: Vec<(String, Vec<String>)>,
    pub(super) sessions: Vec<StorySession>,
    pub(super) questions: Vec<StoryQuestion>,
    /// For each open end, alternative texts; a briefing should show one of them.
    pub(super) open: Vec<Vec<String>>,
}

pub(super) struct StorySession {
    /// Days after the first day of the story.
    pub(super) day: u64,
    pub(super) steps: Vec<StoryStep>,
}

/// One thing that the user, the agent or one of its tools did.
#[derive(Clone)]
pub(super) enum StoryStep {
    Prompt(String),
    Read(String),
    Grep(String),
    Edit { path: String, old: String, new: String },
    Write { path: String, content: String },
    Run { command: String, output: String, failed: bool },
    Commit(String),
    Answer(String),
    Subagent(String),
}

pub(super) struct StoryQuestion {
    /// Questions of people who remember the subject and its name; a seed chooses one.
    pub(super) everyday: Vec<String>,
    /// Ways to ask that avoid the words of the records; a seed chooses one.
    pub(super) other_words: Vec<String>,
    /// A record answers if it contains all of these.
    pub(super) facts: Vec<String>,
    /// Whether only a final message of an agent has the facts.
    pub(super) from_answer: bool,
}

pub(super) fn read(path: &Path) -> Result<Stories> {
    let text = fs::read_to_string(path).with_context(|| format!("no {}", path.display()))?;
    let document: DocumentMut =
        text.parse().with_context(|| format!("{} is not TOML", path.display()))?;
    let projects = tables(&document, "project").map(project).collect::<Result<_>>()?;
    let stories = tables(&document, "story").map(story).collect::<Result<_>>()?;
    Ok(Stories { projects, stories })
}

fn tables<'a>(table: &'a Table, name: &str) -> impl Iterator<Item = &'a Table> + use<'a> {
    table.get(name).and_then(Item::as_array_of_tables).into_iter().flatten()
}

fn project(table: &Table) -> Result<WorkProject> {
    Ok(WorkProject {
        name: text(table, "name")?,
        files: texts(table, "files")?,
        tests: text(table, "tests")?,
        words: texts(table, "words")?,
        filler: texts(table, "filler")?,
        idle_answers: texts(table, "idle_answers")?,
    })
}

fn story(table: &Table) -> Result<Story> {
    let name = text(table, "name")?;
    let read = || -> Result<Story> {
        let mut slots = Vec::new();
        if let Some(given) = table.get("slots").and_then(Item::as_table_like) {
            for (slot, values) in given.iter() {
                slots.push((slot.to_owned(), strings(values.as_array())?));
            }
        }
        Ok(Story {
            name: name.clone(),
            project: text(table, "project")?,
            slots,
            sessions: tables(table, "session").map(session).collect::<Result<_>>()?,
            questions: tables(table, "question").map(question).collect::<Result<_>>()?,
            open: tables(table, "open").map(|open| texts(open, "shows")).collect::<Result<_>>()?,
        })
    };
    read().with_context(|| format!("in the story '{name}'"))
}

fn session(table: &Table) -> Result<StorySession> {
    let day = table.get("day").and_then(Item::as_integer).context("a session has no 'day'")?;
    let steps = table.get("steps").and_then(Item::as_array).context("a session has no 'steps'")?;
    let steps = steps.iter().map(|value| step(value.as_array())).collect::<Result<_>>()?;
    Ok(StorySession { day: u64::try_from(day).context("a negative 'day'")?, steps })
}

fn step(given: Option<&Array>) -> Result<StoryStep> {
    let parts = strings(given)?;
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    Ok(match parts[..] {
        ["prompt", text] => StoryStep::Prompt(text.to_owned()),
        ["read", path] => StoryStep::Read(path.to_owned()),
        ["grep", pattern] => StoryStep::Grep(pattern.to_owned()),
        ["edit", path, old, new] => {
            StoryStep::Edit { path: path.to_owned(), old: old.to_owned(), new: new.to_owned() }
        }
        ["write", path, content] => {
            StoryStep::Write { path: path.to_owned(), content: content.to_owned() }
        }
        [kind @ ("run" | "fail"), command, output] => StoryStep::Run {
            command: command.to_owned(),
            output: output.to_owned(),
            failed: kind == "fail",
        },
        ["commit", message] => StoryStep::Commit(message.to_owned()),
        ["answer", text] => StoryStep::Answer(text.to_owned()),
        ["subagent", text] => StoryStep::Subagent(text.to_owned()),
        _ => bail!("no step is written as {parts:?}"),
    })
}

fn question(table: &Table) -> Result<StoryQuestion> {
    let from_answer = match text(table, "from")?.as_str() {
        "answer" => true,
        "record" => false,
        other => bail!("a question comes from 'record' or 'answer', not from '{other}'"),
    };
    Ok(StoryQuestion {
        everyday: texts(table, "everyday")?,
        other_words: texts(table, "other_words")?,
        facts: texts(table, "facts")?,
        from_answer,
    })
}

fn text(table: &Table, name: &str) -> Result<String> {
    let found = table.get(name).and_then(Item::as_str);
    found.map(str::to_owned).with_context(|| format!("there is no text '{name}'"))
}

fn texts(table: &Table, name: &str) -> Result<Vec<String>> {
    strings(table.get(name).and_then(Item::as_array)).with_context(|| format!("in '{name}'"))
}

fn strings(array: Option<&Array>) -> Result<Vec<String>> {
    let array = array.context("a list of texts is missing")?;
    let found: Option<Vec<String>> =
        array.iter().map(|value: &Value| value.as_str().map(str::to_owned)).collect();
    found.filter(|found| !found.is_empty()).context("a list that is empty or has no texts")
}
