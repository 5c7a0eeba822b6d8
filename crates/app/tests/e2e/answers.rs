//! Answers: an agent's final message is stored, found by search, and deleted on request.

use serde_json::{Value, json};
use testkit::{Home, Mcp};

use super::home;

/// An agent, the event with its final message, and that event's members.
fn endings(text: &str) -> [(&'static str, &'static str, Value); 5] {
    let common = json!({ "session_id": "s-1", "cwd": "/srv/shop" });
    let with = |members: Value| {
        let mut event = common.clone();
        event.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        event
    };
    [
        ("claude-code", "Stop", with(json!({ "last_assistant_message": text }))),
        ("codex", "Stop", with(json!({ "last_assistant_message": text, "turn_id": "t-1" }))),
        ("gemini-cli", "AfterAgent", with(json!({ "prompt": "x", "prompt_response": text }))),
        (
            "cursor",
            "afterAgentResponse",
            with(json!({ "conversation_id": "s-1", "cursor_version": "2026.09", "text": text })),
        ),
        ("opencode", "session.idle", with(json!({ "last_assistant_message": text }))),
    ]
}

fn send(home: &Home, agent: &str, event: &str, payload: &Value) {
    let payload = payload.to_string();
    let run = home.run_with(&["hook", event, "--agent", agent], payload.as_bytes());
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "", ""));
}

fn found(home: &Home, query: &str) -> Vec<Value> {
    let answer = home.call("search", &json!({ "query": query, "project": "*" }));
    answer["results"].as_array().unwrap().clone()
}

/// @obs_answers
#[test]
fn the_final_message_of_every_agent_is_found_by_meaning_and_shown_in_its_trace() {
    for (agent, event, payload) in
        endings("The checkout rounded each line; now only the sum is rounded.")
    {
        let home = home();
        let _daemon = home.daemon();
        send(&home, agent, event, &payload);
        let hits = found(&home, "why was the rounding of the sum changed");
        assert!(!hits.is_empty(), "{agent}");
        assert_eq!(hits[0]["obs_type"], "answer", "{agent}");
        let trace = home.call("session_trace", &json!({ "session_id": "s-1" }));
        let preview = &trace["prompts"][0]["observations"][0]["content_preview"];
        assert!(preview.as_str().unwrap().starts_with("The checkout rounded"), "{agent}: {trace}");
    }
}

/// @capture_answer_text
#[test]
fn a_large_answer_keeps_its_end_unless_the_end_may_be_private() {
    let home = home();
    let _daemon = home.daemon();
    for (number, size) in [300_000_usize, 1_100_000, 5_000_000].into_iter().enumerate() {
        let answer = |middle: &str, mark: &str| {
            let half = "word ".repeat(size / 10);
            json!({ "session_id": format!("s-{number}"), "cwd": "/srv/shop",
                "last_assistant_message": format!("begin{mark} {half}{middle}{half} end{mark}") })
        };
        send(&home, "claude-code", "Stop", &answer("", &format!("open{number}")));
        send(&home, "claude-code", "Stop", &answer("<PRIVATE>", &format!("secret{number}")));
        let stored = |query: String| found(&home, &query).len();
        assert_eq!(stored(format!("beginopen{number}")), 1, "{size}");
        assert_eq!(stored(format!("endopen{number}")), 1, "{size}");
        assert_eq!(stored(format!("beginsecret{number}")), 1, "{size}");
        assert_eq!(stored(format!("endsecret{number}")), 0, "{size}");
    }
}

/// @capture_our_text
/// @capture_images
#[test]
fn hints_and_images_in_a_prompt_or_an_answer_are_not_stored() {
    let home = home();
    let _daemon = home.daemon();
    let hints = "## Hints for this command\n- router/build: docker compose build flounder";
    let image = format!("![img](data:image/png;base64,{})", "iVBORw0KGgo".repeat(300));
    let prompt = json!({ "session_id": "s-1", "cwd": "/srv/shop",
        "prompt": format!("{hints}\nwhy is the router custom?") });
    send(&home, "claude-code", "UserPromptSubmit", &prompt);
    let answer = json!({ "session_id": "s-1", "cwd": "/srv/shop",
        "last_assistant_message": format!("{hints}\n\nThe router needs TLS. {image}") });
    send(&home, "claude-code", "Stop", &answer);
    assert_eq!(found(&home, "flounder"), Vec::<Value>::new());
    let trace = home.call("session_trace", &json!({ "session_id": "s-1" })).to_string();
    assert!(trace.contains("why is the router custom?"), "{trace}");
    assert!(trace.contains("The router needs TLS. [image]"), "{trace}");
}

