//! Paths through a symbolic link, and the resolved paths.
//!
//! A link is resolved once, with the directory of the agent. The paths of its files are then converted as text, by
//! replacing the prefix.

use std::path::{Component, Path, PathBuf};

use model::hook::{Happening, HookEvent};
use serde_json::Value;
use text::secrets::{Profile, Redacted, redact_json, redact_place};

use super::shown;

/// The prefixes in which two paths of one directory differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PathLink {
    /// As the agent names it.
    given: String,
    /// Without links.
    real: String,
}

impl PathLink {
    /// `None` if the two paths are equal, and for a path with `..`: behind a link it leads elsewhere than the text
    /// suggests.
    pub(super) fn between(given: &Path, real: &Path) -> Option<PathLink> {
        let given: PathBuf = given.components().collect();
        if given == real || given.components().any(|part| part == Component::ParentDir) {
            return None;
        }
        let (mut given, mut real) = (given.as_path(), real);
        let above = |path: &'_ Path| path.parent().is_some_and(|above| above.parent().is_some());
        while given.file_name() == real.file_name() && above(given) && above(real) {
            let (Some(given_above), Some(real_above)) = (given.parent(), real.parent()) else {
                break;
            };
            (given, real) = (given_above, real_above);
        }
        Some(PathLink { given: given.to_string_lossy().into_owned(), real: shown(real) })
    }

    /// The path without the link, if it goes through it.
    fn resolve(&self, path: &str) -> Option<String> {
        moved(path, &self.given, &self.real)
    }

    /// The path through the link, if the link leads to it.
    pub(super) fn unresolve(&self, path: &str) -> Option<String> {
        moved(path, &self.real, &self.given)
    }

    pub(super) fn resolve_event(&self, event: &HookEvent) -> HookEvent {
        let mut event = event.clone();
        self.resolve_path(&mut event.cwd);
        if let Happening::ToolUsed(tool) = &mut event.what {
            self.resolve_path(&mut tool.file_path);
            if tool.metadata.get("files").is_some_and(Value::is_array) {
                let mut metadata = (*tool.metadata).clone();
                for file in metadata["files"].as_array_mut().into_iter().flatten() {
                    if let Some(path) = file.as_str().and_then(|path| self.resolve(path)) {
                        *file = path.into();
                    }
                }
                tool.metadata = redact_json(metadata, Profile::Strict);
            }
        }
        event
    }

    fn resolve_path(&self, path: &mut Option<Redacted<String>>) {
        if let Some(resolved) = path.as_ref().and_then(|path| self.resolve(path)) {
            *path = Some(redact_place(&resolved, Profile::Strict));
        }
    }
}

/// Replaces the prefix `from` of a path by `to`.
fn moved(path: &str, from: &str, to: &str) -> Option<String> {
    let below = path.strip_prefix(from)?;
    (below.is_empty() || below.starts_with('/')).then(|| format!("{to}{below}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_through_a_link_is_resolved_by_text_alone() {
        let link = |given: &str, real: &str| PathLink::between(given.as_ref(), real.as_ref());
        let above = link("/t/link/app/src", "/t/real/app/src").unwrap();
        let table = [
            ("/t/link/app/src/a.rs", Some("/t/real/app/src/a.rs")),
            ("/t/link/other.rs", Some("/t/real/other.rs")),
            ("/t/link", Some("/t/real")),
            ("/t/linked/a.rs", None),
            ("/t/real/app/a.rs", None),
            ("src/a.rs", None),
        ];
        for (path, expected) in table {
            assert_eq!(above.resolve(path).as_deref(), expected, "{path}");
        }
        assert_eq!(above.unresolve("/t/real/app").as_deref(), Some("/t/link/app"));
        let renamed = link("/home/u/app/", "/data/app-2").unwrap();
        assert_eq!(renamed.resolve("/home/u/app/a").as_deref(), Some("/data/app-2/a"));
        let short = link("/tmp/app", "/private/tmp/app").unwrap();
        assert_eq!(short.resolve("/tmp/app/a").as_deref(), Some("/private/tmp/app/a"));
        for (given, real) in [("/t/app", "/t/app"), ("/t/app/", "/t/app"), ("/t/l/../x", "/x")] {
            assert_eq!(link(given, real), None, "{given}");
        }
    }
}
