//! Folding: which repeats are one, and that nothing is lost by it.

use model::observation::ObsType;
use serde_json::json;

use super::desk::{Deed, Desk};
use crate::observations::Added;
use crate::{observations, prompts};

const SECOND: i64 = 1000;
const MINUTE: i64 = 60 * SECOND;

/// @capture_fold_reads
#[test]
fn repeated_reads_within_five_minutes_fold_into_one_with_a_count() {
    let desk = Desk::new();
    let first = desk.reads("/w/app/a.rs", 0);
    assert!(matches!(first, Added::New(_)));
    for after in [1, 100, 299, 300] {
        assert_eq!(desk.reads("/w/app/a.rs", after * SECOND), Added::Folded(first.id()));
    }
    assert!(matches!(desk.reads("/w/app/b.rs", SECOND), Added::New(_)), "another file");
    assert!(matches!(desk.reads("/w/app/a.rs", 301 * SECOND), Added::New(_)), "too late");
    let kept = desk.get(first.id()).unwrap();
    assert_eq!(kept.at_ms, super::NOW, "a record stays where it happened");
    let metadata = kept.metadata.unwrap();
    assert_eq!(metadata["count"], 5);
    assert_eq!(metadata["last_timestamp"], (super::NOW + 300 * SECOND) / 1000);
    assert_eq!(desk.count(), 3);
}

/// @capture_fold_reads
#[test]
fn searches_of_one_path_for_different_words_do_not_fold() {
    let desk = Desk::new();
    let search = |words: &str, after: i64| {
        let deed = desk.deed(ObsType::Search, words, after);
        desk.does(Deed { path: Some("/w/app/src".into()), ..deed })
    };
    let first = search("login in src", 0);
    assert_eq!(search("login in src", SECOND), Added::Folded(first.id()));
    assert!(matches!(search("logout in src", 2 * SECOND), Added::New(_)));
}

/// @capture_fold_reads
#[test]
fn another_session_and_a_failure_never_fold_into_a_read() {
    let desk = Desk::new();
    desk.reads("/w/app/a.rs", 0);
    let read = desk.deed(ObsType::FileRead, "Read /w/app/a.rs", SECOND);
    let read = Deed { path: Some("/w/app/a.rs".into()), ..read };
    let elsewhere = Deed { session: desk.session("s-2", "app", 0), ..read.clone() };
    assert!(matches!(desk.does(elsewhere), Added::New(_)));
    assert!(matches!(desk.does(Deed { failed: true, ..read.clone() }), Added::New(_)));
    assert!(matches!(desk.does(Deed { failed: true, ..read }), Added::New(_)));
}

/// @capture_fold_floods
#[test]
fn the_first_twenty_equal_commands_are_stored_and_the_rest_fold_into_one() {
    let desk = Desk::new();
    let added: Vec<Added> =
        (0..30).map(|i| desk.does(desk.deed_command("make", i * SECOND))).collect();
    let new = added.iter().filter(|added| matches!(added, Added::New(_))).count();
    assert_eq!((new, desk.count()), (21, 21));
    let fold = desk.get(added[29].id()).unwrap();
    assert_eq!(fold.metadata.as_ref().unwrap()["count"], 10);
    assert_eq!(fold.at_ms, super::NOW + 29 * SECOND);
    assert!(matches!(desk.does(desk.deed_command("make test", 30 * SECOND)), Added::New(_)));
    let actions: u64 = added[..21]
        .iter()
        .map(|added| {
            let kept = desk.get(added.id()).unwrap();
            kept.metadata.and_then(|meta| meta.get("count")?.as_u64()).unwrap_or(1)
        })
        .sum();
    assert_eq!(actions, 30, "every one is counted once");
}

#[test]
fn ten_equal_commands_are_ten_records() {
    let desk = Desk::new();
    for i in 0..10 {
        desk.runs("cargo test", i);
    }
    assert_eq!(desk.count(), 10);
}

/// @capture_fold_floods
#[test]
fn a_command_repeated_once_a_minute_never_folds() {
    let desk = Desk::new();
    for i in 0..40 {
        assert!(matches!(desk.does(desk.deed_command("make", i * MINUTE)), Added::New(_)));
    }
}

/// @capture_fold_floods
#[test]
fn a_flood_that_goes_on_gets_a_row_every_ten_minutes() {
    let desk = Desk::new();
    for i in 0..200 {
        desk.runs("make", i * 10 * SECOND);
    }
    // 200 commands in 33 minutes: twenty alone, then one row for each ten minutes.
    assert_eq!(desk.count(), 20 + 3);
}

/// @capture_fold_failures
#[test]
fn of_a_flood_of_failures_the_first_and_the_last_say_what_they_said() {
    let desk = Desk::new();
    let fails = |i: i64| {
        let deed = desk.deed(ObsType::CommandError, "make", i * SECOND);
        let metadata = json!({ "failed": true, "error": format!("error number {i}") });
        desk.does(Deed { failed: true, metadata, ..deed }).id()
    };
    let ids: Vec<i64> = (0..30).map(fails).collect();
    let error = |id: i64| desk.get(id).unwrap().error().map(str::to_owned);
    assert_eq!(error(ids[0]).as_deref(), Some("error number 0"));
    assert_eq!(error(ids[29]).as_deref(), Some("error number 29"));
    assert_eq!(desk.get(ids[29]).unwrap().at_ms, super::NOW + 29 * SECOND);
}

/// @capture_fold_floods
#[test]
fn folded_repeats_count_as_actions_of_their_prompt() {
    let desk = Desk::new();
    let prompt = desk.says("look at the code again and again", None, 0);
    for i in 1..5 {
        let read = desk.deed(ObsType::FileRead, "Read a.rs", i * SECOND);
        desk.does(Deed { path: Some("/w/app/a.rs".into()), prompt: Some(prompt), ..read });
    }
    let said = desk.read(|rx| prompts::by_id(rx, prompt)).unwrap();
    assert_eq!((said.actions, desk.count()), (4, 1));
}

/// @capture_fold_clock
#[test]
fn a_clock_that_jumps_back_folds_nothing_it_should_not_and_loses_nothing() {
    let desk = Desk::new();
    desk.reads("/w/app/a.rs", 60 * MINUTE);
    assert!(matches!(desk.reads("/w/app/a.rs", 0), Added::New(_)), "an hour earlier");
    assert!(matches!(desk.reads("/w/app/a.rs", SECOND), Added::Folded(_)));
    assert_eq!(desk.count(), 2);
    desk.write({
        let session = desk.session.id;
        move |tx| observations::forget_repeats(tx, session, super::NOW + 120 * MINUTE, None)
    });
    assert!(matches!(desk.reads("/w/app/a.rs", 2 * SECOND), Added::New(_)));
}
