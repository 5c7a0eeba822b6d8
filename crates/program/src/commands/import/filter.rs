//! Which projects an import takes: by the names that its report shows, by globs, and by directories.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use model::hook::HookEvent;
use model::portable::PortableProject;
use model::{OpError, limits};
use pattern::glob::Glob;
use place::{PlaceSource as _, Places};
use serde_json::Value;

/// Names in the hint about a project that no session belongs to.
const NAMES_SHOWN: usize = 20;

/// The filters `--project` and `--exclude-project`.
pub(super) struct ProjectFilter {
    wanted: Option<ProjectPattern>,
    excluded: Vec<ProjectPattern>,
    known: Vec<KnownProject>,
    places: Places,
    /// The decision about each directory and remote.
    decided: Mutex<HashMap<(String, Option<String>), bool>>,
    /// Names of the projects of all events.
    seen: Mutex<BTreeSet<String>>,
}

/// A project of the store.
struct KnownProject {
    name: String,
    key: String,
    root: Option<String>,
}

/// A name, a glob or a directory that the user gives.
struct ProjectPattern {
    given: String,
    glob: Glob,
    /// The directory, if it is one, with the root of its project.
    directory: Option<(PathBuf, Option<String>)>,
    has_matched: AtomicBool,
}

/// A project in the words that a pattern may use for it.
struct ProjectNames {
    /// The first one is shown.
    names: Vec<String>,
    directory: String,
    root: Option<String>,
}

impl ProjectPattern {
    fn new(param: &str, given: &str, places: &Places) -> Result<ProjectPattern, OpError> {
        let given = given.strip_prefix("project://").unwrap_or(given);
        let is_path = given.contains('/') || matches!(given, "." | "..");
        let path = std::path::absolute(given).ok().map(|path| place::straight(&path));
        let path = path.filter(|path| is_path || path.is_dir());
        let shown = path.as_ref().filter(|_| is_path && !given.starts_with('*'));
        let glob = shown.map_or_else(|| given.to_owned(), |path| path.to_string_lossy().into());
        let glob = Glob::hint(&glob)
            .map_err(|error| OpError::invalid(param, format!("'{given}': {error}")))?;
        let directory = path.map(|path| {
            let real = path.canonicalize().unwrap_or(path);
            let root = places.at(real.to_str()).facts.root.clone();
            (real, root)
        });
        Ok(ProjectPattern {
            given: given.to_owned(),
            glob,
            directory,
            has_matched: AtomicBool::new(false),
        })
    }

    fn matches(&self, project: &ProjectNames) -> bool {
        let ProjectNames { names, directory, root } = project;
        let is_named = names.iter().any(|name| *name == self.given || self.glob.matches(name));
        let paths = [Some(directory), root.as_ref()];
        let is_at = paths.into_iter().flatten().any(|path| self.glob.matches(path));
        let is_same = self.directory.as_ref().is_some_and(|(path, root_of_path)| {
            path == Path::new(directory)
                || (root.is_some() && root_of_path == root)
                || (!path.exists() && Path::new(directory).starts_with(path))
        });
        let matches = is_named || is_at || is_same;
        if matches {
            self.has_matched.store(true, Ordering::Relaxed);
        }
        matches
    }

    /// Whether a project is left out. A directory leaves out everything below it.
    fn excludes(&self, project: &ProjectNames) -> bool {
        let is_below = self
            .directory
            .as_ref()
            .is_some_and(|(path, _)| Path::new(&project.directory).starts_with(path));
        if is_below {
            self.has_matched.store(true, Ordering::Relaxed);
        }
        is_below || self.matches(project)
    }

    fn has_matched(&self) -> bool {
        self.has_matched.load(Ordering::Relaxed)
    }
}

impl ProjectFilter {
    /// `None` without a filter. `listed` returns the answer of `list_projects`.
    pub(super) fn new(
        wanted: Option<&str>,
        excluded: &[String],
        home: Option<PathBuf>,
        listed: impl FnOnce() -> Value,
    ) -> Result<Option<ProjectFilter>, OpError> {
        if wanted.is_none() && excluded.is_empty() {
            return Ok(None);
        }
        let places = Places::new(home);
        let wanted = wanted.map(|given| ProjectPattern::new("project", given, &places));
        let excluded =
            excluded.iter().map(|given| ProjectPattern::new("exclude-project", given, &places));
        let filter = ProjectFilter {
            wanted: wanted.transpose()?,
            excluded: excluded.collect::<Result<_, OpError>>()?,
            known: known_projects(&listed()),
            places,
            decided: Mutex::default(),
            seen: Mutex::default(),
        };
        // Files that did not change are not read again, and a project may be in them alone.
        for project in &filter.known {
            let names = ProjectNames {
                names: vec![project.name.clone(), project.key.clone()],
                directory: project.root.clone().unwrap_or_default(),
                root: project.root.clone(),
            };
            if let Some(pattern) = &filter.wanted {
                pattern.matches(&names);
            }
            for pattern in &filter.excluded {
                pattern.excludes(&names);
            }
        }
        Ok(Some(filter))
    }

