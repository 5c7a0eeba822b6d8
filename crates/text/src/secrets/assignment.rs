//! Secrets that are recognised by the name they are assigned to: `password = …` and similar notations in
//! code, settings and commands. Most of this module distinguishes values from code and prose.

mod calls;
mod flag;
mod loose;
mod pass;
mod sql;
mod suffixed;
mod vocabulary;

use std::ops::Range;

use super::bytes::{blank, ends, in_name, span, span_back};
use super::command::shell_word_end;
use super::judge::{
    contains, contains_any, entropy, is_address, is_made_up, is_placeholder, is_plain_name,
    mixes_letters_and_digits, readable_share,
};
use super::prefilter::{LeadsTo, Own, keywords};
use super::public::STOPWORDS;
pub(super) use calls::{connected, credentials, hashed, inserted, pragma_key};
use flag::{is_argument, is_flag, is_whole};
pub(super) use loose::{identified, loose_value};
pub(super) use pass::{is_pass_name, pass_value};
pub(super) use suffixed::suffixed_value;
use vocabulary::{CREDENTIAL_FLAGS, KEYS_OF_TABLES, NAME_ENDS, ORDINARY, SPOKEN};

/// The fewest characters of a value.
const SHORTEST: usize = 5;
/// Bytes of a value that are read; a longer value is cut here.
const LONGEST: usize = 512;

/// The kind of name that a value is assigned to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Named {
    Password,
    Secret,
    Token,
    ApiKey,
}

/// A value and how it is written.
struct Value {
    range: Range<usize>,
    quoted: bool,
    /// Whether the quote that opens it is closed.
    closed: bool,
    /// The name and the value are written as in a file of variables: `NAME=value`, nothing around.
    bare: bool,
    /// The value is the last thing in its line.
    last: bool,
    /// A colon or a tag precedes it, not a sign of code.
    listed: bool,
    /// It follows an equals sign, and nothing shows that the line is code.
    set: bool,
    /// It is the argument of a flag: `--password value`.
    flag: bool,
}

/// The value that is assigned to the name with this keyword, if it is a secret.
pub(super) fn value(text: &[u8], at: Range<usize>, named: Named) -> Option<Range<usize>> {
    if !names(text, &at) {
        return None;
    }
    let in_dashed_name = |byte: &u8| in_name(byte) || *byte == b'-';
    let name_end = at.end + span(text, at.end, 24, in_dashed_name);
    let name_start = at.start - span_back(text, at.start, 40, in_dashed_name);
    let value = read(text, name_start..name_end)?;
    let bytes = &text[value.range.clone()];
    if bytes.len() < SHORTEST || is_placeholder(bytes) {
        return None;
    }
    let secret = match value.quoted {
        true => {
            // In code the kind of a token is a word, too: `{ token: "comment" }`.
            let kind = value.listed
                && named == Named::Token
                && text.get(name_end) == Some(&b':')
                && readable_share(bytes) >= 0.5;
            (value.closed || !is_spaced(bytes))
                && !(kind && is_plain_name(bytes))
                && quoted_is_secret(bytes, named, is_environment(text, name_start..name_end))
        }
        false => plain_is_secret(text, &value, named),
    };
    secret.then_some(value.range)
}

/// The value that is assigned to a name such as `signing_key`, `auth` or `credential`, if it is random.
pub(super) fn generic_value(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    if !ends(text, at.end) || !opens(text, &at) {
        return None;
    }
    let head = span_back(text, at.start, 40, |byte| in_name(byte) || *byte == b'-');
    let value = read(text, at.start - head..at.end)?;
    let prefix = if text[value.range.clone()].starts_with(b"base64:") { 7 } else { 0 };
    let range = value.range.start + prefix..value.range.end;
    let bytes = &text[range.clone()];
    let credential = contains(&text[at.clone()], "cred") && value.quoted && is_made_up(bytes);
    let environment = is_environment(text, at.start - head..at.end);
    let flag = is_credential_flag(&text[at.start - head..at.end]);
    let head = &text[at.start - head..at.start];
    let named = flag || environment && head.ends_with(b"_");
    let chosen = named && bytes.len() >= 8 && is_made_up(bytes);
    let secret = is_random_value(bytes) || is_hex_key(bytes) || credential || chosen;
    secret.then_some(range)
}

