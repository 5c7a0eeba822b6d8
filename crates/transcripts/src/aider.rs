//! aider: one Markdown file for all runs in a directory. `#### ` begins the user's words, `> ` those of aider, and all
//! other lines are the model's. In fenced code these signs are content.
//!
//! A run is a session. There are no ids, and the only times are those at which a run began, in local time.

use std::mem;

use model::json::{Json, Members};
use serde_json::json;

use crate::{EventSink, ReadEvent, SessionPlace, TranscriptReader, Unread};

/// Begins a run.
const RUN: &str = "# aider chat started at ";
const USER: &str = "#### ";
const AIDER: &str = "> ";

/// Begins a command of aider. Most commands are not prompts to the model.
const COMMANDS: char = '/';

/// Reads the history of a directory.
pub struct Aider {
    /// Converts seconds since 1970 of a local time to those of UTC.
    to_utc: fn(i64) -> i64,
    place: SessionPlace,
    run: Option<AiderRun>,
    fence: Option<String>,
    user: Vec<String>,
    /// The words of the model since the last prompt.
    said: Vec<String>,
}

struct AiderRun {
    session: String,
    /// When it began, for the first event.
    at: Option<i64>,
}

impl Aider {
    /// A reader of local times, which the function converts from seconds since 1970 to those of UTC.
    pub fn new(to_utc: fn(i64) -> i64) -> Aider {
        Aider {
            to_utc,
            place: SessionPlace::default(),
            run: None,
            fence: None,
            user: Vec::new(),
            said: Vec::new(),
        }
    }
}

impl TranscriptReader for Aider {
    fn line(&mut self, line: &[u8], sink: &mut EventSink<'_>) -> Result<(), Unread> {
        let line = String::from_utf8_lossy(line);
        if let Some(start) = line.strip_prefix(RUN) {
            self.end_prompt(sink);
            self.end_turn(sink);
            self.begin(start.trim());
            return Ok(());
        }
        if self.run.is_none() {
            // An old file can begin in the middle of a run.
            return Ok(());
        }
        if self.is_code(&line) {
            self.said.push(line.into_owned());
            return Ok(());
        }
        if let Some(words) =
            line.strip_prefix(USER).or_else(|| (line.trim_end() == "####").then_some(""))
        {
            if self.user.is_empty() {
                self.end_turn(sink);
            }
            self.user.push(words.trim_end().to_owned());
            return Ok(());
        }
        self.end_prompt(sink);
        match line.strip_prefix(AIDER) {
            Some(report) => self.report(report.trim(), sink),
            None => self.said.push(line.into_owned()),
        }
        Ok(())
    }

    fn finish(&mut self, is_over: bool, sink: &mut EventSink<'_>) {
        if is_over {
            self.end_prompt(sink);
            self.end_turn(sink);
        }
    }

    fn can_start_here(&self, next: &[u8]) -> bool {
        next.starts_with(RUN.as_bytes())
    }

    fn place(&mut self, place: Option<&SessionPlace>) {
        self.place = place.cloned().unwrap_or_default();
    }

    fn title(&self) -> Option<&str> {
        None
    }
}

impl Aider {
    /// Begins a run. Its session is named after the file and the time.
    fn begin(&mut self, start: &str) {
        let at = seconds(start).map(|local| (self.to_utc)(local).saturating_mul(1000));
        let file = self.place.session.as_deref().unwrap_or_default();
        let session = format!("aider-{file}-{}", start.replace([' ', ':'], "-"));
        self.run = Some(AiderRun { session, at });
        self.fence = None;
    }

    /// Whether a line is in fenced code, or begins or ends it.
    fn is_code(&mut self, line: &str) -> bool {
        let ticks: String = line.chars().take_while(|sign| *sign == '`').collect();
        match &self.fence {
            Some(fence) => {
                if ticks.len() >= fence.len() && line.trim_end().len() == ticks.len() {
                    self.fence = None;
                }
                true
            }
            None if ticks.len() >= 3 && self.user.is_empty() => {
                self.fence = Some(ticks);
                true
            }
            None => false,
        }
    }

    /// A report of aider: an edit, a commit or a command.
    fn report(&mut self, report: &str, sink: &mut EventSink<'_>) {
        let (tool, input, output) = if let Some(file) = report.strip_prefix("Applied edit to ") {
            ("edit", json!({ "file_path": file.trim() }), String::new())
        } else if let Some(commit) = report.strip_prefix("Commit ") {
            let Some((hash, subject)) = commit.split_once(' ') else { return };
            let command = format!("git commit -m {}", quoted(subject));
            // As git reports it. The branch is not known.
            ("run", json!({ "command": command }), format!("[HEAD {hash}] {subject}"))
        } else if let Some(command) = report.strip_prefix("Running ") {
            ("run", json!({ "command": command.trim() }), String::new())
        } else {
            return;
        };
        let at = self.time();
        let response = json!({ "output": output });
        let mut payload = self.payload();
        payload.set("tool_name", Json::Text(tool.into()));
        payload.set("tool_input", Json::from(&input));
        payload.set("tool_response", Json::from(&response));
        sink(ReadEvent { name: "tool", payload: payload.into(), at, position: None });
    }

    fn end_prompt(&mut self, sink: &mut EventSink<'_>) {
        let words = mem::take(&mut self.user).join("\n");
        // `/run`, `/add` and others are for aider. `/ask` and its relatives are followed by words to the model.
        let words = match words.strip_prefix(COMMANDS) {
            Some(command) => match command.split_once(' ') {
                Some(("ask" | "code" | "architect" | "chat-mode", asked)) => {
                    asked.trim().to_owned()
                }
                _ => return,
            },
            None => words,
        };
        if words.trim().is_empty() {
            return;
        }
        let at = self.time();
        let mut payload = self.payload();
        payload.set("prompt", Json::Text(words.into()));
        sink(ReadEvent { name: "prompt", payload: payload.into(), at, position: None });
    }

    fn end_turn(&mut self, sink: &mut EventSink<'_>) {
        let words = mem::take(&mut self.said).join("\n");
        if words.trim().is_empty() || self.run.is_none() {
            return;
        }
        let at = self.time();
        let mut payload = self.payload();
        payload.set("last_assistant_message", Json::Text(words.trim().to_owned().into()));
        sink(ReadEvent { name: "answer", payload: payload.into(), at, position: None });
    }

    /// The time of the next event, known only for the first of a run.
    fn time(&mut self) -> Option<i64> {
        self.run.as_mut().and_then(|run| run.at.take())
    }

    fn payload(&self) -> Members<'_> {
        let mut payload = Members::default();
        let session = self.run.as_ref().map(|run| run.session.as_str());
        for (name, value) in [("session_id", session), ("cwd", self.place.cwd.as_deref())] {
            if let Some(value) = value {
                payload.set(name, Json::Text(value.into()));
            }
        }
        payload
    }
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Seconds of a time such as `2026-10-05 09:00:00`, as if it were UTC.
fn seconds(text: &str) -> Option<i64> {
    let text = text.get(..19)?.replacen(' ', "T", 1);
    model::time::parse_rfc3339(&format!("{text}Z")).map(|at| at / 1000)
}

#[cfg(test)]
mod tests;
