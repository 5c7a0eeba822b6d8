//! The user's own words in a prompt: without what was marked private and without what the host put in.

use std::borrow::Cow;

use model::hook::BRIEFING_TITLES;

use crate::table::HOST_TAGS;

/// Bytes of a tag, within which its `>` has to be.
const TAG_BYTES_MAX: usize = 200;

/// The words of the user, or nothing if there are none.
pub(crate) fn own_words(text: &str) -> Option<String> {
    let public = without_private(text);
    let own = without_host_blocks(&public);
    let own = without_briefings(&own);
    let own = own.trim();
    (!own.is_empty()).then(|| own.to_owned())
}

/// The text without `<private>…</private>`; one that is never closed goes to the end.
fn without_private(text: &str) -> Cow<'_, str> {
    let mut kept = String::new();
    let mut depth = 0usize;
    let (mut from, mut at) = (0, 0);
    while let Some(next) = text[at..].find('<') {
        at += next;
        let (change, length) = match tag(&text[at..], "private") {
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
    match (depth, from) {
        (0, 0) => text.into(),
        (0, from) => (kept + &text[from..]).into(),
        _ => kept.into(),
    }
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

/// The text without the blocks in a host's tags that stand at the beginning of a line. A tag that is
/// never closed is something the user writes about, unless the prompt begins with it.
fn without_host_blocks(text: &str) -> Cow<'_, str> {
    if !text.contains('<') {
        return text.into();
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    let mut unclosed = false;
    while !rest.is_empty() {
        let line = rest.trim_start_matches([' ', '\t']);
        if let Some(name) = host_tag(line).filter(|_| !unclosed) {
            match block_end(line, name) {
                Some(end) => {
                    rest = &line[end..];
                    continue;
                }
                None if kept.trim().is_empty() => return kept.into(),
                None => unclosed = true,
            }
        }
        let end = rest.find('\n').map_or(rest.len(), |at| at + 1);
        kept.push_str(&rest[..end]);
        rest = &rest[end..];
    }
    kept.into()
}

/// Removes briefings of ours that the text repeats, each from its title to the last of its headings, rows
/// and items.
fn without_briefings(text: &str) -> Cow<'_, str> {
    let is_title = |line: &str| {
        line.strip_prefix("# ").is_some_and(|title| BRIEFING_TITLES.contains(&title.trim_end()))
    };
    if !text.lines().any(is_title) {
        return text.into();
    }
    let mut kept = Vec::new();
    let (mut inside, mut after_gap) = (false, false);
    for line in text.lines() {
        if is_title(line) {
            inside = true;
        } else if after_gap && !line.trim().is_empty() && !line.starts_with(['#', '|', '-']) {
            inside = false;
        }
        after_gap = line.trim().is_empty();
        if !inside {
            kept.push(line);
        }
    }
    kept.join("\n").into()
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
    fn what_is_private_is_left_out_however_it_is_written() {
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
        ];
        for (text, own) in table {
            assert_eq!(own_words(text).as_deref(), own, "{text:?}");
        }
    }

    /// @capture_host_text
    #[test]
    fn what_a_host_put_in_is_no_word_of_the_user() {
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
