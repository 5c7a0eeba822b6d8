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

/// `20261115T051843Z`: a time that can stand in a file name.
pub fn file_stamp(at_ms: i64) -> String {
    let text = rfc3339(at_ms);
    let mut stamp: String = text[..19].chars().filter(|c| !matches!(c, '-' | ':')).collect();
    stamp.push('Z');
    stamp
}

/// `3m ago`, `2h ago`: how long before `now` something was.
pub fn ago(at_ms: i64, now_ms: i64) -> String {
    let seconds = (now_ms - at_ms).max(0) / 1000;
    match seconds {
        0..60 => format!("{seconds}s ago"),
        60..3_600 => format!("{}m ago", seconds / 60),
        3_600..86_400 => format!("{}h ago", seconds / 3_600),
        _ => format!("{}d ago", seconds / 86_400),
    }
}

/// Year, month and day of a day count since 1970 (proleptic Gregorian calendar).
fn civil(days: i64) -> (i64, i64, i64) {
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
    fn times_are_shown_in_the_calendar() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(rfc3339(1_794_719_923_120), "2026-11-15T05:18:43.120Z");
        assert_eq!(rfc3339(-1), "1969-12-31T23:59:59.999Z");
        assert_eq!(file_stamp(1_794_719_923_120), "20261115T051843Z");
        assert_eq!(ago(0, 7_260_000), "2h ago");
    }
}
