//! A purge reaches or names every place with user text: columns of the database, files of the spool, copies.

use std::path::Path;

use serde_json::json;
use testkit::Home;

use super::{home, sqlite};

const WORD: &str = "zanzibarquux";

fn prompt(home: &Home, session: &str, text: &str) {
    let cwd = home.path("web").to_string_lossy().into_owned();
    home.hook("UserPromptSubmit", &json!({ "session_id": session, "cwd": cwd, "prompt": text }));
}

fn holds(home: &Home) -> bool {
    let word = WORD.as_bytes();
    home.files().iter().any(|(_, bytes)| bytes.windows(word.len()).any(|part| part == word))
}

/// @purge_near_misses
#[test]
fn whole_words_in_metadata_session_names_and_hints_are_named_by_a_purge_by_words() {
    let home = home();
    let cwd = home.path("web").to_string_lossy().into_owned();
    prompt(&home, "s-1", "a neutral prompt");
    home.hook("SessionEnd", &json!({ "session_id": "s-1", "cwd": cwd, "reason": WORD }));
    let ended = home.run(&["purge", "--search", WORD]).ok();
    assert!(ended.starts_with("nothing to purge"), "{ended}");
    assert!(ended.contains("1 other record contains the text"), "{ended}");
    prompt(&home, &format!("z-{WORD}"), "another neutral prompt");
    home.run(&["hint", "set", "web", "word", WORD]).ok();
    for line in [&["purge", "--search", WORD][..], &["purge", "--search", WORD, "--confirm"]] {
        let said = home.run(line).ok();
        assert!(said.contains("other records contain the text"), "{said}");
        assert!(said.contains("in the session's name or directory"), "{said}");
        assert!(said.contains(&format!("--literal '{WORD}'")), "{said}");
        assert!(said.contains("1 hint with the text left"), "{said}");
    }
    home.run(&["hint", "delete", "web", "word"]).ok();
    home.run(&["purge", "--literal", WORD, "--confirm"]).ok();
    assert!(!holds(&home));
    assert_eq!(home.run(&["purge", "--search", WORD]).ok(), "nothing to purge\n");
}

