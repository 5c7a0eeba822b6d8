//! The MCP memory server: a graph of entities and relations, one JSON object per line.

use std::io::{self, Read as _};
use std::path::Path;

use model::limits;
use model::memory::MemoryCategory;
use serde_json::Value;

use super::rows;
use crate::memory_files::NewMemory;
use crate::record_report::{RecordReport, RecordSink, cursor_of};
use crate::rows::Problem;

const NAME: &str = "mcp-memory";

/// Whether a file begins like one of the server.
pub(super) fn is_file(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = regular::open(path).and_then(|file| file.take(4_096).read_to_end(&mut head));
    let head: String = String::from_utf8_lossy(&head).split_whitespace().collect();
    read.is_ok()
        && (head.starts_with(r#"{"type":"entity""#) || head.starts_with(r#"{"type":"relation""#))
}

pub(super) fn read(
    path: &Path,
    home: &Path,
    sink: &mut RecordSink<'_>,
) -> io::Result<RecordReport> {
    let cursor = cursor_of(path)?;
    let at = cursor.modified;
    let mut report = RecordReport { cursor: Some(cursor), ..RecordReport::default() };
    let mut bytes = Vec::new();
    let max = limits::TRANSCRIPT_LINE_MAX as u64;
    regular::open(path)?.take(max).read_to_end(&mut bytes)?;
    let home = home.to_string_lossy().into_owned();
    sink(rows::project(&home));
    let mut add = |tags: Vec<String>, content: &str| {
        let new = NewMemory {
            project: &home,
            at,
            category: MemoryCategory::Fact,
            tags,
            content,
            source: NAME,
            origin: rows::origin(NAME, &[content]),
            file: None,
        };
        new.portable().into_iter().for_each(&mut *sink);
    };
    let text = String::from_utf8_lossy(&bytes);
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let Ok(value) = serde_json::from_str::<Value>(line) else {
            report.problem(Problem::NotJson, number);
            continue;
        };
        let member = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        match (member("type").as_deref(), member("name"), member("from"), member("to")) {
            (Some("entity"), Some(name), ..) => {
                let tags = vec![name.clone(), member("entityType").unwrap_or_default()];
                let observations = value.get("observations").and_then(Value::as_array);
                for observation in observations.into_iter().flatten().filter_map(Value::as_str) {
                    add(tags.clone(), &format!("{name}: {observation}"));
                }
            }
            (Some("relation"), _, Some(from), Some(to)) => {
                let relation = member("relationType").unwrap_or_default().replace('_', " ");
                add(vec![from.clone(), to.clone()], &format!("{from} {relation} {to}"));
            }
            (Some("entity" | "relation"), ..) => report.problem(Problem::Malformed, number),
            _ => report.unknown += 1,
        }
    }
    Ok(report)
}
