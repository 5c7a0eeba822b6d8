//! An agent's event becomes records: session, prompt, observation, summary, all in one transaction.

use model::OpError;
use model::hook::{Answer, Ends, Happening, HookEvent, Source, ToolUse};
use model::limits;
use model::observation::ObsType;
use model::origin::Origin;
use model::session::PromptSource;
use place::{Captured, changed_files};
use serde_json::{Value, json};
use store::observations::{self, Added, NewObservation};
use store::origins::KnownOrigin;
use store::prompts::{self, NewPrompt};
use store::sessions::{self, Seen};
use store::{Rx, Tx, import_effects, origins, receipts, retention};
use text::secrets::{Profile, Redacted, redact, redact_json, redact_place};

use crate::run_place;
use crate::settings::Settings;

/// Stores the records of an event.
pub(crate) fn ingest(
    tx: &Tx<'_>,
    captured: &Captured<'_>,
    settings: &Settings,
) -> Result<(), OpError> {
    let (event, seen) = (&*captured.event, captured.session);
    if captured.is_imported() && is_expired(tx, event, settings)? {
        return Ok(());
    }
    match &event.what {
        Happening::SessionStarted(source) => {
            started(tx, event, seen, *source)?;
            sweep_if_due(tx, event, settings)
        }
        Happening::Prompted(text) => prompted(tx, captured, text),
        Happening::ToolUsed(tool) => used(tx, captured, tool, settings),
        Happening::Answered(answer) => {
            if settings.answers {
                answered(tx, captured, answer)?;
            }
            match answer.ends {
                Ends::Turn => turn_ended(tx, captured, settings),
                Ends::Subagent | Ends::Message => Ok(()),
            }
        }
        Happening::TurnEnded => turn_ended(tx, captured, settings),
        Happening::Compacting => {
            sessions::summarise_later(tx, seen.id);
            Ok(())
        }
        Happening::SessionEnded { reason } => {
            ended(tx, event, seen, reason.as_ref())?;
            summarised(tx, captured, settings)
        }
        // These only show that the session is active, which is noted already.
        Happening::ToolStarting(_)
        | Happening::SubagentEnded
        | Happening::Compacted
        | Happening::CwdChanged(_)
        | Happening::Told(_)
        | Happening::Other => Ok(()),
    }
}

fn started(tx: &Tx<'_>, event: &HookEvent, seen: Seen, source: Source) -> Result<(), OpError> {
    let (kind, word) = match source {
        Source::Startup => (ObsType::SessionStart, "startup"),
        Source::Resume => (ObsType::SessionResume, "resume"),
        Source::Clear => (ObsType::SessionClear, "clear"),
        Source::Compact => (ObsType::SessionCompact, "compact"),
        Source::Fork => (ObsType::SessionFork, "fork"),
    };
    if source.forgot() {
        receipts::reset(tx, seen.id)?;
    }
    if source == Source::Fork
        && seen.new
        && let Some(parent) = sessions::latest_before(tx, seen.project, seen.id, event.at)?
    {
        sessions::set_parent(tx, seen.id, parent)?;
    }
    marked(tx, event, seen, kind, word, None)
}

fn ended(
    tx: &Tx<'_>,
    event: &HookEvent,
    seen: Seen,
    reason: Option<&Redacted<String>>,
) -> Result<(), OpError> {
    let reason = reason.map(|reason| redact_json(json!({ "reason": **reason }), Profile::Strict));
    marked(tx, event, seen, ObsType::SessionEnd, "end", reason.as_ref())?;
    sessions::end(tx, seen.id, event.at)
}

/// Stores a record about a moment of the session itself, such as its start.
fn marked(
    tx: &Tx<'_>,
    event: &HookEvent,
    seen: Seen,
    kind: ObsType,
    word: &str,
    metadata: Option<&Redacted<Value>>,
) -> Result<(), OpError> {
    let content = redact(word, Profile::Strict);
    let new = NewObservation {
        session: seen.id,
        project: seen.project,
        prompt: None,
        at: event.at,
        kind,
        source_event: &event.name,
        tool: None,
        file_path: None,
        content: &content,
        metadata,
        failed: false,
        agent_id: None,
        batch: None,
    };
    observations::add(tx, &new, &observations::Folding::default()).map(drop)
}

