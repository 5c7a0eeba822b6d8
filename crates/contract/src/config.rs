//! Declared settings: each key once, with its type, default, environment name and doc.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use model::hint::Ttl;
use model::limits;
use model::observation::RecordType;
use serde_json::Value;

/// The type of a setting's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigKind {
    Integer,
    /// A number that is not above this one.
    UpTo(u64),
    Boolean,
    Text,
    /// A number from 0 to 65535; 0 lets the system choose.
    Port,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A comma-separated list of toolsets, which the table knows.
    Toolsets,
    /// A number with a unit: `500ms`, `30s`, `10m`, `12h`, `7d`.
    Duration,
    /// How long something is kept: `session`, `forever`, or an ISO-8601 duration.
    Lifetime,
    /// Days by type of record: `TYPE=DAYS`, separated by commas. The table knows the types.
    DaysByType,
    /// A text in a format that only the setting's owner knows.
    Form(&'static TextForm),
}

/// The format of a text that only the setting's owner knows; identified by its word.
#[derive(Clone, Copy, Debug)]
pub struct TextForm {
    pub word: &'static str,
    /// The expected format, for error messages.
    pub like: &'static str,
    /// Whether a text has this format.
    pub fits: fn(&str) -> bool,
}

impl PartialEq for TextForm {
    fn eq(&self, other: &TextForm) -> bool {
        self.word == other.word
    }
}

impl Eq for TextForm {}

impl ConfigKind {
    pub fn word(self) -> &'static str {
        match self {
            ConfigKind::Integer | ConfigKind::UpTo(_) => "integer",
            ConfigKind::Boolean => "boolean",
            ConfigKind::Text => "text",
            ConfigKind::Port => "port",
            ConfigKind::Choice(_) => "word",
            ConfigKind::Toolsets => "list of toolsets",
            ConfigKind::Duration => "duration",
            ConfigKind::Lifetime => "lifetime",
            ConfigKind::DaysByType => "list of days by type",
            ConfigKind::Form(form) => form.word,
        }
    }
}

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct ConfigKey {
    /// Dotted name in `config.toml`, for example `daemon.port`.
    pub key: &'static str,
    pub kind: ConfigKind,
    pub default: &'static str,
    /// Environment names that override the file, ours first.
    pub env: &'static [&'static str],
    pub doc: &'static str,
}

/// The settings in force: every declared key has a valid value.
#[derive(Clone, Debug, Default)]
pub struct Config {
    values: BTreeMap<&'static str, String>,
    /// The keys that were set, even if to their default.
    set: BTreeSet<&'static str>,
}

