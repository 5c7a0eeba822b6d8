//! The doctor: connected agents, missing events, permissions, and the repairs of `--fix`.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};
use testkit::{Home, Run};

use super::install::{AGENTS, furnish, home, install, read};
use super::sqlite;

/// Minutes in an hour.
const HOUR: i64 = 60;

fn doctor(home: &Home, args: &[&str]) -> Run {
    home.run(&[&["doctor", "--json"], args].concat())
}

/// One check by its name; null if there is none.
fn check(report: &Value, name: &str) -> Value {
    let mut checks = report["checks"].as_array().unwrap().iter();
    checks.find(|check| check["name"] == name).cloned().unwrap_or_default()
}

/// The doctor's check of this name: its status, detail and hint.
fn said(home: &Home, name: &str) -> (String, String, String) {
    let check = check(&doctor(home, &[]).json(), name);
    let text = |member: &str| check[member].as_str().unwrap_or_default().to_owned();
    (text("status"), text("detail"), text("hint"))
}

/// Sends an event of an agent.
fn event(home: &Home, agent: &str, event: &str) {
    let payload = json!({ "session_id": "s-1", "hook_event_name": event, "cwd": home.dir });
    let run = home.run_with(&["hook", event, "--agent", agent], payload.to_string().as_bytes());
    assert_eq!(run.code, 0, "{run:?}");
}

/// Ingests the spool.
fn take_in(home: &Home) {
    home.run(&["stats"]).ok();
    assert!(home.spooled().is_empty());
}

/// Sets the modification time of a file to this many minutes from now.
fn dated(home: &Home, name: &str, minutes: i64) {
    let at = u64::try_from(client::clock::now_ms() + minutes * 60_000).unwrap();
    let at = UNIX_EPOCH + Duration::from_millis(at);
    let file = std::fs::File::options().append(true).open(home.path(name)).unwrap();
    file.set_modified(at).unwrap();
}

/// An agent that was connected two hours ago and is active now.
fn at_work(home: &Home, agent: &str, hooks: &str, trace: &str) {
    install(home, &[agent]).ok();
    dated(home, hooks, -2 * HOUR);
    home.write(trace, "{}\n");
}

