//! Damaged ids and times: a record with an id or a time out of range affects no other record.

use serde_json::{Value, json};
use testkit::Home;

use super::damaged::{bash, open, prompt};
use super::{home, sqlite};

/// A home with a session of one prompt and a few commands.
fn filled() -> Home {
    let home = home();
    prompt(&home, "s-1", "why does the zeppelin fail");
    bash(&home, "t-1", "make hangar");
    bash(&home, "t-2", "make propeller");
    let cwd = home.path("web").to_string_lossy().into_owned();
    home.hook("Stop", &json!({ "session_id": "s-1", "cwd": cwd }));
    home.run(&["maintain"]).ok();
    home
}

/// Changes rows directly in the database file, without regard to references.
fn wound(home: &Home, sql: &str) {
    let db = open(home);
    db.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    assert!(db.execute(sql, []).unwrap() > 0, "{sql}");
}

fn number(home: &Home, sql: &str) -> i64 {
    sqlite::open(&sqlite::path(home)).query_row(sql, [], |row| row.get(0)).unwrap()
}

fn damaged_check(home: &Home) -> Value {
    let looked = home.run(&["doctor", "--json"]).json();
    let checks = looked["checks"].as_array().unwrap().clone();
    checks.into_iter().find(|check| check["name"] == "damaged records").unwrap_or_default()
}

/// The number of hits for a word in all projects.
fn hits(home: &Home, word: &str) -> usize {
    let found = home.run(&["search", word, "--project", "*", "--limit", "50", "--json"]).json();
    found["results"].as_array().unwrap().len()
}

const HANGAR: &str = "UPDATE observations SET id = {} WHERE content = 'make hangar'";
const PROMPT: &str = "UPDATE prompts SET id = {}";
const SESSION: &str = "UPDATE sessions SET id = {}";
const COUNTER: &str = "UPDATE record_ids SET last = {}";

/// Statements that set an id, and ids that no sound record has.
const OUT_OF_RANGE: [(&str, i64); 11] = [
    (HANGAR, 4_294_967_294),
    (HANGAR, 4_294_967_295),
    (HANGAR, 1 << 40),
    (HANGAR, 0),
    (HANGAR, i64::MIN),
    (PROMPT, 4_294_967_294),
    (SESSION, 4_294_967_294),
    (SESSION, i64::MAX),
    (COUNTER, 4_294_967_295),
    (COUNTER, i64::MAX),
    (COUNTER, -7),
];

/// @an_id_out_of_range_stops_nothing
#[test]
fn an_id_out_of_range_stops_no_later_event_and_is_replaced() {
    for (place, (sql, id)) in OUT_OF_RANGE.into_iter().enumerate() {
        let home = filled();
        let sql = sql.replace("{}", &id.to_string());
        wound(&home, &sql);
        let check = damaged_check(&home);
        let detail = check["detail"].as_str().unwrap_or_default();
        assert!(detail.contains("out of range"), "{sql}: {check}");
        assert!(check["hint"].as_str().unwrap().contains("doctor --fix"), "{sql}: {check}");
        let daemon = (place % 2 == 0).then(|| home.daemon());
        for turn in 1..=5 {
            prompt(&home, "s-2", &format!("brand new marimba number {turn}"));
            // A write ingests the spool.
            home.run(&["mark", "a mark"]).ok();
        }
        assert!(home.spooled().is_empty(), "{sql}: {:?}", home.spooled());
        assert_eq!(hits(&home, "marimba"), 5, "{sql}");
        let repair = if place % 3 == 0 { &["maintain"][..] } else { &["doctor", "--fix"] };
        home.run(repair);
        assert_eq!(damaged_check(&home), Value::Null, "{sql}");
        for (word, count) in [("marimba", 5), ("zeppelin", 1), ("hangar", 1)] {
            assert!(hits(&home, word) >= count, "{sql}: {word}");
        }
        drop(daemon);
        prompt(&home, "s-2", "one more marimba");
        home.run(&["mark", "a mark"]).ok();
        assert_eq!(hits(&home, "marimba"), 6, "{sql}");
        assert!(number(&home, "SELECT last FROM record_ids") < 100, "{sql}");
        let highest = "SELECT max(id) FROM (SELECT id FROM observations \
             UNION ALL SELECT id FROM prompts UNION ALL SELECT id FROM sessions)";
        assert!(number(&home, highest) < 100, "{sql}");
    }
}

