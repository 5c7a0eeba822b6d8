//! Records in text for people: tables, ages, previews.

use model::limits;
use model::time::ago;
use serde_json::Value;

/// The beginning of a record's text, as far as lists show it.
pub(crate) fn preview(mut content: String) -> String {
    // What has no more bytes has no more characters.
    if content.len() > limits::PREVIEW_CHARS
        && let Some((end, _)) = content.char_indices().nth(limits::PREVIEW_CHARS)
    {
        content.truncate(end);
    }
    content
}

/// A score with as many digits as say something.
pub(crate) fn rounded(score: f64) -> f64 {
    (score * 10_000.0).round() / 10_000.0
}

/// The members of a list in a result.
pub(crate) fn list<'v>(of: &'v Value, name: &str) -> &'v [Value] {
    of[name].as_array().map_or(&[], Vec::as_slice)
}

/// Seconds since 1970 when the result was made.
pub(crate) fn answered_at(result: &Value) -> i64 {
    result["answered_at"].as_i64().unwrap_or_default()
}

/// How old something was then that has these seconds since 1970.
pub(crate) fn age(timestamp: &Value, now: i64) -> String {
    let at = timestamp.as_i64().unwrap_or_default();
    ago(at.saturating_mul(1000), now.saturating_mul(1000))
}

/// Recalled text as one line that cannot pretend to be another.
pub(crate) fn line(text: &str) -> String {
    text::one_line(text, limits::SHOWN_LINE_CHARS_MAX)
}

/// Records as a table with a line of headings, each with the mark that it gets.
pub(crate) fn records(
    records: &[&Value],
    now: i64,
    mark: impl Fn(&Value) -> &'static str,
) -> String {
    let project = |record: &Value| record["project"].as_str().unwrap_or_default().to_owned();
    // A column that says the same everywhere says nothing.
    let several = records.windows(2).any(|two| project(two[0]) != project(two[1]));
    let row = |id: String, age: String, kind: String, project: String, text: String| {
        let mut cells = vec![id, age, kind];
        cells.extend(several.then_some(project));
        cells.push(text);
        cells
    };
    let mut rows =
        vec![row("id".into(), "age".into(), "type".into(), "project".into(), "text".into())];
    for record in records {
        let id = if record["id"].is_null() { &record["observation_id"] } else { &record["id"] };
        let pin = if record["is_pinned"] == true { "*" } else { "" };
        let id = format!("{}#{id}{pin}", mark(record));
        let kind = record["obs_type"].as_str().unwrap_or_default().to_owned();
        let text = record["content_preview"].as_str().or(record["content"].as_str());
        let mut text = line(text.unwrap_or_default());
        let count = record["count"].as_u64().map(|count| format!("×{count}"));
        let note = record["note"].as_str().filter(|note| *note != "merely similar").map(line);
        let told: Vec<String> = count.into_iter().chain(note).collect();
        if !told.is_empty() {
            text.push_str(&format!(" [{}]", told.join("; ")));
        }
        rows.push(row(id, age(&record["timestamp"], now), kind, line(&project(record)), text));
    }
    table(rows)
}

/// Rows of cells in columns; the last column is as wide as it likes.
pub(crate) fn table(rows: Vec<Vec<String>>) -> String {
    let mut widths: Vec<usize> = Vec::new();
    for row in &rows {
        for (column, cell) in row.iter().enumerate() {
            let width = cell.chars().count();
            match widths.get_mut(column) {
                Some(widest) => *widest = width.max(*widest),
                None => widths.push(width),
            }
        }
    }
    let lines = rows.into_iter().map(|row| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A whole record: a line about it, its text, and what else is known, one member a line.
pub(crate) fn record(record: &Value, now: i64) -> String {
    let word = |name: &str| record[name].as_str().map(line).unwrap_or_default();
    let pinned = if record["is_pinned"] == true { ", pinned" } else { "" };
    let mut lines = vec![format!(
        "#{} {} {} in {}{pinned}",
        record["id"],
        word("obs_type"),
        age(&record["timestamp"], now),
        word("project"),
    )];
    let content = record["content"].as_str().unwrap_or_default();
    lines.extend(content.lines().map(|line| format!("  {line}")));
    for name in ["file_path", "tool_name", "agent", "agent_id", "session_id"] {
        if record[name].is_string() && record[name] != record["content"] {
            lines.push(format!("  {name}: {}", word(name)));
        }
    }
    if !record["prompt_id"].is_null() && record["prompt_id"] != record["id"] {
        lines.push(format!("  prompt: #{}", record["prompt_id"]));
    }
    for (name, value) in record["metadata"].as_object().into_iter().flatten() {
        // A summary is shown as its text already, and a command as the content.
        let said = value.as_str().is_some_and(|text| content.contains(text))
            || record["obs_type"] == "session_summary";
        if !said {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            lines.push(format!("  {}: {}", line(name), line(&value)));
        }
    }
    lines.join("\n")
}

/// A summary, a line for each thing in it.
pub(crate) fn summary(summary: &Value) -> Vec<String> {
    let intent = summary["intent"].as_str().filter(|intent| !intent.is_empty());
    let mut lines: Vec<String> =
        intent.map(|intent| format!("  {}", line(intent))).into_iter().collect();
    let outcome = summary["outcome"].as_str().filter(|outcome| !outcome.is_empty());
    lines.extend(outcome.map(|outcome| format!("    outcome: {}", line(outcome))));
    for (title, name) in [
        ("completed", "completed"),
        ("edited", "files_edited"),
        ("error", "notes"),
        ("learned", "learned"),
        ("next", "next_steps"),
    ] {
        let items = list(summary, name).iter().filter_map(Value::as_str);
        lines.extend(items.map(|item| format!("    {title}: {}", line(item))));
    }
    lines
}

/// Says that there is nothing, where it was looked for, and how to look everywhere.
pub(crate) fn nothing(what: &str, params: &Value, result: &Value) -> String {
    match result["project"].as_str() {
        Some(project) if params["project"].is_null() => format!(
            "{what} in {}, where you stand. `--project '*'` looks in all projects.",
            line(project)
        ),
        Some(project) => format!("{what} in {}.", line(project)),
        None => format!("{what}."),
    }
}
