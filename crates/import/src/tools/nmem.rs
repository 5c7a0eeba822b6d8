//! nmem: its sessions, prompts and observations are records like ours, and become these one to one.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;

use model::observation::ObsType;
use model::portable::{PortableObservation, PortableRecord, PortableSession};
use serde_json::{Value, json};
use text::secrets::{Profile, Redacted, redact, redact_json, redact_place};

use super::rows::{self, ToolDb};
use crate::foreign_db;
use crate::record_report::{RecordReport, RecordSink};

const NAME: &str = "nmem";
/// The agent whose hooks nmem is made for.
const AGENT: &str = "claude-code";

pub(super) fn read(path: &Path, sink: &mut RecordSink<'_>) -> io::Result<RecordReport> {
    let mut db = ToolDb::open(path)?;
    let sessions = sessions(&mut db, sink)?;
    let actions = actions(&mut db)?;
    let mut prompts: HashMap<String, String> = HashMap::new();
    let columns = ["id", "session_id", "timestamp", "source", "content", "is_pinned"];
    db.rows("prompts", &columns, "id", &mut |row| {
        let (id, session) = (rows::id(row, 0)?, rows::name(rows::id(row, 1))?);
        let at = rows::time(row, 2)?;
        let origin = rows::origin(NAME, &["prompt", &session, &id, &at.to_string()]);
        let mut prompt = rows::prompt(&session, at, &rows::text(row, 4)?, origin);
        if foreign_db::text(row, 3).is_some_and(|source| source == "agent") {
            prompt.source = model::session::PromptSource::Agent;
        }
        prompt.actions = actions.get(&id).copied().unwrap_or_default();
        prompt.pinned = foreign_db::integer(row, 5) == Some(1);
        prompts.insert(id, origin.to_string());
        sessions.contains(&session).then(|| sink(PortableRecord::Prompt(prompt)))
    })?;
    let columns = [
        "id",
        "session_id",
        "prompt_id",
        "timestamp",
        "obs_type",
        "source_event",
        "tool_name",
        "file_path",
        "content",
        "metadata",
        "is_pinned",
    ];
    db.rows("observations", &columns, "id", &mut |row| {
        let (id, session) = (rows::id(row, 0)?, rows::name(rows::id(row, 1))?);
        let at = rows::time(row, 3)?;
        let metadata = foreign_db::text(row, 9);
        let metadata = metadata.and_then(|text| serde_json::from_str::<Value>(&text).ok());
        let kind = foreign_db::text(row, 4).and_then(|word| ObsType::parse(&word));
        let kind = kind.unwrap_or(ObsType::ToolOther);
        let origin = rows::origin(NAME, &["observation", &session, &id, &at.to_string()]);
        let one = PortableObservation {
            prompt: rows::id(row, 2).and_then(|id| prompts.get(&id).cloned()),
            at,
            kind,
            event: rows::name(foreign_db::text(row, 5)).unwrap_or_else(|| "import".to_owned()),
            tool: rows::name(foreign_db::text(row, 6)),
            file: rows::text(row, 7).map(|path| redact_place(&path, Profile::Strict)),
            content: redact(&foreign_db::text(row, 8)?, Profile::Strict),
            failed: kind == ObsType::CommandError,
            metadata: metadata
                .filter(Value::is_object)
                .map(|metadata| redact_json(metadata, Profile::Strict)),
            pinned: foreign_db::integer(row, 10) == Some(1),
            agent_id: None,
            count: 1,
            last_at: None,
            origins: vec![origin.to_string()],
            session: session.clone(),
        };
        sessions.contains(&session).then(|| sink(PortableRecord::Observation(Box::new(one))))
    })?;
    Ok(db.report)
}

fn sessions(db: &mut ToolDb, sink: &mut RecordSink<'_>) -> io::Result<HashSet<String>> {
    let mut known = HashSet::new();
    let columns = ["id", "project", "started_at", "ended_at", "summary"];
    db.rows("sessions", &columns, "started_at", &mut |row| {
        let id = rows::name(rows::id(row, 0))?;
        let key = rows::name(rows::text(row, 1)).unwrap_or_else(|| "unknown".to_owned());
        let start = rows::time(row, 2)?;
        let end = rows::time(row, 3).unwrap_or(start);
        sink(rows::project(&key));
        let mut session = PortableSession::ended(&id, &key, AGENT, (start, end));
        session.summary = foreign_db::text(row, 4).and_then(|text| summary(&text));
        sink(PortableRecord::Session(Box::new(session)));
        known.insert(id);
        Some(())
    })?;
    Ok(known)
}

/// A summary of nmem, which is JSON with members like ours, or a text.
fn summary(text: &str) -> Option<Redacted<Value>> {
    const LISTS: [&str; 6] =
        ["completed", "files_edited", "files_read", "notes", "learned", "next_steps"];
    let given: Value = serde_json::from_str(text).unwrap_or_else(|_| json!({ "intent": text }));
    let words = |name: &str| given[name].as_str().unwrap_or_default().trim();
    let mut summary = json!({ "intent": words("intent") });
    if !words("outcome").is_empty() {
        summary["outcome"] = json!(words("outcome"));
    }
    let mut has_list = false;
    for name in LISTS {
        let items = given[name].as_array().into_iter().flatten();
        let items: Vec<&str> = items.filter_map(Value::as_str).collect();
        has_list |= !items.is_empty();
        summary[name] = json!(items);
    }
    let is_empty = words("intent").is_empty() && words("outcome").is_empty() && !has_list;
    (!is_empty).then(|| redact_json(summary, Profile::Strict))
}

/// How many actions followed each prompt.
fn actions(db: &mut ToolDb) -> io::Result<HashMap<String, u64>> {
    let mut actions: HashMap<String, u64> = HashMap::new();
    db.rows("observations", &["prompt_id"], "id", &mut |row| {
        if let Some(prompt) = rows::id(row, 0) {
            *actions.entry(prompt).or_default() += 1;
        }
        Some(())
    })?;
    Ok(actions)
}