/// Whether the name is that of a flag or setting that holds a credential: `--account-key`, npm's `_auth`.
fn is_credential_flag(name: &[u8]) -> bool {
    let flag = name.strip_prefix(b"--");
    flag.unwrap_or(name) == b"_auth"
        || flag.is_some_and(|flag| CREDENTIAL_FLAGS.iter().any(|known| flag == known.as_bytes()))
}

/// Whether this is hex of the length of a key.
fn is_hex_key(bytes: &[u8]) -> bool {
    (32..=256).contains(&bytes.len())
        && bytes.iter().all(u8::is_ascii_hexdigit)
        && mixes_letters_and_digits(bytes)
        && entropy(bytes) > 2.5
}

/// Whether a member of this name with this text is a secret, as `name = "text"` would be.
pub(super) fn is_secret_member(name: &str, text: &str) -> bool {
    let (name, text) = (name.as_bytes(), text.as_bytes());
    let capitals = !name.iter().any(u8::is_ascii_lowercase);
    let mut secret = false;
    let plausible = (SHORTEST..=LONGEST).contains(&text.len()) && !is_placeholder(text);
    keywords(name, |leads_to, at| {
        let LeadsTo::Own(own) = leads_to else { return true };
        secret = plausible
            && match own {
                Own::Password => {
                    names(name, &at) && quoted_is_secret(text, Named::Password, capitals)
                }
                Own::Secret => names(name, &at) && quoted_is_secret(text, Named::Secret, capitals),
                Own::Token => names(name, &at) && quoted_is_secret(text, Named::Token, capitals),
                Own::ApiKey => names(name, &at) && quoted_is_secret(text, Named::ApiKey, capitals),
                Own::Pass => {
                    let environment = capitals && name[..at.start].ends_with(b"_");
                    pass::is_name(name, &at)
                        && (is_made_up(text)
                            || environment
                                && is_plain_name(text)
                                && words_are_secret(text, Named::Password))
                }
                Own::Generic => {
                    let random = is_random_value(text) || is_hex_key(text);
                    at.end == name.len() && opens(name, &at) && random
                }
                _ => false,
            };
        !secret
    });
    secret
}

/// Whether a name with the keyword at this place is the name of a secret.
fn names(text: &[u8], at: &Range<usize>) -> bool {
    // A CSRF token is public, and `:secret:` is the kind of a resource.
    let open = [&b"csrf_"[..], b"csrf-", b":", b"existing", b"existing_"];
    let before = &text[..at.start];
    let of_shell = before.len() >= 4 && before[before.len() - 4..].eq_ignore_ascii_case(b"env:");
    let end = at.end + span(text, at.end, 24, |byte| in_name(byte) || *byte == b'-');
    may_end_so(&text[at.end..end]) && (of_shell || !open.iter().any(|open| before.ends_with(open)))
}

/// Whether a name that ends with the keyword at this place is that of a key or credential that
/// grants access, and not, for example, the key of a table.
fn opens(text: &[u8], at: &Range<usize>) -> bool {
    let head = span_back(text, at.start, 40, |byte| in_name(byte) || *byte == b'-');
    let head = &text[at.start - head..at.start];
    let keyword = &text[at.clone()];
    let alone = head.is_empty()
        && [&b"key"[..], b"access"].iter().any(|word| keyword.eq_ignore_ascii_case(word));
    !alone && !contains_any(head, &KEYS_OF_TABLES)
}

