//! Secrets that are recognised by their shape: a token with a known prefix, a JWT, a private key, a password
//! in an address, a header. Secrets that are recognised by the name they are assigned to are in `assignment`.

use std::ops::Range;

use super::Finding;
use super::assignment::{self, Named};
use super::bytes::{begins, ends, in_name, span, span_back};
use super::command;
use super::judge::{
    is_hex_or_uuid, is_made_up, is_placeholder, mixes_letters_and_digits, readable_share,
};
use super::prefilter::Own;

/// Bytes of a token that are read; a longer run is cut here.
const TOKEN_MAX: usize = 8192;
/// How many bytes of the user and the password in a CVS repository are read.
const CVS_USER_MAX: usize = 256;
/// How far a private key may reach.
const KEY_MAX: usize = 64 << 10;
/// The fewest characters in a line of a key.
const LINE: usize = 24;

/// How many of the names below are general.
const GENERAL: usize = 12;

/// The names of our own rules, the general ones last.
pub(super) const NAMES: [&str; 29] = [
    "aws-access-key",
    "github-token",
    "anthropic-key",
    "sk-key",
    "stripe-key",
    "slack-token",
    "google-api-key",
    "twilio-key",
    "vault-token",
    "sendgrid-key",
    "huggingface-token",
    "octopus-key",
    "prefixed-uuid",
    "jwt",
    "private-key",
    "url-password",
    "signed-url",
    "bearer-token",
    "authorization",
    "cookie",
    "command-secret",
    "password",
    "secret",
    "token",
    "api-key",
    "generic-key",
    "secret-member",
    "long-hex",
    "entropy",
];

/// Whether the rule only locates a secret, so that a rule for its shape is more specific.
pub(super) fn is_general(rule: &str) -> bool {
    NAMES[NAMES.len() - GENERAL..].contains(&rule)
}

/// The secret at a keyword of our own rules, if the text around the keyword has its shape.
pub(super) fn at_keyword(text: &[u8], own: Own, at: Range<usize>) -> Option<Finding> {
    let (rule, range) = match own {
        Own::Aws => ("aws-access-key", aws(text, at)?),
        Own::GitHub => ("github-token", lower(text, &at, letter_or_digit, 30)?),
        Own::GitHubPat => ("github-token", lower(text, &at, in_name, 22)?),
        Own::Sk => sk(text, at)?,
        Own::Stripe => ("stripe-key", lower(text, &at, letter_or_digit, 10)?),
        Own::StripeWebhook => ("stripe-key", lower(text, &at, letter_or_digit, 24)?),
        Own::Slack => ("slack-token", slack(text, at)?),
        Own::Google => ("google-api-key", exact(text, &at, b"AIza", name_or_dash, 35, 35)?),
        Own::Twilio => ("twilio-key", exact(text, &at, b"SK", u8::is_ascii_hexdigit, 32, 32)?),
        Own::Vault => ("vault-token", vault(text, at)?),
        Own::SendGrid => ("sendgrid-key", exact(text, &at, b"SG.", dotted, 66, 66)?),
        Own::HuggingFace => {
            ("huggingface-token", exact(text, &at, b"hf_", letter_or_digit, 34, 40)?)
        }
        Own::Octopus => ("octopus-key", exact(text, &at, b"API-", upper_or_digit, 26, 26)?),
        Own::PrefixedUuid => ("prefixed-uuid", prefixed_uuid(text, at)?),
        Own::Jwt => ("jwt", jwt(text, at)?),
        Own::PrivateKey => ("private-key", private_key(text, at)?),
        Own::Url => ("url-password", url_password(text, at)?),
        Own::SignedUrl => ("signed-url", signature(text, at)?),
        Own::Bearer => ("bearer-token", after_scheme(text, at.end)?),
        Own::Authorization => ("authorization", authorization(text, at)?),
        Own::Password => ("password", named(text, at, Named::Password)?),
        Own::Secret => ("secret", named(text, at, Named::Secret)?),
        Own::Token => ("token", named(text, at, Named::Token)?),
        Own::ApiKey => ("api-key", named(text, at, Named::ApiKey)?),
        // These may lead to several findings, so `scan` handles them itself.
        Own::Cookie | Own::Insert | Own::WindowsProgram | Own::OptionFirst => return None,
        Own::Pass => ("password", assignment::pass_value(text, at)?),
        Own::Identified => ("password", assignment::identified(text, at)?),
        Own::PgPass => ("password", line_of_pgpass(text, at)?),
        Own::Credentials => ("password", assignment::credentials(text, &at)?),
        Own::Connected => ("password", assignment::connected(text, &at)?),
        Own::PragmaKey => ("password", assignment::pragma_key(text, &at)?),
        Own::Hashed => ("password", assignment::hashed(text, &at)?),
        Own::Echoed => ("command-secret", command::echoed(text, &at)?),
        Own::HereString => ("command-secret", command::here_string(text, &at)?),
        Own::ExpectSend => ("command-secret", command::sent(text, &at)?),
        Own::LoggedIn => ("command-secret", command::logged_in(text, &at)?),
        Own::Pin => ("command-secret", command::pin(text, &at)?),
        Own::UserPair => ("command-secret", command::user_pair(text, &at)?),
        Own::UserAndPassword => ("command-secret", command::behind_user(text, &at)?),
        Own::Generic => ("generic-key", assignment::generic_value(text, at)?),
    };
    Some(Finding { rule, range })
}

