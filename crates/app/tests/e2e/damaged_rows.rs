//! One damaged row affects only itself: all other rows are listed, searched, purged and scrubbed as before.

use rusqlite::Connection;
use serde_json::{Value, json};
use testkit::Home;

use super::damaged::{bash, open};
use super::{home, sqlite};

/// Statements that damage rows, run without checks, as a flipped bit on the disk would.
const WOUNDS: [(&str, &str); 7] = [
    ("text that is not UTF-8", "content = CAST(x'6d616b6520fffe77726f6e67' AS TEXT)"),
    ("a blob where text belongs", "content = x'6d616b652077726f6e67'"),
    ("broken JSON", "metadata = '{\"exit_'"),
    ("an unknown type", "kind = 'banana'"),
    ("a type that is not UTF-8", "kind = CAST(x'ff' AS TEXT)"),
    ("NULL where none is allowed", "source_event = NULL, count = NULL"),
    ("a session that does not exist", "session = 'x'"),
];

/// A connection that may violate the schema.
fn unchecked(home: &Home) -> Connection {
    let db = open(home);
    let free = "PRAGMA secure_delete = ON; PRAGMA writable_schema = ON; PRAGMA ignore_check_constraints = ON; \
         PRAGMA foreign_keys = OFF; \
         CREATE TEMP TABLE kept AS SELECT name, sql FROM sqlite_schema; \
         UPDATE sqlite_schema SET sql = replace(replace(sql, 'STRICT', ''), ' NOT NULL', '') \
           WHERE type = 'table' AND sql LIKE '%STRICT%' AND sql NOT LIKE '%WITHOUT ROWID%'; \
         PRAGMA writable_schema = RESET;";
    db.execute_batch(free).unwrap();
    db
}

/// Changes rows directly in the database file.
fn wound(home: &Home, sql: &str) {
    let db = unchecked(home);
    let changed = db.execute(sql, []).unwrap();
    assert!(changed > 0, "{sql}");
    let back = "PRAGMA writable_schema = ON; \
         UPDATE sqlite_schema SET sql = (SELECT sql FROM kept WHERE kept.name = sqlite_schema.name) \
           WHERE type = 'table' AND name IN (SELECT name FROM kept); \
         PRAGMA writable_schema = RESET;";
    db.execute_batch(back).unwrap();
}

/// A prompt and commands; some of the commands will be damaged.
fn filled() -> Home {
    let home = home();
    let cwd = home.path("web").to_string_lossy().into_owned();
    let prompt = json!({ "session_id": "s-1", "cwd": cwd, "prompt": "please build the crates" });
    home.hook("UserPromptSubmit", &prompt);
    bash(&home, "t-1", "make first");
    for number in 0..WOUNDS.len() {
        bash(&home, &format!("t-2{number}"), &format!("make wounded-{number}"));
    }
    bash(&home, "t-3", "make third");
    home.hook("Stop", &json!({ "session_id": "s-1", "cwd": cwd }));
    // A write ingests the spool.
    home.run(&["mark", "a mark"]).ok();
    home
}

/// Damages the commands and returns their ids, in the order of [`WOUNDS`].
fn wounded(home: &Home) -> Vec<i64> {
    let id = |number: usize| {
        id_of(home, &format!("SELECT id FROM observations WHERE content = 'make wounded-{number}'"))
    };
    let ids: Vec<i64> = (0..WOUNDS.len()).map(id).collect();
    for ((_, set), id) in WOUNDS.iter().zip(&ids) {
        wound(home, &format!("UPDATE observations SET {set} WHERE id = {id}"));
    }
    ids
}