/// Whether the value is random, and contains none of the words that the public rule set allows.
fn is_random_value(bytes: &[u8]) -> bool {
    let word = |byte: &u8| in_name(byte) || matches!(byte, b'.' | b'=' | b'+' | b'/' | b'-');
    (16..=150).contains(&bytes.len())
        && bytes.iter().all(word)
        && mixes_letters_and_digits(bytes)
        && entropy(bytes) > 3.5
        && readable_share(bytes) < 0.5
        && !is_placeholder(bytes)
        && !STOPWORDS.lines().any(|stopword| contains(bytes, stopword))
}

fn may_end_so(name_end: &[u8]) -> bool {
    let letters: Vec<u8> = name_end
        .iter()
        .filter(|byte| in_name(byte) && **byte != b'_')
        .map(u8::to_ascii_lowercase)
        .collect();
    let number = letters.strip_prefix(b"v").unwrap_or(&letters);
    number.iter().all(u8::is_ascii_digit) || NAME_ENDS.iter().any(|end| end.as_bytes() == letters)
}

/// Quotes, and the backslashes before them when the text is itself quoted.
fn quote(byte: &u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`' | b'\\')
}

/// Reads what is assigned to the name: `name = v`, `"name": "v"`, `name := v`, `['name'] => v`,
/// `<name>v</name>`, `--name v`.
fn read(text: &[u8], name: Range<usize>) -> Option<Value> {
    let closed = name.end + span(text, name.end, 3, quote);
    let closed = closed + span(text, closed, 1, |byte| *byte == b']');
    let operator = closed + span(text, closed, 8, blank);
    // The text may end after the name and a blank or a quote: `--password `, `grep "--token"`.
    let rest = text.get(operator..).filter(|rest| !rest.is_empty())?;
    let after_flag = operator == name.end + 1 && is_flag(text, name.start);
    let in_tag = name.start > 0 && text[name.start - 1] == b'<';
    // The shell's default for a variable: `${NAME:-value}`, `${NAME:=value}`.
    let default = text[..name.start].ends_with(b"${");
    let capitals = !text[name.clone()].iter().any(u8::is_ascii_lowercase);
    let length = match rest {
        [b':', b'-' | b'=', ..] if default => 2,
        // A message for a variable without a value: `${NAME:?message}`.
        [b':', b'?' | b'+', ..] if default => return None,
        [b'+', b'=', ..] if capitals => 2,
        [b':' | b'=' | b'?', b'=', b'=', ..]
        | [b'=' | b':', b':', ..]
        | [b'=', b'~' | b'=', ..] => return None,
        [b'=', b'>', ..] | [b':' | b'?', b'=', ..] => 2,
        [b'=' | b':', ..] => 1,
        [b'>', ..] if in_tag => 1,
        _ if after_flag => 0,
        _ => return None,
    };
    let value = operator + length;
    let start = value + span(text, value, 8, blank);
    let adjacent = operator == name.end && start == value;
    let bare = adjacent && (default || rest[0] == b'+' || length == 1 && rest[0] == b'=');
    if rest[0] == b':'
        && let Some(value) = behind_type(text, start)
    {
        return Some(value);
    }
    let listed = matches!(rest[0], b':' | b'>');
    let flag = length == 0 && text[start..].first().is_some_and(|byte| *byte != b'-');
    let set = (flag || (length == 1 && rest[0] == b'=')) && !declares(text, name.start);
    let shell = bare || length == 0;
    let mut value = Value { listed, set, flag, ..read_value(text, start, bare, shell)? };
    let behind = &text[value.range.end..];
    let closes_tag = behind.starts_with(b"</");
    value.last |= rest[0] == b'>' && closes_tag || default && behind.starts_with(b"}");
    (rest[0] != b'>' || closes_tag).then_some(value)
}

/// The value in `name: type = "value"`.
fn behind_type(text: &[u8], at: usize) -> Option<Value> {
    let length = span(text, at, 48, |byte| in_name(byte) || b" <>&'[]|?.".contains(byte));
    let named = text.get(at).is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'&');
    if !named || !text[at + length..].starts_with(b"= ") {
        return None;
    }
    let start = at + length + 1;
    let start = start + span(text, start, 8, blank);
    read_value(text, start, false, false).filter(|value| value.quoted)
}

/// Reads the value at `at`; `shell` if a shell may read it as a word.
fn read_value(text: &[u8], at: usize, bare: bool, shell: bool) -> Option<Value> {
    let unescaped = at + letters_of_a_string(text, at);
    let opening = unescaped + span(text, unescaped, 2, |byte| *byte == b'\\');
    if let Some(mark) = text.get(opening).filter(|byte| matches!(byte, b'"' | b'\'' | b'`')) {
        let escaped = opening > unescaped;
        let (range, closed) = string(text, opening, *mark, escaped);
        let joined = if shell && !escaped { shell_word_end(text, at) } else { 0 };
        let is_joined = joined > range.end && joined - range.start <= LONGEST;
        return Some(Value {
            range: range.start..if is_joined { joined } else { range.end },
            quoted: true,
            closed: closed || is_joined,
            bare: false,
            last: false,
            listed: false,
            set: false,
            flag: false,
        });
    }
    let plain = |byte: &u8| {
        !byte.is_ascii_whitespace()
            && !b",;\"'`)]}&<>|\\([".contains(byte)
            && !byte.is_ascii_control()
    };
    let mut length = span(text, at, LONGEST, plain);
    // A shell's escapes: `a\ b`, `a\$b`. Quotes and letters after a backslash may belong to the text around it.
    let escape = |at: usize| {
        text.get(at) == Some(&b'\\')
            && text.get(at + 1).is_some_and(|byte| b" $&!;()|<>*#?~[]{}".contains(byte))
    };
    while bare && length < LONGEST && escape(at + length) {
        length += 2 + span(text, at + length + 2, LONGEST - length, plain);
    }
    // An `&` inside a value. The `&` of a query is before the next name: `password=v&user=u`, and `&quot;` is a quote.
    let joins = |at: usize| {
        let name = at + 1 + span(text, at + 1, 40, |byte| in_name(byte) || *byte == b'-');
        text.get(at) == Some(&b'&')
            && text.get(at + 1).is_some_and(plain)
            && !matches!(text.get(name), Some(b'=' | b';'))
    };
    while (1..LONGEST).contains(&length) && joins(at + length) {
        length += 1 + span(text, at + length + 1, LONGEST - length, plain);
    }
    let mut end = at + length;
    // Quotes inside a word of the shell: `it\'s`, `it"s"`.
    let goes_on = match text.get(end..) {
        Some([b'\\', b'"' | b'\'', next, ..]) => next.is_ascii_alphanumeric(),
        Some([b'"' | b'\'', next, ..]) => next.is_ascii_alphanumeric(),
        _ => false,
    };
    if bare && length > 0 && goes_on {
        end = end.max(shell_word_end(text, at).min(at + LONGEST));
    }
    let written = match text.get(end..) {
        Some([b'"' | b'\'', rest @ ..]) => rest.trim_ascii_start().starts_with(b">"),
        _ => false,
    };
    let last = written
        || text
            .get(end + span(text, end, 8, blank))
            .is_none_or(|byte| matches!(byte, b'\n' | b'\r'))
        || text[end..].starts_with(b"\\n");
    let value = Value {
        range: at..end,
        quoted: false,
        closed: false,
        bare,
        last,
        listed: false,
        set: false,
        flag: false,
    };
    (length > 0).then_some(value)
}

