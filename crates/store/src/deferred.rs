//! Work that a write defers to the end of its group: it is done once, just before COMMIT, however many writes of the
//! group ask for it. Each aggregate has its own type for its deferred work; this module knows none of these types.

use std::any::Any;

/// One aggregate's deferred work.
pub(crate) trait Deferred: Default + 'static {
    /// Adds the work that a later write of the group defers.
    fn add(&mut self, later: Self);
}

/// A [`Deferred`] of any type.
trait ErasedDeferred: Any {
    fn merge(&mut self, later: Box<dyn ErasedDeferred>);
}

impl<T: Deferred> ErasedDeferred for T {
    fn merge(&mut self, later: Box<dyn ErasedDeferred>) {
        let later: Box<dyn Any> = later;
        if let Ok(later) = later.downcast::<T>() {
            self.add(*later);
        }
    }
}

/// All deferred work of a write or of a group, at most one value of each type. There are few types, so that a list is
/// searched faster than a map.
#[derive(Default)]
pub(crate) struct DeferredWork(Vec<Box<dyn ErasedDeferred>>);

impl DeferredWork {
    /// Changes the value of this type.
    pub(crate) fn change<T: Deferred>(&mut self, f: impl FnOnce(&mut T)) {
        let at = self.position::<T>().unwrap_or_else(|| {
            self.0.push(Box::new(T::default()));
            self.0.len() - 1
        });
        let value = self.0.get_mut(at).map(|value| -> &mut dyn Any { &mut **value });
        if let Some(value) = value.and_then(|value| value.downcast_mut()) {
            f(value);
        }
    }

    /// Removes the value of this type and returns it.
    pub(crate) fn take<T: Deferred>(&mut self) -> T {
        let Some(at) = self.position::<T>() else { return T::default() };
        let value: Box<dyn Any> = self.0.swap_remove(at);
        value.downcast().map_or_else(|_| T::default(), |value| *value)
    }

    /// Adds the work of a later write.
    pub(crate) fn add(&mut self, later: DeferredWork) {
        for value in later.0 {
            let kind = (*value).type_id();
            match self.0.iter_mut().find(|known| (***known).type_id() == kind) {
                Some(known) => known.merge(value),
                None => self.0.push(value),
            }
        }
    }

    fn position<T: Deferred>(&self) -> Option<usize> {
        self.0.iter().position(|value| {
            let value: &dyn Any = &**value;
            value.is::<T>()
        })
    }
}

/// Whether the write-ahead log is emptied after COMMIT, because a deleted value must not stay there either.
#[derive(Default)]
pub(crate) struct LogWipe(pub(crate) bool);

impl Deferred for LogWipe {
    fn add(&mut self, later: LogWipe) {
        self.0 |= later.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Names(Vec<&'static str>);

    impl Deferred for Names {
        fn add(&mut self, later: Names) {
            self.0.extend(later.0);
        }
    }

    #[test]
    fn work_of_several_writes_is_merged_by_type() {
        let mut group = DeferredWork::default();
        for name in ["a", "b"] {
            let mut write = DeferredWork::default();
            write.change(|names: &mut Names| names.0.push(name));
            group.add(write);
        }
        let mut last = DeferredWork::default();
        last.change(|wipe: &mut LogWipe| wipe.0 = true);
        group.add(last);
        assert_eq!(group.take::<Names>().0, ["a", "b"]);
        assert!(group.take::<Names>().0.is_empty());
        assert!(group.take::<LogWipe>().0);
    }
}