fn prompted(tx: &Tx<'_>, captured: &Captured<'_>, text: &Redacted<String>) -> Result<(), OpError> {
    let (event, seen) = (&*captured.event, captured.session);
    observations::forget_repeats(tx, seen.id, event.at, captured.batch)?;
    if text.trim().is_empty() {
        return Ok(());
    }
    let prompt = NewPrompt {
        session: seen.id,
        project: seen.project,
        at: event.at,
        source: PromptSource::User,
        source_event: &event.name,
        content: text,
        agent_prompt_id: event.prompt_id.as_deref(),
    };
    let id = prompts::add(tx, &prompt)?;
    note_record(tx, captured, Added::New(id))
}

/// Notes the event's record, and stores where it comes from, so that it is stored once.
fn note_record(tx: &Tx<'_>, captured: &Captured<'_>, added: Added) -> Result<(), OpError> {
    // `Known`: an import found a record that a hook had stored; that record did not change.
    if !matches!(added, Added::Known(_)) {
        captured.note_record(added);
    }
    let Some(origin) = captured.origin else { return Ok(()) };
    note_origin(tx, captured, origin, added)
}

fn note_origin(
    tx: &Tx<'_>,
    captured: &Captured<'_>,
    origin: Origin,
    added: Added,
) -> Result<(), OpError> {
    if let (Some(batch), Added::Known(record)) = (captured.batch, added) {
        import_effects::claim(tx, batch, record)?;
    }
    origins::add(tx, origin, added.id(), captured.batch)
}

fn answered(tx: &Tx<'_>, captured: &Captured<'_>, answer: &Answer) -> Result<(), OpError> {
    let (event, seen) = (&*captured.event, captured.session);
    let metadata = answer.failed.then(|| redact_json(json!({ "failed": true }), Profile::Strict));
    let estimated = estimated(event);
    let metadata = match (metadata, captured.checkout.as_ref().or(estimated.as_ref())) {
        (Some(metadata), Some(checkout)) => Some(metadata.with(checkout)),
        (metadata, checkout) => metadata.or_else(|| checkout.cloned()),
    };
    let new = NewObservation {
        session: seen.id,
        project: seen.project,
        prompt: prompts::cause(tx, seen.id, event.prompt_id.as_deref(), event.at)?,
        at: event.at,
        kind: ObsType::Answer,
        source_event: &event.name,
        tool: None,
        file_path: None,
        content: &answer.text,
        metadata: metadata.as_ref(),
        failed: answer.failed,
        agent_id: event.agent_id.as_deref(),
        batch: captured.batch,
    };
    let added = observations::add_answer(tx, &new)?;
    note_record(tx, captured, added)
}

/// Metadata that marks the time of a record as estimated, because its transcript has none. A transcript has no
/// checkout.
fn estimated(event: &HookEvent) -> Option<Redacted<Value>> {
    let is_estimated = event.transcript.as_ref().is_some_and(|facts| facts.estimated);
    is_estimated.then(|| redact_json(json!({ "estimated": true }), Profile::Strict))
}

/// Ends a turn: marks the session idle and schedules a new summary.
fn turn_ended(tx: &Tx<'_>, captured: &Captured<'_>, settings: &Settings) -> Result<(), OpError> {
    sessions::idle(tx, captured.session.id)?;
    summarised(tx, captured, settings)
}

fn used(
    tx: &Tx<'_>,
    captured: &Captured<'_>,
    tool: &ToolUse,
    settings: &Settings,
) -> Result<(), OpError> {
    let (event, seen) = (&*captured.event, captured.session);
    let checkout = captured.checkout.as_ref();
    let estimated = estimated(event);
    let run = run_place::with_directory(tool, captured);
    let metadata = run.as_ref().unwrap_or(&tool.metadata);
    let located = checkout.or(estimated.as_ref()).map(|more| metadata.with(more));
    let metadata = located.as_ref().unwrap_or(metadata);
    let file_path = tool.file_path.as_ref().map(|path| absolute(path, event.cwd.as_ref()));
    let prompt = prompts::cause(tx, seen.id, event.prompt_id.as_deref(), event.at)?;
    let new = NewObservation {
        session: seen.id,
        project: seen.project,
        prompt,
        at: event.at,
        kind: tool.obs_type,
        source_event: &event.name,
        tool: Some(&tool.tool),
        file_path: file_path.as_ref(),
        content: &tool.content,
        metadata: Some(metadata),
        failed: tool.failed,
        agent_id: event.agent_id.as_deref(),
        batch: captured.batch,
    };
    let added = observations::add(tx, &new, &settings.folding)?;
    note_record(tx, captured, added)?;
    // A change of several files has a record for each, so that each file's history lists it. Only the first record
    // contains the change.
    for path in changed_files(tool).filter(|_| !tool.failed) {
        let path = absolute(&redact_place(path, Profile::Strict), event.cwd.as_ref());
        if Some(&*path) == file_path.as_deref() {
            continue;
        }
        let content =
            redact(&format!("Edit {}", shown(&path, event.cwd.as_ref())), Profile::Strict);
        let content = content.line(limits::OBSERVED_EDIT_CHARS_MAX);
        let other =
            NewObservation { file_path: Some(&path), content: &content, metadata: checkout, ..new };
        let added = observations::add(tx, &other, &settings.folding)?;
        if let Some(origin) = captured.origin.filter(|_| captured.is_imported()) {
            let origin = origin_of_file(origin, &path);
            note_origin(tx, captured, origin, added)?;
        }
    }
    Ok(())
}

