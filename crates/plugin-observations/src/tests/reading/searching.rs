//! The hits of a search, what it says about each, and the parameters that it refuses.

use model::Code;
use model::observation::ObsType;
use serde_json::json;

use super::{API, DAY, HOUR, WEB, World, code};

const S: (&str, &str) = ("s-1", WEB);

fn world() -> World {
    let world = World::new();
    world.prompt(S, 9 * HOUR, "why does the login token expire?");
    world.edit(S, 8 * HOUR, "/nowhere/web/src/auth.rs", "Edit src/auth.rs: refreshToken");
    world.command(S, 7 * HOUR, "docker compose up");
    let failed = json!({ "failed": true, "error": "connection refused by the broker" });
    world.used(S, 6 * HOUR, (ObsType::CommandError, None), "make deploy", failed);
    let commit = json!({ "commit_message": "repair the invoice rounding" });
    world.used(S, 5 * HOUR, (ObsType::GitCommit, None), "git commit", commit);
    world.stop(S, 4 * HOUR);
    world
}

/// @search_reasons
#[test]
fn a_hit_carries_what_it_is_where_it_is_from_and_why_it_is_there() {
    let world = world();
    let found = world.ask("search", json!({ "query": "docker compose" }));
    let hit = &found["results"][0];
    let members: Vec<&String> = hit.as_object().unwrap().keys().collect();
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
            "match_explain"
        ]
    );
    assert_eq!(hit["timestamp"], (world.now - 7 * HOUR) / 1000);
    assert_eq!(hit["obs_type"], "command");
    assert_eq!((hit["session_id"].as_str(), hit["project"].as_str()), (Some("s-1"), Some("web")));
    assert_eq!((&hit["is_pinned"], &hit["file_path"]), (&json!(false), &json!(null)));
    let explain = &hit["match_explain"];
    assert_eq!(explain["score"], hit["score"]);
    assert_eq!(
        explain["reasons"],
        json!(["matched: docker, compose", "phrase: \"docker compose\""])
    );
    assert!(explain["parts"]["lexical"].as_f64() > Some(0.8), "{explain}");
    assert!(explain["parts"]["meaning"].as_f64() > Some(0.8), "{explain}");
    assert_eq!(explain["parts"]["type"], 0.5);
    assert_eq!((&found["query_form"], &found["partial"]), (&json!("any_term"), &json!(false)));
}

/// @search_everything
#[test]
fn plain_questions_find_prompts_edits_errors_commits_and_summaries() {
    let world = world();
    for (query, kind) in [
        ("Why did the login expire?", "user_prompt"),
        ("refresh", "file_edit"),
        ("what refused connections?", "command_error"),
        ("invoices that were rounded", "git_commit"),
        ("auth.rs", "file_edit"),
    ] {
        let found = world.ask("search", json!({ "query": query }));
        let kinds: Vec<_> =
            found["results"].as_array().unwrap().iter().map(|hit| &hit["obs_type"]).collect();
        assert!(kinds.contains(&&json!(kind)), "{query}: {found}");
    }
    let summaries = world.ask("search", json!({ "query": "login", "obs_type": "session_summary" }));
    assert_eq!(summaries["results"].as_array().unwrap().len(), 1);
}

/// @search_never_fails
#[test]
fn operators_are_honoured_and_nothing_that_is_typed_is_an_error() {
    let world = world();
    let form = |query: &str| {
        let found = world.ask("search", json!({ "query": query }));
        (
            found["query_form"].as_str().unwrap().to_owned(),
            found["results"].as_array().unwrap().len(),
        )
    };
    assert_eq!(form("docker AND compose"), ("operators".into(), 1));
    assert_eq!(form("docker AND invoice"), ("operators".into(), 0));
    assert_eq!(form("dock*"), ("operators".into(), 1));
    assert_eq!(form("\"compose docker\""), ("operators".into(), 0));
    assert_eq!(form("dock"), ("prefix".into(), 1));
    assert_eq!(form(" ?! ... "), ("empty".into(), 0));
    for query in ["it's", "a@b", "$HOME", "cargo,test", "#", "docker\"", "AND", "(", "NEAR(", "*"] {
        form(query);
    }
}

