//! Search on the command line, and the memory under the name `nmem`: the command lines of its specification and their
//! output.

use serde_json::{Value, json};
use testkit::home::finish;
use testkit::{Mcp, Run};

use super::shell::TestShell;

/// A shell in the directory `web`, with a session of five records there and one of one record in `api`.
fn shell() -> TestShell {
    let shell = TestShell::new("web");
    let say = |folder: &str, mut event: Value| {
        event["session_id"] = json!(format!("s-{folder}"));
        event["cwd"] = json!(shell.home.path("work").join(folder));
        shell.sh_with("nmem record", event.to_string().as_bytes()).ok();
    };
    let run = |line: &str| {
        json!({ "hook_event_name": "PostToolUse", "tool_name": "Bash",
            "tool_input": { "command": line }, "tool_response": { "stdout": "" } })
    };
    let edit = json!({ "hook_event_name": "PostToolUse", "tool_name": "Edit", "tool_input": {
        "file_path": shell.folder.join("auth.rs"), "new_string": "login_ttl()" } });
    std::fs::create_dir_all(shell.home.path("work/api")).unwrap();
    say("web", json!({ "hook_event_name": "UserPromptSubmit", "prompt": "Fix the login bug" }));
    say("web", edit);
    for line in ["cargo test login", "make login", "docker compose up login"] {
        say("web", run(line));
    }
    say("api", run("curl http://localhost/login"));
    shell
}

/// Runs the program by its own name, in that directory.
fn rekindle(shell: &TestShell, args: &[&str]) -> Run {
    let mut command = shell.home.command(args);
    command.current_dir(&shell.folder);
    finish(command, b"")
}

/// One member of every item of a list.
fn each(list: &Value, member: &str) -> Vec<Value> {
    list.as_array().unwrap().iter().map(|item| item[member].clone()).collect()
}

