//! The sample plugin in a real daemon: its records are captured, found, shown, live, counted, purged and scrubbed like any
//! others, and survive what the others survive.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::io::{Seek as _, Write as _};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use testkit::{Daemon, Home, Ws, wait_until};

fn home() -> Home {
    Home::new(env!("CARGO_BIN_EXE_rekindle-bookmarks"))
}

/// A prompt in the project `app` of the home.
fn prompt(home: &Home, session: &str, text: &str) {
    let cwd = home.path("app");
    std::fs::create_dir_all(&cwd).unwrap();
    let payload = json!({ "session_id": session, "cwd": cwd, "prompt": text });
    let run = home.run_with(&["hook", "UserPromptSubmit"], payload.to_string().as_bytes());
    assert_eq!(run.code, 0, "{run:?}");
}

/// Hits of a search in all projects that are bookmarks.
fn found(home: &Home, words: &str) -> Vec<Value> {
    let answer = home.call("search", &json!({ "query": words, "project": "*" }));
    let hits = answer["results"].as_array().unwrap().iter();
    hits.filter(|hit| hit["obs_type"] == "bookmark").cloned().collect()
}

fn id(hit: &Value) -> i64 {
    hit["id"].as_i64().unwrap()
}

fn watch(daemon: &Daemon) -> Ws {
    let token = format!("Bearer {}", daemon.token);
    Ws::connect(daemon.port, &[("Authorization", &token)]).unwrap()
}

const NOMICON: &str = "Read https://doc.rust-lang.org/nomicon before the variance change";

#[test]
fn a_prompt_with_an_address_becomes_a_record_that_is_found_shown_and_counted() {
    let home = home();
    let _daemon = home.daemon();
    prompt(&home, "s-1", NOMICON);
    prompt(&home, "s-1", "No address here, only variance");
    let hits = found(&home, "variance change");
    assert_eq!(hits.len(), 1, "{hits:?}");
    let hit = &hits[0];
    assert_eq!((&hit["session_id"], &hit["project"]), (&json!("s-1"), &json!("app")));
    assert!(hit["content_preview"].as_str().unwrap().contains("variance"), "{hit}");
    let number = id(hit).to_string();
    let shown = home.run(&["show", &number]).ok();
    assert!(shown.contains("bookmark") && shown.contains("rust-lang.org/nomicon"), "{shown}");
    let entry = home.run(&["get", &format!("bookmark://{number}")]).ok();
    assert!(entry.contains("before the variance change"), "{entry}");
    let listed = home.run(&["search", "nomicon", "--project", "*"]).ok();
    assert!(listed.lines().any(|line| line.contains("bookmark")), "{listed}");
    let stats = home.call("memory_stats", &json!({}));
    assert_eq!(stats["by_type"]["bookmarks"], 1, "{stats}");
    let elsewhere = json!({ "query": "nomicon", "project": "nowhere" });
    assert_ne!(home.run(&["call", "search", &elsewhere.to_string()]).code, 0);
}

#[test]
fn a_page_that_a_user_adds_is_in_no_session_and_found_in_its_project() {
    let home = home();
    let _daemon = home.daemon();
    home.run(&["bookmark", "add", "https://sqlite.org/wal.html", "checkpoint starvation"]).ok();
    let hits = found(&home, "starvation");
    assert_eq!(hits.len(), 1, "{hits:?}");
    assert_eq!(hits[0].get("session_id"), None, "{hits:?}");
    assert_eq!(found(&home, "sqlite.org/wal.html").len(), 1);
    let whole = home.call("get_observations", &json!({ "ids": [id(&hits[0])] }));
    assert_eq!(whole["results"][0]["obs_type"], "bookmark", "{whole}");
    assert_eq!(whole["results"][0].get("session_id"), None, "{whole}");
}

