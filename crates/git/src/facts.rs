//! Finding the repository that a directory belongs to, as git does, and reading what stands there.
//!
//! `GIT_DIR` and `GIT_WORK_TREE` are not honoured. Git sets them for the hooks that it runs, and
//! scripts set them for one command; a process that lives longer would take that moment's
//! repository for its own for ever. Where somebody stands is a matter of their directory. File
//! systems may be crossed, and nobody asks who owns the repository: nothing in it is run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::config::Config;
use crate::remote;

/// Bytes of a file of a repository that is read at all; what is longer says nothing.
pub const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// Directories that are looked at, the first one included, on the way up.
pub const LEVELS_MAX: usize = 64;
/// Bytes of a branch's name; git keeps names in paths, which end here too.
const BRANCH_BYTES_MAX: usize = 4096;

/// What is checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Head {
    /// A branch, also one that has no commit yet.
    Branch(String),
    /// A commit, by its hash.
    Detached(String),
    /// Something that is not read here, for example a head kept in a reftable.
    Unknown,
}

impl Head {
    /// The branch's name, where there is one.
    pub fn branch(&self) -> Option<&str> {
        match self {
            Head::Branch(name) => Some(name),
            Head::Detached(_) | Head::Unknown => None,
        }
    }
}

/// What the files of a repository say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The top of this work tree; of a bare repository, its directory.
    pub root: PathBuf,
    /// The top of the main work tree: all work trees of one repository share it. A submodule is
    /// a repository of its own.
    pub main_root: PathBuf,
    /// Where the head of this work tree is kept.
    pub git_dir: PathBuf,
    /// Where what all work trees share is kept.
    pub common_dir: PathBuf,
    pub branch: Head,
    /// The address of `origin`, else of the only remote, as it is written: it may hold
    /// credentials, so that it is for [`crate::normal_remote`] and not to be kept. A relative
    /// path is made absolute.
    pub remote: Option<String>,
}

impl Facts {
    /// The repository that this directory belongs to, if there is one that can be read.
    pub fn at(dir: &Path) -> Option<Facts> {
        let dir = dir.canonicalize().ok()?;
        for level in dir.ancestors().take(LEVELS_MAX) {
            // What may not be read might be the nearest repository: one further up is not ours.
            if let Some(facts) = look_in(level).ok()? {
                return Some(facts);
            }
        }
        None
    }

    /// The repository's name: `https://host/org/repo` by its remote, without credentials; `file://` and
    /// a path if there is no remote, or a local one.
    pub fn repo(&self) -> String {
        let named = self.remote.as_deref().and_then(remote::repo_name);
        named.unwrap_or_else(|| format!("file://{}", self.main_root.display()))
    }
}

fn look_in(level: &Path) -> io::Result<Option<Facts>> {
    let dot_git = level.join(".git");
    match fs::metadata(&dot_git) {
        Ok(meta) if meta.is_dir() => {
            if let Some(found) = GitDir::open(&dot_git)? {
                return found.facts(Some(level)).map(Some);
            }
        }
        // A work tree or a submodule. If it leads nowhere the search is over, as it is for git.
        Ok(meta) if meta.is_file() => {
            let text = read_text(&dot_git)?.ok_or(io::ErrorKind::InvalidData)?;
            let path = text.strip_prefix("gitdir:").ok_or(io::ErrorKind::InvalidData)?;
            let found = GitDir::open(&level.join(path.trim()))?;
            return found.ok_or(io::ErrorKind::NotFound)?.facts(Some(level)).map(Some);
        }
        Ok(_) => {}
        Err(error) if is_absent(&error) => {}
        Err(error) => return Err(error),
    }
    // A bare repository, or the inside of a `.git`.
    GitDir::open(level)?.map(|found| found.facts(None)).transpose()
}

/// A directory that git would take for the inside of a repository.
struct GitDir {
    path: PathBuf,
    common: PathBuf,
    head: Head,
}

