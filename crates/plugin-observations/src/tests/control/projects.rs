//! Which places are one project.

use model::Code;
use serde_json::{Value, json};

use super::super::reading::{API, HOUR, WEB, World, code};

fn two_projects() -> World {
    let world = World::new();
    for (session, cwd) in [("s-web", WEB), ("s-api", API)] {
        world.prompt((session, cwd), 2 * HOUR, "look at it");
        world.command((session, cwd), HOUR, &format!("make {session}"));
    }
    world
}

fn listed(world: &World) -> Vec<Value> {
    world.ask("list_projects", json!({}))["projects"].as_array().unwrap().clone()
}

fn names(world: &World) -> Vec<String> {
    let mut names: Vec<String> =
        listed(world).iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

/// @projects_are_listed
#[test]
fn projects_are_listed_with_what_leads_to_them_and_what_is_kept() {
    let world = two_projects();
    let found = listed(&world);
    let web = found.iter().find(|one| one["name"] == "web").unwrap();
    let counts = ["sessions", "prompts", "observations"].map(|name| web[name].as_u64().unwrap());
    assert_eq!(counts, [1, 1, 1]);
    assert_eq!((&web["root"], &web["aliases"]), (&json!(WEB), &json!([WEB])));
    let path = web["path"].as_str().unwrap();
    assert!(path.starts_with("project://"), "{path}");
    let there = json!({ "query": "make", "project": path });
    assert_eq!(world.found(there), ["make s-web"], "the path is accepted as a project");
    let text = world.shown("list_projects", json!({}));
    assert!(text.lines().count() == 3 && text.contains("web") && text.contains("1h ago"), "{text}");
    assert!(text.contains(WEB) && !text.contains('%'), "{text}");
    let empty = World::new();
    assert_eq!(empty.shown("list_projects", json!({})), "No project is known yet.");
}

/// @projects_are_listed
#[test]
fn projects_are_listed_without_counts_on_request() {
    let world = two_projects();
    let listed = world.ask("list_projects", json!({ "counts": false }))["projects"].take();
    let names: Vec<&Value> = listed.as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["api", "web"]);
    for project in listed.as_array().unwrap() {
        assert!(project["path"].is_string() && project["aliases"].is_array(), "{project}");
        for counted in ["sessions", "prompts", "observations"] {
            assert!(project.get(counted).is_none(), "{project}");
        }
    }
}

/// @project_alias
#[test]
fn a_directory_that_was_made_an_alias_belongs_to_the_project() {
    let world = two_projects();
    for _ in 0..2 {
        let params = json!({ "project": "web", "alias": "/nowhere/assets/" });
        let made = world.ask("alias_project", params);
        assert_eq!(made["project"]["aliases"], json!(["/nowhere/assets", WEB]));
    }
    world.command(("s-3", "/nowhere/assets"), 0, "make assets");
    assert_eq!(names(&world), ["api", "web"]);
    assert_eq!(world.found(json!({ "query": "assets", "project": "web" })), ["make assets"]);
    let remote = json!({ "project": "api", "alias": "git@Example.com:org/api.git" });
    let made = world.ask("alias_project", remote);
    assert!(made["project"]["aliases"].as_array().unwrap().contains(&json!("example.com/org/api")));
    world.ask("alias_project", json!({ "project": "api", "alias": "backend" }));
    assert_eq!(world.found(json!({ "query": "make", "project": "backend" })), ["make s-api"]);
}

#[test]
fn an_invalid_alias_or_one_of_another_project_is_refused() {
    let world = two_projects();
    for taken in [API, "api"] {
        let params = json!({ "project": "web", "alias": taken });
        assert_eq!(code(world.call("alias_project", params)), Code::Conflict, "{taken}");
    }
    for alias in ["", " ", "*", "/", "a\nb", &"x".repeat(5_000)] {
        let params = json!({ "project": "web", "alias": alias });
        assert_eq!(code(world.call("alias_project", params)), Code::Invalid, "{alias:?}");
    }
    let unknown = json!({ "project": "nobody", "alias": "/nowhere/x" });
    assert_eq!(code(world.call("alias_project", unknown)), Code::NotFound);
    assert_eq!(
        listed(&world).iter().map(|one| one["aliases"].as_array().unwrap().len()).sum::<usize>(),
        2
    );
}

/// @project_merge
#[test]
fn a_merge_moves_everything_and_both_places_are_one_project_from_then_on() {
    let world = two_projects();
    let merged = world.ask("merge_projects", json!({ "from": "api", "into": "web" }));
    assert_eq!(merged["moved"], json!({ "sessions": 1, "prompts": 1, "observations": 1 }));
    assert_eq!(merged["project"]["observations"], 2);
    assert_eq!(names(&world), ["web"]);
    world.command(("s-4", API), 0, "make more");
    let here = world.call_from(Some(API), "search", json!({ "query": "make" })).unwrap();
    assert_eq!((&here["project"], here["results"].as_array().unwrap().len()), (&json!("web"), 3));
    for (from, into) in [("web", "web"), (API, "web"), ("api", "web")] {
        let params = json!({ "from": from, "into": into });
        assert_eq!(code(world.call("merge_projects", params)), Code::Invalid, "{from}");
    }
    let unknown = json!({ "from": "nobody", "into": "web" });
    assert_eq!(code(world.call("merge_projects", unknown)), Code::NotFound);
}

/// @project_split
#[test]
fn a_split_takes_one_root_with_its_sessions_out_again() {
    let world = two_projects();
    world.ask("merge_projects", json!({ "from": "api", "into": "web" }));
    let split = world.ask("split_project", json!({ "project": "web", "root": API }));
    assert_eq!(
        (&split["project"]["name"], &split["project"]["sessions"]),
        (&json!("api"), &json!(1))
    );
    for (place, made) in [(WEB, "make s-web"), (API, "make s-api")] {
        let found = world.call_from(Some(place), "search", json!({ "query": "make" })).unwrap();
        assert_eq!(super::super::reading::texts(&found["results"]), [made]);
    }
    for root in [API, WEB, "/nowhere/else", ""] {
        let params = json!({ "project": "web", "root": root });
        assert_eq!(code(world.call("split_project", params)), Code::Invalid, "{root}");
    }
}

#[test]
fn a_name_of_several_projects_is_not_enough() {
    let world = World::new();
    world.command(("s-1", "/nowhere/a/app"), HOUR, "make");
    world.command(("s-2", "/nowhere/b/app"), HOUR, "make");
    world.command(("s-3", WEB), HOUR, "make");
    let error = world.call("merge_projects", json!({ "from": "app", "into": "web" })).unwrap_err();
    assert_eq!((error.code, &error.details["param"]), (Code::Invalid, &json!("from")));
    let exact = error.details["projects"][1].clone();
    world.ask("merge_projects", json!({ "from": exact, "into": "web" }));
    assert_eq!(names(&world), ["app", "web"]);
}
