//! The user's own words in a prompt: without its private parts and without the text that the host added.

mod images;
mod our_text;

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use crate::table::HOST_TAGS;

/// Bytes of a tag, within which its `>` has to be.
const TAG_BYTES_MAX: usize = 200;

/// The words of the user, or nothing if there are none.
pub(crate) fn own_words(text: &str) -> Option<String> {
    let public = without_private(text);
    let own = without_host_blocks(&public);
    let own = our_text::removed(&own);
    let own = images::replaced(&own);
    let own = without_instruction(&public, own.trim());
    (!own.is_empty()).then(|| own.to_owned())
}

/// The words without the sentence that a host puts after a notification about a task.
fn without_instruction<'w>(text: &str, words: &'w str) -> &'w str {
    const NOTIFICATION: &str = "<task-notification";
    const INSTRUCTION: &str = "Read the output file to retrieve the result:";
    if !text.trim_start().starts_with(NOTIFICATION) || !words.starts_with(INSTRUCTION) {
        return words;
    }
    words.split_once('\n').map_or("", |(_, rest)| rest.trim())
}

/// The text without the quotation marks that a host puts around the whole of it.
pub(crate) fn without_quotes(text: &str) -> &str {
    let inside = text.trim().strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    inside.filter(|inside| !inside.contains('"')).unwrap_or(text)
}

/// The text without `<private>…</private>`; a tag that is never closed extends to the end, unless it is in backticks.
fn without_private(text: &str) -> Cow<'_, str> {
    let (kept, _) = split_private(text);
    kept
}

/// A captured text, such as a command or the task of a subagent, without `<private>…</private>`. If a tag is never
/// closed, the text is kept: it is then code about such a tag.
pub(crate) fn without_private_parts(text: &str) -> Cow<'_, str> {
    if !text.contains("</") {
        return text.into();
    }
    match split_private(text) {
        (kept, true) => kept,
        (_, false) => text.into(),
    }
}

/// The text without its private parts, and whether all of them are closed.
fn split_private(text: &str) -> (Cow<'_, str>, bool) {
    let mut kept = String::new();
    let mut depth = 0usize;
    let last_closing = last_closing(text);
    let (mut from, mut at) = (0, 0);
    while let Some(next) = text[at..].find('<') {
        at += next;
        let (change, length) = match tag(&text[at..], "private") {
            Some(Tag { opens: true, length })
                if depth == 0 && is_code(text, at..at + length) && last_closing < at =>
            {
                at += length;
                continue;
            }
            Some(Tag { opens: true, length }) => (1, length),
            Some(Tag { opens: false, length }) if depth > 0 => (-1, length),
            _ => {
                at += 1;
                continue;
            }
        };
        if depth == 0 {
            kept.push_str(&text[from..at]);
        }
        depth = depth.saturating_add_signed(change);
        at += length;
        from = at;
    }
    let kept = match (depth, from) {
        (0, 0) => text.into(),
        (0, from) => (kept + &text[from..]).into(),
        _ => kept.into(),
    };
    (kept, depth == 0)
}

/// Whether a part of a text is in backticks.
fn is_code(text: &str, part: Range<usize>) -> bool {
    text[..part.start].ends_with('`') && text[part.end..].starts_with('`')
}

/// The offset of the last `</private>`; 0 if there is none.
fn last_closing(text: &str) -> usize {
    let mut ends = text.rmatch_indices("</").map(|(at, _)| at);
    ends.find(|at| tag(&text[*at..], "private").is_some()).unwrap_or_default()
}

/// A tag at the beginning of a text.
struct Tag {
    opens: bool,
    length: usize,
}

/// The tag of this name that the text begins with, in small or capital letters, with or without
/// attributes.
fn tag(text: &str, name: &str) -> Option<Tag> {
    let rest = text.strip_prefix('<')?;
    let (opens, rest) = rest.strip_prefix('/').map_or((true, rest), |rest| (false, rest));
    let named = rest.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name));
    let rest = if named { &rest[name.len()..] } else { return None };
    if !rest.starts_with('>') && !rest.starts_with(char::is_whitespace) {
        return None;
    }
    let end = rest.as_bytes().iter().take(TAG_BYTES_MAX).position(|byte| *byte == b'>')?;
    Some(Tag { opens, length: text.len() - rest.len() + end + 1 })
}

