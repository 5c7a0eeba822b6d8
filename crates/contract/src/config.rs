//! Declared settings: each key once, with its type, default, environment name and doc.

use std::collections::BTreeMap;
use std::time::Duration;

/// What a setting's value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigKind {
    Integer,
    Boolean,
    Text,
    /// A number with a unit: `500ms`, `30s`, `10m`, `12h`, `7d`.
    Duration,
}

impl ConfigKind {
    pub fn word(self) -> &'static str {
        match self {
            ConfigKind::Integer => "integer",
            ConfigKind::Boolean => "boolean",
            ConfigKind::Text => "text",
            ConfigKind::Duration => "duration",
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
}

impl Config {
    /// The defaults of these keys.
    pub fn defaults<'k>(keys: impl IntoIterator<Item = &'k ConfigKey>) -> Config {
        Config { values: keys.into_iter().map(|key| (key.key, key.default.to_owned())).collect() }
    }

    /// Sets a value after checking it against the key's kind.
    pub fn set(&mut self, key: &ConfigKey, value: &str) -> Result<(), String> {
        let good = match key.kind {
            ConfigKind::Integer => value.parse::<u64>().is_ok(),
            ConfigKind::Boolean => boolean(value).is_some(),
            ConfigKind::Text => true,
            ConfigKind::Duration => duration(value).is_some(),
        };
        if !good {
            let like = match key.kind {
                ConfigKind::Duration => " such as 500ms, 30s, 10m, 12h or 7d",
                ConfigKind::Boolean => ": true or false",
                _ => "",
            };
            return Err(format!(
                "{} wants {} {}{like}",
                key.key,
                article(key.kind),
                key.kind.word()
            ));
        }
        self.values.insert(key.key, value.to_owned());
        Ok(())
    }

    pub fn text(&self, key: &str) -> &str {
        self.values.get(key).map_or("", String::as_str)
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

fn article(kind: ConfigKind) -> &'static str {
    if kind == ConfigKind::Integer { "an" } else { "a" }
}

fn boolean(text: &str) -> Option<bool> {
    match text {
        "true" | "1" | "on" | "yes" => Some(true),
        "false" | "0" | "off" | "no" => Some(false),
        _ => None,
    }
}

/// Reads `500ms`, `30s`, `10m`, `12h`, `7d`.
fn duration(text: &str) -> Option<Duration> {
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
    fn a_value_is_checked_before_it_is_set() {
        let mut config = Config::defaults([&IDLE]);
        assert_eq!(config.duration("daemon.idle"), Duration::from_secs(43_200));
        assert!(config.set(&IDLE, "soon").is_err());
        assert!(config.set(&IDLE, "99999999999999999d").is_err());
        assert_eq!(config.set(&IDLE, "250ms"), Ok(()));
        assert_eq!(config.duration("daemon.idle"), Duration::from_millis(250));
    }
}
