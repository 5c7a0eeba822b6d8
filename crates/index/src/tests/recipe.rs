//! Documents are ranked by their words, their neighbours and their meaning.

use std::collections::HashMap;

use model::OpError;
use model::observation::ObsType;

use super::{FAR, NEAR, passages, row, vector};
use crate::recipe::{Candidates, sessions};
use crate::{Hit, Order, PassageFilter, PassageRow, Passages, Ranking, Scored};

fn hit(known: &Passages, passage: usize, lexical: f64) -> Hit {
    Hit { lexical, passage, ..PassageFilter::default().hit(known, passage).unwrap() }
}

fn admit(known: &Passages, of: &[usize]) -> Result<HashMap<i64, Hit>, OpError> {
    let hits = of.iter().filter_map(|one| PassageFilter::default().hit(known, *one));
    Ok(hits.map(|hit| (hit.id, hit)).collect())
}

#[test]
fn neighbours_and_the_session_count_beside_the_words() {
    let known = passages((1..=6).map(|id| PassageRow { session: 1 + (id > 3) as u32, ..row(id) }));
    let admit = |of: &[usize]| admit(&known, of);
    let whole = [0.0, 1.0, 4.0];
    let ranked = |more: bool| {
        let own = vec![hit(&known, 2, 2.0), hit(&known, 5, 2.0)];
        let mut candidates = Candidates::new(&known, &admit, own);
        candidates.look_around(&whole, more).unwrap();
        candidates.ranked()
    };
    let own = ranked(false);
    assert_eq!(own.iter().map(|hit| hit.id).collect::<Vec<_>>(), [1_005, 1_002]);
    assert!((own[0].in_session - 0.15 * 2.0).abs() < 1e-12);
    assert!((own[1].in_session - 0.15 * 2.0 / 4.0).abs() < 1e-12);
    assert!((own[0].score - 1.0).abs() < 1e-12, "the best has all of the score of words");
    let more = ranked(true);
    assert_eq!(more.len(), 6);
    // Ten words: 0.5 * 40 / 50 of its neighbour's two.
    let beside = more.iter().find(|hit| hit.id == 1_004).unwrap();
    assert!((beside.neighbours - 0.4 * 2.0).abs() < 1e-12 && beside.lexical == 0.0);
    let all = Hit { lexical: 1.0, neighbours: 0.5, in_session: 0.25, ..*beside };
    assert_eq!(all.words(), 1.75);
}

#[test]
fn the_nearest_passages_in_meaning_become_candidates() {
    let known = passages((1..=3).map(|id| PassageRow {
        session: 0,
        vector: Some(vector(if id == 3 { NEAR } else { FAR })),
        ..row(id)
    }));
    let admit = |of: &[usize]| admit(&known, of);
    let mut candidates = Candidates::new(&known, &admit, vec![hit(&known, 1, 1.0)]);
    candidates.look_around(&[], false).unwrap();
    candidates.compare(&vector(NEAR), &[3]).unwrap();
    let unindexed = Hit { lexical: 0.5, ..Hit::new(9, 9, 1) };
    candidates.add_unindexed(vec![unindexed]);
    let hits = candidates.ranked();
    assert_eq!(hits.iter().map(|hit| hit.id).collect::<Vec<_>>(), [1_001, 1_003, 9]);
    assert!((hits[1].score - 0.7).abs() < 1e-6 && hits[1].meaning > 0.99, "{:?}", hits[1]);
    // A document without a session counts as one of its own.
    assert!((hits[0].in_session - 0.15).abs() < 1e-12);
}

#[test]
fn an_unindexed_document_replaces_what_the_index_knows_of_it() {
    let known = passages([row(1)]);
    let admit = |of: &[usize]| admit(&known, of);
    let mut candidates = Candidates::new(&known, &admit, vec![hit(&known, 1, 5.0)]);
    candidates.add_unindexed(vec![Hit { lexical: 1.0, ..Hit::new(1_001, 7, 1) }]);
    let hits = candidates.ranked();
    assert_eq!((hits.len(), hits[0].lexical, hits[0].passage), (1, 1.0, 0));
}

