//! Classifies a piece of text: a word, a name, a placeholder, or random characters. The callers choose the pieces.

/// For each letter those that often follow it in words and names.
const FOLLOWERS: [&str; 26] = [
    "bcdfgiklmnprstuvwxy",
    "aeiloruy",
    "acehiklortuy",
    "adeiosuy",
    "acdefglmnpqrstvwxy",
    "aefilortu",
    "aehilnoru",
    "aeiotu",
    "abcdefglmnoprstvxz",
    "aeou",
    "aei",
    "abdefilostuy",
    "abeiopsu",
    "acdefgiklnostuv",
    "abcdfiklmnoprstuvwx",
    "aehiloprstuy",
    "u",
    "acdegikmnorstuvy",
    "acehikilmopqstuwy",
    "acehiloprstuwy",
    "abcdegilmnprst",
    "aeio",
    "aehior",
    "aceipt",
    "epst",
    "aeio",
];

/// Bits for each byte, by Shannon's measure.
pub(super) fn entropy(bytes: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    for byte in bytes {
        counts[usize::from(*byte)] += 1;
    }
    let total = bytes.len() as f64;
    let seen = counts.iter().filter(|count| **count > 0).map(|count| f64::from(*count) / total);
    seen.map(|share| -share * share.log2()).sum()
}

/// The share of the letters that belong to pronounceable words: 1 for a name or a path, close to 0
/// for a random string. Digits and hex ids next to words are not counted.
pub(super) fn readable_share(bytes: &[u8]) -> f64 {
    let mut readable = 0;
    let mut total = 0;
    let parts = bytes.split(|byte| !byte.is_ascii_alphanumeric());
    for part in parts.filter(|part| part.len() < 8 || !is_hex_or_uuid(part)) {
        for piece in pieces(part) {
            total += piece.len();
            if is_word(piece) {
                readable += piece.len();
            }
        }
    }
    if total == 0 { 1.0 } else { f64::from(readable as u32) / f64::from(total as u32) }
}

/// Splits an identifier into its words, without digits: at digits, where a capital follows a small letter, and
/// before the last of several capitals that a small letter follows (`HTTPServer` is `HTTP`, `Server`).
fn pieces(part: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = part;
    std::iter::from_fn(move || {
        let start = rest.iter().position(u8::is_ascii_alphabetic)?;
        rest = &rest[start..];
        let capitals = rest.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
        let small = rest[capitals..].iter().take_while(|byte| byte.is_ascii_lowercase()).count();
        let end = match (capitals, small) {
            (0 | 1, small) => capitals + small,
            (capitals, 0) => capitals,
            (capitals, _) => capitals - 1,
        };
        let piece = &rest[..end];
        rest = &rest[end..];
        Some(piece)
    })
}

/// Whether this is a name of three parts or more, each short and in one case but for its first
/// letter: `_mm512_mask_epi16`, `impl-Sync-for-uint64`.
pub(super) fn is_joined_name(bytes: &[u8]) -> bool {
    let mut parts =
        bytes.split(|byte| matches!(byte, b'_' | b'-' | b'=')).filter(|part| !part.is_empty());
    let short = |part: &[u8]| {
        let capitals = part.iter().filter(|byte| byte.is_ascii_uppercase()).count();
        let small = part.iter().filter(|byte| byte.is_ascii_lowercase()).count();
        let one_case =
            capitals == 0 || small == 0 || (capitals == 1 && part[0].is_ascii_uppercase());
        part.len() <= 12 && one_case && part.iter().all(u8::is_ascii_alphanumeric)
    };
    parts.clone().count() >= 3 && parts.all(short)
}

/// Whether three letters or more follow each other as they do in words.
fn is_word(part: &[u8]) -> bool {
    if part.len() < 3 {
        return false;
    }
    let usual = part.windows(2).filter(|pair| {
        let first = usize::from(pair[0].to_ascii_lowercase() - b'a');
        let second = pair[1].to_ascii_lowercase();
        pair[0].eq_ignore_ascii_case(&pair[1])
            || FOLLOWERS.get(first).is_some_and(|followers| followers.as_bytes().contains(&second))
    });
    let (usual, pairs) = (usual.count(), part.len() - 1);
    // Longer words may have more pairs of their own.
    if pairs < 4 { usual * 4 >= pairs * 3 } else { usual * 3 >= pairs * 2 }
}

/// Whether the bytes are an identifier of some language without a digit, with or without dashes.
pub(super) fn is_plain_name(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-' | b'.'))
}

