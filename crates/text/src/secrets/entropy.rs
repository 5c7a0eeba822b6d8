//! Rules of a single profile: long random words in captured text, and long hex in declared text. Both match a lot, so
//! most of this is about exceptions.

use std::ops::Range;

use super::bytes::span;
use super::judge::{
    contains_any, entropy, is_hex_or_uuid, is_joined_name, mixes_letters_and_digits, readable_share,
};

/// Bits for each character from which a word counts as random.
const BITS: f64 = 4.0;
/// Characters of the shortest word that is checked.
const SHORTEST: usize = 20;
/// A longer word is a file in base64, not a secret.
const LONGEST: usize = 4096;
/// A word of which more than this share can be read is a name, not a secret.
const READABLE: f64 = 0.45;

/// How long a certificate or public key may be. A private key is found by its own rule.
const BLOCK: usize = 8192;

/// Prefixes of ids that agents and models give to their calls, and of mangled names: nearly every
/// event has some, and they are not secret.
const IDS: [&str; 18] = [
    "0x",
    "toolu_",
    "srvtoolu_",
    "msg_",
    "req_",
    "call_",
    "chatcmpl-",
    "resp_",
    "rs_",
    "fc_",
    "run_",
    "thread_",
    "session_",
    "agent-",
    "_ZN",
    "_R",
    "_Z",
    "bafy",
];

/// How public things in base64 begin: keys for SSH, pictures, fonts, archives.
const PUBLIC_BASE64: [&str; 14] = [
    "AAAAB3NzaC1",
    "AAAAC3NzaC1",
    "AAAAE2VjZHNh",
    "iVBORw0KGgo",
    "/9j/4",
    "R0lGOD",
    "UklGR",
    "PHN2Zy",
    "PD94bW",
    "d09GM",
    "d09GR",
    "H4sIA",
    "UEsDB",
    "AGFzbQ",
];

/// Prefixes of a digest or embedded data.
const INTRODUCTIONS: [&str; 12] = [
    "base64,", "sha1-", "sha256-", "sha384-", "sha512-", "sha1:", "sha256:", "sha384:", "sha512:",
    "h1:", "md5:", "md5-",
];

/// Calls `found` with every long random word until it returns `false`.
pub(super) fn random_words(text: &[u8], found: &mut dyn FnMut(Range<usize>) -> bool) -> bool {
    let mut at = 0;
    let mut public_until = 0;
    while at < text.len() {
        let length = span(text, at, usize::MAX, in_token);
        let padding = span(text, at + length, 2, |byte| *byte == b'=');
        let range = at..at + length + padding;
        at = range.end.max(at + 1);
        match &text[range.clone()] {
            b"-----BEGIN" => public_until = range.end + BLOCK,
            b"-----END" => public_until = 0,
            _ => {}
        }
        let looked_at = length >= SHORTEST && range.start >= public_until;
        if !looked_at {
            continue;
        }
        if is_random(text, &range) {
            if !found(range) {
                return false;
            }
        } else if !random_parts(text, &range).into_iter().all(&mut *found) {
            return false;
        }
    }
    true
}

/// The parts of a path that are random words by themselves, even if the rest of the path is readable.
/// Directories that tools create have random names in lower case, so a part needs letters of both
/// cases. A part with a dot after it is the name of a file.
fn random_parts(text: &[u8], range: &Range<usize>) -> Vec<Range<usize>> {
    let word = &text[range.clone()];
    if word.len() > LONGEST || !word.contains(&b'/') || is_public_as_a_whole(text, range) {
        return Vec::new();
    }
    let mut start = range.start;
    let parts = word.split(|byte| *byte == b'/').map(|part| {
        let range = start..start + part.len();
        start = range.end + 1;
        range
    });
    let is_secret = |range: &Range<usize>| {
        let part = &text[range.clone()];
        part.len() >= SHORTEST
            && part.iter().any(u8::is_ascii_uppercase)
            && part.iter().any(u8::is_ascii_lowercase)
            && text.get(range.end) != Some(&b'.')
            && is_random(text, range)
    };
    parts.filter(is_secret).collect()
}

fn in_token(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'_' | b'-')
}

fn is_random(text: &[u8], range: &Range<usize>) -> bool {
    let word = &text[range.clone()];
    if word.len() > LONGEST
        || !mixes_letters_and_digits(word)
        || is_hex_or_uuid(word)
        || is_joined_name(word)
    {
        return false;
    }
    if entropy(word) < BITS || readable_share(word) > READABLE {
        return false;
    }
    !is_known_to_be_public(text, range)
}

fn is_known_to_be_public(text: &[u8], range: &Range<usize>) -> bool {
    is_public_as_a_whole(text, range) || is_file(text, range)
}

fn is_public_as_a_whole(text: &[u8], range: &Range<usize>) -> bool {
    let word = &text[range.clone()];
    let before = &text[range.start.saturating_sub(200)..range.start];
    let introduced = INTRODUCTIONS.iter().any(|word_before| {
        let word_before = word_before.as_bytes();
        let tail = &before[before.len().saturating_sub(word_before.len())..];
        tail.eq_ignore_ascii_case(word_before)
            || word
                .get(..word_before.len())
                .is_some_and(|head| head.eq_ignore_ascii_case(word_before))
    });
    let begins = |list: &[&str]| list.iter().any(|prefix| word.starts_with(prefix.as_bytes()));
    introduced
        || begins(&IDS)
        || begins(&PUBLIC_BASE64)
        || is_ulid(word)
        || in_address(before)
        || contains_any(word, &["abcdefghij", "qwertyuiop", "0123456789"])
}

