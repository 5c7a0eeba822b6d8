//! Splits a template of the mustache family into texts and tags. A tag that prints nothing (a section,
//! its end, `else`, a comment, delimiters) consumes its line if it is alone there.

use super::error::{TemplateError, broken};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Mustache,
    Handlebars,
}

pub(super) enum TemplatePiece<'t> {
    Text(&'t str),
    Tag(TemplateTag<'t>),
}

#[derive(Clone, Copy)]
pub(super) struct TemplateTag<'t> {
    /// The character that tells the kind of the tag, if there is one.
    pub(super) sigil: Option<char>,
    /// The text after it.
    pub(super) body: &'t str,
    /// Position of the tag.
    pub(super) at: usize,
    trims_before: bool,
    trims_after: bool,
}

pub(super) fn pieces(
    text: &str,
    dialect: Dialect,
) -> Result<Vec<TemplatePiece<'_>>, TemplateError> {
    let mut scan = TagScanner { text, dialect, open: "{{", close: "}}", at: 0, found: Vec::new() };
    while scan.step()? {}
    let cuts = cuts(&scan.found, dialect);
    let pieces = scan.found.into_iter().zip(cuts).map(|(piece, (from, to))| match piece {
        TemplatePiece::Text(text) => TemplatePiece::Text(text.get(from..to).unwrap_or_default()),
        tag => tag,
    });
    Ok(pieces.collect())
}

struct TagScanner<'t> {
    text: &'t str,
    dialect: Dialect,
    open: &'t str,
    close: &'t str,
    at: usize,
    found: Vec<TemplatePiece<'t>>,
}

impl<'t> TagScanner<'t> {
    /// Consumes the text up to the next tag, and the tag; `false` at the end.
    fn step(&mut self) -> Result<bool, TemplateError> {
        let rest = &self.text[self.at..];
        let Some(start) = rest.find(self.open) else {
            self.text_piece(rest);
            return Ok(false);
        };
        let before = &rest[..start];
        let tag_at = self.at + start;
        let inner_at = tag_at + self.open.len();
        match before.strip_suffix('\\').filter(|_| self.dialect == Dialect::Handlebars) {
            // One backslash escapes the tag; of two, the first escapes the second.
            Some(before) if !before.ends_with('\\') => {
                self.text_piece(before);
                self.text_piece(self.open);
                self.at = inner_at;
                return Ok(true);
            }
            escaped => self.text_piece(escaped.unwrap_or(before)),
        }
        self.tag(tag_at, inner_at)?;
        Ok(true)
    }

    fn text_piece(&mut self, text: &'t str) {
        if !text.is_empty() {
            self.found.push(TemplatePiece::Text(text));
        }
    }

    fn tag(&mut self, at: usize, inner_at: usize) -> Result<(), TemplateError> {
        let handlebars = self.dialect == Dialect::Handlebars;
        let inner = &self.text[inner_at..];
        let trimmed = inner.strip_prefix('~').filter(|_| handlebars);
        let trims_before = trimmed.is_some();
        let inner = trimmed.unwrap_or(inner);
        let sigil = inner.chars().next().filter(|c| "#^/!>&{=*".contains(*c));
        let mark = match sigil {
            Some('{') => "}",
            Some('!') if handlebars && inner.starts_with("!--") => "--",
            Some('=') if !handlebars => "=",
            _ => "",
        };
        let inner = &inner[sigil.map_or(0, char::len_utf8)..];
        let (end, trims_after) = self
            .end_of_tag(inner, mark)
            .ok_or_else(|| broken(self.text, at, "a tag is not closed"))?;
        let body = inner[..end].trim();
        let close = mark.len() + usize::from(trims_after) + self.close.len();
        self.at = self.text.len() - inner.len() + end + close;
        if sigil == Some('=') && !handlebars {
            self.set_delimiters(body, at)?;
        }
        self.found.push(TemplatePiece::Tag(TemplateTag {
            sigil,
            body,
            at,
            trims_before,
            trims_after,
        }));
        Ok(())
    }

