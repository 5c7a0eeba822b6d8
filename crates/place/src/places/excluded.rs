//! Paths that a project's settings file excludes, and the report when they are nearly all of its files.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use model::limits;
use pattern::glob::Glob;
use toml_edit::{DocumentMut, Item};

use super::straight;

/// Paths that must not be stored.
#[derive(Clone, Debug)]
pub(super) struct Exclude {
    /// The directory as it was given, and with links resolved.
    pub(super) given: PathBuf,
    pub(super) real: PathBuf,
    /// The directory that the globs are relative to.
    pub(super) base: PathBuf,
    /// The settings file, for messages.
    pub(super) file: String,
    pub(super) globs: Vec<(String, Glob)>,
    pub(super) withheld: Option<Withheld>,
    pub(super) unknown_keys: Option<String>,
    pub(super) repository: Option<git::Facts>,
    /// The count of files that the globs do not exclude, computed on first use.
    pub(super) left_over: OnceLock<Option<FileCount>>,
}

/// Why nothing about any path in a project is stored.
#[derive(Clone, Debug)]
pub(super) enum Withheld {
    /// The settings file cannot be parsed, with the reason. It may be meant to exclude something.
    Broken(String),
    /// The globs exclude every path.
    Excluded,
}

/// Numbers of files in a project whose globs exclude nearly all of them.
#[derive(Clone, Debug)]
pub(super) struct FileCount {
    all: usize,
    /// The files that were compared with the globs.
    checked: usize,
    /// The checked files that are not excluded.
    kept: usize,
}

impl Exclude {
    pub(super) fn excludes(&self, path: &str) -> bool {
        self.inside(Path::new(path)).any(|inside| {
            self.withheld.is_some()
                || inside.len() > limits::EXCLUDED_PATH_BYTES_MAX
                || self.hides(&inside)
        })
    }

    /// Whether a glob hides a path relative to the directory of the settings file.
    fn hides(&self, inside: &str) -> bool {
        self.globs.iter().any(|(text, glob)| hides(text, glob, inside))
    }

    /// One line for the user if nothing, or next to nothing, about the project's files is stored, or if the file has
    /// keys without a meaning.
    pub(super) fn report(&self) -> Option<String> {
        let file = &self.file;
        let unknown = self.unknown_keys.as_ref().map(|keys| {
            format!("{file} has keys that have no effect: {keys}; known are project and exclude, outside of any table")
        });
        let both = [self.report_withheld(), unknown];
        both.into_iter().flatten().reduce(|all, line| format!("{all}. {line}"))
    }

    fn report_withheld(&self) -> Option<String> {
        let file = &self.file;
        match &self.withheld {
            Some(Withheld::Broken(what)) => {
                return Some(format!(
                    "{what}; no record with a file path is stored there until the file is corrected"
                ));
            }
            Some(Withheld::Excluded) => {
                return Some(format!(
                    "{file} excludes every path; no record with a file path is stored there until it excludes less"
                ));
            }
            None => {}
        }
        let count = self.left_over.get_or_init(|| self.count()).as_ref()?;
        let how_many = match count {
            FileCount { all, checked, kept: 0 } if all == checked => {
                format!("all files here ({all})")
            }
            FileCount { all, checked, kept } if all == checked => {
                format!("{} of {all} files here", all - kept)
            }
            FileCount { all, checked, kept } => {
                format!("{} of {checked} checked files ({all} in all)", checked - kept)
            }
        };
        Some(format!(
            "{file} excludes {how_many}; nothing about them is stored until it excludes less"
        ))
    }

    /// How many of the project's files the globs leave; `None` if that is more than next to nothing.
    fn count(&self) -> Option<FileCount> {
        let files = self.files();
        let all = files.len();
        // Spread over all files: the first ones in the index may be decoys.
        let step = all.div_ceil(limits::EXCLUDE_FILES_CHECKED).max(1);
        let checked = all.div_ceil(step);
        let kept_max = (checked / limits::EXCLUDE_KEPT_ONE_IN).min(limits::EXCLUDE_KEPT_FILES);
        let kept = files.iter().step_by(step).filter(|path| !self.hides(path));
        let kept = kept.take(kept_max + 1).count();
        (checked > 0 && kept <= kept_max).then_some(FileCount { all, checked, kept })
    }