    /// Whether the project of an event is imported.
    pub(super) fn wants(&self, event: &HookEvent) -> bool {
        let cwd = event.cwd.as_ref().map(|cwd| cwd.as_str()).unwrap_or_default();
        let remote = event.transcript.as_ref().and_then(|facts| facts.remote.as_ref());
        let key = (cwd.to_owned(), remote.map(|remote| remote.to_string()));
        let mut decided = self.decided.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(decision) = decided.get(&key) {
            return *decision;
        }
        let decision = self.decide(&self.names_of(cwd, key.1.as_deref()));
        decided.insert(key, decision);
        decision
    }

    /// Whether a project of records is imported.
    pub(super) fn wants_project(&self, project: &PortableProject) -> bool {
        let directory = project.root.as_ref().unwrap_or(&project.key);
        let mut names = match directory.starts_with('/') {
            true => self.names_of(directory, None),
            false => ProjectNames {
                names: Vec::new(),
                directory: directory.clone(),
                root: project.root.clone(),
            },
        };
        names.names.extend([project.name.clone(), project.key.clone()]);
        self.decide(&names)
    }

    fn decide(&self, project: &ProjectNames) -> bool {
        if let Some(name) = project.names.first() {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.insert(name.clone());
        }
        // Every pattern is tried, so that a note can name patterns that match nothing.
        let excluded = self.excluded.iter().filter(|pattern| pattern.excludes(project)).count();
        let is_wanted = self.wanted.as_ref().is_none_or(|pattern| pattern.matches(project));
        is_wanted && excluded == 0
    }

    /// The names of the project of a directory, as an import finds it.
    fn names_of(&self, directory: &str, remote: Option<&str>) -> ProjectNames {
        let place = self.places.at(Some(directory));
        let facts = &place.facts;
        let remote = remote.filter(|_| place.is_gone).and_then(git::normal_remote);
        let key = remote.as_ref().or(facts.remote_key.as_ref());
        let is_at = |root: &Path| {
            self.known.iter().find(|known| known.root.as_deref().map(Path::new) == Some(root))
        };
        let above = || Path::new(directory).ancestors().find_map(is_at);
        let known = self
            .known
            .iter()
            .find(|known| key == Some(&known.key))
            .or_else(|| facts.root.as_deref().map(Path::new).and_then(is_at))
            .or_else(|| above().filter(|_| place.is_gone));
        let of_remote = remote.as_ref().and_then(|remote| remote.rsplit('/').next());
        let name = known.map(|known| known.name.as_str()).or(of_remote).unwrap_or(&facts.name);
        let mut names = vec![name.to_owned()];
        names.extend(known.map(|known| known.key.clone()));
        names.extend(key.cloned());
        let root = known.and_then(|known| known.root.clone()).or_else(|| facts.root.clone());
        ProjectNames { names, directory: directory.to_owned(), root }
    }

    /// The error if no session belongs to the project that the user names.
    pub(super) fn check_matched(&self) -> Result<(), OpError> {
        let Some(pattern) = self.wanted.as_ref().filter(|pattern| !pattern.has_matched()) else {
            return Ok(());
        };
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let named = format!("no session belongs to the project {}", shown(&pattern.given));
        let names: Vec<String> = seen.iter().take(NAMES_SHOWN).map(|name| shown(name)).collect();
        let more = if seen.len() > NAMES_SHOWN { ", …" } else { "" };
        Err(OpError::not_found(named).hint(match names.is_empty() {
            true => "`rekindle import --dry-run` shows the projects.".to_owned(),
            false => format!("The sessions belong to: {}{more}.", names.join(", ")),
        }))
    }

    /// Notes about exclusions that left out nothing. A mistyped one would import what the user wants to keep out.
    pub(super) fn unmatched_exclusions(&self) -> Vec<String> {
        let unmatched = self.excluded.iter().filter(|pattern| !pattern.has_matched());
        let note = |pattern: &ProjectPattern| {
            format!("note: --exclude-project {} matches no project", shown(&pattern.given))
        };
        unmatched.map(note).collect()
    }
}

fn shown(name: &str) -> String {
    text::one_line(name, limits::IMPORT_NAME_CHARS)
}

fn known_projects(listed: &Value) -> Vec<KnownProject> {
    let text = |project: &Value, name: &str| project[name].as_str().map(str::to_owned);
    let projects = listed["projects"].as_array().into_iter().flatten();
    let known = projects.filter_map(|project| {
        let path = text(project, "path")?;
        Some(KnownProject {
            name: text(project, "name")?,
            key: path.strip_prefix("project://").unwrap_or(&path).to_owned(),
            root: text(project, "root"),
        })
    });
    known.collect()
}
