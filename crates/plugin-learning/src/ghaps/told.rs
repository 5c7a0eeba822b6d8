//! Texts of hooks about ghaps: a reminder every ten tool calls, the own hypothesis after the agent lost its context,
//! and the open hypotheses of earlier sessions.

use contract::{Candidate, Moment, Occasion, Slot};
use model::ghap::{Ghap, reason};
use model::hook::{Source, ToldEntry};
use model::{OpError, limits};
use store::{Rx, Tx, check_ins, ghaps, projects, sessions};

use super::observed::GhapFlags;

/// Orphans shown to a new session.
const ORPHANS_SHOWN: usize = 3;

pub(crate) fn may_have_candidates(occasion: &Occasion<'_>, flags: &GhapFlags) -> bool {
    match occasion {
        Occasion::SessionStart(_) => true,
        Occasion::Prompt(_) | Occasion::BeforeTool(_) | Occasion::AfterTool { .. } => {
            flags.due.may_be()
        }
        Occasion::Handoff { .. } | Occasion::Question { .. } => false,
    }
}

pub(crate) fn candidates(
    moment: &Moment<'_>,
    flags: &GhapFlags,
) -> Result<Vec<Candidate>, OpError> {
    if !may_have_candidates(&moment.occasion, flags) {
        return Ok(Vec::new());
    }
    moment.store.read(|rx| {
        let project = projects::known(rx, &moment.place.facts)?;
        let session = moment.session.map(|name| sessions::id_of(rx, name)).transpose()?.flatten();
        let Some(project) = project.map(|project| project.id) else { return Ok(Vec::new()) };
        match moment.occasion {
            Occasion::SessionStart(source) => at_start(rx, moment.now, source, (session, project)),
            _ => {
                let noted = flags.due.noted();
                let found = reminder(rx, (session, project))?;
                let since = moment.now.saturating_sub(limits::GHAP_ORPHAN_MS);
                if !check_ins::any_due(rx, since)? {
                    flags.due.none_since(noted);
                }
                Ok(found.into_iter().collect())
            }
        }
    })
}

fn reminder(
    rx: &Rx<'_>,
    (session, project): (Option<i64>, i64),
) -> Result<Option<Candidate>, OpError> {
    let Some(session) = session else { return Ok(None) };
    let Some(due) = check_ins::due(rx, session, project)? else { return Ok(None) };
    let Some(ghap) = ghaps::active(rx, session, project)? else { return Ok(None) };
    let mut lines = reminder_lines(&ghap);
    let first = lines.remove(0);
    Ok(Some(Candidate {
        stamp: due,
        score: 0.9,
        reasons: vec![reason::CHECK_IN.to_owned()],
        cells: vec![first],
        more: lines,
        ..row(&ghap, Slot::CheckIn)
    }))
}

/// The lines of a reminder.
pub(super) fn reminder_lines(ghap: &Ghap) -> Vec<String> {
    vec![
        format!("Goal: {}", shown(&ghap.goal)),
        format!("Hypothesis: {}", shown(&ghap.hypothesis)),
        format!("Prediction: {}", shown(&ghap.prediction)),
        "Does it still hold? update_ghap changes it; resolve_ghap ends it as confirmed, falsified or abandoned."
            .to_owned(),
    ]
}

fn at_start(
    rx: &Rx<'_>,
    now: i64,
    source: Source,
    (session, project): (Option<i64>, i64),
) -> Result<Vec<Candidate>, OpError> {
    let mut rows = Vec::new();
    if let Some(session) = session.filter(|_| source == Source::Resume || source.forgot())
        && let Some(ghap) = ghaps::active(rx, session, project)?
    {
        let (goal, hypothesis) = (shown(&ghap.goal), shown(&ghap.hypothesis));
        rows.push(Candidate {
            // A new stamp each time: a session that resumes gets the row again.
            stamp: now,
            score: 0.95,
            reasons: vec![format!("{}: the active ghap of this session", reason::CHECK_IN)],
            cells: vec![format!("active ghap {}: {goal}. Hypothesis: {hypothesis}", ghap.name)],
            more: vec![format!("Prediction: {}", shown(&ghap.prediction))],
            ..row(&ghap, Slot::Open)
        });
    }
    let quiet_since = now.saturating_sub(limits::GHAP_ORPHAN_MS);
    let orphans = ghaps::orphans(rx, project, session, quiet_since)?;
    for (place, ghap) in orphans.iter().take(ORPHANS_SHOWN).enumerate() {
        let (goal, hypothesis) = (shown(&ghap.goal), shown(&ghap.hypothesis));
        rows.push(Candidate {
            stamp: ghap.changed_at,
            score: 0.8 - 0.01 * place as f64,
            reasons: vec![reason::ORPHAN.to_owned()],
            cells: vec![format!("orphaned ghap {}: {goal}. Hypothesis: {hypothesis}", ghap.name)],
            more: vec![
                "adopt_orphaned_ghap continues it; abandon_orphaned_ghap with a reason ends it."
                    .to_owned(),
            ],
            ..row(ghap, Slot::Open)
        });
    }
    Ok(rows)
}

fn row(ghap: &Ghap, slot: Slot) -> Candidate {
    Candidate { path: format!("{}://{}", ghaps::SCHEME, ghap.name), ..Candidate::new(slot) }
}

fn shown(text: &str) -> String {
    text::line_of_words(text, limits::RED_FINDING_CHARS)
}

/// Notes that a session got its reminder, so that it is not shown again.
pub(crate) fn delivered(tx: &Tx<'_>, session: &str, entries: &[ToldEntry]) -> Result<(), OpError> {
    let Some(reminder) = entries.iter().find(|entry| entry.reason == reason::CHECK_IN) else {
        return Ok(());
    };
    match sessions::id_of(tx, session)? {
        Some(session) => check_ins::shown(tx, session, reminder.stamp),
        None => Ok(()),
    }
}