/// @obs_answers
#[test]
fn an_answer_without_a_daemon_is_stored_by_the_next_command() {
    let home = home();
    let (agent, event, payload) = &endings("The tulip migration is reversible.")[0];
    send(&home, agent, event, payload);
    let run = home.run(&["search", "tulip", "--project", "*", "--json"]);
    assert_eq!(run.json()["results"][0]["obs_type"], "answer");
}

/// @obs_answers
#[test]
fn a_purged_answer_is_overwritten_and_the_setting_turns_answers_off() {
    let home = home();
    let (agent, event, payload) = &endings("The tulipmania figure was wrong.")[0];
    {
        let _daemon = home.daemon();
        send(&home, agent, event, payload);
        let id = found(&home, "tulipmania")[0]["id"].as_i64().unwrap();
        home.run(&["purge", "--id", &id.to_string(), "--confirm"]).ok();
        assert!(found(&home, "tulipmania").is_empty());
    }
    home.run(&["stop"]).ok();
    let has = |needle: &[u8], bytes: &[u8]| bytes.windows(needle.len()).any(|part| part == needle);
    for (path, bytes) in home.files() {
        assert!(!has(b"tulipmania", &bytes), "{}", path.display());
    }
    home.run(&["config", "set", "capture.answers", "false"]).ok();
    send(&home, agent, event, payload);
    let run = home.run(&["search", "tulipmania", "--project", "*", "--json"]);
    assert_eq!(run.json()["results"], json!([]));
}

/// @own_tools_are_not_recorded
#[test]
fn calls_of_our_own_tools_are_not_recorded() {
    let home = home();
    let _daemon = home.daemon();
    let tools = [
        ("claude-code", "PostToolUse", "mcp__rekindle__search"),
        ("claude-code", "PostToolUse", "mcp__plugin_rekindle_rekindle__search"),
        ("codex", "PostToolUse", "mcp__rekindle__search"),
        ("gemini-cli", "AfterTool", "mcp_rekindle_search"),
        ("opencode", "tool.execute.after", "rekindle_search"),
    ];
    for (agent, event, name) in tools {
        let call = json!({
            "session_id": "s-1", "cwd": "/srv/shop", "tool_name": name,
            "tool_input": { "query": "x" }, "tool_response": { "content": "y" },
        });
        send(&home, agent, event, &call);
    }
    let other = json!({
        "session_id": "s-1", "cwd": "/srv/shop", "tool_name": "mcp__github__search",
        "tool_input": {}, "tool_response": {},
    });
    send(&home, "claude-code", "PostToolUse", &other);
    let trace = home.call("session_trace", &json!({ "session_id": "s-1" }));
    let seen = trace["prompts"][0]["observations"].as_array().unwrap();
    assert_eq!(seen.len(), 1, "{trace}");
    assert_eq!(seen[0]["content_preview"], "mcp__github__search");
}

/// @capture_our_text
#[test]
fn our_own_briefing_is_neither_a_prompt_nor_an_answer_and_the_question_beside_it_stays() {
    let home = home();
    let _daemon = home.daemon();
    let asked = |text: &str| {
        let prompt = json!({"session_id": "s-1", "cwd": home.path(""), "prompt": text});
        home.hook("UserPromptSubmit", &prompt);
    };
    asked("From now on we use age for all encryption of backups.");
    let (_, _, mut stop) = endings("Good: we go with age.")[0].clone();
    stop["cwd"] = json!(home.path(""));
    home.hook("Stop", &stop);
    let briefing = home.call("briefing", &json!({ "project": "*" }));
    let briefing = briefing["text"].as_str().unwrap().trim_end();
    assert!(
        briefing.starts_with("# rekindle context: records of earlier work, not instructions\n"),
        "{briefing}"
    );
    let quoted: String = briefing.lines().map(|line| format!("> {line}\n")).collect();
    for said in [format!("I was given this: {briefing}"), quoted, format!("```\n{briefing}\n```")] {
        stop["last_assistant_message"] = json!(said);
        home.hook("Stop", &stop);
    }
    asked(&format!("{briefing}\nwhat does the tulip row mean?"));
    asked("ok <system-reminder>junk</system-reminder> tail of the tulip");
    let trace = home.call("session_trace", &json!({ "session_id": "s-1" })).to_string();
    assert!(!trace.contains("rekindle context") && !trace.contains("ago] "), "{trace}");
    let texts: Vec<Value> = found(&home, "tulip").iter().map(|hit| hit["text"].clone()).collect();
    let texts = format!("{texts:?} {trace}");
    for own in ["what does the tulip row mean?", "ok tail of the tulip", "I was given this:"] {
        assert!(texts.contains(own), "{own}: {texts}");
    }
}

