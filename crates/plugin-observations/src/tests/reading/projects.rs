//! Projects that an answer covers: records of one project never answer for another.

use model::Code;
use serde_json::{Value, json};

use super::{API, DAY, HOME, HOUR, WEB, World, texts};

/// Two projects with like events.
fn two_projects() -> World {
    let world = World::new();
    for (session, cwd) in [("s-web", WEB), ("s-api", API)] {
        let at = (session, cwd);
        world.prompt(at, 5 * HOUR, &format!("repair the shared cache of {session} now please"));
        world.edit(at, 4 * HOUR, &format!("{cwd}/src/cache.rs"), &format!("cache of {session}"));
        world.command(at, 3 * HOUR, &format!("cache check {session}"));
        world.stop(at, 2 * HOUR);
    }
    world
}

/// The projects that the records in an answer name.
fn named(list: &Value) -> Vec<&str> {
    let mut names: Vec<&str> =
        list.as_array().unwrap().iter().map(|one| one["project"].as_str().unwrap()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The operations that look through projects, with the list in their answers.
fn lists() -> [(&'static str, Value, &'static str); 4] {
    [
        ("search", json!({ "query": "cache" }), "results"),
        ("file_history", json!({ "file_path": "src/cache.rs" }), "sessions"),
        ("session_summaries", json!({}), "results"),
        ("list_sessions", json!({}), "sessions"),
    ]
}

/// @project_isolation
#[test]
fn records_of_one_project_never_answer_for_another() {
    let world = two_projects();
    for (op, params, list) in lists() {
        for (place, name) in [(WEB, "web"), (API, "api")] {
            let here = world.call_from(Some(place), op, params.clone()).unwrap();
            assert_eq!(named(&here[list]), [name], "{op} from {place}");
            assert_eq!(here["project"], name);
            let mut asked = params.clone();
            asked["project"] = name.into();
            let there = world.call_from(Some("/nowhere/else"), op, asked).unwrap();
            assert_eq!(named(&there[list]), [name], "{op} about {name}");
        }
        let nowhere = world.call_from(Some("/nowhere/new"), op, params.clone()).unwrap();
        assert_eq!(nowhere[list], json!([]), "{op} from a place that nobody knows");
    }
}

/// @project_isolation
#[test]
fn a_walk_from_a_record_or_along_a_session_stays_in_its_project() {
    let world = two_projects();
    let anchor = world.id("cache check s-web");
    let around = json!({ "anchor": anchor, "before": 50, "after": 50 });
    let timeline = world.call_from(Some(API), "timeline", around).unwrap();
    let sides = [&timeline["before"], &timeline["after"]];
    assert!(sides.iter().all(|side| named(side).iter().all(|name| *name == "web")));
    let trace = json!({ "session_id": "s-web" });
    let trace = world.call_from(Some(API), "session_trace", trace).unwrap();
    assert_eq!(trace["project"], "web");
    assert!(!trace.to_string().contains("s-api"), "{trace}");
    let one = world.ask("get_observations", json!({ "ids": [anchor] }));
    assert_eq!(named(&one["results"]), ["web"]);
}

/// @read_recent_projects
#[test]
fn recent_context_leads_with_the_own_project_and_names_the_others() {
    let world = two_projects();
    for (place, name) in [(WEB, "web"), (API, "api")] {
        let recent = world.call_from(Some(place), "recent_context", json!({})).unwrap();
        let projects: Vec<&str> = recent["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["project"].as_str().unwrap())
            .collect();
        assert_eq!(projects.len(), 4);
        assert!(projects[..2].iter().all(|project| *project == name), "{projects:?}");
    }
}

/// @project_all
#[test]
fn everything_answers_where_no_project_is_meant() {
    let world = two_projects();
    for (op, params, list) in lists() {
        let with = |project: Value| {
            let mut params = params.clone();
            params["project"] = project;
            params
        };
        for (place, params) in [
            (None, params.clone()),
            (Some("/"), params.clone()),
            (Some(HOME), params.clone()),
            (Some(WEB), with(json!(null))),
            (Some(WEB), with(json!("*"))),
        ] {
            let all = world.call_from(place, op, params.clone()).unwrap();
            assert_eq!(named(&all[list]), ["api", "web"], "{op} {params} from {place:?}");
            assert_eq!(all["project"], json!(null));
        }
    }
}

/// @project_shared_name
#[test]
fn a_name_that_two_projects_share_means_both_and_the_answer_says_so() {
    let world = World::new();
    world.command(("s-1", "/nowhere/a/app"), HOUR, "vacuum one");
    world.command(("s-2", "/nowhere/b/app"), HOUR, "vacuum two");
    world.command(("s-3", WEB), HOUR, "vacuum three");
    let found = world.ask("search", json!({ "query": "vacuum", "project": "app" }));
    assert_eq!(found["results"].as_array().unwrap().len(), 2);
    let paths = found["projects"].as_array().unwrap();
    assert_eq!(paths.len(), 2);
    for (path, text) in paths.iter().zip(["vacuum one", "vacuum two"]) {
        let found = world.ask("search", json!({ "query": "vacuum", "project": path }));
        assert_eq!(texts(&found["results"]), [text]);
        assert_eq!(found["projects"], json!(null));
    }
    let by_root = json!({ "query": "vacuum", "project": "/nowhere/b/app/" });
    assert_eq!(world.found(by_root), ["vacuum two"]);
}

/// @project_unknown
#[test]
fn an_unknown_project_is_refused_with_a_hint_of_similar_names() {
    let world = two_projects();
    world.command(("s-3", "/nowhere/website"), DAY, "x");
    for (op, mut params, _) in lists() {
        params["project"] = "webs".into();
        let error = world.call(op, params).unwrap_err();
        assert_eq!(error.code, Code::NotFound, "{op}");
        let hint = error.hint.unwrap();
        assert!(hint.starts_with("Did you mean website or web? Known are: api, "), "{hint}");
    }
    let error = world.call("recent_context", json!({ "project": "zzz" })).unwrap_err();
    assert!(error.hint.unwrap().contains("api"));
}
