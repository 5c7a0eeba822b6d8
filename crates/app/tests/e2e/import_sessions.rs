//! Imported sessions: their state, their end, their summary, and the clients that hear of them.

use serde_json::{Value, json};

use super::import::{Desk, desk, some_days_ago};
use super::sessions::{frame, socket};

const MINUTE: i64 = 60_000;

/// A line at this many minutes after the beginning of the session.
fn after(minutes: i64, line: &str) -> String {
    at(some_days_ago() + minutes * MINUTE, line)
}

fn at(time: i64, line: &str) -> String {
    let mut line: Value = serde_json::from_str(line).unwrap();
    line["timestamp"] = model::time::rfc3339(time).into();
    format!("{line}\n")
}

/// A line of a subagent.
fn of_subagent(line: &str) -> String {
    let mut line: Value = serde_json::from_str(line).unwrap();
    line["agentId"] = "a77".into();
    line["isSidechain"] = true.into();
    format!("{line}\n")
}

fn reads(desk: &Desk, id: &str) -> [String; 2] {
    let file = format!("{}/{id}.txt", desk.shop);
    let response =
        json!({ "type": "text", "file": { "filePath": file, "content": "x", "numLines": 1 } });
    [desk.call(id, "Read", json!({ "file_path": file })), desk.result(id, response)]
}

/// The one session of the store.
fn session(desk: &Desk) -> Value {
    desk.home.run(&["sessions", "--project", "*", "--json"]).json()["sessions"][0].clone()
}

/// A session of ten minutes, and its subagent, whose last line is at this minute.
fn with_subagent(desk: &Desk, last: i64) {
    let [call, result] = reads(desk, "toolu_1");
    let own = [
        after(0, &desk.prompt("p-1", "where is the zebra?")),
        after(1, &call),
        after(2, &result),
        after(10, &desk.says("The zebra is in the zoo.")),
    ];
    desk.write("s-import.jsonl", &own.concat());
    let [call, result] = reads(desk, "toolu_2");
    let of_agent = [
        after(3, &of_subagent(&call)),
        after(4, &of_subagent(&result)),
        after(last, &of_subagent(&desk.says("No ibex is there."))),
    ];
    desk.write("s-import/subagents/agent-a77.jsonl", &of_agent.concat());
}

/// @import_sessions_over
#[test]
fn a_session_ends_with_its_last_event_and_its_summary_has_its_subagents_work() {
    for last in [5, 20] {
        let desk = desk();
        with_subagent(&desk, last);
        desk.import(&[]);
        let session = session(&desk);
        let end = (some_days_ago() + last.max(10) * MINUTE) / 1_000;
        assert_eq!(session["state"], "ended", "{session}");
        assert_eq!((&session["last_at"], &session["ended_at"]), (&json!(end), &json!(end)));
        assert_eq!(session["actions"], 2, "two reads; an answer is no action: {session}");
    }
}

/// @import_sessions_over
#[test]
fn a_subagent_that_is_done_does_not_end_its_session() {
    let desk = desk();
    let now = client::clock::now_ms();
    desk.write("s-import.jsonl", &at(now - MINUTE, &desk.prompt("p-1", "where is the zebra?")));
    let done = at(now - 50 * MINUTE, &of_subagent(&desk.says("No ibex is there.")));
    desk.write("s-import/subagents/agent-a77.jsonl", &done);
    desk.import(&[]);
    assert_ne!(session(&desk)["state"], "ended", "{}", session(&desk));
}

/// @session_list_events
#[test]
fn each_call_of_an_import_is_one_event_for_clients() {
    let desk = desk();
    let daemon = desk.home.daemon();
    let mut socket = socket(&daemon);
    desk.write("s-import.jsonl", &desk.session());
    desk.write("s-b.jsonl", &desk.prompt("p-b", "where is the okapi?").replace("s-import", "s-b"));
    assert_eq!(desk.added(&["--dry-run"]), 5);
    let files = ["s-import.jsonl", "s-b.jsonl"].map(|name| {
        desk.home.path(&format!(".claude/projects/-shop/{name}")).to_string_lossy().into_owned()
    });
    assert_eq!(desk.added(&[&files[0], &files[1]]), 5);
    assert_eq!(desk.added(&[]), 0);
    let start = json!({ "session_id": "s-c", "cwd": desk.shop, "source": "startup", "hook_event_name": "SessionStart" });
    desk.home.run_with(&["hook", "SessionStart"], start.to_string().as_bytes()).ok();
    // Each file is a call.
    let mut heard = || frame(&mut socket, "session/list_changed")["sessionId"].clone();
    assert_eq!([heard(), heard(), heard()], ["*", "*", "s-c"]);
}

/// The lines of an export, without what differs between stores.
fn exported(desk: &Desk) -> Vec<String> {
    let exported = desk.home.run(&["export"]).ok();
    let lines = exported.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let lines: Vec<Value> = lines.filter(|line| line["type"] != "rekindle").collect();
    let content = |id: &Value| lines.iter().find(|one| !id.is_null() && one["id"] == *id);
    let shown = lines.iter().map(|line| {
        let mut line = line.clone();
        let prompt = content(&line["prompt"]).map(|prompt| prompt["content"].clone());
        line["prompt"] = prompt.unwrap_or_default();
        if line["type"] != "session" {
            line.as_object_mut().unwrap().remove("id");
        }
        line.to_string().replace(&desk.shop, "SHOP")
    });
    let mut shown: Vec<String> = shown.collect();
    shown.sort();
    shown
}

