//! The gist of a longer text: its first sentences, or those about something, as one line.

use std::collections::BTreeSet;

use crate::decisions::forbids;
use crate::terms::{self, Terms};
use crate::{line_of_words, words};

/// Sentences are added until the gist has this many characters: "Done." alone says nothing.
const ENOUGH_CHARS: usize = 40;

/// Marks that sentences were left out.
const BEFORE: &str = "… ";

/// How agents begin an answer before they say something.
const OPENINGS: &[&str] = &[
    "great question",
    "good question",
    "let me ",
    "here is ",
    "here's ",
    "here are ",
    "below is ",
    "i've completed ",
    "i have completed ",
    "i completed ",
    "i've finished ",
    "i've fixed the issue",
    "i've made the changes",
    "i've implemented the changes",
    "the task is complete",
    "task complete",
    "all done",
    "you're absolutely right",
    "you're right",
    "summary",
];
/// Words of a heading, its marker included.
const HEADING_WORDS_MAX: usize = 3;
/// A longer sentence says something, however it begins.
const OPENING_WORDS_MAX: usize = 10;

/// The first sentences of a text that say something, as one line of at most `max_chars` characters, without the list,
/// emphasis and fence markers of Markdown, and without headings and tables.
pub fn gist(text: &str, max_chars: usize) -> String {
    let telling = joined(prose(text).skip_while(|sentence| is_opening(sentence)));
    let mut gist = if telling.is_empty() { joined(prose(text)) } else { telling };
    // The next step of the agent is worth more than the sentences between.
    if let Some(plan) = last_plan(text).filter(|plan| !gist.ends_with(plan)) {
        let with_plan = format!("{gist} … {plan}");
        if with_plan.chars().count() <= max_chars {
            gist = with_plan;
        }
    }
    line_of_words(&gist.replace("**", ""), max_chars)
}

/// The sentences of a text as one line of at most `max_chars` characters, with `…` where some were left out. If not all fit,
/// the last one that forbids something or says what is to be done next stays, behind those at the beginning.
pub fn digest(text: &str, max_chars: usize) -> String {
    let all: Vec<&str> = prose(text).collect();
    let whole = all.join(" ").replace("**", "");
    let chars = |text: &str| text.chars().count();
    if chars(&whole) <= max_chars {
        return line_of_words(&whole, max_chars);
    }
    let is_kept = |sentence: &&str| forbids(sentence) || last_plan(text) == Some(*sentence);
    let Some(kept) =
        all.iter().rposition(is_kept).filter(|kept| chars(all[*kept]) <= max_chars / 2)
    else {
        return line_of_words(&whole, max_chars);
    };
    let after = if kept + 1 < all.len() { "…" } else { "" };
    let tail = format!("{}{after}", all[kept]).replace("**", "");
    let room = max_chars.saturating_sub(chars(&tail) + 1);
    let head = line_of_words(&all[..kept].join(" ").replace("**", ""), room);
    format!("{head} {tail}")
}

/// As many of the sentences as are enough for a gist. A sentence that ends with a colon needs the next one.
fn joined<'t>(sentences: impl Iterator<Item = &'t str>) -> String {
    let mut gist = String::new();
    for sentence in sentences {
        if !gist.is_empty() {
            gist.push(' ');
        }
        gist.push_str(sentence);
        if gist.chars().count() >= ENOUGH_CHARS && !gist.ends_with(':') {
            break;
        }
    }
    gist
}

/// Whether a sentence only announces that something will be said.
fn is_opening(sentence: &str) -> bool {
    let said = sentence.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let said = said.replace('’', "'");
    OPENINGS.iter().any(|opening| said.starts_with(opening))
        && said.split_whitespace().count() <= OPENING_WORDS_MAX
}

/// Phrases by which an agent asks for something without a question mark.
const REQUESTS: &[&str] = &[
    "please confirm",
    "please tell me",
    "please decide",
    "please let me know",
    "please send",
    "please run",
    "please provide",
    "tell me when",
    "let me know",
    "tell me whether",
    "tell me which",
    "waiting for your",
];

/// The last sentence of a text, if it asks something of the user.
pub fn last_question(text: &str) -> Option<&str> {
    prose(text).last().filter(|sentence| {
        let said = sentence.trim_end().to_lowercase();
        said.ends_with('?') || REQUESTS.iter().any(|request| said.contains(request))
    })
}