/// The text in the quotes that open here, and whether they are closed. A quote that the text escapes is not the end,
/// unless the whole text is inside another string.
fn string(text: &[u8], opening: usize, mark: u8, escaped: bool) -> (Range<usize>, bool) {
    // Python has three quotes around what may go over several lines.
    let three = text[opening..].starts_with(&[mark; 3]);
    let start = opening + if three { 3 } else { 1 };
    let mut end = string_part_end(text, start, mark);
    while !escaped && mark == b'"' && end - start < LONGEST && text[end..].starts_with(b"\\\"") {
        end = string_part_end(text, end + 2, mark);
    }
    let closed = text.get(end).is_some_and(|byte| *byte == mark || *byte == b'\\');
    (start..end, closed)
}

/// Where a string stops: at its mark, a line end or a backslash.
fn string_part_end(text: &[u8], at: usize, mark: u8) -> usize {
    at + span(text, at, LONGEST, |byte| *byte != mark && *byte != b'\n' && *byte != b'\\')
}

/// How many letters before a quote say what kind of string it is: `b"…"`, `rf'…'`, SQL's `N'…'`, and the shell's `$'…'`.
fn letters_of_a_string(text: &[u8], at: usize) -> usize {
    let letters = span(text, at, 2, |byte| b"bBrRuUfFnNeE$@".contains(byte));
    let quoted = text.get(at + letters).is_some_and(|byte| matches!(byte, b'"' | b'\''));
    if quoted { letters } else { 0 }
}