/// @an_id_out_of_range_stops_nothing
#[test]
fn a_session_with_a_replaced_id_keeps_its_records() {
    let home = filled();
    for sql in [SESSION, "UPDATE prompts SET session = {}", "UPDATE observations SET session = {}"]
    {
        wound(&home, &sql.replace("{}", "4294967294"));
    }
    home.run(&["doctor", "--fix"]);
    assert_eq!(damaged_check(&home), Value::Null);
    assert_eq!(number(&home, "SELECT count(*) FROM sessions WHERE name LIKE 'lost-%'"), 0);
    assert!(number(&home, "SELECT id FROM sessions") < 100);
    let trace = home.run(&["trace", "s-1"]).ok();
    assert!(trace.contains("make hangar"), "{trace}");
    let found = home.run(&["search", "hangar", "--session", "s-1"]).ok();
    assert!(found.contains("make hangar"), "{found}");
}

/// @an_id_out_of_range_stops_nothing
#[test]
fn the_highest_ids_in_range_are_no_damage_and_leave_room_for_new_records() {
    for (sql, id) in [(HANGAR, 1_i64 << 31), (HANGAR, (1 << 31) - 1), (COUNTER, 3 << 30)] {
        let home = filled();
        wound(&home, &sql.replace("{}", &id.to_string()));
        for turn in 1..=5 {
            prompt(&home, "s-2", &format!("brand new marimba number {turn}"));
            home.run(&["mark", "a mark"]).ok();
        }
        assert!(home.spooled().is_empty(), "{id}: {:?}", home.spooled());
        assert_eq!(hits(&home, "marimba"), 5, "{id}");
        home.run(&["doctor", "--fix"]);
        assert_eq!(damaged_check(&home), Value::Null, "{id}");
        for (word, count) in [("marimba", 5), ("hangar", 1)] {
            assert!(hits(&home, word) >= count, "{id}: {word}");
        }
    }
}

/// Tables, columns and a condition for the row that gets a time out of range.
const TIMES: [(&str, &str, &str); 7] = [
    ("observations", "at", "content = 'make hangar'"),
    ("observations", "last_at", "content = 'make hangar'"),
    ("prompts", "at", "id > 0"),
    ("sessions", "started_at", "id > 0"),
    ("sessions", "last_at", "id > 0"),
    ("sessions", "ended_at", "id > 0"),
    ("projects", "created_at", "id > 0"),
];

/// @one_damaged_row_costs_one_row
#[test]
fn a_time_out_of_range_breaks_no_command_and_is_named_by_doctor() {
    for at in [i64::MIN, -1, i64::MAX] {
        for (table, column, row) in TIMES {
            let home = filled();
            wound(&home, &format!("UPDATE {table} SET {column} = {at} WHERE {row}"));
            let what = format!("{table}.{column} = {at}");
            let id = number(&home, &format!("SELECT id FROM {table} WHERE {row}")).to_string();
            for line in [
                &["search", "make", "--project", "*"][..],
                &["recent", "--project", "*"],
                &["sessions", "--project", "*"],
                &["trace", "s-1"],
                &["stats"],
                &["agents"],
                &["briefing", "--project", "*"],
                &["purge", "--search", "make"],
                &["purge", "--id", &id],
            ] {
                let run = home.run(line);
                assert!(!run.stderr.contains("panicked"), "{what}, {line:?}: {run:?}");
                assert_ne!(run.code, 101, "{what}, {line:?}: {run:?}");
            }
            let check = damaged_check(&home);
            let detail = check["detail"].as_str().unwrap_or_default();
            assert!(detail.contains(table) && detail.contains(column), "{what}: {check}");
            home.run(&["doctor", "--fix"]);
            if ["observations", "prompts"].contains(&table) {
                let shown = home.run(&["show", &id]).ok();
                assert!(shown.contains("[damaged record]"), "{what}: {shown}");
                home.run(&["purge", "--id", &id, "--confirm"]).ok();
            }
            assert_eq!(damaged_check(&home), Value::Null, "{what}");
        }
    }
}