/// Words of an offer to go on, which name nothing to go on with.
const OFFERS: &[&str] = &[
    "ahead",
    "anything",
    "assist",
    "begin",
    "continue",
    "else",
    "fine",
    "further",
    "good",
    "happy",
    "help",
    "know",
    "let",
    "like",
    "look",
    "looks",
    "make",
    "makes",
    "need",
    "next",
    "okay",
    "please",
    "prefer",
    "proceed",
    "questions",
    "ready",
    "right",
    "sense",
    "shall",
    "something",
    "sound",
    "sounds",
    "start",
    "think",
    "today",
    "want",
    "work",
];

/// Whether a question of an agent is about something, and no mere offer to go on.
pub fn asks_something(question: &str) -> bool {
    let words = words::words(question).map(|(_, word)| words::fold(word));
    let mut telling = words.filter(|word| word.len() > 2 && !words::is_stop(word));
    telling.any(|word| !OFFERS.contains(&word.as_str()))
}

/// Beginnings of a last sentence that says what is to be done next.
const PLANS: &[&str] = &[
    "i will ",
    "i'll ",
    "i would ",
    "i'd ",
    "next",
    "remaining",
    "still open",
    "still missing",
    "left to do",
    "todo",
];

/// The last sentence of a text, if it says what is to be done next.
fn last_plan(text: &str) -> Option<&str> {
    prose(text).last().filter(|sentence| {
        let said = sentence.to_lowercase().replace('’', "'");
        PLANS.iter().any(|plan| said.starts_with(plan))
    })
}

/// The sentences of a text that share the most words with `about`, and their neighbours, as one line of at most
/// `max_chars` characters. It begins with `…` if sentences before were left out. Without a shared word it is the
/// beginning of the text.
pub fn gist_about(text: &str, about: &str, max_chars: usize) -> String {
    let wanted: BTreeSet<String> =
        words::words(about).filter_map(|(_, word)| terms::term(word)).collect();
    let all: Vec<&str> = prose(text).collect();
    let chars = |sentence: &str| sentence.chars().count() + 1;
    let has: Vec<BTreeSet<String>> = (all.iter())
        .map(|sentence| {
            let own = Terms::of(sentence, &words::hidden_words(sentence)).twice;
            wanted.iter().filter(|term| own.contains_key(*term)).cloned().collect()
        })
        .collect();
    let whole: usize = all.iter().map(|sentence| chars(sentence)).sum();
    let starts = if whole > max_chars { all.len() } else { 0 };
    // Try every first sentence, with as many as fit after it; the last one with the most words wins.
    let (mut best, mut first) = (0, 0);
    for start in 0..starts {
        let (mut found, mut room) = (BTreeSet::new(), max_chars);
        for (sentence, has) in all.iter().zip(&has).skip(start) {
            if room < chars(sentence) && room < max_chars {
                break;
            }
            found.extend(has);
            room = room.saturating_sub(chars(sentence));
        }
        if !found.is_empty() && found.len() >= best {
            (best, first) = (found.len(), start);
        }
    }
    // Add the sentences before these, if they fit too.
    let mut length: usize = all.iter().skip(first).map(|sentence| chars(sentence)).sum();
    while let Some(above) = first.checked_sub(1).and_then(|above| all.get(above)) {
        length += chars(above);
        if length + BEFORE.chars().count() > max_chars {
            break;
        }
        first -= 1;
    }
    let before = if first > 0 { BEFORE } else { "" };
    let rest = all.get(first..).unwrap_or_default().join(" ").replace("**", "");
    line_of_words(&format!("{before}{rest}"), max_chars)
}

/// The sentences of a text without fenced code, and without the Markdown markers at the beginning of lines.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    let lines = text.lines().map(str::trim).filter(move |line| {
        let fence = line.starts_with("```") || line.starts_with("~~~");
        fenced ^= fence;
        !fence && !fenced && !line.starts_with('|') && !is_heading(line)
    });
    lines.map(plain).filter(|line| !line.is_empty()).flat_map(sentences)
}

/// Whether a line is a heading such as `## Summary`, which says nothing itself. A longer one may.
fn is_heading(line: &str) -> bool {
    line.starts_with('#') && line.split_whitespace().count() <= HEADING_WORDS_MAX
}

/// The line without the marker of a heading, a list item or a quotation.
pub(crate) fn plain(line: &str) -> &str {
    let text = line.trim_start_matches(['#', '>', ' ']);
    let item = ["- ", "* ", "+ "].iter().find_map(|sign| text.strip_prefix(sign));
    item.unwrap_or(text).trim()
}

