//! Records of hooks for ghaps: runs as evidence, and tool calls for the reminders.

use model::event::Event;
use model::ghap::RunEvidence;
use model::hook::Happening;
use model::{OpError, limits};
use place::Captured;
use serde_json::json;
use store::{Tx, check_ins, ghaps};

use crate::runs::FinishedRun;
use crate::store_flag::StoreFlag;

/// Flags that tell whether the store may have rows that lead to texts about ghaps.
#[derive(Default)]
pub(crate) struct GhapFlags {
    /// A reminder that is due in any session.
    pub(super) due: StoreFlag,
    /// An active ghap of a session that runs tests or builds.
    pub(super) active: StoreFlag,
}

/// Counts a tool call that begins, and attaches a run that ended to the active ghap.
pub(crate) fn observe(tx: &Tx<'_>, seen: &Captured<'_>, flags: &GhapFlags) -> Result<(), OpError> {
    let (session, project) = (seen.session.id, seen.project.id);
    match &seen.event.what {
        Happening::ToolStarting(_) => {
            let counted = check_ins::count_call(tx, session, project, seen.event.at)?;
            if counted.due {
                flags.due.note(tx);
            }
        }
        Happening::ToolUsed(tool) => {
            let Some(run) = FinishedRun::of_ghap(tool) else { return Ok(()) };
            // `cd ../api && pytest` says nothing about this project.
            let Some(project) = seen.ran_in else { return Ok(()) };
            let Some(ghap) = ghaps::active(tx, session, project)? else { return Ok(()) };
            flags.active.note(tx);
            let Some(result) = run.result else { return Ok(()) };
            let at = seen.event.at;
            // A spooled run from before the ghap proves nothing about it.
            if at < ghap.started_at {
                return Ok(());
            }
            let run = RunEvidence {
                at,
                iteration: ghap.iteration,
                command: text::line_of_words(run.line, limits::GHAP_COMMAND_CHARS_MAX),
                program: run.program.to_owned(),
                subcommand: run.subcommand.to_owned(),
                result,
                passed: run.count("passed"),
                failed: run.count("failed"),
            };
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