impl Config {
    /// The defaults of these keys.
    pub fn defaults<'k>(keys: impl IntoIterator<Item = &'k ConfigKey>) -> Config {
        let values = keys.into_iter().map(|key| (key.key, key.default.to_owned())).collect();
        Config { values, set: BTreeSet::new() }
    }

    /// Sets a value after checking it against the key's kind.
    pub fn set(&mut self, key: &ConfigKey, value: &str) -> Result<(), String> {
        let good = match key.kind {
            ConfigKind::Integer => value.parse::<u64>().is_ok(),
            ConfigKind::UpTo(max) => value.parse::<u64>().is_ok_and(|number| number <= max),
            ConfigKind::Boolean => boolean(value).is_some(),
            ConfigKind::Text | ConfigKind::Toolsets => true,
            ConfigKind::Port => value.parse::<u16>().is_ok(),
            ConfigKind::Choice(words) => words.contains(&value),
            ConfigKind::Duration => duration(value).is_some(),
            ConfigKind::Lifetime => Ttl::parse(value).is_ok(),
            ConfigKind::DaysByType => days_by_type(value).is_some(),
            ConfigKind::Form(form) => (form.fits)(value),
        };
        if !good {
            let like = match key.kind {
                ConfigKind::Duration => " such as 500ms, 30s, 10m, 12h or 7d".to_owned(),
                ConfigKind::Lifetime => ": session, forever, or one such as PT2H or P1D".to_owned(),
                ConfigKind::Boolean => ": true or false".to_owned(),
                ConfigKind::Port => " from 0 to 65535".to_owned(),
                ConfigKind::Choice(words) => {
                    let meant = text::suggest::did_you_mean(value, words.iter().copied());
                    let meant = meant.map(|meant| format!(". {meant}")).unwrap_or_default();
                    format!(": {}{meant}", words.join(", "))
                }
                ConfigKind::UpTo(max) => format!(" from 0 to {max}"),
                ConfigKind::DaysByType => {
                    ": TYPE=DAYS, separated by commas, such as file_read=30,command=0".to_owned()
                }
                ConfigKind::Form(form) => format!(": {}", form.like),
                _ => String::new(),
            };
            return Err(format!(
                "{} wants {} {}{like}; it cannot be '{}'",
                key.key,
                article(key.kind),
                key.kind.word(),
                text::one_line(value, limits::PREVIEW_CHARS)
            ));
        }
        self.values.insert(key.key, value.to_owned());
        self.set.insert(key.key);
        Ok(())
    }

    /// Whether the user set this key, in the file or in the environment.
    pub fn is_set(&self, key: &str) -> bool {
        self.set.contains(key)
    }

    pub fn text(&self, key: &str) -> &str {
        self.values.get(key).map_or("", String::as_str)
    }

    /// A value as JSON, with its type.
    pub fn json(&self, key: &ConfigKey) -> Value {
        match key.kind {
            ConfigKind::Integer | ConfigKind::UpTo(_) | ConfigKind::Port => {
                self.integer(key.key).into()
            }
            ConfigKind::Boolean => self.boolean(key.key).into(),
            _ => self.text(key.key).into(),
        }
    }

    pub fn integer(&self, key: &str) -> u64 {
        self.text(key).parse().unwrap_or_default()
    }

    pub fn boolean(&self, key: &str) -> bool {
        boolean(self.text(key)).unwrap_or_default()
    }

    pub fn duration(&self, key: &str) -> Duration {
        duration(self.text(key)).unwrap_or_default()
    }
}

/// Types and their days as [`ConfigKind::DaysByType`] has them; none if the text has another form.
pub fn days_by_type(text: &str) -> Option<Vec<(RecordType, i64)>> {
    let days_of = |item: &String| {
        let (kind, days) = item.split_once('=')?;
        let days = days.trim().parse().ok().filter(|days| *days >= 0)?;
        Some((RecordType::of(kind.trim())?, days))
    };
    place::listed(text).iter().map(days_of).collect()
}

fn article(kind: ConfigKind) -> &'static str {
    if kind.word() == "integer" { "an" } else { "a" }
}

fn boolean(text: &str) -> Option<bool> {
    match text {
        "true" | "1" | "on" | "yes" => Some(true),
        "false" | "0" | "off" | "no" => Some(false),
        _ => None,
    }
}

