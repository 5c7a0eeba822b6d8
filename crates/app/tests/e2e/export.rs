//! `rekindle export`: all records to a file, and back with `rekindle import`.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};
use testkit::Home;

use super::{home, sqlite};

/// A home with a session of a prompt, a failed command, an edit and an answer, a mark, a pin and two memories.
fn filled() -> Home {
    let home = home();
    let shop = home.path("shop");
    std::fs::create_dir_all(shop.join(".git")).unwrap();
    std::fs::write(shop.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let cwd = shop.to_string_lossy().into_owned();
    let hook = |event: &str, members: Value| {
        let mut payload = json!({ "session_id": "s-zebra", "cwd": cwd, "hook_event_name": event });
        for (name, value) in members.as_object().unwrap() {
            payload[name] = value.clone();
        }
        home.hook(event, &payload);
    };
    hook("SessionStart", json!({ "source": "startup", "model": "opus" }));
    hook(
        "UserPromptSubmit",
        json!({ "prompt_id": "p-1", "prompt": "why is the zebra total wrong in the cart?" }),
    );
    let input = json!({ "command": "pytest tests/test_cart.py" });
    hook(
        "PostToolUseFailure",
        json!({ "prompt_id": "p-1", "tool_name": "Bash", "tool_use_id": "t-1", "tool_input": input, "error": "Exit code 1\nE KeyError: 'price'" }),
    );
    let input =
        json!({ "file_path": format!("{cwd}/cart.py"), "old_string": "a", "new_string": "b" });
    hook(
        "PostToolUse",
        json!({ "prompt_id": "p-1", "tool_name": "Edit", "tool_use_id": "t-2", "tool_input": input, "tool_response": {} }),
    );
    hook(
        "Stop",
        json!({ "prompt_id": "p-1", "last_assistant_message": "The zebra rows lack a price, so I filled it." }),
    );
    home.run(&["mark", "prices are in cents", "--project", "shop"]).ok();
    home.run(&["memory", "add", "Prices are rounded up", "--cwd", &cwd, "--tag", "money"]).ok();
    let first = home.run(&["memory", "list", "--project", "*", "--json"]).json();
    let id = first["results"][0]["id"].as_str().unwrap().to_owned();
    home.run(&["memory", "add", "Prices are rounded to even", "--cwd", &cwd, "--supersedes", &id])
        .ok();
    home.run(&[
        "memory",
        "add",
        "The deploy needs a tag",
        "--cwd",
        &home.path("mill").to_string_lossy(),
    ])
    .ok();
    let found = home.run(&["search", "zebra", "--project", "*", "--json"]).json();
    home.run(&["pin", &found["results"][0]["id"].to_string()]).ok();
    home
}

fn lines(file: &Path) -> Vec<String> {
    std::fs::read_to_string(file).unwrap().lines().map(str::to_owned).collect()
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// @export_jsonl
#[test]
fn an_export_is_read_back_into_an_empty_store_without_loss() {
    let from = filled();
    let file = from.path("all.jsonl");
    let report = from.run(&["export", &text(&file), "--json"]).json();
    assert_eq!(
        ["prompts", "memories"].map(|name| report[name].as_u64().unwrap()),
        [1, 3],
        "{report}"
    );
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let to = home();
    let added = to.run(&["import", &text(&file), "--json"]).json();
    let prompts_and_more = report["prompts"].as_u64().unwrap()
        + report["observations"].as_u64().unwrap()
        + report["memories"].as_u64().unwrap();
    assert_eq!(added["added"].as_u64(), Some(prompts_and_more), "{added}");
    let again = to.path("again.jsonl");
    to.run(&["export", &text(&again)]).ok();
    assert_eq!(lines(&again), lines(&file));
    // The rows are found by a search, and the pinned one is still pinned.
    let found = to.run(&["search", "zebra price filled", "--project", "*", "--json"]).json();
    assert!(!found["results"].as_array().unwrap().is_empty());
    assert!(lines(&again).iter().any(|line| line.contains(r#""pinned":true"#)));
    // Importing again, there or where the records come from, adds nothing.
    let copy = to.path("copy.jsonl");
    std::fs::copy(&file, &copy).unwrap();
    let second = to.run(&["import", &text(&copy), "--json"]).json();
    assert_eq!(
        (second["added"].as_u64(), second["counts"]["known"].as_u64()),
        (Some(0), Some(prompts_and_more))
    );
    assert_eq!(from.run(&["import", &text(&file), "--json"]).json()["added"], 0);
}

/// @export_jsonl
#[test]
fn an_active_session_is_read_back_without_a_summary() {
    let from = home();
    let cwd = from.path("shop").to_string_lossy().into_owned();
    let prompt = json!({ "session_id": "s-active", "cwd": cwd, "prompt_id": "p-1",
        "hook_event_name": "UserPromptSubmit", "prompt": "why is the quagga striped?" });
    from.hook("UserPromptSubmit", &prompt);
    // A search waits until the event is stored.
    from.run(&["search", "quagga", "--project", "*"]).ok();
    let (file, to) = (from.path("all.jsonl"), home());
    from.run(&["export", &text(&file)]).ok();
    to.run(&["import", &text(&file)]).ok();
    let again = to.path("again.jsonl");
    to.run(&["export", &text(&again)]).ok();
    assert!(lines(&file).iter().any(|line| line.contains(r#""state":"active""#)));
    assert_eq!(lines(&again), lines(&file));
}

/// @export_filters
#[test]
fn an_export_has_only_the_project_and_the_time_that_are_asked_for() {
    let home = filled();
    let printed = home.run(&["export", "--project", "mill"]).ok();
    let kinds: Vec<String> = printed
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["type"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(kinds, ["rekindle", "project", "memory"]);
    let later = home.run(&["export", "--since", "2200-01-01"]).ok();
    assert_eq!(later.lines().count(), 1, "{later}");
    let wrong = home.run(&["export", &text(&home.path("no.jsonl")), "--project", "okapi"]);
    assert_ne!(wrong.code, 0);
    assert!(!home.path("no.jsonl").exists());
}

/// @export_refuses
#[test]
fn an_export_never_overwrites_a_file_and_leaves_no_part_of_one() {
    let home = filled();
    let file = home.path("kept.jsonl");
    std::fs::write(&file, "mine").unwrap();
    let run = home.run(&["export", &text(&file)]);
    assert_ne!(run.code, 0);
    assert!(run.stderr.contains("exists already"), "{run:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    let missing = home.run(&["export", &text(&home.path("none/all.jsonl"))]);
    assert!(missing.stderr.contains("does not exist"), "{missing:?}");
    let names: Vec<_> = std::fs::read_dir(home.path("")).unwrap().flatten().collect();
    assert!(names.iter().all(|name| !name.file_name().to_string_lossy().contains("partial")));
}

/// @export_secrets
#[test]
fn an_export_redacts_a_secret_that_the_store_has() {
    let home = filled();
    home.run(&["stop"]);
    let secret = format!("ghp_{}", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6");
    sqlite::open(&sqlite::path(&home))
        .execute(
            "UPDATE observations SET content = content || ?1 WHERE kind = 'answer'",
            [format!(" {secret}")],
        )
        .unwrap();
    for format in ["jsonl", "markdown", "otlp"] {
        let run = home.run(&["export", "--format", format]);
        assert!(run.stdout.contains("zebra"), "{run:?}");
        assert!(!run.stdout.contains(&secret), "{format}");
        assert!(run.stderr.contains("was redacted"), "{run:?}");
    }
}

/// @export_markdown
#[test]
fn markdown_has_a_page_for_each_session_and_one_for_memories() {
    let home = filled();
    let folder = home.path("pages");
    home.run(&["export", "--format", "markdown", &text(&folder)]).ok();
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names.iter().filter(|name| name.contains("s-zebra")).count(), 1, "{names:?}");
    let page = names.iter().find(|name| name.contains("s-zebra")).unwrap();
    let page = std::fs::read_to_string(folder.join(page)).unwrap();
    assert!(page.contains("zebra total wrong") && page.contains("### Answer"), "{page}");
    assert!(page.contains("Error:\n\n```text\nExit code 1\nE KeyError: 'price'"), "{page}");
    let memories = std::fs::read_to_string(folder.join("memories.md")).unwrap();
    assert!(memories.contains("rounded to even"), "{memories}");
    assert_eq!(std::fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
}

/// @export_otlp
#[test]
fn otlp_has_a_trace_for_each_session_with_prompts_and_actions_below_it() {
    let home = filled();
    let file = home.path("traces.json");
    let report = home.run(&["export", "--format", "otlp", &text(&file), "--json"]).json();
    assert_eq!(report["memories"], 0, "no trace has a memory");
    let trace = lines(&file).into_iter().find(|line| line.contains("s-zebra")).unwrap();
    let trace: Value = serde_json::from_str(&trace).unwrap();
    let spans = trace["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap();
    let named = |name: &str| spans.iter().find(|span| span["name"] == name).unwrap();
    let (root, prompt, failed) = (&spans[0], named("prompt"), named("Bash"));
    assert!(root.get("parentSpanId").is_none());
    assert_eq!(prompt["parentSpanId"], root["spanId"]);
    assert_eq!(failed["parentSpanId"], prompt["spanId"]);
    assert_eq!(failed["status"]["code"], 2);
    assert_eq!(failed["status"]["message"], "Exit code 1\nE KeyError: 'price'");
    let ids: std::collections::BTreeSet<&str> =
        spans.iter().map(|span| span["spanId"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), spans.len());
    assert!(spans.iter().all(|span| span["traceId"] == root["traceId"]));
    let time = |span: &Value, name: &str| span[name].as_str().unwrap().parse::<u64>().unwrap();
    assert!(time(prompt, "endTimeUnixNano") >= time(failed, "startTimeUnixNano"));
}

/// @import_export_undo
#[test]
fn undoing_the_import_of_an_export_leaves_the_store_as_it_was() {
    let from = filled();
    let file = from.path("all.jsonl");
    from.run(&["export", &text(&file)]).ok();
    let to = home();
    to.run(&[
        "memory",
        "add",
        "A memory of this store",
        "--cwd",
        &to.path("mill").to_string_lossy(),
    ])
    .ok();
    let before = sqlite::dump(&to);
    let batch = to.run(&["import", &text(&file), "--json"]).json()["batch"].to_string();
    assert_ne!(sqlite::dump(&to), before);
    to.run(&["import", "--undo", &batch, "--yes"]).ok();
    assert_eq!(sqlite::dump(&to), before);
    assert_eq!(to.run(&["import", &text(&file), "--json"]).json()["counts"]["prompts"], 1);
}

/// @import_export_bad_lines
#[test]
fn bad_lines_of_an_export_are_named_and_skipped() {
    let from = filled();
    let file = from.path("all.jsonl");
    from.run(&["export", &text(&file)]).ok();
    let mut text_of = std::fs::read_to_string(&file).unwrap();
    text_of
        .push_str("not json\n{\"type\":\"quagga\"}\n{\"type\":\"memory\",\"content\":\"x\"}\n\0\n");
    text_of.push_str(r#"{"type":"prompt","session":"s-none","at":1,"source":"user","event":"e","content":"c","origins":["zz"]}"#);
    let bad = from.path("bad.jsonl");
    std::fs::write(&bad, &text_of).unwrap();
    let to = home();
    let run = to.run(&["import", &text(&bad), "--json"]);
    assert_eq!(run.code, 0, "{run:?}");
    let report = run.json();
    assert_eq!(report["counts"]["prompts"], 1);
    assert_eq!(report["unknown_lines"], 1);
    let lines: u64 = report["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["lines"].as_u64().unwrap())
        .sum();
    assert_eq!(lines, 4, "{report}");
    std::fs::write(&bad, "{\"type\":\"rekindle\",\"version\":99}\n").unwrap();
    let newer = to.run(&["import", &text(&bad)]);
    assert_eq!(newer.code, 1);
    assert!(newer.stderr.contains("newer than this build"), "{newer:?}");
}
