//! Where Claude Code keeps its sessions and its memories, and for how long.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::rows::Environment;

/// The folder below Application Support where Claude Desktop has a folder `.claude` for each of its sessions.
const DESKTOP: &str = "local-agent-mode-sessions";
/// Days after which Claude Code deletes its transcripts, unless its settings say otherwise.
const DELETED_AFTER_DAYS: u32 = 30;
/// Bytes of a file of settings; real ones have some thousands.
const SETTINGS_BYTES_MAX: u64 = 1024 * 1024;

fn root(var: &Environment<'_>) -> Option<PathBuf> {
    let home = || Some(PathBuf::from(var("HOME")?).join(".claude"));
    var("CLAUDE_CONFIG_DIR").map(PathBuf::from).or_else(home)
}

/// The folders with transcripts: those of Claude Code and, on macOS, of Claude Desktop.
pub(crate) fn folders(var: &Environment<'_>) -> Vec<PathBuf> {
    let desktop =
        |home: String| PathBuf::from(home).join("Library/Application Support/Claude").join(DESKTOP);
    root(var)
        .map(|root| root.join("projects"))
        .into_iter()
        .chain(var("HOME").map(desktop))
        .collect()
}

/// Whether a file of these folders is a transcript, by its name. Claude Desktop has other files beside them.
pub(crate) fn is_transcript(path: &Path) -> bool {
    let has = |name: &str| path.components().any(|part| part.as_os_str() == name);
    let is_lines = path.extension().is_some_and(|extension| extension == "jsonl");
    is_lines && (!has(DESKTOP) || has(".claude") && has("projects"))
}

/// Whether a file is that of a subagent. Older versions keep it beside that of its session.
pub(crate) fn is_of_subagent(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.components().any(|part| part.as_os_str() == "subagents")
        || name.starts_with("agent-") && name.ends_with(".jsonl")
}

/// Days after which Claude Code deletes its transcripts.
pub(crate) fn deleted_after_days(var: &Environment<'_>) -> Option<u32> {
    let settings = root(var).and_then(|root| settings(&root.join("settings.json")));
    let days = settings.and_then(|settings| settings["cleanupPeriodDays"].as_u64());
    Some(days.map_or(DELETED_AFTER_DAYS, |days| u32::try_from(days).unwrap_or(u32::MAX)))
}

/// The folder into which a file of settings moves the memories that Claude Code writes itself.
pub(crate) fn memory_folder(settings_file: &Path, home: &Path) -> Option<PathBuf> {
    let settings = settings(settings_file)?;
    let folder = settings["autoMemoryDirectory"].as_str().filter(|folder| !folder.is_empty())?;
    let folder = match folder.strip_prefix("~/") {
        Some(below) => home.join(below),
        None => PathBuf::from(folder),
    };
    folder.is_absolute().then_some(folder)
}

fn settings(file: &Path) -> Option<Value> {
    serde_json::from_slice(&regular::read(file, SETTINGS_BYTES_MAX).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claude_desktop_has_transcripts_among_other_files() {
        let desktop = "/Users/me/Library/Application Support/Claude/local-agent-mode-sessions/a/b";
        let is = |path: &str| is_transcript(Path::new(path));
        assert!(is("/home/me/.claude/projects/-shop/s.jsonl"));
        assert!(is("/moved/projects/-shop/s.jsonl"));
        assert!(is(&format!("{desktop}/local_1/.claude/projects/-shop/s.jsonl")));
        assert!(!is(&format!("{desktop}/local_1/audit.jsonl")));
        let var = |name: &str| (name == "HOME").then(|| "/Users/me".to_owned());
        assert!(folders(&var).iter().any(|folder| desktop.starts_with(&*folder.to_string_lossy())));
    }

    #[test]
    fn a_subagent_has_its_own_file() {
        let is = |path: &str| is_of_subagent(Path::new(path));
        assert!(is("/p/-shop/s/subagents/workflows/w/agent-1.jsonl"));
        assert!(is("/p/-shop/agent-1.jsonl"));
        assert!(!is("/p/-agent-shop/s.jsonl"));
    }
}
