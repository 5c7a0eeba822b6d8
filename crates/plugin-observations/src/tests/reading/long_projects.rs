//! The work of one session is found in a project in which hundreds of prompts of other sessions followed.

use serde_json::json;

use super::sections::{section, started};
use super::{HOUR, WEB, World};

const S: (&str, &str) = ("s-1", WEB);
const MINUTE: i64 = 60_000;
const SECOND: i64 = 1_000;

/// A session that edited, ran tests and answered, in this order.
fn one_turn(world: &World) {
    world.prompt(S, 5 * HOUR, "migrate the ledger table to bigint ids");
    world.edit(S, 5 * HOUR - MINUTE, "/nowhere/web/ledger.rs", "Edit ledger.rs: id: i64");
    world.run(S, 5 * HOUR - 2 * MINUTE, "pytest ledger", "failed", "FAILED a.py::ids - assert");
    world.run(S, 5 * HOUR - 3 * MINUTE, "cargo test", "passed", "");
    world.commit(S, 5 * HOUR - 4 * MINUTE, "1a2b3c4d5e", "ledger: wide ids");
    world.answer(
        S,
        5 * HOUR - 5 * MINUTE,
        "The ledger has wide ids. We decided to keep the old sequence.",
    );
    let mark = json!({ "text": "amounts are cents", "session_id": "s-1" });
    world.call_from(Some(WEB), "mark", mark).unwrap();
}

/// This many turns of other sessions, ten in each, all of them later and each with an edit, a failed run and an answer.
fn turns_of_others(world: &World, count: i64) {
    for number in 0..count {
        let name = format!("other-{}", number / 10);
        let (session, ago) = ((name.as_str(), WEB), 3 * HOUR - number * 10 * SECOND);
        world.prompt(session, ago, &format!("how is module {number} wired to the bus"));
        let path = format!("/nowhere/web/module_{number}.rs");
        world.edit(session, ago - SECOND, &path, &format!("Edit {path}: wire {number}"));
        let run = format!("pytest module{number}");
        world.run(session, ago - 2 * SECOND, &run, "failed", "FAILED b.py::c - assert");
        world.answer(session, ago - 3 * SECOND, &format!("Module {number} is wired by hand."));
    }
}

fn handoff(world: &World, session: &str) -> String {
    let params = json!({ "session_id": session, "tokens": 2400 });
    let told = world.call_from(Some(WEB), "handoff", params).unwrap();
    told["text"].as_str().unwrap().to_owned()
}

/// @handoff
#[test]
fn a_handoff_has_every_section_however_many_turns_of_other_sessions_followed() {
    let world = World::new();
    one_turn(&world);
    let before = handoff(&world, "s-1");
    turns_of_others(&world, 410);
    let text = handoff(&world, "s-1");
    for kept in [
        "migrate the ledger table to bigint ids",
        "The ledger has wide ids.",
        "1a2b3c4 ledger: wide ids",
        "red: `pytest ledger`",
        "ledger.rs: id: i64",
        "We decided to keep the old sequence",
    ] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
    assert_eq!(text, before);
}

/// @handoff
#[test]
fn a_handoff_of_a_long_session_names_its_first_task() {
    let world = World::new();
    world.prompt(S, 9 * HOUR, "hello");
    world.prompt(S, 9 * HOUR - SECOND, "port the billing report to the new ledger");
    for number in 0..300 {
        let ago = 8 * HOUR - number * 20 * SECOND;
        world.prompt(S, ago, &format!("rename column {number} of the report"));
        world.answer(S, ago - SECOND, &format!("Column {number} is renamed."));
    }
    let text = handoff(&world, "s-1");
    let intent = section(&text, "Intent");
    assert_eq!(
        intent,
        [
            "\"port the billing report to the new ledger\"",
            "last: \"rename column 299 of the report\"",
        ],
        "{text}"
    );
    assert!(text.contains("Column 299 is renamed."), "{text}");
}

/// @briefing_recovery
#[test]
fn a_briefing_after_a_compact_has_the_work_of_its_session_however_many_turns_of_others_followed() {
    let world = World::new();
    one_turn(&world);
    turns_of_others(&world, 90);
    for source in ["compact", "clear"] {
        let own = started(&world, S, source);
        let rows = section(&own, "This session");
        for kept in [
            "last prompt: \"migrate the ledger table to bigint ids\"",
            "red: `pytest ledger`: FAILED a.py::ids - assert",
            "answered: \"The ledger has wide ids. We decided to keep the old sequence.\"",
            "ledger.rs: id: i64",
        ] {
            assert!(rows.contains(&kept.to_owned()), "{source}: {kept}: {own}");
        }
    }
}
