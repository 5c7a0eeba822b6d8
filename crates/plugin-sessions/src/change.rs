//! A change of one set, checked before it is stored. The tool, PATCH and the command line all use this type.

use model::OpError;
use model::context::{self, ContextMode, ContextSets};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use text::secrets::{self, Profile};
use text::suggest::distance;

use crate::paths;

/// Letters by which a name may differ from a known one to be taken for a typing error.
const SLIPS_MAX: usize = 2;

/// The items of a set, and how they are added.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetChange {
    #[serde(rename = "setName")]
    pub(crate) set_name: String,
    pub(crate) items: Vec<String>,
    #[serde(default)]
    pub(crate) mode: ContextMode,
}

/// The directories that relative paths are resolved against.
#[derive(Clone, Debug, Default)]
pub(crate) struct Directories {
    pub(crate) home: Option<String>,
    /// That of the call.
    pub(crate) cwd: Option<String>,
}

impl SetChange {
    /// Refuses names and items that are empty, too long or secret.
    pub(crate) fn check(&self) -> Result<(), OpError> {
        context::check_set_name("setName", &self.set_name)?;
        context::check_items("items", &self.items)?;
        refuse_secret("setName", &self.set_name)?;
        let mut items = self.items.iter().enumerate();
        items.try_for_each(|(place, item)| refuse_secret(&format!("items[{place}]"), item))
    }

    /// A warning if the name is probably a typing error of a known one. A change that adds nothing has none: it removes
    /// such a set.
    pub(crate) fn warning(&self) -> Option<String> {
        misspelled(&self.set_name).filter(|_| !self.items.is_empty())
    }

    /// Whether it removes the set.
    pub(crate) fn clears(&self) -> bool {
        self.items.is_empty() && self.mode == ContextMode::Replace
    }

    /// Applies the change to the sets of a session. Returns the items that did not fit.
    pub(crate) fn apply(
        &self,
        sets: &mut ContextSets,
        directories: &Directories,
        root: Option<&str>,
    ) -> Result<Vec<String>, OpError> {
        sets.change(&self.set_name, self.stored_items(directories, root)?, self.mode)
    }

    /// The items as they are stored: paths are resolved.
    pub(crate) fn stored_items(
        &self,
        directories: &Directories,
        root: Option<&str>,
    ) -> Result<Vec<String>, OpError> {
        let Directories { home, cwd } = directories;
        let cwd = cwd.as_deref().or(root);
        let path = |item: &String| paths::resolved(item, home.as_deref(), cwd);
        match self.set_name == context::FILES {
            true => self.items.iter().map(path).collect(),
            false => Ok(self.items.clone()),
        }
    }
}

/// Refuses a text that looks like a secret.
pub(crate) fn refuse_secret(param: &str, text: &str) -> Result<(), OpError> {
    let Some(found) = secrets::first(text, Profile::Declared) else { return Ok(()) };
    Err(OpError::secret(param, found.rule).hint("Say where the secret is kept instead."))
}

/// A warning about the name of a set that is probably a typing error of a known one.
fn misspelled(name: &str) -> Option<String> {
    if context::KNOWN_SETS.contains(&name) {
        return None;
    }
    let singular = |name: &str| {
        let lower = name.to_lowercase();
        lower.strip_suffix('s').map_or(lower.clone(), str::to_owned)
    };
    let is_near =
        |known: &&&str| singular(name) == singular(known) || distance(name, known) <= SLIPS_MAX;
    let known = context::KNOWN_SETS.iter().find(is_near)?;
    Some(format!("unknown set '{name}'; did you mean '{known}'?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelled_set_is_named_and_another_name_is_not() {
        for name in ["fles", "Files", "file", "port", "endpoint", "applets", "PORTS"] {
            assert!(misspelled(name).is_some(), "{name}");
        }
        for name in ["files", "ports", "tickets", "branches", "x"] {
            assert_eq!(misspelled(name), None, "{name}");
        }
        assert_eq!(
            misspelled("fles").as_deref(),
            Some("unknown set 'fles'; did you mean 'files'?")
        );
    }
}
