//! Moments as parameters: `yesterday`, `friday`, `3d`, `last week`, a date, an RFC 3339 time, or seconds
//! since 1970. Days and times without a zone are those of the machine's zone.

use std::fmt;

use model::time::parse_rfc3339;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use zone::{LocalTime, Zone};

/// A moment as a parameter: its meaning, and the text that the caller gave.
#[derive(Clone, Debug)]
pub struct TimeBound {
    when: When,
    text: String,
}

impl TimeBound {
    /// The exclusive end of the time before this moment, in milliseconds.
    pub fn before(&self, now_ms: i64) -> i64 {
        self.when.before(now_ms)
    }

    /// The last millisecond that is not after this moment.
    pub fn after(&self, now_ms: i64) -> i64 {
        self.when.after(now_ms)
    }

    /// The exclusive end of a time that ends at this moment, in milliseconds. A day without a time of day is included.
    pub fn until(&self, now_ms: i64) -> i64 {
        self.when.until(now_ms)
    }

    pub fn text(&self) -> &str {
        &self.text
    }
}

/// A moment; a relative one depends on the time of the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    /// Seconds since 1970, the precision of the times in answers.
    Second(i64),
    /// This many seconds before the call, and the seconds of the unit in which an age of this length is shown.
    Ago { seconds: i64, unit: i64 },
    /// A local date, or a day relative to the call, and the seconds since its midnight.
    Day(DayOf, i64),
}

/// A day that a person names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DayOf {
    /// Days since 1970.
    Date(i64),
    /// This many days before today.
    Before(i64),
    /// The last day that is this many days after a Monday: today counts, unless the text says `last`.
    Weekday { weekday: i64, last: bool },
    /// The first day of the week that is this many weeks before the current one; a week begins on Monday.
    Week(i64),
    /// The first day of the month that is this many months before the current one.
    Month(i64),
}

const DAY: i64 = 86_400;
const WEEKDAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const UNITS: [(&[&str], i64); 5] = [
    (&["s", "sec", "secs", "second", "seconds"], 1),
    (&["m", "min", "mins", "minute", "minutes"], 60),
    (&["h", "hour", "hours"], 3_600),
    (&["d", "day", "days"], DAY),
    (&["w", "week", "weeks"], 7 * DAY),
];

impl When {
    /// The exclusive end of the time before this moment, in milliseconds.
    fn before(self, now_ms: i64) -> i64 {
        self.seconds(now_ms, Zone::local).saturating_mul(1000)
    }

    /// The last millisecond that is not after this moment. `after` a second excludes that second; `after` a named day,
    /// with or without a time of day, includes it. An age includes its whole unit: ages are rounded down, and
    /// `after 3d` has to include all that is shown as `3d ago`.
    fn after(self, now_ms: i64) -> i64 {
        let begins = match self {
            When::Ago { seconds, unit } => {
                let seconds = seconds.saturating_add(unit);
                When::Ago { seconds, unit }.seconds(now_ms, Zone::local)
            }
            When::Second(_) | When::Day(..) => self.seconds(now_ms, Zone::local),
        };
        let begins = begins.saturating_mul(1000);
        match self {
            When::Day(..) => begins.saturating_sub(1),
            When::Second(_) | When::Ago { .. } => begins.saturating_add(999),
        }
    }

    /// The exclusive end of a time that ends at this moment, in milliseconds.
    fn until(self, now_ms: i64) -> i64 {
        match self {
            When::Day(day, 0) => {
                let zone = Zone::local();
                let days = day.days(zone.local_time(now_ms.div_euclid(1000)));
                zone.seconds(LocalTime::midnight(days.saturating_add(1))).saturating_mul(1000)
            }
            _ => self.before(now_ms),
        }
    }

    /// Seconds since 1970. The zone is asked for only where it matters: it is read from a file.
    fn seconds(self, now_ms: i64, zone: impl FnOnce() -> Zone) -> i64 {
        let now = now_ms.div_euclid(1000);
        match self {
            When::Second(second) => second,
            When::Ago { seconds, .. } => now.saturating_sub(seconds),
            When::Day(day, second) => {
                let zone = zone();
                let days = day.days(zone.local_time(now));
                zone.seconds(LocalTime { days, second })
            }
        }
    }

    fn parse(text: &str) -> Option<When> {
        let text = text.trim();
        if let Ok(seconds) = text.parse() {
            return Some(When::Second(seconds));
        }
        let lower = text.to_ascii_lowercase();
        // Without a zone it is a local time, which is read below.
        let zoned = text.len() > 19 && lower.as_bytes()[19..].iter().any(|b| b"z+-".contains(b));
        if zoned {
            return parse_rfc3339(text).map(|ms| When::Second(ms.div_euclid(1000)));
        }
        ago(&lower).or_else(|| {
            let (day, second) = day_and_time(&lower).unwrap_or((&lower, 0));
            Some(When::Day(DayOf::parse(day)?, second))
        })
    }
}

