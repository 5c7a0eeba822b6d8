//! Output on a terminal: tables that fit its width, short ids, the day, and the pager.

use serde_json::json;
use testkit::Home;

use super::home;

/// Prompts and commands in two projects, in sessions with ids of UUIDs.
fn furnished() -> Home {
    let home = home();
    for (number, project) in ["web-frontend", "payments"].iter().enumerate() {
        let cwd = home.path(project);
        std::fs::create_dir_all(&cwd).unwrap();
        let session = format!("{number}f3c9a52-7d1e-4c02-9b7a-5e0d2f6a8c1{number}");
        let event = |more: serde_json::Value| {
            let mut event = json!({ "session_id": session, "cwd": cwd });
            event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            event
        };
        for turn in 0..12 {
            let prompt = format!("make the checkout button number {turn} narrower on small phones");
            home.hook("UserPromptSubmit", &event(json!({ "prompt": prompt })));
            let command = format!(
                "pnpm vitest run app/components/checkout/CheckoutButtonNumber{turn}.test.tsx --reporter verbose"
            );
            let call = json!({ "hook_event_name": "PostToolUse", "tool_name": "Bash",
                "tool_input": { "command": command }, "tool_response": { "stdout": "ok" } });
            home.hook("PostToolUse", &event(call));
        }
    }
    home
}

/// The commands that print lists or long explanations.
const LISTINGS: [&[&str]; 15] = [
    &["search", "checkout", "--project", "*", "--limit", "5"],
    &["recent", "--project", "*", "--limit", "5"],
    &["sessions", "--project", "*"],
    &["summaries", "--project", "*"],
    &["trace", "0f3c9a52"],
    &["timeline", "4"],
    &["project", "list"],
    &["stats"],
    &["ops"],
    &["ops", "search"],
    &["ops", "--cost"],
    &["activity-stats", "--project", "*"],
    &["config"],
    &["agents"],
    &["today"],
];

/// @terminal_width
#[test]
fn no_line_of_a_list_is_wider_than_the_terminal() {
    let home = furnished();
    for columns in [80_usize, 40] {
        for args in LISTINGS {
            let run = home.on_terminal(args, u16::try_from(columns).unwrap(), 2_000);
            assert_eq!(run.code, 0, "{args:?}: {run:?}");
            // Command lines and addresses stay whole, so that they can be copied.
            let is_line = |line: &str| line.trim_start().starts_with("rekindle ");
            for line in plain(&run.stdout).lines().filter(|line| !is_line(line)) {
                let fits = line.chars().count() <= columns || !line.trim().contains(' ');
                assert!(fits, "{args:?} at {columns}: {line:?}");
            }
        }
    }
}

/// @terminal_width
#[test]
fn text_without_spaces_is_wrapped_and_paths_stay_whole() {
    let home = furnished();
    let words = "\u{6c34}".repeat(45) + &"x".repeat(60);
    let path = format!("/srv/{}", "deep/".repeat(20));
    for content in [format!("{words} deep"), format!("{path} deep")] {
        home.run(&["memory", "add", &content]).ok();
    }
    for columns in [80_usize, 40] {
        let args = &["memory", "find", "deep", "--project", "*"];
        let run = home.on_terminal(args, u16::try_from(columns).unwrap(), 2_000);
        let shown = plain(&run.stdout);
        assert!(shown.contains(&path), "{shown}");
        for line in shown.lines().filter(|line| !line.contains("/srv/")) {
            let wide = line.chars().map(|c| if c == '\u{6c34}' { 2 } else { 1 }).sum::<usize>();
            assert!(wide <= columns, "{wide} columns: {line:?}");
        }
    }
}

/// @terminal_width
#[test]
fn numbers_on_a_narrow_terminal_have_their_headings() {
    let home = furnished();
    let shown = |args: &[&str]| plain(&home.on_terminal(args, 40, 2_000).stdout);
    let counts = shown(&["activity-stats", "--project", "*"]);
    for part in ["records 48", "failed 0", "injected 0 tokens", "used -"] {
        assert!(counts.contains(part), "{part}: {counts}");
    }
    let agents = shown(&["agents"]);
    assert!(agents.contains("codex  found no  connected no\n  last event "), "{agents}");
}

/// @terminal_width
#[test]
fn a_pipe_gets_whole_lines_whatever_the_terminal() {
    let mut home = furnished();
    home.set("COLUMNS", "40");
    let piped = home.run(&["search", "checkout", "--project", "*", "--limit", "5"]).ok();
    assert!(piped.lines().any(|line| line.chars().count() > 100), "{piped}");
    assert!(piped.starts_with("id "), "{piped}");
    let shown = home.on_terminal(&["recent", "--project", "*", "--limit", "2"], 200, 2_000);
    let widest = plain(&shown.stdout).lines().map(|line| line.chars().count()).max();
    assert!(widest.is_some_and(|widest| widest <= 40), "COLUMNS wins: {shown:?}");
}

