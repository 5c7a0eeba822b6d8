//! The full-text index is derived from the records: damage to it is reported, repaired without being asked, and
//! costs no record.

use serde_json::Value;
use testkit::Home;

use super::damaged::{prompt, wound};
use super::{home, sqlite};

/// Statements that damage the index as flipped bits or lost rows would.
const WOUNDS: [(&str, &str); 15] = [
    ("a flipped bit in the version", "UPDATE passage_fts_config SET v = 0 WHERE k = 'version'"),
    ("no version", "DELETE FROM passage_fts_config"),
    ("an emptied list of segments", "UPDATE passage_fts_data SET block = x'' WHERE id = 10"),
    ("a segment of noise", "UPDATE passage_fts_data SET block = x'ff00ff00ff00' WHERE id > 10"),
    ("no rows", "DELETE FROM passage_fts_data"),
    ("no lengths", "DELETE FROM passage_fts_docsize"),
    ("emptied posting lists", "UPDATE postings SET entries = x''"),
    ("no posting list of a word", "DELETE FROM postings WHERE term LIKE 'zeppelin%'"),
    ("no table of postings", "DROP TABLE postings"),
    ("postings of another block", "UPDATE postings SET block = block + 1"),
    (
        "postings of blocks that cannot exist",
        "INSERT INTO postings VALUES (1 << 62, 'zeppelin', x'0100000000'), \
           (-1, 'zeppelin', x'0100000000')",
    ),
    ("passages of records that do not exist", "UPDATE passages SET doc = doc + 1000"),
    (
        "a passage of another session and project",
        "UPDATE passages SET session = 999, project = 999 WHERE doc = (SELECT max(id) FROM prompts)",
    ),
    ("passages of the wrong type", "UPDATE passages SET kind = 'bash'"),
    (
        "no numbers left for passages",
        "UPDATE sqlite_sequence SET seq = 9223372036854775807 WHERE name = 'passages'",
    ),
];

const PHRASE: &str = "\"zeppelin hangar\"";

/// A home with an index of several records.
fn indexed() -> Home {
    let home = home();
    prompt(&home, "s-1", "fix the zeppelin hangar");
    prompt(&home, "s-1", "paint the balloon shed");
    prompt(&home, "s-2", "sell the old glider");
    home.run(&["search", "zeppelin", "--project", "*"]).ok();
    home.run(&["maintain"]).ok();
    home
}

fn index_check(home: &Home) -> Value {
    let looked = home.run(&["doctor", "--json"]).json();
    let checks = looked["checks"].as_array().unwrap().clone();
    checks.into_iter().find(|check| check["name"] == "search index").unwrap_or_default()
}

fn assert_sound(home: &Home, what: &str) {
    assert_eq!(index_check(home), Value::Null, "{what}");
    let found = home.run(&["search", PHRASE, "--project", "*"]).ok();
    assert!(found.contains("fix the zeppelin hangar"), "{what}: {found}");
    assert!(!found.contains("damaged"), "{what}: {found}");
    assert!(sqlite::is_sound(&sqlite::path(home)), "{what}");
}

/// @damaged_index_is_rebuilt
#[test]
fn a_damaged_index_is_reported_and_rebuilt_by_doctor_maintain_and_purge() {
    for (what, sql) in WOUNDS {
        let home = indexed();
        for (number, line) in [
            &["doctor", "--fix"][..],
            &["maintain"],
            &["purge", "--search", "glider", "--confirm"],
            &["purge", "--literal", "lloon sh", "--confirm"],
            &["scrub"],
        ]
        .into_iter()
        .enumerate()
        {
            wound(&home, sql);
            let check = index_check(&home);
            assert_eq!(check["status"], "fail", "{what}");
            assert!(check["hint"].as_str().unwrap().contains("doctor --fix"), "{what}: {check}");
            let run = home.run(line);
            if number > 0 {
                assert_eq!(run.code, 0, "{what}, {line:?}: {run:?}");
            }
            if line[0] == "purge" {
                let done = run.stdout.starts_with("✔ purged 0 observations, 1 prompt,");
                assert!(done, "{what}: {run:?}");
            }
            if line[0] == "scrub" {
                // It found no secret, so that it wrote nothing.
                home.run(&["maintain"]).ok();
            }
            assert_sound(&home, &format!("{what}, {line:?}"));
        }
    }
}

/// @damaged_index_is_rebuilt
#[test]
fn with_a_damaged_index_a_search_warns_once_and_no_event_is_lost() {
    for (what, sql) in WOUNDS {
        for with_daemon in [false, true] {
            let home = indexed();
            let _daemon = with_daemon.then(|| home.daemon());
            let sound = home.run(&["search", "balloon", "--project", "*"]).ok();
            assert!(sound.contains("balloon shed"), "{sound}");
            wound(&home, sql);
            prompt(&home, "s-1", "launch the airship tomorrow");
            let search = || home.run(&["search", "\"airship tomorrow\"", "--project", "*"]).ok();
            let first = search();
            home.run(&["search", "air*", "--project", "*"]).ok();
            let warnings = first.matches("The search index is damaged").count();
            assert!(warnings <= 1, "{what}: {first}");
            let is_found = first.contains("launch the airship tomorrow");
            assert!(is_found || warnings == 1, "{what}: {first}");
            assert!(home.spooled().is_empty(), "{what}: {:?}", home.spooled());
            home.run(&["maintain"]).ok();
            assert!(search().contains("launch the airship tomorrow"), "{what}");
            assert_sound(&home, what);
        }
    }
}