/// `3d`, `2 hours ago`, `a week ago`, `now`.
fn ago(text: &str) -> Option<When> {
    if text == "now" {
        return Some(When::Ago { seconds: 0, unit: 0 });
    }
    let said = text.strip_suffix(" ago").unwrap_or(text).trim();
    let digits = said.find(|c: char| !c.is_ascii_digit()).unwrap_or(said.len());
    let (number, unit) = match said.split_at(digits) {
        ("", rest) => (1, rest.strip_prefix("a ").or_else(|| rest.strip_prefix("an "))?),
        (number, rest) => (number.parse::<i64>().ok()?, rest),
    };
    let unit = unit.trim();
    let (_, seconds) = UNITS.iter().find(|(names, _)| names.contains(&unit))?;
    // Ages of weeks are shown in days.
    Some(When::Ago { seconds: number.checked_mul(*seconds)?, unit: *seconds.min(&DAY) })
}

/// The day and the seconds since its midnight of `yesterday 14:30`, `2026-01-31T14:30:05`.
fn day_and_time(text: &str) -> Option<(&str, i64)> {
    let colon = text.find(':')?;
    let at = text.get(..colon)?.rfind([' ', 't'])?;
    let number = |digits: &str, below: i64| -> Option<i64> {
        let digits = Some(digits).filter(|digits| (1..=2).contains(&digits.len()))?;
        digits.parse().ok().filter(|number| (0..below).contains(number))
    };
    let parts: Vec<&str> = text.get(at + 1..)?.split(':').collect();
    let (hour, minute, second) = match parts[..] {
        [hour, minute] => (hour, minute, "0"),
        // A fraction of a second is left out: times are shown to the second.
        [hour, minute, second] => (hour, minute, whole(second)?),
        _ => return None,
    };
    let seconds = number(hour, 24)? * 3_600 + number(minute, 60)? * 60 + number(second, 60)?;
    Some((text.get(..at)?.trim(), seconds))
}

/// A number without its fraction.
fn whole(number: &str) -> Option<&str> {
    match number.split_once('.') {
        Some((whole, fraction)) => {
            fraction.bytes().all(|byte| byte.is_ascii_digit()).then_some(whole)
        }
        None => Some(number),
    }
}

impl DayOf {
    fn parse(text: &str) -> Option<DayOf> {
        let (last, word) = match text.split_once(' ') {
            Some(("last", word)) => (true, word.trim()),
            Some(("this", word)) => (false, word.trim()),
            Some(("on", word)) => (false, word.trim()),
            Some(_) => return None,
            None => (false, text),
        };
        let back = i64::from(last);
        let known = match word {
            "today" if text == word => Some(DayOf::Before(0)),
            "yesterday" if text == word => Some(DayOf::Before(1)),
            "week" if text != word => Some(DayOf::Week(back)),
            "month" if text != word => Some(DayOf::Month(back)),
            _ => None,
        };
        let weekday = || {
            let is_it = |name: &&str| *name == word || name.get(..3) == Some(word);
            let weekday = i64::try_from(WEEKDAYS.iter().position(is_it)?).ok()?;
            Some(DayOf::Weekday { weekday, last })
        };
        known.or_else(weekday).or_else(|| date(text).map(DayOf::Date))
    }

    /// The day that this means at the time `now`, in days since 1970.
    fn days(self, now: LocalTime) -> i64 {
        let today = now.days;
        match self {
            DayOf::Date(days) => days,
            DayOf::Before(days) => today - days,
            DayOf::Weekday { weekday, last } => {
                let since = (now.weekday() - weekday).rem_euclid(7);
                today - if since == 0 && last { 7 } else { since }
            }
            DayOf::Week(back) => today - now.weekday() - 7 * back,
            DayOf::Month(back) => {
                let (year, month) = now.month();
                let months = year * 12 + month - 1 - back;
                let first = LocalTime::of_date(months.div_euclid(12), months.rem_euclid(12) + 1, 1);
                first.map_or(today, |first| first.days)
            }
        }
    }
}

/// The days from 1970 to a date such as `2026-01-31`.
fn date(text: &str) -> Option<i64> {
    let midnight = parse_rfc3339(&format!("{text}T00:00:00Z"))?;
    Some(midnight.div_euclid(DAY * 1000))
}

impl<'de> Deserialize<'de> for TimeBound {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<TimeBound, D::Error> {
        from.deserialize_any(OfWhen)
    }
}

struct OfWhen;

