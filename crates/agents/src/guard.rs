//! What was captured on its way to what is kept: cut to a generous bound, through the secret guard, and
//! only then to the bound of its place, so that a secret that is cut in half is still recognised.

use model::limits;
use serde_json::{Map, Value};
use text::secrets::{Profile, Redacted, find, redact, redact_json};

use crate::digest;

/// The first bytes of a text, at a character's end.
pub(crate) fn cut(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// The first bytes of a text that are looked at.
pub(crate) fn looked_at(text: &str) -> &str {
    cut(text, limits::CAPTURED_BYTES_MAX)
}

/// The whole text as far as it is looked at.
pub(crate) fn safe(text: &str) -> Redacted<String> {
    redact(looked_at(text), Profile::Strict)
}

/// The first characters of the text.
pub(crate) fn head(text: &str, max_chars: usize) -> Redacted<String> {
    safe(text).head(max_chars)
}

/// The text as one line.
pub(crate) fn line(text: &str, max_chars: usize) -> Redacted<String> {
    safe(text).line(max_chars)
}

/// An object of metadata.
pub(crate) fn members(members: Map<String, Value>) -> Redacted<Value> {
    redact_json(Value::Object(members), Profile::Strict)
}

/// The last bytes of a text, as far as they are looked at.
pub(crate) fn safe_end(text: &str) -> Redacted<String> {
    let from = text.ceil_char_boundary(text.len().saturating_sub(limits::CAPTURED_BYTES_MAX));
    redact(&text[from..], Profile::Strict)
}

/// An id or a name. It has to stay the same for the same thing, so a long random word is left alone;
/// one of a known secret's shape is replaced by its fingerprint.
pub(crate) fn name(name: &str) -> String {
    let looked_at = cut(name, 2 * limits::HOOK_NAME_BYTES_MAX);
    let known = |rule: &str| rule != "long-hex";
    if find(looked_at, Profile::Declared).iter().any(|finding| known(finding.rule)) {
        return format!("redacted-{}", digest::fingerprint(name.as_bytes()));
    }
    looked_at.to_owned()
}

/// An id that is worth less than its event: one that is too long or holds what acts on a terminal is
/// shortened, and stays the same for the same thing by its fingerprint.
pub(crate) fn id(id: &str) -> String {
    let safe = name(id);
    if id.len() <= limits::HOOK_NAME_BYTES_MAX && !id.chars().any(char::is_control) {
        return safe;
    }
    let head = cut(&safe, limits::HOOK_NAME_BYTES_MAX / 2).chars().filter(|c| !c.is_control());
    format!("{}-{}", head.collect::<String>(), digest::fingerprint(id.as_bytes()))
}
