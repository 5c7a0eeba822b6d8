//! The secret guard: finds what looks like a credential in text, names the rule and never the value.
//!
//! Rules are checked in the order of their cost. A table made at build time finds the keywords of all
//! rules in one pass; each leads to a check by hand (`shapes`, `assignment`, `command`) or to the regex of
//! a `public` rule, compiled at its first use. The checks of a single profile are in `entropy`. A value that
//! was found is redacted at every repetition (`repeats`).

mod assignment;
mod bytes;
mod command;
mod entropy;
mod judge;
mod prefilter;
mod public;
mod repeats;
mod shapes;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::{Deref, Range};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use prefilter::{LeadsTo, Own};
pub use repeats::KnownValues;

/// The most passes over a text; after the last one the text counts as redacted.
const REDACTIONS: usize = 8;
/// The longest name of a rule.
const NAME_MAX: usize = 64;

/// How strict the guard is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// For captured text: known shapes, and long random words.
    Strict,
    /// For text that a user wrote on purpose: known shapes, and long hex.
    Declared,
}

/// A place that looks like a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule, to be shown; the value never is.
    pub rule: &'static str,
    /// The range of the value, on character boundaries.
    pub range: Range<usize>,
}

/// A value that the guard has redacted. Only this module can create one.
#[derive(Clone, PartialEq, Eq)]
pub struct Redacted<T>(T);

impl<T> Redacted<T> {
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> Deref for Redacted<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: fmt::Debug> fmt::Debug for Redacted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: Serialize> Serialize for Redacted<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// Deserialising is another way to create one, so the text goes through the guard, too.
impl<'de> Deserialize<'de> for Redacted<String> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(redact(&Cow::<str>::deserialize(deserializer)?, Profile::Strict))
    }
}

impl<'de> Deserialize<'de> for Redacted<Value> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(redact_json(Value::deserialize(deserializer)?, Profile::Strict))
    }
}

impl Redacted<Value> {
    /// The object with the missing members added from `more`. Both are already redacted.
    #[must_use]
    pub fn with(&self, more: &Redacted<Value>) -> Redacted<Value> {
        let mut members = self.0.as_object().cloned().unwrap_or_default();
        for (name, value) in more.0.as_object().into_iter().flatten() {
            members.entry(name).or_insert_with(|| value.clone());
        }
        Redacted(Value::Object(members))
    }
}

impl Redacted<String> {
    /// The first characters of it, as one printable line.
    #[must_use]
    pub fn line(&self, max_chars: usize) -> Redacted<String> {
        Redacted(crate::one_line(&self.0, max_chars))
    }

    /// The first characters of it, with line breaks.
    #[must_use]
    pub fn head(mut self, max_chars: usize) -> Redacted<String> {
        // A character is at least a byte.
        if self.0.len() > max_chars
            && let Some((end, _)) = self.0.char_indices().nth(max_chars)
        {
            self.0.truncate(end);
        }
        self
    }
}

/// All findings in their order; where several overlap they are one, under the name of the first.
pub fn find(text: &str, profile: Profile) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    scan(text, profile, &mut |finding| {
        found.push(finding);
        true
    });
    // Of two findings that begin at the same place, the more specific rule gives the name.
    found.sort_by_key(|finding| {
        let Range { start, end } = finding.range;
        let on_command_line = finding.rule == "command-secret";
        (start, shapes::is_general(finding.rule), on_command_line, std::cmp::Reverse(end))
    });
    let mut merged: Vec<Finding> = Vec::with_capacity(found.len());
    for finding in found {
        match merged.last_mut() {
            Some(last) if finding.range.start < last.range.end => {
                last.range.end = last.range.end.max(finding.range.end);
            }
            _ => merged.push(finding),
        }
    }
    merged
}

/// One finding, if there is any. The scan stops at the first it finds, which is not always the leftmost.
pub fn first(text: &str, profile: Profile) -> Option<Finding> {
    let mut first = None;
    scan(text, profile, &mut |finding| {
        first = Some(finding);
        false
    });
    first
}

