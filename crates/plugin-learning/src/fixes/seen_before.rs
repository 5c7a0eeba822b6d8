//! Failures at the hooks: a run that ended is recorded, and a failure that was seen before brings its fix.

use agents::shell;
use contract::{Candidate, Moment, Occasion, OpError, Slot};
use model::ghap::RunResult;
use model::hook::{Happening, ToolUse};
use model::{limits, run, time};
use place::{Captured, is_run_of};
use store::failures::{self, EndedRun, RunKind};
use store::observations::Added;
use store::{Tx, observations, receipts, sessions};

use super::account::KnownFailure;
use crate::runs::FinishedRun;

/// The kind and the result of a test run or a build that ended; none for other tools, for one that was interrupted or
/// continues in the background, and for an unknown result.
fn ended(tool: &ToolUse) -> Option<(RunKind<'_>, bool)> {
    let FinishedRun { program, subcommand, result, .. } = FinishedRun::of(tool)?;
    Some((RunKind { program, subcommand }, result? == RunResult::Passed))
}

/// Records a run that ended, and whether a fix that the session got was used. `record` is the record of the run.
pub(crate) fn recorded(tx: &Tx<'_>, seen: &Captured<'_>, record: Added) -> Result<(), OpError> {
    let Happening::ToolUsed(tool) = &seen.event.what else { return Ok(()) };
    let Some((kind, has_passed)) = ended(tool).filter(|_| seen.ran_in_session_project) else {
        return Ok(());
    };
    let at = seen.event.at;
    let (session, project) = (seen.session.id, seen.session.project);
    let ended = EndedRun { kind, session, project, at, record };
    if !has_passed {
        return failures::failed(tx, &ended, &run::fingerprint(&tool.metadata), &tool.content);
    }
    let line = tool.command.as_ref().unwrap_or(&tool.content);
    failures::passed(tx, &ended, line)?;
    // The stamp of such a receipt is the record of the run that the session was shown as the fix.
    for (path, fix) in receipts::unused(tx, seen.session.id, failures::SCHEME)? {
        let fix = observations::one(tx, fix)?;
        if fix.is_some_and(|fix| shell::runs_line(&fix.content, line)) {
            receipts::mark_used(tx, seen.session.id, &path)?;
        }
    }
    Ok(())
}

/// Whether a fix may be shown at this occasion.
pub(crate) fn may_have_candidates(occasion: &Occasion<'_>) -> bool {
    matches!(failed_run(occasion), Some((_, false)))
}

fn failed_run<'t>(occasion: &Occasion<'t>) -> Option<(RunKind<'t>, bool)> {
    match *occasion {
        Occasion::AfterTool { tool, failed: true } => ended(tool),
        _ => None,
    }
}

/// The fix of the failure that just happened, if it was seen and fixed before.
pub(crate) fn candidates(moment: &Moment<'_>) -> Result<Vec<Candidate>, OpError> {
    let Occasion::AfterTool { tool, .. } = moment.occasion else { return Ok(Vec::new()) };
    let (Some((kind, false)), Some(session)) = (failed_run(&moment.occasion), moment.session)
    else {
        return Ok(Vec::new());
    };
    let lines = run::fingerprint(&tool.metadata);
    let root = moment.place.facts.root.as_deref();
    let line = tool.command.as_ref().unwrap_or(&tool.content);
    let found = moment.store.read(|rx| {
        let Some(project) = sessions::project_of(rx, session)? else { return Ok(None) };
        if !is_run_of(rx, project, &moment.ran_in.facts)? {
            return Ok(None);
        }
        let alike = failures::find(rx, Some(&[project]), Some(kind), &lines)?;
        match alike.into_iter().find(|failure| !failure.fixes.is_empty()) {
            Some(failure) => KnownFailure::read(rx, &failure, root, Some(line)),
            None => Ok(None),
        }
    })?;
    Ok(found.and_then(|known| candidate(&known, line, moment.now)).into_iter().collect())
}

fn candidate(known: &KnownFailure, line: &str, now: i64) -> Option<Candidate> {
    let fix = known.fix.as_ref()?;
    let between = fix.in_between();
    let is_same_line = fix.same_command || fix.is_of_line(line);
    let ago = time::age(time::parse_rfc3339(&fix.at).unwrap_or(now), now);
    // This failure is recorded already.
    let seen = match known.seen.saturating_sub(1) {
        0 | 1 => "once before".to_owned(),
        count => format!("{} before", text::counted(count, "time")),
    };
    let said = match (is_same_line, between.is_empty()) {
        // The command alone was not the fix, and nothing else is known.
        (true, true) => return None,
        (true, false) => format!("Seen {seen}. Before it passed ({ago}): {between}"),
        (false, true) => format!("Seen {seen}. Then `{}` passed ({ago})", fix.command),
        (false, false) => {
            format!("Seen {seen}. Then `{}` passed ({ago}); in between: {between}", fix.command)
        }
    };
    Some(Candidate {
        path: known.path.clone(),
        stamp: fix.id,
        score: 0.9,
        reasons: vec![format!("this failure was seen {seen} and fixed")],
        cells: vec![text::one_line(&said, limits::FIX_CHARS_MAX)],
        ..Candidate::new(Slot::SeenBefore)
    })
}