/// Reads `500ms`, `30s`, `10m`, `12h`, `7d`.
pub fn duration(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let number: u64 = text[..digits].parse().ok()?;
    let ms = match &text[digits..] {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    Some(Duration::from_millis(number.checked_mul(ms)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: ConfigKey = ConfigKey {
        key: "daemon.idle",
        kind: ConfigKind::Duration,
        default: "12h",
        env: &[],
        doc: "",
    };

    #[test]
    fn a_lifetime_is_checked_before_it_is_set() {
        let key = ConfigKey {
            key: "hints.default_ttl",
            kind: ConfigKind::Lifetime,
            default: "session",
            ..IDLE
        };
        let mut config = Config::defaults([&key]);
        for good in ["session", "forever", "2h", "PT2H"] {
            assert_eq!(config.set(&key, good), Ok(()));
        }
        for bad in ["", "soon", "2y", "P1Y", "PT0S"] {
            let why = config.set(&key, bad).unwrap_err();
            assert!(why.contains("session, forever"), "{why}");
        }
        assert_eq!(config.text("hints.default_ttl"), "PT2H");
    }

    #[test]
    fn a_value_is_checked_before_it_is_set() {
        let mut config = Config::defaults([&IDLE]);
        assert_eq!(config.duration("daemon.idle"), Duration::from_secs(43_200));
        assert!(!config.is_set("daemon.idle"));
        assert!(config.set(&IDLE, "soon").is_err());
        assert!(config.set(&IDLE, "99999999999999999d").is_err());
        assert_eq!(config.set(&IDLE, "250ms"), Ok(()));
        assert_eq!(config.duration("daemon.idle"), Duration::from_millis(250));
        assert!(config.is_set("daemon.idle"));
    }

    const YES_WORD: TextForm = TextForm {
        word: "reply",
        like: "a text that begins with yes",
        fits: |text| text.starts_with("yes"),
    };

    #[test]
    fn every_kind_takes_its_values_and_explains_a_refusal() {
        for (kind, good, bad, wants) in [
            (ConfigKind::Integer, &["0", "18446744073709551615"][..], "-1", "an integer"),
            (ConfigKind::UpTo(9), &["0", "9"], "10", "an integer from 0 to 9"),
            (ConfigKind::Boolean, &["true", "0", "on", "no"], "TRUE", "a boolean: true or false"),
            (ConfigKind::Port, &["0", "65535"], "65536", "a port from 0 to 65535"),
            (ConfigKind::Choice(&["a", "b"]), &["a", "b"], "c", "a word: a, b"),
            (ConfigKind::Duration, &["500ms", "7d"], "7", "a duration such as 500ms, 30s"),
            (ConfigKind::Form(&YES_WORD), &["yes", "yes, please"], "no", "a reply: a text that"),
        ] {
            let key = ConfigKey { kind, default: "", ..IDLE };
            let mut config = Config::defaults([&key]);
            for value in good {
                assert_eq!(config.set(&key, value), Ok(()), "{kind:?}");
                assert_eq!(config.text(key.key), *value);
            }
            let why = config.set(&key, bad).unwrap_err();
            assert!(why.starts_with(&format!("daemon.idle wants {wants}")), "{why}");
            assert_eq!(config.text(key.key), good[good.len() - 1], "the last good value stays");
        }
        for kind in [ConfigKind::Text, ConfigKind::Toolsets] {
            let key = ConfigKey { kind, ..IDLE };
            assert_eq!(Config::default().set(&key, "anything"), Ok(()));
        }
    }

    #[test]
    fn a_value_has_the_json_type_of_its_kind() {
        for (kind, text, json) in [
            (ConfigKind::Integer, "7", serde_json::json!(7)),
            (ConfigKind::UpTo(9), "9", 9.into()),
            (ConfigKind::Port, "80", 80.into()),
            (ConfigKind::Boolean, "yes", true.into()),
            (ConfigKind::Boolean, "off", false.into()),
            (ConfigKind::Text, "7", "7".into()),
            (ConfigKind::Duration, "7d", "7d".into()),
        ] {
            let key = ConfigKey { kind, ..IDLE };
            let mut config = Config::default();
            config.set(&key, text).unwrap();
            assert_eq!(config.json(&key), json, "{kind:?}");
        }
    }

    #[test]
    fn every_unit_of_a_duration_has_its_length() {
        for (text, seconds) in
            [("2000ms", 2), ("30s", 30), ("10m", 600), ("12h", 43_200), ("7d", 604_800)]
        {
            assert_eq!(duration(text), Some(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "7", "s", "-1s", "1.5h", "1 s", "1S", "1w"] {
            assert_eq!(duration(text), None, "{text:?}");
        }
    }

    #[test]
    fn forms_of_texts_are_equal_if_their_words_are() {
        let other = TextForm { word: "question", ..YES_WORD };
        assert_eq!(TextForm { like: "", fits: |_| true, ..YES_WORD }, YES_WORD);
        assert_ne!(other, YES_WORD);
    }
}
