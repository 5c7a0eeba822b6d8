//! `rekindle import` of commits, of the agents' own files, and of other tools' memories.

use std::path::{Path, PathBuf};
use std::process::Command;

use rusqlite::Connection;
use serde_json::{Value, json};
use testkit::Home;

use super::{home, sqlite};

fn git(folder: &Path, args: &[&str], date: &str) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=Zoe", "-c", "user.email=zoe@host.example"])
        .args(args)
        .current_dir(folder)
        .envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")])
        .envs([("GIT_AUTHOR_DATE", date), ("GIT_COMMITTER_DATE", date)])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Days before today, at noon UTC, as git reads it.
fn noon(days: i64) -> String {
    let at = (client::clock::now_ms() / 86_400_000 - days) * 86_400 + 43_200;
    format!("{at} +0000")
}

/// A repository with two commits on one day, one on another, and one from a year ago.
fn repository(home: &Home) -> PathBuf {
    let shop = home.path("shop");
    std::fs::create_dir_all(&shop).unwrap();
    git(&shop, &["init", "-q", "-b", "main"], &noon(9));
    for (message, days) in [
        ("An ancient commit", 400),
        ("Round the zebra totals", 5),
        ("Test the zebra totals\n\nThe quagga case was missing.", 5),
        ("Ship it", 4),
    ] {
        git(&shop, &["commit", "-q", "--allow-empty", "-m", message], &noon(days));
    }
    shop
}

fn import_in(home: &Home, folder: &Path, args: &[&str]) -> Value {
    let args: Vec<&str> = ["import", "--json"].iter().chain(args).copied().collect();
    let mut command = home.command(args);
    let output = command.current_dir(folder).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn finds(home: &Home, words: &str) -> Vec<Value> {
    let args = ["search", words, "--project", "*", "--json"];
    home.run(&args).json()["results"].as_array().unwrap().clone()
}

fn undo(home: &Home, batch: &Value) {
    home.run(&["import", "--undo", &batch.to_string(), "--yes"]).ok();
}

/// @import_git
#[test]
fn commits_of_the_repository_become_records_with_a_session_per_day() {
    let home = home();
    let shop = repository(&home);
    let dry = import_in(&home, &shop, &["git", "--dry-run"]);
    assert_eq!(dry["added"], 3, "{dry}");
    home.run(&["recent"]).ok();
    let before = sqlite::dump(&home);
    let imported = import_in(&home, &shop, &["git"]);
    assert_eq!((&imported["added"], &imported["sessions"]), (&json!(3), &json!(2)), "{imported}");
    assert_eq!(imported["projects"][0]["project"], "shop");
    assert!(!finds(&home, "quagga case missing").is_empty());
    let hash = git(&shop, &["rev-parse", "HEAD~1"], &noon(0));
    assert_eq!(finds(&home, &hash).len(), 1);
    let again = import_in(&home, &shop, &["git"]);
    assert_eq!((&again["added"], &again["counts"]["known"]), (&json!(0), &json!(3)));
    undo(&home, &imported["batch"]);
    assert_eq!(sqlite::dump(&home), before);
    // Packed objects are read alike.
    git(&shop, &["gc", "-q", "--prune=now"], &noon(0));
    let since = import_in(&home, &shop, &["git", "--since", "1000d"]);
    assert_eq!(since["added"].as_u64().unwrap() + since["counts"]["too_old"].as_u64().unwrap(), 4);
}

/// @import_git
#[test]
fn a_commit_that_a_hook_captured_is_not_doubled() {
    let home = home();
    let shop = repository(&home);
    let short = git(&shop, &["rev-parse", "--short", "HEAD"], &noon(0));
    home.hook(
        "PostToolUse",
        &json!({ "session_id": "s-1", "cwd": shop, "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "t-1",
                 "tool_input": { "command": "git commit -m 'Ship it'" },
                 "tool_response": { "stdout": format!("[main {short}] Ship it\n 1 file changed, 1 insertion(+)"), "stderr": "" } }),
    );
    let imported = import_in(&home, &shop, &["git"]);
    assert_eq!(
        (&imported["added"], &imported["counts"]["known"]),
        (&json!(2), &json!(1)),
        "{imported}"
    );
    let elsewhere = home.path("empty");
    std::fs::create_dir_all(&elsewhere).unwrap();
    let run = home.command(["import", "git"]).current_dir(&elsewhere).output().unwrap();
    assert_eq!(run.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&run.stderr).contains("not in a repository"), "{run:?}");
}

