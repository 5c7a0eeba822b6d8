//! Entries: stored items with a path such as `hint://component/key`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Code, OpError};

/// A path in the one address space, split into scheme and rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryPath {
    pub scheme: String,
    /// Segments after `://`, percent-decoded.
    pub segments: Vec<String>,
}

impl EntryPath {
    /// Reads a path, or the id of a record as our tables print it: `#24`, or `24`.
    pub fn parse_or_id(text: &str) -> Result<EntryPath, OpError> {
        let id = text.strip_prefix('#').unwrap_or(text);
        match !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()) {
            true => Ok(EntryPath { scheme: "obs".to_owned(), segments: vec![id.to_owned()] }),
            false => EntryPath::parse(text),
        }
    }

    /// Reads `scheme://segment/segment` and decodes each segment once. `.` and `..` are names like any other: a path is
    /// not resolved, and its scheme refuses names that it does not allow.
    pub fn parse(text: &str) -> Result<EntryPath, OpError> {
        let bad = |why: &str| {
            OpError::new(Code::Invalid, format!("not an entry path: {why}"))
                .with("param", "path")
                .hint("Write it as scheme://part/part, for example hint://http-proxy/build.")
        };
        let (scheme, rest) = text.split_once("://").ok_or_else(|| bad("no scheme"))?;
        if scheme.is_empty() || !scheme.bytes().all(|b| b.is_ascii_lowercase() || b == b'-') {
            return Err(bad("the scheme has other characters than lower-case letters and '-'"));
        }
        let mut segments = Vec::new();
        for segment in rest.split('/') {
            let bytes = decoded_bytes(segment)
                .ok_or_else(|| bad("a % is not followed by two hex digits"))?;
            let segment = String::from_utf8(bytes)
                .map_err(|_| bad("the decoded bytes of a part are not UTF-8"))?;
            if segment.is_empty() {
                return Err(bad("a part is empty"));
            }
            segments.push(segment);
        }
        Ok(EntryPath { scheme: scheme.to_owned(), segments })
    }

    /// The path of these segments, percent-encoded where needed.
    pub fn format(scheme: &str, segments: &[&str]) -> String {
        let encoded: Vec<String> = segments.iter().map(|segment| encode(segment)).collect();
        format!("{scheme}://{}", encoded.join("/"))
    }
}

fn encode(segment: &str) -> String {
    let mut out = String::with_capacity(segment.len());
    for byte in segment.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// Decodes percent-encoding; `None` if it is malformed or not UTF-8.
pub fn decode(segment: &str) -> Option<String> {
    String::from_utf8(decoded_bytes(segment)?).ok()
}

/// Decodes percent-encoding; `None` if a `%` is not followed by two hex digits.
fn decoded_bytes(segment: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(segment.len());
    let mut bytes = segment.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let high = char::from(bytes.next()?).to_digit(16)?;
            let low = char::from(bytes.next()?).to_digit(16)?;
            out.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            out.push(byte);
        }
    }
    Some(out)
}

/// One entry with its body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Entry {
    /// Path of the entry.
    pub path: String,
    /// The text of the entry.
    pub body: String,
    /// Media type of the body.
    pub media_type: String,
    /// Facts that the scheme knows besides the body.
    #[serde(default)]
    pub attributes: serde_json::Map<String, serde_json::Value>,
}

/// One line of a listing of entries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EntryLine {
    /// Path of the entry.
    pub path: String,
    /// Summary of the entry in one line.
    pub summary: String,
    /// Media type of the body.
    pub media_type: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_survives_the_path() {
        for name in
            ["build", "a/b", "../..", ".", "..", "ünï cödé", "100%", "%2F", "a?b#c", " ", "*"]
        {
            let text = EntryPath::format("hint", &["web", name]);
            let path = EntryPath::parse(&text).unwrap();
            assert_eq!(path.segments, ["web", name], "{text}");
        }
    }

    #[test]
    fn empty_parts_and_broken_escapes_are_refused() {
        for text in [
            "hint://a/",
            "hint:///b",
            "nothing",
            "HINT://a/b",
            "hint://a/%zz",
            "hint://%ff/x",
            "://a",
        ] {
            assert!(EntryPath::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_error_says_what_is_wrong_with_an_escape() {
        for (text, why) in [
            ("session://%ff", "the decoded bytes of a part are not UTF-8"),
            ("session://%c3", "the decoded bytes of a part are not UTF-8"),
            ("session://%zz", "a % is not followed by two hex digits"),
            ("session://a%", "a % is not followed by two hex digits"),
        ] {
            let error = EntryPath::parse(text).unwrap_err();
            assert!(error.message.ends_with(why), "{text}: {error:?}");
        }
    }
}
