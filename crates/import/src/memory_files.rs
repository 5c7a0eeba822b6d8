//! The files in which agents keep what they should remember: `CLAUDE.md`, `AGENTS.md`, `GEMINI.md`, and the memories that
//! Claude Code and Codex write themselves. Each bullet and each paragraph becomes a memory.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use model::limits;
use model::memory::MemoryCategory;
use model::origin::Origin;
use model::portable::{PortableMemory, PortableProject, PortableRecord};
use serde_json::Value;

use crate::claude_code;
use crate::markdown::{self, Passage};
use crate::record_report::{RecordReport, RecordSink, file_hash};
use crate::rows::Problem;
use crate::sources;

/// The directories in which agents keep memories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryPlaces {
    /// The directories of known projects.
    pub roots: Vec<PathBuf>,
    pub home: PathBuf,
    /// The folders of agents; they may be moved by environment variables.
    pub claude: PathBuf,
    pub codex: PathBuf,
    pub gemini: PathBuf,
}

/// A file or folder that is imported as a whole: memories that it no longer has are deleted.
struct MemoryUnit {
    /// The file, or the folder of the files.
    path: PathBuf,
    /// The directory of the project.
    project: PathBuf,
    source: String,
    category: MemoryCategory,
}

impl MemoryPlaces {
    fn units(&self) -> Vec<MemoryUnit> {
        let unit = |path: PathBuf, project: &Path, source: &'static str| {
            let category = match source {
                "claude-memory" | "codex-memory" => MemoryCategory::Fact,
                _ => MemoryCategory::Workflow,
            };
            MemoryUnit { path, project: project.to_owned(), source: source.to_owned(), category }
        };
        let home = self.home.as_path();
        let mut units = vec![
            unit(self.claude.join("CLAUDE.md"), home, "claude-md"),
            unit(self.claude.join("rules"), home, "claude-md"),
            unit(self.codex.join("AGENTS.md"), home, "agents-md"),
            unit(self.codex.join("memories"), home, "codex-memory"),
            unit(self.gemini.join("GEMINI.md"), home, "gemini-md"),
        ];
        for root in &self.roots {
            for (name, source) in [
                ("CLAUDE.md", "claude-md"),
                ("CLAUDE.local.md", "claude-md"),
                (".claude/CLAUDE.md", "claude-md"),
                (".claude/rules", "claude-md"),
                ("AGENTS.md", "agents-md"),
                ("GEMINI.md", "gemini-md"),
            ] {
                let mut unit = unit(root.join(name), root, source);
                unit.source = with_other_loaders(root, name, source);
                units.push(unit);
            }
        }
        // Claude Code ignores this setting in the file of a project that others share.
        let local = |root: &PathBuf| (root.join(".claude/settings.local.json"), root.clone());
        let own = (self.claude.join("settings.json"), self.home.clone());
        for (settings, project) in self.roots.iter().map(local).chain([own]) {
            if let Some(folder) = claude_code::memory_folder(&settings, home) {
                units.push(unit(folder, &project, "claude-memory"));
            }
        }
        for folder in folders(&self.claude.join("projects")) {
            let memory = folder.join("memory");
            if let Some(project) = memory.is_dir().then(|| working_directory(&folder)).flatten() {
                units.push(unit(memory, Path::new(&project), "claude-memory"));
            }
        }
        units
    }

    /// Reads all memories.
    pub(crate) fn read(&self, sink: &mut RecordSink<'_>) -> RecordReport {
        let mut report = RecordReport::default();
        let mut projects = BTreeMap::new();
        for unit in self.units() {
            let key = unit.project.to_string_lossy().into_owned();
            projects.entry(key.clone()).or_insert_with(|| {
                sink(project(&key));
            });
            unit.read(&key, &mut report, sink);
        }
        report
    }
}

/// The source of a file at the top of a project, joined by `+` with the sources of other agents that load the same
/// text: one of these files is often a link to another one, a copy of it, or names it as `@FILE`.
fn with_other_loaders(root: &Path, name: &str, source: &str) -> String {
    const FILES: [(&str, &str); 3] =
        [("CLAUDE.md", "claude-md"), ("AGENTS.md", "agents-md"), ("GEMINI.md", "gemini-md")];
    let mut sources = source.to_owned();
    if !FILES.iter().any(|(file, _)| *file == name) {
        return sources;
    }
    // This follows links, which is how the agents read the files.
    let text = |file: &str| read_text(&root.join(file).canonicalize().ok()?).ok();
    let Some((own, _)) = text(name) else { return sources };
    for (file, other) in FILES.iter().filter(|(file, _)| *file != name) {
        let loads = text(file).is_some_and(|(text, _)| {
            let reference = format!("@{name}");
            text == own || text.split_whitespace().any(|word| word == reference)
        });
        if loads {
            sources = format!("{sources}+{other}");
        }
    }
    sources
}

/// The line about the project of a directory.
pub(crate) fn project(directory: &str) -> PortableRecord {
    let name = directory.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    PortableRecord::Project(PortableProject {
        key: directory.to_owned(),
        name: if name.is_empty() { "/".to_owned() } else { name.to_owned() },
        ..PortableProject::default()
    })
}