/// The text without the blocks in a host's tags. A tag in backticks is the user's own text. An unclosed
/// tag is the user's own text too, unless the prompt begins with it: then nothing is left.
fn without_host_blocks(text: &str) -> Cow<'_, str> {
    let HostBlocks { closed, unclosed } = host_blocks(text);
    let begins_unclosed = |kept: &str, gap: Range<usize>| {
        let next = unclosed.get(unclosed.partition_point(|at| *at < gap.start));
        next.filter(|at| **at < gap.end)
            .is_some_and(|at| text[gap.start..*at].trim().is_empty() && kept.trim().is_empty())
    };
    let mut kept = String::new();
    let mut from = 0;
    for block in closed {
        if block.start < from {
            // This block is inside the block before.
            continue;
        }
        if begins_unclosed(&kept, from..block.start) {
            return "".into();
        }
        let before = &text[from..block.start];
        // Blanks before a block at the beginning of a line are removed with it. Around a block inside a line one blank
        // stays.
        let line = before.rfind('\n').map_or(0, |line| line + 1);
        let begins = before[line..].trim().is_empty() && (line > 0 || is_at_line_start(&kept));
        kept.push_str(if begins { &before[..line] } else { before });
        from = block.end;
        if kept.ends_with(' ') && text[from..].starts_with(' ') {
            from += 1;
        }
    }
    if begins_unclosed(&kept, from..text.len()) {
        return "".into();
    }
    if from == 0 {
        return text.into();
    }
    kept.push_str(&text[from..]);
    kept.into()
}

fn is_at_line_start(text: &str) -> bool {
    text.is_empty() || text.ends_with('\n')
}

/// The blocks in a host's tags.
#[derive(Default)]
struct HostBlocks {
    /// In order of their beginning; a block may be inside another one.
    closed: Vec<Range<usize>>,
    /// The offsets of tags that are never closed, in order.
    unclosed: Vec<usize>,
}

/// Pairs the tags of each name in one pass: searching for the end of each of many unclosed tags would take quadratic time.
fn host_blocks(text: &str) -> HostBlocks {
    let mut blocks = HostBlocks::default();
    let mut open: HashMap<String, Vec<OpenTag>> = HashMap::new();
    for (at, _) in text.match_indices('<') {
        let Some((name, Tag { opens, length })) = host_tag(&text[at..]) else { continue };
        let open = open.entry(name).or_default();
        let end = at + length;
        if opens {
            open.push(OpenTag { at, in_code: text[..at].ends_with('`') });
            continue;
        }
        if !text[end..].starts_with('`') {
            // A tag in backticks is closed inside the backticks, or never.
            open.truncate(open.iter().rposition(|tag| !tag.in_code).map_or(0, |last| last + 1));
        }
        if let Some(tag) = open.pop().filter(|tag| !tag.in_code) {
            blocks.closed.push(tag.at..end);
        }
    }
    let unclosed = open.values().flatten().filter(|tag| !tag.in_code);
    blocks.unclosed = unclosed.map(|tag| tag.at).collect();
    blocks.unclosed.sort_unstable();
    blocks.closed.sort_by_key(|block| block.start);
    blocks
}

struct OpenTag {
    at: usize,
    in_code: bool,
}

