//! Lists keep their entries, and damage never leads out of them.

use super::DIVISION;
use crate::postings::{Division, ONE_WORD, TermLists, count, empty, push};

const LARGE: Division = Division { block: 16_384 };

fn list(entries: &[(u16, u8)]) -> Vec<u8> {
    let mut list = empty();
    entries.iter().for_each(|(place, twice)| push(&mut list, *place, *twice));
    list
}

#[test]
fn entries_come_out_as_they_went_in() {
    for division in [DIVISION, LARGE] {
        let last = u16::try_from(division.block - 1).unwrap();
        let given = [(0, 2), (1, 1), (5, 255), (last - 9, 2), (last, 3)];
        let blob = list(&given);
        let expected = given.map(|(place, twice)| (usize::from(place), twice));
        assert_eq!(division.entries(&blob).collect::<Vec<_>>(), expected);
        assert_eq!(count(&blob), 5);
    }
}

#[test]
fn a_damaged_list_ends_early_and_never_leads_out_of_its_block() {
    let damaged: [&[u8]; 5] =
        [&[], &[1], &[9, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff], &[1, 0, 0, 0, 3], &[0xff; 64]];
    for blob in damaged {
        assert!(LARGE.entries(blob).all(|(place, _)| place < LARGE.block), "{blob:?}");
    }
    assert_eq!(DIVISION.entries(&list(&[(3, 2), (16, 2)])).count(), 1);
    assert_eq!(LARGE.entries(&[1, 0, 0, 0, 0x80, 0x80, 0x80, 0x00]).count(), 1);
    assert_eq!(LARGE.entries(&[1, 0, 0, 0, 0x80, 0x80, 0x80, 0x80, 0x00]).count(), 0);
}

#[test]
fn passages_leave_a_list_and_the_others_stay() {
    let blob = list(&[(1, 2), (4, 5), (15, 2)]);
    let kept = DIVISION.without(&blob, 2, &[1, 36, 47]);
    assert_eq!(DIVISION.entries(&kept).collect::<Vec<_>>(), [(1, 2)]);
    assert_eq!(count(&DIVISION.without(&blob, 0, &[1, 4, 15])), 0);
}

#[test]
fn the_lists_of_a_term_name_passages_across_blocks() {
    let lists = vec![(0, list(&[(3, 2)])), (2, list(&[(0, 2), (5, 6)]))];
    let term = TermLists { division: DIVISION, lists };
    assert_eq!(term.entries().collect::<Vec<_>>(), [(3, 2), (32, 2), (37, 6)]);
    assert_eq!(term.count(), 3);
    assert_eq!(DIVISION.place_of(37), (2, 5));
}

#[test]
fn a_flipped_bit_in_a_list_of_passages_is_noticed() {
    let blob = list(&[(3, ONE_WORD), (9, 1), (200, ONE_WORD)]);
    let is_sound =
        |blob: &[u8]| LARGE.is_sound_list(0, blob, &|passage| [3, 9, 200].contains(&passage));
    assert!(is_sound(&blob));
    // The byte of a count says how often a word occurs, which changes no result but its rank.
    for at in (0..blob.len()).filter(|at| *at != 6) {
        for bit in 0..8 {
            let mut damaged = blob.clone();
            damaged[at] ^= 1 << bit;
            assert!(!is_sound(&damaged), "byte {at}, bit {bit}");
        }
    }
    assert!(!is_sound(&[]) && !is_sound(&empty()));
}
