//! The user's own words in a prompt: without what was marked private and without what the host put in.

mod images;
mod our_text;

use std::borrow::Cow;
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
    let own = own.trim();
    (!own.is_empty()).then(|| own.to_owned())
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
/// tag is the user's own text too, with everything after it, unless the prompt begins with the tag: then
/// nothing is left.
fn without_host_blocks(text: &str) -> Cow<'_, str> {
    if !text.contains('<') {
        return text.into();
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    let mut at = 0;
    while let Some(next) = rest[at..].find('<') {
        at += next;
        let before = &rest[..at];
        let Some(name) = host_tag(&rest[at..]).filter(|_| !before.ends_with('`')) else {
            at += 1;
            continue;
        };
        let Some(end) = block_end(&rest[at..], name) else {
            if kept.trim().is_empty() && before.trim().is_empty() {
                return kept.into();
            }
            // Searching for the end of each of many unclosed tags would take quadratic time, so the
            // rest is kept.
            break;
        };
        // Blanks before a block at the beginning of a line are removed with it. Around a block inside a line one stays.
        let line = before.rfind('\n').map_or(0, |line| line + 1);
        let begins = before[line..].trim().is_empty() && (line > 0 || is_at_line_start(&kept));
        kept.push_str(if begins { &before[..line] } else { before });
        rest = &rest[at + end..];
        if kept.ends_with(' ') {
            rest = rest.strip_prefix(' ').unwrap_or(rest);
        }
        at = 0;
    }
    kept.push_str(rest);
    kept.into()
}

fn is_at_line_start(text: &str) -> bool {
    text.is_empty() || text.ends_with('\n')
}

/// The name of the host's tag that the line begins with.
fn host_tag(line: &str) -> Option<&str> {
    let rest = line.strip_prefix('<')?;
    let in_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let name = &rest[..rest.find(|c| !in_name(c))?];
    let known = |tag: &&str| match tag.ends_with(['-', '_']) {
        true => name.starts_with(*tag),
        false => name == *tag,
    };
    (HOST_TAGS.iter().any(known) && tag(line, name).is_some()).then_some(name)
}

/// Where the block ends that the text begins with.
fn block_end(text: &str, name: &str) -> Option<usize> {
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(next) = text[at..].find('<') {
        at += next;
        let Some(Tag { opens, length }) = tag(&text[at..], name) else {
            at += 1;
            continue;
        };
        at += length;
        depth = if opens { depth + 1 } else { depth.saturating_sub(1) };
        if depth == 0 {
            return Some(at);
        }
    }
    None
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
                "<system-reminder>a<system-reminder>b</system-reminder>c</system-reminder>d",
                Some("d"),
            ),
        ];
        for (text, own) in table {
            assert_eq!(own_words(text).as_deref(), own, "{text:?}");
        }
    }
}
