//! Records in text for people: tables, ages, previews.

pub(crate) use contract::listing::{
    Unlisted, age, empty_query, empty_time, id_chars, limit_note, line, list_notes, next_before,
    no_words, nothing, session_ids, times_given,
};
use model::limits;
use model::observation::{ObsType, Observation, RecordType};
use model::session::Summary;
use place::About;
use serde_json::Value;
use text::table::table;

use crate::note::MERELY_SIMILAR;

/// The beginning of a record's text, as far as lists show it, with `…` where it was cut.
pub(crate) fn preview(content: String) -> String {
    // A text has at most as many characters as bytes.
    match content.len() > limits::PREVIEW_CHARS {
        true => text::query::beginning(&content, limits::PREVIEW_CHARS),
        false => content,
    }
}

/// A score rounded to four decimals.
pub(crate) fn rounded(score: f64) -> f64 {
    (score * 10_000.0).round() / 10_000.0
}

/// The age of a Unix timestamp, and its local date: `3h ago (2026-01-31 14:05)`.
pub(crate) fn age_and_date(timestamp: i64, now: i64) -> String {
    format!("{} ({})", age(timestamp, now), zone::shown(timestamp))
}

/// A line that names the projects whose records a result contains, if several share the name.
pub(crate) fn shared_name(about: &About) -> Option<String> {
    let paths: Vec<&str> = about.projects.iter().map(String::as_str).collect();
    let name = about.project.as_deref().unwrap_or_default();
    (paths.len() > 1).then(|| several_projects(name, &paths))
}

/// Says that a name means several projects, and how to name one of them.
pub(crate) fn several_projects(name: &str, paths: &[&str]) -> String {
    let shown: Vec<String> = paths
        .iter()
        .take(limits::PROJECTS_TOLD)
        .map(|path| line(&place::shown_path(path)))
        .collect();
    format!(
        "{} projects are called {}: {}. `rekindle project list` shows their paths; `--project PATH` selects one.",
        paths.len(),
        line(name),
        shown.join(", ")
    )
}

/// A record as a row of a table.
pub(crate) struct RecordRow<'r> {
    /// Precedes the id.
    pub(crate) mark: &'static str,
    pub(crate) id: i64,
    /// Seconds since 1970, UTC.
    pub(crate) timestamp: i64,
    pub(crate) kind: RecordType,
    /// Empty in a table about one session.
    pub(crate) project: &'r str,
    pub(crate) session: &'r str,
    pub(crate) file: Option<&'r str>,
    pub(crate) text: &'r str,
    /// Follows the text, in brackets.
    pub(crate) aside: Option<String>,
    pub(crate) is_pinned: bool,
}

impl<'r> From<&'r Observation> for RecordRow<'r> {
    fn from(record: &'r Observation) -> RecordRow<'r> {
        RecordRow {
            mark: "",
            id: record.id,
            timestamp: record.timestamp,
            kind: record.obs_type,
            project: &record.project,
            session: &record.session_id,
            file: record.file_path.as_deref(),
            text: &record.content,
            aside: None,
            is_pinned: record.is_pinned,
        }
    }
}

/// The columns of a table of records.
pub(crate) const COLUMNS: &[&str] =
    &["id", "date", "age", "type", "project", "session", "file", "text"];

/// The columns that a table has unless others are selected. The project is left out if it is the same in all
/// rows.
fn usual_columns(with_project: bool) -> Vec<&'static str> {
    let is_usual = |name: &&&str| match **name {
        "project" => with_project,
        "session" | "file" => false,
        _ => true,
    };
    COLUMNS.iter().filter(is_usual).copied().collect()
}

/// The records as a table with a line of headings; a column names their projects if there are several.
pub(crate) fn records<'r>(
    rows: impl Iterator<Item = RecordRow<'r>>,
    now: i64,
    width: usize,
) -> String {
    let rows: Vec<RecordRow<'_>> = rows.collect();
    let several = rows.windows(2).any(|two| two[0].project != two[1].project);
    record_table(&rows, (now, None), &usual_columns(several), width)
}

