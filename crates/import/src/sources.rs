//! Where agents keep their transcripts. One row per agent.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use model::import::FileCursor;
use model::limits;
use transcripts::{
    Aider, ClaudeCode, Codex, Cursor, GeminiCli, OpenCode, SessionPlace, TranscriptReader,
};

use crate::foreign_db::{DbProblem, ForeignDb};
use crate::rows::{DbSession, Environment, FileRows, RowSource};
use crate::{aider, bytes, claude_code, cursor, gemini_cli, opencode, order};

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
    /// Whether the first bytes of a file that the user names are those of a transcript.
    begins_like: fn(&Path, &str) -> bool,
    /// Whether the names of its files begin with their time. A fork repeats the lines of an earlier file with new times,
    /// so that the earlier file has to be read first.
    pub(crate) is_ordered_by_name: bool,
    /// Days after which the agent deletes its transcripts, if it does.
    deleted_after_days: fn(&Environment<'_>) -> Option<u32>,
    /// Facts about the session of a file that only its place tells.
    place: fn(&Path) -> Option<SessionPlace>,
    /// How the sessions in a database are read, if the agent has one.
    pub(crate) database: Option<RowSource>,
    /// Hands over the rows of a session that is kept in several files, of which the transcript is the first.
    pub(crate) file_rows: Option<FileRows>,
    pub(crate) reader: fn() -> Box<dyn TranscriptReader>,
}

/// All sources, in the order in which they are imported.
pub const SOURCES: &[Source] = &[CLAUDE_CODE, CODEX, GEMINI_CLI, OPENCODE, CURSOR, AIDER];