/// Text columns that a literal purge empties or deletes, each with a value that contains the word.
const REACHED: [(&str, &str, &str); 43] = [
    ("answers", "answer", "{\"text\":\"zanzibarquux\"}"),
    ("context_items", "item", "zanzibarquux"),
    ("context_items", "set_name", "zanzibarquux"),
    ("events", "subject", "hint://web/zanzibarquux"),
    ("ghaps", "action", "zanzibarquux"),
    ("ghaps", "evidence", "[{\"command\":\"zanzibarquux\"}]"),
    ("ghaps", "goal", "zanzibarquux"),
    ("ghaps", "history", "[{\"action\":\"zanzibarquux\"}]"),
    ("ghaps", "hypothesis", "zanzibarquux"),
    ("ghaps", "lesson", "{\"what_worked\":\"zanzibarquux\"}"),
    ("ghaps", "notes", "[{\"text\":\"zanzibarquux\"}]"),
    ("ghaps", "prediction", "zanzibarquux"),
    ("ghaps", "result", "zanzibarquux"),
    ("ghaps", "root", "/srv/zanzibarquux"),
    ("ghaps", "root_cause", "{\"description\":\"zanzibarquux\"}"),
    ("ghaps", "surprise", "zanzibarquux"),
    ("hook_sessions", "name", "zanzibarquux"),
    ("hook_sessions", "session", "zanzibarquux"),
    ("hooks_seen", "name", "zanzibarquux"),
    ("learned_values", "root", "/srv/zanzibarquux"),
    ("learned_values", "value", "zanzibarquux"),
    ("memories", "content", "zanzibarquux"),
    ("memories", "root", "/srv/zanzibarquux"),
    ("memories", "tags", "[\"zanzibarquux\"]"),
    ("notices", "text", "zanzibarquux"),
    ("observations", "agent_id", "zanzibarquux"),
    ("observations", "content", "zanzibarquux"),
    ("observations", "metadata", "{\"a\":\"zanzibarquux\"}"),
    ("observations", "source_event", "zanzibarquux"),
    ("observations", "tool", "zanzibarquux"),
    ("prompts", "agent_prompt_id", "zanzibarquux"),
    ("prompts", "content", "zanzibarquux"),
    ("prompts", "source_event", "zanzibarquux"),
    ("quoted_hints", "component", "zanzibarquux"),
    ("quoted_hints", "key", "zanzibarquux"),
    ("receipts", "path", "obs://zanzibarquux"),
    ("receipts", "reason", "zanzibarquux"),
    ("session_details", "env_hint", "zanzibarquux"),
    ("session_details", "label", "zanzibarquux"),
    ("session_starts", "cwd", "/srv/zanzibarquux"),
    ("session_starts", "model", "zanzibarquux"),
    ("sessions", "name", "zanzibarquux"),
    ("sessions", "root", "/srv/zanzibarquux"),
];
/// Text columns that are not changed: hints and projects, which are counted, and the index and summaries, which are
/// derived from the records.
const COUNTED: [(&str, &str); 9] = [
    ("hint_variants", "component"),
    ("hint_variants", "key"),
    ("hint_variants", "meta"),
    ("hint_variants", "scope"),
    ("hint_variants", "value"),
    ("project_aliases", "value"),
    ("projects", "key"),
    ("projects", "name"),
    ("projects", "root"),
];
const DERIVED: [(&str, &str); 5] = [
    ("activity_keys", "tool"),
    ("paths", "name"),
    ("paths", "path"),
    ("postings", "term"),
    ("sessions", "summary"),
];
/// Text columns with words of our own only.
const OUR_WORDS: [(&str, &str); 28] = [
    ("activity_keys", "agent"),
    ("activity_keys", "kind"),
    ("clusters", "axis"),
    ("clusters", "members"),
    ("context_items", "added_by"),
    ("events", "data"),
    ("events", "kind"),
    ("ghaps", "domain"),
    ("ghaps", "name"),
    ("ghaps", "status"),
    ("ghaps", "strategy"),
    ("ghaps", "tier"),
    ("hint_variants", "ttl"),
    ("import_batches", "source"),
    ("job_runs", "op"),
    ("job_runs", "state"),
    ("job_runs", "why"),
    ("learned_values", "axis"),
    ("learned_values", "name"),
    ("memories", "category"),
    ("memories", "uuid"),
    ("memory_sources", "source"),
    ("observations", "kind"),
    ("passages", "kind"),
    ("prompts", "source"),
    ("sessions", "agent"),
    ("sessions", "signature"),
    ("sessions", "state"),
];
/// Rows for tables that are empty after two events.
const ROWS: &str = "\
    INSERT INTO notices (at, text) VALUES (1, 'a notice'); \
    INSERT INTO memories (id, uuid, project, root, at, category, importance, tags, content) \
      SELECT 900, 'u', id, '/', 1, 'fact', 0.5, '[]', 'a memory' FROM projects LIMIT 1; \
    INSERT INTO receipts (session, at, path, stamp, reason, tokens) \
      SELECT id, 1, 'obs://1', 1, 'because', 1 FROM sessions LIMIT 1; \
    INSERT INTO context_items (session, set_place, set_name, place, item, at, added_by) \
      SELECT id, 0, 'ports', 0, '80', 1, 'agent' FROM sessions LIMIT 1; \
    INSERT INTO session_details (id, label, env_hint) SELECT id, 'a', 'b' FROM sessions LIMIT 1; \
    INSERT OR REPLACE INTO session_starts SELECT id, 'a', 'b' FROM sessions LIMIT 1; \
    INSERT INTO answers (id, fingerprint, at, answer) VALUES (randomblob(16), 1, 1, '{}'); \
    INSERT INTO ghaps (id, name, owner, project, at, started_at, changed_at, status, domain, strategy, goal, \
      hypothesis, action, prediction, iteration, history, notes, evidence) \
      SELECT 901, 'ghap_1', id, project, 1, 1, 1, 'hypothesis', 'testing', 'ask-user', 'a', 'b', 'c', 'd', 1, \
      '[]', '[]', '[]' FROM sessions LIMIT 1; \
    INSERT INTO learned_values (id, name, project, at, axis, cluster, value, distance, weight) \
      SELECT 911, 'value_1', project, 1, 'full', 1, 'a', 0.5, 0.5 FROM sessions LIMIT 1; \
    INSERT INTO quoted_hints VALUES ('web', 'port', 1); \
    INSERT INTO events (at, kind, subject, data) VALUES (1, 'hint/changed', 'hint://a/b', '{}');";

