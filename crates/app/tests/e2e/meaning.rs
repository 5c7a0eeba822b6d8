//! Search by meaning: similar records, the setting that turns it off, the index after a kill, and no trace of purged
//! records.

use rusqlite::Connection;
use serde_json::json;
use testkit::{Daemon, Home, wait_until};

use super::{backlog, home, sqlite};

const DECIDED: &str = "we decided to use SQLite instead of Postgres";
const ASKED: &str = "why choose a database engine";

fn number(db: &Connection, sql: &str) -> usize {
    db.query_row(sql, [], |row| row.get(0)).unwrap()
}

/// @similar_nearest
/// @similar_paths
#[test]
fn similar_things_are_found_by_text_and_by_path() {
    let home = home();
    let mark = |text: &str| home.run(&["mark", text, "--json"]).json()["id"].to_string();
    let first = mark("the cache of the shop lies after a deploy");
    let again = mark("The cache of the shop lies after a deploy.");
    mark("water the plants");
    let shown = home.run(&["similar", "cache", "of", "the", "shop", "lies"]).ok();
    assert!(shown.lines().nth(1).unwrap().contains("of the shop lies"), "{shown}");
    let path = format!("obs://{first}");
    let shown = home.run(&["similar", &path]).ok();
    assert!(shown.contains(&format!("=#{again}")) && !shown.contains(&format!("#{first}")));
    assert!(shown.ends_with("= says the same\n"), "{shown}");
    let ids = home.run(&["similar", "--path", &path, "--limit", "1", "--ids"]).ok();
    assert_eq!(ids, format!("{again}\n"));
    let answer = home.run(&["similar", &path, "--json"]).json();
    assert_eq!(
        (&answer["results"][0]["duplicate"], &answer["partial"]),
        (&json!(true), &json!(false))
    );
    // Entries of other kinds have words too.
    home.run(&["hint", "set", "shop", "cache", "clear the cache of the shop"]).ok();
    let ids = home.run(&["similar", "hint://shop/cache", "--limit", "2", "--ids"]).ok();
    let mut ids: Vec<&str> = ids.lines().collect();
    ids.sort_unstable();
    assert_eq!(ids, [first.as_str(), again.as_str()]);
    for (line, said) in [
        (&["similar"][..], "neither a text nor a path is given"),
        (&["similar", "obs://99999"], "there is no obs://99999"),
        (&["similar", "--path", "nowhere.rs"], "not an entry path"),
        (&["similar", "x", "--path", "obs://1"], "both a text and a path"),
    ] {
        let refused = home.run(line);
        assert_eq!(refused.code, 1, "{refused:?}");
        assert!(refused.stderr.contains(said), "{refused:?}");
    }
}

/// @search_meaning_off
/// @similar_without_meaning
#[test]
fn embeddings_are_computed_later_for_records_stored_while_the_setting_was_off() {
    let mut home = home();
    home.run(&["config", "set", "search.meaning", "false"]).ok();
    home.run(&["mark", DECIDED]).ok();
    let finds = |home: &Home, line: &[&str]| {
        let results = home.run(line).json()["results"].take();
        results.as_array().unwrap().iter().any(|one| one["content_preview"] == DECIDED)
    };
    let vectors = |home: &Home| {
        let db = sqlite::open(&sqlite::path(home));
        ["SELECT count(vector) FROM passages", "SELECT count(*) FROM passages"]
            .map(|sql| number(&db, sql))
    };
    assert!(finds(&home, &["search", "postgres", "--json"]));
    assert!(!finds(&home, &["search", ASKED, "--json"]));
    assert!(!finds(&home, &["similar", ASKED, "--json"]));
    assert_eq!(vectors(&home), [0, 1]);
    home.set("REKINDLE_SEARCH_MEANING", "true");
    assert!(finds(&home, &["search", ASKED, "--json"]));
    assert!(finds(&home, &["similar", ASKED, "--json"]));
    assert_eq!(vectors(&home), [1, 1]);
}

/// Kills the daemon as soon as this query counts a row. Returns the connection that counted: while it is open, no
/// process cleans up after the kill.
fn kill_once(home: &Home, mut daemon: Daemon, sql: &str) -> Connection {
    let db = sqlite::open(&sqlite::path(home));
    wait_until(sql, || (number(&db, sql) > 0).then_some(()));
    daemon.kill();
    db
}