/// @search_limit
#[test]
fn a_failed_command_is_shown_with_the_line_that_names_the_failure() {
    let world = World::new();
    let failed = |line: &str, error: &str| {
        let error = json!({ "failed": true, "error": error });
        world.used(S, HOUR, (ObsType::CommandError, None), line, error);
    };
    failed(
        "zig build",
        "Exit code 1\ninstall\n+- zig build-exe a\nsrc/a.zig:8:2: error: expected type 'u8'\nnote: x",
    );
    let tests = "Exit code 2\nRunning ExUnit with seed: 4\n\n  1) test rollout is sticky (Beacon.RolloutTest)\n";
    failed("mix test", tests);
    let long = format!("make {}", "wombats ".repeat(40));
    failed(&long, "error: no rule");
    for (query, expected) in [
        ("zig build", "zig build: src/a.zig:8:2: error: expected type 'u8'"),
        ("mix test", "mix test: 1) test rollout is sticky (Beacon.RolloutTest)"),
        ("sticky rollout", "mix test: 1) test rollout is sticky (Beacon.RolloutTest)"),
    ] {
        assert_eq!(world.found(json!({ "query": query }))[0], expected, "{query}");
    }
    let shown = &world.found(json!({ "query": "wombats" }))[0];
    assert!(shown.ends_with("…: error: no rule") && shown.chars().count() <= 100, "{shown}");
}

/// @search_any_term
#[test]
fn a_record_without_any_word_of_the_query_is_listed_for_questions_only_and_says_why() {
    let world = world();
    assert_eq!(world.found(json!({ "query": "kubernetes" })), [""; 0]);
    assert_eq!(world.found(json!({ "query": "kubernetes AND ingress" })), [""; 0]);
    assert_eq!(world.found(json!({ "query": "docker" })), ["docker compose up"]);
    let found = world.ask("search", json!({ "query": "docker kubernetes" }));
    let results = found["results"].as_array().unwrap();
    assert_eq!(results[0]["content_preview"], "docker compose up");
    for other in &results[1..] {
        let reasons = other["match_explain"]["reasons"].to_string();
        assert!(reasons.contains("near in meaning") || reasons.contains("beside"), "{other}");
    }
}

/// @search_filters
#[test]
fn every_filter_narrows_and_all_of_them_hold_together() {
    let world = World::new();
    let other = ("codex-2", API);
    world.edit(S, 3 * DAY, "/nowhere/web/src/auth.rs", "cache one");
    world.command(S, 2 * DAY, "cache two");
    let failed = json!({ "failed": true });
    world.used(other, DAY, (ObsType::CommandError, None), "cache three", failed);
    let at = |days: i64| (world.now - days * DAY) / 1000;
    let table = [
        (json!({ "obs_type": "command" }), vec!["cache two"]),
        (json!({ "session_id": "codex-2" }), vec!["cache three"]),
        (json!({ "file_path": "auth.rs" }), vec!["cache one"]),
        (json!({ "file_path": "/nowhere/web/src/auth.rs" }), vec!["cache one"]),
        (json!({ "agent": "codex" }), vec!["cache three"]),
        (json!({ "failed": true }), vec!["cache three"]),
        (json!({ "failed": false }), vec!["cache two", "cache one"]),
        (json!({ "project": "api" }), vec!["cache three"]),
        (json!({ "before": at(2) }), vec!["cache one"]),
        (json!({ "after": at(2) }), vec!["cache three"]),
        (json!({ "after": at(3), "before": at(1) }), vec!["cache two"]),
        (json!({ "after": at(3), "failed": true, "project": "web" }), vec![]),
    ];
    for (mut params, expected) in table {
        params["query"] = "cache".into();
        params["order_by"] = "recent".into();
        assert_eq!(world.found(params.clone()), expected, "{params}");
    }
}