/// Whether the text before a name makes it a variable or a member: an unquoted value is then an expression.
fn declares(text: &[u8], name: usize) -> bool {
    let before = &text[name.saturating_sub(12)..name];
    // A flag of Terraform: `-var db_password=value`.
    if before.ends_with(b"-var ") {
        return false;
    }
    before.ends_with(b"self.")
        || before.ends_with(b"this.")
        || before.ends_with(b"->")
        || ["let ", "const ", "var ", "val ", "mut ", "auto ", "final ", "type ", "[", "(", ", "]
            .iter()
            .any(|word| before.ends_with(word.as_bytes()))
}

/// Whether the name is that of an environment variable to which something is assigned: `DB_PASSWORD=`.
fn is_environment(text: &[u8], name: Range<usize>) -> bool {
    text.get(name.end) == Some(&b'=') && !text[name].iter().any(u8::is_ascii_lowercase)
}

/// Whether text in quotes is a secret; `environment` if its name is in capitals, as environment variables are.
fn quoted_is_secret(bytes: &[u8], named: Named, environment: bool) -> bool {
    if is_address(bytes) {
        return false;
    }
    let trimmed = bytes.trim_ascii();
    if is_spaced(bytes) && !is_spaced(trimmed) && is_made_up(trimmed) {
        return true;
    }
    if is_spaced(bytes) {
        return spaced_is_secret(bytes, named, environment);
    }
    !is_plain_name(bytes) || words_are_secret(bytes, named)
}

fn is_spaced(bytes: &[u8]) -> bool {
    bytes.iter().any(u8::is_ascii_whitespace)
}

/// Whether several words are a secret: only a password is made of words, and most words in its place are a label or
/// a message. Those begin with a capital; a password that does so has a digit or belongs to an environment variable.
fn spaced_is_secret(bytes: &[u8], named: Named, environment: bool) -> bool {
    let edges = bytes.first().zip(bytes.last());
    let sentence = edges.is_some_and(|(first, last)| {
        b".?!:,;".contains(last) || first.is_ascii_whitespace() || last.is_ascii_whitespace()
    });
    let code = bytes.iter().any(|byte| b"{}()<>=;%$|\\".contains(byte));
    matches!(named, Named::Password | Named::Secret)
        && !sentence
        && !code
        && (!bytes[0].is_ascii_uppercase() || environment || bytes.iter().any(u8::is_ascii_digit))
        && !contains_any(bytes, &SPOKEN)
}

/// Whether a word, or words joined by dashes and the like, are a secret: all but those of a language and
/// the name of such a secret itself (`password: "Password"`, `token = token`).
fn words_are_secret(bytes: &[u8], named: Named) -> bool {
    let long = bytes.len() >= 20 && readable_share(bytes) < 0.5;
    let itself: &[&str] = match named {
        Named::Password => &["password", "passwd", "passphrase"],
        Named::Secret => &["secret", "secrets", "secret_key", "client_secret"],
        Named::Token => &["token", "tokens", "access_token"],
        Named::ApiKey => &["apikey", "api_key", "api-key"],
    };
    let is_itself = itself.iter().any(|name| bytes.eq_ignore_ascii_case(name.as_bytes()));
    long || !(is_itself || is_ordinary(bytes))
}