/// Abbreviations whose full stop ends no sentence.
const ABBREVIATIONS: &[&str] = &[" e.g.", "(e.g.", " i.e.", "(i.e.", " vs.", " cf."];

/// The sentences of a line. A full stop inside a word, as in a path or a version, does not end a sentence.
pub(crate) fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let ends = rest.match_indices([' ']).map(|(at, _)| at);
        let end = ends.into_iter().find(|at| {
            let sentence = &rest[..*at];
            sentence.ends_with(['.', '!', '?'])
                && !ABBREVIATIONS.iter().any(|a| sentence.ends_with(a))
        });
        let (sentence, behind) = rest.split_at(end.unwrap_or(rest.len()));
        rest = behind.trim_start();
        Some(sentence)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gist_is_the_first_meaningful_sentences() {
        let table = [
            ("", ""),
            (
                "Two tests are red because the watcher is gone. It was removed in May. I would bring it back.",
                "Two tests are red because the watcher is gone. … I would bring it back.",
            ),
            ("Done.", "Done."),
            (
                "Done. The retry now waits 200 ms because the proxy drops bursts. More here.",
                "Done. The retry now waits 200 ms because the proxy drops bursts.",
            ),
            (
                "## Summary\n\n- **Fixed** the rounding in `src/cart.rs` by using cents\n- More",
                "Fixed the rounding in `src/cart.rs` by using cents",
            ),
            (
                "Great question! Let me summarise what I found.\n\n**Root cause:** every login makes 400 round trips.",
                "Root cause: every login makes 400 round trips.",
            ),
            (
                "I've completed the task. Here is a summary:\n\n- The footer is fixed by a media query.",
                "The footer is fixed by a media query.",
            ),
            (
                "| size | ms |\n|---|---|\n| 5 | 90 |\n\nPool size 20 is three times faster than 5.",
                "Pool size 20 is three times faster than 5.",
            ),
            (
                "✅ Fixed. Version 1.2.3 of libfoo breaks e.g. the export of invoices. More.",
                "✅ Fixed. Version 1.2.3 of libfoo breaks e.g. the export of invoices.",
            ),
            ("Here's what I changed:", "Here's what I changed:"),
            (
                "```rust\nfn x() {}\n```\nI moved the parser to v2.1 of the grammar as you asked.",
                "I moved the parser to v2.1 of the grammar as you asked.",
            ),
        ];
        for (text, expected) in table {
            assert_eq!(gist(text, 240), expected, "{text:?}");
        }
        assert_eq!(gist("abcdefgh", 4), "abc…");
    }

    #[test]
    fn a_request_is_a_question_without_its_mark() {
        for text in [
            "All 212 keys are there. I need the legal texts: please send me the Finnish notice.",
            "It failed. Please run `kubectl login` and tell me when it is done.",
        ] {
            assert!(last_question(text).is_some(), "{text}");
        }
        assert!(last_question("The notice is sent. All tests pass.").is_none());
    }

    #[test]
    fn a_digest_has_all_sentences_or_marks_the_cut() {
        let text = "The order was **wrong**, I swapped it. But `motor_with_limit` still fails.";
        assert_eq!(digest(text, 240), text.replace("**", ""));
        let long =
            format!("{} Do not touch `csrf.py`.", "The template renders the token. ".repeat(9));
        let short = digest(&long, 100);
        assert!(short.starts_with("The template renders"), "{short}");
        assert!(short.ends_with("… Do not touch `csrf.py`."), "{short}");
        assert!(short.chars().count() <= 100, "{short}");
        let cut = digest(&"The template renders the token. ".repeat(9), 100);
        assert!(cut.ends_with('…') && cut.chars().count() <= 100, "{cut}");
    }

    #[test]
    fn a_gist_about_something_holds_the_sentences_with_its_words() {
        let text = "Done. I looked at the layout and the styles of the page. All is well there. The map \
                    flickers because the **ref callback** is a new function in every render. It is stable now.";
        let about = "berth map flickers when I pan";
        let found = gist_about(text, about, 105);
        assert_eq!(
            found,
            "… The map flickers because the ref callback is a new function in every render. It is stable now."
        );
        assert_eq!(gist_about("Done. All is well.", about, 120), "Done. All is well.");
        assert_eq!(gist_about("```\nmap\n```\nDone.", about, 120), "Done.");
        assert_eq!(gist_about("", about, 120), "");
        let long = gist_about(&"map ".repeat(100), about, 40);
        assert_eq!((long.chars().count() <= 40, long.ends_with('…')), (true, true));
    }
}