/// Replaces each finding, and each repetition of its value, by `[redacted:rule]`.
pub fn redact(text: &str, profile: Profile) -> Redacted<String> {
    Redacted(redacted(text, profile, &mut KnownValues::default()))
}

/// Redacts the name of a place (a path, the address of a repository) and keeps different places apart: a hash of the
/// replaced text follows each redaction. Otherwise two repositories could become one project.
pub fn redact_place(text: &str, profile: Profile) -> Redacted<String> {
    let mut safe = text.to_owned();
    for _ in 0..REDACTIONS {
        let found = find(&safe, profile);
        if found.is_empty() {
            break;
        }
        let mut next = String::with_capacity(safe.len());
        let mut at = 0;
        for Finding { rule, range } in found {
            let hash = short_hash(&safe[range.clone()]);
            next.push_str(&safe[at..range.start]);
            next.push_str(&format!("[redacted:{rule}]~{hash:08x}"));
            at = range.end;
        }
        next.push_str(&safe[at..]);
        safe = next;
    }
    Redacted(safe)
}

/// FNV-1a, folded to 32 bits: enough to keep places apart, and too short to recover a random text
/// from it.
fn short_hash(text: &str) -> u32 {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let [a, b, c, d, e, f, g, h] = hash.to_be_bytes();
    u32::from_be_bytes([a ^ e, b ^ f, c ^ g, d ^ h])
}

fn redacted(text: &str, profile: Profile, known: &mut KnownValues) -> String {
    let mut safe = text.to_owned();
    // The rest of a text may look like a secret only after its neighbour was redacted.
    for _ in 0..REDACTIONS {
        let found = find(&safe, profile);
        if found.is_empty() {
            break;
        }
        known.remember(&safe, &found);
        safe = known.hide(&without(&safe, &found)).into_owned();
    }
    safe
}

fn without(text: &str, found: &[Finding]) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut at = 0;
    for Finding { rule, range } in found {
        safe.push_str(&text[at..range.start]);
        safe.push_str("[redacted:");
        safe.push_str(rule);
        safe.push(']');
        at = range.end;
    }
    safe.push_str(&text[at..]);
    safe
}

/// The value with every text in it redacted, the names of members included. A member whose name says
/// that it is a secret loses its text even if the text itself does not look secret.
pub fn redact_json(value: Value, profile: Profile) -> Redacted<Value> {
    let mut known = KnownValues::default();
    let safe = redacted_json(value, profile, &mut known);
    Redacted(if known.is_empty() { safe } else { known.hide_json(safe) })
}

fn redacted_json(value: Value, profile: Profile, known: &mut KnownValues) -> Value {
    match value {
        Value::String(text) => Value::String(redacted(&text, profile, known)),
        Value::Array(items) => {
            let items = items.into_iter().map(|item| redacted_json(item, profile, known));
            Value::Array(items.collect())
        }
        Value::Object(members) => {
            let member = |(name, value): (String, Value)| {
                let value = match value {
                    Value::String(text) if assignment::is_secret_member(&name, &text) => {
                        known.add("secret-member", &text);
                        Value::String("[redacted:secret-member]".into())
                    }
                    value => redacted_json(value, profile, known),
                };
                (redacted(&name, profile, known), value)
            };
            Value::Object(members.into_iter().map(member).collect())
        }
        plain => plain,
    }
}

/// The prefix of a redaction.
const REDACTION: &str = "[redacted:";

/// The names of the rules whose redactions a text contains, each once and in order.
pub fn redacted_rules(text: &str) -> BTreeSet<&str> {
    let redactions = text.match_indices(REDACTION);
    let rules = redactions.filter_map(|(at, mark)| text[at + mark.len()..].split_once(']'));
    let is_rule = |rule: &&str| rule.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    rules.map(|(rule, _)| rule).filter(is_rule).collect()
}

/// The names of the rules whose redactions the texts of a JSON value contain, each once and in order.
pub fn redacted_rules_json(value: &Value) -> BTreeSet<&str> {
    match value {
        Value::String(text) => redacted_rules(text),
        Value::Array(items) => items.iter().flat_map(redacted_rules_json).collect(),
        Value::Object(members) => members.values().flat_map(redacted_rules_json).collect(),
        _ => BTreeSet::new(),
    }
}

