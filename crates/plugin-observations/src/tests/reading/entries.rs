//! Records in the one address space: by `get`, and listed as resources.

use model::Code;
use serde_json::{Value, json};

use super::{API, HOUR, WEB, World, code};

fn world() -> World {
    let world = World::new();
    let at = ("s-1 x%", WEB);
    world.prompt(at, 3 * HOUR, "repair the login of the shop");
    world.edit(at, 2 * HOUR, "/nowhere/web/a.rs", "Edit a.rs: ttl");
    world.stop(at, HOUR);
    world.command(("s-2", API), HOUR, "make");
    world
}

fn read(world: &World, path: &str) -> Value {
    world.ask("get", json!({ "path": path }))["entry"].clone()
}

/// @read_entries
#[test]
fn an_observation_a_prompt_and_a_summary_are_read_by_their_path() {
    let world = world();
    let edit = read(&world, &format!("obs://{}", world.id("Edit a.rs: ttl")));
    assert_eq!(edit["body"], "Edit a.rs: ttl");
    assert_eq!(edit["attributes"]["obs_type"], "file_edit");
    assert_eq!(edit["attributes"]["file_path"], "/nowhere/web/a.rs");
    let prompt = read(&world, &format!("obs://{}", world.id("repair the login of the shop")));
    assert_eq!(prompt["attributes"]["obs_type"], "user_prompt");
    assert_eq!(code(world.call("get", json!({ "path": "obs://99999" }))), Code::NotFound);
    assert_eq!(code(world.call("get", json!({ "path": "obs://x" }))), Code::Invalid);
}

/// @read_entries
#[test]
fn a_session_is_read_by_the_agents_id_whatever_it_looks_like() {
    let world = world();
    let session = read(&world, "session://s-1%20x%25");
    assert_eq!(session["path"], "session://s-1%20x%25");
    let started = session["attributes"]["started_at"].as_i64().unwrap();
    assert!((world.now / 1_000 - started).abs() < 30 * 86_400, "seconds, as everywhere: {started}");
    assert!(session["attributes"].get("project_id").is_none(), "{session}");
    assert!(session["body"].as_str().unwrap().starts_with("repair the login of the shop"));
    assert_eq!(session["attributes"]["project"], "web");
    assert_eq!(code(world.call("get", json!({ "path": "session://none" }))), Code::NotFound);
}

/// @read_entries
#[test]
fn a_session_is_read_with_its_place_its_times_and_its_summary() {
    let world = world();
    let body = |path: &str| read(&world, path)["body"].as_str().unwrap().to_owned();
    let named = |body: &str| -> Vec<String> {
        let lines = body.lines().skip(1);
        lines.map(|line| line.split(": ").next().unwrap().to_owned()).collect()
    };
    let idle = body("session://s-1%20x%25");
    assert_eq!(
        named(&idle),
        ["session", "agent", "project", "directory", "state", "started", "last event", "edited"],
        "{idle}"
    );
    for line in ["agent: claude-code", "project: web", "directory: /nowhere/web", "state: idle"] {
        assert!(idle.lines().any(|has| has == line), "{line}: {idle}");
    }
    let started = idle.lines().find_map(|line| line.strip_prefix("started: ")).unwrap();
    assert!(started.len() == 20 && started.ends_with('Z'), "{started}");
    let without_summary = body("session://s-2");
    assert_eq!(without_summary.lines().next(), Some("claude-code in api"));
    assert!(without_summary.lines().count() > 5, "{without_summary}");
}

/// @read_entries
#[test]
fn a_project_is_read_by_its_key_and_the_path_that_lists_it_leads_there() {
    let world = world();
    let listed = world.ask("list_resources", json!({}));
    let paths: Vec<&str> = listed["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line["path"].as_str().unwrap())
        .collect();
    assert!(paths.contains(&"project://%2Fnowhere%2Fweb"), "{paths:?}");
    let project = read(&world, "project://%2Fnowhere%2Fweb");
    assert_eq!(project["attributes"]["name"], "web");
    assert_eq!(project["attributes"]["observations"], json!({ "file_edit": 1 }));
    assert!(project["body"].as_str().unwrap().contains("session://s-1%20x%25 repair the login"));
    assert_eq!(code(world.call("get", json!({ "path": "project://web" }))), Code::NotFound);
}

/// @read_entries
#[test]
fn lists_show_the_newest_records_of_the_callers_project() {
    let world = world();
    let listed = |cwd: Option<&str>| -> Vec<String> {
        let listed = world.call_from(cwd, "list_resources", json!({})).unwrap();
        let lines = listed["resources"].as_array().unwrap().iter();
        let lines = lines.map(|line| line["summary"].as_str().unwrap().to_owned());
        lines.filter(|line| line.contains(": ")).collect()
    };
    assert_eq!(listed(Some(WEB)), ["file_edit: Edit a.rs: ttl"]);
    assert_eq!(listed(None), ["command: make", "file_edit: Edit a.rs: ttl"]);
}
