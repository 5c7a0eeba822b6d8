//! The subjects of recent commits.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::process;

/// Characters of a subject that `git log --oneline` and web pages show whole.
const SUBJECT_CHARS: usize = 72;
/// Older commits are not checked: their subjects can no longer be changed.
const RECENT: &str = "-30";

/// Notes about subjects that are too long. They do not fail: a commit that others have cannot be changed. Without git or a
/// repository there is none, and a shallow clone has fewer commits.
pub(crate) fn notes(root: &Path) -> Vec<String> {
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        let ran = process::run_ok(command.current_dir(root).args(args), Duration::from_secs(10));
        ran.map(|finished| finished.stdout.trim_end().to_owned()).ok()
    };
    let since = git(&["describe", "--tags", "--abbrev=0"]).map(|tag| format!("{tag}..HEAD"));
    let range = since.as_deref().unwrap_or("HEAD");
    let listed = git(&["log", "--no-merges", RECENT, "--format=%h %s", range]);
    listed.unwrap_or_default().lines().filter_map(note).collect()
}

/// The note about a line of a hash and a subject, if the subject is too long.
fn note(line: &str) -> Option<String> {
    let (hash, subject) = line.split_once(' ')?;
    let count = subject.chars().count();
    (count > SUBJECT_CHARS).then(|| {
        format!("the subject of commit {hash} has {count} characters, {SUBJECT_CHARS} is the most")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_subject_over_the_limit_is_noted() {
        let subject = "ü".repeat(SUBJECT_CHARS);
        assert_eq!(note(&format!("1a2b3c4 {subject}")), None);
        let too_long = note(&format!("1a2b3c4 {subject}x")).expect("a note");
        assert!(too_long.contains("1a2b3c4") && too_long.contains("73"), "{too_long}");
    }

    #[test]
    fn a_directory_without_a_repository_has_no_note() {
        for root in ["/", "/nonexistent"] {
            assert!(notes(Path::new(root)).is_empty(), "{root}");
        }
    }
}
