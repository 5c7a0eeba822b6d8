//! Moments as parameters: seconds since 1970, a date, or an RFC 3339 time.

use std::fmt;

use model::time::parse_rfc3339;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// A moment, to the second: so are the times that answers show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct When(i64);

impl When {
    /// The end of what is before this second, in milliseconds, itself not included.
    pub(crate) fn before(self) -> i64 {
        self.0.saturating_mul(1000)
    }

    /// The beginning of what is after this second, itself not included.
    pub(crate) fn after(self) -> i64 {
        self.0.saturating_mul(1000).saturating_add(999)
    }

    fn parse(text: &str) -> Option<When> {
        if let Ok(seconds) = text.parse() {
            return Some(When(seconds));
        }
        let of_day = || parse_rfc3339(&format!("{text}T00:00:00Z"));
        parse_rfc3339(text).or_else(of_day).map(|ms| When(ms.div_euclid(1000)))
    }
}

impl<'de> Deserialize<'de> for When {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<When, D::Error> {
        from.deserialize_any(OfWhen)
    }
}

struct OfWhen;

impl Visitor<'_> for OfWhen {
    type Value = When;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("seconds since 1970, a date such as 2026-01-31, or an RFC 3339 time")
    }

    fn visit_i64<E: Error>(self, seconds: i64) -> Result<When, E> {
        Ok(When(seconds))
    }

    fn visit_u64<E: Error>(self, seconds: u64) -> Result<When, E> {
        Ok(When(i64::try_from(seconds).unwrap_or(i64::MAX)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<When, E> {
        When::parse(text).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))
    }
}

impl JsonSchema for When {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "When".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["integer", "string"] })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(value: Value) -> Option<When> {
        serde_json::from_value(value).ok()
    }

    #[test]
    fn a_moment_is_a_number_a_date_or_a_time_of_the_standard() {
        for value in [
            json!(1_769_817_600),
            json!("1769817600"),
            json!("2026-01-31"),
            json!("2026-01-31T00:00:00Z"),
            json!("2026-01-31T01:00:00.5+01:00"),
        ] {
            assert_eq!(read(value.clone()), Some(When(1_769_817_600)), "{value}");
        }
        for value in [json!("yesterday"), json!("2026-02-30"), json!(1.5), json!([]), json!("")] {
            assert_eq!(read(value.clone()), None, "{value}");
        }
    }

    #[test]
    fn neither_end_includes_the_second_itself() {
        let when = When(10);
        assert_eq!((when.before(), when.after()), (10_000, 10_999));
        assert_eq!(read(json!(u64::MAX)).map(When::after), Some(i64::MAX));
    }
}
