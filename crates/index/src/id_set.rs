//! Sets of ids of 32 bits, a bit for each id. The bits are in pages that are allocated on demand, so that one damaged
//! row with a huge id does not take room for all ids below it.

/// 64-bit words of a page: 2 KB for 16,384 ids. A set with the highest id takes 2 MB for its list of pages.
const PAGE_WORDS: usize = 256;
const PAGE_IDS: usize = PAGE_WORDS * 64;

type Page = Box<[u64; PAGE_WORDS]>;

/// Ids from 0 to `u32::MAX`; all others are ignored.
#[derive(Clone, Default)]
pub struct IdSet {
    pages: Vec<Option<Page>>,
}

/// The place of an id: its page, its word there, and its bit.
fn place(id: i64) -> Option<(usize, usize, u64)> {
    let id = usize::try_from(u32::try_from(id).ok()?).ok()?;
    Some((id / PAGE_IDS, id % PAGE_IDS / 64, 1 << (id % 64)))
}

fn empty_page() -> Page {
    Box::new([0; PAGE_WORDS])
}

impl IdSet {
    pub fn has(&self, id: i64) -> bool {
        let Some((page, word, bit)) = place(id) else { return false };
        let page = self.pages.get(page).and_then(Option::as_ref);
        page.and_then(|page| page.get(word)).is_some_and(|bits| bits & bit != 0)
    }

    pub fn add(&mut self, id: i64) {
        let Some((page, word, bit)) = place(id) else { return };
        if let Some(bits) = self.page(page).get_mut(word) {
            *bits |= bit;
        }
    }

    pub fn remove(&mut self, id: i64) {
        let Some((page, word, bit)) = place(id) else { return };
        let page = self.pages.get_mut(page).and_then(Option::as_mut);
        if let Some(bits) = page.and_then(|page| page.get_mut(word)) {
            *bits &= !bit;
        }
    }

    /// Whether no id was ever added.
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// Combines both sets bit by bit. `both` of two zeros has to be zero.
    pub fn join(&mut self, other: &IdSet, both: impl Fn(u64, u64) -> u64) {
        debug_assert_eq!(both(0, 0), 0, "absent pages have no bits");
        let zeros = [0; PAGE_WORDS];
        for at in 0..self.pages.len().max(other.pages.len()) {
            let theirs = other.pages.get(at).and_then(Option::as_ref);
            if theirs.is_none() && self.pages.get(at).is_none_or(Option::is_none) {
                continue;
            }
            let theirs = theirs.map_or(&zeros, |page| &**page);
            for (own, their) in self.page(at).iter_mut().zip(theirs) {
                *own = both(*own, *their);
            }
        }
    }

    /// How many ids it has that another set does not have.
    pub fn count_besides(&self, other: &IdSet) -> u64 {
        let zeros = [0; PAGE_WORDS];
        let mut count = 0;
        for (at, page) in self.pages.iter().enumerate() {
            let Some(page) = page else { continue };
            let theirs = other.pages.get(at).and_then(Option::as_ref);
            let theirs = theirs.map_or(&zeros, |page| &**page);
            let besides = page.iter().zip(theirs).map(|(own, their)| own & !their);
            count += besides.map(|bits| u64::from(bits.count_ones())).sum::<u64>();
        }
        count
    }

    /// A page, which is allocated if it does not exist.
    fn page(&mut self, at: usize) -> &mut [u64] {
        if self.pages.len() <= at {
            self.pages.resize_with(at + 1, || None);
        }
        match self.pages.get_mut(at) {
            Some(page) => page.get_or_insert_with(empty_page).as_mut_slice(),
            None => &mut [],
        }
    }

    /// All ids, in order.
    pub fn iter(&self) -> impl Iterator<Item = i64> + '_ {
        (0_i64..).take(self.pages.len() * PAGE_IDS).filter(|id| self.has(*id))
    }
}

impl FromIterator<i64> for IdSet {
    fn from_iter<I: IntoIterator<Item = i64>>(ids: I) -> IdSet {
        let mut set = IdSet::default();
        ids.into_iter().for_each(|id| set.add(id));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAST: i64 = u32::MAX as i64;

    fn set(ids: &[i64]) -> IdSet {
        ids.iter().copied().collect()
    }

    #[test]
    fn a_set_with_the_highest_id_has_one_page_and_ignores_impossible_ids() {
        let set = set(&[LAST, LAST + 1, -1, i64::MAX, i64::MIN]);
        assert!(set.has(LAST) && !set.has(LAST - 1));
        assert!(!set.has(-1) && !set.has(LAST + 1) && !set.has(i64::MAX));
        assert_eq!(set.pages.iter().flatten().count(), 1);
    }

    #[test]
    fn sets_of_different_sizes_are_joined_and_compared() {
        let far = 5 * PAGE_IDS as i64;
        let joined = |own: &[i64], other: &[i64], both: fn(u64, u64) -> u64| {
            let mut own = set(own);
            own.join(&set(other), both);
            own.iter().collect::<Vec<_>>()
        };
        assert_eq!(joined(&[1, 70], &[70, far], |a, b| a | b), [1, 70, far]);
        assert_eq!(joined(&[1, far], &[1], |a, b| a & b), [1]);
        assert_eq!(joined(&[1], &[1, far], |a, b| a & b), [1]);
        assert_eq!(joined(&[1, 70, far], &[70], |a, b| a & !b), [1, far]);
        assert_eq!(set(&[1, 70, far]).count_besides(&set(&[70])), 2);
        assert_eq!(set(&[1]).count_besides(&set(&[far])), 1);
        let mut less = set(&[1, far]);
        less.remove(far);
        less.remove(far * 2);
        assert_eq!(less.iter().collect::<Vec<_>>(), [1]);
    }
}
