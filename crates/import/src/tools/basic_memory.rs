//! basic-memory: a folder of Markdown notes. Each observation `- [category] text #tag (context)` and each paragraph is a
//! memory; relations to other notes are left out.

use std::io;
use std::path::{Path, PathBuf};

use model::memory::MemoryCategory;
use serde_json::Value;

use super::rows;
use crate::markdown::{self, Passage};
use crate::memory_files::{NewMemory, category_of, markdown_files, read_text};
use crate::record_report::{RecordReport, RecordSink};
use crate::rows::Problem;

const NAME: &str = "basic-memory";

/// The folders of all projects that its settings list.
pub(super) fn folders(home: &Path) -> Vec<PathBuf> {
    let Ok((text, _)) = read_text(&home.join(".basic-memory/config.json")) else {
        return Vec::new();
    };
    let Ok(settings) = serde_json::from_str::<Value>(&text) else { return Vec::new() };
    let projects = settings.get("projects").and_then(Value::as_object);
    let path = |project: &Value| {
        let path = project.as_str().or_else(|| project.get("path")?.as_str())?;
        Some(PathBuf::from(path)).filter(|path| path.is_absolute())
    };
    projects.into_iter().flatten().filter_map(|(_, project)| path(project)).collect()
}

/// Whether the notes of a folder have links of basic-memory.
pub(super) fn is_folder(path: &Path) -> bool {
    const NOTES: usize = 20;
    markdown_files(path).iter().take(NOTES).any(|file| {
        let text = read_text(file).map(|(text, _)| text).unwrap_or_default();
        markdown::front_matter(&text).0.iter().any(|(name, _)| name == "permalink")
    })
}

pub(super) fn read(path: &Path, sink: &mut RecordSink<'_>) -> io::Result<RecordReport> {
    let mut report = RecordReport::default();
    std::fs::read_dir(path)?;
    let key = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let key = rows::name(Some(key)).unwrap_or_else(|| NAME.to_owned());
    sink(rows::project(&key));
    for file in markdown_files(path) {
        match read_text(&file) {
            Ok((text, modified)) => note(&file, &key, (&text, modified), sink),
            Err(_) => report.problem(Problem::Unreadable, 0),
        }
    }
    Ok(report)
}

fn note(file: &Path, key: &str, (text, modified): (&str, i64), sink: &mut RecordSink<'_>) {
    let (members, body) = markdown::front_matter(text);
    let get =
        |wanted: &str| members.iter().find(|(name, _)| name == wanted).map(|(_, value)| value);
    let time = |name: &str| get(name).and_then(Value::as_str).and_then(rows::utc);
    let at = time("modified").or_else(|| time("created")).unwrap_or(modified);
    let title = get("title").and_then(Value::as_str).unwrap_or_default();
    let tags: Vec<String> = match get("tags") {
        Some(Value::Array(tags)) => {
            tags.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        Some(Value::String(tags)) => tags.split(',').map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    let name = get("permalink").and_then(Value::as_str).map(str::to_owned);
    let name = name.unwrap_or_else(|| file.to_string_lossy().into_owned());
    for Passage { heading, text } in markdown::passages(body) {
        if is_relation(&heading, &text) {
            continue;
        }
        let (category, text) = observation(&text);
        let mut tags: Vec<String> =
            [title.to_owned()].into_iter().chain(tags.iter().cloned()).collect();
        tags.extend(category.map(str::to_owned));
        let marked = text.split_whitespace().filter_map(|word| word.strip_prefix('#'));
        tags.extend(marked.filter(|tag| !tag.is_empty()).map(str::to_owned));
        let new = NewMemory {
            project: key,
            at,
            category: category.and_then(category_of).unwrap_or(MemoryCategory::Fact),
            tags,
            content: text,
            source: NAME,
            origin: rows::origin(NAME, &[&name, text]),
            file: None,
        };
        new.portable().into_iter().for_each(&mut *sink);
    }
}

/// The category and the text of an observation.
fn observation(text: &str) -> (Option<&str>, &str) {
    let parts = text.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    match parts.filter(|(category, _)| !category.starts_with('[') && category.len() <= 40) {
        Some((category, rest)) => (Some(category), rest),
        None => (None, text),
    }
}

/// `relates_to [[Other note]]`.
fn is_relation(heading: &str, text: &str) -> bool {
    let is_link = text.contains("[[") && text.contains("]]") && text.lines().count() == 1;
    is_link
        && (heading.eq_ignore_ascii_case("relations") || !text.starts_with('['))
        && text.split("[[").next().is_some_and(|before| before.split_whitespace().count() <= 3)
}
