//! Finds the repository that a directory belongs to, as git does, and reads its files.
//!
//! `GIT_DIR` and `GIT_WORK_TREE` are ignored. Git sets them for the hooks that it runs, and scripts set them for one
//! command; a long-lived process would keep using that repository. File systems may be crossed, and the owner of a
//! repository does not matter: nothing in it is run.
//!
//! A directory cannot claim a repository elsewhere. If a `.git` file, a link or a `commondir` leads out of the
//! directory, the repository there has to name this directory: a working tree in `worktrees/NAME/gitdir`, a
//! submodule in `core.worktree`. Otherwise the directory is a separate repository, without a remote and with an
//! unknown branch. Git has no such check, because it only shows files that the user may read anyway.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::config::GitConfig;
use crate::remote;

/// Bytes of a repository's file; a longer file is ignored.
pub const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// Directories that are checked on the way up, the first one included.
pub const LEVELS_MAX: usize = 64;
/// Bytes of a branch's name; git stores branches as paths, which have this limit too.
const BRANCH_BYTES_MAX: usize = 4096;

/// The checked-out branch or commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Head {
    /// A branch, also one that has no commit yet.
    Branch(String),
    /// A commit, by its hash.
    Detached(String),
    /// Anything else, for example a head in a reftable.
    Unknown,
}

impl Head {
    /// The branch's name, if a branch is checked out.
    pub fn branch(&self) -> Option<&str> {
        match self {
            Head::Branch(name) => Some(name),
            Head::Detached(_) | Head::Unknown => None,
        }
    }
}

/// The facts that the files of a repository state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The top of this working tree; the directory of a bare repository.
    pub root: PathBuf,
    /// The top of the main working tree, which all working trees of a repository share. A submodule is a repository
    /// of its own.
    pub main_root: PathBuf,
    /// The directory with the head of this working tree.
    pub git_dir: PathBuf,
    /// The directory that all working trees share.
    pub common_dir: PathBuf,
    pub branch: Head,
    /// The URL that git fetches from: that of `origin`, or else of the only remote, rewritten by the
    /// repository's own `insteadOf`. It may contain credentials, so it is only passed to
    /// [`crate::normal_remote`] and never stored. A relative path is made absolute.
    pub remote: Option<String>,
}

impl Facts {
    /// The repository of this directory, if there is a readable one.
    pub fn at(dir: &Path) -> Option<Facts> {
        let dir = dir.canonicalize().ok()?;
        let mut bare = None;
        for level in dir.ancestors().take(LEVELS_MAX) {
            // A directory that cannot be read might be the nearest repository, so one further up must not
            // be used.
            match look_in(level).ok()? {
                Some(FoundRepository::Repository(facts)) => return Some(facts),
                Some(FoundRepository::Bare(facts)) if bare.is_none() => bare = Some(facts),
                _ => {}
            }
        }
        bare
    }

    /// The facts of a directory whose `.git` leads to a repository that does not name it.
    pub(crate) fn unclaimed(root: &Path) -> Facts {
        Facts {
            root: root.to_owned(),
            main_root: root.to_owned(),
            git_dir: root.join(".git"),
            common_dir: root.join(".git"),
            branch: Head::Unknown,
            remote: None,
        }
    }

    /// The repository's name: `https://host/org/repo` by its remote, without credentials; `file://` and a path
    /// without a remote, or with a local one.
    pub fn repo(&self) -> String {
        let named = self.remote.as_deref().and_then(remote::repo_name);
        named.unwrap_or_else(|| format!("file://{}", self.main_root.display()))
    }
}

/// A repository found in one directory on the way up.
enum FoundRepository {
    Repository(Facts),
    /// A bare repository. It counts only outside of working trees: the author of a repository can commit files
    /// that look like a bare one, with any remote in its `config`.
    Bare(Facts),
}

fn look_in(level: &Path) -> io::Result<Option<FoundRepository>> {
    let dot_git = level.join(".git");
    match fs::metadata(&dot_git) {
        Ok(meta) if meta.is_dir() => {
            if let Some(found) = GitDir::open(&dot_git)? {
                return found.of_work_tree(level).map(FoundRepository::Repository).map(Some);
            }
        }
        // A working tree or a submodule. If it leads nowhere, the search ends, as in git.
        Ok(meta) if meta.is_file() => {
            let path = git_file(level)?.ok_or(io::ErrorKind::InvalidData)?;
            let found = GitDir::open(&path)?.ok_or(io::ErrorKind::NotFound)?;
            return found.of_work_tree(level).map(FoundRepository::Repository).map(Some);
        }
        Ok(_) => {}
        Err(error) if is_absent(&error) => {}
        Err(error) => return Err(error),
    }
    // A bare repository, or a directory inside a `.git`, which git refuses to commit.
    let Some(found) = GitDir::open(level)?.filter(GitDir::is_whole) else { return Ok(None) };
    let inside = level.components().any(|part| part.as_os_str() == ".git");
    let facts = found.of_itself()?;
    Ok(Some(if inside { FoundRepository::Repository(facts) } else { FoundRepository::Bare(facts) }))
}