/// Whether this is a placeholder for a secret: a variable, a template, a mask, a path, or one of the words that
/// people write in examples.
pub(super) fn is_placeholder(bytes: &[u8]) -> bool {
    let Some((first, last)) = bytes.first().zip(bytes.last()) else { return true };
    if has_secret_tail(bytes) {
        return false;
    }
    let second = bytes.get(1).copied().unwrap_or_default();
    let masked = bytes.iter().all(|byte| byte == first)
        || bytes.iter().all(|byte| b"*.xX-_#".contains(byte));
    let variable = match first {
        b'$' => second.is_ascii_alphabetic() || matches!(second, b'{' | b'(' | b'_' | b'$'),
        b'%' => *last == b'%' || matches!(second, b'(' | b's' | b'd' | b'v' | b'q'),
        b'@' => *last == b'@',
        b'{' | b'<' => true,
        _ => false,
    };
    masked || variable || is_path(bytes) || contains_any(&bytes[..bytes.len().min(64)], &EXAMPLES)
}

/// Whether text that looks like a password follows a template: `${USER}5ecret77`, `<angle>5ecret77`.
fn has_secret_tail(bytes: &[u8]) -> bool {
    let close = match bytes {
        [b'$', b'{', ..] | [b'{', ..] => b'}',
        [b'<', ..] => b'>',
        _ => return false,
    };
    let tail = bytes.iter().take(40).position(|byte| *byte == close).map(|at| &bytes[at + 1..]);
    tail.is_some_and(|tail| {
        tail.iter().filter(|byte| byte.is_ascii_alphanumeric()).count() >= 6
            && mixes_letters_and_digits(tail)
            && !tail.iter().any(|byte| b"{}<>$()= \n".contains(byte))
            && !contains_any(tail, &EXAMPLES)
    })
}

/// Parts of placeholders.
const EXAMPLES: [&str; 18] = [
    "${",
    "$(",
    "{{",
    "****",
    "xxxx",
    "[redacted",
    "redacted]",
    "your-",
    "your_",
    "yourp",
    "yourt",
    "yours",
    "changeme",
    "change-me",
    "change_me",
    "placeholder",
    "insert-",
    "process.env",
];

/// Whether one of the parts, which are in lower case, occurs; capitals count as small letters.
pub(super) fn contains_any(bytes: &[u8], parts: &[&str]) -> bool {
    parts.iter().any(|part| contains(bytes, part))
}

/// Whether the part, which is in lower case, occurs; capitals count as small letters.
pub(super) fn contains(bytes: &[u8], part: &str) -> bool {
    bytes.windows(part.len()).any(|window| window.eq_ignore_ascii_case(part.as_bytes()))
}

/// Whether this is the path of a file with readable parts.
pub(super) fn is_path(bytes: &[u8]) -> bool {
    let roots = [&b"/"[..], b"./", b"../", b"~/", b"\\\\"];
    let rooted = roots.iter().any(|root| bytes.starts_with(root));
    rooted && bytes.len() > 2 && readable_share(bytes) > 0.4
}

/// Whether this is an address. A password in it is found by a rule of its own.
pub(super) fn is_address(bytes: &[u8]) -> bool {
    contains(bytes, "://")
}

/// Whether all is hex digits and the dashes of a UUID.
pub(super) fn is_hex_or_uuid(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-')
}

/// Names of algorithms and formats that mix letters and digits.
const TECHNICAL: [&str; 17] = [
    "sha", "base64", "argon2", "utf8", "utf-8", "bcrypt", "pbkdf2", "oauth2", "http", "25519",
    "ipv", "x509", "md5", "aes", "2fa", "x86", "p256",
];

/// Whether a word looks like a chosen password: letters and digits mixed in a way that words, versions and names of
/// algorithms are not.
pub(super) fn is_made_up(bytes: &[u8]) -> bool {
    let plausible = (6..=128).contains(&bytes.len())
        && bytes.iter().all(u8::is_ascii_graphic)
        && !bytes.iter().any(|byte| b"(){}[]<>=;,\"`|\\".contains(byte))
        && !is_address(bytes)
        && !contains_any(bytes, &TECHNICAL)
        && !bytes.iter().all(|byte| byte.is_ascii_digit() || !byte.is_ascii_alphanumeric());
    let letter = |byte: &u8| byte.is_ascii_alphabetic();
    let first = bytes.iter().position(letter).unwrap_or(bytes.len());
    let last = bytes.iter().rposition(letter).unwrap_or(0);
    let inside = bytes.get(first..last).is_some_and(|word| word.iter().any(u8::is_ascii_digit));
    let symbol = bytes.iter().any(|byte| b"!@#$%^&*~?".contains(byte));
    let digit = bytes.iter().any(u8::is_ascii_digit);
    // These separators appear in names of variables, files and hosts.
    let joined = bytes.iter().any(|byte| b"_./:".contains(byte));
    let random = readable_share(bytes) < 0.5;
    let mixed = bytes.iter().skip(1).any(u8::is_ascii_uppercase)
        && bytes.iter().any(u8::is_ascii_lowercase);
    plausible && (digit && symbol && !joined || inside && !joined || digit && mixed && random)
}

