//! In which order a search answers, page by page.

use std::collections::HashMap;

use model::observation::ObsType;
use serde_json::{Value, json};

use super::{DAY, HOUR, WEB, World, texts};

/// @search_orders
#[test]
fn the_order_is_by_words_by_all_that_counts_or_by_time() {
    let world = World::new();
    let s = |number: usize| (["s-1", "s-2", "s-3"][number], WEB);
    world.command(s(0), 40 * DAY, "parser");
    world.edit(s(1), 3 * DAY, "/nowhere/web/p.rs", "the parser of p.rs learns a word");
    let read = (ObsType::WebFetch, None);
    world.used(
        s(2),
        HOUR,
        read,
        "a long page where a parser is named among other things",
        json!({}),
    );
    let first = |order: &str| {
        let found = world.found(json!({ "query": "parser", "order_by": order }));
        assert_eq!(found.len(), 3);
        found[0].split(' ').next().unwrap().to_owned()
    };
    assert_eq!(first("relevance"), "parser");
    assert_eq!(first("blended"), "the");
    assert_eq!(first("recent"), "a");
    let camel = world.ask("search", json!({ "query": "parser", "orderBy": "recent" }));
    assert!(camel["results"][0]["content_preview"].as_str().unwrap().starts_with("a long"));
}

/// @search_orders
#[test]
fn scores_fall_down_the_page() {
    let world = World::new();
    for number in 0..30 {
        let words = "filler ".repeat(number);
        world.command((&format!("s-{number}"), WEB), HOUR, &format!("target {words}"));
    }
    for order in ["best", "relevance", "blended", "recent"] {
        let found = world.ask("search", json!({ "query": "target", "order_by": order }));
        let scores: Vec<f64> = found["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|hit| hit["score"].as_f64().unwrap())
            .collect();
        assert!(scores.is_sorted_by(|a, b| a >= b), "{order}: {scores:?}");
    }
}

/// @search_orders
#[test]
fn blended_weighs_the_newest_of_very_many_hits_by_the_same_relevance() {
    let world = World::new();
    for number in 0..750_i64 {
        let (session, age) = (format!("s-{}", number / 20), (750 - number) * HOUR * 3);
        let line = match number % 3 {
            0 => format!("copy documents plan number old {number}"),
            _ => format!("other thing {number}"),
        };
        world.command((&session, WEB), age, &line);
    }
    let found = |order: &str| {
        let query = json!({ "query": "documents plan", "order_by": order, "limit": 100,
            "diverse": false });
        world.ask("search", query)["results"].as_array().unwrap().clone()
    };
    let relevance: HashMap<i64, f64> = found("relevance")
        .iter()
        .map(|hit| (hit["id"].as_i64().unwrap(), hit["score"].as_f64().unwrap()))
        .collect();
    let blended = found("blended");
    let both = blended.iter().filter_map(|hit| Some((hit, relevance.get(&hit["id"].as_i64()?)?)));
    let mut compared = 0;
    for (hit, relevance) in both {
        let part = |name: &str| hit["match_explain"]["parts"][name].as_f64().unwrap();
        let score = 0.5 * relevance + 0.3 * part("recency") + 0.2 * part("type");
        assert!((hit["score"].as_f64().unwrap() - score).abs() < 0.02, "{hit} {relevance}");
        compared += 1;
    }
    assert!(compared > 20, "{compared}");
    let newest = "copy documents plan number old 747";
    assert!(blended.iter().any(|hit| hit["content_preview"] == newest), "the newest is there");
}

/// Six hits of a talkative session, two of a quiet one.
fn talkative() -> World {
    let world = World::new();
    for number in 0..6 {
        world.command(("s-loud", WEB), 10 * HOUR, &format!("deploy step{number}"));
    }
    for number in 6..8 {
        world.command(("s-quiet", WEB), 20 * HOUR, &format!("deploy the whole thing step{number}"));
    }
    world
}

fn of_session(found: &Value, session: &str) -> usize {
    found["results"].as_array().unwrap().iter().filter(|hit| hit["session_id"] == session).count()
}

/// One record that answers, six of a talkative session that have one common word, and two of others.
fn one_answer_among_weak_hits() -> World {
    let world = World::new();
    world.command(("s-best", WEB), HOUR, "rotate the signing key of the payment gateway");
    let others = ["red apples", "blue herons", "tall towers", "cold soup", "new roads", "old maps"];
    for (number, other) in (0..).zip(others) {
        let text = format!("gateway log about {other}, which is a rather long line");
        world.command(("s-loud", WEB), 10 * HOUR + number, &text);
    }
    for number in 0..2 {
        let text =
            format!("gateway note{number}, another long line with many other words beside it");
        world.command((&format!("s-{number}"), WEB), 20 * HOUR, &text);
    }
    world
}

/// @search_diversity
#[test]
fn weak_hits_of_one_session_give_way_to_others_and_still_fill_the_page() {
    let world = one_answer_among_weak_hits();
    let query = "rotate signing key payment gateway";
    let page = world.ask("search", json!({ "query": query, "limit": 6 }));
    let shares = ["s-best", "s-loud", "s-0", "s-1"].map(|session| of_session(&page, session));
    assert_eq!(shares, [1, 3, 1, 1], "{page}");
    let page = world.ask("search", json!({ "query": query }));
    assert_eq!(page["results"].as_array().unwrap().len(), 9, "a page with room has all of them");
}

/// @search_diversity
#[test]
fn a_word_a_path_or_a_name_lists_all_hits_of_a_session() {
    let world = talkative();
    for params in [
        json!({ "query": "deploy", "limit": 6 }),
        json!({ "query": "deploy", "limit": 6, "diverse": false }),
        json!({ "query": "deploy", "session_id": "s-loud" }),
    ] {
        assert_eq!(of_session(&world.ask("search", params), "s-loud"), 6);
    }
}

/// @search_diversity
#[test]
fn going_on_with_the_offset_shows_every_hit_once() {
    let world = talkative();
    for limit in [2, 4, 20] {
        let mut seen = Vec::new();
        let mut offset = json!(0);
        while !offset.is_null() {
            let params = json!({ "query": "deploy", "limit": limit, "offset": offset });
            let page = world.ask("search", params);
            seen.extend(texts(&page["results"]));
            offset = page["next_offset"].clone();
        }
        seen.sort();
        let all: Vec<&str> = seen.iter().map(|text| text.rsplit(' ').next().unwrap()).collect();
        let numbers: Vec<String> = (0..8).map(|number| format!("step{number}")).collect();
        let mut sorted = all.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, numbers, "{limit}");
    }
}

