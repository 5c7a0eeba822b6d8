//! A purge decides by the records themselves: damage to data that is derived from them neither saves a record nor
//! costs another one, and leaves no word behind.

use std::os::unix::fs::FileExt as _;

use testkit::Home;

use super::damaged::{bash, prompt, wound};
use super::{home, sqlite};

const WORD: &str = "zanzibarquux";

/// A home with an index of prompts with the word and commands without it.
fn indexed() -> Home {
    let home = home();
    for number in 1..=4 {
        prompt(&home, "s-1", &format!("fix the {WORD} number {number}"));
        bash(&home, &format!("t-{number}"), &format!("cargo test case{number}"));
    }
    home.run(&["search", WORD]).ok();
    home.run(&["maintain"]).ok();
    home
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

fn has_word(home: &Home) -> bool {
    let word = WORD.as_bytes();
    home.files().iter().any(|(_, bytes)| bytes.windows(word.len()).any(|part| part == word))
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
            assert!(!has_word(&home), "{what}, with a daemon: {with_daemon}");
        }
    }
}

/// @purge_leaves_no_trace
#[test]
fn a_purge_leaves_no_word_in_a_posting_list_at_the_wrong_place() {
    for (what, sql) in [
        ("another block", "UPDATE postings SET block = 7 WHERE term = 'zanzibarquux'"),
        ("an impossible block", "UPDATE postings SET block = -7 WHERE term = 'zanzibarquux'"),
        (
            "the table of an older build",
            "CREATE TABLE packed_postings (pack INTEGER, term TEXT, entries BLOB); \
             INSERT INTO packed_postings SELECT 3, term, entries FROM postings \
               WHERE term = 'zanzibarquux'; \
             DELETE FROM postings WHERE term = 'zanzibarquux'",
        ),
        (
            "no passages of the records",
            "DELETE FROM passages WHERE doc IN (SELECT id FROM prompts)",
        ),
    ] {
        for line in [
            &["purge", "--literal", WORD, "--confirm"][..],
            &["purge", "--search", WORD, "--confirm"],
        ] {
            let home = indexed();
            wound(&home, sql);
            let done = home.run(line).ok();
            assert!(done.starts_with("✔ purged 0 observations, 4 prompts"), "{what}: {done}");
            assert!(!has_word(&home), "{what}, {line:?}");
        }
    }
}

/// A trigger of another program that copies every deleted text into a table of its own.
const STASH: &str = "CREATE TABLE stash (content TEXT, weight REAL); \
     INSERT INTO stash VALUES ('kept', 0.5); \
     CREATE TRIGGER stash_texts BEFORE DELETE ON prompts \
       BEGIN INSERT INTO stash VALUES (old.content, 1); END; \
     CREATE TRIGGER stash_updates BEFORE UPDATE ON prompts \
       BEGIN INSERT INTO stash VALUES (old.content, 1); END;";

/// @no_triggers_run
#[test]
fn a_trigger_of_another_program_neither_runs_in_a_purge_nor_stays_unnoticed() {
    for with_daemon in [false, true] {
        let home = indexed();
        let _daemon = with_daemon.then(|| home.daemon());
        wound(&home, STASH);
        let found = checks(&home);
        for object in ["table stash", "trigger stash_texts", "trigger stash_updates"] {
            assert!(found.contains(object), "{object}: {found}");
        }
        let done = home.run(&["purge", "--search", WORD, "--confirm"]).ok();
        assert!(done.starts_with("✔ purged 0 observations, 4 prompts"), "{done}");
        assert!(!has_word(&home), "with a daemon: {with_daemon}");
        let fixed = home.run(&["doctor", "--fix"]).stdout;
        assert!(fixed.contains("dropped triggers that another program added"), "{fixed}");
        let found = checks(&home);
        assert!(!found.contains("trigger stash"), "{found}");
        assert!(found.contains("table stash"), "data of another program is kept: {found}");
        let kept = "SELECT count(*) FROM stash WHERE weight = 0.5";
        let kept: i64 =
            sqlite::open(&sqlite::path(&home)).query_row(kept, [], |row| row.get(0)).unwrap();
        assert_eq!(kept, 1);
        wound(&home, "DROP TABLE stash");
        assert!(!checks(&home).contains("another program added"));
    }
}