/// Whether the text before a word ends with a part of a URL that has no `=`. Only the query of a URL
/// can have a secret, so words after a `=` are checked.
fn in_address(before: &[u8]) -> bool {
    let start = before
        .iter()
        .rposition(|byte| !byte.is_ascii_graphic() || b"\"'`<>(){}|\\^".contains(byte));
    let address = &before[start.map_or(0, |start| start + 1)..];
    let scheme = address.windows(3).position(|window| window == b"://");
    scheme.is_some_and(|at| !address[at..].contains(&b'='))
}

/// Whether the word is a path of which some part can be read, or ends like the name of a file.
fn is_file(text: &[u8], range: &Range<usize>) -> bool {
    let word = &text[range.clone()];
    let rooted = word.starts_with(b"/")
        || text[..range.start].ends_with(b".")
        || text[..range.start].ends_with(b"~");
    let mut parts = word.split(|byte| *byte == b'/');
    let readable =
        parts.clone().filter(|part| part.len() > 2 && readable_share(part) > READABLE).count();
    let several = word.contains(&b'/') && readable >= 2;
    let ending = span(text, range.end + 1, 6, u8::is_ascii_alphanumeric);
    let named = text.get(range.end) == Some(&b'.')
        && (1..=5).contains(&ending)
        && text.get(range.end + 1).is_some_and(u8::is_ascii_lowercase);
    several || (rooted && readable >= 1) || (named && parts.any(|part| readable_share(part) > 0.25))
}

fn is_ulid(word: &[u8]) -> bool {
    let crockford =
        |byte: &u8| byte.is_ascii_digit() || (byte.is_ascii_uppercase() && !b"ILOU".contains(byte));
    word.len() == 26 && (b'0'..=b'7').contains(&word[0]) && word.iter().all(crockford)
}

/// Calls `found` with every run of 32 to 64 hex digits until it returns `false`. Not reported are a UUID with
/// dashes (its parts are shorter), a UUID without (32 digits in lower case) and a commit hash (40 digits in
/// lower case).
pub(super) fn long_hex(text: &[u8], found: &mut dyn FnMut(Range<usize>) -> bool) -> bool {
    let mut at = 0;
    while at < text.len() {
        let length =
            span(text, at, usize::MAX, |byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        let mut range = at..at + length;
        at += length + 1;
        if text[range.clone()].starts_with(b"0x") {
            range.start += 2;
        }
        let word = &text[range.clone()];
        let hex = (32..=64).contains(&word.len()) && word.iter().all(u8::is_ascii_hexdigit);
        let small = !word.iter().any(u8::is_ascii_uppercase);
        if hex && !(small && matches!(word.len(), 32 | 40)) && !found(range) {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        let mut words = Vec::new();
        random_words(text.as_bytes(), &mut |range| {
            words.push(&text[range]);
            true
        });
        words
    }

    fn hex(text: &str) -> usize {
        let mut count = 0;
        long_hex(text.as_bytes(), &mut |_| {
            count += 1;
            true
        });
        count
    }

    #[test]
    fn long_hex_is_refused_but_for_uuids_and_commits() {
        let a = |length: usize| "a1".repeat(length / 2);
        for refused in
            [a(34), a(64), a(32).to_uppercase(), a(40).to_uppercase(), format!("0x{}", a(64))]
        {
            assert_eq!(hex(&refused), 1, "{refused}");
        }
        let uuid = "550e8400-e29b-41d4-a716-446655440000";
        for passed in [a(30), a(32), a(40), a(66), uuid.to_owned(), format!("z{}", a(64))] {
            assert_eq!(hex(&passed), 0, "{passed}");
        }
    }

    #[test]
    fn a_random_word_is_found_and_the_same_in_a_public_place_is_not() {
        let word = concat!("q9Zt3kX7mB2vLp", "8RwN4cYd6HgQ1sT5");
        assert_eq!(words(&format!("see {word} there")), [word]);
        for place in
            ["sha512-", "data:image/webp;base64,", "https://example.com/d/", "toolu_", "SHA256:"]
        {
            assert_eq!(words(&format!("see {place}{word} there")), [""; 0], "{place}");
        }
        for path in ["/home/me/keys/", "/src/components/", "~/notes/of/"] {
            assert_eq!(words(&format!("{path}{word}")), [word], "{path}");
            assert_eq!(words(&format!("{path}{word}/login")), [word], "{path}");
            assert_eq!(words(&format!("{path}{word}.rs")), [""; 0], "{path}");
        }
        let folder = format!("/nix/store/{}-glibc", word.to_lowercase());
        assert_eq!(words(&folder), [""; 0]);
        let certificate =
            format!("-----BEGIN CERTIFICATE-----\n{word}\n-----END CERTIFICATE-----\n{word}");
        assert_eq!(words(&certificate), [word]);
    }
}
