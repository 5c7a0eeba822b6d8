//! Zones from files, names and rules, and input that is refused.

use model::time::parse_rfc3339;

use super::*;

fn at(text: &str) -> i64 {
    parse_rfc3339(text).unwrap().div_euclid(1000)
}

const BERLIN: &str = "CET-1CEST,M3.5.0,M10.5.0/3";

fn rule(text: &str) -> Zone {
    Zone { rule: Some(ZoneRule::parse(text).unwrap()), ..Zone::default() }
}

/// A file of version 2 with these changes and this rule.
fn file(changes: &[(i64, u8)], offsets: &[i32], rule: &str) -> Vec<u8> {
    let header = |times: usize| {
        let mut bytes = b"TZif2".to_vec();
        bytes.extend([0; 15]);
        for count in [0, 0, 0, times, offsets.len(), 4] {
            bytes.extend(u32::try_from(count).unwrap().to_be_bytes());
        }
        bytes
    };
    let types = offsets.iter().flat_map(|offset| [&offset.to_be_bytes()[..], &[0, 0]].concat());
    let types: Vec<u8> = types.collect();
    let mut bytes = [header(0), types.clone(), b"CET\0".to_vec(), header(changes.len())].concat();
    bytes.extend(changes.iter().flat_map(|(at, _)| at.to_be_bytes()));
    bytes.extend(changes.iter().map(|(_, kind)| kind));
    bytes.extend(types);
    bytes.extend(b"CET\0\n");
    bytes.extend(rule.as_bytes());
    bytes.push(b'\n');
    bytes
}

#[test]
fn a_rule_knows_summer_and_winter_north_and_south() {
    let table = [
        (BERLIN, "2026-01-15T12:00:00Z", "2026-01-15 13:00"),
        (BERLIN, "2026-07-15T12:00:00Z", "2026-07-15 14:00"),
        (BERLIN, "2026-03-29T00:59:59Z", "2026-03-29 01:59"),
        (BERLIN, "2026-03-29T01:00:00Z", "2026-03-29 03:00"),
        (BERLIN, "2026-10-25T00:59:59Z", "2026-10-25 02:59"),
        (BERLIN, "2026-10-25T01:00:00Z", "2026-10-25 02:00"),
        ("AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-01-15T12:00:00Z", "2026-01-15 23:00"),
        ("AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-07-15T12:00:00Z", "2026-07-15 22:00"),
        ("EST5EDT", "2026-07-01T00:00:00Z", "2026-06-30 20:00"),
        ("<+0545>-5:45", "2026-07-01T00:00:00Z", "2026-07-01 05:45"),
        ("STD0DST,J60,J300", "2024-02-29T12:00:00Z", "2024-02-29 12:00"),
        ("STD0DST,J60,J300", "2024-03-01T12:00:00Z", "2024-03-01 13:00"),
        ("STD0DST,59,300", "2024-02-29T12:00:00Z", "2024-02-29 13:00"),
        ("UTC0", "1969-12-31T23:59:59Z", "1969-12-31 23:59"),
    ];
    for (zone, time, shown) in table {
        assert_eq!(rule(zone).shown(at(time)), shown, "{zone} {time}");
    }
}

#[test]
fn a_file_has_the_changes_and_its_rule_follows_the_last_one() {
    let changes = [(at("1980-04-06T01:00:00Z"), 1), (at("1980-09-28T01:00:00Z"), 0)];
    let zone = file::parse(&file(&changes, &[3_600, 7_200], BERLIN)).unwrap();
    for (time, shown) in [
        ("1970-01-01T00:00:00Z", "1970-01-01 01:00"),
        ("1980-06-01T00:00:00Z", "1980-06-01 02:00"),
        ("1990-07-01T00:00:00Z", "1990-07-01 02:00"),
        ("2026-12-01T00:00:00Z", "2026-12-01 01:00"),
    ] {
        assert_eq!(zone.shown(at(time)), shown, "{time}");
    }
}

#[test]
fn a_damaged_file_is_refused_or_parsed_without_a_panic() {
    let whole = file(&[(0, 1)], &[0, 3_600], BERLIN);
    assert!(file::parse(&whole).is_some());
    for end in 0..whole.len() - BERLIN.len() - 2 {
        assert_eq!(file::parse(&whole[..end]), None, "{end}");
    }
    for place in 0..whole.len() {
        for byte in [0, 1, 0x7f, 0xff] {
            let mut damaged = whole.clone();
            damaged[place] = byte;
            // A damaged file may still parse; then the zone must have a date for every time.
            if let Some(zone) = file::parse(&damaged) {
                zone.shown(i64::MAX / 2);
                zone.shown(at("2026-07-01T00:00:00Z"));
            }
        }
    }
}

#[test]
fn an_invalid_rule_is_refused() {
    for text in
        ["", "X", "CET", "CET-1CEST,M3", "CET-1CEST,M13.1.0,M1.1.0", "CET-999", "<CET-1", "CET-1x"]
    {
        assert_eq!(ZoneRule::parse(text), None, "{text}");
    }
    assert_eq!(Zone::named("../../etc/passwd"), None);
    assert_eq!(Zone::named("No/Such_Zone"), None);
    assert_eq!(Zone::named(BERLIN), Some(rule(BERLIN)));
}

#[test]
fn a_local_date_and_its_unix_time_convert_into_each_other() {
    let zone = rule(BERLIN);
    for time in ["2026-01-15T12:00:00Z", "2026-07-15T12:00:00Z", "2026-10-25T03:00:00Z"] {
        assert_eq!(zone.seconds(zone.local_time(at(time))), at(time), "{time}");
    }
    let midnight = LocalTime::of_date(2026, 7, 15).unwrap();
    assert_eq!(zone.seconds(midnight), at("2026-07-14T22:00:00Z"));
    assert_eq!((midnight.weekday(), midnight.month()), (2, (2026, 7)), "a Wednesday");
    assert_eq!(LocalTime::of_date(2026, 2, 30), None);
}