    /// The end of the body of a tag that is closed by this mark and the delimiter, and whether a `~` is between them.
    fn end_of_tag(&self, inner: &str, mark: &str) -> Option<(usize, bool)> {
        let tilde = self.dialect == Dialect::Handlebars;
        if mark.is_empty() {
            let end = inner.find(self.close)?;
            return match inner[..end].strip_suffix('~').filter(|_| tilde) {
                Some(body) => Some((body.len(), true)),
                None => Some((end, false)),
            };
        }
        let mut from = 0;
        loop {
            let end = from + inner.get(from..)?.find(mark)?;
            let after = &inner[end + mark.len()..];
            if after.starts_with(self.close) {
                return Some((end, false));
            }
            if tilde && after.strip_prefix('~').is_some_and(|after| after.starts_with(self.close)) {
                return Some((end, true));
            }
            from = end + 1;
        }
    }

    fn set_delimiters(&mut self, body: &'t str, at: usize) -> Result<(), TemplateError> {
        let mut words = body.split_whitespace();
        match (words.next(), words.next(), words.next()) {
            (Some(open), Some(close), None) if !body.contains('=') => {
                (self.open, self.close) = (open, close);
                Ok(())
            }
            _ => Err(broken(self.text, at, "the delimiters are not two words")),
        }
    }
}

/// The remaining range of each text.
fn cuts(pieces: &[TemplatePiece<'_>], dialect: Dialect) -> Vec<(usize, usize)> {
    let text = |at: usize| match pieces.get(at) {
        Some(TemplatePiece::Text(text)) => *text,
        _ => "",
    };
    let mut cuts: Vec<(usize, usize)> = (0..pieces.len()).map(|at| (0, text(at).len())).collect();
    for (at, piece) in pieces.iter().enumerate() {
        let TemplatePiece::Tag(tag) = piece else { continue };
        let (before, after) = (text(at.wrapping_sub(1)), text(at + 1));
        let (mut to, mut from) = (before.len(), 0);
        if tag.may_stand_alone(dialect)
            && let Some(line_start) = line_start(pieces, at)
            && let Some(line_end) = line_end(pieces, at)
        {
            (to, from) = (line_start, line_end);
        }
        if tag.trims_before {
            to = to.min(before.trim_end().len());
        }
        if tag.trims_after {
            from = from.max(after.len() - after.trim_start().len());
        }
        if let Some(cut) = cuts.get_mut(at.wrapping_sub(1)) {
            cut.1 = cut.1.min(to);
        }
        if let Some(cut) = cuts.get_mut(at + 1) {
            cut.0 = cut.0.max(from);
        }
    }
    cuts
}

impl TemplateTag<'_> {
    fn may_stand_alone(&self, dialect: Dialect) -> bool {
        match self.sigil {
            Some(sigil) => "#^/!=".contains(sigil),
            None => dialect == Dialect::Handlebars && is_else(self.body),
        }
    }
}

/// Whether the tag starts another branch of its block.
pub(super) fn is_else(body: &str) -> bool {
    body.strip_prefix("else").is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\n']))
}

/// The start of this tag's line in the text before it, if only blanks are in between.
fn line_start(pieces: &[TemplatePiece<'_>], at: usize) -> Option<usize> {
    match at.checked_sub(1).and_then(|before| pieces.get(before)) {
        None => Some(0),
        Some(TemplatePiece::Tag(_)) => None,
        Some(TemplatePiece::Text(text)) => {
            let start = text.rfind('\n').map(|end| end + 1);
            let start = start.or_else(|| (at == 1).then_some(0))?;
            is_blank(&text[start..]).then_some(start)
        }
    }
}

/// The end of this tag's line in the text behind it, if only blanks are in between.
fn line_end(pieces: &[TemplatePiece<'_>], at: usize) -> Option<usize> {
    match pieces.get(at + 1) {
        None => Some(0),
        Some(TemplatePiece::Tag(_)) => None,
        Some(TemplatePiece::Text(text)) => {
            let end = text.find('\n').map(|end| end + 1);
            let end = end.or_else(|| (at + 2 == pieces.len()).then_some(text.len()))?;
            is_blank(text[..end].trim_end_matches(['\r', '\n'])).then_some(end)
        }
    }
}

fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' ' | b'\t'))
}
