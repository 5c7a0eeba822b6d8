//! The file that a path of the caller refers to, and the other paths of that file: through a symbolic link, or in
//! another working tree.

use model::OpError;
use store::{Rx, Store, history};

use crate::places::Places;

/// A requested file.
pub struct FileQuestion<'a> {
    given: &'a str,
    /// The absolute path that a relative path means in the caller's directory; `None` if the given path is absolute or
    /// the directory is unknown.
    pub from_here: Option<String>,
    /// Other recorded paths of the file.
    pub also: Vec<String>,
}

impl<'a> FileQuestion<'a> {
    /// A file that is named in this directory; without a directory, every file whose path ends like this. Reads the
    /// disk, so it is created before the transaction that reads the store.
    pub fn new(
        (places, store): (&Places, &Store),
        cwd: Option<&str>,
        given: &'a str,
    ) -> Result<FileQuestion<'a>, OpError> {
        let from_here = cwd.and_then(|cwd| from(cwd, given));
        let absolute = from_here.as_deref().or(given.starts_with('/').then_some(given));
        let also = match absolute {
            Some(absolute) => other_paths(places, store, absolute)?,
            None => Vec::new(),
        };
        Ok(FileQuestion { given, from_here, also })
    }

    /// The path to search in these projects: the absolute one in the caller's directory if they have records of that
    /// file, else the path as it was given, which matches every path with this ending.
    pub fn path(&self, rx: &Rx<'_>, projects: Option<&[i64]>) -> Result<&str, OpError> {
        let Some(here) = self.from_here.as_deref() else { return Ok(self.given) };
        for path in self.also.iter().map(String::as_str).chain([here]) {
            if history::is_path(rx, path, projects)? {
                return Ok(here);
            }
        }
        Ok(self.given)
    }
}

fn other_paths(places: &Places, store: &Store, absolute: &str) -> Result<Vec<String>, OpError> {
    let meant = places.identity(absolute);
    let mut found = store.read(|rx| history::paths_ending(rx, &meant.1.to_string_lossy()))?;
    found.retain(|path| path != absolute && places.identity(path) == meant);
    Ok(found)
}

fn from(cwd: &str, path: &str) -> Option<String> {
    if path.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = cwd.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    Some(format!("/{}", parts.join("/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_path_is_resolved_in_the_callers_directory() {
        let table = [
            ("/top/web", "src/a.rs", Some("/top/web/src/a.rs")),
            ("/top/web/src", "./a.rs", Some("/top/web/src/a.rs")),
            ("/top/web/src/", "../Cargo.toml", Some("/top/web/Cargo.toml")),
            ("/", "../../etc", Some("/etc")),
            ("/top", "/abs", None),
        ];
        for (cwd, path, meant) in table {
            assert_eq!(from(cwd, path).as_deref(), meant, "{cwd} {path}");
        }
    }
}
