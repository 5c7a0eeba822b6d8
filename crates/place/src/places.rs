//! The project of a directory, and the paths that the project excludes.
//!
//! Reads files and starts no process: those of the repository, and the nearest `.rekindle.toml` (or `.nmem.toml`)
//! with `project` and `exclude`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Instant, UNIX_EPOCH};

use model::hook::HookEvent;
use model::limits;
use model::project::{MADE, MADE_WITHOUT_BIRTH, ProjectFacts, plain_name, shown_name};
use pattern::glob::Glob;
use serde_json::{Map, Value};
use text::secrets::{Profile, Redacted, redact, redact_json, redact_place};
use toml_edit::{DocumentMut, Item, TomlError};

use excluded::{Exclude, Withheld};
use link::PathLink;
use stamps::DiskStamps;

mod excluded;
mod link;
mod stamps;

const SETTINGS_FILES: [&str; 2] = [".rekindle.toml", ".nmem.toml"];

/// The project, checkout and exclusions of a directory.
#[derive(Clone, Debug, Default)]
pub struct Place {
    pub facts: ProjectFacts,
    /// The checked-out branch, and the working tree if it is not the main one.
    pub checkout: Option<Redacted<Value>>,
    /// Whether the directory is gone, or is yet to be created.
    pub is_gone: bool,
    /// Set if the directory was named by a path that leads through a symbolic link.
    link: Option<PathLink>,
    exclude: Option<Exclude>,
    /// Which files and directories this was read from.
    stamps: DiskStamps,
}

impl Place {
    /// A place without exclusions.
    pub fn plain(facts: ProjectFacts) -> Place {
        Place { facts, ..Place::default() }
    }

    /// The event with the symbolic link resolved in its directory and its files; none if the directory was
    /// not named through a link. Project roots are stored resolved, so that files can be compared with them.
    pub fn resolved(&self, event: &HookEvent) -> Option<HookEvent> {
        self.link.as_ref().map(|link| link.resolve_event(event))
    }

    /// The project's root by the path that leads through the link. Events of earlier builds have such paths.
    pub fn linked_root(&self) -> Option<String> {
        self.link.as_ref()?.unresolve(self.facts.root.as_deref()?)
    }

    /// The checked-out branch.
    pub fn branch(&self) -> Option<&str> {
        self.checkout.as_ref()?.get("branch")?.as_str()
    }

    /// The top of the working tree if it is not the main one.
    pub fn worktree(&self) -> Option<&str> {
        self.checkout.as_ref()?.get("worktree")?.as_str()
    }