fn named(text: &[u8], at: Range<usize>, named: Named) -> Option<Range<usize>> {
    assignment::value(text, at.clone(), named)
        .or_else(|| assignment::loose_value(text, at.clone(), named))
        .or_else(|| assignment::suffixed_value(text, &at))
}

/// The password in `host:port:database:user:password`, whose port is the keyword: 5432 or `*`.
fn line_of_pgpass(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    let field = |at: usize| {
        let length = span(text, at, 64, |byte| name_or_dash(byte) || *byte == b'*');
        (length > 0 && text.get(at + length) == Some(&b':')).then_some(at + length + 1)
    };
    let user = field(at.end)?;
    let start = field(user)?;
    // Other lists have `*` in all fields.
    if !text[user].is_ascii_alphanumeric() {
        return None;
    }
    let length = span(text, start, 128, |byte| byte.is_ascii_graphic() && !b"\"'`".contains(byte));
    let range = start..start + length;
    (length >= 4 && !is_placeholder(&text[range.clone()])).then_some(range)
}

fn letter_or_digit(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn upper_or_digit(byte: &u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn name_or_dash(byte: &u8) -> bool {
    in_name(byte) || *byte == b'-'
}

fn dotted(byte: &u8) -> bool {
    name_or_dash(byte) || *byte == b'.' || *byte == b'='
}

fn base64(byte: &u8) -> bool {
    name_or_dash(byte) || matches!(byte, b'+' | b'/' | b'=')
}

/// Whether `at` is at the start of a word or of a part of a name, which underscores separate.
fn begins_part(text: &[u8], at: usize) -> bool {
    begins(text, at) || text.get(at - 1) == Some(&b'_')
}

/// A prefix in small letters and at least `least` bytes of a kind.
fn lower(
    text: &[u8],
    at: &Range<usize>,
    kind: fn(&u8) -> bool,
    least: usize,
) -> Option<Range<usize>> {
    let spelled = !text[at.clone()].iter().any(u8::is_ascii_uppercase);
    // A kind that includes underscores would otherwise be read again from each of them.
    let begins = if kind(&b'_') { begins(text, at.start) } else { begins_part(text, at.start) };
    let length = if spelled && begins { span(text, at.end, TOKEN_MAX, kind) } else { 0 };
    (length >= least).then(|| at.start..at.end + length)
}

/// A prefix spelled exactly so, and `least` to `most` bytes of a kind, at the end of a word.
fn exact(
    text: &[u8],
    at: &Range<usize>,
    prefix: &[u8],
    kind: fn(&u8) -> bool,
    least: usize,
    most: usize,
) -> Option<Range<usize>> {
    if &text[at.clone()] != prefix || !begins_part(text, at.start) {
        return None;
    }
    let length = span(text, at.end, most, kind);
    let end = at.end + length;
    (length >= least && ends(text, end)).then_some(at.start..end)
}

/// A UUID after the key prefix of a vendor.
fn prefixed_uuid(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    let length = span(text, at.end, 37, |byte| byte.is_ascii_hexdigit() || *byte == b'-');
    let uuid = &text[at.end..at.end + length];
    let dashes = length == 36 && [8, 13, 18, 23].iter().all(|place| uuid[*place] == b'-');
    let spelled = !text[at.clone()].iter().any(u8::is_ascii_uppercase);
    (dashes && spelled && begins(text, at.start) && ends(text, at.end + length))
        .then_some(at.start..at.end + length)
}

fn aws(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    let length = span(text, at.start, 21, upper_or_digit);
    let range = at.start..at.start + length;
    let whole = length == 20 && begins_part(text, at.start) && ends(text, range.end);
    // Twenty capitals without a digit may be a word, as `ASIAN…`; hardly one that begins with AKIA.
    let word = &text[range.clone()];
    let random = word.starts_with(b"AKIA") || word.iter().any(u8::is_ascii_digit);
    (whole && random).then_some(range)
}

fn sk(text: &[u8], at: Range<usize>) -> Option<(&'static str, Range<usize>)> {
    if text[..at.start].ends_with(b"-") {
        return None;
    }
    let range = lower(text, &at, name_or_dash, 16)?;
    let token = &text[range.clone()];
    if token.starts_with(b"sk-ant-") {
        return Some(("anthropic-key", range));
    }
    let random =
        token.len() >= 20 && mixes_letters_and_digits(token) && readable_share(token) < 0.6;
    random.then_some(("sk-key", range))
}

fn slack(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    if text[..at.start].ends_with(b"-") {
        return None;
    }
    let range = lower(text, &at, name_or_dash, 10)?;
    mixes_letters_and_digits(&text[range.clone()]).then_some(range)
}

fn vault(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    if at.len() == 4 {
        return lower(text, &at, name_or_dash, 24);
    }
    let range = exact(text, &at, b"s.", letter_or_digit, 24, 24)?;
    // A method of a variable `s` is spelled with letters only.
    text[range.clone()].iter().any(u8::is_ascii_digit).then_some(range)
}

/// Three parts in base64, of which the first two are JSON objects; the last is empty if unsigned.
fn jwt(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    if &text[at.clone()] != b"eyJ" || !begins(text, at.start) {
        return None;
    }
    let payload = at.start + span(text, at.start, TOKEN_MAX, name_or_dash);
    if payload - at.start < 12 || !text[payload..].starts_with(b".eyJ") {
        return None;
    }
    let signature = payload + 1 + span(text, payload + 1, TOKEN_MAX, name_or_dash);
    if signature - payload < 8 || text.get(signature) != Some(&b'.') {
        return None;
    }
    Some(at.start..signature + 1 + span(text, signature + 1, TOKEN_MAX, name_or_dash))
}

/// From `BEGIN` to the end of `END`; without an `END` as far as lines of base64 follow; and the bare
/// header where no key follows.
fn private_key(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    let label = span(text, at.end, 64, |byte| in_name(byte) || *byte == b' ');
    let header = &text[at.end..at.end + label];
    let named = header.ends_with(b"PRIVATE KEY") || header.ends_with(b"PRIVATE KEY BLOCK");
    let body = at.end + label + 5;
    if !named || !text[at.end + label..].starts_with(b"-----") {
        return None;
    }
    let end = text.len().min(body + KEY_MAX);
    let dashes = text[body..end].windows(5).position(|window| window == b"-----");
    if let Some(next) = dashes.map(|position| body + position)
        && text[next..].starts_with(b"-----END")
        && is_body(&text[body..next])
    {
        let label = span(text, next + 8, 64, |byte| in_name(byte) || *byte == b' ');
        let dashes = span(text, next + 8 + label, 5, |byte| *byte == b'-');
        return Some(at.start..next + 8 + label + dashes);
    }
    Some(at.start..lines_of_base64(text, body))
}

/// Whether the text between the first and the last line of a key is base64. If no line is long, all of it must
/// be: code that searches for both lines has other characters between them.
fn is_body(between: &[u8]) -> bool {
    let short = |byte: &u8| base64(byte) || byte.is_ascii_whitespace() || b"\\:,".contains(byte);
    between.split(|byte| !base64(byte)).any(|line| line.len() >= LINE) || between.iter().all(short)
}

/// Whether these bytes are a whole line of random characters, which may be a line of a key.
fn is_short_line(text: &[u8], line: Range<usize>) -> bool {
    let before = text.get(line.start.wrapping_sub(1)).is_some_and(|byte| b"\n nr".contains(byte));
    let behind = text.get(line.end).is_none_or(|byte| matches!(byte, b'\n' | b'\r' | b'\\'));
    let line = &text[line];
    let capitals = line.iter().skip(1).any(u8::is_ascii_uppercase);
    let mixed = capitals && line.iter().any(u8::is_ascii_lowercase);
    before && behind && line.len() >= 8 && (mixed || mixes_letters_and_digits(line))
}

/// Where the lines of base64 end that begin at `at`.
fn lines_of_base64(text: &[u8], at: usize) -> usize {
    let mut end = at;
    loop {
        let mut next = end + span(text, end, 4, u8::is_ascii_whitespace);
        // Line ends may be written as `\n`.
        while matches!(text.get(next..next + 2), Some(b"\\n" | b"\\r")) {
            next += 2;
        }
        let line = span(text, next, TOKEN_MAX, base64);
        if line < LINE && !is_short_line(text, next..next + line) {
            return end;
        }
        end = next + line;
    }
}

/// The password in `scheme://user:password@host`, and in the repositories of CVS: `:pserver:user:password@host`.
fn url_password(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    let repository = text[at.clone()].ends_with(b"server:");
    if !repository && span_back(text, at.start, 1, u8::is_ascii_alphanumeric) == 0 {
        return None;
    }
    // Each colon of a text may begin a repository, so those are read less far than addresses.
    let most = if repository { CVS_USER_MAX } else { TOKEN_MAX };
    let userinfo = span(text, at.end, most, |byte| {
        !byte.is_ascii_whitespace() && !b"/?\"'`<>\\,".contains(byte) && *byte != b'|'
    });
    let host = text[at.end..at.end + userinfo].iter().rposition(|byte| *byte == b'@')?;
    let Some(colon) = text[at.end..at.end + host].iter().position(|byte| *byte == b':') else {
        // A token may be the whole user part. Hex there is the public key of an error-reporting URL (DSN).
        let user = &text[at.end..at.end + host];
        let token = user.len() >= 12 && is_made_up(user) && !is_hex_or_uuid(user);
        return token.then_some(at.end..at.end + host);
    };
    let range = at.end + colon + 1..at.end + host;
    (!range.is_empty() && !is_placeholder(&text[range.clone()])).then_some(range)
}

/// The value of a query parameter that grants access to its URL, such as a signature.
fn signature(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    let length =
        span(text, at.end, TOKEN_MAX, |byte| base64(byte) && *byte != b'=' || *byte == b'%');
    let range = at.end..at.end + length;
    (length >= 20 && mixes_letters_and_digits(&text[range.clone()])).then_some(range)
}

/// A token behind the name of its scheme.
fn after_scheme(text: &[u8], at: usize) -> Option<Range<usize>> {
    let blank = span(text, at, 4, |byte| matches!(byte, b' ' | b'\t'));
    if blank == 0 {
        return None;
    }
    let length = span(text, at + blank, TOKEN_MAX, |byte| {
        base64(byte) || matches!(byte, b'.' | b'~' | b':')
    });
    let range = at + blank..at + blank + length;
    let token = &text[range.clone()];
    let random = length >= 8 && token.iter().any(u8::is_ascii_digit)
        || length >= 20 && readable_share(token) < 0.5;
    (random && !is_placeholder(token)).then_some(range)
}

/// The credentials in an `Authorization` header, in whatever notation the header is written.
fn authorization(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    let mark = |byte: &u8| matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b' ' | b']' | b')');
    let colon = at.end + span(text, at.end, 4, mark);
    if !matches!(text.get(colon), Some(b':' | b'=' | b',')) {
        return None;
    }
    let scheme = colon + 1 + span(text, colon + 1, 6, mark);
    let name = span(text, scheme, 24, name_or_dash);
    if let Some(token) = after_scheme(text, scheme + name) {
        return Some(token);
    }
    let length = span(text, scheme, TOKEN_MAX, |byte| base64(byte) || *byte == b'.');
    let range = scheme..scheme + length;
    let token = &text[range.clone()];
    let random = length >= 16 && mixes_letters_and_digits(token) && readable_share(token) < 0.6;
    (random && !is_placeholder(token)).then_some(range)
}
