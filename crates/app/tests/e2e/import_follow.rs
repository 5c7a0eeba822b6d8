//! Catching up: `import --follow`, the setting `import.follow`, and the warnings of `doctor`.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};
use testkit::{Home, wait_until};

use super::home;
use super::import::some_days_ago;

/// A prompt in a transcript of Claude Code.
fn prompt(home: &Home, id: &str, words: &str) -> String {
    let at = model::time::rfc3339(some_days_ago());
    let cwd = home.path("shop").to_string_lossy().into_owned();
    let message = json!({ "role": "user", "content": words });
    let line = json!({ "type": "user", "uuid": id, "promptId": id, "sessionId": "s-1", "cwd": cwd, "timestamp": at, "message": message });
    format!("{line}\n")
}

const FILE: &str = ".claude/projects/-shop/s-1.jsonl";

fn finds(home: &Home, words: &str) -> bool {
    let found = home.run(&["search", words, "--project", "*", "--json"]).json();
    found["results"].as_array().is_some_and(|hits| !hits.is_empty())
}

/// @import_follow
#[test]
fn following_imports_what_is_added_until_it_is_ended() {
    let home = home();
    std::fs::create_dir_all(home.path("shop/.git")).unwrap();
    let first = prompt(&home, "p-1", "where is the zebra?");
    home.write(FILE, &first);
    let mut command = home.command(["import", "claude-code", "--follow", "--every", "1", "--json"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&said.next().unwrap().unwrap()).unwrap() };
    let one = next();
    assert_eq!(one["added"], 1, "{one}");
    home.write(FILE, &(first + &prompt(&home, "p-2", "where is the gnu?")));
    let two = next();
    assert_eq!(
        (&two["added"], &two["batch"]),
        (&json!(1), &one["batch"]),
        "one import for all: {two}"
    );
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(finds(&home, "zebra") && finds(&home, "gnu"));
}

/// @import_follow
#[test]
fn the_daemon_imports_the_transcripts_of_agents_in_its_settings() {
    let home = home();
    std::fs::create_dir_all(home.path("shop/.git")).unwrap();
    home.write(FILE, &prompt(&home, "p-1", "where is the zebra?"));
    home.write(".codex/sessions/2026/10/05/rollout-2026-10-05T09-00-00-th-1.jsonl", "{}\n");
    let refused = home.run(&["config", "set", "import.follow", "claude-code,emacs"]);
    assert_ne!(refused.code, 0, "{refused:?}");
    assert_eq!(home.run(&["config", "set", "import.follow", "claude-code"]).code, 0);
    let _daemon = home.daemon();
    wait_until("the daemon imported the prompt", || finds(&home, "zebra").then_some(()));
    let listed = home.run(&["import", "--list", "--json"]).json();
    assert_eq!(listed["imports"].as_array().map(Vec::len), Some(1), "{listed}");
}

fn warnings(home: &Home) -> String {
    let checks = home.run(&["doctor", "--json"]).json()["checks"].clone();
    let own = checks.as_array().unwrap().iter().filter(|check| check["name"] == "history");
    own.map(|check| format!("{} {}\n", check["detail"], check["hint"])).collect()
}

/// @import_gap
#[test]
fn doctor_reports_sessions_that_hooks_missed_and_the_command_that_brings_them() {
    let home = home();
    std::fs::create_dir_all(home.path("shop/.git")).unwrap();
    let cwd = home.path("shop").to_string_lossy().into_owned();
    let payload = json!({ "session_id": "s-0", "cwd": cwd, "prompt": "hello", "hook_event_name": "UserPromptSubmit", "prompt_id": "p-0" });
    let hook = ["hook", "UserPromptSubmit", "--agent", "claude-code"];
    assert_eq!(home.run_with(&hook, payload.to_string().as_bytes()).code, 0);
    assert!(finds(&home, "hello"));
    let file = home.write(FILE, &prompt(&home, "p-1", "where is the zebra?"));
    assert_eq!(warnings(&home), "", "it is not newer");
    let touch = |after: i64| {
        let at = u64::try_from(client::clock::now_ms() + after * 1_000).unwrap();
        let changed = UNIX_EPOCH + Duration::from_millis(at);
        std::fs::File::open(&file).unwrap().set_modified(changed).unwrap();
    };
    touch(3_600);
    let warned = warnings(&home);
    assert!(
        warned.contains("1 session of Claude Code on disk newer than its last captured event"),
        "{warned}"
    );
    assert!(warned.contains("rekindle import claude-code"), "{warned}");
    // Claude Code deletes transcripts after 30 days.
    touch(-26 * 86_400);
    let warned = warnings(&home);
    assert!(
        warned
            .contains("1 session of Claude Code not imported, which Claude Code will soon delete"),
        "{warned}"
    );
    assert_eq!(home.run(&["import", "claude-code"]).code, 0);
    assert_eq!(warnings(&home), "");
}

/// @import_gap
#[test]
fn doctor_does_not_miss_threads_that_an_import_leaves_out() {
    let home = home();
    std::fs::create_dir_all(home.path("shop/.git")).unwrap();
    let cwd = home.path("shop").to_string_lossy().into_owned();
    let payload = json!({ "session_id": "th-0", "cwd": cwd, "prompt": "hello", "hook_event_name": "UserPromptSubmit", "turn_id": "u-0" });
    let hook = ["hook", "UserPromptSubmit", "--agent", "codex"];
    assert_eq!(home.run_with(&hook, payload.to_string().as_bytes()).code, 0);
    assert!(finds(&home, "hello"));
    let changed = UNIX_EPOCH
        + Duration::from_millis(u64::try_from(client::clock::now_ms() + 3_600_000).unwrap());
    let rollout = |number: u8, source: Value, turns: &[&str]| {
        let at = model::time::rfc3339(some_days_ago());
        let line = |kind: &str, payload: Value| {
            format!("{}\n", json!({ "timestamp": at, "type": kind, "payload": payload }))
        };
        let id = format!("019a0001-0000-7000-8000-00000000000{number}");
        let mut text = line("session_meta", json!({ "id": id, "cwd": cwd, "source": source }));
        for turn in turns {
            text += &line("event_msg", json!({ "type": "task_started", "turn_id": turn }));
            text += &line("event_msg", json!({ "type": "user_message", "message": turn }));
        }
        let file = home.write(
            &format!(".codex/sessions/2026/10/05/rollout-2026-10-05T09-00-00-{id}.jsonl"),
            &text,
        );
        std::fs::File::open(file).unwrap().set_modified(changed).unwrap();
    };
    rollout(1, json!({ "subagent": "review" }), &["u-1"]);
    rollout(2, json!("cli"), &["external-import-turn-1", "external-import-turn-2"]);
    assert_eq!(warnings(&home), "");
    rollout(3, json!("cli"), &["external-import-turn-1", "u-3"]);
    let warned = warnings(&home);
    assert!(warned.contains("1 session of Codex on disk newer"), "{warned}");
}
