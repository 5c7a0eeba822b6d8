//! How records are shown and queried: dates, times in words, recent records, short replies for models, errors in the
//! terms of each surface, and hints that a user stores.

use serde_json::{Value, json};
use testkit::Home;

use super::{home, shell::TestShell};

/// Sends an event that happened this many seconds ago.
fn event(home: &Home, name: &str, ago: u64, members: Value) {
    let at = u64::try_from(client::clock::now_ms()).unwrap() - ago * 1000;
    let mut payload = json!({ "session_id": "s-1", "cwd": "/srv/app" });
    payload.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    home.call("hook", &json!({ "event": name, "at": at, "payload": payload }));
}

fn ran(line: &str) -> Value {
    json!({ "tool_name": "Bash", "tool_input": { "command": line }, "tool_response": { "stdout": "" } })
}

const DAY: u64 = 86_400;

/// A home with a prompt of three days ago, a command of yesterday at this time and one of now.
fn weekly() -> Home {
    let home = home();
    event(&home, "SessionStart", 3 * DAY + 60, json!({ "source": "startup" }));
    event(&home, "UserPromptSubmit", 3 * DAY, json!({ "prompt": "tame the zebrafish" }));
    event(&home, "PostToolUse", DAY, ran("make zebrafish-tank"));
    event(&home, "PostToolUse", 0, ran("make zebrafish-food"));
    home
}

/// @shown_dates
#[test]
fn ages_have_a_local_date_beside_them() {
    let mut home = home();
    // 2026-01-31T23:30:00Z is February in the first of these zones.
    let payload = json!({ "session_id": "s-1", "cwd": "/srv/app", "prompt": "tame the zebrafish" });
    let sent =
        json!({ "event": "UserPromptSubmit", "at": 1_769_902_200_000_u64, "payload": payload });
    home.call("hook", &sent);
    for (zone, date) in [
        ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-02-01 00:30"),
        ("EST5EDT,M3.2.0,M11.1.0", "2026-01-31 18:30"),
        ("UTC0", "2026-01-31 23:30"),
    ] {
        home.set("TZ", zone);
        for line in [
            &["search", "zebrafish", "--project", "*"][..],
            &["recent", "--project", "*"],
            &["show", "2"],
            &["sessions", "--project", "*"],
            &["trace", "s-1"],
            &["project", "list"],
            &["stats"],
        ] {
            let shown = home.run(line).ok();
            assert!(shown.contains(date), "{zone} {line:?}: {shown}");
        }
    }
}

/// @moments_in_words
#[test]
fn after_and_before_understand_days_and_ages_in_words() {
    let mut home = weekly();
    home.set("TZ", "UTC0");
    let found = |flags: &[&str]| {
        let line = [&["search", "zebrafish", "--project", "*", "--ids"], flags].concat();
        home.run(&line).ok().lines().count()
    };
    assert_eq!(found(&[]), 3);
    for (flags, count) in [
        (&["--after", "2d"][..], 2),
        (&["--after", "yesterday"], 2),
        (&["--before", "today"], 2),
        (&["--after", "25 hours ago", "--before", "an hour ago"], 1),
        (&["--before", "2 days ago"], 1),
        (&["--after", "last week"], 3),
        (&["--after", "last month"], 3),
        (&["--before", "last month"], 0),
        (&["--before", "1w"], 0),
    ] {
        assert_eq!(found(flags), count, "{flags:?}");
    }
    // Ages are rounded down: half a day more is still shown as the same age.
    event(&home, "PostToolUse", 3 * DAY + DAY / 2, ran("make zebrafish-pond"));
    let shown = home.run(&["search", "zebrafish", "--project", "*"]).ok();
    assert_eq!(shown.matches("  3d ago  ").count(), 2, "{shown}");
    assert_eq!(found(&["--after", "3d"]), 4);
    assert_eq!(found(&["--after", "3 days ago", "--before", "2d"]), 2);
    let wrong = home.run(&["search", "zebrafish", "--after", "soon"]);
    assert_eq!(wrong.code, 1);
    let told = wrong.stderr.lines().next().unwrap();
    assert!(told.starts_with("error: --after: ") && told.contains("`last week`"), "{wrong:?}");
}

