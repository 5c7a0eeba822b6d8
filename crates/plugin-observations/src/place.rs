//! Which project a directory belongs to, and which of its paths the project keeps to itself.
//!
//! The files are asked, never a subprocess: the repository's own, and the nearest `.rekindle.toml`
//! (or `.nmem.toml`) with `project` and `exclude`.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, UNIX_EPOCH};

use model::limits;
use model::project::{MADE, ProjectFacts, plain_name, shown_name};
use pattern::glob::Glob;
use serde_json::{Map, Value};
use text::secrets::{Profile, Redacted, redact, redact_json};
use toml_edit::{DocumentMut, Item, TomlError};

const SETTINGS_FILES: [&str; 2] = [".rekindle.toml", ".nmem.toml"];

/// What is known of a directory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    pub(crate) facts: ProjectFacts,
    /// The branch that is checked out, and the work tree if it is not the main one.
    pub(crate) checkout: Option<Redacted<Value>>,
    exclude: Option<Exclude>,
}

/// Paths that are not to be kept.
#[derive(Clone, Debug)]
struct Exclude {
    /// The directory as it was given, and what it really is.
    given: PathBuf,
    real: PathBuf,
    /// The directory that the globs are relative to.
    base: PathBuf,
    globs: Vec<(String, Glob)>,
    withheld: Option<Withheld>,
}

/// Why nothing about any path in a project is stored.
#[derive(Clone, Debug)]
enum Withheld {
    /// The settings file cannot be parsed, with the reason. It may be meant to exclude something.
    Broken(String),
    /// The globs of this file exclude every path.
    Excluded(String),
}

impl Place {
    /// A place that keeps nothing to itself.
    pub(crate) fn plain(facts: ProjectFacts) -> Place {
        Place { facts, checkout: None, exclude: None }
    }

    /// Whether nothing about this path is to be kept.
    pub(crate) fn excludes(&self, path: &str) -> bool {
        let Some(exclude) = &self.exclude else { return false };
        exclude.inside(Path::new(path)).any(|inside| {
            exclude.withheld.is_some()
                || inside.len() > limits::EXCLUDED_PATH_BYTES_MAX
                || exclude.globs.iter().any(|(text, glob)| hides(text, glob, &inside))
        })
    }

    /// Why nothing about the project's files is stored, as one line; `None` if something is stored. Without
    /// this line a user would not notice, and such a settings file may come with a clone.
    pub(crate) fn withheld(&self) -> Option<String> {
        Some(match self.exclude.as_ref()?.withheld.as_ref()? {
            Withheld::Broken(what) => {
                format!("{what}; nothing with a path is kept there until it is mended")
            }
            Withheld::Excluded(file) => {
                format!(
                    "{file} excludes every path; nothing with a path is kept there until it excludes less"
                )
            }
        })
    }
}

impl Exclude {
    /// The path as the globs know it, by its own name and by what it really is; none if it lies outside.
    fn inside(&self, path: &Path) -> impl Iterator<Item = String> {
        let absolute = straight(&self.given.join(path));
        // The agent may stand in the project by another name, through a link.
        let real = absolute.strip_prefix(&self.given).ok().map(|rest| self.real.join(rest));
        let base = self.base.clone();
        let inside = move |path: PathBuf| Some(path.strip_prefix(&base).ok()?.to_path_buf());
        let both = [Some(absolute), real].into_iter().flatten().filter_map(inside);
        both.map(|path| path.to_string_lossy().into_owned())
    }
}

/// The path without `.` and `..`, by its words alone.
fn straight(path: &Path) -> PathBuf {
    let mut straight = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(straight.pop()),
            part => straight.push(part),
        }
    }
    straight
}

/// Whether a glob hides a path: it matches the path, a directory above it, or the last part if the
/// glob names no directory. A leading dot does not protect a name, for this is about what may leak.
fn hides(text: &str, glob: &Glob, path: &str) -> bool {
    let plain: Vec<&str> = path.split('/').map(|part| part.trim_start_matches('.')).collect();
    let plain = plain.join("/");
    let above = |path: &str| {
        let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
        ends.filter_map(|end| path.get(..end)).any(|part| glob.matches(part))
    };
    let name = path.rsplit('/').next().unwrap_or(path);
    let by_name = !text.contains('/')
        && !text.starts_with('!')
        && (glob.matches(name) || glob.matches(name.trim_start_matches('.')));
    above(path) || (plain != path && above(&plain)) || by_name
}

