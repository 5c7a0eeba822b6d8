//! SHA-256, and what it is for here: to tell contents apart that are not kept.

use std::fmt::Write as _;

use model::limits;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::guard::cut;

/// The digest in hex.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a text cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// The first 16 digits of the digest: enough to see that a content is the same as another.
pub(crate) fn fingerprint(bytes: &[u8]) -> String {
    let mut digest = sha256(bytes);
    digest.truncate(16);
    digest
}

/// Replaces each long text in an event by `{"bytes", "sha256", "head", "tail"}`, which
/// [`extract`](crate::extract) takes wherever it takes a text. It is for events that are too large to be
/// handed on as they are.
pub fn shorten(payload: &mut Value) {
    match payload {
        Value::String(text) if text.len() > limits::EVENT_TEXT_BYTES_MAX => {
            *payload = json!({
                "bytes": text.len(),
                "sha256": sha256(text.as_bytes()),
                "head": cut(text, limits::EVENT_TEXT_HEAD_BYTES),
                "tail": &text[text.ceil_char_boundary(text.len() - limits::EVENT_TEXT_HEAD_BYTES)..],
            });
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        Value::Object(members) => members.values_mut().for_each(shorten),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_standard() {
        let table = [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        ];
        for (text, digest) in table {
            assert_eq!(sha256(text.as_bytes()), digest, "{text:?}");
        }
    }
}
