//! Records of hooks for ghaps: runs as evidence, and tool calls for the reminders.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use model::event::Event;
use model::ghap::{RunEvidence, RunResult};
use model::hook::{Happening, ToolUse};
use model::{OpError, limits};
use place::Captured;
use serde_json::{Value, json};
use store::{Tx, check_ins, ghaps};

/// Whether a reminder may be due in any session, so that most tool calls do not read the store for one.
#[derive(Clone, Debug)]
pub(crate) struct DueReminders {
    /// Rises with each reminder that becomes due; 0 if none is.
    noted: Arc<AtomicU64>,
}

impl Default for DueReminders {
    /// An earlier process may have left one.
    fn default() -> DueReminders {
        DueReminders { noted: Arc::new(AtomicU64::new(1)) }
    }
}

impl DueReminders {
    pub(crate) fn may_be(&self) -> bool {
        self.noted() > 0
    }

    pub(super) fn noted(&self) -> u64 {
        self.noted.load(Ordering::Relaxed)
    }

    /// Notes that none is due, unless one became due since `noted` was read.
    pub(super) fn none_since(&self, noted: u64) {
        let _ = self.noted.compare_exchange(noted, 0, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Notes after COMMIT that one is due.
    pub(super) fn note(&self, tx: &Tx<'_>) {
        let noted = self.noted.clone();
        tx.after_commit(Box::new(move || {
            noted.fetch_add(1, Ordering::Relaxed);
        }));
    }
}

/// Counts a tool call that begins, and attaches a run that ended to the active ghap.
pub(crate) fn observe(tx: &Tx<'_>, seen: &Captured<'_>, due: &DueReminders) -> Result<(), OpError> {
    let (session, project) = (seen.session.id, seen.project.id);
    match &seen.event.what {
        Happening::ToolStarting(_) => {
            let counted = check_ins::count_call(tx, session, project, seen.event.at)?;
            if counted.due {
                due.note(tx);
            }
        }
        Happening::ToolUsed(tool) => {
            let Some(run) = run_of(tool, seen.event.at) else { return Ok(()) };
            let Some(ghap) = ghaps::active(tx, session, project)? else { return Ok(()) };
            // A spooled run from before the ghap proves nothing about it.
            if run.at < ghap.started_at {
                return Ok(());
            }
            let run = RunEvidence { iteration: ghap.iteration, ..run };
            ghaps::add_evidence(tx, &ghap, &run)?;
            let subject = format!("{}://{}", ghaps::SCHEME, ghap.name);
            let data = json!({ "result": run.result, "summary": run.counts() });
            let event = Event::new("ghap/evidence", subject).with_data(data);
            tx.note(Event { project: Some(project), ..event })?;
        }
        _ => {}
    }
    Ok(())
}

/// The run of a tool use, if it is a test or a build that ended with a known result.
fn run_of(tool: &ToolUse, at: i64) -> Option<RunEvidence> {
    let metadata: &Value = &tool.metadata;
    let run = metadata.get("run")?;
    let is = |name: &str| metadata.get(name).and_then(Value::as_bool) == Some(true);
    if is("is_interrupt") || is("background") {
        return None;
    }
    let word = |value: &Value, name: &str| {
        value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let line = tool.command.as_ref().unwrap_or(&tool.content);
    Some(RunEvidence {
        at,
        iteration: 0,
        command: text::line_of_words(line, limits::GHAP_COMMAND_CHARS_MAX),
        program: Some(word(metadata, "program")).filter(|program| !program.is_empty())?,
        subcommand: word(metadata, "subcommand"),
        result: RunResult::parse(&word(run, "result"))?,
        passed: run.get("passed").and_then(Value::as_u64),
        failed: run.get("failed").and_then(Value::as_u64),
    })
}
