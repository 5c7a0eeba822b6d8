//! claude-mem: prompts of the user become prompts, observations and summaries that a model wrote become memories.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;

use model::memory::MemoryCategory;
use model::portable::PortableRecord;

use super::rows::{self, ToolDb};
use crate::memory_files::{NewMemory, category_of};
use crate::record_report::{RecordReport, RecordSink};

const NAME: &str = "claude-mem";

pub(super) fn read(path: &Path, sink: &mut RecordSink<'_>) -> io::Result<RecordReport> {
    let mut db = ToolDb::open(path)?;
    let mut sessions: HashMap<String, (String, String, i64)> = HashMap::new();
    let columns = ["content_session_id", "project", "platform_source", "started_at_epoch"];
    db.rows("sdk_sessions", &columns, "started_at_epoch", &mut |row| {
        let id = rows::name(rows::id(row, 0))?;
        let project = rows::name(rows::text(row, 1)).unwrap_or_else(|| "unknown".to_owned());
        let agent = match rows::text(row, 2).unwrap_or_default().as_str() {
            "codex" => "codex",
            "cursor" => "cursor",
            "gemini" | "gemini-cli" => "gemini-cli",
            _ => "claude-code",
        };
        sessions.insert(id, (project, agent.to_owned(), rows::time(row, 3).unwrap_or_default()));
        Some(())
    })?;
    prompts(&mut db, &sessions, sink)?;
    observations(&mut db, sink)?;
    summaries(&mut db, sink)?;
    Ok(db.report)
}

fn prompts(
    db: &mut ToolDb,
    sessions: &HashMap<String, (String, String, i64)>,
    sink: &mut RecordSink<'_>,
) -> io::Result<()> {
    let mut begun = HashSet::new();
    let columns = ["content_session_id", "prompt_number", "prompt_text", "created_at_epoch"];
    db.rows("user_prompts", &columns, "created_at_epoch", &mut |row| {
        let session = rows::name(rows::id(row, 0))?;
        let (project, agent, start) = sessions.get(&session)?;
        let (text, at) = (rows::text(row, 2)?, rows::time(row, 3)?);
        if begun.insert(session.clone()) {
            let start = if *start > 0 { *start } else { at };
            sink(rows::project(project));
            sink(rows::session(&session, project, agent, (start, at)));
        }
        let number = rows::id(row, 1).unwrap_or_default();
        let origin = rows::origin(NAME, &["prompt", &session, &number, &at.to_string()]);
        sink(PortableRecord::Prompt(rows::prompt(&session, at, &text, origin)));
        Some(())
    })
}

fn observations(db: &mut ToolDb, sink: &mut RecordSink<'_>) -> io::Result<()> {
    let columns = [
        "id",
        "project",
        "type",
        "title",
        "subtitle",
        "narrative",
        "text",
        "facts",
        "concepts",
        "created_at_epoch",
    ];
    db.rows("observations", &columns, "id", &mut |row| {
        let (id, at) = (rows::id(row, 0)?, rows::time(row, 9)?);
        let project = rows::name(rows::text(row, 1)).unwrap_or_else(|| "unknown".to_owned());
        let kind = rows::text(row, 2).unwrap_or_default();
        let narrative = rows::text(row, 5).or_else(|| rows::text(row, 6));
        let parts = [rows::text(row, 3), rows::text(row, 4), narrative];
        let facts = rows::list(rows::text(row, 7)).into_iter().map(|fact| format!("- {fact}"));
        let parts: Vec<String> = parts.into_iter().flatten().chain(facts).collect();
        let mut tags = vec![kind.clone()];
        tags.extend(rows::list(rows::text(row, 8)));
        let new = NewMemory {
            project: &project,
            at,
            category: category_of(&kind).unwrap_or(MemoryCategory::Fact),
            tags,
            content: &parts.join("\n"),
            source: NAME,
            origin: rows::origin(NAME, &["observation", &id, &at.to_string()]),
            file: None,
        };
        let memory = new.portable()?;
        sink(rows::project(&project));
        sink(memory);
        Some(())
    })
}

fn summaries(db: &mut ToolDb, sink: &mut RecordSink<'_>) -> io::Result<()> {
    let columns = [
        "id",
        "project",
        "created_at_epoch",
        "request",
        "investigated",
        "learned",
        "completed",
        "next_steps",
    ];
    db.rows("session_summaries", &columns, "id", &mut |row| {
        let (id, at) = (rows::id(row, 0)?, rows::time(row, 2)?);
        let project = rows::name(rows::text(row, 1)).unwrap_or_else(|| "unknown".to_owned());
        let parts = columns.iter().enumerate().skip(3).filter_map(|(place, name)| {
            rows::text(row, place).map(|text| format!("{}: {text}", name.replace('_', " ")))
        });
        let new = NewMemory {
            project: &project,
            at,
            category: MemoryCategory::Event,
            tags: vec!["summary".to_owned()],
            content: &parts.collect::<Vec<_>>().join("\n"),
            source: NAME,
            origin: rows::origin(NAME, &["summary", &id, &at.to_string()]),
            file: None,
        };
        let memory = new.portable()?;
        sink(rows::project(&project));
        sink(memory);
        Some(())
    })
}
