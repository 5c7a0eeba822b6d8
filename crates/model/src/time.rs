//! Times: integer milliseconds since 1970 in UTC, shown as RFC 3339 with `Z`.

/// `2026-11-15T05:18:43.120Z` for milliseconds since 1970.
pub fn rfc3339(at_ms: i64) -> String {
    let days = at_ms.div_euclid(86_400_000);
    let ms = at_ms.rem_euclid(86_400_000);
    let (year, month, day) = civil(days);
    let (hour, minute, second, milli) =
        (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60, ms % 1000);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
}

/// `2026-11-15T05:18:43Z` for milliseconds since 1970.
pub fn rfc3339_seconds(at_ms: i64) -> String {
    let text = rfc3339(at_ms);
    format!("{}Z", text.split('.').next().unwrap_or(&text))
}

/// Serde for seconds since 1970 that are written as an RFC 3339 time.
pub mod seconds_as_rfc3339 {
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(at: &i64, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&super::rfc3339_seconds(at.saturating_mul(1000)))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
        let text = String::deserialize(from)?;
        let at = super::parse_rfc3339(&text);
        at.map(|at| at.div_euclid(1000)).ok_or_else(|| D::Error::custom("not an RFC 3339 time"))
    }
}

/// Milliseconds since 1970 for an RFC 3339 time; one without a zone is UTC.
pub fn parse_rfc3339(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = text.get(from..to)?;
        digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let stands = |at: usize, allowed: &[u8]| bytes.get(at).is_some_and(|b| allowed.contains(b));
    if !(stands(4, b"-")
        && stands(7, b"-")
        && stands(10, b"Tt ")
        && stands(13, b":")
        && stands(16, b":"))
    {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let days = days_of(year, month, day)?;
    let (millis, rest) = fraction(text.get(19..)?)?;
    let zone = zone_minutes(rest)?;
    let minutes = days * 1_440 + hour * 60 + minute - zone;
    Some(minutes * 60_000 + second * 1000 + millis)
}

/// Milliseconds of a fraction of a second, and the rest of the text.
fn fraction(text: &str) -> Option<(i64, &str)> {
    let Some(rest) = text.strip_prefix('.') else { return Some((0, text)) };
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let digits = rest.get(..end).filter(|digits| !digits.is_empty())?;
    let millis: String = digits.chars().chain("000".chars()).take(3).collect();
    Some((millis.parse().ok()?, &rest[end..]))
}

/// Minutes a zone is ahead of UTC.
fn zone_minutes(text: &str) -> Option<i64> {
    let sign = match text.bytes().next() {
        None => return Some(0),
        Some(b'Z' | b'z') => return (text.len() == 1).then_some(0),
        Some(b'+') => 1,
        Some(b'-') => -1,
        Some(_) => return None,
    };
    let (hours, minutes) = text[1..].split_once(':')?;
    let number = |digits: &str, below: i64| {
        let digits = Some(digits).filter(|d| d.len() == 2 && d.bytes().all(|b| b.is_ascii_digit()));
        digits?.parse::<i64>().ok().filter(|number| *number < below)
    };
    Some(sign * (number(hours, 24)? * 60 + number(minutes, 60)?))
}

/// Days since 1970 of a date; `None` if there is no such date.
pub fn days_of(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1..=12).contains(&month) {
        return None;
    }
    let (shifted_year, month_index) =
        if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let era = shifted_year.div_euclid(400);
    let year_of_era = shifted_year.rem_euclid(400);
    let day_of_year = (153 * month_index + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = era * 146_097 + day_of_era - 719_468;
    (civil(days) == (year, month, day)).then_some(days)
}

/// Corrects a time that a client reported: at most a day ahead of the clock, and the current time if it is not
/// after 1970.
pub fn plausible(at_ms: i64, now_ms: i64) -> i64 {
    let latest = now_ms.saturating_add(crate::limits::EVENT_AHEAD_MAX_MS);
    if at_ms <= 0 { now_ms } else { at_ms.min(latest) }
}

/// Exponential decay: the part that remains after `age_ms` of a value that halves every `half_life_ms`, from 1 down to 0.
#[expect(clippy::cast_precision_loss, reason = "milliseconds since 1970 fit a double exactly")]
pub fn decay(age_ms: i64, half_life_ms: i64) -> f64 {
    (-(age_ms.max(0) as f64) / half_life_ms as f64).exp2()
}

/// `20261115T051843Z`: a time for a file name.
pub fn file_stamp(at_ms: i64) -> String {
    let text = rfc3339(at_ms);
    let mut stamp: String = text[..19].chars().filter(|c| !matches!(c, '-' | ':')).collect();
    stamp.push('Z');
    stamp
}

/// `3m ago`, `2h ago`: the age relative to `now`.
pub fn ago(at_ms: i64, now_ms: i64) -> String {
    let seconds = now_ms.saturating_sub(at_ms).max(0) / 1000;
    match seconds {
        0..60 => format!("{seconds}s ago"),
        60..3_600 => format!("{}m ago", seconds / 60),
        3_600..86_400 => format!("{}h ago", seconds / 3_600),
        _ => format!("{}d ago", seconds / 86_400),
    }
}

/// The age for lists: `5m ago`, and after a week the date, `Feb 18`, with the year if it is not the current one. Less
/// than a minute counts as one.
pub fn age(at_ms: i64, now_ms: i64) -> String {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let minutes = now_ms.saturating_sub(at_ms).max(0) / 60_000;
    if minutes < 7 * 24 * 60 {
        return ago(now_ms - minutes.max(1) * 60_000, now_ms);
    }
    let (year, month, day) = civil(at_ms.div_euclid(86_400_000));
    let month = usize::try_from(month - 1).ok().and_then(|month| MONTHS.get(month));
    let date = format!("{} {day}", month.copied().unwrap_or_default());
    if civil(now_ms.div_euclid(86_400_000)).0 == year { date } else { format!("{date} {year}") }
}

/// Year, month and day of a day count since 1970 (proleptic Gregorian calendar).
pub fn civil(days: i64) -> (i64, i64, i64) {
    // Counting from 1 March of year 0 puts the leap day at the end of a year.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reported_time_is_at_most_a_day_ahead_and_after_1970() {
        let (now, day) = (1_700_000_000_000, 86_400_000);
        for (given, expected) in [
            (now, now),
            (now - 400 * day, now - 400 * day),
            (now + day, now + day),
            (now + day + 1, now + day),
            (253_370_764_800_000, now + day),
            (i64::MAX, now + day),
            (0, now),
            (-1, now),
            (i64::MIN, now),
            (1, 1),
        ] {
            assert_eq!(plausible(given, now), expected, "{given}");
        }
        assert_eq!(plausible(i64::MAX, i64::MAX), i64::MAX);
    }

    #[test]
    fn times_are_parsed_in_all_rfc3339_forms() {
        for (text, at) in [
            ("2026-11-15T05:18:43.120Z", Some(1_794_719_923_120)),
            ("2026-11-15T05:18:43.120456", Some(1_794_719_923_120)),
            ("2026-11-15 05:18:43", Some(1_794_719_923_000)),
            ("2026-11-15T07:18:43.1+02:00", Some(1_794_719_923_100)),
            ("1969-12-31T23:59:59.999Z", Some(-1)),
            ("2000-02-29T00:00:00Z", Some(951_782_400_000)),
            ("2001-02-29T00:00:00Z", None),
            ("2026-13-01T00:00:00Z", None),
            ("2026-11-15T05:18:43.Z", None),
            ("2026-11-15T05:18:43Zé", None),
            ("2026-11-15T05:18:43+2:00", None),
            ("2026-11-15", None),
            ("yesterday", None),
            ("2026-1é-15T05:18:43Z", None),
        ] {
            assert_eq!(parse_rfc3339(text), at, "{text}");
        }
    }

    #[test]
    fn a_value_is_halved_after_its_half_life() {
        assert!((decay(0, 10) - 1.0).abs() < 1e-12);
        assert!((decay(10, 10) - 0.5).abs() < 1e-12);
        assert!((decay(-5, 10) - 1.0).abs() < 1e-12, "the future is now");
    }

    #[test]
    fn times_are_shown_in_the_calendar() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(rfc3339(1_794_719_923_120), "2026-11-15T05:18:43.120Z");
        assert_eq!(rfc3339(-1), "1969-12-31T23:59:59.999Z");
        assert_eq!(file_stamp(1_794_719_923_120), "20261115T051843Z");
        assert_eq!(ago(0, 7_260_000), "2h ago");
    }

    #[test]
    fn an_age_is_in_minutes_hours_days_and_then_a_date() {
        let now = parse_rfc3339("2026-02-18T12:00:30Z").unwrap();
        let table = [
            (0, "1m ago"),
            (59_999, "1m ago"),
            (-5, "1m ago"),
            (3_599_000, "59m ago"),
            (7_200_000, "2h ago"),
            (6 * 86_400_000, "6d ago"),
            (7 * 86_400_000, "Feb 11"),
            (60 * 86_400_000, "Dec 20 2025"),
        ];
        for (before, shown) in table {
            assert_eq!(age(now - before, now), shown, "{before}");
        }
    }
}