const CLAUDE_CODE: Source = Source {
    name: "claude-code",
    title: "Claude Code",
    folders: claude_code::folders,
    is_transcript: claude_code::is_transcript,
    begins_like: |_, head| {
        let is_line = head.contains(r#""sessionId":"#) && head.contains(r#""type":"#);
        let is_line = is_line && head.starts_with('{') && !head.contains(r#""projectHash":"#);
        is_line || head.contains(r#""leafUuid":"#)
    },
    is_ordered_by_name: false,
    deleted_after_days: claude_code::deleted_after_days,
    place: |_| None,
    database: None,
    file_rows: None,
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
    begins_like: |_, head| {
        let first = head.lines().next().unwrap_or_default();
        let is_bare = first.contains(r#""instructions":"#) && !first.contains(r#""type":"#);
        first.contains(r#""type":"session_meta""#) || is_bare
    },
    is_ordered_by_name: true,
    deleted_after_days: |_| None,
    place: |_| None,
    database: None,
    file_rows: None,
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
    begins_like: |_, head| head.contains(r#""sessionId":"#) && head.contains(r#""startTime":"#),
    is_ordered_by_name: true,
    deleted_after_days: |_| Some(30),
    place: gemini_cli::place,
    database: None,
    file_rows: None,
    reader: || Box::new(GeminiCli::default()),
};

const OPENCODE: Source = Source {
    name: "opencode",
    title: "OpenCode",
    folders: opencode::folders,
    is_transcript: opencode::is_session_file,
    begins_like: |path, head| {
        let is_session = head.contains(r#""id":"#) && head.contains(r#""time":"#);
        is_session && opencode::is_session_file(path)
    },
    is_ordered_by_name: false,
    deleted_after_days: |_| None,
    place: |_| None,
    database: Some(opencode::ROWS),
    file_rows: Some(opencode::file_rows),
    reader: || Box::new(OpenCode::default()),
};

const CURSOR: Source = Source {
    name: "cursor",
    title: "Cursor",
    folders: cursor::folders,
    is_transcript: cursor::is_transcript,
    begins_like: |_, head| {
        let first = head.lines().next().unwrap_or_default();
        first.starts_with(r#"{"role":""#) && first.contains(r#""message":"#)
    },
    is_ordered_by_name: false,
    deleted_after_days: |_| None,
    place: cursor::place,
    database: Some(cursor::ROWS),
    file_rows: None,
    reader: || Box::new(Cursor::default()),
};

const AIDER: Source = Source {
    name: "aider",
    title: "aider",
    folders: |_| Vec::new(),
    is_transcript: aider::is_history,
    begins_like: |_, head| head.lines().any(|line| line.starts_with(aider::RUN)),
    is_ordered_by_name: false,
    deleted_after_days: |_| None,
    place: aider::place,
    database: None,
    file_rows: None,
    reader: || Box::new(Aider::new(aider::to_utc)),
};

/// The source of this name.
pub fn named(name: &str) -> Option<&'static Source> {
    SOURCES.iter().find(|source| source.name == name)
}

/// A transcript: a file, or a session in a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    pub path: PathBuf,
    /// The session, if the file is a database with several.
    pub session: Option<String>,
    /// The size of the file. Of a database it is an equal share for each session.
    pub bytes: u64,
    /// When it was last changed, in milliseconds since 1970.
    pub modified: i64,
    /// When the file was created, if the file system knows it.
    pub(crate) created: i64,
    /// Whether it belongs to a subagent: its session has a transcript of its own.
    pub is_of_subagent: bool,
    /// Whether the file is a database.
    pub(crate) is_in_database: bool,
    /// Facts about a session in a database that are not in its rows.
    pub(crate) place: Option<SessionPlace>,
}

impl Transcript {
    /// The agent's own id of the session, as far as the name of the file or its first bytes tell it.
    pub fn session_name(&self) -> Option<String> {
        const MEMBER: &str = r#""sessionId":"#;
        /// Characters of an id at the end of the name of a rollout.
        const ID: usize = 36;
        if self.session.is_some() {
            return self.session.clone();
        }
        let mut head = Vec::new();
        let opened = bytes::open_path(&self.path).ok()?;
        opened.take(limits::TRANSCRIPT_HEAD_BYTES as u64).read_to_end(&mut head).ok()?;
        let head = String::from_utf8_lossy(&head);
        let named = head.split_once(MEMBER).and_then(|(_, rest)| rest.split('"').nth(1));
        let name = self.path.file_name()?.to_string_lossy();
        let stem = name.split('.').next().unwrap_or_default();
        let id = stem.len().checked_sub(ID).and_then(|from| stem.get(from..)).unwrap_or(stem);
        Some(named.unwrap_or(id).to_owned())
    }

    /// Whether nothing changed since the transcript was imported.
    pub fn is_unchanged(&self, cursor: &FileCursor) -> bool {
        cursor.modified == self.modified && cursor.size == self.size()
    }

    /// The size by which a change is recognised. A session in a database has none of its own.
    pub fn size(&self) -> u64 {
        if self.session.is_some() { 0 } else { self.bytes }
    }
}

impl Source {
    /// The agent's transcripts on this machine, the oldest first, and the files and folders that cannot be read. Of
    /// files only names and sizes are read.
    pub fn transcripts(
        &self,
        var: &Environment<'_>,
        unread: &mut Vec<Unreadable>,
    ) -> Vec<Transcript> {
        let mut found = Found { transcripts: Vec::new(), unread, followed: Some(BTreeSet::new()) };
        let databases = self.database.as_ref().map(|rows| (rows.databases)(var));
        for path in databases.unwrap_or_default() {
            if let Ok(meta) = fs::metadata(&path) {
                found.transcripts.extend(self.sessions_of(&path, &meta));
            }
        }
        for folder in (self.folders)(var) {
            let wanted = |path: &Path| (self.is_transcript)(path);
            collect(&folder, limits::TRANSCRIPTS_DEPTH_MAX, &wanted, &mut found);
        }
        self.in_order(found.transcripts)
    }

    /// The transcripts in the directories of known projects, for an agent that keeps them there.
    pub fn transcripts_in(&self, projects: &[PathBuf], var: &Environment<'_>) -> Vec<Transcript> {
        if self.name != AIDER.name {
            return Vec::new();
        }
        let found = aider::histories(projects, var).into_iter().filter_map(|path| {
            let meta = fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file)?;
            of_file(path, &meta)
        });
        self.in_order(found.collect())
    }

    /// Days after which the agent deletes its transcripts, if it does. Its settings may say so.
    pub fn deleted_after_days(&self, var: &Environment<'_>) -> Option<u32> {
        (self.deleted_after_days)(var)
    }

    /// The sessions of a database. One that cannot be read is a transcript too, so that an import names the problem.
    fn sessions_of(&self, path: &Path, meta: &fs::Metadata) -> Vec<Transcript> {
        let Some(whole) = of_file(path.to_owned(), meta) else { return Vec::new() };
        let whole = Transcript { is_in_database: true, ..whole };
        let list = |rows: &RowSource| (rows.sessions)(&mut ForeignDb::open(path)?);
        let Some(Ok(sessions)) = self.database.as_ref().map(list) else { return vec![whole] };
        let bytes = whole.bytes / sessions.len().max(1) as u64;
        let session = |one: DbSession| Transcript {
            session: Some(one.id),
            bytes,
            modified: one.modified,
            is_of_subagent: one.parent.is_some(),
            place: Some(SessionPlace { cwd: one.cwd, parent: one.parent, session: None }),
            ..whole.clone()
        };
        sessions.into_iter().map(session).collect()
    }

    /// Notes the working directory of transcripts of Gemini CLI whose folder is named after a hash of that directory.
    /// Only directories in `roots` are recognised.
    pub fn place_in(&self, roots: &[PathBuf], files: &mut [Transcript]) {
        if self.name == GEMINI_CLI.name {
            gemini_cli::place_in(roots, files);
        }
    }

    /// Facts about the session of a transcript that only its place tells.
    pub(crate) fn origin_of(&self, file: &Transcript) -> Option<SessionPlace> {
        file.place.clone().or_else(|| (self.place)(&file.path))
    }

    /// The transcripts, the oldest first. A session that is in a database is left out of the files that an older
    /// version of the agent left behind.
    fn in_order(&self, mut found: Vec<Transcript>) -> Vec<Transcript> {
        let known: BTreeSet<String> = found.iter().filter_map(|one| one.session.clone()).collect();
        found.retain(|one| {
            let stem = one.path.file_stem().unwrap_or_default().to_string_lossy();
            one.session.is_some() || !known.contains(&*stem)
        });
        order::by_listing(self, &mut found);
        found
    }
}

/// A file or folder that cannot be read, and why.
pub type Unreadable = (PathBuf, String);

/// Files and folders that a search came upon.
struct Found<'u> {
    transcripts: Vec<Transcript>,
    unread: &'u mut Vec<Unreadable>,
    /// The targets of followed symbolic links; `None` if no link is followed. Only links directly in an agent's folder
    /// are, for example those of projects that the user moved to another disk.
    followed: Option<BTreeSet<PathBuf>>,
}

impl Found<'_> {
    /// Whether a symbolic link leads to a folder outside of this one that no link led to before, so that a loop ends.
    fn follows(&mut self, folder: &Path, link: &Path) -> bool {
        let Some(followed) = &mut self.followed else { return false };
        let (Ok(folder), Ok(target)) = (fs::canonicalize(folder), fs::canonicalize(link)) else {
            return false;
        };
        let is_inside = target.starts_with(&folder) || folder.starts_with(&target);
        target.is_dir() && !is_inside && followed.insert(target)
    }
}

/// Finds the wanted files below a folder.
fn collect(folder: &Path, depth: usize, wanted: &dyn Fn(&Path) -> bool, found: &mut Found<'_>) {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        // The agent is not on this machine, or has just removed the folder.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return;
        }
        Err(error) => {
            found.unread.push((folder.to_owned(), error.to_string()));
            return;
        }
    };
    for entry in entries.flatten() {
        if found.transcripts.len() >= limits::TRANSCRIPTS_MAX {
            return;
        }
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth > 0 => collect(&path, depth - 1, wanted, found),
            Ok(kind)
                if kind.is_symlink()
                    && depth == limits::TRANSCRIPTS_DEPTH_MAX
                    && found.follows(folder, &path) =>
            {
                collect(&path, depth - 1, wanted, found);
            }
            Ok(kind) if kind.is_file() && wanted(&path) => {
                match entry.metadata() {
                    Ok(meta) => found.transcripts.extend(of_file(path, &meta)),
                    Err(error) if error.kind() == ErrorKind::NotFound => {}
                    // The folder may be listed, and its files may not be read.
                    Err(error) => found.unread.push((path, error.to_string())),
                }
            }
            _ => {}
        }
    }
}