fn id_of(home: &Home, sql: &str) -> i64 {
    sqlite::open(&sqlite::path(home)).query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Asserts that every operation that reads records succeeds and shows the undamaged ones.
fn assert_readable(home: &Home) {
    for line in [
        &["search", "make", "--project", "*"][..],
        &["recent", "--project", "*"],
        &["trace", "s-1"],
        &["sessions", "--project", "*"],
        &["stats"],
        &["hint", "stats"],
        &["scrub", "--dry-run"],
        &["project", "list"],
        &["purge", "--project", "web"],
    ] {
        let run = home.run(line);
        assert_eq!(run.code, 0, "{line:?}: {run:?}");
    }
    let trace = home.run(&["trace", "s-1"]).ok();
    assert!(trace.contains("make first") && trace.contains("make third"), "{trace}");
    for word in ["first", "third"] {
        let found = home.run(&["search", word, "--project", "*"]).ok();
        assert!(found.contains(&format!("make {word}")), "{found}");
    }
    let briefing = home.call("briefing", &json!({ "project": "*" }));
    assert!(briefing.is_object(), "{briefing}");
}

fn damaged_check(home: &Home) -> Value {
    let looked = home.run(&["doctor", "--json"]).json();
    let checks = looked["checks"].as_array().unwrap().clone();
    checks.into_iter().find(|check| check["name"] == "damaged records").unwrap_or_default()
}

/// @one_damaged_row_costs_one_row
#[test]
fn a_damaged_record_is_shown_as_such_named_by_doctor_and_purged_by_its_id() {
    for with_daemon in [false, true] {
        let home = filled();
        let ids = wounded(&home);
        let _daemon = with_daemon.then(|| home.daemon());
        assert_readable(&home);
        for ((what, _), id) in WOUNDS.iter().zip(&ids) {
            let shown = home.call("get_observations", &json!({ "ids": [id] }))["results"].take();
            let text = shown[0]["content"].as_str().unwrap();
            assert!(text.starts_with("[damaged record]"), "{what}: {shown}");
            assert_eq!(shown[0]["damaged"], true, "{what}: {shown}");
        }
        let around = home.call("timeline", &json!({ "anchor": ids[0] }));
        assert!(around.to_string().contains("make first"), "{around}");
        let check = damaged_check(&home);
        assert_eq!(check["status"], "fail", "{check}");
        assert!(check["detail"].as_str().unwrap().starts_with("7 rows are damaged: "), "{check}");
        let purge = format!("rekindle purge --id {} --id {}", ids[0], ids[1]);
        assert!(check["hint"].as_str().unwrap().contains(&purge), "{check}");
        for ((what, _), id) in WOUNDS.iter().zip(&ids) {
            let purged = home.run(&["purge", "--id", &id.to_string(), "--confirm"]).ok();
            assert!(purged.starts_with("✔ purged 1 observation,"), "{what}: {purged}");
        }
        assert_eq!(damaged_check(&home), Value::Null);
        assert_readable(&home);
    }
}

/// @one_damaged_row_costs_one_row
#[test]
fn a_damaged_record_is_purged_by_project_and_by_age() {
    for filter in [&["--project", "web"][..], &["--older-than", "0"], &["--before", "2999-01-01"]] {
        let home = filled();
        wounded(&home);
        let line = [&["purge", "--confirm"][..], filter].concat();
        let purged = home.run(&line).ok();
        assert!(purged.starts_with("✔ purged "), "{purged}");
        let left = id_of(&home, "SELECT count(*) FROM observations WHERE kind IS NOT 'marker'");
        assert_eq!(left, 0, "{filter:?}");
    }
}

/// Statements that damage rows other than commands. A table with two entries gets one home per entry.
const OTHER_WOUNDS: [(&str, &str); 19] = [
    ("sessions", "agent = x'6162', root = CAST(x'2fff' AS TEXT), state = 'banana'"),
    ("projects", "name = CAST(x'776562ff' AS TEXT)"),
    ("project_aliases", "firm = NULL"),
    ("paths", "path = CAST(x'2f746d70ff' AS TEXT)"),
    ("hint_variants", "value = CAST(x'22ff22' AS TEXT)"),
    ("receipts", "reason = CAST(x'ff' AS TEXT)"),
    ("notices", "text = CAST(x'ff' AS TEXT)"),
    ("answers", "answer = CAST(x'ff' AS TEXT)"),
    ("events", "data = '{', kind = x'00'"),
    ("hooks_seen", "name = CAST(x'ff' AS TEXT)"),
    ("hook_sessions", "event = x'00', name = NULL"),
    ("passages", "kind = CAST(x'ff' AS TEXT), length = 'x'"),
    ("sweeps", "removed = 'x'"),
    ("record_ids", "last = 'x'"),
    ("prompts", "content = CAST(x'ff62' AS TEXT)"),
    ("prompts", "source = 'banana', actions = NULL"),
    ("sessions", "summary = '{\"intent', signature = '[', started_at = NULL"),
    ("hint_variants", "meta = '{'"),
    ("hint_variants", "version = 'x'"),
];

/// A home that has at least one row in every table.
fn filled_everywhere() -> Home {
    let home = filled();
    home.run(&["hint", "set", "web", "port", "8080"]).ok();
    let cwd = home.path("web").to_string_lossy().into_owned();
    let edit = json!({
        "session_id": "s-1", "cwd": cwd, "tool_use_id": "t-9", "tool_name": "Edit",
        "tool_input": { "file_path": format!("{cwd}/a.rs"), "old_string": "a", "new_string": "b" },
        "tool_response": {},
    });
    home.hook("PostToolUse", &edit);
    home.run(&["search", "make"]).ok();
    let fill = "INSERT INTO notices (at, text) VALUES (1, 'x'); \
         INSERT INTO receipts (session, at, path, stamp, reason, tokens) \
           SELECT id, 1, 'obs://1', 1, 'x', 1 FROM sessions; \
         INSERT INTO events (at, kind, subject, data) VALUES (1, 'x', 'x', '{}'); \
         INSERT INTO sweeps (at, removed, finished) VALUES (1, 1, 1);";
    sqlite::open(&sqlite::path(&home)).execute_batch(fill).unwrap();
    home
}

/// @one_damaged_row_costs_one_row
#[test]
fn damaged_rows_of_other_tables_break_nothing_and_are_repaired() {
    for (wounds, repair) in [
        (&OTHER_WOUNDS[..15], &["doctor", "--fix"][..]),
        (&OTHER_WOUNDS[..15], &["maintain"]),
        (&OTHER_WOUNDS[15..18], &["doctor", "--fix"]),
        (&OTHER_WOUNDS[18..], &["maintain"]),
    ] {
        let home = filled_everywhere();
        for (table, set) in wounds {
            wound(&home, &format!("UPDATE {table} SET {set}"));
        }
        assert_readable(&home);
        // Events of a damaged session are still recorded.
        bash(&home, "t-10", "make fourth");
        home.run(&["mark", "another mark"]).ok();
        let found = home.run(&["search", "fourth", "--project", "*"]).ok();
        assert!(found.contains("make fourth"), "{wounds:?}: {found}");
        assert!(home.spooled().is_empty(), "{wounds:?}: {:?}", home.spooled());
        let repaired = home.run(repair).stdout;
        assert!(repaired.contains("repaired "), "{wounds:?}: {repaired}");
        if wounds.iter().any(|(table, _)| *table == "prompts") {
            let id = id_of(&home, "SELECT id FROM prompts").to_string();
            let check = damaged_check(&home);
            assert!(check["hint"].as_str().unwrap().contains(&format!("--id {id}")), "{check}");
            home.run(&["purge", "--id", &id, "--confirm"]).ok();
        }
        assert_eq!(damaged_check(&home), Value::Null, "{wounds:?}");
        assert_readable(&home);
    }
}

/// Statements that make rows refer to rows which do not exist.
const DANGLING: [(&str, &str); 8] = [
    ("a prompt", "UPDATE observations SET prompt = prompt + 64"),
    ("a path", "UPDATE observations SET file = file + 64"),
    ("a session", "UPDATE observations SET session = session + 64 WHERE content = 'make first'"),
    ("a project", "UPDATE observations SET project = project + 64 WHERE content = 'make first'"),
    ("a prompt's session", "UPDATE prompts SET session = session + 64"),
    ("a prompt's project", "UPDATE prompts SET project = project + 64"),
    ("a session's project", "UPDATE sessions SET project = project + 64"),
    ("an alias's project", "UPDATE project_aliases SET project = project + 64"),
];

/// @dangling_references_cost_nothing
#[test]
fn a_reference_to_a_missing_row_costs_no_record_and_is_repaired() {
    for (what, sql) in DANGLING {
        for repair in [&["doctor", "--fix"][..], &["maintain"]] {
            let home = filled_everywhere();
            wound(&home, sql);
            let check = damaged_check(&home);
            let detail = check["detail"].as_str().unwrap_or_default();
            assert!(detail.contains("does not exist"), "{what}: {check}");
            assert!(check["hint"].as_str().unwrap().contains("doctor --fix"), "{what}: {check}");
            bash(&home, "t-10", "make fourth");
            home.run(&["mark", "another mark"]).ok();
            assert!(home.spooled().is_empty(), "{what}: {:?}", home.spooled());
            let id = id_of(&home, "SELECT id FROM observations WHERE content = 'make third'");
            let purged = home.run(&["purge", "--id", &id.to_string(), "--confirm"]).ok();
            assert!(purged.starts_with("✔ purged 1 observation,"), "{what}: {purged}");
            let purged = home.run(&["purge", "--search", "wounded", "--confirm"]).ok();
            assert!(purged.starts_with("✔ purged 7 observations"), "{what}: {purged}");
            home.run(repair);
            assert_eq!(damaged_check(&home), Value::Null, "{what}, {repair:?}");
            for word in ["first", "fourth"] {
                let found = home.run(&["search", word, "--project", "*"]).ok();
                assert!(found.contains(&format!("make {word}")), "{what}: {found}");
            }
            let purged = home.run(&["purge", "--search", "first", "--confirm"]).ok();
            assert!(purged.starts_with("✔ purged 1 observation,"), "{what}: {purged}");
        }
    }
}

/// @dangling_references_cost_nothing
#[test]
fn an_alias_of_a_missing_project_hides_neither_old_nor_new_records() {
    for with_daemon in [false, true] {
        let home = filled();
        wound(&home, "UPDATE project_aliases SET project = project + 64");
        let _daemon = with_daemon.then(|| home.daemon());
        let cwd = home.path("web").to_string_lossy().into_owned();
        for name in ["web", &cwd] {
            let recent = home.run(&["recent", "--project", name]).ok();
            assert!(recent.contains("make third"), "{name}: {recent}");
        }
        bash(&home, "t-10", "make fourth");
        let recent = home.run(&["recent", "--project", &cwd]).ok();
        assert!(recent.contains("make third") && recent.contains("make fourth"), "{recent}");
        assert_eq!(id_of(&home, "SELECT count(*) FROM projects WHERE name = 'web'"), 1);
        home.run(&["doctor", "--fix"]);
        assert_eq!(damaged_check(&home), Value::Null);
    }
}

/// Statements that make the row of a hint contradict itself or leave the range of a column.
const HINT_WOUNDS: [(&str, &str); 8] = [
    ("meta", "meta = '7'"),
    ("scope", "scope = '[1,2]'"),
    ("ttl", "ttl = 'P1D'"),
    ("expires_at", "expires_at = -5"),
    ("version", "version = -3"),
    ("use_count", "use_count = -1"),
    ("value", "value = x'22'"),
    ("updated_at", "updated_at = 'x'"),
];

fn has_text(home: &Home, text: &str) -> bool {
    let text = text.as_bytes();
    home.files().iter().any(|(_, bytes)| bytes.windows(text.len()).any(|part| part == text))
}

/// A home with a hint, the row of which is damaged while no daemon runs.
fn with_damaged_hint(set: &str) -> Home {
    let home = home();
    home.run(&["hint", "set", "web", "port", "zanzibarquux", "--ttl", "forever"]).ok();
    home.run(&["stop"]);
    wound(&home, &format!("UPDATE hint_variants SET {set}"));
    home
}

/// @one_damaged_row_costs_one_row
#[test]
fn a_damaged_hint_is_named_by_doctor_and_repaired() {
    for (column, set) in HINT_WOUNDS {
        let home = with_damaged_hint(set);
        let check = damaged_check(&home);
        let detail = check["detail"].as_str().unwrap_or_default();
        assert!(detail.contains("hint_variants") && detail.contains(column), "{set}: {check}");
        let repaired = home.run(&["doctor", "--fix"]).stdout;
        assert!(repaired.contains("repaired 1 "), "{set}: {repaired}");
        assert_eq!(damaged_check(&home), Value::Null, "{set}");
        home.run(&["hint", "set", "web", "port", "9090"]).ok();
        let shown = home.run(&["hint", "get", "web", "port"]).ok();
        assert!(shown.contains("9090"), "{set}: {shown}");
    }
}

/// @one_damaged_row_costs_one_row
#[test]
fn a_repaired_hint_is_shown_by_the_running_daemon() {
    for set in ["version = -3", "use_count = -1"] {
        let home = with_damaged_hint(set);
        let _daemon = home.daemon();
        let repaired = home.run(&["doctor", "--fix"]).stdout;
        assert!(repaired.contains("repaired 1 "), "{set}: {repaired}");
        testkit::wait_until("the daemon to load the hint", || {
            let shown = home.run(&["hint", "get", "web", "port"]);
            shown.stdout.contains("zanzibarquux").then_some(())
        });
    }
}

/// @one_damaged_row_costs_one_row
#[test]
fn a_damaged_hint_is_deleted_by_its_name_with_its_value() {
    for (_, set) in HINT_WOUNDS {
        let home = with_damaged_hint(set);
        let done = home.run(&["hint", "delete", "web", "port"]).ok();
        assert!(done.starts_with("✔ deleted hint web/port"), "{set}: {done}");
        home.run(&["stop"]);
        assert_eq!(id_of(&home, "SELECT count(*) FROM hint_variants"), 0, "{set}");
        let again = home.run(&["hint", "delete", "web", "port"]);
        assert_ne!(again.code, 0, "{set}: {again:?}");
        home.run(&["stop"]);
        assert!(!has_text(&home, "zanzibarquux"), "{set}");
    }
}

/// An index whose expression makes storing one event fail, as an internal error of the store would.
const POISON: &str = "CREATE INDEX poison ON observations \
     (CASE WHEN instr(content, 'poison') > 0 THEN json(content) END)";

fn stored(home: &Home) -> Vec<String> {
    let all = sqlite::observed(home).into_iter().map(|(content, _)| content);
    all.filter(|content| content.starts_with("make ")).collect()
}

/// @a_failing_event_waits_in_the_spool
#[test]
fn an_event_that_cannot_be_stored_stays_in_the_spool_and_blocks_no_other() {
    let home = home();
    home.run(&["mark", "a mark"]).ok();
    sqlite::open(&sqlite::path(&home)).execute_batch(POISON).unwrap();
    for (id, command) in ["make one", "make poison", "make two"].iter().enumerate() {
        bash(&home, &format!("t-{id}"), command);
    }
    for _ in 0..3 {
        home.run(&["mark", "again"]).ok();
        assert_eq!(stored(&home), ["make one", "make two"]);
        assert_eq!(home.spooled().len(), 1, "{:?}", home.spooled());
    }
    let check = |home: &Home| home.run(&["doctor", "--json"]).json()["checks"].to_string();
    assert!(check(&home).contains("1 event not stored yet"), "{}", check(&home));
    assert!(!home.path("data/spool/unreadable").exists());
    sqlite::open(&sqlite::path(&home)).execute_batch("DROP INDEX poison").unwrap();
    home.run(&["mark", "and again"]).ok();
    assert_eq!(stored(&home), ["make one", "make two", "make poison"]);
    assert!(home.spooled().is_empty());
}

/// @a_failing_event_waits_in_the_spool
#[test]
fn a_daemon_reports_an_event_that_cannot_be_stored_and_retries_it() {
    let home = home();
    home.run(&["mark", "a mark"]).ok();
    sqlite::open(&sqlite::path(&home)).execute_batch(POISON).unwrap();
    let _daemon = home.daemon();
    for (id, command) in ["make one", "make poison", "make two"].iter().enumerate() {
        bash(&home, &format!("t-{id}"), command);
    }
    home.run(&["mark", "again"]).ok();
    assert_eq!(stored(&home), ["make one", "make two"]);
    assert_eq!(home.spooled().len(), 1, "{:?}", home.spooled());
    let checks = home.run(&["doctor", "--json"]).json()["checks"].to_string();
    assert!(checks.contains("1 event could not be stored"), "{checks}");
    let status = home.run(&["status"]).ok();
    assert!(status.contains("1 event in the spool could not be stored"), "{status}");
    sqlite::open(&sqlite::path(&home)).execute_batch("DROP INDEX poison").unwrap();
    testkit::wait_until("the event to be stored", || {
        home.run(&["stats"]).ok();
        home.spooled().is_empty().then_some(())
    });
    assert_eq!(stored(&home), ["make one", "make two", "make poison"]);
}

/// Overwrites a page of the database, from this byte on.
fn spoil(home: &Home, page: usize, from: usize) {
    use std::os::unix::fs::FileExt as _;
    let file = std::fs::OpenOptions::new().write(true).open(sqlite::path(home)).unwrap();
    let place = u64::try_from((page - 1) * 4096 + from).unwrap();
    file.write_all_at(&vec![0xff; 4096 - from], place).unwrap();
}

/// @salvage_reads_leaf_pages
#[test]
fn a_lost_root_page_or_schema_loses_no_record_and_the_counts_are_reported() {
    for (table, from) in [(Some("observations"), 0), (None, 100)] {
        let home = home();
        for number in 0..60 {
            bash(&home, &format!("t-{number}"), &format!("make part-{number} {}", "x".repeat(400)));
        }
        bash(&home, "t-60", "make zanzibarquux");
        home.run(&["mark", "a mark"]).ok();
        home.run(&["purge", "--search", "zanzibarquux", "--confirm"]).ok();
        let db = sqlite::open(&sqlite::path(&home));
        db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        let page = table.map_or(1, |table| {
            let root = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
            db.query_row(root, [table], |row| row.get(0)).unwrap()
        });
        drop(db);
        spoil(&home, page, from);
        let _daemon = home.daemon();
        // The first call on the damaged database may fail while the database is replaced.
        home.run(&["recent", "--project", "*"]);
        home.run(&["recent", "--project", "*"]).ok();
        let stats = home.run(&["stats", "--json"]).json();
        assert_eq!(stats["observations"], 61, "{stats}");
        let trace = home.run(&["trace", "s-1"]).ok();
        assert!(trace.contains("make part-0 ") && trace.contains("make part-59 "), "{trace}");
        assert!(!trace.contains("zanzibarquux"), "what was purged stays away: {trace}");
        let told = home.run(&["doctor"]).stdout;
        assert!(told.contains("the database was damaged"), "{told}");
        assert!(told.contains("observations 61"), "{told}");
    }
}