    /// Whether a directory is the project's root or below it.
    fn contains(&self, directory: &str) -> bool {
        let below = self.facts.root.as_ref().and_then(|root| directory.strip_prefix(root.as_str()));
        below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Whether nothing about this path may be stored.
    pub fn excludes(&self, path: &str) -> bool {
        self.exclude.as_ref().is_some_and(|exclude| exclude.excludes(path))
    }

    /// Why nothing, or next to nothing, about the project's files is stored, and which keys of the settings file have no
    /// effect, as one line. Without this line a user would not notice, and such a settings file may come with a clone.
    pub fn withheld(&self) -> Option<String> {
        self.exclude.as_ref()?.report()
    }
}

/// The path without `.` and `..`, resolved textually.
pub fn straight(path: &Path) -> PathBuf {
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

/// Finds the place of a directory. Tests have one that does not look at the disk.
pub trait PlaceSource: Send + Sync {
    fn at(&self, cwd: Option<&str>) -> Arc<Place>;

    /// Whether the project of the directory `cwd`, which is `here`, or the project of the file excludes this path.
    fn hides(&self, here: &Place, _cwd: Option<&str>, path: &str) -> bool {
        here.excludes(path)
    }
}

/// Reads places from the disk and caches them for some seconds.
pub struct Places {
    home: Option<PathBuf>,
    asked: Mutex<DiskCache<Arc<Place>>>,
    folders: Mutex<DiskCache<FilePlace>>,
    /// For the directory of a file, the nearest directory that exists: itself or one above it.
    holders: Mutex<DiskCache<Arc<str>>>,
}

/// Values read from the disk for directories, and when.
type DiskCache<T> = HashMap<String, (Instant, T)>;

/// A file's base directory, and its path below it.
type FilePlace = (PathBuf, PathBuf);

/// The cached value for this directory, or a new one from the disk.
fn cached_or_read<T: Clone>(asked: &Mutex<DiskCache<T>>, dir: &str, look: impl FnOnce() -> T) -> T {
    cached_while(asked, dir, |_| true, look)
}

/// The cached value for this directory while it is fresh and `holds` accepts it, or a new one from the disk.
fn cached_while<T: Clone>(
    asked: &Mutex<DiskCache<T>>,
    dir: &str,
    holds: impl FnOnce(&T) -> bool,
    look: impl FnOnce() -> T,
) -> T {
    let mut asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
    let mut is_outdated = false;
    if let Some((at, known)) = asked.get(dir)
        && at.elapsed() < limits::PLACE_CACHE_TTL
    {
        if holds(known) {
            return known.clone();
        }
        // The directories below were replaced with it.
        is_outdated = true;
    }
    let found = look();
    if is_outdated || asked.len() >= limits::PLACES_MAX {
        asked.clear();
    }
    asked.insert(dir.to_owned(), (Instant::now(), found.clone()));
    found
}

impl Places {
    pub fn new(home: Option<PathBuf>) -> Places {
        let home = home.map(|home| home.canonicalize().unwrap_or(home));
        Places {
            home,
            asked: Mutex::default(),
            folders: Mutex::default(),
            holders: Mutex::default(),
        }
    }

    /// The user's home directory.
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// The identity of a path: a base directory and the path below it. All working trees of a repository share it,
    /// and so does a path through a link.
    pub(crate) fn identity(&self, path: &str) -> FilePlace {
        let path = straight(Path::new(path));
        let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else {
            return (PathBuf::new(), path);
        };
        let (folder, inside) =
            cached_or_read(&self.folders, &dir.to_string_lossy(), || identity(dir));
        (folder, inside.join(name))
    }

    /// The place of a directory from the cache, without a check on the disk that it is still the same directory.
    pub(crate) fn cached(&self, cwd: &str) -> Arc<Place> {
        cached_or_read(&self.asked, cwd, || Arc::new(self.look(cwd)))
    }

    fn look(&self, cwd: &str) -> Place {
        let given = PathBuf::from(cwd);
        let found = given.canonicalize().ok();
        let is_gone = found.is_none();
        let real = found.unwrap_or_else(|| given.clone());
        if !real.is_absolute() || real.parent().is_none() {
            return nowhere("unknown");
        }
        // A directory that was deleted, or is yet to be created, keeps its path.
        let there = real.ancestors().find_map(|above| above.canonicalize().ok());
        let there = there.as_deref().unwrap_or(&real);
        // A repository of dot files does not make the whole home directory a project.
        let repository = git::Facts::at(there).filter(|facts| !self.is_no_project(&facts.root));
        let top = repository.as_ref().map(|facts| facts.root.as_path());
        let own = self.nearest_settings(&real, top);
        let facts = match (&repository, &own) {
            (Some(repository), own) => in_repository(repository, own.as_ref()),
            (None, Some(own)) => on_its_own(&own.folder, own.project.as_deref()),
            (None, None) if self.home.as_ref() == Some(&real) => return nowhere("home"),
            (None, None) => on_its_own(&real, None),
        };
        let stamps = DiskStamps::of([&given, &real], repository.as_ref());
        let exclude = own.filter(|own| {
            own.withheld.is_some() || own.unknown_keys.is_some() || !own.exclude.is_empty()
        });
        let checkout = repository.as_ref().and_then(checkout);
        let link = PathLink::between(&given, &real);
        let exclude = exclude.map(|own| Exclude {
            given,
            real,
            base: own.folder,
            file: own.file,
            globs: own.exclude,
            withheld: own.withheld,
            unknown_keys: own.unknown_keys,
            repository,
            left_over: OnceLock::new(),
        });
        Place { facts, checkout, is_gone, link, exclude, stamps }
    }

    /// One line for each recently seen project that stores nothing, or next to nothing, about its files, or whose
    /// settings file has keys without effect.
    pub fn withheld(&self) -> BTreeSet<String> {
        let suspect: BTreeMap<PathBuf, String> = {
            let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            let excluding = asked.iter().filter_map(|(cwd, (_, place))| {
                Some((place.exclude.as_ref()?.base.clone(), cwd.clone()))
            });
            excluding.collect()
        };
        // A settings file may have changed since.
        suspect.values().filter_map(|cwd| self.at(Some(cwd)).withheld()).collect()
    }

    fn is_no_project(&self, dir: &Path) -> bool {
        dir.parent().is_none() || self.home.as_deref() == Some(dir)
    }

    /// The settings file in the directory or above it, up to the top of the repository.
    fn nearest_settings(&self, dir: &Path, top: Option<&Path>) -> Option<ProjectSettings> {
        for folder in dir.ancestors().take(git::LEVELS_MAX) {
            if self.is_no_project(folder) {
                return None;
            }
            for name in SETTINGS_FILES {
                if let Some(own) = ProjectSettings::read(folder, name) {
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

impl PlaceSource for Places {
    fn at(&self, cwd: Option<&str>) -> Arc<Place> {
        let cwd = cwd.unwrap_or_default();
        // Another directory may be at this path by now, and must not get the memory of the former.
        let holds = |place: &Arc<Place>| place.stamps.hold();
        cached_while(&self.asked, cwd, holds, || Arc::new(self.look(cwd)))
    }

    fn hides(&self, here: &Place, cwd: Option<&str>, path: &str) -> bool {
        if here.excludes(path) {
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
            // The file may be deleted with its directory, or yet to be created.
            let above = Path::new(dir).ancestors().find(|above| above.is_dir());
            above.and_then(Path::to_str).unwrap_or_default().into()
        };
        let holder = cached_or_read(&self.holders, dir, there);
        // A check of `here` covers the directories of its project, which most files are in. A link may be changed
        // on its own.
        let known = self.cached(&holder);
        let place = match known.link.is_none() && here.contains(&holder) {
            true => known,
            false => self.at(Some(&holder)),
        };
        place.excludes(&path)
    }
}

/// Places for the events of one call. Each directory is checked on the disk once, not with every event: the events of a
/// transcript share theirs.
pub struct PlacesOfCall<'p> {
    places: &'p Places,
    found: Mutex<HashMap<String, Arc<Place>>>,
}

impl<'p> PlacesOfCall<'p> {
    pub fn new(places: &'p Places) -> PlacesOfCall<'p> {
        PlacesOfCall { places, found: Mutex::default() }
    }
}

impl PlaceSource for PlacesOfCall<'_> {
    fn at(&self, cwd: Option<&str>) -> Arc<Place> {
        let cwd = cwd.unwrap_or_default();
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = found.get(cwd) {
            return known.clone();
        }
        let place = self.places.at(Some(cwd));
        found.insert(cwd.to_owned(), place.clone());
        place
    }

    fn hides(&self, here: &Place, cwd: Option<&str>, path: &str) -> bool {
        self.places.hides(here, cwd, path)
    }
}

/// The absolute path without `.` and `..`, for an agent in this directory.
fn whole<'a>(path: &'a str, cwd: &str) -> Cow<'a, str> {
    let is_straight = path.starts_with('/') && !path.contains("//") && !path.contains("/.");
    if is_straight && !path.ends_with('/') {
        return path.into();
    }
    straight(&Path::new(cwd).join(path)).to_string_lossy().into_owned().into()
}

/// A project's settings file.
struct ProjectSettings {
    folder: PathBuf,
    /// The name of the settings file, for messages.
    file: String,
    project: Option<String>,
    exclude: Vec<(String, Glob)>,
    withheld: Option<Withheld>,
    /// The keys that have no meaning, as text; one of them may be a misspelt `exclude`.
    unknown_keys: Option<String>,
}

impl ProjectSettings {
    /// Reads the settings file; `None` if it does not exist. A dangling link counts as a file that cannot be read.
    fn read(folder: &Path, name: &str) -> Option<ProjectSettings> {
        let path = folder.join(name);
        fs::symlink_metadata(&path).ok()?;
        let mut own = ProjectSettings {
            folder: folder.to_owned(),
            file: shown(&path),
            project: None,
            exclude: Vec::new(),
            withheld: None,
            unknown_keys: None,
        };
        let complaint = |what: String| format!("{} cannot be read: {what}", shown(&path));
        let read = regular::read_text(&path, limits::PROJECT_FILE_BYTES_MAX);
        let document = match read.map_err(|error| unread(&error)).and_then(|text| parsed(&text)) {
            Ok(document) => document,
            Err(what) => {
                own.withheld = Some(Withheld::Broken(complaint(what)));
                return Some(own);
            }
        };
        own.unknown_keys = excluded::unknown_keys(&document);
        let project = document.get("project").and_then(Item::as_str);
        own.project = project.and_then(|name| plain_name(&redact(name, Profile::Declared)));
        match document.get("exclude").map(excluded::globs) {
            None => {}
            Some(Ok(globs)) => own.exclude = globs,
            Some(Err(what)) => own.withheld = Some(Withheld::Broken(complaint(what))),
        }
        if excluded::hide_everything(&own.exclude) {
            own.withheld = Some(Withheld::Excluded);
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

/// The line of a text where an error is, from 1.
fn line_of(text: &str, error: &TomlError) -> usize {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    before.matches('\n').count() + 1
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

/// The identity of a directory. Another directory that is created at its path later has another identity.
fn made(directory: &Path) -> Option<String> {
    // A link has an identity of its own: it must not borrow that of the repository it leads to.
    let found = fs::symlink_metadata(directory).ok()?;
    let born = found.created().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    // Device numbers change at a reboot on some file systems, so they are used only without a time of birth.
    Some(match born {
        Some(born) => format!("{MADE}{:x}-{:x}", found.ino(), born.as_nanos()),
        None => format!("{MADE}{:x}{MADE_WITHOUT_BIRTH}{:x}", found.ino(), found.dev()),
    })
}

/// The project of a repository; a named directory inside it is a project of its own.
fn in_repository(repository: &git::Facts, own: Option<&ProjectSettings>) -> ProjectFacts {
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

/// Branch and working tree, as members of a record's metadata.
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

/// The identity of a directory: the top of the repository's main working tree, or the existing part of the path, and
/// the rest of the path.
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

/// Names on the disk may contain a secret, like those of the agent.
fn safe(text: &str) -> String {
    redact_place(text, Profile::Strict).into_inner()
}
