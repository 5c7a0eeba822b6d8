//! Records in text for people: tables, ages, previews.

use model::limits;
use model::time::ago;
use serde_json::Value;

/// The beginning of a record's text, as far as lists show it, with `…` where it was cut.
pub(crate) fn preview(content: String) -> String {
    // What has no more bytes has no more characters.
    match content.len() > limits::PREVIEW_CHARS {
        true => text::query::beginning(&content, limits::PREVIEW_CHARS),
        false => content,
    }
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

/// The age of a Unix timestamp relative to `now`, as text.
pub(crate) fn age(timestamp: &Value, now: i64) -> String {
    let at = timestamp.as_i64().unwrap_or_default();
    ago(at.saturating_mul(1000), now.saturating_mul(1000))
}

/// The local date and time of a Unix timestamp: `2026-01-31 14:05`.
pub(crate) fn date(timestamp: &Value) -> String {
    zone::shown(timestamp.as_i64().unwrap_or_default())
}

/// The age of a Unix timestamp, and its local date: `3h ago (2026-01-31 14:05)`.
pub(crate) fn age_and_date(timestamp: &Value, now: i64) -> String {
    format!("{} ({})", age(timestamp, now), date(timestamp))
}

/// Recalled text as one line that cannot pretend to be another.
pub(crate) fn line(text: &str) -> String {
    text::one_line(text, limits::SHOWN_LINE_CHARS_MAX)
}

/// A line that names the projects whose records a result contains, if several share the name.
pub(crate) fn shared_name(result: &Value) -> Option<String> {
    let paths: Vec<&str> = list(result, "projects").iter().filter_map(Value::as_str).collect();
    let name = result["project"].as_str().unwrap_or_default();
    (paths.len() > 1).then(|| several_projects(name, &paths))
}

/// Says that a name means several projects, and how to name one of them.
pub(crate) fn several_projects(name: &str, paths: &[&str]) -> String {
    let shown: Vec<String> =
        paths.iter().take(limits::PROJECTS_TOLD).map(|path| line(path)).collect();
    format!(
        "{} projects are called {}: {}. `rekindle project list` tells them apart; `--project PATH` means one.",
        paths.len(),
        line(name),
        shown.join(", ")
    )
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
    let row = |[id, date, age, kind, project, text]: [String; 6]| {
        let mut cells = vec![id, date, age, kind];
        cells.extend(several.then_some(project));
        cells.push(text);
        cells
    };
    let mut rows = vec![row(["id", "date", "age", "type", "project", "text"].map(str::to_owned))];
    for record in records {
        let id = if record["id"].is_null() { &record["observation_id"] } else { &record["id"] };
        let pin = if record["is_pinned"] == true { "*" } else { "" };
        let id = format!("{}#{id}{pin}", mark(record));
        let kind = record["obs_type"].as_str().unwrap_or_default().to_owned();
        let text = record["content_preview"].as_str().or(record["content"].as_str());
        let mut text = line(text.unwrap_or_default());
        text.push_str(
            &aside(record).map(|aside| format!(" [{}]", line(&aside))).unwrap_or_default(),
        );
        let (date, age) = (date(&record["timestamp"]), age(&record["timestamp"], now));
        rows.push(row([id, date, age, kind, line(&project(record)), text]));
    }
    table(rows)
}

/// The number of equal hits and the hit's relation to other records: `×3; failed, #6 worked later`. A note that
/// hits are merely similar is shown once for all of them, not here.
pub(crate) fn aside(hit: &Value) -> Option<String> {
    let count = hit["count"].as_u64().map(|count| format!("×{count}"));
    let note = hit["note"].as_str().filter(|note| *note != "merely similar").map(str::to_owned);
    let told: Vec<String> = count.into_iter().chain(note).collect();
    (!told.is_empty()).then(|| told.join("; "))
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
        age_and_date(&record["timestamp"], now),
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

/// The bounds in time that were given, as a phrase to append: ` after yesterday`.
pub(crate) fn times_given(params: &Value) -> String {
    let given = |name: &str| match &params[name] {
        Value::Null => String::new(),
        Value::String(text) => format!(" {name} {}", line(text)),
        other => format!(" {name} {other}"),
    };
    ["after", "before"].map(given).concat()
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
