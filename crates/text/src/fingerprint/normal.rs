//! A line of output without the parts that differ from run to run: directories, numbers, hashes, addresses, times.

/// Replaces a number, a hash, an address or a time.
const ANY: char = '#';

/// Characters around a path, a name or a number that are no part of it.
fn is_border(c: char) -> bool {
    matches!(
        c,
        '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' | ',' | ';' | '=' | '"' | '\'' | '`' | '|'
    ) || matches!(c, '‘' | '’' | '“' | '”')
}

/// The line in its normal form, with single spaces.
pub(super) fn normal(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    for word in line.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        let mut rest = word;
        while !rest.is_empty() {
            let piece = rest.find(is_border).unwrap_or(rest.len());
            without_numbers(&without_directory(&rest[..piece]), &mut out);
            let border = rest[piece..].chars().next().map_or(0, char::len_utf8);
            out.push_str(&rest[piece..piece + border]);
            rest = &rest[piece + border..];
        }
    }
    out
}

/// A path without its directories; other pieces as they are. A URL keeps its host.
fn without_directory(piece: &str) -> String {
    if let Some((scheme, rest)) = piece.split_once("://") {
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        return match last_part(path) {
            "" => format!("{scheme}://{host}"),
            last => format!("{scheme}://{host}/{last}"),
        };
    }
    let is_windows = piece.get(1..3) == Some(":\\") || piece.starts_with(".\\");
    if is_windows {
        return piece.trim_end_matches('\\').rsplit('\\').next().unwrap_or(piece).to_owned();
    }
    // The name of a temporary directory is random.
    if let Some(name) =
        piece.strip_prefix("/tmp/").filter(|name| !name.trim_end_matches('/').contains('/'))
        && !name.contains('.')
    {
        return ANY.to_string();
    }
    last_part(piece).to_owned()
}

/// The part behind the last slash that has something behind it.
fn last_part(path: &str) -> &str {
    let trimmed = path.trim_end_matches('/');
    match trimmed.rsplit_once('/') {
        Some((_, last)) => last,
        None if trimmed.is_empty() => path,
        None => trimmed,
    }
}

/// Appends a piece, with each number, hash, address and time replaced by one character.
fn without_numbers(piece: &str, out: &mut String) {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = piece;
    while let Some(first) = rest.chars().next() {
        if !is_word(first) {
            // `12:34:56`, `1.2.3` and `2026-01-02` are one number.
            let behind = &rest[first.len_utf8()..];
            let joins = matches!(first, '.' | ':' | '-' | '+')
                && out.ends_with(ANY)
                && behind.starts_with(|c: char| c.is_ascii_hexdigit())
                && is_varying(word_of(behind), true);
            if !joins {
                out.push(first);
            }
            rest = behind;
            continue;
        }
        let word = word_of(rest);
        let follows = out.ends_with(ANY) || out.ends_with("#-");
        match is_varying(word, follows) {
            true if out.ends_with(ANY) => {}
            true => out.push(ANY),
            false => out.push_str(word),
        }
        rest = &rest[word.len()..];
    }
}

/// The letters, digits and underscores at the beginning of a text.
fn word_of(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    &text[..end]
}

/// Whether a word is a number, with or without a unit, a hash or an address. Names with digits (`E0308`, `utf8`) are
/// not. `follows` says that a number is just before the word: then the word may continue the number, as in a UUID.
fn is_varying(word: &str, follows: bool) -> bool {
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    let is_hex = word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
    if digits > 0 {
        let unit = &word[digits..];
        // `12`, `12ms`, `3rd`, `02T03`, `1_000`.
        let is_time = unit.starts_with(['T', '_'])
            && unit[1..].bytes().all(|b| b.is_ascii_digit() || b == b'_');
        if (unit.len() <= 3 && unit.chars().all(char::is_alphabetic)) || is_time {
            return true;
        }
    }
    if let Some(address) = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
        return address.bytes().all(|byte| byte.is_ascii_hexdigit());
    }
    // `v1` of a version.
    if word
        .strip_prefix('v')
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
    {
        return true;
    }
    is_hex && has_digit && (word.len() >= 7 || (follows && word.len() >= 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_varying_parts_of_a_line_are_removed_and_names_stay() {
        let table = [
            ("error[E0308]: mismatched types", "error[E0308]: mismatched types"),
            ("  --> src/cart/total.rs:12:5", "--> total.rs:#"),
            ("/home/a/x/b.c:3:5: error: expected ';'", "b.c:#: error: expected ';'"),
            (r"C:\work\b.c(3): error C2143", "b.c(#): error C2143"),
            ("FAILED tests/a.py::test_b - assert 1 == 2", "FAILED a.py::test_b - assert # == #"),
            (
                "File \"/usr/lib/python3.12/json.py\", line 355, in load",
                "File \"json.py\", line #, in load",
            ),
            ("<Foo object at 0x7f3a2c1d>", "<Foo object at #>"),
            ("at 2026-01-02T03:04:05.123Z after 1.5s, 12 ms", "at # after #, # ms"),
            ("at 12:34:56 +0200", "at # +#"),
            ("commit 1f3a9bc failed", "commit # failed"),
            ("run 550e8400-e29b-41d4-a716-446655440000 ended", "run # ended"),
            ("connect 127.0.0.1:5432", "connect #"),
            ("foo v1.2.3 (/srv/foo)", "foo # (foo)"),
            (
                "GET https://registry.example.org/a/left-padd - 404",
                "GET https://registry.example.org/left-padd - #",
            ),
            ("cannot write /tmp/tmpa1b2c3d4", "cannot write #"),
            ("cannot write /tmp/out.txt", "cannot write out.txt"),
            ("the deed is in the facade", "the deed is in the facade"),
            ("utf8 sha256 x86_64 test_2", "utf8 sha256 x86_64 test_2"),
            (
                "thread 'main' (4711) panicked at src/a.rs:4:5:",
                "thread 'main' (#) panicked at a.rs:#:",
            ),
            ("ünï/cödé/prüfung.py:3", "prüfung.py:#"),
            ("/", "/"),
            ("", ""),
        ];
        for (line, expected) in table {
            assert_eq!(normal(line), expected, "{line}");
        }
    }
}