/// @search_commits
#[test]
fn a_commit_is_found_first_by_its_hash_of_any_length() {
    let world = World::new();
    let commit = |at: (&str, &str), ago: i64, content: &str, hash: &str| {
        let metadata = json!({ "commit_hash": hash, "commit_message": "mend the cache" });
        world.used(at, ago, (ObsType::GitCommit, None), content, metadata);
    };
    let full = "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d";
    commit(S, 4 * DAY, "git commit -m short", &full[..7]);
    commit(("s-2", WEB), 3 * DAY, "git commit -m other", "1a2b3cf");
    commit(("s-3", API), 2 * DAY, "git commit -m long", "deadbeef00112233445566778899aabbccddeeff");
    for number in 0..5 {
        let line = format!("git show 1a2b3c4 deadbeef001 cache {number}");
        world.command((&format!("s-4{number}"), WEB), HOUR, &line);
    }
    for (query, first) in [
        ("1a2b3c4", "git commit -m short"),
        ("1A2B3C4", "git commit -m short"),
        (&full[..12], "git commit -m short"),
        (full, "git commit -m short"),
        ("why did 1a2b3c4 break the cache?", "git commit -m short"),
        ("deadbee", "git commit -m long"),
        ("deadbeef001122334455", "git commit -m long"),
        ("1a2b3cf", "git commit -m other"),
    ] {
        for order in ["relevance", "blended"] {
            let found = world.ask("search", json!({ "query": query, "order_by": order }));
            let hit = &found["results"][0];
            let shown = hit["content_preview"].as_str().unwrap();
            assert!(shown.starts_with(first), "{query} {found}");
            let reason = hit["match_explain"]["reasons"][0].as_str().unwrap();
            assert!(reason.starts_with("commit "), "{reason}");
        }
    }
    let others = json!({ "query": full, "project": "api" });
    assert_eq!(world.found(others), [""; 0], "filters hold");
    let not_it = json!({ "query": "cache NOT 1a2b3c4" });
    assert!(!world.found(not_it).contains(&"git commit -m short".to_owned()));
    assert_eq!(world.found(json!({ "query": "1a2b3c", "limit": 1 })).len(), 1, "too short to lead");
}

/// @search_limit
#[test]
fn the_limit_is_twenty_and_stays_within_a_hundred() {
    let world = World::new();
    for number in 0..120 {
        world.command((&format!("s-{number}"), WEB), HOUR, &format!("lint part{number}"));
    }
    let count = |params| world.found(params).len();
    assert_eq!(count(json!({ "query": "lint" })), 20);
    for (limit, expected) in
        [(json!(-1), 1), (json!(0), 1), (json!(5_000), 100), (json!(u64::MAX), 100)]
    {
        assert_eq!(count(json!({ "query": "lint", "limit": limit })), expected, "{limit}");
    }
    assert_eq!(count(json!({ "query": "lint", "offset": -1 })), 20);
    let tail = world.ask("search", json!({ "query": "lint", "offset": 100, "limit": 100 }));
    assert_eq!(tail["results"].as_array().unwrap().len(), 20);
    assert_eq!(tail["next_offset"], json!(null));
}

/// @search_limit
#[test]
fn a_preview_is_the_passage_that_matched_with_a_mark_where_it_was_cut() {
    let world = World::new();
    let long = format!("needle {}", "ü".repeat(300));
    world.command(S, HOUR, &long);
    let found = world.found(json!({ "query": "needle" }));
    assert_eq!(found, [format!("{}…", long.chars().take(119).collect::<String>())]);
    let late = format!("{} the pin is in the haystack {}", "hay ".repeat(80), "straw ".repeat(80));
    world.command(S, HOUR, &late);
    let found = world.found(json!({ "query": "haystack pin" }));
    let shown = &found[0];
    assert!(shown.contains("the pin is in the haystack"), "{shown}");
    assert!(shown.starts_with('…') && shown.ends_with('…'), "{shown}");
    assert!(shown.chars().count() <= 120, "{shown}");
    let failed = json!({ "failed": true, "error": format!("{} numbat escaped", "x".repeat(300)) });
    world.used(S, HOUR, (ObsType::CommandError, None), "make zoo", failed);
    let [shown] = &world.found(json!({ "query": "numbat" }))[..] else { panic!() };
    assert!(shown.starts_with("make zoo: …") && shown.ends_with("numbat escaped"), "{shown}");
    // The name `nmem` asks for the form of its specification.
    let first = world.found(json!({ "query": "haystack pin", "preview": "beginning" }));
    assert_eq!(first[0], late.chars().take(120).collect::<String>());
}

/// @search_refusals
#[test]
fn an_unknown_invalid_or_missing_parameter_is_refused_by_its_name() {
    let world = world();
    let wrong = [
        (json!({ "query": "x", "typo": 1 }), "typo"),
        (json!({ "query": "x", "obs_type": "banana" }), "obs_type"),
        (json!({ "query": "x", "order_by": "size" }), "order_by"),
        (json!({ "query": "x", "limit": "many" }), "limit"),
        (json!({ "query": "x", "after": "soon" }), "after"),
        (json!({}), "query"),
    ];
    for (params, name) in wrong {
        let error = world.call("search", params.clone()).unwrap_err();
        assert_eq!(
            (error.code, &error.details["param"]),
            (Code::Invalid, &json!(name)),
            "{params}"
        );
    }
    let unknown = json!({ "query": "x", "session_id": "s-none" });
    assert_eq!(code(world.call("search", unknown)), Code::NotFound);
}