/// @purge_literal
#[test]
fn a_literal_purge_reaches_every_text_column_of_the_schema() {
    let home = home();
    prompt(&home, "s-0", "fill the tables");
    home.run(&["recent"]).ok();
    let mut columns: Vec<(String, String)> = sqlite::open(&sqlite::path(&home))
        .prepare(
            "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c \
             WHERE t.type = 'table' AND c.type = 'TEXT' AND t.name NOT LIKE 'passage_fts%' \
             ORDER BY 1, 2",
        )
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    let reached = REACHED.iter().map(|(table, column, _)| (*table, *column));
    for (table, column) in reached.chain(COUNTED).chain(DERIVED).chain(OUR_WORDS) {
        let known = (table.to_owned(), column.to_owned());
        let place = columns.iter().position(|column| *column == known);
        columns.remove(place.unwrap_or_else(|| panic!("no column {known:?}")));
    }
    // A new column belongs into one of the lists, and into the table of the security spec.
    assert_eq!(columns, [] as [(String, String); 0]);
    for (table, column, value) in REACHED {
        let home = super::home();
        prompt(&home, "s-1", "a neutral prompt");
        home.run(&["mark", "a mark"]).ok();
        let db = sqlite::open(&sqlite::path(&home));
        db.execute_batch(ROWS).unwrap();
        let update = format!(
            "UPDATE {table} SET {column} = ?1 WHERE {column} = (SELECT {column} FROM {table} LIMIT 1) \
               OR {column} IS NULL"
        );
        let single = table == "prompts" || table == "hook_sessions" || table == "sessions";
        let update = match single {
            true => {
                format!("UPDATE {table} SET {column} = ?1 WHERE id = (SELECT max(id) FROM {table})")
            }
            false => update,
        };
        assert!(db.execute(&update, [value]).unwrap() > 0, "{table}.{column}");
        drop(db);
        assert!(holds(&home), "{table}.{column}");
        let would = home.run(&["purge", "--literal", WORD]).ok();
        assert!(would.starts_with("would purge "), "{table}.{column}: {would}");
        let done = home.run(&["purge", "--literal", WORD, "--confirm"]).ok();
        assert!(done.starts_with("✔ purged "), "{table}.{column}: {done}");
        assert!(!holds(&home), "{table}.{column}: {done}");
        assert_eq!(home.run(&["purge", "--literal", WORD]).ok(), "nothing to purge\n");
    }
}

/// @purge_files
#[test]
fn files_of_the_spool_with_the_text_are_deleted_and_named() {
    for (filter, with_daemon) in [("--literal", false), ("--search", false), ("--literal", true)] {
        let home = home();
        let _daemon = with_daemon.then(|| home.daemon());
        home.run(&["mark", "a mark"]).ok();
        let file = |name: &str, text: &str| home.write(&format!("data/spool/{name}"), text);
        let broken = file("unreadable/000000000000001-a.json", &format!("{{\"broken\\n{WORD}"));
        let stray = file("foo.tmp", &format!("x {WORD}"));
        let glued = file("unreadable/000000000000002-b.json", &format!("x{WORD}x"));
        let harmless = file("unreadable/000000000000003-c.json", "harmless");
        let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        // Other filters cannot be compared with a file.
        let other = home.run(&["purge", filter, WORD, "--type", "file_edit", "--confirm"]).ok();
        assert!(other.contains("may contain the text stay"), "{other}");
        assert!(other.contains(&name(&broken)) && broken.exists(), "{other}");
        let would = home.run(&["purge", filter, WORD]).ok();
        assert!(would.contains("would delete from the spool:"), "{would}");
        assert!(broken.exists() && stray.exists());
        let done = home.run(&["purge", filter, WORD, "--confirm"]).ok();
        for said in [&would, &done] {
            assert!(said.contains(&name(&broken)) && said.contains(&name(&stray)), "{said}");
            assert!(said.contains(&name(&glued)) && !said.contains(&name(&harmless)), "{said}");
        }
        assert!(done.contains("deleted from the spool:"), "{done}");
        assert!(!broken.exists() && !stray.exists() && harmless.exists(), "{done}");
        assert_eq!(glued.exists(), filter == "--search", "{done}");
        assert_eq!(done.contains("may contain the text stay"), filter == "--search", "{done}");
    }
}

/// @purge_files
#[test]
fn a_literal_purge_finds_letters_that_json_has_as_numbers() {
    let home = home();
    home.run(&["mark", "a mark"]).ok();
    let spellings = ["caf\\u00e9 \\ud83d\\ude00", "caf\\u00E9 \\uD83D\\uDE00", "café 😀"];
    let files: Vec<_> = (spellings.iter().enumerate())
        .map(|(n, text)| {
            home.write(&format!("data/spool/unreadable/00000000000000{n}-a.json"), text)
        })
        .collect();
    let other =
        home.write("data/spool/unreadable/000000000000009-a.json", "caf\\u00e8 \\ud83d\\ude00");
    home.run(&["purge", "--literal", "café 😀", "--confirm"]).ok();
    assert!(files.iter().all(|file| !file.exists()), "{files:?}");
    assert!(other.exists());
}

/// @purge_names_copies
#[test]
fn a_backup_in_the_data_directory_is_named_if_it_contains_the_text() {
    let home = home();
    prompt(&home, "s-1", &format!("use {WORD}"));
    home.run(&["recent"]).ok();
    let copy = home.path("data/copy.db");
    home.run(&["backup", copy.to_str().unwrap()]).ok();
    let done = home.run(&["purge", "--literal", WORD, "--confirm"]).ok();
    assert!(done.contains("1 saved database with the text; delete those"), "{done}");
    assert!(done.contains(copy.to_str().unwrap()), "{done}");
    let again = home.run(&["purge", "--search", WORD, "--confirm"]).ok();
    assert_eq!(again, "nothing to purge\n");
}
