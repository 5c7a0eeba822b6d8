//! The lifetime of a hint: until the daemon ends, for ever, or an ISO-8601 duration.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::limits;

/// The lifetime of a hint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Ttl {
    /// Until the daemon shuts down cleanly.
    #[default]
    Session,
    /// Until it is deleted.
    Forever,
    /// For this long after its last change, across restarts of the daemon.
    For(Lifetime),
}

/// A duration, as it was written and in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lifetime {
    text: String,
    ms: i64,
}

/// The units in the order in which they are written. `T` precedes the hours.
const UNITS: [(char, i64); 5] =
    [('W', 7 * 86_400_000), ('D', 86_400_000), ('H', 3_600_000), ('M', 60_000), ('S', 1000)];
const FIRST_UNIT_OF_TIME: usize = 2;

impl Ttl {
    /// Reads `session`, `forever`, a number with one of `s`, `m`, `h`, `d` and `w`, or `P[nW][nD][T[nH][nM][nS]]` with
    /// a fraction on the last number only. Years and months have no fixed length and are refused.
    pub fn parse(text: &str) -> Result<Ttl, String> {
        match text {
            "session" => return Ok(Ttl::Session),
            "forever" => return Ok(Ttl::Forever),
            _ => {}
        }
        let long = short_duration(text);
        let ms = duration_ms(long.as_deref().unwrap_or(text)).ok_or_else(|| {
            let shown: String = text.chars().take(40).collect();
            format!("'{shown}' is not session, forever or a duration such as 2h, PT2H or P1W")
        })?;
        if ms < 1 {
            return Err("the duration is zero".to_owned());
        }
        let max = limits::HINT_TTL_MS_MAX;
        if ms > max {
            let days = max / 86_400_000;
            return Err(format!("the duration is longer than {days} days; use forever"));
        }
        Ok(Ttl::For(Lifetime { text: long.unwrap_or_else(|| text.to_owned()), ms }))
    }

    /// When a hint that was changed at this time expires; `None` if it has no duration.
    pub fn ends_at(&self, updated_at: i64) -> Option<i64> {
        match self {
            Ttl::Session | Ttl::Forever => None,
            Ttl::For(lifetime) => Some(updated_at.saturating_add(lifetime.ms)),
        }
    }

    /// The duration in words: `2 hours`, `1 day 12 hours`; `None` if it has none.
    pub fn in_words(&self) -> Option<String> {
        const UNITS: [(i64, &str); 4] =
            [(86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1000, "second")];
        let Ttl::For(Lifetime { ms, text }) = self else { return None };
        let mut rest = *ms;
        let counts = UNITS.map(|(unit, name)| {
            let count = rest / unit;
            rest %= unit;
            (count > 0).then(|| format!("{count} {name}{}", if count == 1 { "" } else { "s" }))
        });
        let words: Vec<String> = counts.into_iter().flatten().collect();
        // Milliseconds have no word here.
        Some(if rest > 0 { text.clone() } else { words.join(" ") })
    }

    pub fn as_str(&self) -> &str {
        match self {
            Ttl::Session => "session",
            Ttl::Forever => "forever",
            Ttl::For(lifetime) => &lifetime.text,
        }
    }
}

/// Converts `2h` to `PT2H`, the stored form; `None` for other texts.
fn short_duration(text: &str) -> Option<String> {
    let number = text.strip_suffix(['s', 'm', 'h', 'd', 'w'])?;
    let unit = text[number.len()..].to_uppercase();
    let time = if matches!(unit.as_str(), "D" | "W") { "" } else { "T" };
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| format!("P{time}{number}{unit}"))
}

