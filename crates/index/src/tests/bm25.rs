//! BM25 as its formula says, for passages and for whole sessions.

use super::{passages, row, term};
use crate::bm25::{IDF_MIN, Weights, Word, score, whole_sessions};
use crate::{PassageFilter, PassageRow, Scored};

fn word(of: &[usize]) -> Word<'static> {
    let postings = term(of);
    Word { word: "word", term: "word".to_owned(), count: postings.count(), postings }
}

fn places(scored: &[Scored]) -> Vec<usize> {
    scored.iter().map(|one| one.passage).collect()
}

#[test]
fn rare_words_count_more_and_long_passages_less() {
    let known = passages(
        (1..=100).map(|id| PassageRow { length: if id == 40 { 30 } else { 10 }, ..row(id) }),
    );
    let all = PassageFilter::default();
    let words = [word(&[3, 40]), word(&(1..=60).collect::<Vec<_>>())];
    let scored = score(&known, &words, 0, &all, &|_| true);
    assert_eq!(places(&scored), (1..=60).collect::<Vec<_>>());
    let of = |passage: usize| scored[passage - 1].score;
    // By hand: 100 passages of 10.2 words, of which 2 have the one word and 60 the other.
    let idf = |count: f64| ((100.0 - count + 0.5) / (count + 0.5)).ln().max(IDF_MIN);
    let norm = |length: f64| 1.2 * (1.0 - 0.75 + 0.75 * length / 10.2);
    let often = |length: f64| 2.2 / (1.0 + norm(length));
    assert!((of(3) - (idf(2.0) + idf(60.0)) * often(10.0)).abs() < 1e-12);
    assert!((of(40) - (idf(2.0) + idf(60.0)) * often(30.0)).abs() < 1e-12);
    assert!((of(5) - idf(60.0) * often(10.0)).abs() < 1e-12 && of(5) > 0.0);
    let weights = Weights::new(&known, 20);
    assert!((weights.idf(2) - (118.5_f64 / 2.5).ln()).abs() < 1e-12);
    assert!(weights.often(4, 10) > weights.often(2, 10));
}

#[test]
fn only_passages_from_one_on_that_filter_and_caller_admit_are_scored() {
    let known =
        passages((1..=60).map(|id| PassageRow { project: 1 + (id > 30) as u32, ..row(id) }));
    let words = [word(&[2, 17, 29, 31, 33, 48, 60])];
    let of = |from: usize, projects: Option<Vec<i64>>| {
        let filter = PassageFilter { projects, ..PassageFilter::default() };
        places(&score(&known, &words, from, &filter, &|passage| passage != 48))
    };
    assert_eq!(of(0, None), [2, 17, 29, 31, 33, 60]);
    assert_eq!(of(29, None), [29, 31, 33, 60]);
    assert_eq!(of(0, Some(vec![2])), [31, 33, 60]);
    assert_eq!(of(0, Some(vec![2, 1])), [2, 17, 29, 31, 33, 60], "in order, whatever was asked");
    assert_eq!(of(0, Some(vec![9])), [0; 0]);
    assert!(score(&known, &[], 0, &PassageFilter::default(), &|_| true).is_empty());
}

#[test]
fn a_session_counts_as_one_text() {
    let known = passages((1..=30).map(|id| PassageRow {
        session: if id > 28 { 0 } else { u32::try_from(1 + id % 2).unwrap() },
        ..row(id)
    }));
    let sessions = known.sessions();
    let scores = whole_sessions(&known, &[word(&[1, 3, 29]), word(&[2])]);
    let of = |session: i64| scores[sessions.number(session)];
    assert!(of(2) > of(1) && of(1) > 0.0, "two passages of a session count more than one");
    assert_eq!(scores[0], 0.0, "a passage of no session counts for none");
    // By hand: two sessions of 140 words; one of them has each word.
    let often = |times: f64| times * 2.2 / (times + 1.2);
    let idf = (1.0_f64 + (2.0 - 1.0 + 0.5) / 1.5).ln();
    assert!((of(2) - idf * often(2.0)).abs() < 1e-12 && (of(1) - idf * often(1.0)).abs() < 1e-12);
}
