//! The scan finds the nearest passages, however many threads share it.

use model::limits;

use super::{FAR, NEAR, passages, row, vector};
use crate::nearest::{beside, each_cosine};
use crate::{PassageFilter, PassageRow, Passages};

fn nearest(known: &Passages, filter: &PassageFilter) -> Vec<usize> {
    let asked = vector(NEAR);
    let mut found = beside(known, filter, Some(&asked), |scan| scan.unwrap().finish());
    found.sort_unstable();
    found
}

#[test]
fn the_newest_of_the_nearest_are_found_among_many() {
    // Tests scan 64 passages at a time, and give a thread at least four times as many.
    let count = 2_000;
    let near = |id: usize| id.is_multiple_of(5);
    let (close, other) = (vector(NEAR), vector(FAR));
    let known = passages((1..=count).map(|id| PassageRow {
        vector: Some(if near(id) { close } else { other }),
        project: 1 + (id > 1_500) as u32,
        ..row(id)
    }));
    let newest = |end: usize| -> Vec<usize> {
        let mut newest: Vec<usize> =
            (1..=end).rev().filter(|id| near(*id)).take(limits::SEARCH_CANDIDATES).collect();
        newest.sort_unstable();
        newest
    };
    let all = PassageFilter::default();
    assert_eq!(nearest(&known, &all), newest(count));
    let first = PassageFilter { projects: Some(vec![1]), ..PassageFilter::default() };
    assert_eq!(nearest(&known, &first), newest(1_500));
    let except = i64::try_from(1_000 + count).unwrap();
    let without = PassageFilter { except: Some(except), ..PassageFilter::default() };
    assert!(!nearest(&known, &without).contains(&count));
}

#[test]
fn passages_without_a_vector_have_no_cosine() {
    let asked = vector(NEAR);
    let known = passages((1..=4).map(|id| PassageRow {
        vector: usize::is_multiple_of(id, 2).then(|| vector(if id == 2 { NEAR } else { FAR })),
        ..row(id)
    }));
    let mut seen = Vec::new();
    each_cosine(&known, 0..known.end(), &asked, |passage, cosine| seen.push((passage, cosine)));
    assert_eq!(seen.iter().map(|one| one.0).collect::<Vec<_>>(), [2, 4]);
    assert!(seen[0].1 > 0.99 && seen[1].1 < 0.9, "{seen:?}");
    beside(&known, &PassageFilter::default(), None, |scan| assert!(scan.is_none()));
}
