//! The public rule set: selects the rules whose keywords are in a text, and runs these. A rule is
//! compiled when a text first needs it, so that clean text compiles nothing.

use std::ops::Range;
use std::sync::OnceLock;

use regex::bytes::{Captures, Regex, RegexBuilder};

use super::Finding;
use super::bytes::{begins, in_word, span, span_back};
use super::judge::{entropy, is_placeholder};

include!(concat!(env!("OUT_DIR"), "/public_rules.rs"));

/// How far before a keyword its rule may begin.
const BEFORE: usize = 512;
/// How far after a keyword the match of its rule may end.
const BEHIND: usize = 2048;
/// How far from a keyword a word is searched if the rule does not give its position.
const NEAR: usize = 256;
/// Upper bound for one compiled rule; the largest of the set needs a tenth of it.
const SIZE_LIMIT: usize = 4 << 20;

/// One rule of the set. Its texts are ranges of `TEXT`: id, regex, and the regexes for allowed secrets
/// and allowed matches.
struct PublicRule {
    parts: [(u32, u32); 4],
    /// The secret must have more bits for each character than this.
    entropy: f32,
    /// The secret is the first capture group from this number on that is part of the match; 0 means
    /// the whole match.
    group: u8,
    shortest: u16,
}

/// A compiled rule with its exceptions.
struct Compiled {
    regex: Regex,
    allowed_secret: Vec<Regex>,
    allowed_match: Vec<Regex>,
}

/// The condition around a keyword under which its rule is compiled.
#[derive(Clone, Copy, Debug)]
pub(super) enum Check {
    /// The keyword is the name in `name = value`, and the value is long enough.
    Assignment,
    /// The keyword begins the secret, and what follows is long enough.
    Prefix,
    /// The keyword is part of the secret, and the word around it is long enough.
    Word,
    /// A word that is long enough is close by.
    Near,
    Free,
}

/// A part of the text that a rule is to be run over.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Window {
    pub(super) rule: u16,
    pub(super) range: Range<usize>,
}

/// Joins the hits of each rule into windows that do not overlap, so that no rule reads any part
/// of a text twice, however often its keyword is repeated.
pub(super) struct Windows {
    open: [(u32, u32); COUNT],
}

impl Windows {
    pub(super) fn new() -> Windows {
        Windows { open: [(0, 0); COUNT] }
    }

    /// Notes a hit of the rule's keyword; returns a window that is complete because of it.
    pub(super) fn hit(
        &mut self,
        text: &[u8],
        rule: u16,
        check: Check,
        at: Range<usize>,
    ) -> Option<Window> {
        let shortest = usize::from(RULES[usize::from(rule)].shortest);
        let inside = at.end <= self.open[usize::from(rule)].1 as usize;
        if !inside && !worthwhile(text, check, &at, shortest) {
            return None;
        }
        let (start, end) =
            (at.start.saturating_sub(BEFORE), at.end.saturating_add(BEHIND).min(text.len()));
        let (start, end) = (u32::try_from(start).ok()?, u32::try_from(end).ok()?);
        let open = &mut self.open[usize::from(rule)];
        if start <= open.1 && open.1 > 0 {
            open.1 = end;
            return None;
        }
        let done = std::mem::replace(open, (start, end));
        (done.1 > 0).then_some(Window { rule, range: done.0 as usize..done.1 as usize })
    }

    /// The windows that are still open at the end of the text.
    pub(super) fn rest(&self) -> impl Iterator<Item = Window> {
        let open = self.open.iter().enumerate().filter(|(_, open)| open.1 > 0);
        open.map(|(rule, open)| Window {
            rule: u16::try_from(rule).unwrap_or(u16::MAX),
            range: open.0 as usize..open.1 as usize,
        })
    }
}

/// The stored text at a place.
fn stored((start, length): (u32, u32)) -> &'static str {
    let start = start as usize;
    TEXT.get(start..start + length as usize).unwrap_or_default()
}

pub(super) fn id(rule: u16) -> &'static str {
    RULES.get(usize::from(rule)).map_or("", |rule| stored(rule.parts[0]))
}

/// Whether a rule of the set has this name.
pub(super) fn is_id(name: &str) -> bool {
    RULES.iter().any(|rule| stored(rule.parts[0]) == name)
}

fn worthwhile(text: &[u8], check: Check, at: &Range<usize>, shortest: usize) -> bool {
    match check {
        Check::Free => true,
        Check::Prefix => {
            begins(text, at.start) && span(text, at.start, shortest, in_word) >= shortest
        }
        Check::Word => {
            let before = span_back(text, at.start, shortest, in_word);
            before + at.len() + span(text, at.end, shortest, in_word) >= shortest
        }
        Check::Assignment => value(text, at.end)
            .is_some_and(|value| span(text, value, shortest, in_word) >= shortest),
        Check::Near => {
            let near = &text[at.start.saturating_sub(NEAR)..text.len().min(at.end + NEAR)];
            near.split(|byte| !in_word(byte)).any(|word| word.len() >= shortest)
        }
    }
}