/// @read_recent_records
#[test]
fn recent_is_newest_first_and_without_marks_of_sessions() {
    let home = weekly();
    let shown = home.run(&["recent", "--project", "*"]).ok();
    let texts: Vec<&str> =
        shown.lines().skip(1).map(|line| line.split("  ").last().unwrap().trim()).collect();
    assert_eq!(texts, ["make zebrafish-food", "make zebrafish-tank", "tame the zebrafish"]);
    assert!(!shown.contains("session_start"), "{shown}");
    let mut agent = home.serve();
    agent.initialize("2025-11-25");
    let scored = agent.call("recent_context", &json!({ "project": "*" })).unwrap();
    assert!(scored["results"][0]["score"].is_number(), "the tool keeps its scores: {scored}");
}

/// @read_whole
#[test]
fn show_and_full_print_the_whole_error() {
    let home = home();
    let error = format!("first line\n{}\nlast line of the error", "x".repeat(900));
    event(
        &home,
        "PostToolUseFailure",
        0,
        json!({ "tool_name": "Bash", "tool_input": { "command": "make numbat" }, "error": error }),
    );
    for line in [&["show", "2"][..], &["search", "numbat", "--full", "--project", "*"]] {
        let shown = home.run(line).ok();
        for part in ["    first line\n", &"x".repeat(900), "    last line of the error"] {
            assert!(shown.contains(part), "{line:?} lacks {part}: {shown}");
        }
    }
}

/// @search_empty_reason
#[test]
fn an_empty_answer_names_the_flag_that_is_the_reason() {
    let home = weekly();
    let line = ["search", "zebrafish", "--project", "*", "--type", "git_push"];
    let shown = home.run(&line).ok();
    let expected =
        "Nothing matches \"zebrafish\" with --type git_push. Without it there are hits.\n";
    assert_eq!(shown, expected);
    let nothing = home.run(&["search", "numbat", "--project", "*", "--type", "git_push"]).ok();
    assert_eq!(nothing, "Nothing matches \"numbat\".\n");
}

/// @nmem_search
#[test]
fn nmem_shows_the_first_characters_as_its_specification_says() {
    let shell = TestShell::new("web");
    let prompt = format!("{} the pin is in the haystack", "hay ".repeat(100));
    let said = json!({ "session_id": "s-1", "cwd": shell.folder, "prompt": prompt });
    shell.home.hook("UserPromptSubmit", &said);
    let found = shell.json("nmem search haystack");
    assert_eq!(found[0]["content_preview"], "hay ".repeat(30));
    let shown = shell.sh("\"$(command -v nmem | xargs readlink -f)\" search haystack").ok();
    assert!(shown.contains("…") && shown.contains("the pin is in the haystack"), "{shown}");
}

/// Characters of a hit beyond its text, as JSON.
fn overhead(hit: &Value) -> usize {
    let text = hit["content_preview"].as_str().map_or(0, |text| text.chars().count());
    hit.to_string().chars().count() - text
}

/// @mcp_brief
#[test]
fn a_hit_costs_a_model_little_beyond_its_text() {
    let home = weekly();
    let session = "0199f0e2-7c1c-7cc0-a5a5-2f1de2f7c0de";
    for number in 0..5 {
        let read = json!({ "session_id": session, "tool_name": "Read", "tool_response": "",
            "tool_input": { "file_path": format!("/srv/app/src/zebrafish{number}.rs") } });
        event(&home, "PostToolUse", 60, read);
    }
    // The passage that matches does not name the file.
    let edit = json!({ "session_id": session, "tool_name": "Edit", "tool_response": {},
        "tool_input": { "file_path": "/srv/app/src/very/deeply/nested/in/directories/tank.rs", "old_string": "x",
            "new_string": format!("{}let zebrafish = 1;", "let other = 0; ".repeat(8)) } });
    event(&home, "PostToolUse", 60, edit);
    let mut agent = home.serve();
    agent.initialize("2025-11-25");
    let params = json!({ "query": "zebrafish", "project": "*", "diverse": false });
    let found = agent.call("search", &params).unwrap();
    let hits = found["results"].as_array().unwrap();
    assert_eq!(hits.len(), 9, "{found}");
    let edit = hits.iter().find(|hit| hit["obs_type"] == "file_edit").unwrap();
    assert!(edit["content_preview"].as_str().unwrap().contains("tank.rs"), "{edit}");
    for hit in hits {
        assert!(overhead(hit) <= 120, "{} characters: {hit}", overhead(hit));
        assert!(hit["timestamp"].as_str().unwrap().ends_with('Z'), "{hit}");
    }
    assert!(!found.to_string().contains("null"), "{found}");
    let texts: usize = hits.iter().map(|hit| hit.to_string().len() - overhead(hit)).sum();
    let beyond = (found.to_string().len() - texts) / hits.len();
    assert!(beyond <= 120, "{beyond} characters for each hit in the whole answer: {found}");
    let mut explained = params.clone();
    explained["explain"] = json!(true);
    let explained = agent.call("search", &explained).unwrap();
    let first = &explained["results"][0];
    assert!(first["match_explain"]["parts"]["lexical"].is_number(), "{first}");
    assert!(first["session_id"].is_string(), "{first}");
    // Programs get everything, as before.
    let whole = home.call("search", &params);
    assert!(whole["results"][0]["timestamp"].is_i64(), "{whole}");
}