    /// The files below the directory of the settings file, without dot files and files in dot directories: the tracked ones,
    /// else those on disk.
    fn files(&self) -> Vec<String> {
        let tracked = self.repository.as_ref().and_then(|repository| {
            let base = self.base.strip_prefix(&repository.root).ok()?;
            let below =
                |path: String| Some(Path::new(&path).strip_prefix(base).ok()?.to_str()?.to_owned());
            Some(repository.tracked_files()?.into_iter().filter_map(below).collect())
        });
        let tracked: Vec<String> = tracked.unwrap_or_default();
        let mut files = if tracked.is_empty() { files_on_disk(&self.base) } else { tracked };
        files.retain(|path| !path.split('/').any(|part| part.starts_with('.')));
        files
    }

    /// The path relative to the globs' directory, as given and with links resolved; none if it lies outside.
    fn inside(&self, path: &Path) -> impl Iterator<Item = String> {
        let absolute = straight(&self.given.join(path));
        // The agent's working directory may lead into the project through a link.
        let real = absolute.strip_prefix(&self.given).ok().map(|rest| self.real.join(rest));
        let base = self.base.clone();
        let inside = move |path: PathBuf| Some(path.strip_prefix(&base).ok()?.to_path_buf());
        let both = [Some(absolute), real].into_iter().flatten().filter_map(inside);
        both.map(|path| path.to_string_lossy().into_owned())
    }
}

/// The files below a directory, nearest first, relative to it. Links are not followed, hidden directories are skipped,
/// and the walk ends after a bound.
fn files_on_disk(base: &Path) -> Vec<String> {
    let mut files = Vec::new();
    let mut folders = VecDeque::from([base.to_owned()]);
    let mut budget = limits::EXCLUDE_ENTRIES_WALKED;
    while let Some(folder) = folders.pop_front() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            if budget == 0 {
                return files;
            }
            budget -= 1;
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && !is_hidden => folders.push_back(entry.path()),
                Ok(kind) if kind.is_file() => {
                    let path = entry.path();
                    let inside = path.strip_prefix(base).ok().map(Path::to_string_lossy);
                    files.extend(inside.map(|inside| inside.into_owned()));
                }
                _ => {}
            }
        }
    }
    files
}

/// Whether a glob hides a path: it matches the path, a directory above it, or the last component if the glob names no
/// directory. A leading dot does not protect a name, because this rule is about leaks.
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
pub(super) fn hide_everything(globs: &[(String, Glob)]) -> bool {
    // Paths with different first characters, extensions and depths.
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

/// The globs of `exclude`: one, or a list of them.
pub(super) fn globs(item: &Item) -> Result<Vec<(String, Glob)>, String> {
    let (count_max, bytes_max) = (limits::PROJECT_EXCLUDES_MAX, limits::PROJECT_EXCLUDES_BYTES_MAX);
    let texts = texts(item).ok_or("exclude is not a glob or a list of globs")?;
    if texts.len() > count_max || texts.iter().map(String::len).sum::<usize>() > bytes_max {
        let size = text::size(bytes_max as u64);
        return Err(format!("exclude has more than {count_max} globs or {size}"));
    }
    let compiled = texts.into_iter().map(|text| {
        // Other programs write these for the whole directory.
        let pattern = if matches!(text.as_str(), "." | "./" | "/") { "**" } else { &text };
        // A leading slash means the directory of the settings file, as in `.gitignore`.
        let glob = Glob::hint(pattern.trim_matches('/'));
        glob.map(|glob| (text, glob)).map_err(|_| "exclude has an invalid glob".to_owned())
    });
    compiled.collect()
}

/// The keys of a settings file that have no meaning, for a message: an `exclude` that is misspelt or inside a table
/// excludes nothing. A clone may contain any text as a key, so only plain names are shown.
pub(super) fn unknown_keys(document: &DocumentMut) -> Option<String> {
    const KNOWN: [&str; 2] = ["project", "exclude"];
    let is_plain = |key: &str| {
        key.len() <= limits::PROJECT_KEY_BYTES_MAX
            && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    };
    let unknown: Vec<&str> =
        document.iter().map(|(key, _)| key).filter(|key| !KNOWN.contains(key)).collect();
    let shown = unknown.iter().take(limits::PROJECT_KEYS_SHOWN);
    let mut names: Vec<&str> = shown
        .map(|key| if is_plain(key) { *key } else { "a key that is not a plain name" })
        .collect();
    if unknown.len() > names.len() {
        names.push("…");
    }
    (!names.is_empty()).then(|| names.join(", "))
}

/// One text or a list of them.
fn texts(item: &Item) -> Option<Vec<String>> {
    if let Some(text) = item.as_str() {
        return Some(vec![text.to_owned()]);
    }
    item.as_array()?.iter().map(|value| value.as_str().map(str::to_owned)).collect()
}