/// @search_diversity
#[test]
fn every_hit_is_shown_once_even_of_more_than_are_weighed() {
    let world = World::new();
    const SESSIONS: usize = 20;
    const EACH: usize = 13;
    for session in 0..SESSIONS {
        for step in 0..EACH {
            let (name, age) = (format!("s-{session}"), (session * EACH + step) as i64 * HOUR / 4);
            world.command(
                (&name, WEB),
                age,
                &format!("deploy {} s{session}-{step}", "x ".repeat(step)),
            );
        }
    }
    for order in ["best", "relevance", "blended", "recent"] {
        for (limit, diverse) in [(20, false), (20, true), (37, true), (100, false)] {
            let mut seen = Vec::new();
            let mut offset = json!(0);
            while !offset.is_null() {
                let page = world.ask(
                    "search",
                    json!({ "query": "deploy", "limit": limit, "offset": offset,
                        "order_by": order, "diverse": diverse }),
                );
                seen.extend(texts(&page["results"]));
                offset = page["next_offset"].clone();
            }
            let shown = seen.len();
            seen.sort();
            seen.dedup();
            let all = (SESSIONS * EACH, SESSIONS * EACH);
            assert_eq!((shown, seen.len()), all, "{order} {limit} {diverse}");
        }
    }
}

/// @search_diversity @search_exact
#[test]
fn a_quotation_of_very_many_records_shows_each_once_page_by_page() {
    let world = World::new();
    const COUNT: usize = 700;
    for at in 0..COUNT {
        // Only the newest are read to see whether they have just these words, and the oldest are the shortest.
        let text = format!("sardine harvest number{at}{}", " by hand".repeat((COUNT - at) / 90));
        world.command((&format!("s-{}", at % 40), WEB), at as i64 * 10, &text);
    }
    for order in ["relevance", "blended", "recent"] {
        for limit in [60, 100] {
            let (mut offset, mut seen) = (json!(0), Vec::new());
            while !offset.is_null() {
                let asked = json!({ "query": "\"sardine harvest\"", "limit": limit,
                    "offset": offset, "order_by": order });
                // On a busy machine a page may hit its time limit. It is then marked as such, and we request it again.
                let pages = (0..50).map(|_| world.ask("search", asked.clone()));
                let page = pages.into_iter().find(|page| page["partial"] != true).unwrap();
                seen.extend(texts(&page["results"]));
                offset = page["next_offset"].clone();
            }
            let shown = seen.len();
            seen.sort();
            seen.dedup();
            assert_eq!((shown, seen.len()), (COUNT, COUNT), "{order} {limit}");
        }
    }
}