/// The target of the `.git` file of a directory; `None` if it is not such a file.
fn git_file(dir: &Path) -> io::Result<Option<PathBuf>> {
    let text = read_text(&dir.join(".git"))?;
    Ok(text.and_then(|text| Some(dir.join(text.strip_prefix("gitdir:")?.trim()))))
}

/// A directory that git would accept as a git directory.
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

    /// Whether it is a repository itself, or one of the `worktrees` entries of the repository that it shares.
    fn is_whole(&self) -> bool {
        let among = self.path.parent().is_some_and(|above| above == self.common.join("worktrees"));
        self.path == self.common || among
    }

    /// The facts of the working tree with this top-level directory.
    fn of_work_tree(self, top: &Path) -> io::Result<Facts> {
        let config = self.config()?;
        if !self.knows(top, &config)? {
            return Ok(Facts::unclaimed(top));
        }
        let main_root = if self.path == self.common {
            top.to_owned()
        } else {
            main_root(&self.common, &config)?
        };
        Ok(self.facts(top.to_owned(), main_root, &config))
    }

    /// The facts of a repository without a working tree, or seen from inside its git directory.
    fn of_itself(self) -> io::Result<Facts> {
        let config = self.config()?;
        let main_root = main_root(&self.common, &config)?;
        Ok(self.facts(main_root.clone(), main_root, &config))
    }

    fn facts(self, root: PathBuf, main_root: PathBuf, config: &GitConfig) -> Facts {
        let GitDir { path, common, head } = self;
        let remote = config.remote().map(|url| remote::absolute(&url, &main_root));
        Facts { root, main_root, git_dir: path, common_dir: common, branch: head, remote }
    }

    fn config(&self) -> io::Result<GitConfig> {
        let read =
            |path: &Path| Ok::<_, io::Error>(read(path)?.and_then(|text| GitConfig::parse(&text)));
        let mut config = read(&self.common.join("config"))?.unwrap_or_default();
        // A sparse checkout moves `core.worktree` of a submodule there.
        if config.has_worktree_config && config.worktree.is_none() {
            let own = read(&self.common.join("config.worktree"))?;
            config.worktree = own.and_then(|own| own.worktree);
        }
        Ok(config)
    }

    /// Whether the git directory is inside this directory, and not in the `.git` of another one below it.
    fn lies_in(&self, top: &Path) -> bool {
        let Ok(inside) = self.path.strip_prefix(top) else { return false };
        inside.starts_with(".git") || inside.components().all(|part| part.as_os_str() != ".git")
    }

    /// Whether this repository confirms that the directory is its working tree: it is inside the directory, or
    /// names it.
    fn knows(&self, top: &Path, config: &GitConfig) -> io::Result<bool> {
        if self.path == self.common {
            let named = config.worktree.as_deref().map(|path| self.common.join(path));
            let named = named.and_then(|path| path.canonicalize().ok());
            return Ok(self.lies_in(top) || named.as_deref() == Some(top));
        }
        if !self.is_whole() {
            return Ok(false);
        }
        let Some(text) = read_text(&self.path.join("gitdir"))? else { return Ok(false) };
        // Relative to the directory of the file, if `worktree.useRelativePaths` is set.
        let file = self.path.join(text.trim_end_matches(['\n', '\r']));
        let above = file.parent().and_then(|above| above.canonicalize().ok());
        Ok(file.file_name().is_some_and(|name| name == ".git") && above.as_deref() == Some(top))
    }
}

/// The main working tree of a repository, found from its git directory.
fn main_root(common: &Path, config: &GitConfig) -> io::Result<PathBuf> {
    if common.ends_with(".git")
        && let Some(above) = common.parent()
    {
        return Ok(above.to_path_buf());
    }
    // The git directory of a submodule is elsewhere and names its working tree, which has to point back.
    // Otherwise a repository could claim any directory.
    let configured = config.worktree.as_deref().map(|path| common.join(path));
    if let Some(top) = configured.and_then(|path| path.canonicalize().ok()) {
        let inside = git_file(&top)?.unwrap_or_else(|| top.join(".git"));
        if inside.canonicalize().is_ok_and(|inside| inside == common) {
            return Ok(top);
        }
    }
    Ok(common.to_path_buf())
}

/// Parses a `HEAD`; `None` if git would refuse it.
fn read_head(path: &Path) -> io::Result<Option<Head>> {
    // Old repositories have a symbolic link instead of a text.
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
    // A reftable stores the head elsewhere and leaves a name here that no branch can have.
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

/// A file's bytes; `None` if it is missing, too long or not a regular file: a pipe would block for ever.
fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::metadata(path) {
        Ok(meta) if meta.is_file() && meta.len() <= FILE_BYTES_MAX => {}
        Ok(_) => return Ok(None),
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(error),
    }
    Ok(Some(regular::read(path, FILE_BYTES_MAX)?))
}

/// A file's text; an error if it is not UTF-8.
fn read_text(path: &Path) -> io::Result<Option<String>> {
    let text = read(path)?.map(String::from_utf8).transpose();
    text.map_err(|_| io::ErrorKind::InvalidData.into())
}