/// Milliseconds of a duration; `None` if it is malformed.
fn duration_ms(text: &str) -> Option<i64> {
    let mut rest = text.strip_prefix('P')?;
    let (mut total, mut next_unit, mut in_time, mut ended) = (0_i64, 0, false, false);
    while !rest.is_empty() {
        if let Some(time) = rest.strip_prefix('T').filter(|time| !in_time && !time.is_empty()) {
            (rest, in_time) = (time, true);
            next_unit = next_unit.max(FIRST_UNIT_OF_TIME);
        }
        let digits = rest.find(|c: char| !matches!(c, '0'..='9' | '.' | ','))?;
        let (number, after) = rest.split_at(digits);
        let letter = after.chars().next()?;
        let unit = (next_unit..UNITS.len()).find(|unit| UNITS[*unit].0 == letter)?;
        if ended || (unit >= FIRST_UNIT_OF_TIME) != in_time {
            return None;
        }
        let (ms, fractional) = number_ms(number, UNITS[unit].1)?;
        total = total.checked_add(ms)?;
        // Only the last number may have a fraction, so nothing may follow one.
        ended = fractional;
        next_unit = unit + 1;
        rest = &after[1..];
    }
    (next_unit > 0 && (!in_time || next_unit > FIRST_UNIT_OF_TIME)).then_some(total)
}

/// Milliseconds of a number of units, and whether the number has a fraction.
fn number_ms(number: &str, unit_ms: i64) -> Option<(i64, bool)> {
    let Some((whole, fraction)) = number.split_once(['.', ',']) else {
        return Some((number.parse::<i64>().ok()?.checked_mul(unit_ms)?, false));
    };
    if fraction.is_empty() || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    // Nine digits are more precise than milliseconds, and never overflow with the largest unit.
    let digits = &fraction[..fraction.len().min(9)];
    let scale = 10_i64.pow(u32::try_from(digits.len()).ok()?);
    let part = digits.parse::<i64>().ok()?.checked_mul(unit_ms)? / scale;
    let whole = whole.parse::<i64>().ok()?.checked_mul(unit_ms)?;
    Some((whole.checked_add(part)?, true))
}

impl fmt::Display for Ttl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Ttl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Ttl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ttl::parse(&text).map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Ttl {
    fn schema_name() -> Cow<'static, str> {
        "Ttl".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_read_by_the_grammar_and_nothing_else_is() {
        for (text, ms) in [
            ("PT2H", 7_200_000),
            ("P1D", 86_400_000),
            ("P1W", 604_800_000),
            ("P1W1DT1H1M1S", 694_861_000),
            ("PT0.5S", 500),
            ("PT1,5H", 5_400_000),
            ("P0.5D", 43_200_000),
            ("PT0H30M", 1_800_000),
            ("PT0.001S", 1),
        ] {
            let ttl = Ttl::parse(text).unwrap();
            assert_eq!((ttl.ends_at(10), ttl.as_str()), (Some(ms + 10), text), "{text}");
        }
        for (short, long) in
            [("2h", "PT2H"), ("30m", "PT30M"), ("45s", "PT45S"), ("7d", "P7D"), ("2w", "P2W")]
        {
            assert_eq!(Ttl::parse(short), Ttl::parse(long), "{short}");
        }
        for text in [
            "0h",
            "h",
            "1.5h",
            "",
            "P",
            "PT",
            "P1",
            "1D",
            "P1Y",
            "P1M",
            "P1DT",
            "PT1D",
            "PT1S1M",
            "P1H",
            "P-1D",
            "-P1D",
            "PT1.5H30M",
            "PT.5S",
            "PT5.S",
            "PT1.2.3S",
            "PT0S",
            "P0D",
            "PT0.0001S",
            "banana",
            "pt2h",
            "Session",
            "P1D ",
            "PTT1S",
            "P1DT1HT1M",
            "P99999999999999999999D",
            "P40000D",
            "PTé",
            "P1É",
            "PT1H1H",
        ] {
            assert!(Ttl::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn session_and_forever_have_no_expiry_time() {
        for text in ["session", "forever"] {
            assert_eq!(Ttl::parse(text).unwrap().ends_at(10), None);
        }
        assert_eq!(Ttl::parse("P36500D").unwrap().ends_at(i64::MAX), Some(i64::MAX));
    }
}
