//! A value that was found once is redacted at every repetition, even without any context that marks it as secret.

use std::borrow::Cow;

use serde_json::Value;

use super::judge::{is_placeholder, is_plain_name, readable_share};
use super::{Finding, Profile, assignment, find, is_redaction, without};

/// Shortest value whose repetitions are redacted. Shorter ones occur by chance.
const SHORTEST: usize = 6;
/// From this length on, a repetition counts even inside a longer word.
const UNMISTAKABLE: usize = 8;
/// Words of fewer letters occur by chance: `production` may be a password and still be an ordinary word.
const LONG_WORD: usize = 16;
/// Numbers of fewer digits occur by chance, as dates do.
const LONG_NUMBER: usize = 10;
/// How many different values are collected. Bounds the cost of hostile text.
const VALUES_MAX: usize = 64;

/// The secrets of one record, so that each can be redacted in all of its texts.
#[derive(Default)]
pub struct KnownValues {
    values: Vec<(&'static str, String)>,
}

impl KnownValues {
    /// Collects the secrets in a text.
    pub fn collect(&mut self, text: &str, profile: Profile) {
        self.remember(text, &find(text, profile));
    }

    /// Collects the text of a member whose name marks it as a secret.
    pub fn collect_member(&mut self, name: &str, text: &str) {
        if assignment::is_secret_member(name, text) {
            self.add("secret-member", text);
        }
    }

    /// Collects the secrets in all texts of a value, and the texts of members whose names mark them as secrets.
    pub fn collect_json(&mut self, value: &Value, profile: Profile) {
        match value {
            Value::String(text) => self.collect(text, profile),
            Value::Array(items) => items.iter().for_each(|item| self.collect_json(item, profile)),
            Value::Object(members) => {
                for (name, value) in members {
                    self.collect(name, profile);
                    if let Value::String(text) = value {
                        self.collect_member(name, text);
                    }
                    self.collect_json(value, profile);
                }
            }
            _ => {}
        }
    }

    pub(super) fn remember(&mut self, text: &str, found: &[Finding]) {
        for Finding { rule, range } in found {
            self.add(rule, &text[range.clone()]);
        }
    }

    pub(super) fn add(&mut self, rule: &'static str, value: &str) {
        let known = || self.values.iter().any(|(_, known)| known == value);
        if self.values.len() < VALUES_MAX && is_worth_finding(value) && !known() {
            self.values.push((rule, value.to_owned()));
        }
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Replaces every repetition of a collected value by `[redacted:rule]`.
    pub fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut safe = Cow::Borrowed(text);
        for (rule, value) in &self.values {
            let found: Vec<Finding> = safe
                .match_indices(value.as_str())
                .map(|(at, _)| Finding { rule, range: at..at + value.len() })
                .filter(|finding| {
                    stands_alone(&safe, finding) && !is_redaction(&safe, &finding.range)
                })
                .collect();
            if !found.is_empty() {
                safe = Cow::Owned(without(&safe, &found));
            }
        }
        safe
    }

    /// Redacts every repetition of a collected value in JSON, in texts and member names.
    pub fn hide_json(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.hide(&text).into_owned()),
            Value::Array(items) => {
                Value::Array(items.into_iter().map(|item| self.hide_json(item)).collect())
            }
            Value::Object(members) => {
                let member = |(name, value): (String, Value)| {
                    (self.hide(&name).into_owned(), self.hide_json(value))
                };
                Value::Object(members.into_iter().map(member).collect())
            }
            plain => plain,
        }
    }
}

/// Whether a value is so distinctive that a repetition is not a coincidence.
fn is_worth_finding(value: &str) -> bool {
    let bytes = value.as_bytes();
    let shortest = if bytes.iter().all(u8::is_ascii_digit) {
        LONG_NUMBER
    } else if is_plain_name(bytes) && readable_share(bytes) >= 0.5 {
        LONG_WORD
    } else {
        SHORTEST
    };
    value.len() >= shortest && !is_placeholder(bytes)
}

/// Whether a repetition counts: a short value must not be part of a longer word.
fn stands_alone(text: &str, finding: &Finding) -> bool {
    let value = &text[finding.range.clone()];
    if value.len() >= UNMISTAKABLE && !is_plain_name(value.as_bytes()) {
        return true;
    }
    let before = text[..finding.range.start].chars().next_back();
    let behind = text[finding.range.end..].chars().next();
    !before.is_some_and(char::is_alphanumeric) && !behind.is_some_and(char::is_alphanumeric)
}
