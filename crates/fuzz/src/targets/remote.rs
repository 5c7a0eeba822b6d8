//! Remote addresses: the host is the one that git would contact, and no credential is kept.

use git::{RepoName, normal_remote};

use crate::dice::Dice;
use crate::grammar::{self, PLANTED};
use crate::mutate::mutate;
use crate::target::{Checked, Flaw, ensure};

/// The host that a hostile address tries to impersonate.
const VICTIM: &str = "victim.example";

pub(crate) fn generate(dice: &mut Dice) -> Vec<u8> {
    let mut url = String::new();
    if dice.one_in(3) {
        for _ in 0..dice.few(16) {
            url.push_str(dice.pick::<&str>(PARTS));
        }
    } else {
        well_formed(dice, &mut url);
    }
    let mut bytes = url.into_bytes();
    if dice.one_in(3) {
        mutate(dice, &mut bytes, b"https://victim.example/acme/secret");
    }
    bytes
}

#[rustfmt::skip]
const PARTS: &[&str] = &[
    "https://", "http://", "ssh://", "git://", "git+ssh://", "file://", "ftp://", "HTTPS://", "x://", "://",
    "//", "/", "\\", ":", "::", "@", "@@", "?", "#", "%40", "%2f", "%3a", "[", "]", "[::1]", ":22", ":443",
    ":0", ":99999", ":x", "~", "..", ".", ".git", "git", "git:", "git@", "user:pass@", VICTIM, VICTIM,
    "evil.example", "acme", "secret", "/acme/secret", "C:", "\t", " ", "\0", "é",
];

/// A scheme or none, credentials or none, a host, a port or none, a path.
fn well_formed(dice: &mut Dice, url: &mut String) {
    let host =
        *dice.pick(&[VICTIM, "evil.example", "EVIL.example", "[::1]", "localhost", "127.0.0.1"]);
    let user = match dice.below(4) {
        0 => "git@".to_owned(),
        1 => format!("user:{PLANTED}@"),
        2 => format!("{}@", dice.pick(&["victim.example", "a@b", "a:b:c", "x/y", ":", ""])),
        _ => String::new(),
    };
    let path = *dice.pick(&[
        "/acme/secret",
        "/acme/secret.git/",
        "/@victim.example/acme/secret",
        "/",
        "",
        "//a//b",
    ]);
    if dice.one_in(3) {
        let path = path.trim_start_matches('/');
        url.push_str(&format!("{user}{host}:{path}"));
    } else {
        let scheme = *dice.pick(&["https", "http", "ssh", "git", "git+ssh", "ftp"]);
        let port = *dice.pick(&["", "", ":", ":22", ":443", ":8443", ":0"]);
        url.push_str(&format!("{scheme}://{user}{host}{port}{path}"));
    }
}

pub(crate) fn check(input: &[u8]) -> Checked {
    let text = String::from_utf8_lossy(input);
    // Git reads a remote from one line of its configuration.
    let url = text.lines().next().unwrap_or_default();
    let key = normal_remote(url);
    ensure(normal_remote(url) == key, || "two answers for one address".to_owned())?;
    let key = key.unwrap_or_default();
    if has_password(url)
        && let Some(secret) = grammar::leaked(&key)
    {
        return Err(Flaw::Wrong(format!("{url:?} becomes {key:?}, with a password: {secret}")));
    }
    let taken = key.split(['/', ':']).next().unwrap_or_default();
    // Git's rules for brackets and `%xx` are not repeated here: the tests of the crate `git` compare with git itself.
    let is_simple = !url.contains(['[', '%']);
    if is_simple
        && taken == VICTIM
        && !asked_host(url).is_some_and(|host| host.eq_ignore_ascii_case(VICTIM))
    {
        return Err(Flaw::Wrong(format!(
            "{url:?} counts as {key:?}, git asks {:?}",
            asked_host(url)
        )));
    }
    let (named, meant) =
        (RepoName::parse(url), RepoName::parse("https://victim.example/acme/secret"));
    ensure(named.is(&named), || format!("{url:?} is not itself"))?;
    ensure(named.is(&meant) == meant.is(&named), || format!("{url:?}: not the same both ways"))
}

/// Whether the planted secret is in the password part of the address.
fn has_password(url: &str) -> bool {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(PLANTED))
}

/// The host that git contacts, as spelled in the address; `None` for a local path.
fn asked_host(url: &str) -> Option<&str> {
    let url = url.trim();
    let whole = match url.split_once("://") {
        Some((scheme, rest)) if !scheme.is_empty() && !scheme.contains(['/', ':', '@']) => {
            let web = scheme.to_ascii_lowercase().starts_with("http");
            let ends: &[char] = if web { &['/', '?', '#'] } else { &['/'] };
            rest.split(ends).next()
        }
        _ => {
            let head = url.split('/').next().unwrap_or_default();
            if !head.contains(':') {
                // `host/org/repo`, as copied from a browser. Git treats it as a path.
                return url.split('/').next();
            }
            head.split(':').next()
        }
    };
    let host = whole.map(|whole| whole.rsplit_once('@').map_or(whole, |(_, host)| host))?;
    match host.starts_with('[') {
        true => Some(host),
        false => host.split(':').next(),
    }
}
