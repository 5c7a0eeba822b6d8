//! Generates values that resemble the input from agents, people and clients: texts, JSON, shell lines, secrets.

use serde_json::{Map, Value, json};

use crate::dice::Dice;

/// Every planted secret contains this text, so that one search finds a leaked one. No other input contains it.
pub(crate) const PLANTED: &str = "Qz7vK3xW9mR2t";

/// Pieces of texts: words, code, markup, operators, and characters that act instead of showing.
#[rustfmt::skip]
const TEXTS: &[&str] = &[
    "a", "the", "build", "fix", "auth", "docker", "compose", "naïve", "Straße", "日本語", "한국어", "ไทย", "😀",
    " ", " ", " ", "  ", "\n", "\r\n", "\t", "\0", "\u{1b}[31m", "\u{9b}", "\u{85}", "\u{2028}", "\u{202e}",
    "\u{2066}", "\u{200b}", "\u{feff}", "\u{e0041}", "\u{fffd}", "\u{301}", "/", "..", "./", "~", "-", "--",
    "_", "=", ":", ";", "&&", "|", ">", "<", "$(", "`", ")", "(", "[", "]", "{", "}", "\"", "'", "\\", "*",
    "**/", "?", "!", "@", "#", "%", "^", "+", "AND", "OR", "NOT", "NEAR(", "NEAR/3", "\"exact phrase\"",
    "prefix*", "a_b::c", "src/main.rs", "crates/store/src/lib.rs:42", "E0308", "TypeError", "<private>",
    "</private>", "<system-reminder>", "</memory>", "<!--", "```", "~~~", "![x](http://a/b)",
    "git commit -m ", "git push ", "[main 1a2b3c4] x", "To https://a:b@c/d\n", "Exit code 1\n",
    "*** Begin Patch\n", "*** Update File: ", "+++ b/x\n", "@@ -1 +1 @@", "apply_patch <<'EOF'\n",
    "password", "token", "secret=", "Authorization: Bearer ", "://", "[redacted:", "9999999999999999999999",
    " 9 files changed, 99999999999999999999 insertions(+)", "1a2b3c4d5e6f", "2026-01-01T00:00:00Z", "-1",
    "0", "1e9",
];

/// Names of members in payloads and parameters.
#[rustfmt::skip]
const NAMES: &[&str] = &[
    "session_id", "cwd", "hook_event_name", "tool_name", "tool_input", "tool_response", "tool_use_id",
    "prompt", "prompt_id", "error", "source", "reason", "command", "file_path", "content", "old_string",
    "new_string", "edits", "pattern", "path", "questions", "stdout", "stderr", "exit_code", "metadata",
    "message", "llmContent", "text", "isError", "name", "input", "description", "url", "query", "id",
    "params", "method", "jsonrpc", "rekindle", "_meta", "limit", "offset", "project", "a", "",
];

/// A text of a few pieces; now and then a long one.
pub(crate) fn text(dice: &mut Dice) -> String {
    let count = if dice.one_in(100) { dice.below(1_000) } else { dice.few(24) };
    (0..count).map(|_| *dice.pick(TEXTS)).collect()
}

/// A text like those of [`text`], in which a secret may be planted between spaces.
pub(crate) fn text_with_secret(dice: &mut Dice) -> String {
    match dice.one_in(6) {
        true => format!("{} {} {}", text(dice), secret(dice), text(dice)),
        false => text(dice),
    }
}

/// Any JSON of at most this depth.
pub(crate) fn value(dice: &mut Dice, depth: usize) -> Value {
    match dice.below(if depth == 0 { 6 } else { 9 }) {
        0 => Value::Null,
        1 => Value::Bool(dice.one_in(2)),
        2 => number(dice),
        3..=5 => text_with_secret(dice).into(),
        6 => (0..dice.few(6)).map(|_| value(dice, depth - 1)).collect(),
        _ => Value::Object(members(dice, depth - 1)),
    }
}

pub(crate) fn members(dice: &mut Dice, depth: usize) -> Map<String, Value> {
    (0..dice.few(8)).map(|_| ((*dice.pick(NAMES)).to_owned(), value(dice, depth))).collect()
}

fn number(dice: &mut Dice) -> Value {
    match dice.below(8) {
        0 => json!(0),
        1 => json!(-1),
        2 => json!(i64::MIN),
        3 => json!(u64::MAX),
        4 => json!(1e308),
        5 => json!(0.1),
        _ => json!(dice.few(100_000)),
    }
}

/// Changes members of a well-formed object: other values, other names, members missing or added.
pub(crate) fn distort(dice: &mut Dice, payload: &mut Value) {
    let Value::Object(members) = payload else { return };
    for _ in 0..=dice.few(3) {
        let names: Vec<String> = members.keys().cloned().collect();
        if names.is_empty() {
            return;
        }
        let name = dice.pick(&names).clone();
        match dice.below(6) {
            0 => drop(members.remove(&name)),
            1 => drop(members.insert((*dice.pick(NAMES)).to_owned(), value(dice, 3))),
            2 => drop(members.insert(name, value(dice, 4))),
            3 => drop(members.insert(name, text_with_secret(dice).into())),
            _ => {
                if let Some(inner) = members.get_mut(&name) {
                    distort(dice, inner);
                }
            }
        }
    }
}

/// A credential of a shape that the guard recognises in any context, with [`PLANTED`] in it.
pub(crate) fn secret(dice: &mut Dice) -> String {
    // Without `x`, because a run of x is a common placeholder and not redacted.
    const ALPHABET: &[u8] = b"abcdefghjkmnpqrstuvwyzABCDEFGHJKMNPQRSTUVWYZ23456789";
    let mut tail = |length: usize| -> String {
        (0..length).map(|_| char::from(*dice.pick(ALPHABET))).collect()
    };
    let (short, long) = (tail(23), tail(80));
    match dice.below(6) {
        0 => format!("ghp_{PLANTED}{short}"),
        1 => format!("gho_{PLANTED}{short}"),
        2 => format!("glpat-{PLANTED}{}", &short[..7]),
        3 => format!("sk-ant-api03-{PLANTED}{long}-{}AA", &short[..8]),
        4 => format!("Authorization: Bearer {PLANTED}{short}"),
        _ => format!("https://user:{PLANTED}{short}@example.com/"),
    }
}

/// Replaces [`PLANTED`] everywhere in the input, also in secrets that a mutation damaged. The rest of a secret
/// stays.
pub(crate) fn without_secrets(input: &[u8]) -> Vec<u8> {
    let mut rest = input.to_vec();
    while let Some(at) = rest.windows(PLANTED.len()).position(|part| part == PLANTED.as_bytes()) {
        rest.splice(at..at + PLANTED.len(), *b"planted");
    }
    rest
}

/// The first planted secret in a text, or the rest of it.
pub(crate) fn leaked(text: &str) -> Option<String> {
    let at = text.find(PLANTED)?;
    let start = text.floor_char_boundary(at.saturating_sub(40));
    let end = text.floor_char_boundary((at + 60).min(text.len()));
    text.get(start..end).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_planted_secret_contains_the_leak_marker() {
        for number in 0..100 {
            let mut dice = Dice::of_case("secret", 1, number);
            assert!(leaked(&secret(&mut dice)).is_some());
        }
        assert_eq!(leaked("nothing here"), None);
    }
}
