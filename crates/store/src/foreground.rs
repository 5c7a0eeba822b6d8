//! Hooks and searches, whose callers wait. While there are any, bulk work such as an import is done in small parts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The hooks and searches of now, and the times of the last ones.
pub(crate) struct Foreground {
    began: Instant,
    hooks: AtomicUsize,
    searches: AtomicUsize,
    /// The last hook and the last search: milliseconds after `began`, plus one; 0 for never.
    hooked: AtomicU64,
    searched: AtomicU64,
}

impl Default for Foreground {
    fn default() -> Foreground {
        Foreground {
            began: Instant::now(),
            hooks: AtomicUsize::new(0),
            searches: AtomicUsize::new(0),
            hooked: AtomicU64::new(0),
            searched: AtomicU64::new(0),
        }
    }
}

impl Foreground {
    /// Whether a hook waits.
    pub(crate) fn has_hook(&self) -> bool {
        self.hooks.load(Ordering::Relaxed) > 0
    }

    /// Whether a hook or a search waits.
    pub(crate) fn is_waiting(&self) -> bool {
        self.has_hook() || self.searches.load(Ordering::Relaxed) > 0
    }

    /// Whether there was a search within this time.
    pub(crate) fn had_search(&self, within: Duration) -> bool {
        self.was_within(&self.searched, within)
    }

    /// Whether there was a hook or a search within this time, or is one now.
    pub(crate) fn is_in_use(&self, within: Duration) -> bool {
        self.is_waiting() || self.had_search(within) || self.was_within(&self.hooked, within)
    }

    fn was_within(&self, last: &AtomicU64, within: Duration) -> bool {
        let at = last.load(Ordering::Relaxed);
        at > 0 && u128::from(self.now().saturating_sub(at)) <= within.as_millis()
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX).saturating_add(1)
    }

    fn count(&self, kind: ForegroundKind) -> &AtomicUsize {
        match kind {
            ForegroundKind::Hook => &self.hooks,
            ForegroundKind::Search => &self.searches,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ForegroundKind {
    Hook,
    Search,
}

/// A hook or a search that waits for the store until this is dropped.
pub struct ForegroundUse {
    foreground: Arc<Foreground>,
    kind: ForegroundKind,
}

impl ForegroundUse {
    pub(crate) fn of(foreground: &Arc<Foreground>, kind: ForegroundKind) -> ForegroundUse {
        foreground.count(kind).fetch_add(1, Ordering::Relaxed);
        ForegroundUse { foreground: foreground.clone(), kind }
    }
}

impl Drop for ForegroundUse {
    fn drop(&mut self) {
        let Foreground { hooked, searched, .. } = &*self.foreground;
        let last = match self.kind {
            ForegroundKind::Hook => hooked,
            ForegroundKind::Search => searched,
        };
        last.store(self.foreground.now(), Ordering::Relaxed);
        self.foreground.count(self.kind).fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_or_a_search_waits_until_its_use_ends() {
        let foreground = Arc::new(Foreground::default());
        assert!(!foreground.had_search(Duration::MAX) && !foreground.is_in_use(Duration::MAX));
        let hook = ForegroundUse::of(&foreground, ForegroundKind::Hook);
        let search = ForegroundUse::of(&foreground, ForegroundKind::Search);
        assert!(foreground.has_hook() && foreground.is_waiting());
        drop(hook);
        assert!(!foreground.has_hook() && foreground.is_waiting());
        assert!(!foreground.had_search(Duration::MAX) && foreground.is_in_use(Duration::ZERO));
        drop(search);
        assert!(!foreground.is_waiting() && foreground.had_search(Duration::from_secs(60)));
        assert!(foreground.is_in_use(Duration::from_secs(60)));
    }
}