/// @mcp_brief
#[test]
fn a_long_name_of_a_project_is_stated_once_for_all_its_hits() {
    let home = home();
    let long = "customer-facing-billing-dashboards";
    for (number, project) in [long, "app", long, long, "app"].into_iter().enumerate() {
        let ran = json!({ "session_id": project, "cwd": format!("/srv/{project}"),
            "tool_name": "Bash", "tool_response": "",
            "tool_input": { "command": format!("make zebrafish-{number}") } });
        event(&home, "PostToolUse", 60, ran);
    }
    let mut agent = home.serve();
    agent.initialize("2025-11-25");
    let found = agent.call("search", &json!({ "query": "zebrafish", "project": "*" })).unwrap();
    let hits = found["results"].as_array().unwrap();
    let texts: usize = hits.iter().map(|hit| hit.to_string().len() - overhead(hit)).sum();
    let beyond = (found.to_string().len() - texts) / hits.len();
    assert!(beyond <= 120, "{beyond} characters for each hit in the whole answer: {found}");
    assert_eq!(found.to_string().matches(long).count(), 1, "{found}");
    let whole = home.call("search", &json!({ "query": "zebrafish", "project": "*" }));
    for hit in whole["results"].as_array().unwrap() {
        let ids = &found["by_project"][hit["project"].as_str().unwrap()];
        assert!(ids.as_array().unwrap().contains(&hit["id"]), "{hit} in {found}");
    }
    assert_eq!(hits.len(), 5, "{found}");
}

/// @mcp_recent_budget
#[test]
fn recent_records_cost_a_model_no_more_than_a_briefing() {
    let home = home();
    for number in 0..60 {
        let said = format!("The zebrafish tank {number} leaks. {}", "It is wet. ".repeat(200));
        event(&home, "UserPromptSubmit", 100, json!({ "prompt": said }));
        let error = format!("Exit code 1\n{}", "no water ".repeat(100));
        let failed = json!({ "tool_name": "Bash", "error": error,
            "tool_input": { "command": format!("make tank-{number}") } });
        event(&home, "PostToolUseFailure", 50, failed);
    }
    let mut agent = home.serve();
    agent.initialize("2025-11-25");
    let mut recent = |params: Value| {
        let told = agent.call("recent_context", &params).unwrap();
        let records = told["results"].as_array().unwrap().clone();
        let left_out = told["left_out"].as_u64().unwrap_or_default() as usize;
        (told.to_string().chars().count() / 4, records, left_out)
    };
    let (tokens, records, left_out) = recent(json!({ "project": "*" }));
    assert!(tokens <= 820, "{tokens} tokens: {records:?}");
    assert!(records.len() >= 10 && records.len() + left_out == 30, "{left_out}: {records:?}");
    assert!(records[0]["score"].is_number() && records[0]["project"] == "app", "{}", records[0]);
    assert!(records[0]["content"].as_str().unwrap().ends_with(" [failed]"), "{}", records[0]);
    let (tokens, records, left_out) = recent(json!({ "project": "*", "limit": 100 }));
    assert!((821..=2_420).contains(&tokens), "{tokens} tokens");
    assert_eq!(records.len() + left_out, 60, "every failed command");
    // Programs get everything.
    let whole = home.call("recent_context", &json!({ "project": "*" }));
    assert_eq!(whole["results"].as_array().unwrap().len(), 30);
    assert!(whole["results"][0]["metadata"]["error"].is_string(), "{whole}");
}

