//! The hints in memory. The store is their journal: memory changes only after COMMIT, in order.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use model::OpError;
use model::hint::{HintName, Ttl};
use model::wire::EnvNames;
use store::hints;
use store::{Opened, Rx, Store, Tx, Write};

use crate::env_names::AskedEnv;
use crate::gate::HintSituation;
use crate::held::{Held, RankData, RankedHint};

/// Every hint, by component and key, and by tag.
#[derive(Default)]
pub(crate) struct Index {
    components: BTreeMap<String, BTreeMap<String, Vec<Arc<Held>>>>,
    /// The hints of a tag by scope, so that a query checks each scope once.
    tags: HashMap<String, BTreeMap<String, Vec<Tagged>>>,
    /// The hints by the words that match them to a command.
    words: HashMap<String, Vec<Arc<Held>>>,
    asked_env: AskedEnv,
}

/// A hint in the list of a tag and a scope; the list is sorted by name.
struct Tagged {
    held: Arc<Held>,
    rank_data: RankData,
}

impl Index {
    pub(crate) fn is_empty(&self) -> bool {
        self.components.is_empty()
    }

    /// The variants of a key that have not expired.
    pub(crate) fn variants(
        &self,
        component: &str,
        key: &str,
        now: i64,
    ) -> impl Iterator<Item = &Held> {
        let keys = self.components.get(component);
        let variants = keys.and_then(|keys| keys.get(key)).into_iter().flatten();
        variants.map(AsRef::as_ref).filter(move |held| held.is_alive(now))
    }

    /// The hints of a component that have not expired, by key.
    pub(crate) fn of_component(&self, component: &str, now: i64) -> impl Iterator<Item = &Held> {
        let keys = self.components.get(component).into_iter().flatten();
        alive(keys.flat_map(|(_, variants)| variants), now)
    }

    /// Calls `take` once for each hint with any of these tags that applies here and has not expired.
    pub(crate) fn with_tags<'i>(
        &'i self,
        tags: &[String],
        place: &HintSituation<'_>,
        now: i64,
        take: &mut dyn FnMut(RankedHint<'i>),
    ) {
        for (number, tag) in tags.iter().enumerate() {
            // A hint with several of the tags was already found by the first of them.
            let taken = |held: &Held| tags[..number].iter().any(|earlier| held.has_tag(earlier));
            let scopes = self.tags.get(tag).into_iter().flat_map(BTreeMap::values);
            let holds =
                |list: &&Vec<Tagged>| list.first().is_some_and(|one| one.held.is_eligible(place));
            for Tagged { held, rank_data } in scopes.filter(holds).flatten() {
                if rank_data.is_alive(now) && !taken(held) {
                    take(RankedHint::with(held, rank_data, place, now));
                }
            }
        }
    }

    /// Calls `take` once for each hint with one of these words that has not expired.
    pub(crate) fn with_words<'i>(
        &'i self,
        words: &BTreeSet<&str>,
        now: i64,
        take: &mut dyn FnMut(&'i Arc<Held>),
    ) {
        let mut taken: HashSet<*const Held> = HashSet::new();
        for held in words.iter().filter_map(|word| self.words.get(*word)).flatten() {
            if held.is_alive(now) && taken.insert(Arc::as_ptr(held)) {
                take(held);
            }
        }
    }

    /// All hints that have not expired, by component and key.
    pub(crate) fn all(&self, now: i64) -> impl Iterator<Item = &Held> {
        let keys = self.components.values().flatten();
        alive(keys.flat_map(|(_, variants)| variants), now)
    }

    /// The names of the components, sorted, including those whose hints have all expired.
    pub(crate) fn components(&self) -> impl Iterator<Item = &str> {
        self.components.keys().map(String::as_str)
    }

    /// The environment variables that scopes ask for, including those of expired hints until these are removed.
    pub(crate) fn asked_env(&self) -> Arc<EnvNames> {
        self.asked_env.list()
    }

    fn insert(&mut self, held: Arc<Held>) {
        // Added before its predecessor is removed, so that a variable that both scopes name does not count as a change.
        self.asked_env.add(held.stored.meta.scope.as_ref());
        self.remove(&held.stored.name, &held.variant);
        let HintName { component, key } = &held.stored.name;
        for tag in &held.stored.meta.tags {
            let scopes = self.tags.entry(tag.clone()).or_default();
            let tagged = scopes.entry(held.variant.clone()).or_default();
            if let Err(place) = find(tagged, &held.stored.name) {
                tagged.insert(place, Tagged { held: held.clone(), rank_data: held.rank_data });
            }
        }
        for word in held.words() {
            self.words.entry(word.clone()).or_default().push(held.clone());
        }
        let keys = self.components.entry(component.clone()).or_default();
        keys.entry(key.clone()).or_default().push(held);
    }

    fn remove(&mut self, name: &HintName, variant: &str) {
        let Some(keys) = self.components.get_mut(&name.component) else { return };
        let Some(variants) = keys.get_mut(&name.key) else { return };
        let Some(place) = variants.iter().position(|held| held.variant == variant) else { return };
        let gone = variants.swap_remove(place);
        self.asked_env.remove(gone.stored.meta.scope.as_ref());
        if variants.is_empty() {
            keys.remove(&name.key);
        }
        if keys.is_empty() {
            self.components.remove(&name.component);
        }
        for tag in &gone.stored.meta.tags {
            let Some(scopes) = self.tags.get_mut(tag) else { continue };
            let Some(tagged) = scopes.get_mut(variant) else { continue };
            if let Ok(place) = find(tagged, name) {
                tagged.remove(place);
            }
            if tagged.is_empty() {
                scopes.remove(variant);
            }
            if scopes.is_empty() {
                self.tags.remove(tag);
            }
        }
        for word in gone.words() {
            drop_from(&mut self.words, word, &gone);
        }
    }
}

