//! Character classes: `[abc]`, `[a-z]`, `[^a]`, `[!a]`, `[[:alpha:]]`.

use super::GlobError;

/// The characters that a class accepts. No class accepts `/`.
#[derive(Debug, Clone)]
pub(super) struct CharSet {
    negated: bool,
    ranges: Vec<(char, char)>,
}

/// A parsed class of a pattern.
pub(super) struct ParsedSet {
    pub(super) set: CharSet,
    /// Position of the text after the class.
    pub(super) end: usize,
    /// Whether the text may be meant literally, as in a directory named `[slug]`.
    pub(super) maybe_literal: bool,
}

impl CharSet {
    pub(super) fn accepts(&self, c: char) -> bool {
        let listed = self.ranges.iter().any(|&(low, high)| low <= c && c <= high);
        c != '/' && listed != self.negated
    }
}

/// Parses the class whose `[` is at byte `open`.
pub(super) fn parse(pattern: &str, open: usize) -> Result<ParsedSet, GlobError> {
    let mut at = open + 1;
    let negated = pattern[at..].starts_with(['!', '^']);
    at += usize::from(negated);
    let first = at;
    let mut ranges = Vec::new();
    loop {
        let rest = &pattern[at..];
        if at > first && rest.starts_with(']') {
            break;
        }
        if let Some((named, length)) = named_class(rest) {
            ranges.extend_from_slice(named);
            at += length;
            continue;
        }
        let (low, after_low) = member(pattern, at, open)?;
        at = after_low;
        let rest = &pattern[at..];
        if !rest.starts_with('-') || rest[1..].starts_with(']') {
            ranges.push((low, low));
            continue;
        }
        let (high, after_high) = member(pattern, at + 1, open)?;
        if high < low {
            let range = format!("the range `{low}-{high}` runs backwards");
            return Err(super::compile::error_at(pattern, at, &range));
        }
        ranges.push((low, high));
        at = after_high;
    }
    let inside = &pattern[open + 1..at];
    let maybe_literal = !negated && !inside.contains(|c: char| r"-*+?.^${}(|)[]\".contains(c));
    Ok(ParsedSet { set: CharSet { negated, ranges }, end: at + 1, maybe_literal })
}

/// One character of a class, with its escape resolved, and the position of the next one.
fn member(pattern: &str, at: usize, open: usize) -> Result<(char, usize), GlobError> {
    let mut chars = pattern[at..].chars();
    let (first, second) = (chars.next(), chars.next());
    match (first, second) {
        (Some('\\'), Some(escaped)) => Ok((escaped, at + 1 + escaped.len_utf8())),
        (Some(c), _) if c != '\\' => Ok((c, at + c.len_utf8())),
        _ => Err(super::compile::unclosed(pattern, open, '[', ']')),
    }
}

/// The ranges of a leading `[:name:]` and its length in bytes.
fn named_class(rest: &str) -> Option<(&'static [(char, char)], usize)> {
    let inner = rest.strip_prefix("[:")?;
    let name = &inner[..inner.find(":]")?];
    let ranges: &[(char, char)] = match name {
        "alnum" => &[('a', 'z'), ('A', 'Z'), ('0', '9')],
        "alpha" => &[('a', 'z'), ('A', 'Z')],
        "ascii" => &[('\0', '\x7f')],
        "blank" => &[(' ', ' '), ('\t', '\t')],
        "cntrl" => &[('\0', '\x1f'), ('\x7f', '\x7f')],
        "digit" => &[('0', '9')],
        "graph" => &[('!', '~')],
        "lower" => &[('a', 'z')],
        "print" => &[(' ', '~')],
        "punct" => &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')],
        "space" => &[('\t', '\r'), (' ', ' ')],
        "upper" => &[('A', 'Z')],
        "word" => &[('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')],
        "xdigit" => &[('a', 'f'), ('A', 'F'), ('0', '9')],
        _ => return None,
    };
    Some((ranges, "[:".len() + name.len() + ":]".len()))
}