pub(crate) fn of_file(path: PathBuf, meta: &fs::Metadata) -> Option<Transcript> {
    let millis = |time: SystemTime| {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    };
    let is_of_subagent = claude_code::is_of_subagent(&path) || gemini_cli::is_of_subagent(&path);
    Some(Transcript {
        path,
        session: None,
        bytes: meta.len(),
        modified: millis(meta.modified().ok()?),
        created: meta.created().map(millis).unwrap_or_default(),
        is_of_subagent,
        is_in_database: false,
        place: None,
    })
}

/// The transcripts in a file, and their source.
pub type Recognised = (&'static Source, Vec<Transcript>);

/// The transcripts in a file that the user names, by its content; `None` if it is no transcript.
pub fn recognise(path: &Path) -> io::Result<Option<Recognised>> {
    const DATABASE: &str = "SQLite format 3\0";
    let mut head = Vec::new();
    let meta = regular::open(path)?.metadata()?;
    let opened = bytes::open_path(path)?;
    opened.take(16 * limits::TRANSCRIPT_HEAD_BYTES as u64).read_to_end(&mut head)?;
    let head = String::from_utf8_lossy(&head);
    let head = head.trim_start_matches('\u{feff}');
    if head.starts_with(DATABASE) {
        for source in SOURCES {
            if source.has_database(path).map_err(|problem| io::Error::other(problem.to_string()))? {
                return Ok(Some((source, source.sessions_of(path, &meta))));
            }
        }
        return Ok(None);
    }
    let source = SOURCES.iter().find(|source| (source.begins_like)(path, head));
    Ok(source.map(|source| (source, of_file(path.to_owned(), &meta).into_iter().collect())))
}

impl Source {
    /// Whether a database is one of this agent, by its tables.
    fn has_database(&self, path: &Path) -> Result<bool, DbProblem> {
        let Some(rows) = &self.database else { return Ok(false) };
        let mut db = ForeignDb::open(path)?;
        for table in rows.tables {
            if db.columns(table)?.is_empty() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The transcripts below a folder that the user names, by their content, by source and the oldest first, and the files
/// and folders that cannot be read.
pub fn recognise_below(folder: &Path, unread: &mut Vec<Unreadable>) -> Vec<Recognised> {
    let mut files = Found { transcripts: Vec::new(), unread, followed: None };
    collect(folder, limits::TRANSCRIPTS_DEPTH_MAX, &may_be_transcript, &mut files);
    let mut found: Vec<Recognised> = SOURCES.iter().map(|source| (source, Vec::new())).collect();
    for file in files.transcripts {
        match recognise(&file.path) {
            Ok(Some((source, transcripts))) => {
                let of_source = found.iter_mut().find(|(other, _)| other.name == source.name);
                if let Some((_, own)) = of_source {
                    own.extend(transcripts);
                }
            }
            Ok(None) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => files.unread.push((file.path, error.to_string())),
        }
    }
    let found = found.into_iter().map(|(source, own)| (source, source.in_order(own)));
    found.filter(|(_, own)| !own.is_empty()).collect()
}

/// Whether a file below a folder that the user names is opened. Names differ after a copy, but not their endings.
fn may_be_transcript(path: &Path) -> bool {
    const ENDINGS: [&str; 6] = ["json", "jsonl", "zst", "db", "vscdb", "md"];
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    ENDINGS.contains(&&*ending)
}
