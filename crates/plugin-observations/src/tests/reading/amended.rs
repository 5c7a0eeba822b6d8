//! Decisions that were changed in free wording: which older record counts as replaced, and which does not.

mod pairs;

use serde_json::json;

use super::sections::{started, told};
use super::{DAY, HOUR, WEB, World, texts};
use pairs::{
    AMENDED, AMENDED_VALUES, BOTH_HOLD, EVERYDAY, OTHER_FACTS, PARALLEL, SIBLINGS, UNRELATED,
};

/// Every pair in a store of its own: whether the search for the older one says that it is replaced.
fn is_marked(old: &str, new: &str) -> bool {
    let world = World::new();
    world.prompt(("s-1", WEB), 9 * DAY, old);
    world.prompt(("s-2", WEB), 2 * DAY, new);
    let found = world.ask("search", json!({ "query": old }));
    let all = texts(&found["results"]);
    let place = |text: &str| all.iter().position(|one| one == text);
    let older = place(old).unwrap_or_else(|| panic!("{old} in {found}"));
    let note = found["results"][older]["note"].to_string();
    let is_marked = note.contains("replaced by #");
    // A sentence with a name in it looks up that name.
    let hit = &found["results"][older];
    let is_exact = hit["match_explain"]["reasons"].to_string().contains("exactly as typed");
    if is_marked && !is_exact {
        assert!(place(new) < Some(older), "the newer one stands first: {found}");
    }
    is_marked
}

/// @search_newer_decision
#[test]
fn most_changes_in_free_wording_replace_the_older_statement() {
    let missed: Vec<_> = AMENDED.iter().filter(|(old, new)| !is_marked(old, new)).collect();
    assert!(missed.len() * 100 <= AMENDED.len() * 15, "{missed:#?}");
}

/// @search_newer_decision
#[test]
fn another_value_name_or_rule_replaces_the_older_one() {
    let missed: Vec<_> = AMENDED_VALUES.iter().filter(|(old, new)| !is_marked(old, new)).collect();
    assert!(missed.len() <= 2, "{missed:#?}");
}