impl Visitor<'_> for OfWhen {
    type Value = TimeBound;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a date such as 2026-01-31, `yesterday`, `friday`, `last week`, an age such as 3d or 2h, \
             an RFC 3339 time, or seconds since 1970",
        )
    }

    fn visit_i64<E: Error>(self, seconds: i64) -> Result<TimeBound, E> {
        Ok(TimeBound { when: When::Second(seconds), text: seconds.to_string() })
    }

    fn visit_u64<E: Error>(self, seconds: u64) -> Result<TimeBound, E> {
        let when = When::Second(i64::try_from(seconds).unwrap_or(i64::MAX));
        Ok(TimeBound { when, text: seconds.to_string() })
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<TimeBound, E> {
        let when = When::parse(text);
        let when = when.ok_or_else(|| {
            let shown = text::one_line(text, 60);
            let expected = &self as &dyn serde::de::Expected;
            E::custom(format!("'{shown}' is not a time; write {expected}"))
        })?;
        Ok(TimeBound { when, text: text.to_owned() })
    }
}

impl JsonSchema for TimeBound {
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
        serde_json::from_value(value).ok().map(|bound: TimeBound| bound.when)
    }

    /// The second that a text means on Wednesday 2026-11-18, 12:00 UTC, in UTC.
    fn meant(value: Value) -> Option<i64> {
        let now = parse_rfc3339("2026-11-18T12:00:00Z").unwrap();
        read(value).map(|when| when.seconds(now, Zone::default))
    }

    #[test]
    fn a_moment_is_a_number_a_date_or_a_time_of_the_standard() {
        for value in [
            json!(1_769_817_600),
            json!("1769817600"),
            json!("2026-01-31"),
            json!("2026-01-31T00:00:00Z"),
            json!("2026-01-31T01:00:00.5+01:00"),
            json!("2026-01-31 00:00"),
            json!("2026-01-31T00:00:00"),
        ] {
            assert_eq!(meant(value.clone()), Some(1_769_817_600), "{value}");
        }
    }

    #[test]
    fn people_name_days_and_ages() {
        for (text, time) in [
            ("today", "2026-11-18T00:00:00Z"),
            ("yesterday", "2026-11-17T00:00:00Z"),
            ("Yesterday 14:30", "2026-11-17T14:30:00Z"),
            ("friday", "2026-11-13T00:00:00Z"),
            ("fri", "2026-11-13T00:00:00Z"),
            ("Wednesday", "2026-11-18T00:00:00Z"),
            ("last wednesday", "2026-11-11T00:00:00Z"),
            ("last friday 9:05", "2026-11-13T09:05:00Z"),
            ("this week", "2026-11-16T00:00:00Z"),
            ("last week", "2026-11-09T00:00:00Z"),
            ("this month", "2026-11-01T00:00:00Z"),
            ("last month", "2026-10-01T00:00:00Z"),
            ("3d", "2026-11-15T12:00:00Z"),
            ("3 days ago", "2026-11-15T12:00:00Z"),
            ("2h", "2026-11-18T10:00:00Z"),
            ("90m ago", "2026-11-18T10:30:00Z"),
            ("a week ago", "2026-11-11T12:00:00Z"),
            ("an hour ago", "2026-11-18T11:00:00Z"),
            ("2w", "2026-11-04T12:00:00Z"),
            ("now", "2026-11-18T12:00:00Z"),
            ("2026-11-15 05:18:43", "2026-11-15T05:18:43Z"),
        ] {
            let expected = parse_rfc3339(time).map(|ms| ms / 1000);
            assert_eq!(meant(json!(text)), expected, "{text}");
        }
    }

    #[test]
    fn a_text_that_names_no_moment_is_refused() {
        for value in [
            json!("soon"),
            json!("2026-02-30"),
            json!("3y"),
            json!("d"),
            json!("last"),
            json!("last today"),
            json!("week"),
            json!("99999999999999999999d"),
            json!("yesterday 25:00"),
            json!("2026-01-31T00:00:00é"),
            json!(1.5),
            json!([]),
            json!(""),
            json!("é:t:"),
        ] {
            assert_eq!(read(value.clone()), None, "{value}");
        }
    }

    #[test]
    fn both_bounds_exclude_a_second_and_after_includes_a_named_day() {
        let when = When::Second(10);
        assert_eq!((when.before(0), when.after(0)), (10_000, 10_999));
        assert_eq!(read(json!(u64::MAX)).map(|when| when.after(0)), Some(i64::MAX));
        let day = When::Day(DayOf::Date(1), 0);
        assert_eq!(day.before(0) - day.after(0), 1);
    }

    /// @moments_in_words
    #[test]
    fn after_an_age_includes_all_that_is_shown_as_that_age() {
        let now = parse_rfc3339("2026-11-18T12:00:00.700Z").unwrap();
        let shown = |at: i64| model::time::ago(at.div_euclid(1000) * 1000, now / 1000 * 1000);
        for age in ["3d", "1d", "2h", "5m", "30s"] {
            let last = read(json!(age)).unwrap().after(now);
            assert_eq!(shown(last + 1), format!("{age} ago"));
            assert_ne!(shown(last), format!("{age} ago"));
        }
        let last = read(json!("2w")).unwrap().after(now);
        assert_eq!((shown(last + 1), shown(last)), ("14d ago".into(), "15d ago".into()));
        assert_eq!(read(json!("now")).unwrap().after(now), now / 1000 * 1000 + 999);
    }
}