/// Statements that give two records the same id.
const SHARED_IDS: [(&str, &str); 5] = [
    (
        "a prompt's id",
        "UPDATE observations SET id = (SELECT min(id) FROM prompts) \
           WHERE id = (SELECT max(id) FROM observations)",
    ),
    (
        "an observation's id",
        "UPDATE prompts SET id = (SELECT max(id) FROM observations) \
           WHERE id = (SELECT min(id) FROM prompts)",
    ),
    (
        "a session's id",
        "UPDATE observations SET id = (SELECT id FROM sessions) \
           WHERE id = (SELECT min(id) FROM observations)",
    ),
    (
        "a prompt with a session's id",
        "UPDATE prompts SET id = (SELECT id FROM sessions) \
           WHERE id = (SELECT max(id) FROM prompts)",
    ),
    (
        "three records of one id",
        "UPDATE observations SET id = (SELECT id FROM sessions) \
           WHERE id = (SELECT min(id) FROM observations); \
         UPDATE prompts SET id = (SELECT id FROM sessions) \
           WHERE id = (SELECT min(id) FROM prompts)",
    ),
];

fn checks(home: &Home) -> String {
    home.run(&["doctor", "--json"]).json()["checks"].to_string()
}

/// @an_id_names_one_record
#[test]
fn records_that_share_an_id_are_named_separated_and_purged_one_by_one() {
    for (what, sql) in SHARED_IDS {
        for (line, with_daemon) in [
            (&["doctor", "--fix"][..], false),
            (&["doctor", "--fix"], true),
            (&["maintain"], false),
            (&["purge", "--search", WORD, "--confirm"], false),
            (&["purge", "--literal", WORD, "--confirm"], true),
        ] {
            let home = indexed();
            let before = texts(&home);
            wound(&home, sql);
            let _daemon = with_daemon.then(|| home.daemon());
            let found = checks(&home);
            assert!(found.contains("id is used twice"), "{what}: {found}");
            assert!(found.contains("doctor --fix"), "{what}: {found}");
            let run = home.run(line);
            assert!(!run.stdout.contains("failed"), "{what}, {line:?}: {run:?}");
            if line[0] != "purge" {
                assert_eq!(texts(&home), before, "{what}, {line:?}");
                let found = checks(&home);
                assert!(!found.contains("damaged"), "{what}, {line:?}: {found}");
                for (word, count) in [(WORD, 4), ("cargo", 4)] {
                    let found = home.run(&["search", word, "--json"]).json();
                    let results = found["results"].as_array().unwrap().len();
                    assert_eq!(results, count, "{what}, {line:?}: {found}");
                }
                home.run(&["purge", "--search", WORD, "--confirm"]).ok();
            } else {
                let done = run.stdout.starts_with("✔ purged 0 observations, 4 prompts");
                assert!(done, "{what}: {run:?}");
            }
            let left: Vec<String> =
                (1..=4).map(|number| format!("cargo test case{number}")).collect();
            assert_eq!(texts(&home), left, "{what}, {line:?}");
            assert!(!has_word(&home), "{what}, {line:?}");
            assert!(!checks(&home).contains("id is used twice"), "{what}, {line:?}");
            home.run(&["maintain"]).ok();
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

/// @purge_wants_a_filter
#[test]
fn a_purge_of_records_that_share_an_id_announces_what_it_removes() {
    for (what, sql) in SHARED_IDS {
        for filter in ["--search", "--literal"] {
            let home = indexed();
            wound(&home, sql);
            let would = home.run(&["purge", filter, WORD, "--json"]).json();
            let done = home.run(&["purge", filter, WORD, "--confirm", "--json"]).json();
            for count in ["observations", "prompts", "sessions", "summaries"] {
                assert_eq!(would[count], done[count], "{what}, {filter}: {would} {done}");
            }
        }
    }
}