/// The records of an answer as a table with the selected columns. If all projects were searched, it has
/// the column of projects even if all are equal: nothing else names the project.
pub(crate) fn records_about<'r>(
    rows: impl Iterator<Item = RecordRow<'r>>,
    about: &About,
    columns: &[String],
    width: usize,
) -> String {
    if columns.is_empty() && about.project.is_some() {
        return records(rows, about.answered_at, width);
    }
    let selected: Vec<&str> = columns.iter().map(String::as_str).collect();
    let columns = if columns.is_empty() { usual_columns(true) } else { selected };
    let shown = (about.answered_at, about.id_chars);
    record_table(&rows.collect::<Vec<_>>(), shown, &columns, width)
}

fn record_table(
    records: &[RecordRow<'_>],
    (now, id_chars): (i64, Option<usize>),
    columns: &[&str],
    width: usize,
) -> String {
    let sessions = session_ids(records.iter().map(|record| record.session), id_chars);
    let mut rows = vec![columns.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()];
    for (record, session) in records.iter().zip(&sessions) {
        let cell = |name: &&str| match *name {
            "id" => record.shown_id(),
            "date" => zone::shown(record.timestamp),
            "age" => age(record.timestamp, now),
            "type" => record.kind.word().to_owned(),
            "project" => text::one_line(record.project, limits::SHOWN_PROJECT_CHARS),
            "session" => session.clone(),
            "file" => record.file.map(line).unwrap_or_default(),
            _ => record.shown_text(),
        };
        rows.push(columns.iter().map(cell).collect());
    }
    // A column that was asked for is not left out.
    let spare: &[&str] = if columns.contains(&"age") { &["date"] } else { &[] };
    table(&rows, spare, width)
}

impl RecordRow<'_> {
    fn shown_id(&self) -> String {
        let pin = if self.is_pinned { "*" } else { "" };
        format!("{}#{}{pin}", self.mark, self.id)
    }

    fn shown_text(&self) -> String {
        let aside = self.aside.as_ref().map(|aside| format!(" [{}]", line(aside)));
        line(self.text) + &aside.unwrap_or_default()
    }
}

/// The number of equal hits and the hit's relation to other records: `×3; failed, #6 worked later`. A note that
/// hits are merely similar is shown once for all of them, not here.
pub(crate) fn aside(count: Option<u64>, note: Option<&str>) -> Option<String> {
    let count = count.map(|count| format!("×{count}"));
    let note = note.map(|note| note.strip_prefix(MERELY_SIMILAR).unwrap_or(note));
    let note = note.map(|note| note.trim_start_matches("; ").to_owned());
    let note = note.filter(|note| !note.is_empty());
    let told: Vec<String> = count.into_iter().chain(note).collect();
    (!told.is_empty()).then(|| told.join("; "))
}

/// A table of records below the line that it belongs to: without headings, indented.
pub(crate) fn records_below<'r>(
    rows: impl Iterator<Item = RecordRow<'r>>,
    now: i64,
    width: usize,
) -> Vec<String> {
    let table = records(rows, now, width.saturating_sub(2));
    let heading = usize::from(table.starts_with("id "));
    table.lines().skip(heading).map(|line| format!("  {line}")).collect()
}

