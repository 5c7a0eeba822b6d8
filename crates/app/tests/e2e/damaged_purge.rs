//! A purge decides by the records themselves: damage to data that is derived from them neither saves a record nor
//! costs another one.

use std::os::unix::fs::FileExt as _;

use serde_json::json;
use testkit::Home;

use super::{home, sqlite};

const WORD: &str = "zanzibarquux";

fn prompt(home: &Home, text: &str) {
    let cwd = home.path("web").to_string_lossy().into_owned();
    home.hook("UserPromptSubmit", &json!({ "session_id": "s-1", "cwd": cwd, "prompt": text }));
}

fn bash(home: &Home, id: &str, command: &str) {
    let cwd = home.path("web").to_string_lossy().into_owned();
    home.hook(
        "PostToolUse",
        &json!({
            "session_id": "s-1", "cwd": cwd, "tool_use_id": id, "tool_name": "Bash",
            "tool_input": { "command": command }, "tool_response": {},
        }),
    );
}

/// A home with an index of prompts with the word and commands without it.
fn indexed() -> Home {
    let home = home();
    for number in 1..=4 {
        prompt(&home, &format!("fix the {WORD} number {number}"));
        bash(&home, &format!("t-{number}"), &format!("cargo test case{number}"));
    }
    home.run(&["search", WORD]).ok();
    home.run(&["maintain"]).ok();
    home
}

fn wound(home: &Home, sql: &str) {
    let db = sqlite::open(&sqlite::path(home));
    db.busy_timeout(std::time::Duration::from_secs(10)).unwrap();
    db.execute_batch(sql).unwrap();
}

/// The texts of all records, in order.
fn texts(home: &Home) -> Vec<String> {
    let select =
        "SELECT content FROM observations UNION ALL SELECT content FROM prompts ORDER BY 1";
    let db = sqlite::open(&sqlite::path(home));
    let mut select = db.prepare(select).unwrap();
    let rows = select.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

/// Flips a bit of the posting list of the word, so that it leads to another passage.
fn flip_posting(home: &Home) {
    let db = sqlite::open(&sqlite::path(home));
    let select = "SELECT entries FROM postings WHERE term = ?1";
    let mut entries: Vec<u8> = db.query_row(select, [WORD], |row| row.get(0)).unwrap();
    entries[4] ^= 2;
    let update = "UPDATE postings SET entries = ?2 WHERE term = ?1";
    db.execute(update, rusqlite::params![WORD, entries]).unwrap();
}

type Damage = fn(&Home);

/// Ways to make the index find other records than those with the word.
const MISLEADING: [(&str, Damage); 5] = [
    ("a flipped bit in a posting list", flip_posting),
    ("the posting list of another word", |home| {
        wound(
            home,
            "UPDATE postings SET entries = (SELECT entries FROM postings WHERE term = 'cargo') \
             WHERE term = 'zanzibarquux'",
        );
    }),
    ("no posting list", |home| wound(home, "DELETE FROM postings WHERE term = 'zanzibarquux'")),
    ("passages of other records", |home| wound(home, "UPDATE passages SET doc = doc + 1")),
    ("no passages", |home| wound(home, "DELETE FROM passages")),
];

/// @purge_reads_records
#[test]
fn a_purge_by_words_deletes_exactly_the_records_with_them_whatever_the_index_says() {
    for (what, mislead) in MISLEADING {
        for with_daemon in [false, true] {
            let home = indexed();
            let _daemon = with_daemon.then(|| home.daemon());
            mislead(&home);
            let would = home.run(&["purge", "--search", WORD]).ok();
            assert!(would.starts_with("would purge 0 observations, 4 prompts"), "{what}: {would}");
            let done = home.run(&["purge", "--search", WORD, "--confirm"]).ok();
            assert!(done.starts_with("✔ purged 0 observations, 4 prompts"), "{what}: {done}");
            let left: Vec<String> =
                (1..=4).map(|number| format!("cargo test case{number}")).collect();
            assert_eq!(texts(&home), left, "{what}");
        }
    }
}

/// Flips a bit of the last byte of the page at the root of this index.
fn flip_in_index(home: &Home, index: &str) {
    let db = sqlite::open(&sqlite::path(home));
    db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let root = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    let page: u64 = db.query_row(root, [index], |row| row.get(0)).unwrap();
    drop(db);
    let file = std::fs::OpenOptions::new().read(true).write(true).open(sqlite::path(home)).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, page * 4096 - 1).unwrap();
    file.write_all_at(&[byte[0] ^ 4], page * 4096 - 1).unwrap();
}

/// @purge_reads_records
#[test]
fn a_purge_by_words_that_meets_damage_deletes_them_and_names_the_damaged_database() {
    for with_daemon in [false, true] {
        let home = indexed();
        flip_in_index(&home, "observations_by_session");
        let _daemon = with_daemon.then(|| home.daemon());
        let done = home.run(&["purge", "--search", WORD, "--confirm"]).ok();
        assert!(done.starts_with("✔ purged 0 observations, 4 prompts"), "{done}");
        assert!(!texts(&home).iter().any(|text| text.contains(WORD)));
        let set_aside = std::fs::read_dir(home.path("data")).unwrap().flatten();
        let set_aside = set_aside.map(|entry| entry.file_name().into_string().unwrap());
        for name in set_aside.filter(|name| name.starts_with("rekindle.db.corrupt-")) {
            assert!(done.contains(&name), "{name}: {done}");
        }
    }
}