/// The index of this name in a list, or where to insert it.
fn find(tagged: &[Tagged], name: &HintName) -> Result<usize, usize> {
    tagged.binary_search_by(|one| one.held.stored.name.cmp(name))
}

/// Removes a hint from a list, and an empty list from the map.
fn drop_from(lists: &mut HashMap<String, Vec<Arc<Held>>>, word: &str, gone: &Arc<Held>) {
    let Some(list) = lists.get_mut(word) else { return };
    list.retain(|held| !Arc::ptr_eq(held, gone));
    if list.is_empty() {
        lists.remove(word);
    }
}

fn alive<'i>(
    hints: impl Iterator<Item = &'i Arc<Held>>,
    now: i64,
) -> impl Iterator<Item = &'i Held> {
    hints.map(AsRef::as_ref).filter(move |held| held.is_alive(now))
}

/// The index behind its lock.
#[derive(Default)]
pub(crate) struct Memory {
    index: Arc<RwLock<Index>>,
}

impl Memory {
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Index> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of hints that a clean end would clear.
    pub(crate) fn session_hints(&self) -> usize {
        // Session hints never expire by time, so any time will do.
        let is_session = |held: &&Held| *held.stored.meta.lifetime() == Ttl::Session;
        self.read().all(i64::MIN).filter(is_session).count()
    }

    /// Whether any hint has expired.
    pub(crate) fn has_expired(&self, now: i64) -> bool {
        self.read().all(i64::MIN).any(|held| !held.is_alive(now))
    }

    /// Journals a hint; readers see it after the commit.
    pub(crate) fn put(&self, tx: &Tx<'_>, held: Arc<Held>) -> Result<(), OpError> {
        hints::put(tx, &held.stored)?;
        self.later(tx, move |index| index.insert(held));
        Ok(())
    }

    /// Removes a variant.
    pub(crate) fn remove(
        &self,
        tx: &Tx<'_>,
        name: &HintName,
        variant: &str,
    ) -> Result<(), OpError> {
        hints::remove(tx, name, variant)?;
        let (name, variant) = (name.clone(), variant.to_owned());
        self.later(tx, move |index| index.remove(&name, &variant));
        Ok(())
    }

    /// Removes all variants of a name, with rows that cannot be read.
    pub(crate) fn remove_named(&self, tx: &Tx<'_>, name: &HintName) -> Result<(), OpError> {
        hints::remove_named(tx, name)?;
        let name = name.clone();
        self.later(tx, move |index| {
            let held = index.variants(&name.component, &name.key, i64::MIN);
            let variants: Vec<String> = held.map(|held| held.variant.clone()).collect();
            for variant in variants {
                index.remove(&name, &variant);
            }
        });
        Ok(())
    }

    /// Removes everything.
    pub(crate) fn clear(&self, tx: &Tx<'_>) -> Result<(), OpError> {
        hints::remove_all(tx)?;
        self.later(tx, |index| *index = Index::default());
        Ok(())
    }

    /// Removes expired hints. Readers do not see them any more; this frees their quota and deletes them from the
    /// disk.
    pub(crate) fn sweep(&self, tx: &Tx<'_>, now: i64) -> Result<(), OpError> {
        let gone = hints::sweep(tx, now)?;
        if !gone.is_empty() {
            self.later(tx, move |index| {
                for hint in &gone {
                    index.remove(&hint.name, &hint.variant);
                }
            });
        }
        Ok(())
    }

    /// At the start, memory is loaded from the journal: that is how a new PRIMARY adopts the hints of one that
    /// crashed. If the file vanished, the hints in memory are journaled again; if another database replaced it, that
    /// database is loaded.
    pub(crate) fn opened(&self, tx: &Tx<'_>, how: Opened) -> Result<(), OpError> {
        match how {
            Opened::Fresh => {
                for held in self.read().all(i64::MIN) {
                    hints::put(tx, &held.stored)?;
                }
            }
            Opened::First | Opened::Replaced => {
                *self.index.write().unwrap_or_else(PoisonError::into_inner) = stored_index(tx)?;
            }
        }
        Ok(())
    }

    /// Loads all hints again after rows of the store were repaired. It is a write, so that it is ordered with the
    /// changes of other calls.
    pub(crate) fn reload(&self, store: &Store) -> Result<(), OpError> {
        let index = self.index.clone();
        let reloaded = store.write(Write::default(), move |tx| {
            let (index, stored) = (index.clone(), stored_index(tx)?);
            tx.after_commit(Box::new(move || {
                *index.write().unwrap_or_else(PoisonError::into_inner) = stored;
            }));
            Ok(())
        });
        reloaded.map(drop)
    }

    fn later(&self, tx: &Tx<'_>, change: impl FnOnce(&mut Index) + Send + 'static) {
        let index = self.index.clone();
        tx.after_commit(Box::new(move || {
            change(&mut index.write().unwrap_or_else(PoisonError::into_inner));
        }));
    }
}

/// All hints of the store.
fn stored_index(rx: &Rx<'_>) -> Result<Index, OpError> {
    let mut index = Index::default();
    for stored in hints::all(rx)? {
        index.insert(Arc::new(Held::load(stored)));
    }
    Ok(index)
}