/// @search_diversity
#[test]
fn a_session_with_more_hits_than_are_weighed_shows_every_one_once() {
    let world = World::new();
    const LOUD: usize = 330;
    // The shorter and the newer, the better in every order.
    for step in 0..LOUD {
        world.command(("s-loud", WEB), step as i64, &format!("deploy loud{step}"));
    }
    for step in 0..4 {
        let text = format!("quiet{step}: the deploy of {}", "something or other ".repeat(9));
        world.command((&format!("s-{}", step / 2), WEB), HOUR + step, &text);
    }
    for order in ["best", "relevance", "blended", "recent"] {
        let (mut offset, mut seen) = (json!(0), Vec::new());
        while !offset.is_null() {
            let asked =
                json!({ "query": "deploy", "limit": 10, "offset": offset, "order_by": order });
            let page = world.ask("search", asked);
            seen.extend(texts(&page["results"]));
            offset = page["next_offset"].clone();
        }
        let shown = seen.len();
        seen.sort();
        seen.dedup();
        assert_eq!((shown, seen.len()), (LOUD + 4, LOUD + 4), "{order}");
    }
}

/// @search_exact
#[test]
fn exact_matches_rank_before_similar_texts() {
    let world = World::new();
    let texts = [
        "Edit src/models/users.rs: fields of users and users again",
        "Edit src/models/user.rs: one field",
        "Read src/models/user.rs.bak",
        "the quick brown fox jumps over the wall",
        "find the brown fox, quick, please find it",
        "git commit --verify --verify",
        "git commit --no-verify",
    ];
    for (age, text) in texts.iter().enumerate() {
        world.command((&format!("s-{age}"), WEB), age as i64 * HOUR, text);
    }
    for (query, first) in [
        ("src/models/user.rs", texts[1]),
        ("find the \"quick brown fox\" please", texts[3]),
        ("\"quick brown fox\" nowhere", texts[3]),
        ("--no-verify", texts[6]),
        ("\"src/models/user.rs\"", texts[1]),
        ("\"quick brown fox\"", texts[3]),
    ] {
        for order in ["relevance", "blended"] {
            let found = world.ask("search", json!({ "query": query, "order_by": order }));
            let hit = &found["results"][0];
            assert_eq!(hit["content_preview"], first, "{query} {order}");
            assert_eq!(hit["match_explain"]["reasons"][0], "exactly as typed", "{query}");
        }
    }
}

/// @search_exact
#[test]
fn a_quotation_alone_has_what_contains_it_first_and_the_newest_of_these_in_a_blended_order() {
    let world = World::new();
    let s = ("s-1", WEB);
    let old = "look at src/user.rs now please, it has been there for long";
    world.command(s, 2_000 * HOUR, old);
    for number in 0..260_i64 {
        world.command(s, (600 - number) * HOUR, &format!("vim src/user.rs.bak {number}"));
    }
    let new = "look again at src/user.rs now please, it has been there for long";
    world.command(s, HOUR, new);
    for (order, expected) in [("relevance", [old, new]), ("blended", [new, old])] {
        let params = json!({ "query": "\"src/user.rs\"", "order_by": order, "diverse": false });
        let found = texts(&world.ask("search", params)["results"]);
        let mut first = found[..2].to_vec();
        if order == "relevance" {
            first.sort_by_key(|text| text != old);
        }
        assert_eq!(first, expected, "{order}");
    }
}

/// @search_exact
#[test]
fn a_name_lists_what_contains_it_and_an_answer_of_parts_says_so() {
    let world = World::new();
    let s = ("s-1", WEB);
    world.command(s, 3 * HOUR, "cat crates/manifest/src/verify.rs");
    world.command(s, 2 * HOUR, "cat crates/manifest/src/lib.rs");
    for order in ["relevance", "blended", "recent"] {
        let params = json!({ "query": "crates/manifest/src/verify.rs", "order_by": order });
        let found = world.ask("search", params);
        assert_eq!(texts(&found["results"]), ["cat crates/manifest/src/verify.rs"], "{order}");
        assert_eq!(found["query_form"], "all_terms", "{order}");
    }
    let params = json!({ "query": "crates/manifest/src/main.rs" });
    let found = world.ask("search", params.clone());
    assert_eq!(
        (found["results"].as_array().unwrap().len(), &found["query_form"]),
        (2, &json!("any_term"))
    );
    let said = world.shown("search", params);
    assert!(said.contains("No record contains it as it was typed"), "{said}");
}
