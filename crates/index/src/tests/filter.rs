//! Filters that the catalogue can decide.

use model::limits;
use model::observation::ObsType;

use super::{passages, row};
use crate::{IdSet, PassageFilter, PassageRow, Passages, RecordKind};

fn known() -> Passages {
    let kind = |id: usize| match id {
        4 => ObsType::SessionSummary.into(),
        2 | 5 => further(),
        _ => RecordKind::from(ObsType::Command),
    };
    let mut known = passages((1..=6).map(|id| PassageRow {
        project: 1 + (id > 3) as u32,
        session: if id == 4 { 0 } else { 10 + (id > 2) as u32 },
        kind: kind(id),
        at: u32::try_from(id * 100_000).unwrap(),
        ..row(id)
    }));
    known.remove(6);
    known
}

/// The kind of a further aggregate.
fn further() -> RecordKind {
    RecordKind::at(ObsType::ALL.len())
}

fn ids(of: &[i64]) -> Option<IdSet> {
    Some(of.iter().copied().collect())
}

#[test]
fn all_that_is_asked_for_has_to_hold() {
    let known = known();
    let none = PassageFilter::default;
    let table = [
        (none(), vec![1, 2, 3, 4, 5]),
        (PassageFilter { projects: Some(vec![2]), ..none() }, vec![4, 5]),
        (PassageFilter { session: Some(11), ..none() }, vec![3, 5]),
        // The record of a session is in none, and belongs to the one with its id.
        (PassageFilter { session: Some(1_004), ..none() }, vec![4]),
        (PassageFilter { sessions: ids(&[10, 1_004]), ..none() }, vec![1, 2, 4]),
        (PassageFilter { about: ids(&[1_002, 1_005]), ..none() }, vec![2, 5]),
        (PassageFilter { failed: ids(&[1_001]), ..none() }, vec![1]),
        (PassageFilter { kinds: Some(vec![ObsType::SessionSummary.into()]), ..none() }, vec![4]),
        (PassageFilter { kinds: Some(vec![further()]), ..none() }, vec![2, 5]),
        (
            PassageFilter { kinds: Some(vec![further()]), projects: Some(vec![2]), ..none() },
            vec![5],
        ),
        (
            PassageFilter {
                kinds: Some(vec![further(), ObsType::SessionSummary.into()]),
                ..none()
            },
            vec![2, 4, 5],
        ),
        (PassageFilter { before: Some(300_000_000), ..none() }, vec![1, 2]),
        (PassageFilter { except: Some(1_003), ..none() }, vec![1, 2, 4, 5]),
        (PassageFilter { session: Some(10), projects: Some(vec![2]), ..none() }, vec![]),
    ];
    for (at, (filter, expected)) in table.into_iter().enumerate() {
        let admitted = |check: &dyn Fn(usize) -> bool| -> Vec<usize> {
            filter.runs(&known, 0..known.end()).flatten().filter(|one| check(*one)).collect()
        };
        assert_eq!(admitted(&|one| filter.admits(&known, one)), expected, "{at}");
        assert_eq!(admitted(&filter.admits_of_run(&known)), expected, "{at}");
    }
}

#[test]
fn a_time_may_have_grown_since_but_not_far() {
    let known = known();
    let moves = limits::RECORD_MOVES_MS;
    let after = |after: i64| {
        let filter = PassageFilter { after: Some(after), ..PassageFilter::default() };
        (1..=5).filter(|one| filter.admits(&known, *one)).collect::<Vec<_>>()
    };
    assert_eq!(after(300_000_000 + moves - 1), [3, 4, 5]);
    assert_eq!(after(300_000_000 + moves), [4, 5]);
    assert_eq!(after(i64::MAX), [4], "a session may go on for any time");
}

#[test]
fn a_filter_that_admits_nothing_says_so_at_once() {
    let none = PassageFilter::default;
    assert!(!none().admits_nothing());
    assert!(PassageFilter { projects: Some(Vec::new()), ..none() }.admits_nothing());
    assert!(PassageFilter { failed: ids(&[]), ..none() }.admits_nothing());
    assert!(PassageFilter { sessions: ids(&[]), ..none() }.admits_nothing());
    assert!(!PassageFilter { about: ids(&[1]), ..none() }.admits_nothing());
}

#[test]
fn a_hit_has_what_the_catalogue_knows() {
    let (known, filter) = (known(), PassageFilter::default());
    let hit = filter.hit(&known, 3).unwrap();
    assert_eq!((hit.id, hit.session, hit.project, hit.at), (1_003, 11, 1, 300_000_000));
    assert_eq!((hit.kind.obs_type(), hit.lexical), (ObsType::Command, 0.0));
    assert_eq!(filter.hit(&known, 4).unwrap().session, 1_004);
    assert!(filter.hit(&known, 6).is_none(), "it was removed");
}