impl MemoryUnit {
    fn read(&self, project: &str, report: &mut RecordReport, sink: &mut RecordSink<'_>) {
        let unit = file_hash(&self.path);
        let mut origins = Vec::new();
        for file in markdown_files(&self.path) {
            let (text, at) = match read_text(&file) {
                Ok(read) => read,
                Err(_) => {
                    // An unreadable file may still contain its memories, so none of them is deleted.
                    report.problem(Problem::Unreadable, 0);
                    return;
                }
            };
            let topic = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            for Passage { heading, text } in markdown::passages(markdown::front_matter(&text).1) {
                let origin = Origin::of(&["memory-file", &unit.to_string(), &text]);
                let category = category_of(&heading).unwrap_or(self.category);
                let new = NewMemory {
                    project,
                    at,
                    category,
                    tags: vec![topic.clone(), heading],
                    content: &text,
                    source: &self.source,
                    origin,
                    file: Some(unit),
                };
                if let Some(memory) = new.portable() {
                    origins.push(origin.to_string());
                    sink(memory);
                }
            }
        }
        report.complete.insert(unit.to_string(), origins);
    }
}

/// A memory of another tool or of a file.
pub(crate) struct NewMemory<'a> {
    pub(crate) project: &'a str,
    pub(crate) at: i64,
    pub(crate) category: MemoryCategory,
    pub(crate) tags: Vec<String>,
    pub(crate) content: &'a str,
    pub(crate) source: &'a str,
    pub(crate) origin: Origin,
    pub(crate) file: Option<Origin>,
}

impl NewMemory<'_> {
    /// The line about it; none if it has no text. A long text is cut, and tags are made to fit.
    pub(crate) fn portable(self) -> Option<PortableRecord> {
        let content: String = self.content.trim().chars().take(limits::MEMORY_CHARS_MAX).collect();
        let content = content.replace('\0', "");
        if text::is_blank(&content) {
            return None;
        }
        let mut tags: Vec<String> = Vec::new();
        for tag in &self.tags {
            let tag = text::one_line(tag.trim_matches(['#', ' ']), usize::MAX);
            let tag: String = tag.chars().take(limits::MEMORY_TAG_CHARS_MAX).collect();
            let tag = tag.trim().to_owned();
            if !tag.is_empty() && !tags.contains(&tag) && tags.len() < limits::MEMORY_TAGS_MAX {
                tags.push(tag);
            }
        }
        let memory = PortableMemory {
            id: String::new(),
            project: self.project.to_owned(),
            root: None,
            session: None,
            at: self.at,
            category: self.category,
            importance: 0.5,
            tags,
            content,
            supersedes: Vec::new(),
            source: Some(self.source.to_owned()),
            file: self.file.map(|file| file.to_string()),
            origins: vec![self.origin.to_string()],
        };
        Some(PortableRecord::Memory(memory))
    }
}

/// The category that a heading or a type of another tool names.
pub(crate) fn category_of(word: &str) -> Option<MemoryCategory> {
    let word = word.to_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| word.contains(part));
    match () {
        () if has(&["prefer", "style"]) => Some(MemoryCategory::Preference),
        () if has(&["decision", "decid", "architect"]) => Some(MemoryCategory::Decision),
        () if has(&["bug", "error", "gotcha", "pitfall", "problem"]) => Some(MemoryCategory::Error),
        () if has(&[
            "workflow",
            "command",
            "how to",
            "how-to",
            "convention",
            "pattern",
            "procedure",
        ]) =>
        {
            Some(MemoryCategory::Workflow)
        }
        () if has(&["feature", "change", "refactor", "event", "summary"]) => {
            Some(MemoryCategory::Event)
        }
        () if has(&["context", "overview"]) => Some(MemoryCategory::Context),
        () if has(&["fact", "discover", "learn"]) => Some(MemoryCategory::Fact),
        () => None,
    }
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .take(limits::TRANSCRIPTS_MAX)
        .collect();
    found.sort();
    found
}

/// The Markdown files below a folder, or the file itself. Links are not followed.
pub(crate) fn markdown_files(path: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(path, limits::TRANSCRIPTS_DEPTH_MAX, &mut found);
    found.sort();
    found
}

fn collect(path: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(meta) = fs::symlink_metadata(path) else { return };
    let is_markdown = path.extension().is_some_and(|ending| ending == "md");
    if meta.is_file() && is_markdown && found.len() < limits::MEMORY_FILES_MAX {
        found.push(path.to_owned());
    } else if meta.is_dir() && depth > 0 {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            collect(&entry.path(), depth - 1, found);
        }
    }
}

/// The text of a file, and when it was last changed.
pub(crate) fn read_text(path: &Path) -> io::Result<(String, i64)> {
    let opened = regular::open(path)?;
    let meta = opened.metadata()?;
    let mut bytes = Vec::new();
    opened.take(limits::MEMORY_FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limits::MEMORY_FILE_BYTES_MAX {
        return Err(io::Error::other("the file is too long"));
    }
    let modified = sources::of_file(path.to_owned(), &meta).map_or(0, |file| file.modified);
    Ok((String::from_utf8_lossy(&bytes).into_owned(), modified))
}

/// The working directory of the sessions in a folder of Claude Code, which a transcript in the folder names.
fn working_directory(folder: &Path) -> Option<String> {
    /// Lines at the beginning of a transcript that may lack the directory.
    const LINES: usize = 50;
    let entries = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    let is_transcript = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "jsonl");
    let mut transcripts: Vec<PathBuf> = entries.filter(is_transcript).collect();
    transcripts.sort();
    transcripts.iter().find_map(|path| {
        let file = regular::open(path).ok()?.take(limits::MEMORY_FILE_BYTES_MAX);
        let lines = BufReader::new(file).lines().map_while(Result::ok).take(LINES);
        lines.filter_map(|line| serde_json::from_str::<Value>(&line).ok()).find_map(|line| {
            line.get("cwd")
                .and_then(Value::as_str)
                .filter(|cwd| cwd.starts_with('/'))
                .map(str::to_owned)
        })
    })
}
