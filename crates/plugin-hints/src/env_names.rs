//! The environment variables that the scopes of all hints ask for, counted as hints are added and removed.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use model::hint::HintScope;
use model::wire::EnvNames;

/// The names with the number of conditions on each.
#[derive(Default)]
pub(crate) struct AskedEnv {
    counts: BTreeMap<String, usize>,
    /// The list as clients get it, built when it is first needed after a change.
    list: OnceLock<Arc<EnvNames>>,
}

impl AskedEnv {
    pub(crate) fn add(&mut self, scope: Option<&HintScope>) {
        for name in names(scope) {
            match self.counts.get_mut(name) {
                Some(count) => *count += 1,
                None => {
                    self.counts.insert(name.clone(), 1);
                    self.list = OnceLock::new();
                }
            }
        }
    }

    pub(crate) fn remove(&mut self, scope: Option<&HintScope>) {
        for name in names(scope) {
            let Some(count) = self.counts.get_mut(name) else { continue };
            *count -= 1;
            if *count == 0 {
                self.counts.remove(name);
                self.list = OnceLock::new();
            }
        }
    }

    pub(crate) fn list(&self) -> Arc<EnvNames> {
        self.list.get_or_init(|| Arc::new(EnvNames::new(self.counts.keys()))).clone()
    }
}

fn names(scope: Option<&HintScope>) -> impl Iterator<Item = &String> {
    scope.into_iter().flat_map(|scope| scope.env_required.iter().chain(scope.env_match.keys()))
}
