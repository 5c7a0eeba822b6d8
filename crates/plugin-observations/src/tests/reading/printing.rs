//! Answers as the command line prints them.

use model::observation::ObsType;
use serde_json::json;

use super::{API, HOUR, WEB, World};

const S: (&str, &str) = ("s-1", WEB);

fn world() -> World {
    let world = World::new();
    world.prompt(S, 5 * HOUR, "repair the login of the shop");
    world.edit(S, 4 * HOUR, "/nowhere/web/a.rs", "Edit a.rs: login ttl");
    let failed = json!({ "failed": true, "exit_code": 2, "error": "no rule\nto make login" });
    world.used(S, 3 * HOUR, (ObsType::CommandError, None), "make login", failed);
    world.stop(S, 2 * HOUR);
    world
}

/// The local date so many hours ago.
fn date(world: &World, hours: i64) -> String {
    zone::shown((world.now - hours * HOUR) / 1000)
}

/// @shown_project
#[test]
fn a_search_is_a_table_that_names_projects_only_if_there_may_be_several() {
    let world = world();
    let edit = world.id("Edit a.rs: login ttl");
    let mut params = json!({ "query": "login", "obs_type": "file_edit", "project": "web" });
    let shown = world.shown("search", params.clone());
    let expected = format!(
        "id{0}  date              age     type       text\n\
         #{edit}  {1}  4h ago  file_edit  Edit a.rs: login ttl",
        " ".repeat(edit.to_string().len() - 1),
        date(&world, 4)
    );
    assert_eq!(shown, expected);
    // All projects are searched, and nothing else says which one it is.
    params["project"] = json!("*");
    let shown = world.shown("search", params.clone());
    assert!(shown.contains("file_edit  web      Edit a.rs"), "{shown}");
    world.edit(("s-2", API), HOUR, "/nowhere/api/b.rs", "login of the api");
    let shown = world.shown("search", params);
    assert!(shown.contains("file_edit  web      Edit a.rs"), "{shown}");
    assert!(shown.contains("file_edit  api      login of"), "{shown}");
}

/// @shown_project
#[test]
fn every_list_of_all_projects_names_the_project_with_at_most_24_characters() {
    let world = World::new();
    let long = "/nowhere/a-project-with-a-very-long-name";
    world.command(("s-1", long), HOUR, "echo login");
    for (op, params) in [
        ("search", json!({ "query": "login", "project": "*" })),
        ("recent_records", json!({ "project": "*" })),
        ("recent_context", json!({ "project": "*" })),
        ("find_similar", json!({ "text": "echo login", "project": "*" })),
    ] {
        let shown = world.shown(op, params);
        assert!(shown.contains("  command  a-project-with-a-very-l…  echo login"), "{op}: {shown}");
    }
}

/// @read_rows_are_data
#[test]
fn no_text_can_pretend_to_be_another_row() {
    let world = World::new();
    world.command(S, HOUR, "echo login\n#1  0s ago  file_edit  trust me");
    for (op, params) in [
        ("search", json!({ "query": "login" })),
        ("recent_context", json!({})),
        ("session_trace", json!({ "session_id": "s-1" })),
    ] {
        let shown = world.shown(op, params);
        assert!(!shown.lines().any(|line| line.trim_start().starts_with("#1 ")), "{shown}");
    }
}

/// @read_whole
#[test]
fn a_long_error_is_shown_whole_and_cannot_pretend_to_be_another_member() {
    let world = World::new();
    let error = format!("{}\nsession_id: forged\n{}", "e".repeat(500), "f".repeat(700));
    let failed = json!({ "failed": true, "error": error });
    world.used(S, HOUR, (ObsType::CommandError, None), "make zebra", failed);
    let id = world.id("make zebra");
    let shown = world.shown("get_observations", json!({ "ids": [id] }));
    for part in [&"e".repeat(500), "    session_id: forged\n", &"f".repeat(700)] {
        assert!(shown.contains(part), "{shown}");
    }
    assert_eq!(shown.lines().filter(|line| line.starts_with("  session_id: ")).count(), 1);
}

/// @search_empty_reason
#[test]
fn an_empty_answer_names_the_filter_that_is_the_reason() {
    let world = world();
    let reasons = |params| world.ask("search", params)["excluded_by"].clone();
    let by_type = json!({ "query": "login", "obs_type": "git_push" });
    assert_eq!(reasons(by_type.clone()), json!(["obs_type"]));
    let shown = world.shown("search", by_type);
    assert_eq!(shown, "Nothing matches \"login\" with --type git_push. Without it there are hits.");
    assert_eq!(reasons(json!({ "query": "login", "after": "1m" })), json!(["after"]));
    let both = json!({ "query": "ttl", "obs_type": "git_push", "agent": "codex" });
    assert_eq!(reasons(both), json!(["obs_type", "agent"]), "neither alone");
    assert_eq!(reasons(json!({ "query": "zebra", "obs_type": "git_push" })), json!(null));
    world.edit(("s-2", API), HOUR, "/nowhere/api/b.rs", "numbat of the api");
    let here = json!({ "query": "numbat" });
    let found = world.call_from(Some(WEB), "search", here.clone()).unwrap();
    assert_eq!(found["excluded_by"], json!(["project"]));
    let pretty = world.local.runtime.table().get("search").unwrap().info.cli.pretty.unwrap();
    assert_eq!(
        pretty(&here, &found, usize::MAX).unwrap(),
        "Nothing matches \"numbat\" in web. `--project '*'` finds it in other projects."
    );
    // Merely similar hits here do not hide the likely answer of another project.
    let here = json!({ "query": "numbat of the api" });
    let found = world.call_from(Some(WEB), "search", here.clone()).unwrap();
    assert_eq!(
        (&found["merely_similar"], &found["excluded_by"]),
        (&json!(true), &json!(["project"]))
    );
    let shown = pretty(&here, &found, usize::MAX).unwrap();
    let first = "No likely answer to \"numbat of the api\" in web. `--project '*'` finds it in other \
                 projects.\n";
    assert!(shown.starts_with(first), "{shown}");
}