/// Whether there are both letters and digits.
pub(super) fn mixes_letters_and_digits(bytes: &[u8]) -> bool {
    bytes.iter().any(u8::is_ascii_digit) && bytes.iter().any(u8::is_ascii_alphabetic)
}

/// Minimum length of a secret that its flag or place on a command line marks, in characters.
const ARGUMENT_MIN: usize = 4;

/// Placeholders for a secret in documentation and help texts.
const STAND_INS: [&str; 24] = [
    "password",
    "passwd",
    "pass",
    "passphrase",
    "secret",
    "token",
    "pwd",
    "mypassword",
    "my-password",
    "userpass",
    "value",
    "none",
    "null",
    "true",
    "false",
    "prompt",
    "stdin",
    "string",
    "file",
    "user",
    "username",
    "example",
    "public",
    "private",
];

/// Whether a word is the name of an argument and not its value, as in documentation: `password`, `DB_NAME`.
pub(super) fn is_stand_in(bytes: &[u8]) -> bool {
    let in_capitals = bytes.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_')
        && readable_share(bytes) > 0.5;
    in_capitals || STAND_INS.iter().any(|word| bytes.eq_ignore_ascii_case(word.as_bytes()))
}

/// Whether a word in the position of a secret is one, and not a variable, a path, a number or a placeholder.
pub(super) fn is_secret(bytes: &[u8]) -> bool {
    bytes.len() >= ARGUMENT_MIN
        && !is_stand_in(bytes)
        && !is_placeholder(bytes)
        && !is_address(bytes)
        && !bytes.starts_with(b"\\\\")
        && !bytes.starts_with(b"[redacted")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_is_in_bits_for_each_byte() {
        assert!(entropy(b"").abs() < 1e-9 && entropy(b"aaaa").abs() < 1e-9);
        assert!((entropy(b"abcd") - 2.0).abs() < 1e-9);
        assert!((entropy(b"0123456789abcdef") - 4.0).abs() < 1e-9);
    }

    #[test]
    fn names_are_readable_and_random_strings_are_not() {
        let names = [
            "getUserProfileByAccountId",
            "src/components/VeryLongComponentNameForTesting",
            "a_test_that_names_its_claim",
            "REKINDLE_RUNTIME_DIRECTORY",
            "spring-boot-starter-data",
        ];
        for name in names {
            assert!(readable_share(name.as_bytes()) > 0.7, "{name}");
        }
        let random =
            ["wJalrXUtnFEMIK7MDENGbPxRfiCY", "q9Zt3kX7mB2vLp8RwN4cYd6H", "x8f3kq0zv7w1m5t9r2b6"];
        for random in random {
            assert!(readable_share(random.as_bytes()) < 0.4, "{random}");
        }
    }

    #[test]
    fn a_name_is_cut_into_its_words() {
        let cut = |name: &str| {
            let words: Vec<String> = pieces(name.as_bytes())
                .map(|piece| String::from_utf8_lossy(piece).into())
                .collect();
            words.join(" ")
        };
        assert_eq!(cut("getHTTPProxy2_for-all.sh"), "get HTTP Proxy for all sh");
        assert_eq!(cut("UTF"), "UTF");
        assert_eq!(cut("--_12_"), "");
    }

    #[test]
    fn a_joined_name_has_short_parts_in_one_case() {
        assert!(
            is_joined_name(b"_mm512_mask_cvtsepi64_epi16")
                && is_joined_name(b"x86_64-pc-windows-gnu")
        );
        for other in ["one_two", "q9Zt3k_X7mB2v_Lp8RwN", "a_b_x8f3kq0zv7w1m5t9r2b6"] {
            assert!(!is_joined_name(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn a_placeholder_is_not_a_secret() {
        let stand_ins = [
            "",
            "$TOKEN",
            "${TOKEN}",
            "$(cat token)",
            "{{ secret }}",
            "%PASSWORD%",
            "%s",
            "@TOKEN@",
            "<token>",
            "*****",
            "xxxxxxxx",
            "your-api-key",
            "YOUR_TOKEN",
            "changeme",
            "[redacted:jwt]",
            "/run/secrets/db",
            "./secrets.env",
        ];
        for text in stand_ins {
            assert!(is_placeholder(text.as_bytes()), "{text}");
        }
        for text in ["hunter2", "$5ecret!", "p@ssw0rd", "%3D9x7", "/9jK3+xQ7v/Zt2"] {
            assert!(!is_placeholder(text.as_bytes()), "{text}");
        }
    }
}