/// Whether the globs together exclude every path of a project. Checked on a sample of paths.
fn hide_everything(globs: &[(String, Glob)]) -> bool {
    // Paths that have nothing in common: each has its own first character, extension and depth.
    const ANY: [&str; 14] = [
        "q",
        "Q7.zx",
        "_q/w.k",
        ".q/w",
        "7/8/9/q.json",
        "é/ü.ñ",
        "q w/e r",
        "src/main.rs",
        "lib/q/w/e/r/t.py",
        "README.md",
        "Makefile",
        ".github/workflows/q.yml",
        "web/q.test.tsx",
        "q.tar.gz",
    ];
    let hidden = |path: &&str| globs.iter().any(|(text, glob)| hides(text, glob, path));
    !globs.is_empty() && ANY.iter().all(hidden)
}

/// Knows the place of a directory.
pub(crate) trait Places: Send + Sync {
    fn at(&self, cwd: Option<&str>) -> Arc<Place>;

    /// Whether nothing about this path is to be kept, says the project where the agent stands or the
    /// one that holds the file.
    fn hides(&self, cwd: Option<&str>, path: &str) -> bool {
        self.at(cwd).excludes(path)
    }
}

/// Asks the disk, and believes what it said for some seconds.
pub(crate) struct DiskPlaces {
    home: Option<PathBuf>,
    asked: Mutex<Believed<Arc<Place>>>,
    folders: Mutex<Believed<FilePlace>>,
    /// What there is of the folders of files: one of these, or the nearest above it.
    holders: Mutex<Believed<Arc<str>>>,
}

/// What the disk said about directories, and when.
type Believed<T> = HashMap<String, (Instant, T)>;

/// Where a file is: a folder, and the place in it.
pub(crate) type FilePlace = (PathBuf, PathBuf);

/// What is believed of this directory, else what the disk says now.
fn believe<T: Clone>(asked: &Mutex<Believed<T>>, dir: &str, look: impl FnOnce() -> T) -> T {
    let mut asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((at, known)) = asked.get(dir)
        && at.elapsed() < limits::PLACE_BELIEVED
    {
        return known.clone();
    }
    let found = look();
    if asked.len() >= limits::PLACES_MAX {
        asked.clear();
    }
    asked.insert(dir.to_owned(), (Instant::now(), found.clone()));
    found
}

impl DiskPlaces {
    pub(crate) fn new(home: Option<PathBuf>) -> DiskPlaces {
        let home = home.map(|home| home.canonicalize().unwrap_or(home));
        DiskPlaces {
            home,
            asked: Mutex::default(),
            folders: Mutex::default(),
            holders: Mutex::default(),
        }
    }

    /// What a path means: a folder and the place of the file in it. It is the same for all work trees
    /// of a repository, and for a path that leads there through a link.
    pub(crate) fn identity(&self, path: &str) -> FilePlace {
        let path = straight(Path::new(path));
        let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else {
            return (PathBuf::new(), path);
        };
        let (folder, inside) = believe(&self.folders, &dir.to_string_lossy(), || identity(dir));
        (folder, inside.join(name))
    }

    fn look(&self, cwd: &str) -> Place {
        let given = PathBuf::from(cwd);
        let real = given.canonicalize().unwrap_or_else(|_| given.clone());
        if !real.is_absolute() || real.parent().is_none() {
            return nowhere("unknown");
        }
        // A folder that is gone, or yet to come, still is where it was.
        let there = real.ancestors().find_map(|above| above.canonicalize().ok());
        let there = there.as_deref().unwrap_or(&real);
        // A repository of somebody's dot files does not make a project of the whole home.
        let repository = git::Facts::at(there).filter(|facts| !self.is_no_project(&facts.root));
        let top = repository.as_ref().map(|facts| facts.root.as_path());
        let own = self.nearest_settings(&real, top);
        let facts = match (&repository, &own) {
            (Some(repository), own) => in_repository(repository, own.as_ref()),
            (None, Some(own)) => on_its_own(&own.folder, own.project.as_deref()),
            (None, None) if self.home.as_ref() == Some(&real) => return nowhere("home"),
            (None, None) => on_its_own(&real, None),
        };
        let exclude = own.filter(|own| own.withheld.is_some() || !own.exclude.is_empty());
        let exclude = exclude.map(|own| Exclude {
            given,
            real,
            base: own.folder,
            globs: own.exclude,
            withheld: own.withheld,
        });
        Place { facts, checkout: repository.as_ref().and_then(checkout), exclude }
    }

    /// The recently seen projects that store nothing about their files, one line each with the reason.
    pub(crate) fn withheld(&self) -> BTreeSet<String> {
        let suspect: Vec<String> = {
            let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            let withheld = asked.iter().filter(|(_, (_, place))| place.withheld().is_some());
            withheld.map(|(cwd, _)| cwd.clone()).collect()
        };
        // They may have been mended since.
        suspect.iter().filter_map(|cwd| self.at(Some(cwd)).withheld()).collect()
    }

    fn is_no_project(&self, dir: &Path) -> bool {
        dir.parent().is_none() || self.home.as_deref() == Some(dir)
    }