/// The names of an object's members, in order.
fn members(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

/// @search_line
#[test]
fn a_search_joins_its_words_and_says_how_many_it_found() {
    let shell = shell();
    let joined = rekindle(&shell, &["search", "docker", "--project", "*", "compose"]);
    assert!(joined.stderr.ends_with(" results for \"docker compose\"\n"), "{joined:?}");
    assert_eq!(joined.code, 0);
    let quoted = rekindle(&shell, &["search", "docker compose", "--project", "*"]);
    // The ages in the second column may differ by a second between the calls.
    let texts = |run: &Run| {
        run.stdout.split_whitespace().rev().take(3).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!((texts(&joined), &joined.stderr), (texts(&quoted), &quoted.stderr));
    // One word lists every record that has it, even several of one session.
    let here = rekindle(&shell, &["search", "login"]);
    assert_eq!((here.code, here.stderr.as_str()), (0, "5 results for \"login\"\n"));
    let nothing = rekindle(&shell, &["search", "\u{1b}[2J\"numbat\""]);
    assert_eq!(nothing.stderr, "0 results for \"␛[2J\\\"numbat\\\"\"\n");
    assert!(nothing.stdout.starts_with("Nothing matches"), "{nothing:?}");
    let json = rekindle(&shell, &["search", "login", "bug", "--json"]);
    assert_eq!((json.code, json.stderr.as_str()), (0, ""));
    let mut expected =
        shell.home.call("search", &json!({ "query": "login bug", "project": "web" }));
    let mut result = json.json();
    // Both answers contain their time.
    for answer in [&mut expected, &mut result] {
        answer["answered_at"].take();
        answer["results"].as_array_mut().unwrap().iter_mut().for_each(|hit| {
            hit["match_explain"]["parts"]["recency"].take();
        });
    }
    assert_eq!(result, expected);
}

/// @search_ids
#[test]
fn a_search_gives_ids_alone_or_whole_records() {
    let shell = shell();
    let hits = rekindle(&shell, &["search", "login", "--json"]).json()["results"].take();
    let ids = rekindle(&shell, &["search", "login", "--ids"]);
    let expected: String = each(&hits, "id").iter().map(|id| format!("{id}\n")).collect();
    assert_eq!((ids.code, ids.stdout.as_str()), (0, expected.as_str()));
    assert_eq!(ids.stderr, "5 results for \"login\"\n");
    let full = rekindle(&shell, &["search", "login", "--full", "--json"]).json()["results"].take();
    assert_eq!(each(&full, "id"), each(&hits, "id"));
    let whole = shell.home.call("get_observations", &json!({ "ids": each(&hits, "id") }));
    for (full, whole) in full.as_array().unwrap().iter().zip(whole["results"].as_array().unwrap()) {
        for (member, value) in whole.as_object().unwrap() {
            assert_eq!(full[member], *value, "{member}");
        }
        assert!(full["match_explain"]["reasons"].is_array(), "{full}");
    }
    let shown = rekindle(&shell, &["search", "docker", "--full"]).ok();
    assert!(shown.contains("\n  docker compose up login\n  tool_name: Bash\n"), "{shown}");
    let sessions = rekindle(&shell, &["sessions", "--project", "*", "--ids"]);
    assert_eq!(
        (sessions.stdout.as_str(), sessions.stderr.as_str()),
        ("s-api\ns-web\n", "2 sessions\n")
    );
    assert_eq!(rekindle(&shell, &["recent", "--ids", "--limit", "2"]).ok().lines().count(), 2);
}

/// @search_ids
#[test]
fn whole_records_are_printed_for_more_hits_than_one_request_fetches() {
    let shell = TestShell::new("web");
    for number in 0..60 {
        let event = json!({ "session_id": "s", "cwd": shell.folder, "hook_event_name":
            "PostToolUse", "tool_name": "Bash", "tool_input": { "command": format!("run {number}") } });
        shell.home.hook("PostToolUse", &event);
    }
    let full = shell.json("nmem search run --full --limit 100");
    assert_eq!(each(&full, "tool_name"), vec![json!("Bash"); 60]);
}

/// @search_marks
#[test]
fn matched_words_are_highlighted_if_colours_are_on() {
    let mut shell = shell();
    shell.home.set("CLICOLOR_FORCE", "1");
    let marked = |args: &[&str]| {
        let shown = rekindle(&shell, args).ok();
        let words = shown.split("\u{1b}[1m").skip(1).map(|word| word.split('\u{1b}').next());
        words.map(|word| word.unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(marked(&["search", "docker", "text", "command", "--limit", "1"]), ["docker"]);
    assert_eq!(marked(&["search", "dock", "--limit", "1"]), ["docker"]);
    assert_eq!(marked(&["search", "docker", "--full"]), ["docker"]);
    assert_eq!(marked(&["search", "numbat"]), [""; 0]);
    assert_eq!(marked(&["search", "docker", "--ids"]), [""; 0]);
    shell.home.unset("CLICOLOR_FORCE");
    assert!(!rekindle(&shell, &["search", "docker"]).ok().contains('\u{1b}'));
}

/// @nmem_search
#[test]
fn nmem_search_prints_a_bare_array_of_all_projects_and_counts_on_stderr() {
    let shell = shell();
    let run = shell.sh("nmem search login");
    assert_eq!((run.code, run.stderr.as_str()), (0, "nmem: 6 results for \"login\"\n"));
    let entry = ["id", "timestamp", "obs_type", "content_preview", "file_path", "session_id"];
    for hit in run.json().as_array().unwrap() {
        assert_eq!(members(hit), entry, "{hit}");
        assert!(hit["id"].is_i64() && hit["timestamp"].is_i64(), "{hit}");
        assert!(hit["obs_type"].is_string() && hit["content_preview"].is_string(), "{hit}");
        assert!(hit["session_id"].is_string(), "{hit}");
    }
    let full = shell.sh("nmem search curl --full").json();
    assert_eq!(full.as_array().unwrap().len(), 1);
    assert_eq!(full[0]["source_event"], "PostToolUse");
    assert_eq!(full[0]["tool_name"], "Bash");
    assert_eq!(full[0]["content"], "curl http://localhost/login");
    let more = ["source_event", "tool_name", "content", "metadata"];
    assert_eq!(members(&full[0]), [&entry[..], &more[..]].concat(), "{full}");
    let expected: String = each(&run.json(), "id").iter().map(|id| format!("{id}\n")).collect();
    for line in ["nmem search login --ids", "nmem search login --full --ids"] {
        let ids = shell.sh(line);
        assert_eq!((ids.code, ids.stdout.as_str()), (0, expected.as_str()), "{line}");
        assert_eq!(ids.stderr, "nmem: 6 results for \"login\"\n", "{line}");
    }
    for (line, count) in [
        ("nmem search login --project api", 1),
        ("nmem search login --project web --limit 2", 2),
        ("nmem search login --limit 0", 1),
        ("nmem search login --limit -1", 1),
        ("nmem search login --limit=-1000", 1),
        ("nmem search login --limit 1000", 6),
        ("nmem search login --type command --order-by recent", 4),
        ("nmem search login --type user_prompt --order-by blended", 1),
        ("nmem search '\"docker compose\" AND login'", 1),
        ("nmem search 'dock*'", 1),
        ("nmem search numbat", 0),
        ("nmem search ''", 0),
        ("nmem search '\"'", 0),
        ("nmem search login --project nowhere", 0),
    ] {
        let run = shell.sh(line);
        assert_eq!(run.json().as_array().unwrap().len(), count, "{line}: {run:?}");
        let told = run.stderr.lines().last().unwrap();
        assert!(told.starts_with(&format!("nmem: {count} results for \"")), "{line}: {told}");
        assert_eq!(run.code, 0, "{line}");
    }
    let newest = shell.sh("nmem search login --order-by recent --limit 1").json();
    assert_eq!(newest[0]["session_id"], "s-api");
    let exact = shell.json("nmem search login --json");
    assert_eq!(each(&exact["results"], "id"), each(&run.json(), "id"));
    assert_eq!(exact["query_form"], "any_term");
}

/// @nmem_search
#[test]
fn hits_of_nmem_search_are_purged_by_the_line_of_the_specification() {
    let shell = shell();
    let line = "nmem search login --ids --type command | xargs -I{} nmem purge --id {} --confirm";
    let run = shell.sh(line);
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{run:?}");
    assert_eq!(shell.json("nmem search login --type command"), json!([]));
    assert_eq!(shell.json("nmem search login --type file_edit").as_array().unwrap().len(), 1);
}

/// @nmem_context
#[test]
fn nmem_context_prints_the_briefing_under_its_own_title() {
    let shell = TestShell::new("web");
    let none = shell.sh("nmem context").ok();
    assert_eq!(none, "No context available for project \"web\".\n");
    let shell = self::shell();
    let told = shell.sh("nmem context").ok();
    assert!(told.starts_with("# nmem context: "), "{told}");
    assert!(
        told.contains("\"Fix the login bug\" → 4 actions") && told.contains("## web"),
        "{told}"
    );
    let full = rekindle(&shell, &["briefing", "--form", "nmem"]).ok();
    assert_eq!(told, full.replacen("# rekindle context", "# nmem context", 1));
    let start = json!({ "hook_event_name": "SessionStart", "session_id": "s-new",
        "cwd": shell.folder, "source": "startup" });
    let recorded = shell.sh_with("nmem record", start.to_string().as_bytes()).ok();
    assert_eq!(recorded, told);
    let api = shell.sh("nmem context --project api").ok();
    assert!(api.contains("## api\n"), "{api}");
    let nowhere = shell.sh("nmem context --project nowhere");
    assert_eq!(nowhere.code, 0);
    assert_eq!(nowhere.stdout, "No context available for project \"nowhere\".\n");
}

/// @nmem_talk
#[test]
fn nmem_prints_messages_to_stderr_and_data_to_stdout() {
    let shell = shell();
    let talk = |line: &str| {
        let run = shell.sh(line);
        assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{line}: {run:?}");
        assert!(run.stderr.lines().all(|line| line.starts_with("nmem: ")), "{line}: {run:?}");
        run.stderr
    };
    let status = talk("nmem status");
    for part in ["nmem: observations: 5\n", "command 4", "nmem: sessions:     2", "database: "] {
        assert!(status.contains(part), "{status}");
    }
    let id = shell.sh("nmem search docker --ids").ok();
    let id = id.trim();
    assert_eq!(talk(&format!("nmem pin {id}")), format!("nmem: pinned observation {id}\n"));
    assert_eq!(shell.json("nmem search docker --json")["results"][0]["is_pinned"], true);
    assert_eq!(talk(&format!("nmem unpin {id}")), format!("nmem: unpinned observation {id}\n"));
    let refused = shell.sh("nmem pin 999999");
    assert_eq!((refused.code, refused.stdout.as_str()), (1, ""), "{refused:?}");
    assert!(refused.stderr.starts_with("nmem: error: "), "{refused:?}");
    assert!(refused.stderr.lines().all(|line| line.starts_with("nmem: ")), "{refused:?}");
    let would = talk("nmem purge --session s-api");
    assert!(would.starts_with("nmem: would purge 1 observation, 0 prompts, 1 session"), "{would}");
    assert_eq!(shell.json("nmem search curl").as_array().unwrap().len(), 1);
    let purged = talk("nmem purge --session s-api --confirm");
    assert!(purged.contains("purged 1 observation,"), "{purged}");
    assert_eq!(talk("nmem purge --search numbat"), "nmem: nothing to purge\n");
    assert!(talk("nmem maintain --sweep").contains("no record has expired"));
    let marked = shell.sh("nmem mark use the other numbat");
    assert_eq!((marked.code, marked.stderr.as_str()), (0, ""));
    let found = shell.json("nmem search numbat --type marker --full");
    assert_eq!(format!("{}\n", found[0]["id"]), marked.stdout);
    assert_eq!(found[0]["content"], "use the other numbat");
    for (line, code) in [
        ("nmem pin 999", 1),
        ("nmem purge --confirm", 1),
        ("nmem", 2),
        ("nmem search", 2),
        ("nmem search x --no-such-flag", 2),
        ("nmem search x --type no_such_type", 2),
        ("nmem hint ls", 2),
    ] {
        let run = shell.sh(line);
        assert_eq!((run.code, run.stdout.as_str()), (code, ""), "{line}: {run:?}");
    }
}

/// @nmem_command_lines
#[test]
fn nmem_has_its_own_help_and_serves_its_records() {
    let shell = shell();
    assert_eq!(shell.sh("nmem --version").ok(), format!("nmem {}\n", env!("CARGO_PKG_VERSION")));
    let words = "search context status pin unpin mark purge maintain record serve completions";
    for word in words.split(' ') {
        let help = shell.sh(&format!("nmem {word} --help")).ok();
        let usage = format!("Usage: nmem {word}");
        assert!(help.contains(&usage) && !help.contains("rekindle"), "{word}: {help}");
    }
    let help = shell.sh("nmem search --help").ok();
    assert!(help.contains("all if omitted") && !help.contains("yours"), "{help}");
    // Its variable and its flag lead to another database.
    let other = shell.home.path("other.db");
    let other = other.to_str().unwrap();
    assert_eq!(shell.json(&format!("nmem --db {other} search login")), json!([]));
    assert_eq!(shell.json(&format!("NMEM_DB={other} nmem search login")), json!([]));
    let mut agent = Mcp::start({
        let mut command = shell.command("nmem");
        command.arg("serve");
        command
    });
    agent.initialize("2025-11-25");
    let found = agent.call("search", &json!({ "query": "login bug" })).unwrap();
    let found = found["results"].as_array().unwrap();
    assert!(found.iter().any(|hit| hit["content_preview"] == "Fix the login bug"), "{found:?}");
}

/// @nmem_command_lines
#[test]
fn bash_completes_the_commands_of_nmem() {
    let shell = TestShell::new("web");
    let script = shell.sh("nmem completions bash").ok();
    let mut bash = shell.command("bash");
    bash.args(["--norc", "-c"]).arg(
        "source /dev/stdin && COMP_WORDS=(nmem con) COMP_CWORD=1 && \
         $(complete -p nmem | sed 's/.*-F \\([^ ]*\\).*/\\1/') nmem con nmem && \
         echo \"${COMPREPLY[@]}\"",
    );
    let run = finish(bash, script.as_bytes());
    assert_eq!(run.stdout.trim(), "context", "{run:?}");
    assert!(!script.contains("rekindle"));
}