/// @search_newer_decision
#[test]
fn another_fact_about_the_same_subject_replaces_nothing() {
    let wrong: Vec<_> = OTHER_FACTS.iter().filter(|(old, new)| is_marked(old, new)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// @search_newer_decision
#[test]
fn decisions_about_different_things_are_not_marked_for_the_words_they_share() {
    let wrong: Vec<_> = UNRELATED.iter().filter(|(old, new)| is_marked(old, new)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// @search_newer_decision
#[test]
fn changes_in_everyday_words_are_marked() {
    let missed: Vec<_> = EVERYDAY.iter().filter(|(old, new)| !is_marked(old, new)).collect();
    assert!(missed.len() <= 2, "{missed:#?}");
}

/// @search_newer_decision
#[test]
fn a_statement_about_a_sibling_replaces_nothing() {
    let wrong: Vec<_> = SIBLINGS.iter().filter(|(old, new)| is_marked(old, new)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// @search_newer_decision
#[test]
fn a_handoff_lists_decisions_about_siblings_side_by_side() {
    let world = World::new();
    let decisions = [
        "We decided to cache product pages for 5 minutes.",
        "From now on cache category pages for 20 minutes.",
        "We decided: read requests to the archive time out after 5 seconds.",
        "We decided: write requests to the archive time out after 30 seconds.",
    ];
    for (at, said) in decisions.iter().enumerate() {
        let ago = 9 * HOUR - at as i64 * HOUR;
        world.prompt(("s-1", WEB), ago, said);
        world.answer(("s-1", WEB), ago - HOUR / 2, "Noted.");
    }
    let told = world.call_from(Some(WEB), "handoff", json!({ "session_id": "s-1" })).unwrap();
    let text = told["text"].as_str().unwrap();
    // The first and the last one are the intent, which no other section repeats.
    for said in decisions {
        assert!(text.contains(said), "{said}: {text}");
    }
    assert!(!text.contains("replace"), "{text}");
}

/// @search_newer_decision
#[test]
fn of_two_decisions_in_like_words_the_newer_ranks_first_and_both_are_marked() {
    let missed: Vec<_> = PARALLEL.iter().filter(|(old, new)| !is_marked(old, new)).collect();
    assert!(missed.is_empty(), "{missed:#?}");
    let wrong: Vec<_> = BOTH_HOLD.iter().filter(|(old, new)| is_marked(old, new)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// @search_newer_decision
#[test]
fn of_two_choices_for_one_thing_the_newer_ranks_first_without_a_mark() {
    let world = World::new();
    let (old, new) = ("Payments go through Stripe.", "Payments go through Adyen.");
    world.prompt(("s-1", WEB), 9 * DAY, old);
    world.prompt(("s-2", WEB), 2 * DAY, new);
    for query in ["which provider do payments go through", "payments"] {
        let found = world.ask("search", json!({ "query": query }));
        let all = texts(&found["results"]);
        let place = |text: &str| all.iter().position(|one| one == text);
        assert!(place(new) < place(old) && place(new).is_some(), "{query}: {found}");
        assert!(!found.to_string().contains("replace"), "{found}");
    }
}

/// @briefing_decisions
#[test]
fn a_decision_in_like_words_is_in_the_briefing_as_the_newer_one() {
    let world = World::new();
    let old = "We decided to use Stripe for payments.";
    let new = "We decided to use Adyen for payments.";
    for (session, day, said) in [("s-1", 9, old), ("s-2", 2, new)] {
        world.prompt((session, WEB), day * DAY, said);
        world.answer((session, WEB), day * DAY - HOUR, "Noted.");
    }
    let (old_id, new_id) = (world.id(old), world.id(new));
    let briefing = started(&world, ("s-3", WEB), "startup");
    assert!(briefing.contains(&format!("(replaces #{old_id})")), "{briefing}");
    let older = briefing.lines().filter(|line| line.contains(old));
    let marked = format!("(replaced by #{new_id})");
    older.for_each(|line| assert!(line.contains(&marked), "{briefing}"));
}

/// @briefing_decisions
#[test]
fn a_statement_changed_in_free_wording_is_in_the_briefing_only_as_the_newer_one() {
    let world = World::new();
    let (old, new) = ("The page limit of the list is 20.", "bump the page limit to 50");
    world.prompt(("s-1", WEB), 9 * DAY, old);
    world.edit(("s-1", WEB), 9 * DAY, "/nowhere/web/a.rs", "Edit a.rs: one");
    world.prompt(("s-2", WEB), 2 * DAY, new);
    world.edit(("s-2", WEB), 2 * DAY, "/nowhere/web/a.rs", "Edit a.rs: two");
    let (old_id, new_id) = (world.id(old), world.id(new));
    let rows = told(&world, "Recent sessions");
    let row = |text: &str| rows.iter().find(|row| row.contains(text)).cloned().unwrap_or_default();
    assert!(row(new).contains(&format!("(replaces #{old_id})")), "{rows:?}");
    assert!(
        row(old).is_empty() || row(old).contains(&format!("(replaced by #{new_id})")),
        "{rows:?}"
    );
    let briefing = started(&world, ("s-3", WEB), "startup");
    assert!(!briefing.contains(&format!("decided: \"{old}")), "{briefing}");
}

/// @search_newer_decision
#[test]
fn a_fact_that_changed_in_everyday_wording_is_marked_and_ranks_below_the_newer_one() {
    let changes = [
        (
            ("Set up nightly backups and keep them for 35 days.", "Backups run nightly."),
            ("Change the backup retention to 90 days", "Backups are kept for 90 days, not 35."),
            "how long are backups kept",
        ),
        (
            ("How long do we keep the backups?", "The backups are kept for 35 days."),
            ("Change the backup retention to 90 days", "They are kept for 90 days instead of 35."),
            "how long are the backups kept",
        ),
        (
            ("Write down: payments go through Stripe", "Noted, payments go through Stripe."),
            ("Change of plan: payments go through Adyen", "Noted in the readme."),
            "where do payments go through",
        ),
    ];
    for ((asked, old), (new, done), question) in changes {
        let world = World::new();
        for (at, days, prompt, said) in
            [(("s-1", WEB), 20, asked, old), (("s-2", WEB), 2, new, done)]
        {
            world.prompt(at, days * DAY, prompt);
            world.command(at, days * DAY - HOUR, "make notes");
            world.answer(at, days * DAY - 2 * HOUR, said);
            world.prompt(at, days * DAY - 3 * HOUR, "Add a health endpoint to the router");
            world.answer(at, days * DAY - 4 * HOUR, "The router has a health endpoint now.");
        }
        let fact = if asked.ends_with('?') { old } else { asked };
        let (newer, older) = (world.id(new), world.id(fact));
        let found = world.ask("search", json!({ "query": question }));
        let hits = found["results"].as_array().unwrap();
        let place = |id: i64| hits.iter().position(|hit| hit["id"] == id).expect("a hit");
        let (new_at, old_at) = (place(newer), place(older));
        assert!(new_at < old_at, "{found}");
        assert_eq!(hits[old_at]["note"], format!("replaced by #{newer}"), "{found}");
        let note = hits[new_at]["note"].as_str().unwrap_or_default();
        assert!(note.starts_with("replaces #"), "{found}");
    }
}

/// @search_newer_decision
#[test]
fn the_answer_and_the_commit_that_repeat_a_replaced_statement_are_marked_too() {
    let world = World::new();
    let (old, new) = ("s-1", "s-2");
    world.prompt((old, WEB), 20 * DAY, "Write down: payments go through Stripe");
    world.commit((old, WEB), 20 * DAY - HOUR, "1a2b3c4", "docs: payments go through Stripe");
    let stripe = "Noted in docs/payments.md: payments go through Stripe, with the hosted checkout.";
    world.answer((old, WEB), 20 * DAY - 2 * HOUR, stripe);
    for day in 4..18 {
        let at = (&*format!("s-{day}"), WEB);
        world.prompt(at, day * DAY, &format!("Why do payments of shop {day} go to the queue?"));
        let said = format!("Payments of shop {day} go to the queue because worker {day} is slow.");
        world.answer(at, day * DAY - HOUR, &said);
    }
    world.prompt((new, WEB), 2 * DAY, "Change of plan: payments go through Adyen");
    let adyen = "Done, docs/payments.md names Adyen and the drop-in component.";
    world.answer((new, WEB), 2 * DAY - HOUR, adyen);
    let by = format!("replaced by #{}", world.id("Change of plan: payments go through Adyen"));
    let found = world.ask("search", json!({ "query": "who do payments go through" }));
    let all = texts(&found["results"]);
    let place = |text: &str| all.iter().position(|one| one.contains(text)).expect("a hit");
    assert!(place("Adyen") == 0 && place("names Adyen") < 3, "{all:#?}");
    for text in ["Write down", "1a2b3c4", "Noted in docs"] {
        let hit =
            &found["results"][if text == "1a2b3c4" { place("docs: pay") } else { place(text) }];
        assert_eq!(hit["note"], by, "{text}: {found}");
    }
    assert!(place("Noted in docs") > place("names Adyen"), "{all:#?}");
    // A list says the same of each record alone.
    let shown = world.ask("get_observations", json!({ "ids": [world.id(stripe)] }));
    assert!(shown["results"][0]["note"].to_string().contains(&by), "{shown}");
}

/// @search_newer_decision
#[test]
fn the_summary_of_a_session_with_a_replaced_decision_is_marked_and_comes_after_the_newer_one() {
    let world = World::new();
    let (old, new) = ("Backups are kept for 30 days.", "Backups are kept for 90 days now.");
    for (session, ago, text) in [("s-1", 9 * DAY, old), ("s-2", 2 * DAY, new)] {
        world.prompt((session, WEB), ago, text);
        world.edit((session, WEB), ago - HOUR, "/nowhere/web/docs.md", "Edit docs.md: a note");
        world.answer((session, WEB), ago - 2 * HOUR, "Noted in the docs.");
        world.stop((session, WEB), ago - 3 * HOUR);
    }
    for kind in [None, Some("session_summary")] {
        let asked = json!({ "query": "how long are backups kept", "obs_type": kind });
        let found = world.ask("search", asked);
        let hits = found["results"].as_array().unwrap();
        let place = |session: &str| {
            let is_summary = |hit: &serde_json::Value| {
                hit["obs_type"] == "session_summary" && hit["session_id"] == session
            };
            hits.iter().position(is_summary).unwrap_or_else(|| panic!("{session}: {found}"))
        };
        let (older, newer) = (&hits[place("s-1")], &hits[place("s-2")]);
        assert_eq!(older["note"], format!("replaced by #{}", world.id(new)), "{found}");
        assert!(newer["note"].is_null(), "{found}");
        let amendment = hits.iter().position(|hit| hit["id"] == world.id(new));
        assert!(amendment.is_none_or(|place_of| place_of < place("s-1")), "{found}");
        assert_eq!(amendment.is_none(), kind.is_some(), "{found}");
    }
}

/// @search_newer_decision @briefing_decisions
#[test]
fn a_decision_is_replaced_by_a_turn_that_changes_it_by_its_number() {
    let world = World::new();
    let old = "decision: we use f32 everywhere in the solver, because of SIMD. write it down";
    let new = "ok: we change decision 7. positions become f64, all the rest stays. do it";
    for (session, ago, prompt, answer) in [
        ("s-1", 9 * DAY, old, "Written down as decision 7."),
        ("s-2", 2 * DAY, new, "Decision 7 is amended, positions are `DVec3` now."),
    ] {
        world.prompt((session, WEB), ago, prompt);
        world.edit((session, WEB), ago - HOUR, "/nowhere/web/docs.md", "Edit docs.md: a note");
        world.answer((session, WEB), ago - 2 * HOUR, answer);
    }
    let found = world.ask("search", json!({ "query": "which precision does the solver use" }));
    let all = texts(&found["results"]);
    let place = |text: &str| all.iter().position(|one| one == text).expect("a hit");
    let amended = "Decision 7 is amended, positions are `DVec3` now.";
    assert!(place(amended) < place(old), "{found}");
    let note = found["results"][place(old)]["note"].to_string();
    assert!(note.contains("replaced by #"), "{found}");
    let briefing = started(&world, ("s-3", WEB), "startup");
    assert!(!briefing.contains(&format!("decided: \"{}", &old[..30])), "{briefing}");
    assert!(briefing.contains("We change decision 7") || briefing.contains(new), "{briefing}");
}

/// @search_newer_decision
#[test]
fn of_summaries_about_one_subject_the_newer_one_is_first() {
    let world = World::new();
    for (session, ago, place) in [
        ("s-1", 9 * DAY, "blue proxy of the pier at night"),
        ("s-2", 2 * DAY, "green proxy of the pier"),
    ] {
        let said = format!("the harbour radar sits behind the {place}, write that into the notes");
        world.prompt((session, WEB), ago, &said);
        world.edit((session, WEB), ago - HOUR, "/nowhere/web/docs.md", "Edit docs.md: a note");
        world.answer((session, WEB), ago - 2 * HOUR, "The notes say so.");
        world.stop((session, WEB), ago - 3 * HOUR);
    }
    let asked = json!({ "query": "harbour radar behind which proxy of the pier at night", "obs_type": "session_summary" });
    let found = world.ask("search", asked);
    let sessions: Vec<_> =
        found["results"].as_array().unwrap().iter().map(|hit| &hit["session_id"]).collect();
    assert_eq!(sessions, ["s-2", "s-1"], "{found}");
}

/// @search_folds
#[test]
fn edits_that_give_a_constant_other_values_are_hits_of_their_own_and_the_newest_replaces_the_others()
 {
    let world = World::new();
    for (session, day, hours) in [("s-1", 9, 48), ("s-2", 8, 72), ("s-3", 7, 24)] {
        let text = format!("Edit limits.rb: FREE_UNTIL = {hours}.hours");
        world.edit((session, WEB), day * DAY, "/nowhere/web/limits.rb", &text);
    }
    for query in ["FREE_UNTIL", "which free until hours are set in limits"] {
        let found = world.ask("search", json!({ "query": query }));
        let hits = found["results"].as_array().unwrap();
        assert_eq!(hits.len(), 3, "{query}: {found}");
        assert!(hits.iter().all(|hit| hit["count"].is_null()), "{query}: {found}");
        assert_eq!(hits[0]["content_preview"], "Edit limits.rb: FREE_UNTIL = 24.hours", "{found}");
        let replaced = format!("replaced by #{}", hits[0]["id"]);
        let is_replaced = |hit: &serde_json::Value| {
            hit["note"].as_str().is_some_and(|note| note.ends_with(&replaced))
        };
        assert!(hits[1..].iter().all(is_replaced), "{query}: {found}");
    }
}

/// @search_newer_decision
#[test]
fn a_look_up_marks_an_answer_whose_prompt_was_replaced_and_is_no_hit() {
    let world = World::new();
    let (first, second) = (("s-1", WEB), ("s-2", WEB));
    let old = "We decided that a reservation can be cancelled free of charge until 48 hours before \
               arrival. Put that into the policy class.";
    world.prompt(first, 9 * DAY, old);
    let was =
        "`CancellationPolicy::FREE_UNTIL` is 48 hours; later ones are charged the first night.";
    world.answer(first, 9 * DAY - HOUR, was);
    let new = "Cancellations: change of plan, free cancellation ends 72 hours before arrival instead \
               of 48. The marinas complained.";
    world.prompt(second, 2 * DAY, new);
    let is = "FREE_UNTIL is 72 hours now, the mail template and the FAQ page name it too.";
    world.answer(second, 2 * DAY - HOUR, is);
    let replaced = format!("replaced by #{}", world.id(new));
    for params in [
        json!({ "query": "FREE_UNTIL" }),
        json!({ "query": "FREE_UNTIL", "order_by": "recent" }),
        json!({ "query": "FREE_UNTIL", "diverse": false }),
        json!({ "query": "CancellationPolicy" }),
    ] {
        let found = world.ask("search", params.clone());
        let hits = found["results"].as_array().unwrap();
        let place = |text: &str| hits.iter().position(|hit| hit["content_preview"] == text);
        assert_eq!(hits[place(was).unwrap()]["note"], replaced, "{params}: {found}");
        if params == json!({ "query": "FREE_UNTIL" }) {
            assert!(place(is) < place(was), "{params}: {found}");
        }
    }
}

/// @search_newer_decision
#[test]
fn a_replaced_decision_pulls_nothing_above_an_exact_look_up() {
    let world = World::new();
    let old = "We decided to keep the ledger totals in Redis, see src/ledger/totals.rs.";
    let new = "We changed our mind: keep the ledger totals in Postgres instead of Redis.";
    let error = "Exit code 1\nTypeError: unsupported operand for ledger_total";
    world.prompt(("s-1", WEB), 9 * DAY, old);
    world.run(("s-1", WEB), 9 * DAY - HOUR, "pytest tests/ledger.py", "failed", error);
    world.answer(("s-1", WEB), 9 * DAY - 2 * HOUR, "The ledger totals are kept in Redis.");
    world.prompt(("s-2", WEB), 2 * DAY, new);
    world.answer(("s-2", WEB), 2 * DAY - HOUR, "The totals are in Postgres now.");
    for query in [
        "TypeError: unsupported operand for ledger_total",
        "ledger_total",
        "tests/ledger.py",
        "operand",
    ] {
        let found = world.ask("search", json!({ "query": query }));
        let all = texts(&found["results"]);
        let place = |text: &str| all.iter().position(|one| one.starts_with(text));
        let failed = place("pytest tests/ledger.py");
        assert!(failed.is_some(), "{query}: {found}");
        assert!(place(new).is_none_or(|newer| Some(newer) > failed), "{query}: {found}");
    }
    // A word that only the replaced statement has lists that one, with its mark.
    let found = world.ask("search", json!({ "query": "src/ledger/totals.rs" }));
    assert_eq!(texts(&found["results"]).iter().position(|one| one == new), None, "{found}");
    let note = format!("replaced by #{}", world.id(new));
    let older =
        found["results"].as_array().unwrap().iter().find(|hit| hit["content_preview"] == old);
    assert_eq!(older.unwrap()["note"], note, "{found}");
    let found = world.ask("search", json!({ "query": "where do we keep the ledger totals" }));
    let all = texts(&found["results"]);
    let place = |text: &str| all.iter().position(|one| one == text);
    assert!(place(new) < place(old) && place(new).is_some(), "{found}");
}

/// @search_newer_decision
#[test]
fn an_answer_keeps_its_place_if_its_turn_was_replaced_in_another_point() {
    let world = World::new();
    let kept = "User sessions are kept for 14 days in Redis. While testing I found that the cleanup job leaks \
                database connections: it opens one per batch and never closes it.";
    world.prompt(("s-1", WEB), 20 * DAY, "Keep user sessions for 14 days in Redis.");
    world.answer(("s-1", WEB), 20 * DAY - HOUR, kept);
    world.prompt(("s-2", WEB), 2 * DAY, "Change of plan: keep user sessions for 30 days.");
    world.answer(("s-2", WEB), 2 * DAY - HOUR, "User sessions are kept for 30 days now.");
    let found =
        world.ask("search", json!({ "query": "why does the cleanup job leak connections" }));
    let first = &found["results"][0];
    assert_eq!(first["id"], world.id(kept), "{found}");
    assert!(first["note"].as_str().unwrap_or_default().starts_with("partly replaced by #"));
    let found = world.ask("search", json!({ "query": "how many days are user sessions kept" }));
    assert!(found["results"][0].to_string().contains("30 days"), "{found}");
}

/// @search_newer_decision
#[test]
fn a_replacing_record_comes_before_the_statement_and_not_before_its_turn() {
    let world = World::new();
    let old = "We decided to deploy with Ansible from the laptop.";
    let new = "We switched from Ansible to Kamal for deploys from the laptop.";
    world.prompt(("s-1", WEB), 9 * DAY, old);
    let error = "Exit code 4\nhost pier-7 unreachable: port 2222 refused, inventory stale";
    world.run(("s-1", WEB), 9 * DAY - HOUR, "ansible-playbook pier.yml", "failed", error);
    world.prompt(("s-2", WEB), 2 * DAY, new);
    let query = "host pier-7 unreachable port 2222 refused with ansible";
    let found = world.ask("search", json!({ "query": query }));
    let all = texts(&found["results"]);
    let place = |text: &str| all.iter().position(|one| one.starts_with(text));
    assert_eq!(place("ansible-playbook"), Some(0), "{found}");
    assert!(place(new) < place(old) && place(new).is_some(), "{found}");
}
