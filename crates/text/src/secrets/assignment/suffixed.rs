//! Environment variables whose name continues after `TOKEN`, `PASSWORD` and the like: `API_TOKEN_STAGING`,
//! `DB_PASS_PROD`, `TF_TOKEN_app_terraform_io`.

use std::ops::Range;

use super::super::bytes::{in_name, span, span_back};
use super::super::judge::{is_made_up, is_placeholder};
use super::read;
use super::vocabulary::OPEN_ENDS;

/// Minimum length of such a value, in characters.
const SHORTEST: usize = 8;

/// The value assigned to such a variable. It has to look like a chosen password, because most settings about a secret
/// are named so too.
pub(in super::super) fn suffixed_value(text: &[u8], at: &Range<usize>) -> Option<Range<usize>> {
    let suffix = text.get(at.end..)?.strip_prefix(b"_")?;
    let start = at.start - span_back(text, at.start, 40, in_name);
    let end = at.end + span(text, at.end, 40, in_name);
    let capitals = !text[start..at.end].iter().any(u8::is_ascii_lowercase);
    let whole_word = at.start == start || text[at.start - 1] == b'_';
    if !capitals || !whole_word || text.get(end) != Some(&b'=') {
        return None;
    }
    let suffix = &suffix[..end - at.end - 1];
    let last = suffix.rsplit(|byte| *byte == b'_').next().unwrap_or_default();
    if OPEN_ENDS.iter().any(|open| last.eq_ignore_ascii_case(open.as_bytes())) {
        return None;
    }
    let value = read(text, start..end).filter(|value| value.bare || value.quoted)?.range;
    let bytes = &text[value.clone()];
    (bytes.len() >= SHORTEST && is_made_up(bytes) && !is_placeholder(bytes)).then_some(value)
}
