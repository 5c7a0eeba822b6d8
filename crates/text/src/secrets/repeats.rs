//! A value that was found once is redacted at every repetition, even without any context that marks it as secret.

use std::borrow::Cow;

use serde_json::Value;

use super::judge::{is_placeholder, is_plain_name};
use super::{Finding, Profile, assignment, find, is_redaction, without};

/// Shortest value whose repetitions are redacted.
const SHORTEST: usize = 4;
/// From this length on, repetitions are redacted even if the value is a word or a number. Shorter ones occur by chance.
const LONG: usize = 6;
/// From this length on, a repetition counts even inside a longer word.
const UNMISTAKABLE: usize = 8;
/// How many different values are collected. Bounds the cost of hostile text.
const VALUES_MAX: usize = 64;

/// Default passwords and other values that are also ordinary words of a record: `PGPASSWORD=postgres` must not redact the
/// name of the database. In lower case.
const COMMON: [&str; 62] = [
    "access",
    "account",
    "administrator",
    "admin123",
    "alpine",
    "application",
    "backend",
    "branch",
    "client",
    "cluster",
    "command",
    "container",
    "database",
    "debian",
    "default",
    "deploy",
    "development",
    "django",
    "docker",
    "elastic",
    "elasticsearch",
    "example",
    "github",
    "gitlab",
    "grafana",
    "jenkins",
    "keycloak",
    "laravel",
    "letmein",
    "localhost",
    "mariadb",
    "master",
    "minioadmin",
    "mongodb",
    "nextcloud",
    "oracle",
    "passphrase",
    "passwd",
    "password",
    "password1",
    "postgres",
    "postgresql",
    "private",
    "production",
    "project",
    "public",
    "rabbitmq",
    "remote",
    "secret",
    "secrets",
    "server",
    "service",
    "staging",
    "symfony",
    "system",
    "testing",
    "ubuntu",
    "username",
    "vagrant",
    "welcome",
    "windows",
    "wordpress",
];

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
            let value = &text[range.clone()];
            self.add(rule, value);
            if value.contains(['\'', '"', '\\']) {
                self.add(rule, &without_shell_quotes(value));
            }
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

/// A value as the program gets it and its output may repeat it: `it's` for `it'\''s`, `it'"'"'s` and `it\'s`.
fn without_shell_quotes(value: &str) -> String {
    let value = value.replace(r"'\''", "'").replace(r#"'"'"'"#, "'");
    let mut plain = String::with_capacity(value.len());
    let mut chars = value.chars().peekable();
    while let Some(c) = chars.next() {
        let escapes = c == '\\' && chars.peek().is_some_and(|next| !next.is_ascii_alphanumeric());
        plain.extend(if escapes { chars.next() } else { Some(c) });
    }
    plain
}

/// Whether the repetitions of a value are redacted: those of a short one only if it has a sign or mixes letters and
/// digits, and never those of a default password.
fn is_worth_finding(value: &str) -> bool {
    let bytes = value.as_bytes();
    let plain = is_plain_name(bytes) || bytes.iter().all(u8::is_ascii_digit);
    let shortest = if plain { LONG } else { SHORTEST };
    let common = COMMON.iter().any(|word| value.eq_ignore_ascii_case(word));
    value.len() >= shortest && !common && !assignment::is_ordinary(bytes) && !is_placeholder(bytes)
}

/// Whether a repetition counts: a short value, a word or a number must not be part of a longer word.
fn stands_alone(text: &str, finding: &Finding) -> bool {
    let value = &text[finding.range.clone()];
    let plain = is_plain_name(value.as_bytes()) || value.bytes().all(|byte| byte.is_ascii_digit());
    if value.len() >= UNMISTAKABLE && !plain {
        return true;
    }
    let before = text[..finding.range.start].chars().next_back();
    let behind = text[finding.range.end..].chars().next();
    let in_word = |c: char| c.is_alphanumeric() || plain && c == '_';
    !before.is_some_and(in_word) && !behind.is_some_and(in_word)
}