    /// The settings file in the directory or above it, up to the top of the repository.
    fn nearest_settings(&self, dir: &Path, top: Option<&Path>) -> Option<Own> {
        for folder in dir.ancestors().take(git::LEVELS_MAX) {
            if self.is_no_project(folder) {
                return None;
            }
            for name in SETTINGS_FILES {
                if let Some(own) = Own::read(folder, name) {
                    return Some(own);
                }
            }
            if top == Some(folder) {
                return None;
            }
        }
        None
    }
}

impl Places for DiskPlaces {
    fn at(&self, cwd: Option<&str>) -> Arc<Place> {
        let cwd = cwd.unwrap_or_default();
        believe(&self.asked, cwd, || Arc::new(self.look(cwd)))
    }

    fn hides(&self, cwd: Option<&str>, path: &str) -> bool {
        if self.at(cwd).excludes(path) {
            return true;
        }
        let path = match (path.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => home.join(rest).to_string_lossy().into_owned().into(),
            _ => whole(path, cwd.unwrap_or_default()),
        };
        let Some((dir, _)) = path.rsplit_once('/').filter(|_| path.starts_with('/')) else {
            return false;
        };
        let there = || {
            // The file may be gone with its folder, or is yet to come.
            let above = Path::new(dir).ancestors().find(|above| above.is_dir());
            above.and_then(Path::to_str).unwrap_or_default().into()
        };
        let holder = believe(&self.holders, dir, there);
        self.at(Some(&holder)).excludes(&path)
    }
}

/// The path from the top and without `.` and `..`, for an agent that stands here.
fn whole<'a>(path: &'a str, cwd: &str) -> Cow<'a, str> {
    let is_straight = path.starts_with('/') && !path.contains("//") && !path.contains("/.");
    if is_straight && !path.ends_with('/') {
        return path.into();
    }
    straight(&Path::new(cwd).join(path)).to_string_lossy().into_owned().into()
}

/// What a project says about itself.
struct Own {
    folder: PathBuf,
    project: Option<String>,
    exclude: Vec<(String, Glob)>,
    withheld: Option<Withheld>,
}

impl Own {
    /// Reads the settings file; `None` if it does not exist. A dangling link counts as a file that cannot be read.
    fn read(folder: &Path, name: &str) -> Option<Own> {
        let path = folder.join(name);
        fs::symlink_metadata(&path).ok()?;
        let mut own =
            Own { folder: folder.to_owned(), project: None, exclude: Vec::new(), withheld: None };
        let complaint = |what: String| format!("{} cannot be read: {what}", shown(&path));
        let read = regular::read_text(&path, limits::PROJECT_FILE_BYTES_MAX);
        let document = match read.map_err(|error| unread(&error)).and_then(|text| parsed(&text)) {
            Ok(document) => document,
            Err(what) => {
                own.withheld = Some(Withheld::Broken(complaint(what)));
                return Some(own);
            }
        };
        let project = document.get("project").and_then(Item::as_str);
        own.project = project.and_then(|name| plain_name(&redact(name, Profile::Declared)));
        match document.get("exclude").map(globs) {
            None => {}
            Some(Ok(globs)) => own.exclude = globs,
            Some(Err(what)) => own.withheld = Some(Withheld::Broken(complaint(what))),
        }
        if hide_everything(&own.exclude) {
            own.withheld = Some(Withheld::Excluded(shown(&path)));
        }
        Some(own)
    }
}

/// Why a settings file could not be read.
fn unread(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::InvalidData => "it is not a text".to_owned(),
        std::io::ErrorKind::NotFound => "it is a link that leads nowhere".to_owned(),
        _ => error.to_string(),
    }
}

fn parsed(text: &str) -> Result<DocumentMut, String> {
    text.parse().map_err(|error| format!("line {} is not TOML", line_of(text, &error)))
}

/// The globs of `exclude`: one, or a list of them.
fn globs(item: &Item) -> Result<Vec<(String, Glob)>, String> {
    let (count_max, bytes_max) = (limits::PROJECT_EXCLUDES_MAX, limits::PROJECT_EXCLUDES_BYTES_MAX);
    let texts = texts(item).ok_or("exclude is not a glob or a list of globs")?;
    if texts.len() > count_max || texts.iter().map(String::len).sum::<usize>() > bytes_max {
        return Err(format!("exclude has more than {count_max} globs or {bytes_max} bytes"));
    }
    let compiled = texts.into_iter().map(|text| {
        // Other programs write these for the whole directory.
        let pattern = if matches!(text.as_str(), "." | "./" | "/") { "**" } else { &text };
        // A leading slash means the directory of the settings file, as in `.gitignore`.
        let glob = Glob::hint(pattern.trim_matches('/'));
        glob.map(|glob| (text, glob)).map_err(|_| "exclude has a text that is no glob".to_owned())
    });
    compiled.collect()
}

