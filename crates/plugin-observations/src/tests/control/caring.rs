//! Statistics, maintenance, and that what is too old goes by itself.

use std::sync::Arc;

use model::hook::Source;
use model::{Code, limits};
use serde_json::json;
use store::retention::{self, Rules};

use super::super::reading::{API, DAY, HOUR, WEB, World, code};
use super::super::{Desk, FakePlaces, edits, runs, starts};
use crate::settings::Settings;

const S: (&str, &str) = ("s-1", WEB);

/// @stats
#[test]
fn statistics_count_what_is_kept_and_what_it_costs() {
    let world = World::new();
    let empty = world.ask("memory_stats", json!({}));
    assert_eq!((&empty["observations"], &empty["oldest_at"]), (&json!(0), &json!(null)));
    assert_eq!(empty["bytes_per_observation"], json!(null));
    world.prompt(S, 3 * DAY, "look at it");
    world.command(S, 2 * DAY, "make one");
    world.command(S, DAY, "make two");
    world.edit(("s-2", API), HOUR, "/x/a.rs", "edit it");
    world.ask("pin_observation", json!({ "id": world.id("edit it") }));
    let stats = world.ask("memory_stats", json!({}));
    assert_eq!(stats["by_type"], json!({ "command": 2, "file_edit": 1 }));
    for (name, count) in
        [("observations", 3), ("prompts", 1), ("sessions", 2), ("projects", 2), ("pinned", 1)]
    {
        assert_eq!(stats[name], count, "{name}");
    }
    assert_eq!(stats["oldest_at"], (world.now - 3 * DAY) / 1000);
    assert_eq!(stats["newest_at"], (world.now - HOUR) / 1000);
    let bytes = stats["database_bytes"].as_u64().unwrap();
    assert_eq!(stats["bytes_per_observation"], bytes / 3);
    let file = std::fs::metadata(world.local.runtime.locations().database.as_path()).unwrap().len();
    assert!(bytes >= file.min(4096) && bytes.is_multiple_of(4096), "{bytes} against {file}");
    let text = world.shown("memory_stats", json!({}));
    assert!(
        text.contains("command 2, file_edit 1") && text.contains("oldest:       3d ago"),
        "{text}"
    );
    assert_eq!(code(world.call("memory_stats", json!({ "project": "web" }))), Code::Invalid);
}

/// @maintain_sweeps
#[test]
fn maintenance_deletes_expired_records_except_pinned_ones() {
    let world = World::new();
    world.read(S, 91 * DAY, "/x/old.rs");
    world.read(S, 91 * DAY, "/x/pinned.rs");
    world.read(S, 89 * DAY, "/x/young.rs");
    world.command(S, 181 * DAY, "make old");
    world.ask("pin_observation", json!({ "id": world.id("/x/pinned.rs") }));
    assert_eq!(
        world.ask("maintain", json!({})),
        json!({ "index": "optimised", "compacted": true })
    );
    assert_eq!(world.ask("memory_stats", json!({}))["observations"], 4, "it was not asked to");
    let done = world.ask("maintain", json!({ "sweep": true }));
    assert_eq!(done["swept"], json!({ "command": 1, "file_read": 1 }));
    let stats = world.ask("memory_stats", json!({}));
    assert_eq!(stats["by_type"], json!({ "file_read": 2 }));
    assert_eq!(
        (&stats["sweeps"][0]["removed"], &stats["sweeps"][0]["finished"]),
        (&json!(2), &json!(true))
    );
    let text = world.shown("maintain", json!({ "sweep": true }));
    assert_eq!(text, "✔ no record has expired\n✔ index optimised, file compacted");
    assert_eq!(code(world.call("maintain", json!({ "vacuum": true }))), Code::Invalid);
}

/// @maintain_rebuilds
#[test]
fn a_rebuilt_index_finds_the_same_records() {
    let world = World::new();
    world.prompt(S, 3 * HOUR, "where does the walrus sleep at night");
    world.command(S, 2 * HOUR, "walrus --sleep");
    let long = format!("{} walrus at the end", "filler words ".repeat(400));
    world.prompt(S, HOUR, &long);
    world.stop(S, 0);
    let search = || {
        let mut found = world.ask("search", json!({ "query": "walrus", "diverse": false }));
        found["results"].as_array_mut().unwrap().iter_mut().for_each(|hit| {
            hit["score"].take();
            hit["match_explain"].take();
        });
        found["results"].clone()
    };
    let before = search();
    assert_eq!(before.as_array().unwrap().len(), 4);
    for _ in 0..2 {
        assert_eq!(world.ask("maintain", json!({ "rebuild_index": true }))["index"], "rebuilt");
        assert_eq!(search(), before);
    }
}

/// @retention_by_itself
#[test]
fn a_session_start_deletes_expired_records_and_stores_a_row_about_the_sweep() {
    let settings = Settings { retention: Some(Rules::default()), ..Settings::default() };
    let desk = Desk::with(Arc::new(FakePlaces::default()), settings);
    desk.take(runs("make", 0));
    desk.take(edits("/w/app/a.rs", 0));
    desk.take(starts(Source::Startup, 181 * DAY));
    let sweeps = desk.read(|rx| retention::sweeps(rx, 10));
    assert_eq!(sweeps.iter().map(|sweep| sweep.removed).collect::<Vec<_>>(), [1]);
    assert!(sweeps[0].finished);
    // There is no second sweep within the hour.
    desk.take(starts(Source::Resume, 181 * DAY + limits::SWEEP_EVERY_MS - 1));
    assert_eq!(desk.read(|rx| retention::sweeps(rx, 10)).len(), 1);
    desk.take(starts(Source::Resume, 181 * DAY + limits::SWEEP_EVERY_MS));
    assert_eq!(desk.read(|rx| retention::sweeps(rx, 10)).len(), 2);
}
