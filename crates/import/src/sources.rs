//! Where agents keep their transcripts. One row per agent.

use std::fs::{self, DirEntry};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use model::limits;
use transcripts::{ClaudeCode, Codex, GeminiCli, SessionPlace, TranscriptReader};

use crate::{bytes, gemini_cli};

/// Returns an environment variable.
pub type Environment<'e> = dyn Fn(&str) -> Option<String> + 'e;

/// An agent whose transcripts can be read.
pub struct Source {
    /// The agent's name.
    pub name: &'static str,
    /// The agent's name for people.
    pub title: &'static str,
    /// The folders with transcripts. The function returns an environment variable.
    folders: fn(&Environment<'_>) -> Vec<PathBuf>,
    /// Whether a file of such a folder is a transcript, by its name.
    is_transcript: fn(&Path) -> bool,
    /// Whether the first bytes of a file are of a transcript.
    begins_like: fn(&str) -> bool,
    /// Whether the names of its files begin with their time. A fork repeats the lines of an earlier file with new times,
    /// so that the earlier file has to be read first.
    is_ordered_by_name: bool,
    /// Days after which the agent deletes its transcripts, unless its settings say otherwise.
    pub deleted_after_days: Option<u32>,
    /// Facts about the session of a file that only its place tells.
    place: fn(&Path) -> Option<SessionPlace>,
    pub(crate) reader: fn() -> Box<dyn TranscriptReader>,
}

/// All sources, in the order in which they are imported.
pub const SOURCES: &[Source] = &[CLAUDE_CODE, CODEX, GEMINI_CLI];

const CLAUDE_CODE: Source = Source {
    name: "claude-code",
    title: "Claude Code",
    folders: |var| {
        let home = || Some(PathBuf::from(var("HOME")?).join(".claude"));
        let root = var("CLAUDE_CONFIG_DIR").map(PathBuf::from).or_else(home);
        root.map(|root| root.join("projects")).into_iter().collect()
    },
    is_transcript: |path| path.extension().is_some_and(|extension| extension == "jsonl"),
    begins_like: |head| {
        let is_line = head.contains(r#""sessionId":"#) && head.contains(r#""type":"#);
        is_line && !head.contains(r#""projectHash":"#) || head.contains(r#""leafUuid":"#)
    },
    is_ordered_by_name: false,
    deleted_after_days: Some(30),
    place: |_| None,
    reader: || Box::new(ClaudeCode::default()),
};

const CODEX: Source = Source {
    name: "codex",
    title: "Codex",
    folders: |var| {
        let home = || Some(PathBuf::from(var("HOME")?).join(".codex"));
        let root = var("CODEX_HOME").map(PathBuf::from).or_else(home);
        let folders = ["sessions", "archived_sessions"];
        root.iter().flat_map(|root| folders.map(|folder| root.join(folder))).collect()
    },
    is_transcript: |path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("rollout-") && (name.ends_with(".jsonl") || name.ends_with(".jsonl.zst"))
    },
    begins_like: |head| {
        let first = head.lines().next().unwrap_or_default();
        let is_bare = first.contains(r#""instructions":"#) && !first.contains(r#""type":"#);
        first.contains(r#""type":"session_meta""#) || is_bare
    },
    is_ordered_by_name: true,
    deleted_after_days: None,
    place: |_| None,
    reader: || Box::new(Codex::default()),
};

const GEMINI_CLI: Source = Source {
    name: "gemini-cli",
    title: "Gemini CLI",
    folders: |var| {
        let root = var("GEMINI_CLI_HOME").or_else(|| var("HOME"));
        root.map(|root| PathBuf::from(root).join(".gemini/tmp")).into_iter().collect()
    },
    is_transcript: gemini_cli::is_transcript,
    begins_like: |head| head.contains(r#""sessionId":"#) && head.contains(r#""startTime":"#),
    is_ordered_by_name: true,
    deleted_after_days: Some(30),
    place: gemini_cli::place,
    reader: || Box::new(GeminiCli::default()),
};

/// The source of this name.
pub fn named(name: &str) -> Option<&'static Source> {
    SOURCES.iter().find(|source| source.name == name)
}

/// A file with a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    pub path: PathBuf,
    pub bytes: u64,
    /// When it was last changed, in milliseconds since 1970.
    pub modified: i64,
    /// Whether it belongs to a subagent: its session has a file of its own.
    pub is_of_subagent: bool,
}

impl Source {
    /// The agent's transcripts on this machine, the oldest first. Only names and sizes are read.
    pub fn transcripts(&self, var: &Environment<'_>) -> Vec<Transcript> {
        let mut found = Vec::new();
        for folder in (self.folders)(var) {
            self.collect(&folder, limits::TRANSCRIPTS_DEPTH_MAX, &mut found);
        }
        self.in_order(found)
    }

    /// The transcripts below a folder that the user names, the oldest first.
    pub fn transcripts_below(&self, folder: &Path) -> Vec<Transcript> {
        let mut found = Vec::new();
        self.collect(folder, limits::TRANSCRIPTS_DEPTH_MAX, &mut found);
        self.in_order(found)
    }

    /// Facts about the session of a file that only its place tells.
    pub(crate) fn origin_of(&self, path: &Path) -> Option<SessionPlace> {
        (self.place)(path)
    }

    /// A subagent's records belong to the prompts of its session, so they come after these.
    fn in_order(&self, mut found: Vec<Transcript>) -> Vec<Transcript> {
        found.sort_by(|a, b| {
            let time = |one: &Transcript| if self.is_ordered_by_name { 0 } else { one.modified };
            let key = |one: &Transcript| (one.is_of_subagent, time(one));
            key(a).cmp(&key(b)).then_with(|| a.path.file_name().cmp(&b.path.file_name()))
        });
        found
    }

    /// Symbolic links are not followed, so that a loop ends.
    fn collect(&self, folder: &Path, depth: usize, found: &mut Vec<Transcript>) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        for entry in entries.flatten() {
            if found.len() >= limits::TRANSCRIPTS_MAX {
                return;
            }
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && depth > 0 => self.collect(&path, depth - 1, found),
                Ok(kind) if kind.is_file() && (self.is_transcript)(&path) => {
                    found.extend(transcript(&entry));
                }
                _ => {}
            }
        }
    }
}

fn transcript(entry: &DirEntry) -> Option<Transcript> {
    of_file(entry.path(), &entry.metadata().ok()?)
}

pub(crate) fn of_file(path: PathBuf, meta: &fs::Metadata) -> Option<Transcript> {
    let modified = meta.modified().ok()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    let is_of_subagent = path.components().any(|part| part.as_os_str() == "subagents")
        || gemini_cli::is_of_subagent(&path);
    Some(Transcript {
        path,
        bytes: meta.len(),
        modified: i64::try_from(modified.as_millis()).unwrap_or(i64::MAX),
        is_of_subagent,
    })
}

/// The source of a file that the user names, by its content, and the file.
pub fn recognise(path: &Path) -> Option<(&'static Source, Transcript)> {
    let mut head = Vec::new();
    let meta = regular::open(path).ok()?.metadata().ok()?;
    bytes::open_path(path)
        .ok()?
        .take(16 * limits::TRANSCRIPT_HEAD_BYTES as u64)
        .read_to_end(&mut head)
        .ok()?;
    let head = String::from_utf8_lossy(&head);
    let source = SOURCES.iter().find(|source| (source.begins_like)(&head))?;
    Some((source, of_file(path.to_owned(), &meta)?))
}