/// The line of a text where an error is, from 1.
fn line_of(text: &str, error: &TomlError) -> usize {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    before.matches('\n').count() + 1
}

/// One text or a list of them.
fn texts(item: &Item) -> Option<Vec<String>> {
    if let Some(text) = item.as_str() {
        return Some(vec![text.to_owned()]);
    }
    item.as_array()?.iter().map(|value| value.as_str().map(str::to_owned)).collect()
}

fn nowhere(name: &str) -> Place {
    Place::plain(ProjectFacts { name: name.to_owned(), ..ProjectFacts::default() })
}

fn on_its_own(root: &Path, name: Option<&str>) -> ProjectFacts {
    ProjectFacts {
        remote_key: None,
        root: Some(shown(root)),
        name: name.map_or_else(|| last_part(root), str::to_owned),
        made: made(root).into_iter().collect(),
    }
}

/// The identity of a directory, which another one at its path does not have.
fn made(directory: &Path) -> Option<String> {
    let found = fs::metadata(directory).ok()?;
    let born = found.created().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    // Device numbers change at a reboot on some file systems, so they are used only without a time of birth.
    Some(match born {
        Some(born) => format!("{MADE}{:x}-{:x}", found.ino(), born.as_nanos()),
        None => format!("{MADE}{:x}-device-{:x}", found.ino(), found.dev()),
    })
}

/// The project of a repository; a named directory inside it is a project of its own.
fn in_repository(repository: &git::Facts, own: Option<&Own>) -> ProjectFacts {
    let remote = repository.remote.as_deref().and_then(git::normal_remote);
    let remote = remote.map(|remote| safe(&remote));
    let named = own.and_then(|own| Some((own.folder.as_path(), own.project.as_deref()?)));
    let below = |folder: &Path| folder.strip_prefix(&repository.root).ok().map(Path::to_path_buf);
    let both = [&repository.common_dir, &repository.main_root];
    let both: Vec<String> = both.into_iter().filter_map(|directory| made(directory)).collect();
    match named.and_then(|(folder, name)| Some((below(folder)?, name))) {
        Some((part, name)) if part.as_os_str().is_empty() => ProjectFacts {
            remote_key: remote,
            root: Some(shown(&repository.main_root)),
            name: name.to_owned(),
            made: both,
        },
        Some((part, name)) => ProjectFacts {
            remote_key: remote.map(|remote| format!("{remote}#{}", shown(&part))),
            root: Some(shown(&repository.main_root.join(&part))),
            name: name.to_owned(),
            made: both.iter().map(|made| format!("{made}#{}", shown(&part))).collect(),
        },
        None => ProjectFacts {
            remote_key: remote,
            root: Some(shown(&repository.main_root)),
            name: last_part(&repository.main_root),
            made: both,
        },
    }
}

/// What is checked out, as members of a record's metadata.
fn checkout(repository: &git::Facts) -> Option<Redacted<Value>> {
    let line = |text: &str| text::one_line(text, limits::CHECKOUT_CHARS_MAX);
    let mut members = Map::new();
    if let Some(branch) = repository.branch.branch() {
        members.insert("branch".to_owned(), line(branch).into());
    }
    if repository.root != repository.main_root {
        let root = line(&repository.root.to_string_lossy());
        members.insert("worktree".to_owned(), root.into());
    }
    (!members.is_empty()).then(|| redact_json(Value::Object(members), Profile::Strict))
}

/// What a directory means: the top of the repository's main work tree, or what there really is of the
/// path, and the place of the directory in it.
fn identity(path: &Path) -> FilePlace {
    let known = path
        .ancestors()
        .find_map(|above| Some((above.canonicalize().ok()?, path.strip_prefix(above).ok()?)));
    let Some((dir, rest)) = known else { return (PathBuf::new(), path.to_owned()) };
    let real = dir.join(rest);
    let repository = git::Facts::at(&dir);
    let inside = repository.as_ref().and_then(|facts| real.strip_prefix(&facts.root).ok());
    match (&repository, inside) {
        (Some(facts), Some(inside)) => (facts.main_root.clone(), inside.to_path_buf()),
        _ => (dir, rest.to_path_buf()),
    }
}

fn last_part(path: &Path) -> String {
    let name = path.file_name().map(|name| safe(&name.to_string_lossy()));
    name.map_or_else(|| "unknown".to_owned(), shown_name)
}

fn shown(path: &Path) -> String {
    safe(&path.to_string_lossy())
}

/// What comes from the disk may hold a secret as well as what comes from the agent.
fn safe(text: &str) -> String {
    redact(text, Profile::Strict).into_inner()
}