/// @doctor_agents
#[test]
fn every_connected_agent_is_listed_with_its_program_and_its_hooks() {
    let home = home();
    install(&home, &AGENTS).ok();
    let run = doctor(&home, &[]);
    assert_eq!(run.code, 0, "{run:?}");
    let report = run.json();
    assert_eq!(report["agents"].as_array().unwrap().len(), AGENTS.len());
    for name in AGENTS {
        assert_eq!(check(&report, name)["status"], "ok", "{name}");
        assert_eq!(check(&report, &format!("{name} program"))["status"], "ok", "{name}");
        assert_eq!(check(&report, &format!("{name} capture"))["status"], "warn", "{name}");
    }
    assert!(said(&home, "codex capture").2.contains("trusted"));
    event(&home, "claude-code", "Stop");
    let report = doctor(&home, &[]).json();
    assert_eq!(check(&report, "claude-code capture")["status"], "ok");
    let detail = check(&report, "claude-code capture")["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("Stop ") && detail.contains("lately no SessionStart"), "{detail}");
    let claude = &report["agents"][0];
    assert!(claude["events"]["Stop"]["last"].is_string(), "{claude}");
    assert!(claude["events"]["SessionStart"]["last"].is_null(), "{claude}");
}

/// @doctor_agents
#[test]
fn an_agent_that_is_found_but_not_connected_is_not_an_error() {
    let home = home();
    furnish(&home);
    let (status, detail, hint) = said(&home, "cursor");
    assert_eq!(status, "ok");
    assert!(detail.contains("not connected") && hint.contains("rekindle install cursor"), "{hint}");
    assert_eq!(doctor(&home, &[]).code, 0);
}

/// @doctor_agents
#[test]
fn an_agent_whose_hooks_were_removed_is_an_error() {
    let home = home();
    install(&home, &["claude-code"]).ok();
    home.write(".claude/settings.json", "{}");
    home.write(".claude.json", "{}");
    let (status, detail, hint) = said(&home, "claude-code");
    assert_eq!(status, "fail", "{detail}");
    assert!(hint.contains("`rekindle install claude-code`"), "{hint}");
    home.write(".claude/settings.json", "{\n  oops\n}");
    let (status, detail, _) = said(&home, "claude-code");
    assert_eq!(status, "fail", "{detail}");
    assert!(detail.contains("settings.json line 2 column 3"), "{detail}");
}

/// @doctor_agents
#[test]
fn disabled_hooks_are_an_error() {
    let home = home();
    home.write(".claude/settings.json", "{ \"disableAllHooks\": true }");
    install(&home, &["claude-code"]).ok();
    let (status, detail, hint) = said(&home, "claude-code");
    assert_eq!(status, "fail", "{detail}");
    assert!(hint.contains("disableAllHooks"), "{hint}");
}

/// @doctor_program
#[test]
fn a_registered_program_must_exist_run_and_answer() {
    let home = home();
    let program = home.path("bin/rekindle");
    install(&home, &["codex", "--bin", program.to_str().unwrap()]).ok();
    assert_eq!(said(&home, "codex program").0, "ok");
    std::fs::remove_file(&program).unwrap();
    let (status, detail, hint) = said(&home, "codex program");
    assert_eq!(status, "fail", "{detail}");
    assert!(detail.contains("does not exist") && hint.contains("rekindle install codex"), "{hint}");
    assert_eq!(doctor(&home, &[]).code, 1);
    home.write("bin/rekindle", "#!/bin/sh\necho rekindle 9\n");
    assert!(said(&home, "codex program").1.contains("cannot be run"));
    let runs = |text: &str| {
        home.write("bin/rekindle", text);
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        said(&home, "codex program")
    };
    assert!(runs("#!/bin/sh\necho rekindle 9\n").1.contains("is not rekindle, or does not answer"));
    // A program that does not answer is given up after a timeout.
    assert!(
        runs("#!/bin/sh\nexec cat /dev/zero\n").1.contains("is not rekindle, or does not answer")
    );
    let (status, detail, _) = runs("#!/bin/sh\necho '{\"build\":\"0.0.0+1\"}'\n");
    assert_eq!(status, "warn");
    assert!(detail.contains("of an older build (0.0.0+1)"), "{detail}");
    let (status, detail, _) = runs("#!/bin/sh\necho '{\"build\":\"99.0.0+1\"}'\n");
    assert_eq!(status, "warn");
    assert!(detail.contains("of a newer build (99.0.0+1)"), "{detail}");
}

/// @doctor_doubled
#[test]
fn our_plugin_beside_our_hooks_is_a_warning() {
    let home = home();
    let on = "{ \"enabledPlugins\": { \"rekindle@local\": true, \"other@x\": true } }";
    home.write(".claude/settings.json", on);
    assert!(said(&home, "claude-code").1.contains("by its plugin"));
    assert_eq!(said(&home, "claude-code hooks").0, "");
    install(&home, &["claude-code"]).ok();
    let (status, _, hint) = said(&home, "claude-code hooks");
    assert_eq!(status, "warn");
    assert!(hint.contains("`rekindle uninstall claude-code`"), "{hint}");
    let off = read(&home, ".claude/settings.json")
        .replace("\"rekindle@local\": true", "\"rekindle@local\": false");
    home.write(".claude/settings.json", &off);
    assert_eq!(said(&home, "claude-code hooks").0, "");
}

/// @doctor_capture_stopped
#[test]
fn an_active_agent_without_events_is_an_error() {
    let traces = [
        ("claude-code", ".claude/settings.json", ".claude/projects/-home-me-x/1.jsonl"),
        ("codex", ".codex/hooks.json", ".codex/sessions/2026/11/15/rollout-1.jsonl"),
        ("gemini-cli", ".gemini/settings.json", ".gemini/tmp/x/chats/session-1.jsonl"),
        ("cursor", ".cursor/hooks.json", ".cursor/chats/x/y/store.db"),
        (
            "opencode",
            ".config/opencode/plugins/rekindle.js",
            ".local/share/opencode/snapshot/global/x/index",
        ),
    ];
    for (agent, hooks, trace) in traces {
        let home = home();
        at_work(&home, agent, hooks, trace);
        let name = format!("{agent} capture");
        let (status, detail, hint) = said(&home, &name);
        assert_eq!(status, "fail", "{agent}: {detail}");
        assert!(detail.contains("capture has stopped"), "{detail}");
        assert!(hint.contains("`rekindle logs --hook`"), "{hint}");
        assert!(!hint.contains("rekindle install"), "everything is in place: {hint}");
        assert_eq!(doctor(&home, &[]).code, 1);
        // Just connected: the open session still runs without hooks, which is not an error yet.
        dated(&home, hooks, 0);
        assert_eq!(said(&home, &name).0, "warn", "{agent}");
    }
}

/// @doctor_capture_stopped
#[test]
fn an_active_agent_with_events_is_ok() {
    let home = home();
    at_work(&home, "claude-code", ".claude/settings.json", ".claude/projects/x/1.jsonl");
    event(&home, "claude-code", "Stop");
    assert_eq!(said(&home, "claude-code capture").0, "ok", "although it only waits in the spool");
    take_in(&home);
    let ago = |minutes: i64| {
        let db = sqlite::open(&sqlite::path(&home));
        let at = client::clock::now_ms() - minutes * 60_000;
        for sql in ["UPDATE hook_sessions SET at = ?1", "UPDATE sessions SET last_at = ?1"] {
            assert_eq!(db.execute(sql, [at]).unwrap(), 1);
        }
        said(&home, "claude-code capture")
    };
    assert_eq!(ago(9).0, "ok");
    let (status, detail, _) = ago(11);
    assert_eq!(status, "fail");
    assert!(detail.contains("its last event arrived 11m ago"), "{detail}");
    // A file from the future says something about the clock, not about the agent.
    dated(&home, ".claude/projects/x/1.jsonl", HOUR);
    assert_eq!(said(&home, "claude-code capture").0, "ok");
}

/// @doctor_capture_stopped
#[test]
fn a_pause_is_not_reported_as_missing_events() {
    let home = home();
    at_work(&home, "claude-code", ".claude/settings.json", ".claude/projects/x/1.jsonl");
    home.run(&["pause"]).ok();
    event(&home, "claude-code", "Stop");
    take_in(&home);
    assert_eq!(said(&home, "claude-code capture").0, "warn", "no event of it is kept");
}

/// @doctor_fixes
#[test]
fn safe_repairs_are_made_and_reported_and_a_second_run_finds_nothing() {
    let home = home();
    let mut daemon = home.daemon();
    daemon.kill();
    install(&home, &["claude-code", "cursor"]).ok();
    let settings = read(&home, ".claude/settings.json");
    let mut parsed: Value = serde_json::from_str(&settings).unwrap();
    parsed["hooks"].as_object_mut().unwrap().remove("Stop");
    home.write(".claude/settings.json", &format!("{parsed:#}"));
    let open = |name: &str, mode: u32| {
        std::fs::set_permissions(home.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    open("data/token", 0o644);
    open("data", 0o777);
    event(&home, "cursor", "stop");
    assert_eq!(home.spooled().len(), 1);
    open("data/spool", 0o777);
    let found = doctor(&home, &[]);
    assert_eq!(found.code, 1);
    for name in ["data directory", "permissions", "claude-code"] {
        let check = check(&found.json(), name);
        assert_eq!(check["status"], "fail", "{name}: {found:?}");
        assert!(check["hint"].as_str().unwrap().contains("rekindle doctor --fix"), "{check}");
    }
    event(&home, "cursor", "stop");
    let mended = doctor(&home, &["--fix"]);
    assert_eq!(mended.code, 0, "{mended:?}");
    let fixed = mended.json()["fixed"].to_string();
    for what in ["token", "data to others", "daemon.json", "Claude Code: Stop", "ingested 2 events"]
    {
        assert!(fixed.contains(what), "{what}: {fixed}");
    }
    assert_eq!(std::fs::metadata(home.path("data/token")).unwrap().mode() & 0o777, 0o600);
    let again: Value = serde_json::from_str(&read(&home, ".claude/settings.json")).unwrap();
    assert!(again["hooks"]["Stop"].is_array());
    assert_eq!(doctor(&home, &["--fix"]).json()["fixed"], json!([]));
}

/// @doctor_fixes
#[test]
fn an_agent_that_is_not_connected_is_changed_neither_with_nor_without_fix() {
    let home = home();
    furnish(&home);
    let before = super::install::tree(&home);
    home.run(&["doctor"]);
    home.run(&["doctor", "--fix"]);
    let ours =
        |path: &Path| path.starts_with(home.path("data")) || path.starts_with(home.path("run"));
    let mut after = super::install::tree(&home);
    after.retain(|path, _| !ours(path));
    assert_eq!(after, before);
}

/// @doctor_files
#[test]
fn files_that_others_can_read_are_an_error_while_a_daemon_runs() {
    let home = home();
    let _daemon = home.daemon();
    assert_eq!(said(&home, "permissions").0, "ok");
    assert_eq!(said(&home, "socket").0, "ok");
    assert_eq!(said(&home, "token").0, "ok");
    assert_eq!(said(&home, "disk").0, "ok");
    for name in ["data/rekindle.db", "run/daemon.sock", "data/log/daemon.log"] {
        let mode =
            |mode| std::fs::set_permissions(home.path(name), std::fs::Permissions::from_mode(mode));
        mode(0o640).unwrap();
        let (status, detail, _) = said(&home, "permissions");
        assert_eq!(status, "fail", "{name}");
        assert!(detail.contains(name) && detail.contains("640"), "{detail}");
        assert!(doctor(&home, &["--fix"]).json()["fixed"].to_string().contains(name));
        assert_eq!(said(&home, "permissions").0, "ok");
    }
    std::fs::remove_file(home.path("data/token")).unwrap();
    let (status, _, hint) = said(&home, "token");
    assert_eq!(status, "fail");
    assert!(hint.contains("rekindle up"), "{hint}");
}

/// @doctor_secrets
#[test]
fn a_secret_in_the_newest_records_is_counted_and_never_shown() {
    let home = home();
    event(&home, "claude-code", "SessionStart");
    let payload = json!({
        "session_id": "s-1", "cwd": home.dir, "prompt": "please deploy it",
    });
    home.hook("UserPromptSubmit", &payload);
    take_in(&home);
    assert_eq!(said(&home, "secrets").0, "ok");
    let secret = "AKIAIOSFODNN7ABCDEFG";
    let db = sqlite::open(&sqlite::path(&home));
    let changed = db.execute("UPDATE prompts SET content = ?1", [format!("deploy with {secret}")]);
    assert_eq!(changed.unwrap(), 1);
    drop(db);
    let run = doctor(&home, &[]);
    assert_eq!(run.code, 1);
    let found = check(&run.json(), "secrets");
    assert_eq!(found["status"], "fail");
    assert!(found["hint"].as_str().unwrap().contains("`rekindle scrub`"), "{found}");
    assert!(found["detail"].as_str().unwrap().starts_with("1 in the newest 1000"), "{found}");
    assert!(!run.stdout.contains(secret));
    home.run(&["scrub"]).ok();
    assert_eq!(said(&home, "secrets").0, "ok");
}

/// @doctor_clock
#[test]
fn a_record_and_a_database_from_the_future_are_warnings() {
    let home = home();
    home.hook(
        "UserPromptSubmit",
        &json!({ "session_id": "s-1", "cwd": home.dir, "prompt": "go on" }),
    );
    take_in(&home);
    assert_eq!(said(&home, "clock").0, "ok");
    dated(&home, "data/rekindle.db", HOUR);
    let (status, detail, _) = said(&home, "clock");
    assert_eq!(status, "warn");
    assert!(detail.contains("the database file is from"), "{detail}");
    let db = sqlite::open(&sqlite::path(&home));
    assert_eq!(db.execute("UPDATE prompts SET at = at + 3600000", []).unwrap(), 1);
    drop(db);
    dated(&home, "data/rekindle.db", 0);
    let (status, detail, _) = said(&home, "clock");
    assert_eq!(status, "warn");
    assert!(detail.contains("the newest record is from"), "{detail}");
}

/// @doctor_in_trouble
#[test]
fn while_the_daemon_hangs_the_other_checks_are_reported() {
    let home = home();
    install(&home, &["codex"]).ok();
    let daemon = home.daemon();
    testkit::home::signal(daemon.pid(), "STOP");
    event(&home, "codex", "Stop");
    let run = doctor(&home, &["--fix"]);
    testkit::home::signal(daemon.pid(), "CONT");
    assert_eq!(run.code, 1);
    let report = run.json();
    assert_eq!(check(&report, "daemon")["status"], "fail");
    assert_eq!(check(&report, "codex")["status"], "ok");
    let spool = check(&report, "spool");
    assert_eq!(spool["status"], "warn");
    assert!(
        spool["detail"].as_str().unwrap().starts_with("1 event not stored yet, the oldest came"),
        "{spool}"
    );
    assert!(home.path("run/daemon.json").exists(), "its files are not those of one that is gone");
}

/// @doctor_in_trouble
#[test]
fn the_doctor_works_without_a_home_and_in_one_that_cannot_be_written() {
    let mut home = home();
    home.unset("HOME");
    let run = doctor(&home, &["--fix"]);
    assert!(run.json()["checks"].is_array(), "{run:?}");
    home.set("HOME", "relative");
    let agents = check(&doctor(&home, &[]).json(), "agents");
    assert_eq!(agents["status"], "warn");
    assert!(agents["hint"].as_str().unwrap().contains("HOME"), "{agents}");
    // A file at the path of the data directory: not even root can write there.
    let file = home.write("file", "");
    home.set("HOME", home.dir.clone().to_str().unwrap());
    home.set("REKINDLE_HOME", file.join("data").to_str().unwrap());
    let run = doctor(&home, &["--fix"]);
    assert_eq!(run.code, 1);
    assert_eq!(check(&run.json(), "database")["status"], "fail", "{run:?}");
}

/// @doctor_program
#[test]
fn the_version_is_available_as_json() {
    let home = home();
    let version = home.run(&["--version", "--json"]).json();
    assert_eq!(version["name"], "rekindle");
    let build = version["build"].as_str().unwrap();
    assert!(build.starts_with(version["version"].as_str().unwrap()), "{version}");
}

/// A repository without a remote.
fn repository(home: &Home, name: &str) -> PathBuf {
    let root = home.path(name);
    for part in ["objects", "refs"] {
        std::fs::create_dir_all(root.join(".git").join(part)).unwrap();
    }
    std::fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    root
}

fn doctor_in(home: &Home, root: &Path) -> String {
    let mut command = home.command(["doctor"]);
    command.current_dir(root);
    testkit::home::finish(command, b"").stdout
}

/// @moved_project
#[test]
fn a_lost_project_is_offered_to_no_repository_but_one_with_its_name_or_its_files() {
    let home = home();
    let edit = |root: &Path, name: &str| {
        std::fs::write(root.join(name), "text").unwrap();
        let event = json!({
            "session_id": "s-1", "cwd": root, "tool_name": "Write",
            "tool_input": { "file_path": root.join(name), "content": "text" },
            "tool_response": { "success": true },
        });
        home.hook("PostToolUse", &event);
    };
    for project in ["site", "other"] {
        let root = repository(&home, project);
        for file in ["index", "style"] {
            edit(&root, &format!("{project}-{file}.css"));
        }
    }
    home.run(&["stats"]).ok();
    // Recognised by the directory itself.
    let moved = home.path("website");
    std::fs::rename(home.path("site"), &moved).unwrap();
    assert!(!doctor_in(&home, &moved).contains("moved project"));
    // Two projects without a directory; the copy has another name.
    let copy = repository(&home, "backup/copy");
    for file in ["site-index.css", "site-style.css"] {
        std::fs::copy(moved.join(file), copy.join(file)).unwrap();
    }
    std::fs::remove_dir_all(&moved).unwrap();
    std::fs::remove_dir_all(home.path("other")).unwrap();
    let unrelated = repository(&home, "unrelated");
    assert!(!doctor_in(&home, &unrelated).contains("moved project"));
    let said = doctor_in(&home, &copy);
    assert!(said.contains("/site, the directory of a project, is gone"), "{said}");
}

/// @moved_project
#[test]
fn a_project_whose_directory_is_gone_is_offered_to_the_repository_of_its_name() {
    let home = home();
    let repository = |name: &str| repository(&home, name);
    let record = |root: &Path, session: &str| {
        let event = json!({ "session_id": session, "cwd": root, "prompt": "zebra crossing" });
        home.hook("UserPromptSubmit", &event);
        home.run(&["stats"]).ok();
    };
    let doctor = |root: &Path| doctor_in(&home, root);
    let old = repository("disk/shop");
    record(&old, "s-1");
    assert!(!doctor(&old).contains("moved project"));
    // A copy on another disk: the files are new ones.
    let new = repository("backup/shop");
    std::fs::remove_dir_all(&old).unwrap();
    let said = doctor(&new);
    let line = format!("rekindle project alias {} {}", old.display(), new.display());
    assert!(said.contains(&format!("run `{line}`")), "{said}");
    home.run(&line.split(' ').skip(1).collect::<Vec<_>>()).ok();
    assert!(!doctor(&new).contains("moved project"));
    let mut search = home.command(["search", "zebra"]);
    search.current_dir(&new);
    assert!(testkit::home::finish(search, b"").stdout.contains("zebra crossing"));
    // After events of its own the new directory is a project, which is merged.
    let third = repository("third/shop");
    record(&third, "s-2");
    std::fs::remove_dir_all(&new).unwrap();
    let said = doctor(&third);
    assert!(said.contains("run `rekindle project merge "), "{said}");
}