fn prompted(home: &Home, agent: &str, cwd: &Path, text: &str) -> String {
    let event = if agent == "gemini-cli" { "BeforeAgent" } else { "UserPromptSubmit" };
    let payload = json!({ "session_id": format!("s-{agent}"), "cwd": cwd, "hook_event_name": event,
                          "prompt": text, "prompt_id": "p-1" });
    home.run_with(&["hook", event, "--agent", agent], payload.to_string().as_bytes()).stdout
}

/// @import_memory_files
#[test]
fn files_of_agents_become_memories_and_follow_their_files() {
    let home = home();
    let shop = home.path("shop");
    std::fs::create_dir_all(shop.join(".git")).unwrap();
    std::fs::write(shop.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let secret = format!("ghp_{}", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6");
    let notes = "# Preferences\n\n- Zebra totals are rounded half to even\n- Run the quagga suite before a push\n";
    std::fs::write(shop.join("CLAUDE.md"), format!("{notes}- The token is {secret}\n")).unwrap();
    std::fs::write(shop.join("AGENTS.md"), "Okapi pages are cached for an hour.\n").unwrap();
    let folder = home.path(".claude/projects/-shop");
    std::fs::create_dir_all(folder.join("memory")).unwrap();
    let line = json!({ "type": "user", "cwd": shop, "sessionId": "s", "uuid": "u" });
    std::fs::write(folder.join("s.jsonl"), format!("{line}\n")).unwrap();
    std::fs::write(folder.join("memory/MEMORY.md"), "- The tapir host runs out of disk\n").unwrap();
    home.run(&["recent"]).ok();
    let before = sqlite::dump(&home);
    let imported = import_in(&home, &shop, &["memories"]);
    assert_eq!(imported["counts"]["memories"], 4, "{imported}");
    assert_eq!(imported["counts"]["secrets"], 1, "{imported}");
    assert_eq!(import_in(&home, &shop, &["memories"])["added"], 0);
    let hits = finds(&home, "zebra totals rounded");
    assert_eq!(hits[0]["obs_type"], "memory", "{hits:?}");
    assert!(!finds(&home, "tapir host disk").is_empty());
    // A changed line is replaced, and a removed one is deleted.
    std::fs::write(shop.join("CLAUDE.md"), "# Preferences\n\n- Zebra totals are rounded up\n")
        .unwrap();
    std::fs::remove_file(shop.join("AGENTS.md")).unwrap();
    let dry =
        home.command(["import", "memories", "--dry-run"]).current_dir(&shop).output().unwrap();
    let dry = String::from_utf8_lossy(&dry.stdout);
    assert!(!dry.contains("deleted 3") && dry.contains("would be deleted"), "{dry}");
    let second = import_in(&home, &shop, &["memories"]);
    assert_eq!(
        (&second["added"], &second["counts"]["removed"]),
        (&json!(1), &json!(3)),
        "{second}"
    );
    let found = json!([finds(&home, "okapi pages"), finds(&home, "quagga suite")]).to_string();
    assert!(!found.contains("Okapi") && !found.contains("quagga"), "{found}");
    undo(&home, &second["batch"]);
    undo(&home, &imported["batch"]);
    assert_eq!(sqlite::dump(&home), before);
}

/// @import_memory_files_loaded
#[test]
fn a_memory_is_not_injected_into_an_agent_that_loads_its_file() {
    let home = home();
    let shop = home.path("shop");
    std::fs::create_dir_all(&shop).unwrap();
    std::fs::write(shop.join("CLAUDE.md"), "- The zebra totals are rounded half to even\n")
        .unwrap();
    import_in(&home, &shop, &["memories"]);
    let asked = "how are the zebra totals rounded?";
    let codex = prompted(&home, "codex", &shop, asked);
    assert!(codex.contains("half to even"), "{codex}");
    let claude = prompted(&home, "claude-code", &shop, asked);
    assert!(!claude.contains("half to even"), "{claude}");
    // The agent loads the file from now on.
    std::os::unix::fs::symlink("CLAUDE.md", shop.join("AGENTS.md")).unwrap();
    import_in(&home, &shop, &["memories"]);
    let codex = prompted(&home, "codex", &shop, "and who says how zebra totals are rounded?");
    assert!(!codex.contains("half to even"), "{codex}");
    let found = home.run(&["search", "zebra totals", "--full", "--json"]).json();
    assert!(found.to_string().contains("agents-md"), "{found}");
}

/// @import_memory_files_loaded
#[test]
fn a_memory_is_not_injected_into_an_agent_that_loads_its_file_by_another_name() {
    let asked = "how are the zebra totals rounded?";
    for is_link in [true, false] {
        let home = home();
        let shop = home.path("shop");
        std::fs::create_dir_all(&shop).unwrap();
        let note = "- The zebra totals are rounded half to even\n";
        std::fs::write(shop.join("AGENTS.md"), note).unwrap();
        match is_link {
            true => std::os::unix::fs::symlink("AGENTS.md", shop.join("CLAUDE.md")).unwrap(),
            false => std::fs::write(shop.join("CLAUDE.md"), "@AGENTS.md\n").unwrap(),
        }
        assert_eq!(import_in(&home, &shop, &["memories"])["added"], 1);
        let claude = prompted(&home, "claude-code", &shop, asked);
        assert!(!claude.contains("half to even"), "{claude}");
        let gemini = prompted(&home, "gemini-cli", &shop, asked);
        assert!(gemini.contains("half to even"), "{gemini}");
    }
}

#[expect(clippy::disallowed_methods, reason = "the database of another program")]
fn database(path: &Path, statements: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    Connection::open(path).unwrap().execute_batch(statements).unwrap();
}

fn seconds_ago() -> i64 {
    client::clock::now_ms() / 1_000 - 3 * 86_400
}

/// The bytes, and the time, of a file.
fn state(path: &Path) -> (Vec<u8>, std::time::SystemTime) {
    (std::fs::read(path).unwrap(), std::fs::metadata(path).unwrap().modified().unwrap())
}

/// @import_nmem
#[test]
fn rows_of_nmem_become_records_one_to_one() {
    let home = home();
    let at = seconds_ago();
    let db = home.path("nmem.db");
    database(&db, &format!(
        "CREATE TABLE sessions (id TEXT PRIMARY KEY, project TEXT, started_at INTEGER, ended_at INTEGER, summary TEXT);
         CREATE TABLE prompts (id INTEGER PRIMARY KEY, session_id TEXT, timestamp INTEGER, source TEXT, content TEXT);
         CREATE TABLE observations (id INTEGER PRIMARY KEY, session_id TEXT, prompt_id INTEGER, timestamp INTEGER, obs_type TEXT,
           source_event TEXT, tool_name TEXT, file_path TEXT, content TEXT, metadata TEXT, is_pinned INTEGER DEFAULT 0);
         INSERT INTO sessions VALUES ('n-1', '{0}', {at}, {at} + 60, '{{\"intent\":\"feed the pangolin\"}}');
         INSERT INTO prompts VALUES (1, 'n-1', {at}, 'user', 'why do the zebra totals differ?');
         INSERT INTO observations VALUES (1, 'n-1', 1, {at} + 1, 'file_edit', 'PostToolUse', 'Edit', '{0}/cart.py', 'Edit cart.py: zebra', '{{\"a\":1}}', 1);
         INSERT INTO observations VALUES (2, 'n-1', 1, {at} + 2, 'command_error', 'PostToolUseFailure', 'Bash', NULL, 'pytest quagga failed', NULL, 0);
         INSERT INTO observations VALUES (3, 'n-9', 1, {at} + 2, 'command', 'x', 'Bash', NULL, 'a row without its session', NULL, 0);",
        home.path("shop").display()));
    let unchanged = state(&db);
    home.run(&["recent"]).ok();
    let before = sqlite::dump(&home);
    let path = db.to_string_lossy().into_owned();
    let imported = home.run(&["import", &path, "--json"]).json();
    let count = |name: &str| imported["counts"][name].as_u64().unwrap();
    assert_eq!([count("prompts"), count("actions"), count("failures")], [1, 2, 1], "{imported}");
    assert_eq!(imported["projects"][0]["project"], "shop");
    assert_eq!(imported["problems"][0]["lines"], 1, "{imported}");
    let hits = finds(&home, "cart.py zebra");
    let shown = home.run(&["show", &hits[0]["id"].to_string(), "--json"]).json();
    assert_eq!(shown["results"][0]["is_pinned"], true, "{shown}");
    assert!(!finds(&home, "pangolin").is_empty(), "the summary of the session");
    assert_eq!(home.run(&["import", &path, "--json"]).json()["unchanged"], 1);
    // nmem's own variable names its database here, although it names ours elsewhere.
    let by_name = home.command(["import", "nmem", "--json"]).env("NMEM_DB", &db).output().unwrap();
    assert_eq!(by_name.status.code(), Some(0), "{by_name:?}");
    let by_name: Value = serde_json::from_slice(&by_name.stdout).unwrap();
    assert_eq!(by_name["unchanged"], 1, "{by_name}");
    let elsewhere = home.command(["recent"]).env("NMEM_DB", &db).output().unwrap();
    assert_eq!(elsewhere.status.code(), Some(1), "{elsewhere:?}");
    assert_eq!(state(&db), unchanged);
    undo(&home, &imported["batch"]);
    assert_eq!(sqlite::dump(&home), before);
    // The printed command names our database, because the variable names that of nmem.
    let said = home.command(["import", "nmem"]).env("NMEM_DB", &db).output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    let advice = said.lines().find_map(|line| line.strip_prefix("undo it with: rekindle "));
    let advice: Vec<&str> = advice.expect(&said).split(' ').collect();
    let undone = home.command(advice.iter().chain(&["--yes"])).env("NMEM_DB", &db).output();
    assert_eq!(undone.unwrap().status.code(), Some(0), "{advice:?}");
    assert_eq!(sqlite::dump(&home), before);
    assert_eq!(state(&db), unchanged);
}

/// @import_nmem @import_bad_sources
#[test]
fn a_variable_that_names_a_missing_file_is_an_error() {
    let home = home();
    let missing = home.path("gone/nmem.db");
    for (tool, variable) in [("nmem", "NMEM_DB"), ("mcp-memory", "MEMORY_FILE_PATH")] {
        let run = home.command(["import", tool]).env(variable, &missing).output().unwrap();
        assert_eq!(run.status.code(), Some(1), "{run:?}");
        let said = String::from_utf8(run.stderr).unwrap();
        assert!(said.contains(&*missing.to_string_lossy()), "{said}");
    }
    assert!(!missing.exists());
}

/// @import_claude_mem
#[test]
fn claude_mem_gives_prompts_and_memories() {
    let home = home();
    let at = seconds_ago() * 1_000;
    database(&home.path(".claude-mem/claude-mem.db"), &format!(
        "CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, content_session_id TEXT, memory_session_id TEXT, project TEXT, started_at_epoch INTEGER);
         CREATE TABLE user_prompts (id INTEGER PRIMARY KEY, content_session_id TEXT, prompt_number INTEGER, prompt_text TEXT, created_at_epoch INTEGER);
         CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, type TEXT, title TEXT, narrative TEXT, facts TEXT, concepts TEXT, created_at_epoch INTEGER);
         CREATE TABLE session_summaries (id INTEGER PRIMARY KEY, project TEXT, request TEXT, learned TEXT, created_at_epoch INTEGER);
         INSERT INTO sdk_sessions VALUES (1, 'c-1', 'm-1', 'shop', {at});
         INSERT INTO user_prompts VALUES (1, 'c-1', 1, 'explain the zebra cache', {at} + 1);
         INSERT INTO observations VALUES (1, 'm-1', 'shop', 'decision', 'Cache zebras in memory', 'The quagga store was too slow.', '[\"ten minutes\"]', '[\"cache\"]', {at} + 2);
         INSERT INTO session_summaries VALUES (1, 'shop', 'Speed up zebras', 'The okapi index helps', {at} + 3);"));
    let imported = home.run(&["import", "claude-mem", "--json"]).json();
    let count = |name: &str| imported["counts"][name].as_u64().unwrap();
    assert_eq!([count("prompts"), count("memories")], [1, 2], "{imported}");
    let listed = home.run(&["memory", "list", "--project", "*", "--json"]).json().to_string();
    assert!(
        listed.contains("quagga store was too slow") && listed.contains("decision"),
        "{listed}"
    );
    assert_eq!(home.run(&["import", "claude-mem", "--json", "--forgotten"]).json()["added"], 0);
}

/// @import_engram
#[test]
fn engram_gives_what_it_did_not_delete() {
    let home = home();
    let shop = home.path("shop");
    let date = model::time::rfc3339_seconds(seconds_ago() * 1_000);
    let date = date.replace('T', " ").replace('Z', "");
    database(&home.path(".engram/engram.db"), &format!(
        "CREATE TABLE sessions (id TEXT PRIMARY KEY, project TEXT, directory TEXT, started_at TEXT);
         CREATE TABLE observations (id INTEGER PRIMARY KEY, session_id TEXT, type TEXT, title TEXT, content TEXT, project TEXT, scope TEXT, topic_key TEXT,
           revision_count INTEGER, created_at TEXT, updated_at TEXT, deleted_at TEXT);
         CREATE TABLE user_prompts (id INTEGER PRIMARY KEY, session_id TEXT, content TEXT, project TEXT, created_at TEXT);
         INSERT INTO sessions VALUES ('e-1', 'shop', '{0}', '{date}');
         INSERT INTO observations VALUES (1, 'e-1', 'bugfix', 'Zebra totals', 'Rounding was wrong', 'shop', 'project', 'cart/zebra', 1, '{date}', '{date}', NULL);
         INSERT INTO observations VALUES (2, 'e-1', 'bugfix', 'Quagga', 'Deleted by the user', 'shop', 'project', NULL, 1, '{date}', '{date}', '{date}');
         INSERT INTO user_prompts VALUES (1, 'e-1', 'round the zebra totals', 'shop', '{date}');", shop.display()));
    let imported = home.run(&["import", "engram", "--json"]).json();
    let count = |name: &str| imported["counts"][name].as_u64().unwrap();
    assert_eq!([count("prompts"), count("memories")], [1, 1], "{imported}");
    assert!(finds(&home, "quagga").is_empty());
    let listed = home.run(&["memory", "list", "--project", "*", "--json"]).json();
    let created = listed["results"][0]["created_at"].as_str().unwrap();
    assert_eq!(created[..19].replace('T', " "), date[..19], "{listed}");
}

/// @import_basic_memory
#[test]
fn basic_memory_gives_observations_without_relations() {
    let home = home();
    let note = "---\ntitle: Zebra\ntype: note\ntags: [animals]\npermalink: notes/zebra\n---\n\n# Zebra\n\n## Observations\n\
        - [decision] Totals are rounded up #money (since spring)\n- [fact] The quagga is extinct\n\n## Relations\n- relates_to [[Okapi]]\n";
    let folder = home.path("notes/deep");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("zebra.md"), note).unwrap();
    let path = home.path("notes").to_string_lossy().into_owned();
    let imported = home.run(&["import", &path, "--json"]).json();
    assert_eq!(imported["counts"]["memories"], 2, "{imported}");
    let listed = home.run(&["memory", "list", "--project", "*", "--json"]).json();
    let first = listed["results"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["category"] == "decision")
        .unwrap();
    assert!(first["tags"].to_string().contains("money"), "{first}");
    assert_eq!(home.run(&["import", &path, "--json"]).json()["added"], 0);
}

/// @import_mcp_memory
#[test]
fn the_graph_of_the_mcp_memory_server_becomes_memories() {
    let home = home();
    let lines = "{\"type\":\"entity\",\"name\":\"Zebra\",\"entityType\":\"animal\",\"observations\":[\"eats grass\",\"has stripes\"]}\n\
        {\"type\":\"relation\",\"from\":\"Zebra\",\"to\":\"Quagga\",\"relationType\":\"is_related_to\"}\n{\"type\":\"entity\",\"na\n";
    let file = home.write("memory.jsonl", lines);
    let path = file.to_string_lossy().into_owned();
    let imported = home.run(&["import", &path, "--json"]).json();
    assert_eq!(imported["counts"]["memories"], 3, "{imported}");
    assert_eq!(imported["problems"][0]["line"], 3, "{imported}");
    assert!(!finds(&home, "zebra stripes").is_empty());
    assert_eq!(
        home.run(&["import", "--list", "--json"]).json()["imports"][0]["source"],
        "mcp-memory"
    );
}

/// @import_tool_faults
#[test]
fn a_database_that_cannot_be_read_is_named_and_changes_nothing() {
    let home = home();
    let missing = home.run(&["import", "nmem"]);
    assert_eq!(missing.code, 0);
    assert!(missing.stderr.contains("no memories of nmem"), "{missing:?}");
    let broken = home.path(".engram/engram.db");
    std::fs::create_dir_all(broken.parent().unwrap()).unwrap();
    std::fs::write(&broken, [7; 4096]).unwrap();
    let run = home.run(&["import", "engram"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("not an SQLite database"), "{run:?}");
    // A newer version may have other tables: nothing is there to import.
    std::fs::remove_file(&broken).unwrap();
    database(
        &broken,
        "CREATE TABLE notes (id INTEGER, text TEXT); INSERT INTO notes VALUES (1, 'x');",
    );
    let newer = home.run(&["import", "engram", "--json"]);
    assert_eq!((newer.code, newer.json()["added"].as_u64()), (0, Some(0)), "{newer:?}");
    let names: Vec<_> = std::fs::read_dir(broken.parent().unwrap()).unwrap().flatten().collect();
    assert_eq!(names.len(), 1, "{names:?}");
}