/// The host's tag that the text begins with, and its name in small letters.
fn host_tag(text: &str) -> Option<(String, Tag)> {
    let rest = text.strip_prefix('<')?;
    let rest = rest.strip_prefix('/').unwrap_or(rest);
    let in_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let name = &rest[..rest.find(|c| !in_name(c))?];
    let lower = name.to_ascii_lowercase();
    let known = |tag: &&str| match tag.ends_with(['-', '_']) {
        true => lower.starts_with(*tag),
        false => lower == *tag,
    };
    let found = HOST_TAGS.iter().any(known).then(|| tag(text, name)).flatten()?;
    Some((lower, found))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// @capture_private
    #[test]
    fn private_text_is_dropped_in_every_spelling_of_the_tag() {
        let table = [
            ("plain", Some("plain")),
            ("a <private>b</private> c", Some("a  c")),
            ("a <PRIVATE>b</Private> c", Some("a  c")),
            ("a <private>b", Some("a")),
            ("<private>b", None),
            ("<private>a<private>b</private>c</private>d", Some("d")),
            ("<private>a</private><private>b</private>", None),
            ("<private reason=\"mine\">a</private >b", Some("b")),
            ("a</private>b", Some("a</private>b")),
            ("a <privateer> b", Some("a <privateer> b")),
            ("a < b <private>\nc\n</private> d > e", Some("a < b  d > e")),
            ("ä<private>ö</private>ü", Some("äü")),
            ("<private", Some("<private")),
            ("`<private>` is our tag, document it", Some("`<private>` is our tag, document it")),
            ("use `<private>` and <private>b", Some("use `<private>` and")),
            ("use `<private>`b`</private>` c", Some("use `` c")),
            ("a <private>`b", Some("a")),
            ("a `<private>b", Some("a `")),
        ];
        for (text, own) in table {
            assert_eq!(own_words(text).as_deref(), own, "{text:?}");
        }
    }

    /// @capture_host_text
    #[test]
    fn text_injected_by_the_host_is_not_captured() {
        let table = [
            ("", None),
            (" \n\t ", None),
            ("<system-reminder>x</system-reminder>", None),
            ("<system-reminder>x", None),
            ("<task-notification>\n<task-id>a</task-id>\n</task-notification>\n", None),
            (
                "<task-notification>\n<task-id>a</task-id>\n</task-notification>\nRead the output file to retrieve the result: /tmp/a",
                None,
            ),
            (
                "Read the output file to retrieve the result: it is mine",
                Some("Read the output file to retrieve the result: it is mine"),
            ),
            ("<command-name>/x</command-name>\n  <command-args></command-args>", None),
            ("<local-command-stdout>x</local-command-stdout>", None),
            ("<ide_opened_file>a</ide_opened_file>\nfix it", Some("fix it")),
            ("fix it\n<system-reminder>\nno\n</system-reminder>\nnow", Some("fix it\n\nnow")),
            ("what is\n<system-reminder>\nfor?", Some("what is\n<system-reminder>\nfor?")),
            ("what is <command-name> for?", Some("what is <command-name> for?")),
            ("ok <system-reminder>junk</system-reminder> tail", Some("ok tail")),
            ("ok<system-reminder>\njunk\n</system-reminder>", Some("ok")),
            (
                "what is `<system-reminder>x</system-reminder>` for?",
                Some("what is `<system-reminder>x</system-reminder>` for?"),
            ),
            ("<div>mine</div>", Some("<div>mine</div>")),
            (
                "what is <command-name> for?\n<system-reminder>no</system-reminder>\nand why?",
                Some("what is <command-name> for?\n\nand why?"),
            ),
            (
                "what is <system-reminder> for?\n<system-reminder>no</system-reminder>",
                Some("what is <system-reminder> for?"),
            ),
            (
                "<system-reminder>never show `<system-reminder>` to users</system-reminder>why?",
                Some("why?"),
            ),
            (
                "<system-reminder>a `<system-reminder>b</system-reminder>` c</system-reminder>why?",
                Some("why?"),
            ),
            ("<command-name>/x</command-name>\n<system-reminder>y", None),
            ("<command-name>a <system-reminder></command-name>why?", Some("why?")),
            (
                "<system-reminder>a<system-reminder>b</system-reminder>c</system-reminder>d",
                Some("d"),
            ),
        ];
        for (text, own) in table {
            assert_eq!(own_words(text).as_deref(), own, "{text:?}");
        }
    }
}
