//! Records that are like a text or like another record.

use model::Code;
use serde_json::{Value, json};

use super::{API, HOUR, WEB, World, code, texts};

const S: (&str, &str) = ("s-1", WEB);
const OTHER: (&str, &str) = ("s-2", API);

const LOCKED: &str = "the database was locked by another writer";

fn world() -> World {
    let world = World::new();
    world.prompt(S, 9 * HOUR, "repair the nightly import");
    world.command(S, 8 * HOUR, LOCKED);
    world.command(S, 7 * HOUR, "The database was locked by another writer!");
    world.command(S, 6 * HOUR, "SQLite waits because somebody else holds its file");
    world.edit(S, 5 * HOUR, "/nowhere/web/src/fence.rs", "paint the fence green");
    world.stop(S, 4 * HOUR);
    world.command(OTHER, HOUR, LOCKED);
    world
}

fn found(world: &World, params: Value) -> Vec<String> {
    texts(&world.ask("find_similar", params)["results"])
}

/// @similar_nearest
/// @similar_duplicates
#[test]
fn a_text_finds_the_nearest_records_with_what_their_score_is_made_of() {
    let world = world();
    let answer = world.ask("find_similar", json!({ "text": LOCKED, "project": "web" }));
    let results = answer["results"].as_array().unwrap();
    assert_eq!((&answer["project"], &answer["partial"]), (&json!("web"), &json!(false)));
    let members: Vec<&String> = results[0].as_object().unwrap().keys().collect();
    assert_eq!(
        members,
        [
            "id",
            "timestamp",
            "obs_type",
            "content_preview",
            "file_path",
            "session_id",
            "project",
            "is_pinned",
            "score",
            "parts",
            "duplicate"
        ]
    );
    let said = texts(&answer["results"]);
    assert_eq!(said[0], LOCKED);
    assert!(said[2].starts_with("SQLite waits"), "{said:?}");
    let duplicates: Vec<bool> = results.iter().map(|one| one["duplicate"] == true).collect();
    assert_eq!(duplicates[..3], [true, true, false]);
    assert!(!duplicates[3..].contains(&true));
    assert_eq!(results[0]["score"], 1.0);
    let part = |at: usize, name: &str| results[at]["parts"][name].as_f64().unwrap();
    assert_eq!((part(0, "lexical"), part(0, "cosine"), part(0, "overlap")), (1.0, 1.0, 1.0));
    assert!(part(2, "lexical") == 0.0 && part(2, "meaning") > 0.3 && part(2, "overlap") < 0.2);
    let scores: Vec<f64> = results.iter().map(|one| one["score"].as_f64().unwrap()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
}

/// @similar_not_itself
/// @similar_projects
#[test]
fn a_record_finds_what_is_like_it_and_not_itself() {
    let world = world();
    let id = world.id(LOCKED);
    let own = format!("obs://{id}");
    for params in [json!({ "path": own }), json!({ "text": format!(" {own}\n") })] {
        let answer = world.ask("find_similar", params);
        let ids: Vec<i64> = answer["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["id"].as_i64().unwrap())
            .collect();
        assert!(!ids.contains(&id));
        assert_eq!(answer["results"][0]["duplicate"], true);
        assert_eq!(answer["results"][1]["duplicate"], true);
    }
    // From a place, only what is known there.
    let here = world.call_from(Some(API), "find_similar", json!({ "path": own })).unwrap();
    assert!(texts(&here["results"]).iter().all(|text| text == LOCKED), "{here}");
    let summary = world.ask("find_similar", json!({ "path": "session://s-1", "project": "web" }));
    let kinds = summary["results"].as_array().unwrap().iter().map(|one| &one["obs_type"]);
    assert!(kinds.clone().count() > 0 && kinds.into_iter().all(|kind| kind != "session_summary"));
    let mut first = texts(&summary["results"]);
    first.truncate(2);
    first.sort();
    assert_eq!(first, ["paint the fence green", "repair the nightly import"]);
}

/// @similar_paths
#[test]
fn exactly_one_of_text_and_path_says_what_it_is_about() {
    let world = world();
    let refused = |params: Value| code(world.call("find_similar", params));
    assert_eq!(refused(json!({})), Code::Invalid);
    assert_eq!(refused(json!({ "text": "a", "path": "obs://1" })), Code::Invalid);
    assert_eq!(refused(json!({ "path": "/nowhere/web/src/fence.rs" })), Code::Invalid);
    assert_eq!(refused(json!({ "path": "nothing://1" })), Code::Invalid);
    assert_eq!(refused(json!({ "path": "obs://x" })), Code::Invalid);
    assert_eq!(refused(json!({ "path": "obs://99999" })), Code::NotFound);
    assert_eq!(refused(json!({ "text": "obs://99999" })), Code::NotFound);
    assert_eq!(refused(json!({ "path": "session://nobody" })), Code::NotFound);
    assert_eq!(refused(json!({ "text": "a", "query": "b" })), Code::Invalid);
    assert_eq!(refused(json!({ "text": "a", "project": "nowhere" })), Code::NotFound);
    // A text that is not the path of an entry is compared as text.
    for text in ["https://example.com/fence", "see obs://99999 for the fence", "fence://green"] {
        let first = found(&world, json!({ "text": text, "limit": 1 }));
        assert_eq!(first, ["paint the fence green"], "{text}");
    }
    for text in ["", "  ", "?!", "🦀", "\0"] {
        assert_eq!(found(&world, json!({ "text": text })), [""; 0], "{text:?}");
    }
}

/// @similar_text
#[test]
fn a_text_of_any_size_is_answered() {
    let world = world();
    for text in ["fence ".repeat(200_000), "x".repeat(1_000_000), "認証".repeat(50_000)] {
        world.ask("find_similar", json!({ "text": text }));
    }
    for (limit, count) in [(json!(1), 1), (json!(0), 1), (json!(-5), 1), (json!(1_000_000), 7)] {
        let found = found(&world, json!({ "text": LOCKED, "limit": limit }));
        assert_eq!(found.len(), count, "{limit}: {found:?}");
    }
}

#[test]
fn people_see_a_table_in_which_duplicates_are_marked() {
    let world = world();
    let shown = world.shown("find_similar", json!({ "text": LOCKED, "project": "web" }));
    let marked = shown.lines().filter(|line| line.starts_with("=#")).count();
    assert_eq!(marked, 2, "{shown}");
    assert!(shown.ends_with("\n= says the same"), "{shown}");
    let other = world.shown("find_similar", json!({ "text": "fence", "project": "web" }));
    assert!(!other.contains("says the same"), "{other}");
    let nothing = World::new().shown("find_similar", json!({ "text": "fence" }));
    assert_eq!(nothing, "No record is similar.");
}

/// @project_merge
#[test]
fn after_a_merge_a_record_is_found_by_meaning_in_the_one_project_and_in_the_other_no_more() {
    let world = World::new();
    world.command(S, 3 * HOUR, "cargo fmt");
    world.command(OTHER, 2 * HOUR, "we decided to use SQLite instead of Postgres");
    let asked = |cwd: &str| {
        let params = json!({ "query": "why choose a database engine" });
        texts(&world.call_from(Some(cwd), "search", params).unwrap()["results"])
    };
    let decided = "we decided to use SQLite instead of Postgres";
    assert!(!asked(WEB).contains(&decided.to_owned()) && asked(API)[0] == decided);
    world.ask("merge_projects", json!({ "from": "api", "into": "web" }));
    assert_eq!(asked(WEB)[0], decided);
    let gone = world.call("search", json!({ "query": "SQLite", "project": "api" }));
    assert!(gone.is_err() || gone.unwrap()["project"] == "web", "api leads to web or nowhere");
}
