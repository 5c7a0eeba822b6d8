//! Files that were edited in this checkout, and neither committed nor taken back there since.

use contract::Slot;
use model::discard::EditAt;
use model::limits;
use model::observation::{ObsType, Observation};

use super::sections::{BriefingRow, SectionWriter};

/// Adds the files that were edited after the last commit, in one row. If no commit was recorded for long,
/// the user commits without the agent: then no row is added.
pub(super) fn add(writer: &mut SectionWriter<'_>, briefed: Option<&str>) {
    let place = writer.brief.place;
    if writer.work.commits.is_empty() {
        return;
    }
    // Earlier commits were not read.
    let all_read = writer.work.commits.len() < limits::BRIEFING_READ_COMMITS;
    let first = writer.work.commits.last().filter(|_| !all_read).map_or(i64::MIN, |one| one.at_ms);
    let is_open = |seen: &&Observation| {
        let is_here = checkout(seen, "worktree") == place.worktree();
        let is_own = briefed == Some(&*seen.session_id);
        is_here && !is_own && seen.at_ms > first && !is_settled(writer, seen)
    };
    let mut files: Vec<Observation> = writer.work.edits.iter().filter(is_open).cloned().collect();
    files.retain(|seen| writer.names_file(seen));
    let Some(newest) = files.first() else { return };
    let (id, at) = (newest.id, newest.at_ms);
    let named = files.iter().take(limits::BRIEFING_FILES_NAMED);
    let paths = named.filter_map(|seen| seen.file_path.as_deref());
    let names: Vec<&str> = paths.map(|path| writer.shown(path)).collect();
    let mut text = format!("edited after the last recorded commit: {}", names.join(", "));
    if files.len() > limits::BRIEFING_FILES_NAMED {
        text.push_str(&format!(" and {} more", files.len() - limits::BRIEFING_FILES_NAMED));
    }
    let reason = "edited, and no commit followed";
    writer.add(Slot::Open, BriefingRow { id, at, score: 0.85, reason, text, pinned: false });
}

/// Whether a later commit probably contains an edit, or a later command took it back. Records of commits do not name
/// their files.
pub(super) fn is_settled(writer: &SectionWriter<'_>, edit: &Observation) -> bool {
    let branch = writer.brief.place.branch();
    let holds = |commit: &Observation| commit.at_ms >= edit.at_ms && holds(commit, edit, branch);
    writer.work.commits.iter().any(holds) || is_discarded(writer, edit)
}

fn is_discarded(writer: &SectionWriter<'_>, edit: &Observation) -> bool {
    let Some(path) = edit.file_path.as_deref() else { return false };
    let (at, worktree) = (edit.at_ms, checkout(edit, "worktree"));
    let is_write = edit.obs_type.kind() == ObsType::FileWrite;
    writer.work.discards.cover(EditAt { at, path, worktree, is_write })
}

/// Whether a later commit may contain an edit. A commit in another working tree does not. Neither does a commit
/// of another session on another branch, if the branch of the edit is checked out. A session that switches to a
/// new branch takes its edits along.
fn holds(commit: &Observation, edit: &Observation, checked_out: Option<&str>) -> bool {
    let [from, to] = [edit, commit].map(|seen| checkout(seen, "branch"));
    let other_branch = from.is_some() && to.is_some() && from != to;
    checkout(commit, "worktree") == checkout(edit, "worktree")
        && (!other_branch || commit.session_id == edit.session_id || from != checked_out)
}

/// The branch or the work tree of a record.
fn checkout<'a>(seen: &'a Observation, member: &str) -> Option<&'a str> {
    seen.metadata.as_ref()?.get(member)?.as_str()
}