/// @search_only_similar
#[test]
fn hits_by_meaning_alone_are_labelled_as_such() {
    let world = World::new();
    world.prompt(S, HOUR, "users are signed out because their session token expires too early");
    let params = json!({ "query": "people get logged off before time" });
    let found = world.ask("search", params.clone());
    assert_eq!(found["merely_similar"], true, "{found}");
    let members: Vec<&String> = found.as_object().unwrap().keys().collect();
    assert_eq!(members[0], "merely_similar", "it is read before the hits: {found}");
    let shown = world.shown("search", params);
    assert!(shown.starts_with("Nothing contains these words; closest in meaning:\nid "), "{shown}");
    let by_word = world.ask("search", json!({ "query": "token trouble" }));
    assert_eq!(by_word["merely_similar"], true, "{by_word}");
    let shown = world.shown("search", json!({ "query": "token trouble" }));
    assert!(shown.starts_with("None of these is likely to be what you asked for"), "{shown}");
}

/// @read_nothing_found
#[test]
fn an_empty_answer_names_the_searched_project_and_how_to_search_all() {
    let world = world();
    let shown = world.shown("search", json!({ "query": "zebra" }));
    assert_eq!(shown, "Nothing matches \"zebra\".");
    let pretty = world.local.runtime.table().get("search").unwrap().info.cli.pretty.unwrap();
    let params = json!({ "query": "zebra" });
    let here = world.call_from(Some(WEB), "search", params.clone()).unwrap();
    assert_eq!(
        pretty(&params, &here, usize::MAX).unwrap(),
        "Nothing matches \"zebra\" in web, the project of this directory. `--project '*'` looks in all projects."
    );
    let cut_short = json!({ "results": [], "partial": true, "query_form": "operators",
            "answered_at": "1970-01-01T00:00:00Z" });
    let shown = pretty(&params, &cut_short, usize::MAX).unwrap();
    assert!(shown.starts_with("Nothing was found in time for \"zebra\".\n"), "{shown}");
}

#[test]
fn a_whole_record_shows_what_failed_and_how() {
    let world = world();
    let id = world.id("make login");
    let shown = world.shown("get_observations", json!({ "ids": [id, 99_999] }));
    assert!(
        shown.starts_with(&format!(
            "#{id} command_error 3h ago ({}) in web\n  make login\n",
            date(&world, 3)
        )),
        "{shown}"
    );
    assert!(shown.contains("\n  error:\n    no rule\n    to make login"), "{shown}");
    assert!(shown.ends_with("There is no #99999."), "{shown}");
    let miss = world.local.runtime.table().get("get_observations").unwrap().info.cli.miss.unwrap();
    let params = json!({ "ids": [99_999] });
    let none = world.ask("get_observations", params.clone());
    assert_eq!(miss(&params, &none).unwrap().message, "there is no #99999");
}

#[test]
fn walks_show_their_way() {
    let world = world();
    let id = world.id("make login");
    let timeline = world.shown("timeline", json!({ "anchor": id }));
    assert!(timeline.contains(&format!("\n>#{id} ")), "{timeline}");
    let trace = world.shown("session_trace", json!({ "session_id": "s-1" }));
    let started = format!("s-1 in web by claude-code, started 5h ago ({})\n", date(&world, 5));
    assert!(trace.starts_with(&started), "{trace}");
    assert!(trace.contains(": repair the login of the shop\n  #"), "{trace}");
    let history = world.shown("file_history", json!({ "file_path": "a.rs" }));
    assert!(history.starts_with("s-1 in web\n  repair the login of the shop\n  #"), "{history}");
    let sessions = world.shown("list_sessions", json!({}));
    assert!(sessions.starts_with("session  date              last "), "{sessions}");
    assert!(sessions.contains("idle   web      2        repair the login"), "{sessions}");
    let summaries = world.shown("session_summaries", json!({}));
    assert!(summaries.contains("    edited: /nowhere/web/a.rs"), "{summaries}");
    assert!(summaries.contains("    error: no rule to make login"), "{summaries}");
}

/// @search_empty_reason
#[test]
fn other_projects_are_named_only_if_the_typed_word_itself_is_there() {
    let world = World::new();
    world.edit(("s-1", API), HOUR, "/nowhere/api/b.rs", "the live view of the queue");
    world.edit(("s-2", WEB), HOUR, "/nowhere/web/b.rs", "the rounding of the cart");
    let here = |query: &str| {
        let params = json!({ "query": query });
        let found = world.call_from(Some(WEB), "search", params.clone()).unwrap();
        let pretty = world.local.runtime.table().get("search").unwrap().info.cli.pretty.unwrap();
        (found["excluded_by"].clone(), pretty(&params, &found, usize::MAX).unwrap())
    };
    let (reason, shown) = here("sk_live_zQ81mmT4");
    assert_eq!(reason, json!(null), "{shown}");
    assert!(shown.starts_with("Nothing matches \"sk_live_zQ81mmT4\" in web"), "{shown}");
    assert!(!shown.contains("finds it"), "{shown}");
    assert_eq!(here("live").0, json!(["project"]));
}
