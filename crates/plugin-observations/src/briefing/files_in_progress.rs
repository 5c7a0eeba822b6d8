//! The section `Files in progress`: files that were edited and not committed since. Files of the last session
//! are listed with what changed, earlier ones only by name.

use std::collections::BTreeSet;

use contract::Slot;
use model::limits;
use model::observation::Observation;

use super::sections::{BriefingRow, SectionWriter};
use super::uncommitted;

/// Adds the project's files that no row names yet. Each file of the last session has a row with what changed. The
/// others share one row: the next session seldom needs more than their names.
pub(super) fn add(writer: &mut SectionWriter<'_>) {
    let briefed = writer.briefed();
    let newest = writer.work.edits.first().map_or(0, |seen| seen.at_ms);
    let is_wanted = |seen: &&Observation| {
        briefed.as_deref() != Some(&*seen.session_id)
            && newest.saturating_sub(seen.at_ms) <= limits::BRIEFING_FILES_MS
            && !uncommitted::is_settled(writer, seen)
    };
    let edits: Vec<Observation> = writer.work.edits.iter().filter(is_wanted).cloned().collect();
    let last = last_edited(writer);
    let mut rows = 0;
    let mut before: Vec<Observation> = Vec::new();
    for seen in edits {
        if !writer.names_file(&seen) {
            continue;
        }
        let is_last = seen.file_path.as_ref().is_some_and(|path| last.contains(path));
        if is_last && rows + 1 < limits::BRIEFING_FILES_MAX {
            rows += 1;
            let text = writer.change(&seen);
            add_row(writer, &seen, 0.3, text);
        } else if before.len() < limits::BRIEFING_FILES_NAMED {
            before.push(seen);
        }
    }
    let Some(first) = before.first() else { return };
    let paths = before.iter().filter_map(|seen| seen.file_path.as_deref());
    let names: Vec<&str> = paths.map(|path| writer.shown(path)).collect();
    let text = format!("also edited lately: {}", names.join(", "));
    add_row(writer, first, 0.1, text);
}

fn add_row(writer: &mut SectionWriter<'_>, seen: &Observation, weight: f64, text: String) {
    let (id, at, reason) = (seen.id, seen.at_ms, "edited lately");
    let score = weight + 0.2 * writer.recency(at);
    writer.add(Slot::Files, BriefingRow { id, at, score, reason, text, pinned: false });
}

/// The paths with uncommitted edits of the last session that has some, without the session that is briefed.
pub(super) fn last_edited(writer: &SectionWriter<'_>) -> BTreeSet<String> {
    let briefed = writer.briefed();
    let is_wanted = |seen: &&Observation| {
        briefed.as_deref() != Some(&*seen.session_id) && !uncommitted::is_settled(writer, seen)
    };
    let mut edits = writer.work.edits.iter().filter(is_wanted).peekable();
    let last = edits.peek().map(|seen| seen.session_id.clone());
    let of_last = edits.filter(|seen| last.as_ref() == Some(&seen.session_id));
    of_last.filter_map(|seen| seen.file_path.clone()).collect()
}