/// @import_order
#[test]
fn the_order_of_files_does_not_matter() {
    let import = |order: [usize; 3]| {
        let desk = desk();
        // The session goes on after it was forked, and its subagent reads the file that it reads itself.
        let [call, result] = reads(&desk, "same");
        let later = [after(90, &desk.prompt("p-2", "the original goes on")), after(91, &call)];
        let later = [later.concat(), after(92, &result)].concat();
        let of_agent = [of_subagent(&call), of_subagent(&result)].concat();
        let files = [
            desk.write("s-import.jsonl", &(desk.session() + &later)),
            desk.write("s-fork.jsonl", &desk.fork()),
            desk.write("s-import/subagents/agent-a77.jsonl", &of_agent.replace("same", "other")),
        ];
        for (age, place) in order.into_iter().enumerate() {
            let time = some_days_ago() + (100 + age as i64) * MINUTE;
            let time = std::time::Duration::from_millis(u64::try_from(time).unwrap());
            let file = std::fs::File::open(&files[place]).unwrap();
            file.set_modified(std::time::UNIX_EPOCH + time).unwrap();
        }
        let named = order.map(|place| files[place].to_string_lossy().into_owned());
        let folder = desk.home.path(".claude").to_string_lossy().into_owned();
        match order[0] == 2 {
            true => desk.added(&[&folder]),
            false => desk.added(&[&named[0], &named[1], &named[2]]),
        };
        let sessions = desk.home.run(&["sessions", "--project", "*", "--json"]).json();
        (exported(&desk), sessions["sessions"].clone())
    };
    let forwards = import([0, 1, 2]);
    let original =
        forwards.1.as_array().unwrap().iter().find(|one| one["session_id"] == "s-import");
    assert_eq!(original.unwrap()["intent"], "why does the zebra total lose the price?");
    for order in [[1, 0, 2], [1, 2, 0], [2, 1, 0], [2, 0, 1]] {
        assert_eq!(forwards, import(order), "{order:?}");
    }
}

/// @import_dry_run
#[test]
fn a_report_has_counts_for_each_project_and_only_sessions_with_added_records() {
    let desk = desk();
    let mill = desk.home.path("mill").to_string_lossy().into_owned();
    std::fs::create_dir_all(desk.home.path("mill/.git")).unwrap();
    let of_mill = |line: String| line.replace(&desk.shop, &mill).replace("s-import", "s-mill");
    let token = "use the token ghp_0123456789abcdefghijABCDEFGHIJ012345 for the lemur";
    let text = of_mill(desk.prompt("p-mill", token)) + "not json\n{\"type\":\"brand-new\"}\n";
    desk.write("s-import.jsonl", &desk.session());
    desk.write("s-mill.jsonl", &text);
    let dry = desk.import(&["--dry-run"]);
    let of = |report: &Value, project: &str, name: &str| {
        let all = report["projects"].as_array().unwrap().clone();
        all.into_iter().find(|one| one["project"] == project).unwrap()[name].clone()
    };
    assert_eq!(of(&dry, "mill", "redacted").as_object().unwrap().len(), 1, "{dry}");
    assert_eq!(of(&dry, "mill", "not_understood"), 2, "{dry}");
    assert_eq!(of(&dry, "shop", "not_understood"), 0, "{dry}");
    let shown = desk.home.run(&["import", "--yes", "--dry-run"]).stdout;
    let heading = shown.lines().next().unwrap().to_owned();
    assert!(heading.contains("redacted  not understood"), "{shown}");
    assert!(!heading.contains("too old"), "{shown}");
    let only = desk.import(&["--project", "mill"]);
    assert_eq!((&only["added"], &only["sessions"]), (&json!(1), &json!(1)), "{only}");
}

/// @import_moved
#[test]
fn files_that_settings_moved_are_found() {
    let mut desk = desk();
    let history = desk.home.path("elsewhere/history.md");
    std::fs::create_dir_all(history.parent().unwrap()).unwrap();
    let run =
        "# aider chat started at 2026-11-15 10:00:00\n\n#### rename the zebra\nI rename it.\n";
    std::fs::write(&history, run).unwrap();
    desk.home.set("AIDER_CHAT_HISTORY_FILE", &history.to_string_lossy());
    assert_eq!(desk.added(&["aider"]), 2);
    let moved = desk.home.path("notes");
    std::fs::create_dir_all(&moved).unwrap();
    std::fs::write(moved.join("MEMORY.md"), "- The okapi sleeps at noon.\n").unwrap();
    let settings = json!({ "autoMemoryDirectory": "~/notes", "cleanupPeriodDays": 365 });
    desk.home.write(".claude/settings.json", &settings.to_string());
    assert_eq!(desk.added(&["memories"]), 1);
    desk.write("s-import.jsonl", &desk.session());
    let found = desk.home.run(&["import"]).stderr;
    assert!(found.contains("(deleted by it after 365 days)"), "{found}");
}