/// @mcp_brief
#[test]
fn a_model_gets_each_prompt_once_however_often_a_file_was_touched() {
    let home = home();
    event(&home, "UserPromptSubmit", 100, json!({ "prompt": "rename the zebrafish everywhere" }));
    for ago in [90, 80, 70] {
        let edit = json!({ "tool_name": "Edit", "tool_response": "", "tool_input": {
            "file_path": "/srv/app/a.rs", "old_string": "x", "new_string": format!("y{ago}") } });
        event(&home, "PostToolUse", ago, edit);
    }
    let mut agent = home.serve();
    agent.initialize("2025-11-25");
    let params = json!({ "file_path": "/srv/app/a.rs", "project": "*" });
    let told = agent.call("file_history", &params).unwrap();
    let touches = told["sessions"][0]["touches"].as_array().unwrap();
    assert_eq!(touches.len(), 3, "{told}");
    assert_eq!(told.to_string().matches("rename the zebrafish everywhere").count(), 1, "{told}");
    assert_eq!(touches[0]["prompt_content"], "rename the zebrafish everywhere");
    assert_eq!(touches[1].get("prompt_content"), None);
    let whole = home.call("file_history", &params);
    assert!(whole["sessions"][0]["touches"][2]["prompt_content"].is_string(), "{whole}");
}

/// @cost_of_toolsets
#[test]
fn the_core_tools_cost_an_agent_at_most_2500_tokens_and_mark_is_one_of_them() {
    let home = home();
    let cost = home.run(&["ops", "--cost", "--json"]).json();
    let core = cost["toolsets"].as_array().unwrap().iter().find(|set| set["name"] == "core");
    let tokens = core.unwrap()["tokens"].as_u64().unwrap();
    assert!(tokens <= 2_500, "{tokens}");
    let described = home.run(&["ops", "mark", "--json"]).json();
    assert_eq!(described["core"], true);
}

/// @errors_in_the_words_of_the_surface
#[test]
fn errors_name_tools_to_models_and_commands_to_people() {
    let home = home();
    let mut agent = home.serve();
    agent.initialize("2025-11-25");
    for (tool, params, hint) in [
        (
            "session_trace",
            json!({ "session_id": "none" }),
            "`list_sessions` with project `*` lists the sessions; `get_observations` names the session of a record",
        ),
        ("timeline", json!({ "anchor": 99 }), "`search` gives the ids"),
        ("search", json!({ "query": "x", "typo": 1 }), "The input schema of `search`"),
        ("get_hint", json!({ "component": "a", "key": "b" }), "`set_hint` stores one"),
    ] {
        let error = agent.call(tool, &params).unwrap_err();
        let told = error["data"]["hint"].as_str().unwrap_or_default();
        assert!(told.contains(hint) && !told.contains("rekindle"), "{tool}: {error}");
    }
    for (line, hint) in [
        (
            &["trace", "none"][..],
            "`rekindle sessions --project '*'` lists the sessions; `rekindle show` names the session of a record",
        ),
        (&["timeline", "99"], "`rekindle search` gives the ids"),
        (&["purge"], "for example `--session-id` or `--older-than`; `rekindle purge --help`"),
    ] {
        let run = home.run(line);
        let told = run.stderr.lines().find_map(|line| line.strip_prefix("hint: "));
        assert!(told.is_some_and(|told| told.contains(hint)), "{line:?}: {run:?}");
    }
}

/// @hints_typed_for_good
#[test]
fn a_hint_set_on_the_command_line_is_permanent_by_default() {
    let mut shell = TestShell::new("web");
    let ttl = |shell: &TestShell, key: &str| {
        let hint = shell.home.call("get_hint", &json!({ "component": "web", "key": key }));
        hint["hint"]["meta"]["ttl"].as_str().unwrap_or("session").to_owned()
    };
    let _daemon = shell.home.daemon();
    let set = |shell: &TestShell, line: &[&str]| {
        shell.home.run(&[&["hint", "set", "web"], line].concat()).ok()
    };
    assert!(set(&shell, &["build", "make"]).ends_with("\n  kept for good\n"));
    assert_eq!(ttl(&shell, "build"), "forever");
    assert!(set(&shell, &["port", "8080", "--priority", "7"]).ends_with("\n  kept for good\n"));
    let said = set(&shell, &["a", "b", "--ttl", "PT2H"]);
    assert!(said.ends_with("\n  kept for 2 hours\n"), "{said}");
    let said = set(&shell, &["c", "d", "--ttl", "session"]);
    assert!(said.contains("\n  kept until the daemon stops; "), "{said}");
    // Tools, programs and the name of the specification keep its default, and its form.
    shell.home.call("set_hint", &json!({ "component": "web", "key": "tool", "value": "x" }));
    assert_eq!(ttl(&shell, "tool"), "session");
    let said = shell.sh("nudge set web nudged make").ok();
    assert_eq!(said, "✔ upserted hint web/nudged (v1)\n  score base: ttl=session\n");
    drop(_daemon);
    shell.home.set("REKINDLE_DEFAULT_TTL", "P1D");
    assert!(set(&shell, &["set", "x"]).ends_with("\n  kept for 1 day\n"));
}