/// @any_kind_of_record
#[test]
fn the_kind_is_a_type_of_search_purge_and_retention() {
    let home = home();
    let daemon = home.daemon();
    prompt(&home, "s-1", NOMICON);
    let types = |kind: &str| -> Vec<String> {
        let listed = home.run(&["search", "nomicon", "--type", kind, "--project", "*", "--json"]);
        let hits = listed.json()["results"].as_array().unwrap().clone();
        hits.iter().map(|hit| hit["obs_type"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(types("bookmark"), ["bookmark"]);
    assert_eq!(types("user_prompt"), ["user_prompt"]);
    assert_eq!(types("tool_other"), [] as [&str; 0]);

    let bad = json!({ "query": "nomicon", "obs_type": "banana" });
    let error = daemon.http().rpc("search", &bad).unwrap_err();
    assert_eq!((&error["code"], &error["data"]["param"]), (&json!(40001), &json!("obs_type")));
    let hint = error["data"]["hint"].as_str().unwrap();
    assert!(hint.contains("file_edit") && hint.contains("bookmark"), "{error}");
    let refused = home.run(&["search", "nomicon", "--type", "banana"]);
    assert!(refused.code == 2 && refused.stderr.contains("search --help"), "{refused:?}");
    assert!(home.run(&["search", "--help"]).ok().contains("bookmark"));

    let shown = home.run(&["ops", "search", "--json"]).json();
    let words = &shown["params_schema"]["properties"]["obs_type"]["enum"];
    assert!(words.as_array().unwrap().contains(&json!("bookmark")), "{words}");

    let unknown = home.run(&["config", "set", "retention.days", "file_read=30,banana=1"]);
    assert!(unknown.code == 1 && unknown.stderr.contains("bookmark"), "{unknown:?}");
    home.run(&["config", "set", "retention.days", "file_read=30,bookmark=0"]).ok();

    let planned = home.run(&["purge", "--type", "bookmark", "--json"]).json();
    assert_eq!((&planned["others"]["bookmarks"], &planned["prompts"]), (&json!(1), &json!(0)));
    home.run(&["purge", "--type", "bookmark", "--confirm"]).ok();
    assert!(found(&home, "nomicon").is_empty());
    assert_eq!(types("user_prompt"), ["user_prompt"]);
}

/// @any_kind_of_record
#[test]
fn a_setting_for_the_kind_decides_when_retention_deletes_it() {
    let home = home();
    home.run(&["bookmark", "add", "https://host.example/a", "an old page"]).ok();
    let day = 86_400_000;
    execute(&home, &format!("UPDATE bookmarks SET at = at - 10 * {day}"));
    for (days, left) in [("bookmark=20", 1), ("bookmark=5", 0)] {
        home.run(&["config", "set", "retention.days", days]).ok();
        home.run(&["maintain", "--sweep"]).ok();
        assert_eq!(found(&home, "old page").len(), left, "{days}");
    }
}

/// @project_split
#[test]
fn a_record_in_no_session_moves_with_the_root_where_it_was_written() {
    let home = home();
    let _daemon = home.daemon();
    let run_in = |root: &str, words: &[&str]| {
        std::fs::create_dir_all(home.path(root)).unwrap();
        let run = home.command(words).current_dir(home.path(root)).output().unwrap();
        assert!(run.status.success(), "{run:?}");
        String::from_utf8(run.stdout).unwrap()
    };
    for root in ["web", "api"] {
        let url = format!("https://host.example/{root}");
        run_in(root, &["bookmark", "add", &url, "a page about checkpoints"]);
    }
    let pages = |root: &str| {
        let found = run_in(root, &["search", "checkpoints", "--type", "bookmark", "--full"]);
        ["web", "api"].map(|name| found.contains(&format!("host.example/{name}")))
    };
    assert_eq!((pages("web"), pages("api")), ([true, false], [false, true]));
    run_in("web", &["call", "merge_projects", r#"{"from":"api","into":"web"}"#]);
    assert_eq!((pages("web"), pages("api")), ([true, true], [true, true]));
    let split = json!({ "project": "web", "root": home.path("api") });
    run_in("web", &["call", "split_project", &split.to_string()]);
    assert_eq!((pages("web"), pages("api")), ([true, false], [false, true]));
}

#[test]
fn the_rest_route_the_file_of_the_page_and_the_feed_are_served() {
    let home = home();
    let daemon = home.daemon();
    let mut watcher = watch(&daemon);
    let subscribed = watcher.rpc("bookmarks/subscribe", &json!({})).unwrap();
    assert_eq!(subscribed, json!({ "subscribed": true }));
    let first = watcher.receive().expect("the first message");
    assert_eq!(first["params"], json!({ "newest": null }));
    prompt(&home, "s-1", NOMICON);
    // Every socket also hears of changes to the list of sessions.
    let mut frames = std::iter::from_fn(|| watcher.receive());
    let frame = frames.find(|frame| frame["method"] != "session/list_changed").expect("an event");
    assert_eq!(frame["method"], "bookmark/added");
    assert_eq!(frame["params"]["url"], "https://doc.rust-lang.org/nomicon");
    let path = frame["params"]["path"].as_str().unwrap().to_owned();
    let read = daemon.http().rpc("get", &json!({ "path": path })).unwrap();
    assert_eq!(read["entry"]["path"].as_str().or(read["path"].as_str()), Some(path.as_str()));
    let listed = daemon.http().get("/api/bookmarks?project=*");
    assert_eq!(listed.status, 200, "{}", listed.text());
    assert_eq!(listed.json()["bookmarks"][0]["url"], "https://doc.rust-lang.org/nomicon");
    let script = daemon.http().get("/bookmarks.js");
    assert_eq!(script.status, 200);
    assert!(script.text().contains("list_bookmarks"));
    let others = testkit::Http::new(daemon.port).get("/api/bookmarks");
    assert_eq!(others.status, 401, "a route is closed to callers without the token");
}

#[test]
fn the_job_is_listed_with_its_end_and_the_briefing_has_a_row() {
    let home = home();
    let _daemon = home.daemon();
    for session in ["s-1", "s-2", "s-3"] {
        prompt(&home, session, NOMICON);
    }
    let removed = home.call("deduplicate_bookmarks", &json!({}));
    assert_eq!(removed, json!({ "removed": 2 }));
    assert_eq!(found(&home, "nomicon").len(), 1);
    let jobs = home.call("list_jobs", &json!({}));
    let job = &jobs["jobs"][0];
    assert_eq!((&job["op"], &job["state"]), (&json!("deduplicate_bookmarks"), &json!("done")));
    let payload =
        json!({ "session_id": "s-9", "cwd": home.path("app"), "source": "startup" }).to_string();
    let told = home.run_with(&["hook", "SessionStart"], payload.as_bytes());
    assert!(told.stdout.contains("Bookmark https://doc.rust-lang.org/nomicon"), "{told:?}");
}

#[test]
fn a_purge_by_id_by_search_and_by_literal_text_leaves_nothing_in_any_file() {
    type Purge = fn(&Home) -> Vec<String>;
    let ways: [Purge; 3] = [
        |home| vec!["--id".into(), id(&found(home, "quetzalcoatl")[0]).to_string()],
        |_| vec!["--search".into(), "quetzalcoatl".into()],
        |_| vec!["--literal".into(), "etzalcoa".into()],
    ];
    for way in ways {
        let home = home();
        let mut daemon = home.daemon();
        home.run(&["bookmark", "add", "https://host.example/a", "the word quetzalcoatl"]).ok();
        home.run(&["bookmark", "add", "https://host.example/b", "stays"]).ok();
        let chosen = way(&home);
        let mut line = vec!["purge"];
        line.extend(chosen.iter().map(String::as_str));
        let planned = home.run(&[&line[..], &["--json"]].concat()).json();
        assert_eq!(planned["others"]["bookmarks"], 1, "{planned}");
        assert_eq!(planned["samples"][0]["obs_type"], "bookmark", "{planned}");
        home.run(&[&line[..], &["--confirm"]].concat()).ok();
        assert!(found(&home, "quetzalcoatl").is_empty());
        assert_eq!(found(&home, "stays").len(), 1);
        daemon.end_by("TERM");
        let word = b"quetzalcoatl";
        let left = home.files().into_iter().filter(|(path, bytes)| {
            path.starts_with(home.path("data")) && bytes.windows(word.len()).any(|w| w == word)
        });
        assert_eq!(left.map(|(path, _)| path).collect::<Vec<_>>(), [] as [std::path::PathBuf; 0]);
    }
}

#[expect(clippy::disallowed_methods, reason = "a program that is not ours has the file open")]
fn execute(home: &Home, statement: &str) {
    let db = rusqlite::Connection::open(home.locations().database).unwrap();
    db.execute_batch(statement).unwrap();
}

#[test]
fn a_scrub_redacts_a_secret_that_an_older_build_stored() {
    let home = home();
    home.run(&["bookmark", "add", "https://host.example/a", "plain words"]).ok();
    let secret = "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8";
    execute(&home, &format!("UPDATE bookmarks SET note = 'login with {secret}'"));
    let scrubbed = home.run(&["scrub"]).ok();
    assert!(!scrubbed.contains("no secrets found"), "{scrubbed}");
    let listed = home.run(&["call", "list_bookmarks", r#"{"project":"*"}"#, "--json"]).ok();
    assert!(listed.contains("login with") && !listed.contains(secret), "{listed}");
    assert_eq!(home.run(&["scrub"]).ok(), "no secrets found\n");
}

/// Lets clients write until the daemon is killed; returns the acknowledged writes.
fn written_until_killed(home: &Home, daemon: &mut Daemon, enough: usize) -> Vec<String> {
    let (acknowledged, ended) = (Mutex::new(Vec::new()), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let (http, acknowledged, ended) = (home.socket(), &acknowledged, &ended);
            scope.spawn(move || {
                let mut socket = http;
                for number in 0.. {
                    let note = format!("w{writer}n{number}x");
                    let params = json!({ "url": "https://host.example", "note": note });
                    let call = std::panic::AssertUnwindSafe(|| socket.rpc("add_bookmark", &params));
                    // The client panics where the daemon was killed before it answered.
                    match std::panic::catch_unwind(call) {
                        Ok(Ok(_)) => acknowledged.lock().unwrap().push(note),
                        _ => return,
                    }
                    if ended.load(Ordering::Acquire) {
                        return;
                    }
                }
            });
        }
        wait_until("enough writes", || {
            (acknowledged.lock().unwrap().len() >= enough).then_some(())
        });
        daemon.kill();
        ended.store(true, Ordering::Release);
    });
    acknowledged.into_inner().unwrap()
}

#[test]
fn every_acknowledged_write_survives_a_kill_and_is_found() {
    let home = home();
    for round in 1..=3 {
        let mut daemon = home.daemon();
        let acknowledged = written_until_killed(&home, &mut daemon, 20 * round);
        let _daemon = home.daemon();
        for note in &acknowledged {
            assert_eq!(found(&home, note).len().min(1), 1, "{note} in round {round}");
        }
    }
}

#[test]
fn salvage_keeps_the_records_of_a_database_whose_first_page_is_lost() {
    let home = home();
    let mut daemon = home.daemon();
    prompt(&home, "s-1", NOMICON);
    home.run(&["bookmark", "add", "https://sqlite.org/wal.html", "checkpoint starvation"]).ok();
    daemon.end_by("TERM");
    let mut file = std::fs::OpenOptions::new().write(true).open(home.locations().database).unwrap();
    file.rewind().unwrap();
    file.write_all(&[b'!'; 4096]).unwrap();
    let _daemon = home.daemon();
    assert_eq!(found(&home, "\"variance change\"").len(), 1);
    assert_eq!(found(&home, "starvation").len(), 1);
    prompt(&home, "s-1", "Then https://doc.rust-lang.org/reference about layouts");
    assert_eq!(found(&home, "layouts").len(), 1);
}

#[test]
fn a_paused_project_captures_no_bookmark() {
    let home = home();
    let _daemon = home.daemon();
    prompt(&home, "s-1", "hello there");
    let pause = home.command(["pause"]).current_dir(home.path("app")).output().unwrap();
    assert!(pause.status.success(), "{pause:?}");
    prompt(&home, "s-1", NOMICON);
    assert!(found(&home, "variance").is_empty());
}
