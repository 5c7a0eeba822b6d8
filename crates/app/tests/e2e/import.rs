//! `rekindle import`: transcripts of agents become records, each once.

use std::path::PathBuf;

use serde_json::{Value, json};
use testkit::{Home, wait_until};

use super::{home, sqlite};

/// A whole second some days ago: older records would be past their age limit.
pub(crate) fn some_days_ago() -> i64 {
    (client::clock::now_ms() / 86_400_000 - 3) * 86_400_000
}

/// A home with a project and the folder in which Claude Code keeps its sessions.
pub(crate) struct Desk {
    pub(crate) home: Home,
    pub(crate) shop: String,
}

pub(crate) fn desk() -> Desk {
    let home = home();
    let shop = home.path("shop");
    std::fs::create_dir_all(shop.join(".git")).unwrap();
    std::fs::write(shop.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    Desk { shop: shop.to_string_lossy().into_owned(), home }
}

impl Desk {
    pub(crate) fn line(&self, kind: &str, uuid: &str, members: &Value) -> String {
        let mut line = json!({
            "type": kind, "uuid": uuid, "sessionId": "s-import", "cwd": self.shop, "timestamp": model::time::rfc3339(some_days_ago()),
            "isSidechain": false, "version": "2.1.239",
        });
        for (name, value) in members.as_object().unwrap() {
            line[name] = value.clone();
        }
        format!("{line}\n")
    }

    pub(crate) fn prompt(&self, id: &str, text: &str) -> String {
        let message = json!({ "role": "user", "content": text });
        self.line("user", id, &json!({ "promptId": id, "message": message }))
    }

    pub(crate) fn call(&self, id: &str, tool: &str, input: Value) -> String {
        let block = json!({ "type": "tool_use", "id": id, "name": tool, "input": input });
        let message = json!({ "id": format!("msg-{id}"), "role": "assistant", "content": [block] });
        self.line("assistant", &format!("a-{id}"), &json!({ "message": message }))
    }

    pub(crate) fn result(&self, id: &str, response: Value) -> String {
        let block =
            json!({ "type": "tool_result", "tool_use_id": id, "content": "see the result" });
        let message = json!({ "role": "user", "content": [block] });
        let members = json!({ "message": message, "toolUseResult": response });
        self.line("user", &format!("r-{id}"), &members)
    }

    pub(crate) fn failure(&self, id: &str, error: &str) -> String {
        let block =
            json!({ "type": "tool_result", "tool_use_id": id, "content": error, "is_error": true });
        let message = json!({ "role": "user", "content": [block] });
        self.line("user", &format!("r-{id}"), &json!({ "message": message }))
    }

    pub(crate) fn says(&self, text: &str) -> String {
        let block = json!({ "type": "text", "text": text });
        let message = json!({ "id": "msg-last", "role": "assistant", "content": [block], "stop_reason": "end_turn" });
        self.line("assistant", "a-last", &json!({ "message": message }))
    }

    /// A session with a prompt, a command that failed, an edit and an answer.
    pub(crate) fn session(&self) -> String {
        let file = format!("{}/cart.py", self.shop);
        [
            self.prompt("p-1", "why does the zebra total lose the price?"),
            self.call("toolu_1", "Bash", json!({ "command": "pytest tests/test_cart.py" })),
            self.failure("toolu_1", "Exit code 1\nE KeyError: 'price'\n1 failed in 0.1s"),
            self.call(
                "toolu_2",
                "Edit",
                json!({ "file_path": file, "old_string": "a", "new_string": "b" }),
            ),
            self.result("toolu_2", json!({ "filePath": file })),
            self.says("The zebra rows lack a price column, so I filled it from the tariff."),
        ]
        .concat()
    }

    /// A fork of the session: the lines of it under other ids, and a prompt and an answer of its own an hour later.
    pub(crate) fn fork(&self) -> String {
        let now = model::time::rfc3339(some_days_ago() + 3_600_000);
        let own = |line: String| line.replace(&model::time::rfc3339(some_days_ago()), &now);
        let begins = own(self.line("queue-operation", "q", &json!({ "operation": "enqueue" })));
        let copied = self.session().replace(r#""promptId":"p-1""#, r#""promptId":"p-fork""#);
        let asked = self
            .prompt("p-fork", "and the okapi totals?")
            .replace(r#""uuid":"p-fork""#, r#""uuid":"u-2""#);
        let said = self.says("The okapi totals are right.").replace("msg-last", "msg-fork");
        [begins, copied, own(asked), own(said)].concat().replace("s-import", "s-fork")
    }

    /// Writes a transcript and returns its path.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let file = self.home.path(&format!(".claude/projects/-shop/{name}"));
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        file
    }

    pub(crate) fn import(&self, args: &[&str]) -> Value {
        let args: Vec<&str> = ["import", "--yes", "--json"].iter().chain(args).copied().collect();
        let run = self.home.run(&args);
        assert_eq!(run.code, 0, "{run:?}");
        run.json()
    }

    pub(crate) fn added(&self, args: &[&str]) -> u64 {
        self.import(args)["added"].as_u64().unwrap()
    }

    pub(crate) fn finds(&self, words: &str) -> Vec<Value> {
        let args = ["search", words, "--project", "*", "--json"];
        self.home.run(&args).json()["results"].as_array().unwrap().clone()
    }

    pub(crate) fn hook(&self, event: &str, members: &Value) {
        let mut payload =
            json!({ "session_id": "s-import", "cwd": self.shop, "hook_event_name": event });
        for (name, value) in members.as_object().unwrap() {
            payload[name] = value.clone();
        }
        self.home.hook(event, &payload);
    }
}

/// @import_records
#[test]
fn a_transcript_becomes_records_with_their_own_times() {
    let desk = desk();
    desk.write("s-import.jsonl", &desk.session());
    let imported = desk.import(&[]);
    let counts = &imported["counts"];
    let count = |name: &str| counts[name].as_u64().unwrap();
    assert_eq!(
        [count("prompts"), count("answers"), count("actions"), count("failures")],
        [1, 1, 2, 1]
    );
    assert_eq!(imported["projects"][0]["project"], "shop");
    let hits = desk.finds("zebra tariff price column");
    assert!(
        hits[0]["content_preview"].as_str().unwrap().contains("lack a price column"),
        "{hits:?}"
    );
    let shown = desk.home.run(&["show", &hits[0]["id"].to_string(), "--json"]).json();
    assert_eq!(shown["results"][0]["timestamp"], some_days_ago() / 1_000, "{shown}");
}

/// @import_once
#[test]
fn importing_again_or_what_hooks_captured_adds_nothing() {
    let desk = desk();
    let file = desk.write("s-import.jsonl", &desk.session());
    desk.hook(
        "UserPromptSubmit",
        &json!({ "prompt_id": "p-1", "prompt": "why does the zebra total lose the price?" }),
    );
    desk.hook(
        "PostToolUseFailure",
        &json!({ "prompt_id": "p-1", "tool_name": "Bash", "tool_use_id": "toolu_1",
                 "tool_input": { "command": "pytest tests/test_cart.py" }, "error": "Exit code 1\n1 failed in 0.1s" }),
    );
    let imported = desk.import(&[]);
    assert_eq!(
        (imported["added"].as_u64(), imported["counts"]["known"].as_u64()),
        (Some(2), Some(2))
    );
    assert_eq!(desk.added(&[]), 0);
    // The name of a copy does not matter: a fork repeats the lines of its parent under another session.
    let fork = desk.session().replace("s-import", "s-fork");
    desk.write("s-fork.jsonl", &fork);
    assert_eq!(desk.added(&[]), 0);
    // A hook that reports what was imported before adds nothing either.
    let before = desk.finds("tariff").len();
    desk.hook("Stop", &json!({ "prompt_id": "p-1", "last_assistant_message": "The zebra rows lack a price column, so I filled it from the tariff." }));
    assert_eq!(desk.finds("tariff").len(), before);
    std::fs::remove_file(file).unwrap();
    assert_eq!(desk.added(&[]), 0);
}

/// @import_once
#[test]
fn a_fork_that_renames_the_prompts_it_copies_adds_only_its_own() {
    let desk = desk();
    let fork = desk.fork();
    // The hook captured the first session, and its transcript is imported before that of the fork.
    desk.hook(
        "UserPromptSubmit",
        &json!({ "prompt_id": "p-1", "prompt": "why does the zebra total lose the price?" }),
    );
    desk.write("s-import.jsonl", &desk.session());
    assert_eq!(desk.added(&[]), 3);
    let file = desk.write("s-fork.jsonl", &fork);
    assert_eq!(desk.added(&["--dry-run"]), 2);
    let imported = desk.import(&[]);
    assert_eq!(imported["added"], 2, "{imported}");
    let asked = ["recent", "--project", "*", "--limit", "50", "--json"];
    let listed = desk.home.run(&asked).json().to_string();
    assert_eq!(listed.matches("why does the zebra total").count(), 1, "{listed}");
    // Without the first session, the fork brings the whole conversation.
    let alone = super::import::desk();
    let text = fork.replace(&desk.shop, &alone.shop);
    alone.write("s-fork.jsonl", &text);
    assert_eq!(alone.added(&[]), 6);
    let file = file.to_string_lossy().into_owned();
    assert_eq!(desk.added(&[&file]), 0);
}

/// @import_once
#[test]
fn a_fork_that_is_imported_before_its_session_repeats_nothing_that_a_hook_captured() {
    let desk = desk();
    // The hook has no id of the lines, and the fork none of the prompts that it copied.
    let asked = "why does the zebra total lose the price?";
    let said = "The zebra rows lack a price column, so I filled it from the tariff.";
    desk.hook("UserPromptSubmit", &json!({ "prompt_id": "p-1", "prompt": asked }));
    desk.hook("Stop", &json!({ "prompt_id": "p-1", "last_assistant_message": said }));
    let now = client::clock::now_ms();
    let today = |text: String| {
        let moved = |text: &str, from: i64, to: i64| {
            text.replace(&model::time::rfc3339(from), &model::time::rfc3339(to))
        };
        let text = moved(&text, some_days_ago() + 3_600_000, now);
        moved(&text, some_days_ago(), now - 5_000)
    };
    let fork = desk.write("s-fork.jsonl", &today(desk.fork()));
    let imported = desk.import(&[&fork.to_string_lossy()]);
    // The two actions, which the hook did not report, and the fork's own prompt and answer.
    assert_eq!((&imported["added"], &imported["counts"]["known"]), (&json!(4), &json!(2)));
    let listed = || {
        let recent = ["recent", "--project", "*", "--limit", "50", "--json"];
        desk.home.run(&recent).json().to_string().matches(asked).count()
    };
    assert_eq!(listed(), 1);
    // Its transcript comes later, and another fork of it.
    desk.write("s-import.jsonl", &today(desk.session()));
    desk.write("s-other.jsonl", &today(desk.fork()).replace("s-fork", "s-other"));
    let later = desk.import(&[]);
    assert_eq!(later["added"], 0, "{later}");
    let batch = imported["batch"].to_string();
    desk.home.run(&["import", "--undo", &batch, "--yes"]).ok();
    assert_eq!(listed(), 1, "the hook stored it");
}

/// @import_grows
#[test]
fn a_file_that_grew_brings_only_what_is_new() {
    let desk = desk();
    let half = r#"{"type":"user","uuid":"#;
    desk.write("s-import.jsonl", &(desk.session() + half));
    assert_eq!(desk.added(&[]), 4);
    let next = desk.prompt("p-2", "and the okapi totals?");
    desk.write("s-import.jsonl", &(desk.session() + &next));
    assert_eq!(desk.added(&[]), 1);
    assert_eq!(desk.finds("okapi").len(), 1);
}

/// @import_dry_run
#[test]
fn a_dry_run_counts_and_stores_nothing() {
    let desk = desk();
    desk.write("s-import.jsonl", &desk.session());
    assert_eq!(desk.added(&["--dry-run"]), 4);
    assert!(desk.finds("zebra").is_empty());
    assert_eq!(desk.home.run(&["import", "--list", "--json"]).json()["imports"], json!([]));
    assert_eq!(desk.added(&[]), 4);
}

/// @import_dry_run @import_grows
#[test]
fn a_dry_run_counts_many_files_and_an_import_reads_those_without_an_event_once() {
    /// More than the events of one call, and no multiple of it.
    const FILES: usize = 300;
    let desk = desk();
    let at = u64::try_from(some_days_ago()).unwrap();
    let long_ago = std::time::UNIX_EPOCH + std::time::Duration::from_millis(at);
    for number in 0..FILES {
        let session = format!("s-{number}");
        let asked = desk.prompt(&format!("p-{number}"), "where is the zebra?");
        desk.write(&format!("{session}.jsonl"), &asked.replace("s-import", &session));
        let title = json!({ "type": "ai-title", "aiTitle": format!("part {number}") });
        let file = desk.write(&format!("empty-{number}.jsonl"), &format!("{title}\n"));
        std::fs::File::open(file).unwrap().set_modified(long_ago).unwrap();
    }
    let dry = desk.import(&["--dry-run"]);
    let counts = |report: &Value| {
        [report["files"].clone(), report["added"].clone(), report["sessions"].clone()]
    };
    assert_eq!(counts(&dry), [json!(2 * FILES), json!(FILES), json!(FILES)], "{dry}");
    assert_eq!(counts(&desk.import(&[])), counts(&dry));
    let again = desk.import(&[]);
    assert_eq!((&again["unchanged"], &again["added"]), (&json!(2 * FILES), &json!(0)), "{again}");
}

/// @import_dry_run
#[test]
fn a_dry_run_reports_what_the_import_then_reports() {
    let desk = desk();
    let asked = json!({ "prompt_id": "p-1", "prompt": "why does the zebra total lose the price?" });
    desk.hook("UserPromptSubmit", &asked);
    desk.write("s-import.jsonl", &desk.session());
    desk.write("s-fork.jsonl", &desk.fork());
    let own = |text: &str, name: &str| {
        let text = text.replace("s-import", name).replace("toolu_", &format!("toolu_{name}"));
        text.replace("\"p-1\"", &format!("\"p-{name}\"")).replace("a-last", &format!("a-{name}"))
    };
    // Longer ago than any record is kept.
    let old = model::time::rfc3339(some_days_ago());
    let old = own(&desk.session(), "old").replace(&old, "2015-01-01T00:00:00.000Z");
    desk.write("s-old.jsonl", &old);
    // In a directory that is gone.
    let gone = own(&desk.session(), "gone").replace("/shop\"", "/gone\"");
    desk.write("s-gone.jsonl", &gone);
    let same = |args: &[&str]| {
        let dry = desk.import(&[&["--dry-run"], args].concat());
        let real = desk.import(args);
        for part in ["added", "counts", "projects", "sessions", "redacted", "problems"] {
            assert_eq!(dry[part], real[part], "{part} of {dry} and {real}");
        }
        real
    };
    let real = same(&[]);
    let counted = |name: &str| real["counts"][name].as_u64().unwrap();
    assert!(counted("known") > 3 && counted("too_old") > 0 && counted("actions") > 3, "{real}");
    desk.home.run(&["purge", "--search", "tariff", "--confirm"]).ok();
    assert!(same(&["--forgotten"])["added"].as_u64() > Some(0));
}

/// @import_undo
#[test]
fn an_import_is_undone_and_can_be_repeated() {
    let desk = desk();
    desk.hook(
        "UserPromptSubmit",
        &json!({ "prompt_id": "p-0", "prompt": "an earlier quokka question" }),
    );
    desk.write("s-import.jsonl", &desk.session());
    let batch = desk.import(&[])["batch"].to_string();
    let listed = desk.home.run(&["import", "--list", "--json"]).json();
    assert_eq!(listed["imports"][0]["added"], 4);
    let refused = desk.home.run(&["import", "--undo", &batch]);
    assert_ne!(refused.code, 0);
    assert!(!desk.finds("zebra").is_empty());
    let undone = desk.home.run(&["import", "--undo", &batch, "--yes", "--json"]).json();
    assert_eq!(undone["records"], 4);
    assert!(desk.finds("zebra").is_empty());
    assert!(!desk.finds("quokka").is_empty());
    assert_eq!(desk.added(&[]), 4);
    let unknown = desk.home.run(&["import", "--undo", "999", "--yes"]);
    assert!(
        unknown.code != 0 && unknown.stderr.contains("no import has the id 999"),
        "{unknown:?}"
    );
}

/// @import_forgotten
#[test]
fn a_purged_record_is_not_brought_back() {
    let desk = desk();
    let file = desk.write("s-import.jsonl", &desk.session());
    desk.import(&[]);
    desk.home.run(&["purge", "--search", "tariff", "--confirm"]).ok();
    assert!(desk.finds("tariff").is_empty());
    // The file is read anew under another name.
    let other = desk.write("other.jsonl", &desk.session());
    std::fs::remove_file(file).unwrap();
    let again = desk.import(&[]);
    assert_eq!(
        (again["added"].as_u64(), again["counts"]["forgotten"].as_u64()),
        (Some(0), Some(1))
    );
    assert!(desk.finds("tariff").is_empty());
    let name = other.to_string_lossy().into_owned();
    assert_eq!(desk.added(&[&name, "--forgotten"]), 1);
    assert_eq!(desk.finds("tariff").len(), 1);
}

/// @import_forgotten
#[test]
fn purged_records_of_a_forked_session_are_brought_back_once() {
    let desk = desk();
    desk.write("s-import.jsonl", &desk.session());
    desk.write("s-fork.jsonl", &desk.fork());
    assert_eq!(desk.added(&["claude-code"]), 6);
    desk.home.run(&["purge", "--search", "price", "--confirm"]).ok();
    let left = desk.finds("zebra okapi price").len();
    let promised = desk.added(&["claude-code", "--forgotten", "--dry-run"]);
    assert!(promised > 0);
    assert_eq!(desk.added(&["claude-code", "--forgotten"]), promised);
    assert_eq!(desk.finds("zebra okapi price").len() as u64, left as u64 + promised);
    assert_eq!(desk.added(&["claude-code", "--forgotten"]), 0);
}

/// @import_bad_lines
#[test]
fn a_bad_line_is_named_and_skipped() {
    let desk = desk();
    let lines: Vec<String> = desk.session().lines().map(str::to_owned).collect();
    let mut text = Vec::new();
    text.extend_from_slice(lines[0].as_bytes());
    text.extend_from_slice(b"\nnot json\n{\"type\":\"user\",\"message\":7}\n[1]\n\xff\xfe\n\0\0\n");
    text.extend_from_slice("{\"type\":\"brand-new\"}\n".as_bytes());
    text.extend_from_slice(format!("{}\n", "[".repeat(20_000)).as_bytes());
    for line in &lines[1..] {
        text.extend_from_slice(format!("{line}\n").as_bytes());
    }
    let file = desk.write("s-import.jsonl", "");
    std::fs::write(&file, &text).unwrap();
    let modified = std::fs::metadata(&file).unwrap().modified().unwrap();
    let imported = desk.import(&[]);
    assert_eq!(imported["added"], 4);
    assert_eq!(imported["unknown_lines"], 1);
    assert!(imported["problems"][0]["line"].as_u64().unwrap() > 1, "{imported}");
    assert_eq!(std::fs::read(&file).unwrap(), text);
    assert_eq!(std::fs::metadata(&file).unwrap().modified().unwrap(), modified);
    assert_eq!(std::fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
}

/// @import_not_the_users
#[test]
fn only_the_users_words_and_the_agents_work_are_imported() {
    let desk = desk();
    let meta =
        json!({ "isMeta": true, "message": { "role": "user", "content": "capybara caveat" } });
    let summary = json!({ "isCompactSummary": true, "message": { "role": "user", "content": "capybara summary" } });
    let injected = json!({ "attachment": { "type": "hook_additional_context", "content": "capybara context" } });
    let rejected = "The user doesn't want to proceed with this tool use. It was rejected.";
    let text = [
        desk.line("user", "m-1", &meta),
        desk.line("user", "m-2", &summary),
        desk.line("attachment", "m-3", &injected),
        desk.prompt("p-1", "<system-reminder>capybara reminder</system-reminder>look at the gnu"),
        desk.call("toolu_9", "Bash", json!({ "command": "rm -rf capybara" })),
        desk.failure("toolu_9", rejected),
        desk.prompt("p-2", "the token is ghp_0123456789abcdefghijABCDEFGHIJ012345 for the lemur"),
    ]
    .concat();
    desk.write("s-import.jsonl", &text);
    assert_eq!(desk.added(&[]), 2);
    assert!(desk.finds("capybara").is_empty());
    assert!(!desk.finds("gnu").is_empty());
    let hit = desk.finds("lemur")[0]["content_preview"].to_string();
    assert!(hit.contains("the token is") && !hit.contains("ghp_0123456789"), "{hit}");
}

/// @import_subagents
#[test]
fn a_subagents_work_belongs_to_its_session() {
    let desk = desk();
    desk.write("s-import.jsonl", &desk.session());
    let of_agent = |line: String| {
        let mut line: Value = serde_json::from_str(&line).unwrap();
        line["agentId"] = "a77".into();
        line["isSidechain"] = true.into();
        format!("{line}\n")
    };
    let text = [
        of_agent(desk.prompt("p-9", "search the ibex")),
        of_agent(desk.call("toolu_7", "Bash", json!({ "command": "grep -rn ibex src" }))),
        of_agent(desk.result("toolu_7", json!({ "stdout": "src/ibex.rs", "stderr": "" }))),
        of_agent(desk.says("The ibex is defined in src/ibex.rs.")),
    ]
    .concat();
    desk.write("s-import/subagents/agent-a77.jsonl", &text);
    let imported = desk.import(&[]);
    assert_eq!(imported["counts"]["prompts"], 1, "the task of a subagent is no prompt");
    assert_eq!(imported["sessions"], 1);
    let hit = &desk.finds("ibex defined")[0];
    assert_eq!(hit["session_id"], "s-import", "{hit}");
}

/// @import_filters
#[test]
fn a_filter_leaves_the_rest_for_the_next_import() {
    let desk = desk();
    desk.write("s-import.jsonl", &desk.session());
    assert_eq!(desk.added(&["--since", "1d"]), 0);
    assert_eq!(desk.home.run(&["import", "--yes", "--project", "elsewhere"]).code, 1);
    assert_eq!(desk.added(&["--exclude-project", &desk.shop]), 0);
    assert_eq!(desk.added(&["--project", "shop"]), 4);
    let refused = desk.home.run(&["import", "--since", "whenever"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stderr.contains("'whenever' is not a time"), "{refused:?}");
    assert_eq!(desk.home.run(&["import", "/nowhere/at/all"]).code, 1);
}

/// @import_asks
#[test]
fn without_a_terminal_everything_is_imported_only_on_request() {
    let desk = desk();
    desk.write("s-import.jsonl", &desk.session());
    let run = desk.home.run(&["import"]);
    assert_ne!(run.code, 0);
    assert!(run.stderr.contains("Found 1 session of Claude Code"), "{run:?}");
    assert!(run.stderr.contains("--yes"), "{run:?}");
    assert!(desk.finds("zebra").is_empty());
    assert_eq!(desk.home.run(&["import", "claude-code"]).code, 0);
    assert!(!desk.finds("zebra").is_empty());
}

/// @import_undo
#[test]
fn undo_leaves_the_store_as_it_was() {
    let desk = desk();
    desk.hook(
        "UserPromptSubmit",
        &json!({ "prompt_id": "p-0", "prompt": "an earlier quokka question" }),
    );
    desk.hook(
        "Stop",
        &json!({ "prompt_id": "p-0", "last_assistant_message": "The quokka is small." }),
    );
    let found = desk.finds("quokka");
    let before = sqlite::dump(&desk.home);
    let title = json!({ "customTitle": "Zebra totals" });
    desk.write("s-import.jsonl", &(desk.session() + &desk.line("custom-title", "t", &title)));
    let elsewhere = desk
        .session()
        .replace("s-import", "s-other")
        .replace("/shop", "/mill")
        .replace("p-1", "p-7");
    desk.write("s-other.jsonl", &elsewhere.replace("toolu_", "toolu_other_"));
    let batch = desk.import(&[])["batch"].to_string();
    desk.finds("zebra");
    assert_ne!(sqlite::dump(&desk.home), before);
    desk.home.run(&["import", "--undo", &batch, "--yes"]).ok();
    assert!(desk.finds("zebra").is_empty());
    assert_eq!(desk.finds("quokka").len(), found.len());
    assert_eq!(sqlite::dump(&desk.home), before);
}

/// @import_titles
#[test]
fn a_title_names_a_session_without_a_name() {
    let desk = desk();
    let title = json!({ "customTitle": "Zebra totals" });
    desk.write("s-import.jsonl", &(desk.session() + &desk.line("custom-title", "t", &title)));
    desk.import(&[]);
    let sessions = desk.home.run(&["sessions", "--project", "*", "--json"]).json();
    assert!(sessions.to_string().contains("Zebra totals"), "{sessions}");
}

/// @import_gone
#[test]
fn a_directory_that_is_gone_belongs_to_the_known_project_around_it() {
    let desk = desk();
    desk.hook(
        "UserPromptSubmit",
        &json!({ "prompt_id": "p-0", "prompt": "an earlier quokka question" }),
    );
    std::fs::remove_dir_all(&desk.shop).unwrap();
    let inside = format!("{}/deep/folder", desk.shop);
    desk.write(
        "s-import.jsonl",
        &desk.session().replace(&desk.shop, &inside).replace("s-import", "s-gone"),
    );
    let imported = desk.import(&[]);
    assert_eq!(imported["projects"][0]["project"], "shop", "{imported}");
}

/// @import_gone @import_order
#[test]
fn directories_that_are_gone_are_projects_of_their_own_in_any_order() {
    let projects = |order: [&str; 2], is_dry: bool| {
        let desk = desk();
        for (place, part) in order.iter().enumerate() {
            let directory = format!("{}/gone{part}", desk.shop);
            let session = desk.session().replace(&desk.shop, &directory);
            let session = session.replace("s-import", &format!("s-gone-{place}"));
            desk.write(&format!("s-gone-{place}.jsonl"), &session.replace("p-1", part));
        }
        let given: &[&str] = if is_dry { &["--dry-run"] } else { &[] };
        let imported = desk.import(given);
        let listed = imported["projects"].as_array().unwrap().iter();
        let mut names: Vec<String> =
            listed.map(|one| one["project"].as_str().unwrap().to_owned()).collect();
        names.sort();
        names
    };
    for order in [["", "/app"], ["/app", ""]] {
        assert_eq!(projects(order, false), ["app", "gone"], "{order:?}");
        assert_eq!(projects(order, true), ["app", "gone"], "{order:?}");
    }
}

/// @import_interrupted
#[test]
fn an_interrupted_import_continues_with_the_same_command() {
    let desk = desk();
    let daemon = desk.home.daemon();
    let turns = 3_000;
    let text: String = (0..turns)
        .map(|turn| {
            desk.prompt(&format!("p-{turn}"), &format!("question number {turn} about the okapi"))
        })
        .collect();
    desk.write("s-import.jsonl", &text);
    let mut first = desk.home.command(["import", "--yes", "--json"]).spawn().unwrap();
    wait_until("a part is imported", || {
        let listed = desk.home.run(&["import", "--list", "--json"]).json();
        listed["imports"][0]["added"].as_u64().filter(|added| *added > 0)
    });
    first.kill().unwrap();
    first.wait().unwrap();
    desk.import(&[]);
    let stats = desk.home.run(&["stats", "--json"]).json();
    assert_eq!(stats["prompts"], turns, "{stats}");
    drop(daemon);
}

/// @import_estimated
#[test]
fn a_line_without_a_time_has_that_of_its_neighbour() {
    let desk = desk();
    let lines: Vec<String> = desk.session().lines().map(str::to_owned).collect();
    let text: String = lines
        .iter()
        .enumerate()
        .map(|(place, line)| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            if place > 0 {
                line.as_object_mut().unwrap().remove("timestamp");
            }
            format!("{line}\n")
        })
        .collect();
    desk.write("s-import.jsonl", &text);
    desk.import(&[]);
    let id = desk.finds("tariff price column")[0]["id"].to_string();
    let shown = desk.home.run(&["show", &id, "--json"]).json();
    assert_eq!(shown["results"][0]["timestamp"], some_days_ago() / 1_000, "{shown}");
    assert_eq!(shown["results"][0]["metadata"]["estimated"], true, "{shown}");
}

/// @import_offer
#[test]
fn the_first_run_offers_an_import_once() {
    let desk = desk();
    desk.write("s-import.jsonl", &desk.session());
    let first = desk.home.run(&["up"]);
    assert!(first.stderr.contains("Found 1 session of Claude Code"), "{first:?}");
    assert!(first.stderr.contains("`rekindle import`"), "{first:?}");
    let second = desk.home.run(&["up"]);
    assert!(!second.stderr.contains("Claude Code,"), "{second:?}");
    assert!(desk.finds("zebra").is_empty(), "nothing is imported without an answer");
}

/// @import_offer
#[test]
fn the_note_that_an_import_was_offered_is_private_and_leaves_with_the_data() {
    use std::os::unix::fs::PermissionsExt as _;
    let desk = desk();
    desk.write("s-import.jsonl", &desk.session());
    desk.home.run(&["import", "--yes"]).ok();
    let data = desk.home.path("data");
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&data), 0o700);
    assert_eq!(mode(&data.join("import-offered")), 0o600);
    let removed = desk.home.run(&["uninstall", "--data", "--yes"]);
    assert!(!removed.stdout.contains("import-offered"), "{removed:?}");
    assert!(!data.join("import-offered").exists(), "{removed:?}");
}