#[test]
fn sessions_are_ranked_by_their_best_record_by_all_of_them_and_by_meaning() {
    let text = |id: usize| if id > 4 { NEAR } else { FAR };
    let known = passages((1..=6).map(|id| PassageRow {
        session: u32::try_from(usize::div_ceil(id, 2)).unwrap(),
        vector: Some(vector(text(id))),
        ..row(id)
    }));
    let filter = PassageFilter::default();
    let hits = [hit(&known, 1, 3.0), hit(&known, 3, 1.0)];
    let by_words = sessions(&known, &hits, &filter, &[0.0, 1.0, 0.5, 0.0], None);
    assert_eq!(by_words, [1, 2]);
    let with_meaning = sessions(&known, &[], &filter, &[], Some(&vector(NEAR)));
    assert_eq!(with_meaning[0], 3);
    let alone = Hit { kind: ObsType::Command.into(), ..Hit::new(5, 5, 1) };
    assert!(sessions(&known, &[alone], &filter, &[], None).is_empty(), "it is in no session");
}

/// Two passages in each of the sessions 1 and 2.
fn two_sessions(length: u16, texts: [&str; 4]) -> Passages {
    passages((1..=4).zip(texts).map(|(id, text)| PassageRow {
        session: 1 + (id > 2) as u32,
        length,
        vector: Some(vector(text)),
        ..row(id)
    }))
}

#[test]
fn a_session_as_a_whole_counts_less_where_passages_are_long() {
    let filter = PassageFilter::default();
    for (length, expected) in [(10, [2, 1]), (36, [2, 1]), (72, [1, 2])] {
        let known = two_sessions(length, [FAR; 4]);
        // By hand: 1 + 3.5 / 2 and 0.85 + 3.5 for short ones; for long ones 3.5 / 16 instead of 3.5.
        let hits = [hit(&known, 1, 1.0), hit(&known, 3, 0.85)];
        let found = sessions(&known, &hits, &filter, &[0.0, 0.5, 1.0], None);
        assert_eq!(found, expected, "{length} words");
    }
}

#[test]
fn the_nearest_passages_of_a_session_count_together() {
    let filter = PassageFilter::default();
    let asked = vector(NEAR);
    let of = |length: u16, texts: [&str; 4]| {
        sessions(&two_sessions(length, texts), &[], &filter, &[], Some(&asked))
    };
    assert_eq!(of(10, [NEAR, FAR, NEAR, NEAR]), [2, 1], "two near ones are more than one");
    assert_eq!(of(10, [NEAR, NEAR, NEAR, FAR]), [1, 2]);
    // With long passages the nearest one counts nearly alone.
    let middle = "the database index of the search program";
    assert_eq!(of(10, [NEAR, FAR, middle, middle]), [2, 1]);
    assert_eq!(of(720, [NEAR, FAR, middle, middle]), [1, 2]);
    let only = PassageFilter { session: Some(2), ..PassageFilter::default() };
    let known = two_sessions(10, [NEAR; 4]);
    assert_eq!(sessions(&known, &[], &only, &[], Some(&asked)), [2], "the filter holds here too");
}

#[test]
fn of_equal_sessions_and_records_the_newer_comes_first() {
    let known = two_sessions(10, [FAR; 4]);
    let hits = [hit(&known, 2, 1.0), hit(&known, 3, 1.0)];
    let found = sessions(&known, &hits, &PassageFilter::default(), &[0.0, 1.0, 1.0], None);
    assert_eq!(found, [2, 1]);
    let admit = |of: &[usize]| admit(&known, of);
    let ranked = Candidates::new(&known, &admit, hits.to_vec()).ranked();
    assert_eq!(ranked.iter().map(|hit| hit.id).collect::<Vec<_>>(), [1_003, 1_002]);
    assert_eq!(ranked[0].words(), 1.0);
}

#[test]
fn passages_come_best_or_newest_first_and_some_of_them_last() {
    let known =
        passages((1..=5).map(|id| PassageRow { at: u32::try_from(10 - id).unwrap(), ..row(id) }));
    let scored: Vec<Scored> = [1.0, 3.0, 3.0, 2.0, 0.5]
        .into_iter()
        .zip(1..)
        .map(|(score, passage)| Scored { passage, score })
        .collect();
    let taken = |order: Order, last: usize| {
        let mut ranking = Ranking::new(&known, order, scored.clone());
        ranking.put_last(|one| one.passage == last);
        let first = ranking.take(2);
        first.into_iter().chain(ranking.take(9)).map(|one| one.passage).collect::<Vec<_>>()
    };
    assert_eq!(taken(Order::Best, 0), [3, 2, 4, 1, 5]);
    assert_eq!(taken(Order::Best, 3), [2, 4, 1, 5, 3]);
    assert_eq!(taken(Order::Newest, 0), [1, 2, 3, 4, 5]);
}
