//! The end of a first import: finds from the user's own history, and a question that a search answers from it.

use std::collections::BTreeSet;

use model::{OpError, time};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::calls;
use crate::world::World;

/// The most finds that are shown.
const FINDS: usize = 3;
/// Prompts that are searched for a decision, and sessions for the last work.
const PROMPTS_READ: u32 = 200;
const SESSIONS_READ: u32 = 20;
/// Characters of a quotation.
const QUOTED_CHARS: usize = 110;
/// Words of a question that is made of a text, and their shortest length.
const QUESTION_WORDS: usize = 4;
const WORD_CHARS: usize = 4;

/// Words of decisions that do not say what is decided.
const RULE_WORDS: [&str; 8] =
    ["never", "always", "please", "remember", "decided", "decision", "important", "should"];

/// Finds and a question, for the report of a first import.
#[derive(Default)]
pub(super) struct FirstFinds {
    pub(super) finds: Vec<String>,
    /// A command that answers a question.
    pub(super) question: Option<String>,
}

impl FirstFinds {
    pub(super) fn to_json(&self) -> Value {
        json!({ "finds": self.finds, "question": self.question })
    }

    /// The lines of the report; none if nothing was found.
    pub(super) fn lines(&self) -> Vec<String> {
        if self.finds.is_empty() {
            return Vec::new();
        }
        let mut lines = vec![String::new(), "From your history:".to_owned()];
        lines.extend(self.finds.iter().map(|find| format!("  {find}")));
        lines.extend(self.question.iter().map(|command| format!("Try: {command}")));
        lines
    }
}

/// A record of `activity`.
#[derive(Deserialize)]
struct FoundRecord {
    id: i64,
    timestamp: i64,
    #[serde(default)]
    session_id: String,
    project: String,
    content: String,
}

/// A session of `session_summaries`.
#[derive(Deserialize)]
struct FoundSession {
    session_id: String,
    project: String,
    started_at: i64,
    summary: FoundSummary,
}

#[derive(Deserialize)]
struct FoundSummary {
    #[serde(default)]
    intent: String,
    #[serde(default)]
    outcome: String,
    #[serde(default)]
    files_edited: Vec<String>,
}

/// A failure of `find_fix`.
#[derive(Deserialize)]
struct FoundFailure {
    command: String,
    error: String,
    seen: u64,
    last_at: String,
    fix: Option<FoundFix>,
}

#[derive(Deserialize)]
struct FoundFix {
    command: String,
    #[serde(default)]
    same_command: bool,
    #[serde(default)]
    files: Vec<String>,
    #[serde(default)]
    commands: Vec<String>,
}

/// A question to try: its text, the project to ask in, and the record or the session that answers it.
struct Question {
    text: String,
    project: String,
    answer: ExpectedHit,
}

enum ExpectedHit {
    Record(i64),
    Session(String),
}

/// The finds in the sessions of a first import.
pub(super) fn of_first_import(
    world: &mut World,
    sessions: &BTreeSet<String>,
) -> Result<FirstFinds, OpError> {
    let mut found = Finder { world, sessions, finds: Vec::new(), questions: Vec::new() };
    found.decision()?;
    found.fix()?;
    found.last_work()?;
    found.finds.truncate(FINDS);
    let question = found.answered_question();
    Ok(FirstFinds { finds: found.finds, question })
}

struct Finder<'w> {
    world: &'w mut World,
    sessions: &'w BTreeSet<String>,
    finds: Vec<String>,
    questions: Vec<Question>,
}

