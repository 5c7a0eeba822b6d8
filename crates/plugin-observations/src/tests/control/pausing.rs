//! A pause: no event is captured and no session gets a briefing.

use model::Code;
use serde_json::{Value, json};

use super::super::reading::{API, HOUR, WEB, World, code};

const S: (&str, &str) = ("s-1", WEB);

fn kept(world: &World) -> Value {
    world.ask("memory_stats", json!({}))["observations"].clone()
}

/// The briefing of a session that starts in this directory.
fn told(world: &World, session: &str, cwd: &str) -> Option<String> {
    let payload = json!({ "session_id": session, "cwd": cwd, "source": "startup" });
    let answer = world.ask("hook", json!({ "event": "SessionStart", "payload": payload }));
    answer["context"].as_str().map(str::to_owned)
}

/// @pause_everywhere
#[test]
fn a_pause_captures_and_tells_nothing_until_it_is_ended() {
    let world = World::new();
    world.prompt(S, 2 * HOUR, "look at the pelican");
    world.command(S, HOUR, "make before");
    assert!(told(&world, "s-2", WEB).unwrap().contains("look at the pelican"));
    let before = kept(&world);
    let answer = world.ask("pause", json!({}));
    assert_eq!((&answer["paused"], &answer["pauses"]), (&json!(true), &json!([{}])));
    assert_eq!(world.ask("pause", json!({}))["changed"], false);
    for cwd in [WEB, API] {
        world.prompt(("s-3", cwd), 0, "a secret plan");
        world.command(("s-3", cwd), 0, "make meanwhile");
        assert_eq!(told(&world, "s-4", cwd), None);
    }
    assert_eq!(kept(&world), before);
    assert_eq!(world.found(json!({ "query": "meanwhile" })), [""; 0]);
    assert_eq!(world.found(json!({ "query": "plan" })), [""; 0]);
    assert_eq!(world.found(json!({ "query": "before" })), ["make before"], "search goes on");
    let text = world.shown("pause", json!({}));
    assert_eq!(text, "paused everywhere until `rekindle pause off`");
    assert_eq!(world.shown("pause", json!({ "duration": "off" })), "capture resumed");
    assert_eq!(world.ask("pause", json!({ "duration": "off" }))["changed"], false);
    world.command(S, 0, "make after");
    assert_eq!(world.found(json!({ "query": "after" })), ["make after"]);
}

/// @pause_of_a_project
#[test]
fn a_pause_of_a_project_leaves_the_others_alone() {
    let world = World::new();
    world.command(S, HOUR, "make web");
    world.command(("s-2", API), HOUR, "make api");
    world.ask("pause", json!({ "project": "web" }));
    world.command(S, 0, "hidden deed");
    world.command(("s-2", API), 0, "open deed");
    assert_eq!(world.found(json!({ "query": "deed" })), ["open deed"]);
    let still = world.ask("pause", json!({ "duration": "off" }));
    assert_eq!(still["paused"], true, "that of everywhere is another one");
    assert!(still["pauses"][0]["project"].as_str().unwrap().starts_with("project://"));
    world.ask("pause", json!({ "duration": "off", "project": "web" }));
    world.command(S, 0, "last deed");
    assert_eq!(world.found(json!({ "query": "last" })), ["last deed"]);
}

/// @pause_of_a_project
#[test]
fn a_paused_project_stores_nothing_from_its_sessions_elsewhere_and_is_in_no_briefing() {
    let world = World::new();
    world.prompt(S, HOUR, "count the pelicans of the lake");
    world.command(S, HOUR, "make web");
    world.prompt(("s-2", API), HOUR, "feed the pelicans of the lake at night");
    world.command(("s-2", API), HOUR, "make api");
    assert!(told(&world, "s-3", API).unwrap().contains("count the pelicans"));
    world.ask("pause", json!({ "project": "web" }));
    world.prompt(("s-1", API), 0, "a plan from elsewhere");
    world.command(("s-1", API), 0, "hidden deed");
    world.command(("s-2", API), 0, "open deed");
    assert_eq!(world.found(json!({ "query": "deed" })), ["open deed"]);
    assert_eq!(world.found(json!({ "query": "plan" })), [""; 0]);
    let elsewhere = told(&world, "s-4", API).unwrap();
    assert!(elsewhere.contains("feed the") && !elsewhere.contains("count the"), "{elsewhere}");
}

/// @pause_of_a_project
#[test]
fn a_pause_goes_with_a_project_that_is_merged() {
    let world = World::new();
    world.command(S, HOUR, "make web");
    world.command(("s-2", API), HOUR, "make api");
    world.ask("pause", json!({ "project": "web" }));
    world.ask("merge_projects", json!({ "from": "web", "into": "api" }));
    assert_eq!(world.ask("pause", json!({ "duration": "off" }))["paused"], true);
    for (session, cwd) in [("s-3", WEB), ("s-4", API)] {
        world.command((session, cwd), 0, "hidden deed");
    }
    assert_eq!(world.found(json!({ "query": "deed" })), [""; 0]);
    world.ask("pause", json!({ "duration": "off", "project": "api" }));
    world.command(("s-4", API), 0, "open deed");
    assert_eq!(world.found(json!({ "query": "deed" })), ["open deed"]);
}

/// @pause_for_a_while
#[test]
fn a_pause_with_a_duration_ends_by_itself() {
    let world = World::new();
    for duration in ["30m", "1800s", "PT30M", "PT0.5H"] {
        let answer = world.ask("pause", json!({ "duration": duration }));
        let ends = answer["pauses"][0]["ends_at"].as_i64().unwrap();
        let asked = answer["answered_at"].as_str().and_then(model::time::parse_rfc3339);
        let asked = asked.unwrap() / 1000;
        assert!((1_799..=1_801).contains(&(ends - asked)), "{duration}: {answer}");
    }
    world.command(S, -10 * 60_000, "make within");
    world.command(S, -HOUR, "make afterwards");
    assert_eq!(world.found(json!({ "query": "make" })), ["make afterwards"]);
    assert_eq!(
        world.shown("pause", json!({ "duration": "90m" })),
        "paused everywhere for 90 minutes"
    );
}

#[test]
fn an_invalid_pause_is_refused_and_changes_nothing() {
    let world = World::new();
    for duration in [
        "", "soon", "-5m", "0m", "5", "m", "1y", "P1Y", "PT0S", "session", "forever", "400d",
        "P9999D",
    ] {
        let answer = world.call("pause", json!({ "duration": duration }));
        assert_eq!(code(answer), Code::Invalid, "{duration}");
    }
    let error = world.call("pause", json!({ "duration": "99999999999d" })).unwrap_err();
    assert!(error.message.contains("366 days"), "{}", error.message);
    assert_eq!(code(world.call("pause", json!({ "project": "nobody" }))), Code::NotFound);
    assert_eq!(code(world.call("pause", json!({ "until": "noon" }))), Code::Invalid);
    assert_eq!(
        world.shown("pause", json!({ "duration": "off" })),
        "there was no pause of all projects"
    );
}