/// @short_ids
#[test]
fn tables_show_prefixes_of_session_ids_that_commands_accept() {
    let home = furnished();
    let listed = home.run(&["sessions", "--project", "*"]).ok();
    let ids: Vec<&str> = listed.lines().skip(1).filter_map(|row| row.split(' ').next()).collect();
    assert_eq!(ids, ["1f3c9a52", "0f3c9a52"], "{listed}");
    let traced = home.run(&["trace", ids[0]]).ok();
    assert!(traced.starts_with("1f3c9a52-7d1e-4c02-9b7a-5e0d2f6a8c11 in payments"), "{traced}");
}

/// @search_columns
#[test]
fn columns_of_a_search_are_selected_by_name() {
    let home = furnished();
    let search = |columns: &str| {
        home.run(&["search", "narrower", "--project", "*", "--limit", "1", "--columns", columns])
    };
    let shown = search("session,type,text").ok();
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines[0].split_whitespace().collect::<Vec<_>>(), ["session", "type", "text"]);
    let row: Vec<&str> = lines[1].split_whitespace().collect();
    assert!(row[0].ends_with("f3c9a52") && row[1] == "user_prompt", "{shown}");
    let wrong = search("sesion");
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("Did you mean session?"), "{wrong:?}");
}

/// @search_columns
#[test]
fn with_selected_columns_stdout_has_the_table_alone() {
    let home = furnished();
    // Merely similar hits, and hits that have only parts of the name that was typed.
    for query in ["shrink the payment widget", "check-out"] {
        let search = |flags: &[&str]| {
            let run = home.run(&[&["search", query, "--project", "*"][..], flags].concat());
            assert_eq!(run.code, 0, "{query}: {run:?}");
            run
        };
        let whole = search(&[]);
        let outside: Vec<&str> =
            whole.stdout.lines().filter(|line| line.contains("these")).collect();
        assert_eq!(outside.len(), 1, "{query}: {whole:?}");
        let ids = search(&["--columns", "id"]);
        let mut rows = ids.stdout.lines();
        assert_eq!(rows.next(), Some("id"), "{query}: {ids:?}");
        assert!(rows.all(|row| row.starts_with('#')), "{query}: {ids:?}");
        assert!(ids.stderr.contains(outside[0]), "{query}: {ids:?}");
    }
}

/// @boolean_flags
#[test]
fn a_boolean_flag_takes_a_following_true_or_false() {
    let home = home();
    for turn in 0..3 {
        let prompt = json!({ "session_id": "s-1", "cwd": home.path("shop"), "prompt": "the flamingo import" });
        home.hook("UserPromptSubmit", &prompt);
        home.run(&["mark", &format!("decision {turn}")]).ok();
    }
    let rows = |flags: &[&str]| {
        let found =
            home.run(&[&["search", "flamingo import", "--project", "*"][..], flags].concat());
        (found.stderr.clone(), found.ok().lines().count() - 1)
    };
    let (said, listed) = rows(&["--diverse", "false"]);
    assert_eq!((listed, rows(&["--diverse=false"]).1), (3, 3), "{said}");
    assert!(said.starts_with("3 results for \"flamingo import\""), "{said}");
    assert_eq!(rows(&["--diverse", "true"]).1, 1);
    assert_eq!(rows(&["--diverse"]).1, 1);
    let words = home.run(&["search", "--diverse", "--project", "*", "--", "false"]);
    assert!(words.stdout.contains("Nothing matches \"false\""), "{words:?}");
}

/// @port_flag
#[test]
fn the_port_is_a_flag_of_commands_that_can_start_a_daemon_alone() {
    let home = home();
    let has_port =
        |args: &[&str]| home.run(&[args, &["--help"]].concat()).ok().contains("-p, --port <PORT>");
    for args in [&["serve"][..], &["up"], &["hint", "get"]] {
        assert!(has_port(args), "{args:?}");
    }
    for args in [&["recent"][..], &["search"], &["stop"], &["sessions", "show"]] {
        assert!(!has_port(args), "{args:?}");
        let refused = home.run(&[args, &["-p", "5"]].concat());
        assert_eq!(refused.code, 2, "{args:?}: {refused:?}");
        assert!(refused.stderr.contains("unexpected argument '-p'"), "{args:?}: {refused:?}");
    }
}