/// @hints_heading
#[test]
fn a_heading_says_whether_a_hint_is_about_the_command_or_the_project() {
    let home = home();
    let _daemon = home.daemon();
    for (component, value) in [("make", "use -j4"), ("aquarium", "the tank is in /srv/tank")] {
        home.call("set_hint", &json!({ "component": component, "key": "note", "value": value }));
    }
    let cwd = home.path("work/aquarium");
    std::fs::create_dir_all(&cwd).unwrap();
    let before = json!({ "session_id": "s-1", "cwd": cwd, "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": { "command": "make all if a<b" } });
    home.hook("UserPromptSubmit", &json!({ "session_id": "s-1", "cwd": cwd, "prompt": "go" }));
    let run = home.run_with(&["hook", "PreToolUse"], before.to_string().as_bytes());
    let text = run.json()["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned();
    assert_eq!(
        text,
        "## Hints for this command\n- make/note: use -j4\n\
         ## Hints for this project\n- aquarium/note: the tank is in /srv/tank"
    );
}

/// @cli_lean
#[test]
fn a_line_has_the_same_result_whichever_part_of_the_commands_was_built() {
    let home = weekly();
    let version = home.run(&["--version"]).ok();
    assert_eq!(version, format!("rekindle {}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(home.run(&["-V"]).ok(), version);
    // A value that is also the name of a command, an alias, a flag before the command, help for a command.
    assert_eq!(home.run(&["search", "hint", "set", "--project", "*", "--ids"]).code, 0);
    assert_eq!(home.run(&["--json", "hint", "ls"]).code, 0);
    assert!(home.run(&["help", "search"]).ok().contains("Examples:"));
    assert!(home.run(&["search", "--help"]).ok().contains("Examples:"));
    let near = home.run(&["serch", "zebrafish"]);
    assert!(near.code == 2 && near.stderr.contains("search"), "{near:?}");
    let both = home.run(&["search", "zebrafish", "--typ", "command"]);
    assert!(both.code == 2 && both.stderr.contains("--type"), "{both:?}");
}

fn git(dir: &std::path::Path, args: &[&str]) {
    let mut command = std::process::Command::new("git");
    command.args(["-c", "user.name=t", "-c", "user.email=t@example.org"]).args(args);
    let done = command.current_dir(dir).env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap();
    assert!(done.status.success(), "{args:?}: {done:?}");
}

/// @obs_checkout
#[test]
fn a_record_shows_the_branch_and_the_work_tree() {
    let home = home();
    let (main, tree) = (home.path("shop"), home.path("shop-hotfix"));
    std::fs::create_dir_all(&main).unwrap();
    git(&main, &["init", "-q", "-b", "trunk"]);
    git(&main, &["commit", "-q", "--allow-empty", "-m", "first"]);
    git(&main, &["worktree", "add", "-q", "-b", "hotfix/till", tree.to_str().unwrap()]);
    // With a daemon it is stored at once, without one it waits in the spool.
    for (daemon, suffix) in [(true, "live"), (false, "spooled")] {
        let _daemon = daemon.then(|| home.daemon());
        for (dir, name) in [(&main, "main"), (&tree, "tree")] {
            let mut event = ran(&format!("make {name}-{suffix}"));
            event["session_id"] = json!(format!("s-{name}"));
            event["cwd"] = json!(dir);
            home.hook("PostToolUse", &event);
        }
    }
    for suffix in ["live", "spooled"] {
        let shown = |name: &str| {
            let query = format!("{name}-{suffix}");
            home.run(&["search", &query, "--full", "--project", "*"]).ok()
        };
        let of_main = shown("main");
        assert!(of_main.contains("\n  branch: trunk\n"), "{of_main}");
        assert!(!of_main.contains("worktree"), "{of_main}");
        let of_tree = shown("tree");
        let worktree = format!("\n  worktree: {}\n", tree.display());
        assert!(of_tree.contains("\n  branch: hotfix/till\n"), "{of_tree}");
        assert!(of_tree.contains(worktree.trim_end()), "{of_tree}");
    }
}