impl Finder<'_> {
    /// The newest prompt that states a decision, else the newest answer that does.
    fn decision(&mut self) -> Result<(), OpError> {
        #[derive(Deserialize)]
        struct Page {
            records: Vec<FoundRecord>,
        }
        for (kind, who) in [("user_prompt", "You decided"), ("answer", "Decided")] {
            let asked = json!({ "project": "*", "obs_type": kind, "limit": PROMPTS_READ });
            let Page { records } = self.ask("activity", asked)?;
            let own = records.into_iter().filter(|one| self.sessions.contains(&one.session_id));
            let stated = own.filter_map(|one| {
                let quote = text::decision(&one.content).map(str::to_owned)?;
                Some((one, quote))
            });
            let Some((record, quote)) = stated.into_iter().next() else { continue };
            let when = place(&record.project, record.timestamp);
            self.finds.push(format!("{who}: {} ({when})", quoted(&quote)));
            if let Some(words) = subject(&quote) {
                self.questions.push(Question {
                    text: format!("what did we decide about {words}?"),
                    project: record.project,
                    answer: ExpectedHit::Record(record.id),
                });
            }
            return Ok(());
        }
        Ok(())
    }

    /// The failure that was seen most often and has a fix.
    fn fix(&mut self) -> Result<(), OpError> {
        #[derive(Deserialize)]
        struct Failures {
            failures: Vec<FoundFailure>,
        }
        let asked = json!({ "project": "*", "limit": 100 });
        let Failures { failures } = self.ask("find_fix", asked)?;
        let mut fixed = failures.into_iter().filter_map(|mut one| Some((one.fix.take()?, one)));
        let Some((fix, failure)) = fixed.next() else { return Ok(()) };
        let FoundFailure { command, error, seen, last_at, .. } = failure;
        let times = if seen > 1 { format!(" {seen} times") } else { String::new() };
        let changed = match (fix.files.last(), fix.commands.last(), fix.same_command) {
            (Some(file), ..) => format!("a change of {}", file_name(file)),
            (None, Some(command), _) => format!("`{}`", text::one_line(command, QUOTED_CHARS)),
            (None, None, false) => format!("`{}`", text::one_line(&fix.command, QUOTED_CHARS)),
            (None, None, true) => "another try".to_owned(),
        };
        let when = time::parse_rfc3339(&last_at).map(age);
        self.finds.push(format!(
            "`{}` failed{times}: {}. It passed after {changed} ({})",
            text::one_line(&command, QUOTED_CHARS / 2),
            error_line(&error),
            when.unwrap_or_default()
        ));
        Ok(())
    }

    /// The work of the newest sessions with an intent: at least one, and as many as there is room for finds.
    fn last_work(&mut self) -> Result<(), OpError> {
        #[derive(Deserialize)]
        struct Summaries {
            results: Vec<FoundSession>,
        }
        let asked = json!({ "project": "*", "limit": SESSIONS_READ });
        let Summaries { results } = self.ask("session_summaries", asked)?;
        let own = results.into_iter().filter(|one| {
            self.sessions.contains(&one.session_id) && !one.summary.intent.trim().is_empty()
        });
        for (number, session) in own.take(FINDS.saturating_sub(self.finds.len()).max(1)).enumerate()
        {
            let FoundSession { session_id, project, started_at, summary } = session;
            let said = if number == 0 { "Last you worked on" } else { "Before that on" };
            let result = match (summary.outcome.trim(), summary.files_edited.first()) {
                ("", None) => String::new(),
                ("", Some(file)) => format!("; it changed {}", file_name(file)),
                (outcome, _) => format!("; the outcome: {}", quoted(outcome)),
            };
            let when = place(&project, started_at);
            let intent = quoted(&summary.intent);
            // The decision above may be that of the last session.
            let intent = match self.finds.iter().any(|find| find.contains(&intent)) {
                true => "that",
                false => &intent,
            };
            self.finds.push(format!("{said} {intent}{result} ({when})"));
            if let Some(words) = subject(&summary.intent) {
                self.questions.push(Question {
                    text: format!("what happened with {words}?"),
                    project,
                    answer: ExpectedHit::Session(session_id),
                });
            }
        }
        Ok(())
    }

    /// The first question whose answer is the best hit of a search.
    fn answered_question(&mut self) -> Option<String> {
        let questions = std::mem::take(&mut self.questions);
        let question = questions.into_iter().find(|question| self.is_answered(question))?;
        let project = match question.project.chars().all(is_plain) {
            true => question.project,
            false => "'*'".to_owned(),
        };
        Some(format!("rekindle search \"{}\" --project {project}", question.text))
    }

    fn is_answered(&mut self, question: &Question) -> bool {
        #[derive(Deserialize)]
        struct Hits {
            results: Vec<Hit>,
        }
        #[derive(Deserialize)]
        struct Hit {
            id: i64,
            #[serde(default)]
            session_id: String,
        }
        let Question { text, project, .. } = question;
        let asked = json!({ "query": text, "project": project, "limit": 1 });
        let Ok(Hits { results }) = self.ask("search", asked) else { return false };
        results.first().is_some_and(|hit| match &question.answer {
            ExpectedHit::Record(id) => hit.id == *id,
            ExpectedHit::Session(session) => hit.session_id == *session,
        })
    }

    fn ask<T: for<'de> Deserialize<'de>>(&mut self, op: &str, params: Value) -> Result<T, OpError> {
        let reply = calls::call(self.world, op, params)?;
        T::deserialize(&reply).map_err(|error| OpError::internal(error.to_string()))
    }
}

/// A text in quotation marks, on one line.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text::gist(text, QUOTED_CHARS))
}

fn file_name(path: &str) -> String {
    text::one_line(path.rsplit('/').next().unwrap_or(path), QUOTED_CHARS)
}

/// An error on one line, without the mark by which pytest indents it.
fn error_line(error: &str) -> String {
    let line = text::one_line(error, QUOTED_CHARS);
    line.strip_prefix("E ").map(|rest| rest.trim_start().to_owned()).unwrap_or(line)
}

/// The project and the time of a find.
fn place(project: &str, seconds: i64) -> String {
    format!("{}, {}", text::one_line(project, QUOTED_CHARS), age(seconds.saturating_mul(1_000)))
}

fn age(at_ms: i64) -> String {
    time::ago(at_ms, client::clock::now_ms())
}

/// The first words of a text that say what it is about. They are safe between the quotation marks of a shell.
fn subject(text: &str) -> Option<String> {
    let mut words: Vec<&str> = Vec::new();
    for (_, word) in text::words::words(text) {
        let is_about = !RULE_WORDS.iter().any(|rule| word.eq_ignore_ascii_case(rule));
        let is_about = is_about && !text::words::is_stop(word);
        let says_something = word.chars().count() >= WORD_CHARS && is_about;
        if says_something && word.chars().all(is_plain) && !words.contains(&word) {
            words.push(word);
        }
        if words.len() == QUESTION_WORDS {
            break;
        }
    }
    (words.len() >= 2).then(|| words.join(" "))
}

fn is_plain(sign: char) -> bool {
    sign.is_alphanumeric() || matches!(sign, '-' | '_' | '.')
}