/// The origin of the further record that a change of several files has for this file.
fn origin_of_file(of_change: Origin, path: &str) -> Origin {
    Origin::of(&["file", &of_change.to_string(), path])
}

/// Keeps the records of the further files of a change, which an import added, for the hook that reports the change now.
pub(crate) fn reported_too(tx: &Tx<'_>, captured: &Captured<'_>) -> Result<(), OpError> {
    let (Happening::ToolUsed(tool), Some(origin)) = (&captured.event.what, captured.origin) else {
        return Ok(());
    };
    for path in changed_files(tool) {
        let path = absolute(&redact_place(path, Profile::Strict), captured.event.cwd.as_ref());
        let origin = origin_of_file(origin, &path);
        if let Some(KnownOrigin::Stored(record)) = origins::find(tx, origin)? {
            import_effects::keep_for_hook(tx, origin, record)?;
        }
    }
    Ok(())
}

/// The path relative to the agent's working directory, if it is below it.
fn shown<'a>(path: &'a str, cwd: Option<&Redacted<String>>) -> &'a str {
    let inside = cwd.and_then(|cwd| path.strip_prefix(cwd.trim_end_matches('/')));
    inside.and_then(|path| path.strip_prefix('/')).unwrap_or(path)
}

/// The absolute path, so that a file has one path whatever the agent's working directory is.
fn absolute(path: &Redacted<String>, cwd: Option<&Redacted<String>>) -> Redacted<String> {
    match cwd {
        Some(cwd) if !path.starts_with(['/', '~']) && cwd.starts_with('/') => {
            let inside = path.trim_start_matches("./");
            redact_place(&format!("{}/{inside}", cwd.trim_end_matches('/')), Profile::Strict)
        }
        _ => path.clone(),
    }
}

/// Schedules a new summary of the session, and deletes expired records if a sweep is due.
fn summarised(tx: &Tx<'_>, captured: &Captured<'_>, settings: &Settings) -> Result<(), OpError> {
    let (event, seen) = (&*captured.event, captured.session);
    sessions::summarise_later(tx, seen.id);
    observations::forget_repeats(tx, seen.id, event.at, captured.batch)?;
    match captured.is_imported() {
        true => Ok(()),
        false => sweep_if_due(tx, event, settings),
    }
}

/// Whether no record of an event of a transcript would be stored.
pub(crate) fn leaves_out(
    rx: &Rx<'_>,
    event: &HookEvent,
    settings: &Settings,
) -> Result<bool, OpError> {
    let is_off = matches!(event.what, Happening::Answered(_)) && !settings.answers;
    Ok(is_off || is_expired(rx, event, settings)?)
}

/// Whether retention would delete the event's record at once.
fn is_expired(rx: &Rx<'_>, event: &HookEvent, settings: &Settings) -> Result<bool, OpError> {
    let Some(rules) = &settings.retention else { return Ok(false) };
    let kind = match &event.what {
        Happening::Prompted(_) => ObsType::UserPrompt,
        Happening::Answered(_) => ObsType::Answer,
        Happening::ToolUsed(tool) => tool.obs_type,
        _ => return Ok(false),
    };
    Ok(!rules.keeps(kind, event.at, retention::clock(rx)?))
}

/// Deletes a batch of expired records, unless a sweep ran lately. The store keeps a row about each sweep.
fn sweep_if_due(tx: &Tx<'_>, event: &HookEvent, settings: &Settings) -> Result<(), OpError> {
    let Some(rules) = &settings.retention else { return Ok(()) };
    let now = event.at.min(retention::clock(tx)?);
    if retention::is_due(tx, now)? {
        retention::sweep(tx, rules, now, limits::SWEEP_BUDGET)?;
    }
    Ok(())
}
