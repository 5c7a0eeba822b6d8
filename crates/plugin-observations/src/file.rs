//! Which file somebody means by a path, and the other paths that lead to it: through a link, or in
//! another work tree.

use contract::Cx;
use model::OpError;
use store::{Rx, history};

use crate::place::DiskPlaces;

/// A file as it was asked for.
pub(crate) struct Asked<'a> {
    given: &'a str,
    /// The path as somebody means it who stands where the caller does; none for an absolute one.
    pub(crate) from_here: Option<String>,
    /// Other paths on record that lead to the same file.
    pub(crate) also: Vec<String>,
}

impl<'a> Asked<'a> {
    /// Looks at the disk, so it is asked before the store is read. Who asks about `anywhere` means every
    /// file that ends so.
    pub(crate) fn new(
        cx: &Cx<'_>,
        places: &DiskPlaces,
        given: &'a str,
        anywhere: bool,
    ) -> Result<Asked<'a>, OpError> {
        let cwd = cx.caller.situation.cwd.as_deref().filter(|_| !anywhere);
        let from_here = cwd.and_then(|cwd| from(cwd, given));
        let absolute = from_here.as_deref().or(given.starts_with('/').then_some(given));
        let also = match absolute {
            Some(absolute) => other_paths(cx, places, absolute)?,
            None => Vec::new(),
        };
        Ok(Asked { given, from_here, also })
    }

    /// The path to look for in these projects: what it means where the caller stands wins over what else
    /// ends like it, if there is anything about that in them.
    pub(crate) fn path(&self, rx: &Rx<'_>, projects: Option<&[i64]>) -> Result<&str, OpError> {
        let Some(here) = self.from_here.as_deref() else { return Ok(self.given) };
        for path in self.also.iter().map(String::as_str).chain([here]) {
            if history::is_path(rx, path, projects)? {
                return Ok(here);
            }
        }
        Ok(self.given)
    }
}

fn other_paths(cx: &Cx<'_>, places: &DiskPlaces, absolute: &str) -> Result<Vec<String>, OpError> {
    let meant = places.identity(absolute);
    let mut found = cx.store.read(|rx| history::paths_ending(rx, &meant.1.to_string_lossy()))?;
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
    fn a_relative_path_is_meant_from_where_somebody_stands() {
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