/// The value masked for display: its two ends, or only asterisks if it is short.
pub fn mask(value: &str) -> String {
    let chars: Vec<char> = value.chars().collect();
    match chars.len() {
        length @ 0..=8 => "*".repeat(length),
        length => chars[..4].iter().chain(&['*'; 4]).chain(&chars[length - 4..]).collect(),
    }
}

/// Calls `found` with every finding until it returns `false`: first those at keywords, in the order of the keywords
/// rather than by rule, then those of the profile.
fn scan(text: &str, profile: Profile, found: &mut dyn FnMut(Finding) -> bool) {
    let bytes = text.as_bytes();
    let mut report = |finding: Finding| {
        let start = text.floor_char_boundary(finding.range.start);
        let end = finding.range.end + bytes::rest_of_name(text.as_bytes(), finding.range.end);
        let range = start..text.ceil_char_boundary(end);
        is_redaction(text, &range) || found(Finding { range, ..finding })
    };
    let mut windows = public::Windows::new();
    let mut progress = command::Progress::new();
    // How far SQL statements were read.
    let mut inserts = 0;
    let mut go_on = true;
    // The last finding by its shape: keywords inside it are ignored.
    let mut last = 0..0;
    prefilter::keywords(bytes, |leads_to, at| {
        go_on = match leads_to {
            LeadsTo::Own(_) if last.contains(&at.start) => true,
            LeadsTo::Own(Own::Cookie) => command::cookie_header(bytes, &at, &mut progress)
                .into_iter()
                .all(|range| report(Finding { rule: "cookie", range })),
            LeadsTo::Own(Own::Insert) => assignment::inserted(bytes, &at, &mut inserts)
                .into_iter()
                .all(|range| report(Finding { rule: "password", range })),
            LeadsTo::Own(Own::WindowsProgram) => {
                let mut report = |range| report(Finding { rule: "command-secret", range });
                command::run_windows_program(bytes, &at, &mut progress, &mut report)
            }
            LeadsTo::Own(Own::OptionFirst) => {
                let mut report = |range| report(Finding { rule: "command-secret", range });
                command::run_subcommand(bytes, &at, &mut progress, &mut report)
            }
            LeadsTo::Own(own) => shapes::at_keyword(bytes, own, at).is_none_or(|finding| {
                if !shapes::is_general(finding.rule) {
                    last = finding.range.clone();
                }
                report(finding)
            }),
            LeadsTo::Command(command) => {
                let mut report = |range| report(Finding { rule: "command-secret", range });
                command::run(bytes, command, &at, &mut progress, &mut report)
            }
            LeadsTo::Public(rule, check) => windows
                .hit(bytes, rule, check, at)
                .is_none_or(|window| public::run(bytes, &window, &mut report)),
        };
        go_on
    });
    go_on = go_on && windows.rest().all(|window| public::run(bytes, &window, &mut report));
    if !go_on {
        return;
    }
    match profile {
        Profile::Strict => {
            entropy::random_words(bytes, &mut |range| report(Finding { rule: "entropy", range }))
        }
        Profile::Declared => {
            entropy::long_hex(bytes, &mut |range| report(Finding { rule: "long-hex", range }))
        }
    };
}

/// Whether the range begins inside a `[redacted:…]` mark, which is not a secret.
fn is_redaction(text: &str, range: &Range<usize>) -> bool {
    const MARK: &[u8] = b"[redacted:";
    let text = text.as_bytes();
    let from = range.start.saturating_sub(MARK.len() + NAME_MAX);
    let before = &text[from..text.len().min(range.start + MARK.len())];
    let Some(mark) = before.windows(MARK.len()).rposition(|window| window == MARK) else {
        return false;
    };
    let name = from + mark + MARK.len();
    let length = bytes::span(text, name, NAME_MAX, |byte| *byte != b']');
    let known = std::str::from_utf8(&text[name..name + length])
        .is_ok_and(|name| shapes::NAMES.contains(&name) || public::is_id(name));
    known && text.get(name + length) == Some(&b']') && name + length >= range.start
}
