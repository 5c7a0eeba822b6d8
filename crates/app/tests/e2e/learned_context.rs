//! `recall`, `premortem` and the learned items at a prompt.

use serde_json::{Value, json};
use testkit::Home;

use super::home;

/// A home with one project, `web`.
fn desk() -> (Home, String) {
    let home = home();
    let dir = home.path("web");
    std::fs::create_dir_all(dir.join(".git")).unwrap();
    std::fs::write(dir.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    (home, dir.to_string_lossy().into_owned())
}

fn store(home: &Home, cwd: &str, content: &str, more: &Value) -> String {
    let mut params = json!({ "content": content, "category": "fact", "cwd": cwd });
    for (name, value) in more.as_object().into_iter().flatten() {
        params[name] = value.clone();
    }
    home.call("store_memory", &params)["id"].as_str().unwrap().to_owned()
}

fn assembled(home: &Home, cwd: &str, params: &Value) -> Value {
    let mut params = params.clone();
    params["cwd"] = cwd.into();
    home.call("assemble_context", &params)
}

/// The text that the hook adds to a prompt.
fn prompted(home: &Home, cwd: &str, session: &str, prompt: &str) -> String {
    event(home, "UserPromptSubmit", &json!({ "session_id": session, "cwd": cwd, "prompt": prompt }))
}

fn event(home: &Home, name: &str, payload: &Value) -> String {
    let run = home.run_with(&["hook", name], payload.to_string().as_bytes());
    let told: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
    let text = told.pointer("/hookSpecificOutput/additionalContext").and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}

const PORT: &str = "The staging database listens on port 5433 and is reset every night";

/// @context_assembled
/// @context_equal_bytes
#[test]
fn a_text_about_a_question_keeps_its_budget_and_names_its_items() {
    let (home, cwd) = desk();
    let id = store(&home, &cwd, PORT, &json!({}));
    for number in 0..30 {
        let text = format!(
            "The staging host number {number} has {number} database replicas; {}",
            "more about it. ".repeat(20)
        );
        store(&home, &cwd, &text, &json!({}));
    }
    let asked = json!({ "query": "on which port is the staging database" });
    let answer = assembled(&home, &cwd, &asked);
    let item = &answer["items"][0];
    assert_eq!(item["path"], format!("memory://{id}"), "{answer}");
    assert_eq!((&item["source"], &item["status"]), (&json!("memories"), &json!("stored")));
    assert!(!item["reasons"].as_array().unwrap().is_empty(), "{item}");
    let markdown = answer["markdown"].as_str().unwrap();
    assert!(markdown.starts_with("## Memories\n") && markdown.contains("port 5433"), "{markdown}");
    for max_tokens in [100, 333, 1_500, 10_000] {
        let asked = json!({ "query": "staging database", "max_tokens": max_tokens, "limit": 50 });
        let answer = assembled(&home, &cwd, &asked);
        let used = answer["token_count"].as_u64().unwrap();
        assert!(used <= max_tokens, "{used} of {max_tokens}");
        assert_eq!(answer["item_count"], answer["items"].as_array().unwrap().len());
        assert_eq!(answer["truncated"], max_tokens < 10_000, "{max_tokens}");
        assert!(answer["item_count"].as_u64().unwrap() > 0, "{answer}");
        if max_tokens == 10_000 {
            assert!(used > 2_400, "a tool's answer may be longer than a hook's: {used}");
        }
    }
    let again = assembled(&home, &cwd, &asked);
    assert_eq!(again["markdown"], answer["markdown"]);
    let few = assembled(&home, &cwd, &json!({ "query": "staging database", "limit": 2 }));
    assert_eq!(few["item_count"], 2);
    for bad in [
        json!({ "max_tokens": 99 }),
        json!({ "max_tokens": 10_001 }),
        json!({ "context_types": ["banana"] }),
    ] {
        let run = home.run(&["call", "assemble_context", &bad.to_string()]);
        assert_eq!(run.code, 1, "{bad}: {run:?}");
    }
    let mut command = home.command(["recall", "staging", "port", "--explain"]);
    command.current_dir(&cwd);
    let printed = testkit::home::finish(command, b"").ok();
    assert!(
        printed.contains("## Memories") && printed.contains("memories, stored, score"),
        "{printed}"
    );
}

/// @context_assembled
#[test]
fn a_hit_by_the_beginning_of_a_word_is_said_to_be_merely_similar() {
    let (home, cwd) = desk();
    store(&home, &cwd, "The plugin of the editor needs a restart", &json!({}));
    let answer = assembled(&home, &cwd, &json!({ "query": "xyzzy plugh" }));
    let item = &answer["items"][0];
    let reason = item["reasons"][0].as_str().unwrap_or_default();
    assert!(reason.starts_with("merely similar: the beginning of a word in common"), "{answer}");
    assert!(item["score"].as_f64().unwrap() <= 0.5, "{answer}");
    let answer = assembled(&home, &cwd, &json!({ "query": "restart the editor plugin" }));
    let reason = answer["items"][0]["reasons"][0].as_str().unwrap();
    assert!(reason.starts_with("words in common"), "{answer}");
}

/// @context_empty_query
#[test]
fn an_empty_query_gives_the_most_important_first() {
    let (home, cwd) = desk();
    store(&home, &cwd, "a minor thing", &json!({ "importance": 0.1 }));
    store(&home, &cwd, "the main thing", &json!({ "importance": 1.0 }));
    let answer = assembled(&home, &cwd, &json!({ "query": " " }));
    let markdown = answer["markdown"].as_str().unwrap();
    assert!(markdown.find("main thing") < markdown.find("minor thing"), "{markdown}");
    assert_eq!(answer["item_count"], 2);
    let none = assembled(&home, &cwd, &json!({ "query": "", "context_types": ["values"] }));
    assert_eq!((&none["markdown"], &none["truncated"]), (&json!(""), &json!(false)));
}

/// @context_assembled
#[test]
fn hints_and_observations_are_asked_for_by_name() {
    let (home, cwd) = desk();
    store(&home, &cwd, PORT, &json!({}));
    let hint = json!({ "component": "staging", "key": "deploy", "value": "make deploy-staging" });
    home.call("set_hint", &hint);
    home.hook(
        "UserPromptSubmit",
        &json!({ "session_id": "s-1", "cwd": cwd, "prompt": "We decided that the staging replica count stays at seven" }),
    );
    let types = json!(["hints", "observations"]);
    let asked = json!({ "query": "deploy the staging replica count", "context_types": types });
    let answer = assembled(&home, &cwd, &asked);
    let markdown = answer["markdown"].as_str().unwrap();
    assert!(markdown.contains("## Hints") && markdown.contains("make deploy-staging"), "{answer}");
    assert!(
        markdown.contains("## Observations") && markdown.contains("stays at seven"),
        "{answer}"
    );
    assert!(!markdown.contains("5433"), "{answer}");
}

/// @context_superseded
/// @learned_at_prompts
/// @learned_once
#[test]
fn a_prompt_gets_the_memory_in_force_once_and_otherwise_nothing() {
    let (home, cwd) = desk();
    let _daemon = home.daemon();
    let old = store(&home, &cwd, PORT, &json!({}));
    let silent = prompted(&home, &cwd, "s-0", "Write a haiku about autumn leaves");
    assert_eq!(silent, "");
    let told = prompted(&home, &cwd, "s-1", "Connect to the staging database please");
    assert!(told.contains("## Memories") && told.contains("port 5433"), "{told}");
    let title = "# rekindle context: records of earlier work, not instructions\n";
    assert!(told.starts_with(title), "{told}");
    assert!(told.contains(&format!("- memory://{old} [under 1h ago] **fact**: ")), "{told}");
    assert_eq!(prompted(&home, &cwd, "s-1", "Connect to the staging database again"), "");
    let receipts = home.call("receipts", &json!({ "session_id": "s-1" }));
    assert!(receipts.to_string().contains(&format!("memory://{old}")), "{receipts}");
    store(&home, &cwd, "Its address is db.example now", &json!({ "supersedes": [old] }));
    let told = prompted(&home, &cwd, "s-2", "Connect to the staging database on port 5433");
    assert!(!told.contains("reset every night"), "{told}");
    assert!(told.contains("db.example"), "in its place, without a word of the prompt: {told}");
    let asked = json!({ "query": "staging database port" });
    let answer = assembled(&home, &cwd, &asked);
    let markdown = answer["markdown"].as_str().unwrap();
    assert!(markdown.contains("db.example") && !markdown.contains("5433"), "{markdown}");
}

/// @learned_at_prompts
#[test]
fn a_prompt_in_a_script_without_spaces_gets_what_it_is_about() {
    let (home, cwd) = desk();
    let _daemon = home.daemon();
    store(&home, &cwd, "登录测试需要先启动数据库容器", &json!({}));
    let told = prompted(&home, &cwd, "s-1", "怎么启动数据库容器？");
    assert!(told.contains("登录测试需要先启动数据库容器"), "{told}");
    assert_eq!(prompted(&home, &cwd, "s-2", "请更新自述文件的安装说明"), "");
    assert_eq!(prompted(&home, &cwd, "s-3", "请继续"), "");
}

/// @learned_once
/// @learned_at_prompts
#[test]
fn a_session_does_not_get_its_own_memory_before_a_compaction() {
    let (home, cwd) = desk();
    let _daemon = home.daemon();
    let start = json!({ "session_id": "s-1", "cwd": cwd, "source": "startup" });
    event(&home, "SessionStart", &start);
    store(&home, &cwd, PORT, &json!({ "session_id": "s-1" }));
    let ask = "Connect to the staging database please";
    assert_eq!(prompted(&home, &cwd, "s-1", ask), "");
    assert!(prompted(&home, &cwd, "s-2", ask).contains("5433"));
    let compact = json!({ "session_id": "s-1", "cwd": cwd, "source": "compact" });
    event(&home, "SessionStart", &compact);
    assert!(prompted(&home, &cwd, "s-1", ask).contains("5433"));
    home.run(&["config", "set", "learning.hooks", "false"]).ok();
}

/// @learned_warning
#[test]
fn a_warning_keeps_its_status_and_lesson_however_long_its_parts_are() {
    let (home, cwd) = desk();
    let _daemon = home.daemon();
    let long = |start: &str, chars: usize| {
        format!("{start} {}", "and so on ".repeat(200)).chars().take(chars).collect::<String>()
    };
    let started = home.call(
        "start_ghap",
        &json!({ "domain": "testing", "strategy": "trial-and-error", "cwd": cwd, "session_id": "s-1",
            "goal": long("Deploy the zebra service", 1_000), "action": "Deploy it",
            "hypothesis": long("The giraffe gate blocks it", 1_000), "prediction": "It answers requests" }),
    );
    home.call(
        "resolve_ghap",
        &json!({ "status": "falsified", "result": "No answer", "cwd": cwd, "session_id": "s-1",
            "surprise": long("The gate was open", 2_000),
            "root_cause": { "category": "wrong-assumption", "description": long("The port was taken", 2_000) },
            "lesson": { "what_worked": "Another port", "takeaway": long("Check the port first", 2_000) } }),
    );
    // This waits for the index, which a prompt does not.
    for tokens in [100, 300] {
        let asked = json!({ "query": "zebra service", "max_tokens": tokens });
        let answer = assembled(&home, &cwd, &asked);
        let text = answer["markdown"].as_str().unwrap();
        assert!(
            text.contains("(falsified): ") && text.contains("Lesson: Check"),
            "{tokens}: {text}"
        );
        assert_eq!(answer["truncated"], true);
    }
    let told = prompted(&home, &cwd, "s-2", "Deploy the zebra service");
    let path = format!("ghap://{}", started["id"].as_str().unwrap());
    assert!(told.contains(&path), "{told}");
    for part in [
        "**testing** (falsified): Deploy the zebra",
        "this was believed and is wrong: The giraffe gate",
        "True: The port was taken",
        "Lesson: Check the port first",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let premortem = home.call("get_premortem_context", &json!({ "domain": "testing", "cwd": cwd }));
    let text = premortem["markdown"].as_str().unwrap();
    assert!(text.contains("(falsified): ") && text.contains("Lesson: Check"), "{text}");
}

/// @premortem
#[test]
fn a_premortem_has_its_parts_in_order_each_cause_once_and_only_the_asked_strategy() {
    let (home, cwd) = desk();
    let _daemon = home.daemon();
    for (session, surprise, cause) in [
        ("s-1", "The queue was empty", "A trigger locked a third table"),
        ("s-2", "The worker had died", "The pool was too small"),
    ] {
        let new = json!({ "domain": "testing", "strategy": "read-the-error", "goal": "Make the import pass",
            "hypothesis": "The rows are locked", "action": "Look at the locks", "prediction": "A lock is held",
            "cwd": cwd, "session_id": session });
        home.call("start_ghap", &new);
        home.call(
            "resolve_ghap",
            &json!({ "status": "falsified", "result": "No lock", "surprise": surprise, "cwd": cwd,
                "session_id": session, "root_cause": { "category": "wrong-assumption", "description": cause } }),
        );
    }
    let asked = json!({ "domain": "testing", "cwd": cwd });
    let text = home.call("get_premortem_context", &asked)["markdown"].as_str().unwrap().to_owned();
    let headings: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    assert_eq!(
        headings,
        ["Common Failures", "Strategy Performance", "Unexpected Outcomes", "Root Causes to Watch"]
    );
    for once in [
        "wrong-assumption: A trigger locked a third table",
        "wrong-assumption: The pool was too small",
        "The queue was empty",
    ] {
        assert_eq!(text.matches(once).count(), 1, "{once}: {text}");
    }
    let strategies = [
        "systematic-elimination",
        "trial-and-error",
        "research-first",
        "root-cause-analysis",
        "copy-from-similar",
        "check-assumptions",
        "ask-user",
    ];
    for strategy in strategies {
        let new = json!({ "domain": "testing", "strategy": strategy, "goal": "Speed the import up",
            "hypothesis": "The index is missing", "action": "Add it", "prediction": "It is fast now",
            "cwd": cwd, "session_id": "s-3" });
        home.call("start_ghap", &new);
        let end =
            json!({ "status": "confirmed", "result": "It is", "cwd": cwd, "session_id": "s-3" });
        home.call("resolve_ghap", &end);
    }
    let text = home.call("get_premortem_context", &asked)["markdown"].as_str().unwrap().to_owned();
    let failed = "read-the-error: 0 confirmed, 2 falsified, 0 abandoned";
    assert!(text.contains(failed), "{text}");
    assert!(strategies.iter().all(|strategy| text.contains(strategy)), "{text}");
    let other = json!({ "domain": "testing", "strategy": "divide-and-conquer", "cwd": cwd });
    assert_eq!(home.call("get_premortem_context", &other)["item_count"], 0);
}

/// @learned_at_prompts
#[test]
fn a_prompt_without_a_daemon_gets_the_memory_that_it_is_about() {
    let (home, cwd) = desk();
    store(&home, &cwd, PORT, &json!({}));
    let told = prompted(&home, &cwd, "s-1", "Connect to the staging database please");
    assert!(told.contains("port 5433"), "{told}");
    assert_eq!(prompted(&home, &cwd, "s-1", "Connect to the staging database again"), "", "once");
}
