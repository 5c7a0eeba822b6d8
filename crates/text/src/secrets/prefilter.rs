//! Finds the keywords of all rules in one pass, over a table that the build script generates.

use std::ops::Range;

use super::public::Check;

include!(concat!(env!("OUT_DIR"), "/prefilter.rs"));

/// Set in a cell whose state ends at least one keyword.
const HIT: u16 = 1 << 15;

/// A keyword as the table has it.
#[derive(Clone, Copy)]
struct Keyword {
    length: u8,
    leads_to: LeadsTo,
}

/// The rule that examines the text around a keyword.
#[derive(Clone, Copy)]
pub(super) enum LeadsTo {
    Own(Own),
    /// The row of the command table that contains the program.
    Command(u16),
    /// The rule's place in the public set, and what must hold before it is compiled.
    Public(u16, Check),
}

/// Calls `visit` with every keyword in the text, ignoring case, until it returns `false`.
pub(super) fn keywords(text: &[u8], mut visit: impl FnMut(LeadsTo, Range<usize>) -> bool) {
    let (mut state, mut from) = (0, 0);
    while let Some((end, hit)) = next_hit(text, from, state) {
        let hits = usize::from(STARTS[hit])..usize::from(STARTS[hit + 1]);
        for keyword in &HITS[hits] {
            let start = end - usize::from(keyword.length);
            if !visit(keyword.leads_to, start..end) {
                return;
            }
        }
        (state, from) = (hit, end);
    }
}

/// The end of the next keyword, and the state there. This loop runs over every captured byte, so it is separate from
/// the code that handles a keyword.
#[inline(never)]
fn next_hit(text: &[u8], from: usize, state: usize) -> Option<(usize, usize)> {
    let mut state = state;
    for (at, byte) in text.iter().enumerate().skip(from) {
        let cell = CELLS[state * WIDTH + usize::from(CLASSES[usize::from(*byte)])];
        state = usize::from(cell & !HIT);
        if cell & HIT != 0 {
            return Some((at + 1, state));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(String, Range<usize>)> {
        let mut found = Vec::new();
        keywords(text.as_bytes(), |leads_to, range| {
            let name = match leads_to {
                LeadsTo::Own(own) => format!("{own:?}"),
                LeadsTo::Command(_) => "command".to_owned(),
                LeadsTo::Public(rule, _) => super::super::public::id(rule).to_owned(),
            };
            found.push((name, range));
            true
        });
        found
    }

    #[test]
    fn a_keyword_is_found_in_any_case_and_inside_of_words() {
        assert_eq!(found("GLPAT-x")[0], ("gitlab-pat".to_owned(), 0..6));
        assert_eq!(found("my_Token"), [("Token".to_owned(), 3..8)]);
    }

    #[test]
    fn a_keyword_inside_and_at_the_end_of_another_is_found_too() {
        let names: Vec<String> = found("xapikey").into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["ApiKey", "Generic"]);
        assert!(
            found("sk_sk_live_").iter().any(|(name, range)| name == "Stripe" && *range == (3..11))
        );
    }

    #[test]
    fn every_byte_may_follow_every_other() {
        let all: Vec<u8> =
            (0..=255u8).flat_map(|a| (0..=255u8).flat_map(move |b| [a, b])).collect();
        let mut count = 0;
        keywords(&all, |_, range| {
            assert!(range.end <= all.len());
            count += 1;
            true
        });
        assert!(count > 0, "at least `sk`, `s.` and `q~` are pairs");
    }

    #[test]
    fn a_visitor_that_has_enough_is_not_called_again() {
        let mut calls = 0;
        keywords(b"token token token", |_, _| {
            calls += 1;
            false
        });
        assert_eq!(calls, 1);
    }
}