/// @pages_of_lists
#[test]
fn the_hint_below_a_full_list_shows_the_older_ones() {
    let home = home();
    for (number, session) in ["s-1", "s-2", "s-3"].iter().enumerate() {
        for name in ["UserPromptSubmit", "Stop"] {
            let at = 1_767_261_600_000_i64 + i64::try_from(number).unwrap() * 60_000;
            let payload = json!({ "session_id": session, "cwd": home.path("shop"),
                "prompt": format!("zebra of {session}"), "last_assistant_message": "done" });
            home.call("hook", &json!({ "event": name, "at": at, "payload": payload }));
        }
    }
    for list in ["recent", "summaries"] {
        let mut seen = Vec::new();
        let mut before: Vec<String> = Vec::new();
        for _ in 0..9 {
            let args = [list, "--project", "*", "--limit", "2"].map(str::to_owned);
            let args: Vec<String> = args.into_iter().chain(before).collect();
            let page = home.run(&args.iter().map(String::as_str).collect::<Vec<_>>());
            seen.push(page.stdout);
            let Some((_, hint)) = page.stderr.split_once("--before ") else { break };
            before = vec!["--before".to_owned(), hint.split(' ').next().unwrap().to_owned()];
        }
        let seen = seen.concat();
        for session in ["s-1", "s-2", "s-3"] {
            assert!(seen.contains(&format!("zebra of {session}")), "{list}: {seen}");
        }
    }
}

/// @pages_of_lists
#[test]
fn a_list_that_was_cut_says_so() {
    let home = home();
    for number in 0..3_i64 {
        let payload = json!({ "session_id": format!("s-{number}"), "cwd": home.path("shop"),
            "hook_event_name": "PostToolUse", "tool_name": "Edit",
            "tool_input": { "file_path": home.path("shop").join("cart.md"), "old_string": "a",
                "new_string": format!("round the cart's total {number}") }, "tool_response": {} });
        let at = 1_767_261_600_000_i64 + number * 60_000;
        home.call("hook", &json!({ "event": "PostToolUse", "at": at, "payload": payload }));
        let key = format!("key{number}");
        home.call("set_hint", &json!({ "component": "shop", "key": key, "value": "make" }));
    }
    let list = |args: &[&str]| home.run(&[args, &["--limit", "2"]].concat());
    let history = ["history", "cart.md", "--project", "*"];
    let page = list(&history);
    assert!(page.stderr.starts_with("2 records; --before 2026-01-01T10:01:01Z"), "{page:?}");
    let json = home.run(&[&history[..], &["--limit", "2", "--json"]].concat()).json();
    let next = json["next"].as_i64().unwrap_or_else(|| panic!("{json}")).to_string();
    let older = list(&[&history[..], &["--before", &next]].concat());
    assert!(older.stdout.contains("total 0"), "{older:?}");
    let whole = home.run(&history);
    assert_eq!(whole.stderr, "3 records\n");
    let similar = list(&["similar", "round the cart's total", "--project", "*"]);
    assert_eq!(similar.stderr, "2 records; a larger --limit shows more\n");
    let hints = list(&["hint", "query", "--component", "shop"]);
    assert!(hints.stdout.starts_with("Found 3 hints, the best 2:\n"), "{hints:?}");
    assert!(hints.stderr.ends_with("2 hints; a larger --limit shows 1 more\n"), "{hints:?}");
}

/// @today
#[test]
fn the_bare_name_shows_the_day_on_a_terminal_and_help_elsewhere() {
    let home = furnished();
    let day = home.on_terminal(&[], 80, 2_000);
    assert_eq!(day.code, 0, "{day:?}");
    let text = plain(&day.stdout);
    assert!(text.starts_with("Today: 2 sessions\n"), "{text}");
    for part in ["web-frontend", "payments", "make the checkout button number 11", "12 actions"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains("\nHealth: no daemon runs"), "{text}");
    assert!(text.contains("`rekindle --help`"), "{text}");
    let piped = home.run(&[]);
    assert_eq!((piped.code, piped.stdout.as_str()), (2, ""));
    assert!(piped.stderr.starts_with("Local memory and context"), "{piped:?}");
    let json = home.run(&["today", "--json"]).json();
    assert_eq!(json["sessions"].as_array().unwrap().len(), 2, "{json}");
}

