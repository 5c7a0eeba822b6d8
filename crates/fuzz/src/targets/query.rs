//! Search queries as typed: any text is parsed into some query, within its limits.

use text::query::{self, Form, Query};

use crate::dice::Dice;
use crate::grammar;
use crate::mutate::mutate;
use crate::target::{Checked, ensure};

/// A query on the first line, and a text to match it against.
pub(crate) fn generate(dice: &mut Dice) -> Vec<u8> {
    let mut bytes = typed(dice);
    bytes.push(b'\n');
    bytes.extend(grammar::text(dice).into_bytes());
    bytes
}

/// A query as a user might type it.
pub(crate) fn typed(dice: &mut Dice) -> Vec<u8> {
    #[rustfmt::skip]
    const PIECES: &[&str] = &[
        "AND", "OR", "NOT", "NEAR", "NEAR(", "NEAR/3", "(", ")", "\"", "*", "^", "+", "-", ":", ",", "{",
        "}", "and", "or", "not", "docker", "compose", "auth*", "\"docker compose\"", "src/main.rs", "a",
        "日本", "語", "ß", "İ", "1a2b3c4d", "E0308", "_", "'", "content:", "rowid", "\\", ";", "--", "%",
        "/etc/passwd", "é", "e\u{301}", "ﬀ",
    ];
    let mut query = String::new();
    for _ in 0..dice.few(30) {
        query.push_str(dice.pick::<&str>(PIECES));
        if !dice.one_in(4) {
            query.push(' ');
        }
    }
    if dice.one_in(8) {
        query.push_str(&grammar::text(dice));
    }
    let mut bytes = query.into_bytes();
    if dice.one_in(4) {
        mutate(dice, &mut bytes, b"(docker AND \"compose up\") OR NOT auth*");
    }
    bytes.iter().map(|byte| if *byte == b'\n' { b' ' } else { *byte }).collect()
}

pub(crate) fn check(input: &[u8]) -> Checked {
    let input = String::from_utf8_lossy(input);
    let (typed, text) = input.split_once('\n').unwrap_or((&input, ""));
    for query in [query::rewrite(typed), query::any_of(typed), query::all_terms(typed)] {
        understood(&query, text)?;
        for further in [query.prefix(), query.relaxed()].into_iter().flatten() {
            understood(&further, text)?;
        }
        if let Some(exact) = query.exact() {
            let _ = (exact.is_in(text), exact.longer_in(text), exact.condition());
        }
    }
    for passage in text::passages::passages(text) {
        let _ = text::terms::Terms::of(passage, &text::words::hidden_words(passage));
    }
    Ok(())
}

fn understood(query: &Query, text: &str) -> Checked {
    // A prefix query tries each word whole and shortened.
    let most = 2 * query::WORDS_MAX;
    ensure(query.words.len() <= most, || format!("{} words", query.words.len()))?;
    ensure(query.pairs.len() <= query::PAIRS_MAX, || format!("{} pairs", query.pairs.len()))?;
    let is_empty = query.expression().is_empty();
    ensure(is_empty == (query.form == Form::Empty), || {
        format!("{:?} has the expression {:?}", query.form, query.expression())
    })?;
    let mut end = 0;
    for range in query.matched(text) {
        ensure(range.start >= end && text.get(range.clone()).is_some(), || {
            format!("{range:?} of {text:?}")
        })?;
        end = range.end;
    }
    let _ = (query.is_met_by(text), query.finder().reasons(text), query.condition());
    Ok(())
}
