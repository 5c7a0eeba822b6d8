//! Memories of other tools: nmem, claude-mem, engram, basic-memory and the MCP memory server.

mod basic_memory;
mod claude_mem;
mod engram;
mod mcp_memory;
mod nmem;
mod rows;

use std::io;
use std::path::{Path, PathBuf};

use model::database::{FileHead, HEADER_BYTES};

use crate::foreign_db::ForeignDb;
use crate::record_report::{RecordReport, RecordSink};
use crate::rows::Environment;

/// A tool whose memories can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryTool {
    Nmem,
    ClaudeMem,
    Engram,
    BasicMemory,
    McpMemory,
}

impl MemoryTool {
    pub const ALL: [MemoryTool; 5] = [
        MemoryTool::Nmem,
        MemoryTool::ClaudeMem,
        MemoryTool::Engram,
        MemoryTool::BasicMemory,
        MemoryTool::McpMemory,
    ];

    pub fn name(self) -> &'static str {
        match self {
            MemoryTool::Nmem => "nmem",
            MemoryTool::ClaudeMem => "claude-mem",
            MemoryTool::Engram => "engram",
            MemoryTool::BasicMemory => "basic-memory",
            MemoryTool::McpMemory => "mcp-memory",
        }
    }

    pub fn named(name: &str) -> Option<MemoryTool> {
        MemoryTool::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// The files and folders with memories of the tool that exist on this machine.
    pub fn locations(self, var: &Environment<'_>) -> Vec<PathBuf> {
        let home = || var("HOME").map(PathBuf::from);
        let at_home = |path: &str| home().map(|home| home.join(path));
        let places: Vec<Option<PathBuf>> = match self {
            MemoryTool::Nmem => match var("NMEM_DB").map(PathBuf::from) {
                Some(path) if !is_ours(&path) => vec![Some(path)],
                _ => {
                    let usual = [".nmem/nmem.db", ".local/share/nmem/nmem.db", "nmem/nmem.db"];
                    usual.map(at_home).to_vec()
                }
            },
            MemoryTool::ClaudeMem => {
                let moved = var("CLAUDE_MEM_DATA_DIR").map(PathBuf::from);
                vec![moved.or_else(|| at_home(".claude-mem")).map(|at| at.join("claude-mem.db"))]
            }
            MemoryTool::Engram => vec![at_home(".engram/engram.db")],
            MemoryTool::BasicMemory => {
                let listed = home().map(|home| basic_memory::folders(&home)).unwrap_or_default();
                match listed.is_empty() {
                    true => vec![at_home("basic-memory")],
                    false => listed.into_iter().map(Some).collect(),
                }
            }
            MemoryTool::McpMemory => vec![var("MEMORY_FILE_PATH").map(PathBuf::from)],
        };
        places.into_iter().flatten().filter(|path| path.exists()).collect()
    }

    /// The file or folder that the tool's environment variable names, if that does not exist.
    pub fn missing(self, var: &Environment<'_>) -> Option<PathBuf> {
        let name = match self {
            MemoryTool::Nmem => "NMEM_DB",
            MemoryTool::ClaudeMem => "CLAUDE_MEM_DATA_DIR",
            MemoryTool::McpMemory => "MEMORY_FILE_PATH",
            MemoryTool::Engram | MemoryTool::BasicMemory => return None,
        };
        var(name).map(PathBuf::from).filter(|path| !path.exists())
    }

    /// Reads the memories of a file or folder. Those without a project belong to the home directory.
    pub(crate) fn read(
        self,
        path: &Path,
        home: &Path,
        sink: &mut RecordSink<'_>,
    ) -> io::Result<RecordReport> {
        match self {
            MemoryTool::Nmem => nmem::read(path, sink),
            MemoryTool::ClaudeMem => claude_mem::read(path, sink),
            MemoryTool::Engram => engram::read(path, home, sink),
            MemoryTool::BasicMemory => basic_memory::read(path, sink),
            MemoryTool::McpMemory => mcp_memory::read(path, home, sink),
        }
    }
}

/// Whether a file is a database of ours, or may become one: `NMEM_DB` names our own database, too.
pub fn is_ours(path: &Path) -> bool {
    match regular::read(path, HEADER_BYTES as u64) {
        Ok(head) => FileHead::of(&head).is_ours_or_empty(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// The tool that a file or folder belongs to, by its content.
pub(crate) fn recognise(path: &Path) -> Option<MemoryTool> {
    if path.is_dir() {
        return basic_memory::is_folder(path).then_some(MemoryTool::BasicMemory);
    }
    if mcp_memory::is_file(path) {
        return Some(MemoryTool::McpMemory);
    }
    let mut db = ForeignDb::open(path).ok()?;
    let mut has = |table: &str, column: &str| {
        db.columns(table).is_ok_and(|columns| columns.iter().any(|name| name == column))
    };
    if has("observations", "is_pinned") && has("prompts", "content") {
        return Some(MemoryTool::Nmem);
    }
    if has("sdk_sessions", "content_session_id") || has("sdk_sessions", "memory_session_id") {
        return Some(MemoryTool::ClaudeMem);
    }
    has("observations", "topic_key").then_some(MemoryTool::Engram)
}