/// @today
#[test]
fn open_work_is_shown_however_many_projects_were_active_later() {
    let home = home();
    let event = |project: &str, more: serde_json::Value| {
        let cwd = home.path(project);
        std::fs::create_dir_all(&cwd).unwrap();
        let mut event = json!({ "session_id": format!("session-of-{project}"), "cwd": cwd });
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let name = event["hook_event_name"].as_str().unwrap().to_owned();
        home.hook(&name, &event);
    };
    let prompt = |project: &str| {
        let prompt = "rename the columns of the export to snake case";
        event(project, json!({ "hook_event_name": "UserPromptSubmit", "prompt": prompt }));
        let answer = "The columns of the export are in snake case now.";
        event(project, json!({ "hook_event_name": "Stop", "last_assistant_message": answer }));
        event(project, json!({ "hook_event_name": "SessionEnd" }));
    };
    let break_tests = |project: &str| {
        let command = "cargo test 2>&1 | tail -20";
        event(
            project,
            json!({ "hook_event_name": "PostToolUse", "tool_name": "Bash",
            "tool_input": { "command": command },
            "tool_response": { "stdout": format!("test {project} ... FAILED\n\ntest result: FAILED. 3 passed; 1 failed") } }),
        );
        prompt(project);
    };
    ["red0", "red1", "red2", "red3", "red4", "red5", "red6"].into_iter().for_each(break_tests);
    ["quiet0", "quiet1", "quiet2", "quiet3", "quiet4", "quiet5"].into_iter().for_each(prompt);
    let day = plain(&home.on_terminal(&[], 200, 2_000).stdout);
    let open = day.split("\nOpen\n").nth(1).unwrap_or_else(|| panic!("nothing is open: {day}"));
    for number in 2..=6 {
        assert!(open.contains(&format!("test red{number} ... FAILED")), "{number}: {day}");
    }
    assert!(!open.contains("red1 "), "{day}");
    assert!(open.contains("2 more projects have open work"), "{day}");
}

/// @today
#[test]
fn the_day_is_shown_with_global_flags_and_names_the_sessions_that_it_lists() {
    let home = home();
    home.run(&["mark", "a decision outside of a session"]).ok();
    let day = plain(&home.on_terminal(&["--no-pager"], 80, 2_000).stdout);
    assert!(day.starts_with("No session is recorded yet.\n\nHealth:"), "{day}");
    assert!(!day.contains("SESSION") && !day.contains("when"), "{day}");
    let home = furnished();
    let database = home.locations().database;
    let database = database.to_str().unwrap();
    for flags in [&["--no-pager"][..], &["--db", database], &["--json", "--no-pager"]] {
        let day = home.on_terminal(flags, 80, 2_000);
        assert_eq!(day.code, 0, "{flags:?}: {day:?}");
        assert!(day.stdout.contains("0f3c9a52"), "{flags:?}: {day:?}");
    }
    assert_eq!(home.on_terminal(&["--no-pager", "trace"], 80, 2_000).code, 2);
}

/// @today
#[test]
fn the_day_of_a_new_user_has_the_first_steps_and_creates_nothing() {
    let home = home();
    let day = home.on_terminal(&[], 80, 2_000);
    assert_eq!(day.code, 0, "{day:?}");
    assert!(day.stdout.starts_with("Nothing is recorded yet."), "{day:?}");
    assert!(day.stdout.contains("`rekindle install` connects your agents"), "{day:?}");
    assert!(!home.locations().database.exists());
}

/// @pager
#[test]
fn output_longer_than_the_screen_goes_through_the_pager() {
    let mut home = furnished();
    home.set("PAGER", "sed s/^/paged:/");
    let recent = ["recent", "--project", "*", "--limit", "30", "--columns", "id,type,text"];
    let paged = home.on_terminal(&recent, 80, 10);
    assert!(paged.stdout.lines().all(|line| line.starts_with("paged:")), "{paged:?}");
    let (before, after) = paged.stderr.split_once(" --before 20").unwrap();
    assert!(before == "30 records;" && after.ends_with("Z shows older ones\n"), "{paged:?}");
    let is_direct = |run: testkit::Run| {
        assert_eq!(run.code, 0, "{run:?}");
        assert!(!run.stdout.contains("paged:"), "{run:?}");
        run.stdout
    };
    is_direct(home.on_terminal(&recent, 80, 500));
    is_direct(home.on_terminal(&[&recent[..], &["--json"]].concat(), 80, 10));
    is_direct(home.run(&recent));
    let whole = is_direct(home.on_terminal(&[&recent[..], &["--no-pager"]].concat(), 80, 10));
    for pager in ["/does/not/exist", "false", "cat", ""] {
        home.set("PAGER", pager);
        assert_eq!(is_direct(home.on_terminal(&recent, 80, 10)), whole, "{pager:?}");
    }
    // A user who leaves early has seen enough.
    home.set("PAGER", "head -n 1");
    let left = home.on_terminal(&recent, 80, 10);
    assert_eq!((left.code, left.stdout.lines().count()), (0, 1), "{left:?}");
}

/// The text without styles.
fn plain(text: &str) -> String {
    let mut styled = text.split("\u{1b}[");
    let first = styled.next().unwrap_or_default().to_owned();
    styled.fold(first, |text, part| text + part.split_once('m').map_or(part, |(_, rest)| rest))
}