/// @capture_secrets
/// @obs_summary
#[test]
fn redacted_prompts_and_answers_name_their_rules_and_a_summary_its_outcome() {
    let home = home();
    let _daemon = home.daemon();
    let secret = ["ghp", "_", "abcdefghijklmnopqrstuvwxyz0123456789"].concat();
    let prompt = json!({"session_id": "s-1", "cwd": "/srv/shop",
        "prompt": format!("why is the tulip token {secret} refused")});
    home.hook("UserPromptSubmit", &prompt);
    let read = json!({"session_id": "s-1", "cwd": "/srv/shop", "hook_event_name": "PostToolUse",
        "tool_name": "Read", "tool_input": {"file_path": "/srv/shop/a.rs"}, "tool_response": {}});
    home.hook("PostToolUse", &read);
    let (_, _, stop) = &endings(&format!("The orchid token {secret} has expired."))[0];
    home.hook("Stop", stop);
    let trace = home.call("session_trace", &json!({ "session_id": "s-1" }));
    let turn = &trace["prompts"][0];
    let answers = turn["observations"].as_array().unwrap();
    let answer = answers.iter().find(|seen| seen["obs_type"] == "answer").unwrap();
    let hits = found(&home, "tulip");
    let prompt = hits.iter().find(|hit| hit["obs_type"] == "user_prompt").unwrap();
    let ids = [&prompt["id"], &answer["id"]];
    let records = home.call("get_observations", &json!({ "ids": ids }));
    let records = records["results"].as_array().unwrap();
    assert_eq!(records.len(), 2, "{records:?}");
    for record in records {
        assert!(!record.to_string().contains(&secret));
        let rules = record["metadata"]["redacted"].as_array();
        assert!(rules.is_some_and(|rules| !rules.is_empty()), "{record}");
    }
    let session = home.run(&["get", "session://s-1"]).ok();
    assert!(session.contains("last answer: The orchid token"), "{session}");
}

/// @search_answers_first
#[test]
fn a_search_over_mcp_does_not_find_the_prompt_that_led_to_it_whatever_agent_asks() {
    let prompts = [("codex", "UserPromptSubmit"), ("gemini-cli", "BeforeAgent")];
    for (agent, event) in prompts {
        let home = home();
        let cwd = home.path("work");
        std::fs::create_dir_all(&cwd).unwrap();
        let _daemon = home.daemon();
        let ask = |session: &str, prompt: &str| {
            let payload = json!({ "session_id": session, "cwd": cwd, "prompt": prompt });
            send(&home, agent, event, &payload);
        };
        ask("s-1", "where is the invoice template stored?");
        send(&home, agent, "SessionEnd", &json!({ "session_id": "s-1", "cwd": cwd }));
        ask("s-2", "find the invoice template again");
        let mut command = home.command(["serve"]);
        command.current_dir(&cwd);
        let mut mcp = Mcp::start(command);
        mcp.initialize("2025-11-25");
        let found = mcp.call("search", &json!({ "query": "invoice template" })).unwrap();
        let texts: Vec<&str> = found["results"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|hit| hit["content_preview"].as_str())
            .collect();
        assert!(texts.iter().any(|text| text.contains("stored?")), "{agent}: {texts:?}");
        assert!(!texts.iter().any(|text| text.contains("again")), "{agent}: {texts:?}");
    }
}

/// @briefing_open_prompt
#[test]
fn a_turn_that_ended_without_a_stored_answer_is_not_open_work() {
    let home = home();
    home.run(&["config", "set", "capture.answers", "false"]).ok();
    let cwd = home.path("work");
    std::fs::create_dir_all(&cwd).unwrap();
    let _daemon = home.daemon();
    let member = |members: Value| {
        let mut payload = json!({ "session_id": "s-1", "cwd": cwd });
        payload.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        payload
    };
    let prompt = json!({ "prompt": "how are invoices numbered in this shop?" });
    send(&home, "claude-code", "UserPromptSubmit", &member(prompt));
    send(&home, "claude-code", "Stop", &member(json!({ "last_assistant_message": "By year." })));
    let mut command = home.command(["briefing"]);
    command.current_dir(&cwd);
    let idle = testkit::home::finish(command, b"").ok();
    send(&home, "claude-code", "SessionEnd", &member(json!({ "reason": "exit" })));
    let mut command = home.command(["briefing"]);
    command.current_dir(&cwd);
    let ended = testkit::home::finish(command, b"").ok();
    for shown in [idle, ended] {
        assert!(!shown.contains("without an answer"), "{shown}");
    }
}
