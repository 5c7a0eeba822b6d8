//! Imports under bad conditions: nothing is lost and nothing is doubled.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use testkit::wait_until;

use super::import::{Desk, desk, some_days_ago};
use super::sqlite;

/// A session with this many prompts.
fn prompts(desk: &Desk, session: &str, count: usize) -> String {
    let prompt = |number| {
        let id = format!("{session}-{number}");
        desk.prompt(&id, &format!("question {number} about the okapi of {session}"))
    };
    (0..count).map(prompt).collect::<String>().replace("s-import", session)
}

/// An import that runs beside the test.
fn quiet(desk: &Desk) -> Command {
    let mut command = desk.home.command(["import", "--yes", "--json"]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn stored_prompts(desk: &Desk) -> Value {
    desk.home.run(&["stats", "--json"]).json()["prompts"].clone()
}

/// Waits until a part of an import is stored.
fn wait_for_a_part(desk: &Desk) {
    wait_until("a part is imported", || {
        let listed = desk.home.run(&["import", "--list", "--json"]);
        let listed: Value = serde_json::from_str(&listed.stdout).ok()?;
        listed["imports"][0]["added"].as_u64().filter(|added| *added > 0)
    });
}

/// @import_interrupted
#[test]
fn a_daemon_that_is_killed_during_an_import_loses_and_doubles_nothing() {
    let desk = desk();
    desk.write("s-a.jsonl", &prompts(&desk, "s-a", 2_500));
    desk.write("s-b.jsonl", &prompts(&desk, "s-b", 500));
    let mut daemon = desk.home.daemon();
    let mut first = quiet(&desk).spawn().unwrap();
    wait_for_a_part(&desk);
    daemon.kill();
    // The command starts another daemon, or fails; run again, it finishes the work.
    first.wait().unwrap();
    desk.import(&[]);
    assert_eq!(stored_prompts(&desk), 3_000);
    assert_eq!(desk.added(&[]), 0);
}

/// @import_once
#[test]
fn two_imports_at_once_store_each_record_once() {
    let desk = desk();
    let _daemon = desk.home.daemon();
    desk.write("s-a.jsonl", &prompts(&desk, "s-a", 1_200));
    desk.write("s-b.jsonl", &prompts(&desk, "s-b", 1_200));
    let start = || quiet(&desk).spawn().unwrap();
    let running = [start(), start()];
    for mut one in running {
        assert!(one.wait().unwrap().success());
    }
    assert_eq!(stored_prompts(&desk), 2_400);
    let listed = desk.home.run(&["import", "--list", "--json"]).json();
    let added = listed["imports"].as_array().unwrap().iter();
    assert_eq!(added.map(|one| one["added"].as_u64().unwrap()).sum::<u64>(), 2_400, "{listed}");
}

/// Each process may wait for the lock of the other while it has a view of the store open.
/// @import_once
#[test]
fn two_imports_without_a_daemon_end_cleanly_and_the_next_one_finishes_the_work() {
    let desk = desk();
    desk.write("s-a.jsonl", &prompts(&desk, "s-a", 1_200));
    desk.write("s-b.jsonl", &prompts(&desk, "s-b", 1_200));
    let start = || quiet(&desk).spawn().unwrap();
    let running = [start(), start()];
    for mut one in running {
        // A process that a signal ended has no exit code. One that waited too long for the other names the lock.
        let code = one.wait().unwrap().code();
        assert!(code.is_some_and(|code| code <= 1), "{code:?}");
    }
    desk.import(&[]);
    assert_eq!(stored_prompts(&desk), 2_400);
}

/// @import_daemon
#[test]
fn an_import_starts_a_daemon_so_that_agents_can_call_tools_meanwhile() {
    let desk = desk();
    desk.write("s-a.jsonl", &prompts(&desk, "s-a", 1_200));
    let mut command = quiet(&desk);
    let mut import = command.env_remove("REKINDLE_NO_AUTOSTART").spawn().unwrap();
    assert!(import.wait().unwrap().success());
    let status = desk.home.run(&["status", "--json"]).json();
    assert_eq!(status["running"], true, "{status}");
    desk.home.run(&["stop"]).ok();
    assert_eq!(stored_prompts(&desk), 1_200);
}

/// @import_once
#[test]
fn an_import_beside_hooks_and_searches_stores_each_record_once() {
    let desk = desk();
    let _daemon = desk.home.daemon();
    desk.write("s-a.jsonl", &prompts(&desk, "s-a", 1_200));
    let mut import = quiet(&desk).spawn().unwrap();
    let mut hooks = 0;
    while import.try_wait().unwrap().is_none() {
        hooks += 1;
        let asked = json!({ "session_id": "s-hook", "prompt_id": format!("h-{hooks}"), "prompt": format!("quokka {hooks}") });
        desk.hook("UserPromptSubmit", &asked);
        desk.finds("okapi");
    }
    assert!(import.wait().unwrap().success());
    assert_eq!(stored_prompts(&desk), 1_200 + hooks);
    assert_eq!(desk.added(&[]), 0);
}

/// @import_interrupted
#[test]
fn an_import_onto_a_full_disk_continues_when_there_is_room() {
    let mut desk = desk();
    desk.home.set("REKINDLE_STORE_MAX_PAGES", "300");
    let mut daemon = desk.home.daemon();
    desk.write("s-a.jsonl", &prompts(&desk, "s-a", 6_000));
    let refused = desk.home.run(&["import", "--yes"]);
    assert!(refused.code != 0 && refused.stderr.contains("full"), "{refused:?}");
    daemon.kill();
    desk.home.unset("REKINDLE_STORE_MAX_PAGES");
    let _next = desk.home.daemon();
    desk.import(&[]);
    assert_eq!(stored_prompts(&desk), 6_000);
}

/// @import_grows
#[test]
fn a_file_that_shrank_or_was_replaced_is_read_anew() {
    let desk = desk();
    let file = desk.write("s-a.jsonl", &prompts(&desk, "s-a", 40));
    assert_eq!(desk.added(&[]), 40);
    desk.write("s-a.jsonl", &prompts(&desk, "s-a", 3));
    assert_eq!(desk.added(&[]), 0);
    desk.write("s-a.jsonl", &prompts(&desk, "s-new", 5));
    assert_eq!(desk.added(&[]), 5);
    std::fs::remove_file(file).unwrap();
    assert_eq!(stored_prompts(&desk), 45);
}

/// @import_bad_lines
#[test]
fn a_line_of_64_mib_is_read_and_a_longer_one_is_skipped() {
    const LIMIT: usize = 64 * 1024 * 1024;
    let desk = desk();
    let image = |id: &str, length: usize| {
        let blocks = json!([{ "type": "text", "text": format!("what is in the picture {id}?") }, { "type": "image", "data": "" }]);
        let message = json!({ "role": "user", "content": blocks });
        let line = desk.line("user", id, &json!({ "promptId": id, "message": message }));
        let (head, tail) = line.split_once(r#""data":""#).unwrap();
        let data = "A".repeat(length - line.trim_end().len());
        format!("{head}\"data\":\"{data}{tail}")
    };
    let file = desk.write("s-a.jsonl", &image("just-fits", LIMIT));
    let mut more = OpenOptions::new().append(true).open(file).unwrap();
    more.write_all(image("too-long", LIMIT + 1024 * 1024).as_bytes()).unwrap();
    more.write_all(desk.prompt("p-after", "and the line after it?").as_bytes()).unwrap();
    drop(more);
    let imported = desk.import(&[]);
    assert_eq!(imported["added"], 2, "{imported}");
    let problems = imported["problems"].as_array().unwrap();
    assert_eq!((problems.len(), &problems[0]["line"]), (1, &json!(2)), "{imported}");
}

/// @import_bad_lines
#[test]
fn damaged_encoding_costs_no_line() {
    let desk = desk();
    let prompt = desk.prompt("p-1", "why is the zebra cut?").replace("cut", "cut \\ud83d");
    let answer = desk.says("The caf~ of the okapi is closed.");
    let mut text = "\u{feff}".as_bytes().to_vec();
    text.extend(prompt.bytes());
    text.extend(answer.bytes().map(|byte| if byte == b'~' { 0xe9 } else { byte }));
    let file = desk.write("s-a.jsonl", "");
    std::fs::write(&file, text).unwrap();
    let imported = desk.import(&[&file.to_string_lossy()]);
    assert_eq!((&imported["added"], &imported["problems"]), (&json!(2), &json!([])), "{imported}");
    assert!(desk.finds("zebra")[0].to_string().contains("cut \u{fffd}?"));
    assert!(desk.finds("okapi")[0].to_string().contains("caf\u{fffd} of"));
}

/// @import_bad_sources
#[test]
fn a_source_that_cannot_be_read_does_not_keep_the_others_out() {
    let desk = desk();
    let good = desk.write("s-import.jsonl", &desk.session()).to_string_lossy().into_owned();
    let text = desk.home.write("notes.txt", "no transcript").to_string_lossy().into_owned();
    let empty = desk.home.path("empty").to_string_lossy().into_owned();
    std::fs::create_dir(&empty).unwrap();
    let missing = desk.home.path("missing").to_string_lossy().into_owned();
    let run = |sources: &[&str]| {
        let args: Vec<&str> = ["import", "--json"].iter().chain(sources).copied().collect();
        let run = desk.home.run(&args);
        let added = run.json()["added"].as_u64();
        let problems = run.json()["problems"].as_array().map_or(0, Vec::len);
        (run.code, added, problems, run.stderr)
    };
    let (code, added, problems, notes) = run(&[&text, &empty, &missing, "claude-mem", &good]);
    assert_eq!((code, added, problems), (0, Some(4), 2), "{notes}");
    assert!(notes.contains("notes.txt was not read: not a transcript"), "{notes}");
    assert!(notes.contains("no memories of claude-mem"), "{notes}");
    // Nothing was there, or nothing could be read.
    assert_eq!(run(&[&empty]).0, 0);
    assert_eq!(run(&["claude-mem"]).0, 0);
    assert_eq!(run(&[&text]).0, 1);
    let outside = desk.home.run(&["import", "git"]);
    assert_eq!(outside.code, 1, "{outside:?}");
    assert!(outside.stderr.contains("not in a repository"), "{outside:?}");
    assert!(outside.stderr.contains("error: nothing could be read"), "{outside:?}");
    let failed = desk.home.run(&["import", &missing, "--json"]);
    let error = &failed.json()["error"];
    assert_eq!((failed.code, &error["message"]), (1, &json!("nothing could be read")));
    assert_eq!(error["data"]["problems"][0]["file"], json!(missing), "{error}");
    let misspelt = desk.home.run(&["import", "claud-code"]);
    assert!(misspelt.stderr.contains("Did you mean claude-code?"), "{misspelt:?}");
}

/// @import_moved
#[test]
fn a_linked_project_folder_is_read_once() {
    let desk = desk();
    let moved = desk.home.write("moved/-shop/s-import.jsonl", &desk.session());
    let moved = moved.parent().unwrap();
    let projects = desk.home.path(".claude/projects");
    std::fs::create_dir_all(projects.join("-other")).unwrap();
    for (name, target) in [("-a", moved), ("-b", moved), ("-loop", &*projects)] {
        std::os::unix::fs::symlink(target, projects.join(name)).unwrap();
    }
    std::os::unix::fs::symlink(desk.home.path("nowhere"), projects.join("-broken")).unwrap();
    let imported = desk.import(&["claude-code"]);
    assert_eq!((&imported["added"], &imported["files"]), (&json!(4), &json!(1)), "{imported}");
}

/// @import_bad_sources
#[test]
fn damaged_files_in_a_folder_are_named() {
    let desk = desk();
    let folder = desk.home.path("copies");
    std::fs::create_dir(&folder).unwrap();
    let damaged = folder.join("rollout-1.jsonl.zst");
    std::fs::write(&damaged, b"\x28\xb5\x2f\xfd\x24").unwrap();
    let database = folder.join("opencode.db");
    std::fs::write(&database, [b"SQLite format 3\0".as_slice(), &[7; 4_096]].concat()).unwrap();
    let (folder, damaged) = (folder.to_string_lossy(), damaged.to_string_lossy());
    let alone = desk.home.run(&["import", &folder, "--json"]);
    let problems = alone.json()["error"]["data"]["problems"].clone();
    assert_eq!((alone.code, problems.as_array().map(Vec::len)), (1, Some(2)), "{alone:?}");
    assert!(!alone.stderr.contains("no transcript was found"), "{alone:?}");
    let named = desk.home.run(&["import", &damaged]);
    assert_eq!(named.code, 1);
    assert!(named.stderr.contains("the compressed file is damaged"), "{named:?}");
    desk.home.write("copies/s-import.jsonl", &desk.session());
    let beside = desk.import(&[&folder]);
    let problems = beside["problems"].as_array().map(Vec::len);
    assert_eq!((&beside["added"], problems), (&json!(4), Some(2)), "{beside}");
}

/// @import_interrupted
#[test]
fn a_daemon_that_does_not_answer_is_named_as_the_reason() {
    let desk = desk();
    desk.write("s-import.jsonl", &desk.session());
    let daemon = desk.home.daemon();
    testkit::home::signal(daemon.pid(), "STOP");
    let run = desk.home.run(&["import", "claude-code"]);
    testkit::home::signal(daemon.pid(), "CONT");
    assert_ne!(run.code, 0);
    assert!(run.stderr.contains("does not answer"), "{run:?}");
    assert!(!run.stderr.contains("read-only"), "{run:?}");
    assert_eq!(desk.added(&[]), 4);
}

/// @import_records
#[test]
fn times_of_1970_and_2100_are_no_errors() {
    let desk = desk();
    let at = |time: &str, line: String| line.replace(&model::time::rfc3339(some_days_ago()), time);
    let text = [
        at("1970-01-01T00:00:00.000Z", desk.call("toolu_1", "Bash", json!({ "command": "ls" }))),
        at("1970-01-01T00:00:02.000Z", desk.result("toolu_1", json!({ "stdout": "a" }))),
        at("2100-01-01T00:00:00.000Z", desk.prompt("p-late", "a question about the lemur")),
        desk.prompt("p-now", "a question about the tapir"),
    ];
    desk.write("s-a.jsonl", &text.concat());
    let imported = desk.import(&[]);
    assert_eq!((&imported["added"], &imported["problems"]), (&json!(3), &json!([])), "{imported}");
    // An impossible time is that of a neighbour, or of the file.
    let recent = ["recent", "--project", "*", "--limit", "50", "--json"];
    let listed = desk.home.run(&recent).json();
    let now = client::clock::now_ms() / 1_000;
    for record in listed["results"].as_array().unwrap() {
        let at = record["timestamp"].as_i64().unwrap();
        assert!((now - 5 * 86_400..=now + 86_400).contains(&at), "{record}");
    }
}

/// @import_undo
#[test]
fn undo_of_two_imports_in_any_order_leaves_the_store_as_it_was() {
    let desk = desk();
    desk.hook("UserPromptSubmit", &json!({ "prompt_id": "p-0", "prompt": "an earlier question" }));
    desk.hook("Stop", &json!({ "prompt_id": "p-0", "last_assistant_message": "It is small." }));
    // A search waits until the events are stored.
    assert!(!desk.finds("earlier question").is_empty());
    let before = sqlite::dump(&desk.home);
    desk.write("s-import.jsonl", &desk.session());
    let first = desk.import(&[])["batch"].to_string();
    desk.write("s-b.jsonl", &prompts(&desk, "s-b", 3));
    let second = desk.import(&[])["batch"].to_string();
    for batch in [first, second] {
        desk.home.run(&["import", "--undo", &batch, "--yes"]).ok();
    }
    assert_eq!(sqlite::dump(&desk.home), before);
}