pub(super) fn is_ordinary(bytes: &[u8]) -> bool {
    ORDINARY.iter().any(|word| bytes.eq_ignore_ascii_case(word.as_bytes()))
}

/// Whether a value without quotes is a secret. It may also be code or the next word of a sentence.
fn plain_is_secret(text: &[u8], value: &Value, named: Named) -> bool {
    let bytes = &text[value.range.clone()];
    let next = text.get(value.range.end).copied().unwrap_or(b'\n');
    let tag = bytes[0] == b'!' && is_plain_name(&bytes[1..]);
    if matches!(next, b'(' | b'[') || tag || bytes.contains(&b'{') || is_address(bytes) {
        return false;
    }
    if bytes.iter().all(u8::is_ascii_digit) {
        // A short number after the name of a token is a count of tokens.
        let long = bytes.len() >= 6 && (value.bare || value.set);
        return matches!(named, Named::Password | Named::Secret) || long;
    }
    // A sentence may end behind the value.
    let bytes = if value.last { bytes.strip_suffix(b".").unwrap_or(bytes) } else { bytes };
    let alone = value.bare && (value.last || matches!(next, b'&' | b' ' | b'"' | b'\''));
    if is_plain_name(bytes) {
        // The value may be the name of a type, as in `token: String`. After the name of a token or key it mostly is.
        let typed = bytes[0].is_ascii_uppercase() && bytes.iter().any(u8::is_ascii_lowercase);
        let typed = typed && matches!(named, Named::Token | Named::ApiKey);
        let set = value.set
            && (value.last
                || is_whole(text, value.range.end)
                || value.flag && is_argument(text, &value.range));
        let said = (value.last && value.listed) || set;
        // A variable after a flag has a readable name.
        let variable = is_variable(bytes) && !(value.flag && readable_share(bytes) < 0.5);
        return (alone && !bytes.contains(&b'.') || (said && !typed && !variable))
            && words_are_secret(bytes, named);
    }
    alone || !is_code(bytes)
}

/// Whether a name is written as those of variables are and passwords are not: `a.b`, `a_b`, `aB`.
fn is_variable(bytes: &[u8]) -> bool {
    let humps = |pair: &[u8]| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase();
    bytes.iter().any(|byte| matches!(byte, b'_' | b'.')) || bytes.windows(2).any(humps)
}

/// Whether the value is an expression: a path of names, a type with its size, a call.
fn is_code(bytes: &[u8]) -> bool {
    let in_code =
        |byte: &u8| in_name(byte) || matches!(byte, b'.' | b':' | b'-' | b'?' | b'*' | b'$');
    let of_names = bytes.iter().all(in_code) && !bytes[0].is_ascii_digit();
    let joined = bytes.iter().any(|byte| matches!(byte, b'.' | b':' | b'_' | b'?' | b'*'));
    let sized = ["int", "uint", "float", "sha", "base", "utf", "i", "u", "f"].iter().any(|kind| {
        let kind = bytes.strip_prefix(b"__").unwrap_or(bytes).strip_prefix(kind.as_bytes());
        kind.is_some_and(|size| size.iter().all(u8::is_ascii_digit))
    });
    // The options of a mounted secret: `--secret id=name,src=file`.
    let option = bytes.starts_with(b"id=") || bytes.starts_with(b"type=");
    let is_macro = bytes.strip_suffix(b"!").is_some_and(is_plain_name);
    is_ordinary(bytes)
        || option
        || is_macro
        || sized
        || (of_names && joined && readable_share(bytes) > 0.45)
}
