//! The full-text index is derived from the records: damage to it is reported, repaired without being asked, and
//! costs no record.

use serde_json::{Value, json};
use testkit::Home;

use super::{home, sqlite};

/// Statements that damage the index as flipped bits or lost rows would.
const WOUNDS: [(&str, &str); 6] = [
    ("a flipped bit in the version", "UPDATE passage_fts_config SET v = 0 WHERE k = 'version'"),
    ("no version", "DELETE FROM passage_fts_config"),
    ("an emptied list of segments", "UPDATE passage_fts_data SET block = x'' WHERE id = 10"),
    ("a segment of noise", "UPDATE passage_fts_data SET block = x'ff00ff00ff00' WHERE id > 10"),
    ("no rows", "DELETE FROM passage_fts_data"),
    ("no lengths", "DELETE FROM passage_fts_docsize"),
];

const PHRASE: &str = "\"zeppelin hangar\"";

fn prompt(home: &Home, session: &str, text: &str) {
    let cwd = home.path("web").to_string_lossy().into_owned();
    home.hook("UserPromptSubmit", &json!({ "session_id": session, "cwd": cwd, "prompt": text }));
}

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

fn wound(home: &Home, sql: &str) {
    let db = sqlite::open(&sqlite::path(home));
    db.busy_timeout(std::time::Duration::from_secs(10)).unwrap();
    db.execute_batch(sql).unwrap();
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
                let done = run.stdout.starts_with("✔ purged 0 observations, 1 prompts");
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