impl GitDir {
    fn open(path: &Path) -> io::Result<Option<GitDir>> {
        let Some(head) = read_head(&path.join("HEAD"))? else { return Ok(None) };
        let path = path.canonicalize()?;
        let common = match read_text(&path.join("commondir"))? {
            Some(text) => path.join(text.trim_end_matches(['\n', '\r'])).canonicalize()?,
            None => path.clone(),
        };
        let is_one = common.join("objects").is_dir() && common.join("refs").is_dir();
        Ok(is_one.then_some(GitDir { path, common, head }))
    }

    /// The facts of the work tree with this top, if we came from one.
    fn facts(self, top: Option<&Path>) -> io::Result<Facts> {
        let GitDir { path, common, head } = self;
        let config = read(&common.join("config"))?.and_then(|text| Config::parse(&text));
        let config = config.unwrap_or_default();
        let main_root = match top {
            Some(top) if path == common => top.to_path_buf(),
            _ => main_root(&common, &config),
        };
        let remote = config.remote().map(|url| remote::absolute(url, &main_root));
        Ok(Facts {
            root: top.map_or_else(|| main_root.clone(), Path::to_path_buf),
            main_root,
            git_dir: path,
            common_dir: common,
            branch: head,
            remote,
        })
    }
}

/// The main work tree of a repository of which only the inside is known.
fn main_root(common: &Path, config: &Config) -> PathBuf {
    if common.ends_with(".git")
        && let Some(above) = common.parent()
    {
        return above.to_path_buf();
    }
    // A submodule's inside lies elsewhere and says where its files are.
    let configured = config.worktree.as_deref().map(|path| common.join(path));
    let configured = configured.and_then(|path| path.canonicalize().ok());
    configured.unwrap_or_else(|| common.to_path_buf())
}

/// What a `HEAD` says; nothing if git would not take it for one.
fn read_head(path: &Path) -> io::Result<Option<Head>> {
    // Old repositories have a link instead of a text.
    if let Ok(target) = fs::read_link(path)
        && let Some(rest) = target.to_string_lossy().strip_prefix("refs/")
    {
        return Ok(Some(head_of_ref(rest.as_bytes())));
    }
    let Some(text) = read(path)? else { return Ok(None) };
    let text = text.trim_ascii_end();
    if let Some(target) = text.strip_prefix(b"ref:") {
        return Ok(target.trim_ascii_start().strip_prefix(b"refs/").map(head_of_ref));
    }
    let is_hash = matches!(text.len(), 40 | 64) && text.iter().all(u8::is_ascii_hexdigit);
    Ok(is_hash.then(|| Head::Detached(String::from_utf8_lossy(text).into_owned())))
}

fn head_of_ref(rest: &[u8]) -> Head {
    let name = rest.strip_prefix(b"heads/").and_then(|name| std::str::from_utf8(name).ok());
    // A reftable keeps the head elsewhere and leaves a name here that no branch can have.
    let possible = |name: &&str| {
        !name.is_empty()
            && name.len() <= BRANCH_BYTES_MAX
            && !name.starts_with('.')
            && !name.contains(|c: char| c.is_control() || c == ' ')
    };
    name.filter(possible).map_or(Head::Unknown, |name| Head::Branch(name.to_owned()))
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// A file's bytes; nothing if there is no file, or one that is too long or no plain file: a pipe
/// would let us wait for ever.
fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::metadata(path) {
        Ok(meta) if meta.is_file() && meta.len() <= FILE_BYTES_MAX => {}
        Ok(_) => return Ok(None),
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(error),
    }
    Ok(Some(regular::read(path, FILE_BYTES_MAX)?))
}

/// The same as text; what is none is an error.
fn read_text(path: &Path) -> io::Result<Option<String>> {
    let text = read(path)?.map(String::from_utf8).transpose();
    text.map_err(|_| io::ErrorKind::InvalidData.into())
}