/// A whole record: a line about it, its text, and what else is known, one member a line.
pub(crate) fn record(record: &Observation, note: Option<&str>, now: i64) -> String {
    let pinned = if record.is_pinned { ", pinned" } else { "" };
    let mut lines = vec![format!(
        "#{} {} {} in {}{pinned}",
        record.id,
        record.obs_type.word(),
        age_and_date(record.timestamp, now),
        line(&record.project),
    )];
    lines.extend(record.content.lines().map(|line| format!("  {line}")));
    for (name, text) in [
        ("file_path", record.file_path.as_ref()),
        ("tool_name", record.tool_name.as_ref()),
        ("agent", Some(&record.agent)),
        ("agent_id", record.agent_id.as_ref()),
        ("session_id", Some(&record.session_id)),
    ] {
        if let Some(text) = text.filter(|text| **text != record.content) {
            lines.push(format!("  {name}: {}", line(text)));
        }
    }
    if let Some(prompt) = record.prompt_id.filter(|prompt| *prompt != record.id) {
        lines.push(format!("  prompt: #{prompt}"));
    }
    lines.extend(note.map(|note| format!("  note: {note}")));
    let metadata = record.metadata.iter().filter_map(|metadata| metadata.as_object());
    for (name, value) in metadata.flatten() {
        if let Some(last) = value.as_i64().filter(|_| name == "last_timestamp") {
            lines.push(format!("  last: {}", age_and_date(last, now)));
            continue;
        }
        // A summary is shown as its text already, and a command as the content.
        let is_empty = match value {
            Value::Null => true,
            Value::String(text) => text.trim().is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Object(members) => members.is_empty(),
            _ => false,
        };
        let said = is_empty
            || value.as_str().is_some_and(|text| record.content.contains(text))
            || record.obs_type == ObsType::SessionSummary;
        if !said {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            lines.extend(member(&line(name), &value));
        }
    }
    lines.join("\n")
}

/// `name: value`, uncut; a value of several lines is below its name, indented further, so that no line of it
/// can pretend to be another member.
fn member(name: &str, value: &str) -> Vec<String> {
    let lines: Vec<&str> = value.trim_end().lines().collect();
    match lines[..] {
        [] => vec![format!("  {name}:")],
        [one] => vec![format!("  {name}: {one}")],
        _ => {
            let below = lines.iter().map(|line| format!("    {line}"));
            std::iter::once(format!("  {name}:")).chain(below).collect()
        }
    }
}

/// A summary, a line for each thing in it. If the outcome does not answer the intent, the answer to the intent and the
/// prompt of the outcome are given.
pub(crate) fn summary(
    summary: &Summary,
    (answer, last_prompt): (Option<&str>, Option<&str>),
) -> Vec<String> {
    let mut lines = Vec::new();
    if !summary.intent.is_empty() {
        lines.push(format!("  {}", line(&summary.intent)));
    }
    lines.extend(answer.map(|answer| format!("    answer: {}", line(answer))));
    if !summary.outcome.is_empty() {
        lines.extend(last_prompt.map(|prompt| format!("    last prompt: {}", line(prompt))));
        lines.push(format!("    last answer: {}", line(&summary.outcome)));
    }
    for (title, items) in [
        ("completed", &summary.completed),
        ("edited", &summary.files_edited),
        ("error", &summary.notes),
        ("learned", &summary.learned),
        ("next", &summary.next_steps),
    ] {
        lines.extend(items.iter().map(|item| format!("    {title}: {}", line(item))));
    }
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn empty_members_of_metadata_are_not_shown() {
        let metadata = json!({ "reason": null, "note": " ", "paths": [], "run": {}, "exit_code": 0, "kept": "yes" });
        let shown: Observation = serde_json::from_value(json!({
            "id": 7, "timestamp": 0, "session_id": "s-1", "project": "web", "obs_type": "command",
            "source_event": "PostToolUse", "tool_name": null, "file_path": null, "content": "make",
            "metadata": metadata, "is_pinned": false, "prompt_id": null, "agent": "claude-code",
        }))
        .unwrap();
        let text = record(&shown, None, 0);
        let members: Vec<&str> = text
            .lines()
            .skip(2)
            .map(|line| line.trim().split(':').next().unwrap_or_default())
            .collect();
        assert_eq!(members, ["agent", "session_id", "exit_code", "kept"], "{text}");
    }
}