/// Where the value begins if `at` is in or after a name that an assignment follows. The steps are those of
/// the many rules of this form. The keyword may be only the beginning of the name.
fn value(text: &[u8], at: usize) -> Option<usize> {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0b' | b'\x0c');
    let at = at
        + span(text, at, 40, |byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'\t' | b'_' | b'.' | b'-')
        });
    let at = at + span(text, at, 3, |byte| blank(byte) || matches!(byte, b'\'' | b'"'));
    let operator =
        span(text, at, 4, |byte| matches!(byte, b'=' | b'>' | b':' | b'|' | b'?' | b','));
    let at = at + operator;
    let value =
        at + span(text, at, 5, |byte| blank(byte) || matches!(byte, b'\'' | b'"' | b'`' | b'='));
    (operator > 0).then_some(value)
}

/// Runs one rule over its window, and calls `found` with each finding until it returns `false`.
pub(super) fn run(text: &[u8], window: &Window, found: &mut dyn FnMut(Finding) -> bool) -> bool {
    let Some(rule) = RULES.get(usize::from(window.rule)) else { return true };
    let Some(compiled) = compiled(window.rule) else { return true };
    // The end is moved to the end of a word: a secret that is cut is not recognised.
    let end = window.range.end + span(text, window.range.end, BEHIND, in_word);
    let (text, mut at) = (&text[..end], window.range.start);
    while at <= text.len()
        && let Some(captures) = compiled.regex.captures_at(text, at)
        && let Some(whole) = captures.get(0)
    {
        at = whole.end().max(at + 1);
        let secret = secret(&captures, rule.group);
        let bytes = &text[secret.clone()];
        let allowed = is_placeholder(bytes)
            || (rule.entropy > 0.0 && entropy(bytes) <= f64::from(rule.entropy))
            || compiled.allowed_secret.iter().any(|regex| regex.is_match(bytes))
            || compiled.allowed_match.iter().any(|regex| regex.is_match(whole.as_bytes()));
        if !allowed && !found(Finding { rule: id(window.rule), range: secret }) {
            return false;
        }
    }
    true
}

fn secret(captures: &Captures<'_>, group: u8) -> Range<usize> {
    let first = captures.iter().skip(usize::from(group)).flatten().next();
    first.or_else(|| captures.get(0)).map_or(0..0, |found| found.range())
}

/// The rule, compiled at its first use. A test checks that all rules compile.
fn compiled(rule: u16) -> Option<&'static Compiled> {
    static COMPILED: [OnceLock<Option<Compiled>>; COUNT] = [const { OnceLock::new() }; COUNT];
    let parts = RULES.get(usize::from(rule))?.parts;
    let build = |regex: &str| {
        let mut builder = RegexBuilder::new(regex);
        builder.unicode(false).size_limit(SIZE_LIMIT).dfa_size_limit(SIZE_LIMIT).build().ok()
    };
    let build_all = |lines: &str| lines.lines().map(build).collect::<Option<Vec<_>>>();
    let compile = || {
        Some(Compiled {
            regex: build(stored(parts[1]))?,
            allowed_secret: build_all(stored(parts[2]))?,
            allowed_match: build_all(stored(parts[3]))?,
        })
    };
    COMPILED.get(usize::from(rule))?.get_or_init(compile).as_ref()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_of_the_set_compiles_within_its_limit() {
        for rule in 0..u16::try_from(COUNT).unwrap() {
            assert!(compiled(rule).is_some(), "{}", id(rule));
            assert!(is_id(id(rule)) && !id(rule).is_empty());
        }
    }

    #[test]
    fn a_window_grows_with_hits_that_are_close_and_is_returned_when_one_is_far() {
        let text = vec![b'a'; 20_000];
        let mut windows = Windows::new();
        assert_eq!(windows.hit(&text, 0, Check::Free, 1000..1003), None);
        assert_eq!(windows.hit(&text, 0, Check::Free, 2000..2003), None);
        let done = windows.hit(&text, 0, Check::Free, 9000..9003);
        assert_eq!(done, Some(Window { rule: 0, range: 488..2003 + BEHIND }));
        let rest: Vec<Window> = windows.rest().collect();
        assert_eq!(rest, [Window { rule: 0, range: 9000 - BEFORE..9003 + BEHIND }]);
    }
}