/// @index_after_a_kill
#[test]
fn a_kill_while_indexing_or_embedding_leaves_every_record_found_once() {
    const COUNT: usize = 3_000;
    const INDEXED: &str = "SELECT count(*) FROM passages";
    const MEANT: &str = "SELECT count(vector) FROM passages";
    let mut home = home();
    home.set("REKINDLE_SEARCH_MEANING", "false");
    let event = json!({ "session_id": "s-1", "cwd": home.path("app"), "tool_name": "Bash",
        "tool_input": { "command": "make part-0" } });
    home.hook("PostToolUse", &event);
    backlog::multiply(&home, COUNT);
    let db = kill_once(&home, home.daemon(), INDEXED);
    assert!(number(&db, INDEXED) < COUNT, "it was not done yet");
    let whole = |home: &Home, daemon: Daemon, done: &str| {
        let db = sqlite::open(&sqlite::path(home));
        wait_until(done, || (number(&db, done) == COUNT).then_some(()));
        let docs = "SELECT count(DISTINCT doc) FROM passages JOIN observations o ON o.id = doc";
        let counts = [docs, "SELECT count(*) FROM passage_fts_docsize", INDEXED];
        assert_eq!(counts.map(|sql| number(&db, sql)), [COUNT; 3]);
        let mut postings = db.prepare("SELECT entries FROM postings WHERE term = 'part'").unwrap();
        let postings = postings.query_map([], |row| row.get::<_, Vec<u8>>(0)).unwrap();
        let count = |blob: Vec<u8>| usize::from(u16::from_le_bytes([blob[0], blob[1]]));
        assert_eq!(postings.map(|blob| count(blob.unwrap())).sum::<usize>(), COUNT);
        let mut socket = home.socket();
        for part in (0..COUNT).step_by(250) {
            let params = json!({ "query": format!("\"part {part}\""), "project": "*" });
            let found = socket.rpc("search", &params).unwrap();
            let results = found["results"].as_array().unwrap();
            assert_eq!(results.len(), 1, "{part}: {found}");
            assert_eq!(results[0]["content_preview"], format!("make part-{part}"));
        }
        drop(daemon);
    };
    whole(&home, home.daemon(), INDEXED);
    drop(db);
    home.unset("REKINDLE_SEARCH_MEANING");
    let db = kill_once(&home, home.daemon(), MEANT);
    assert!(number(&db, MEANT) < COUNT, "it was not done yet");
    whole(&home, home.daemon(), MEANT);
    assert!(sqlite::is_sound(&sqlite::path(&home)));
}

fn holds(home: &Home, bytes: &[u8]) -> bool {
    home.files().iter().any(|(_, file)| file.windows(bytes.len()).any(|part| part == bytes))
}

/// The vectors of the records with a prompt's words.
fn vectors(home: &Home) -> Vec<Vec<u8>> {
    let db = sqlite::open(&sqlite::path(home));
    let mut select = db.prepare("SELECT vector FROM passages ORDER BY doc").unwrap();
    select.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// @purge_leaves_no_trace
#[test]
fn neither_words_nor_vectors_of_purged_or_scrubbed_records_are_in_any_file() {
    let secret = format!("ghp_{}", "Zq7Wm2Kx9Rt4Lp6Vb8Nc".repeat(2).split_at(36).0);
    for with_daemon in [false, true] {
        let home = home();
        let cwd = home.path("app");
        for (session, prompt) in
            [("s-1", "tell me of the zanzibarquux"), ("s-2", "what does the deploy need")]
        {
            let event = json!({ "session_id": session, "cwd": cwd, "prompt": prompt });
            home.hook("UserPromptSubmit", &event);
        }
        home.run(&["search", "deploy", "--project", "*"]).ok();
        // As if it had been captured before the guard recognised such secrets.
        let db = sqlite::open(&sqlite::path(&home));
        let plant = "UPDATE prompts SET content = content || ' ' || ?1 WHERE content LIKE 'what%'";
        assert_eq!(db.execute(plant, [&secret]).unwrap(), 1);
        let again = "INSERT INTO unindexed (doc, known) SELECT id, 1 FROM prompts";
        assert_eq!(db.execute(again, []).unwrap(), 2);
        drop(db);
        let token = secret.trim_start_matches("ghp_").to_lowercase();
        assert!(home.run(&["search", &token, "--project", "*"]).ok().contains("what does"));
        let before = vectors(&home);
        let gone = [before.clone(), vec![token.into_bytes(), b"zanzibarquux".to_vec()]].concat();
        assert!(before.len() == 2 && gone.iter().all(|bytes| holds(&home, bytes)));
        let _daemon = with_daemon.then(|| home.daemon());
        home.run(&["scrub"]).ok();
        home.run(&["purge", "--search", "zanzibarquux", "--confirm"]).ok();
        for bytes in gone {
            let said = String::from_utf8_lossy(&bytes).into_owned();
            assert!(!holds(&home, &bytes), "with a daemon: {with_daemon}, {said}");
        }
        assert!(home.run(&["search", "deploy", "--project", "*"]).ok().contains("what does"));
    }
}
