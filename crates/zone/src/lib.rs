//! The machine's time zone: local dates of timestamps, and timestamps of local dates.
//!
//! `TZ` names the zone, else `/etc/localtime` is it. Read in this order: [`Zone`], `file` (the compiled
//! format of zones, RFC 9636), `rule` (the text form of POSIX, for times after the last entry of a file).

mod file;
mod rule;

use std::env;
use std::path::{Component, Path};
use std::sync::OnceLock;

use model::time::{civil, days_of};

use crate::rule::ZoneRule;

const DAY: i64 = 86_400;
/// Bytes of the largest zone file that is read; real ones have a few thousand.
const FILE_BYTES_MAX: u64 = 256 * 1024;
/// Directories in which a zone is looked up by its name.
const DIRECTORIES: [&str; 3] =
    ["/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/usr/share/lib/zoneinfo"];

/// How far local clocks are from UTC, at any time. The default is UTC.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Zone {
    /// From these seconds since 1970 on, clocks are this many seconds ahead of UTC.
    changes: Vec<(i64, i64)>,
    /// Seconds ahead of UTC before the first change.
    before: i64,
    /// Applies after the last change.
    rule: Option<ZoneRule>,
}

impl Zone {
    /// The zone of this process: `TZ` if it is set, else the machine's; UTC if that zone cannot be read.
    pub fn local() -> Zone {
        let zone = match env::var("TZ") {
            Ok(name) => Zone::named(name.strip_prefix(':').unwrap_or(&name)),
            Err(_) => Zone::at(Path::new("/etc/localtime")),
        };
        zone.unwrap_or_default()
    }

    /// The zone of a name such as `Europe/Berlin`, of a file, or of a rule such as `CET-1CEST,M3.5.0,M10.5.0`.
    fn named(name: &str) -> Option<Zone> {
        let path = Path::new(name);
        if path.is_absolute() {
            return Zone::at(path);
        }
        // A name must not lead out of the directory of zones.
        let inside = path.components().all(|part| matches!(part, Component::Normal(_)));
        let files = DIRECTORIES.iter().map(|directory| Path::new(directory).join(path));
        let known =
            || files.filter(|_| inside && !name.is_empty()).find_map(|file| Zone::at(&file));
        known().or_else(|| Some(Zone { rule: Some(ZoneRule::parse(name)?), ..Zone::default() }))
    }

    fn at(path: &Path) -> Option<Zone> {
        file::parse(&regular::read(path, FILE_BYTES_MAX).ok()?)
    }

    /// Seconds that local clocks are ahead of UTC at this time.
    fn offset_at(&self, seconds: i64) -> i64 {
        let passed = self.changes.partition_point(|(from, _)| *from <= seconds);
        match (self.changes.get(passed.wrapping_sub(1)), &self.rule) {
            (_, Some(rule)) if passed == self.changes.len() => rule.offset_at(seconds),
            (Some((_, offset)), _) => *offset,
            (None, _) => self.before,
        }
    }

    /// The local date and time of this second since 1970.
    pub fn local_time(&self, seconds: i64) -> LocalTime {
        let local = seconds.saturating_add(self.offset_at(seconds));
        LocalTime { days: local.div_euclid(DAY), second: local.rem_euclid(DAY) }
    }

    /// The second since 1970 of a local date and time. A time that clocks skip is read with the offset before the
    /// change if that is ahead of UTC or equal to it, else with the offset after the change.
    pub fn seconds(&self, time: LocalTime) -> i64 {
        let local = time.days.saturating_mul(DAY).saturating_add(time.second);
        let near = local.saturating_sub(self.offset_at(local));
        local.saturating_sub(self.offset_at(near))
    }

    /// `2026-01-31 14:05`: the local time of this second since 1970.
    pub fn shown(&self, seconds: i64) -> String {
        let LocalTime { days, second } = self.local_time(seconds);
        let (year, month, day) = civil(days);
        let (hour, minute) = (second / 3_600, second / 60 % 60);
        format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}")
    }
}

/// The local time of this second since 1970, for people at the command line. The zone is read once.
pub fn shown(seconds: i64) -> String {
    static HERE: OnceLock<Zone> = OnceLock::new();
    HERE.get_or_init(Zone::local).shown(seconds)
}

/// The local time of this millisecond since 1970, and its age: `2026-01-31 14:05 (3h ago)`.
pub fn shown_with_age(at_ms: i64, now_ms: i64) -> String {
    format!("{} ({})", shown(at_ms.div_euclid(1000)), model::time::ago(at_ms, now_ms))
}

/// A date and a time of day as clocks show them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalTime {
    /// Days since 1970-01-01.
    pub days: i64,
    /// Seconds since midnight.
    pub second: i64,
}

impl LocalTime {
    /// The beginning of a day.
    pub fn midnight(days: i64) -> LocalTime {
        LocalTime { days, second: 0 }
    }

    /// The beginning of a date that exists.
    pub fn of_date(year: i64, month: i64, day: i64) -> Option<LocalTime> {
        days_of(year, month, day).map(LocalTime::midnight)
    }

    /// Days since Monday.
    pub fn weekday(self) -> i64 {
        // 1970-01-01 was a Thursday.
        (self.days + 3).rem_euclid(7)
    }

    /// Year and month.
    pub fn month(self) -> (i64, i64) {
        let (year, month, _) = civil(self.days);
        (year, month)
    }
}

#[cfg(test)]
mod tests;