/// @damaged_index_is_rebuilt
#[test]
fn a_search_that_meets_a_damaged_index_warns_and_has_it_rebuilt() {
    let home = indexed();
    let (_, sql) = WOUNDS[0];
    wound(&home, sql);
    let first = home.run(&["search", PHRASE, "--project", "*"]).ok();
    assert_eq!(first.matches("The search index is damaged").count(), 1, "{first}");
    let json = home.run(&["search", PHRASE, "--project", "*", "--json"]).json();
    assert!(json["warning"].is_null(), "{json}");
    assert_sound(&home, "after a search");
}

/// @damaged_index_is_rebuilt
#[test]
fn a_daemon_that_starts_rebuilds_a_damaged_index_and_keeps_the_file() {
    for (what, sql) in WOUNDS {
        let home = indexed();
        wound(&home, sql);
        let _daemon = home.daemon();
        testkit::wait_until("the index to be rebuilt", || {
            index_check(&home).is_null().then_some(())
        });
        assert_sound(&home, what);
        let kept =
            home.files().iter().all(|(path, _)| !path.to_string_lossy().contains(".corrupt-"));
        assert!(kept, "{what}");
    }
}

/// @damaged_index_is_rebuilt
#[test]
fn a_passage_with_an_impossible_number_costs_no_memory_and_is_removed() {
    for number in ["3000000000", "9223372036854775806"] {
        for with_daemon in [false, true] {
            let home = indexed();
            wound(&home, &format!("UPDATE passages SET id = {number} WHERE id = 2"));
            let _daemon = with_daemon.then(|| home.daemon());
            let found = home.run(&["search", "zeppelin", "--project", "*"]).ok();
            assert!(found.contains("fix the zeppelin hangar"), "{number}: {found}");
            prompt(&home, "s-1", "launch the airship tomorrow");
            home.run(&["maintain"]).ok();
            assert_sound(&home, number);
            let found = home.run(&["search", "airship", "--project", "*"]).ok();
            assert!(found.contains("launch the airship"), "{number}: {found}");
        }
    }
}

/// @damaged_index_is_rebuilt
#[test]
fn a_passage_of_an_impossible_record_costs_no_memory_and_is_removed() {
    let damages = [
        "UPDATE passages SET doc = 4294967295 WHERE id = 2",
        "UPDATE passages SET doc = -5 WHERE id = 2",
        "UPDATE passages SET doc = 9223372036854775807 WHERE id = 2",
    ];
    for damage in damages {
        let home = indexed();
        wound(&home, damage);
        // A set of documents with a bit for each possible number takes 512 MB, which this limit refuses.
        let script = "ulimit -d 250000; exec \"$0\" \"$@\"";
        let limited = |line: &[&str]| {
            testkit::home::finish(super::ways::under(&home, "sh", &["-c", script], line), b"")
        };
        for query in ["zeppelin NOT glider", "\"zeppelin hangar\" OR (fix AND paint) NOT old"] {
            let found = limited(&["search", query, "--project", "*"]).ok();
            assert!(found.contains("fix the zeppelin hangar"), "{damage}: {found}");
        }
        let looked = limited(&["doctor", "--json"]).json();
        let is_index = |check: &&Value| check["name"] == "search index";
        let check = looked["checks"].as_array().unwrap().iter().find(is_index).cloned();
        assert_eq!(check.unwrap_or_default()["status"], "fail", "{damage}: {looked}");
        limited(&["doctor", "--fix"]);
        assert_sound(&home, damage);
    }
}

/// @damaged_index_is_rebuilt
#[test]
fn a_sequence_without_numbers_left_stops_neither_events_nor_searches() {
    let home = indexed();
    wound(&home, "UPDATE sqlite_sequence SET seq = 9223372036854775807");
    wound(&home, "UPDATE record_ids SET last = 9223372036854775807");
    prompt(&home, "s-1", "launch the airship tomorrow");
    let found = home.run(&["search", "airship", "--project", "*"]).ok();
    assert!(found.contains("launch the airship"), "{found}");
    home.run(&["hint", "set", "web", "port", "8080"]).ok();
    assert!(home.spooled().is_empty(), "{:?}", home.spooled());
    assert_sound(&home, "exhausted sequences");
}

/// @damaged_index_is_rebuilt
#[test]
fn a_backup_with_a_damaged_index_can_be_restored() {
    let home = indexed();
    for (what, sql) in WOUNDS {
        wound(&home, sql);
        let file = home.path(&format!("{}.db", what.replace(' ', "-")));
        home.run(&["backup", file.to_str().unwrap()]).ok();
        home.run(&["doctor", "--fix"]);
        home.run(&["restore", file.to_str().unwrap()]).ok();
        home.run(&["maintain"]).ok();
        assert_sound(&home, what);
    }
}
