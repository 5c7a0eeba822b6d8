//! Checks of the transcripts that agents have on disk: sessions that hooks missed, and sessions that are about to be
//! deleted.

use std::collections::{BTreeMap, BTreeSet};

use ::import::{SOURCES, Source, Transcript, path_hash};
use model::import::FileCursor;
use model::{Reply, limits};
use serde::Deserialize;
use serde_json::{Value, json};
use text::counted;

use crate::world;

/// A warning: the fault, and the command that helps.
pub(super) type HistoryWarning = (String, String);

/// Compares the transcripts of each agent with the records. Only names and sizes of files are read, except for those of
/// which a warning may follow.
pub(super) fn check_all(ask: &dyn Fn(&str, Value) -> Reply) -> Vec<HistoryWarning> {
    let now = client::clock::now_ms();
    let stats = ask("memory_stats", json!({})).unwrap_or_default();
    let mut checks = Vec::new();
    for source in SOURCES {
        let mut files = source.transcripts(&|name: &str| world::var(name), &mut Vec::new());
        files.retain(|file| !file.is_of_subagent);
        let Some(missing) = not_imported(ask, files) else { continue };
        let last =
            stats["agents"][source.name].as_i64().map(|seconds| seconds.saturating_mul(1000));
        checks.extend(last.and_then(|last| gap(source, &missing, last, now)));
        checks.extend(deletion(ask, source, &missing, now));
    }
    checks
}

#[derive(Deserialize)]
struct Imported {
    cursors: Vec<FileCursor>,
    sessions: Vec<String>,
}

fn imported(ask: &dyn Fn(&str, Value) -> Reply, params: Value) -> Option<Imported> {
    Imported::deserialize(&ask("import_cursors", params).ok()?).ok()
}

/// The transcripts that were not imported, or changed since.
fn not_imported(
    ask: &dyn Fn(&str, Value) -> Reply,
    files: Vec<Transcript>,
) -> Option<Vec<Transcript>> {
    let mut cursors = BTreeMap::new();
    for part in files.chunks(limits::IMPORT_CURSORS_MAX) {
        let hashes: Vec<String> = part.iter().map(|file| path_hash(file).to_string()).collect();
        let found = imported(ask, json!({ "files": hashes }))?.cursors;
        cursors.extend(found.into_iter().map(|cursor| (cursor.file.clone(), cursor)));
    }
    let is_missing = |file: &Transcript| {
        let cursor: Option<&FileCursor> = cursors.get(&path_hash(file).to_string());
        cursor.is_none_or(|cursor| !file.is_unchanged(cursor))
    };
    Some(files.into_iter().filter(is_missing).collect())
}

/// Sessions on disk that are newer than the last event of their agent: its hooks do not work.
fn gap(source: &Source, missing: &[Transcript], last: i64, now: i64) -> Option<HistoryWarning> {
    let newer = |file: &&Transcript| file.modified > last.saturating_add(limits::IMPORT_GAP_MS);
    let newer: Vec<&Transcript> = missing.iter().filter(newer).collect();
    // Agents also write threads for themselves, which an import leaves out. The newest files are read until their first
    // event; it is at the beginning of nearly all.
    let (read, unread) = newer.split_at(newer.len().min(limits::IMPORT_GAP_READ));
    let with_events = read.iter().filter(|file| ::import::has_event(source, file, now)).count();
    let count = (with_events + unread.len()) as u64;
    let what = counted(count, "session");
    let detail = format!("{what} of {} on disk newer than its last captured event", source.title);
    let hint = format!("`rekindle import {}` adds the sessions that hooks missed.", source.name);
    (count > 0).then_some((detail, hint))
}

/// Sessions that their agent is about to delete and of which no record is stored.
fn deletion(
    ask: &dyn Fn(&str, Value) -> Reply,
    source: &Source,
    missing: &[Transcript],
    now: i64,
) -> Option<HistoryWarning> {
    const DAY_MS: i64 = 86_400_000;
    let days = source.deleted_after_days(&|name: &str| world::var(name))?;
    let soon = i64::from(days.saturating_sub(limits::IMPORT_DELETION_DAYS)) * DAY_MS;
    let old = missing.iter().filter(|file| file.modified < now.saturating_sub(soon));
    let names: Vec<String> =
        old.take(limits::IMPORT_CURSORS_MAX).filter_map(Transcript::session_name).collect();
    if names.is_empty() {
        return None;
    }
    let known = imported(ask, json!({ "files": [], "sessions": names }))?.sessions;
    let known: BTreeSet<&String> = known.iter().collect();
    let count = names.iter().filter(|name| !known.contains(name)).count() as u64;
    let what = counted(count, "session");
    let detail = format!(
        "{what} of {agent} not imported, which {agent} will soon delete: it keeps sessions for {days} days",
        agent = source.title
    );
    let hint = format!("`rekindle import {}` stores them before that.", source.name);
    (count > 0).then_some((detail, hint))
}
