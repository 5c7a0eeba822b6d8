//! Forgetting: by purge, by age, by size; children before parents, and no trace in the file.

use std::fs;
use std::time::Duration;

use model::event::HookRecord;
use model::observation::ObsType;
use model::project::Pause;
use model::{CallId, limits};

use super::NOW;
use super::desk::{Deed, Desk};
use crate::Aggregate as _;
use crate::purge::{self, PurgeFilter, Purged};
use crate::receipts::{self, NewReceipt, ReceiptFilter};
use crate::retention::{self, Rules, Swept};
use crate::scrub::{self, Replacement};
use crate::{hook_events, observations, passages, pauses, projects, prompts, sessions};

const DAY: i64 = 86_400_000;

fn run(desk: &Desk, filter: PurgeFilter) -> (usize, usize, usize) {
    let planned = desk.read(|rx| purge::plan(rx, &filter));
    let numbers =
        |done: &Purged| (done.count("observations"), done.count("prompts"), done.sessions);
    let planned = numbers(&planned);
    let counts = desk.write(move |tx| {
        let done = purge::run(tx, &filter)?;
        Ok(numbers(&done))
    });
    assert_eq!(counts, planned, "a dry run says what happens");
    counts
}

/// @purge_filters_hold_together
#[test]
fn filters_hold_together() {
    let desk = Desk::new();
    desk.runs("make", 0);
    desk.edits("/w/app/a.rs", 1);
    let late = desk.edits("/w/app/b.rs", 10);
    let filter = PurgeFilter {
        kind: Some(ObsType::FileEdit.into()),
        before: Some(NOW + 10),
        projects: Some(vec![desk.project.id]),
        ..PurgeFilter::default()
    };
    assert_eq!(run(&desk, filter), (1, 0, 0));
    assert_eq!(desk.count(), 2);
    assert!(desk.get(late).is_some());
    assert_eq!(run(&desk, PurgeFilter::default()), (0, 0, 0), "no filter matches nothing");
}

/// @purge_parents
#[test]
fn a_prompt_and_a_session_that_lose_everything_go_too() {
    let desk = Desk::new();
    let prompt = desk.says("run it", None, 0);
    let action = desk.does(Deed { prompt: Some(prompt), ..desk.deed_command("make", 1) }).id();
    let filter = PurgeFilter { ids: Some(vec![action]), ..PurgeFilter::default() };
    assert_eq!(run(&desk, filter), (1, 1, 1));
    assert_eq!(desk.read(prompts::count), 0);
    assert_eq!(desk.read(sessions::count), 0);
}

/// @purge_summaries
#[test]
fn a_purge_rebuilds_the_summary_of_a_session_from_its_remaining_records() {
    let desk = Desk::new();
    let leaked = desk.says("my word is hunter-gatherer and nothing else", None, 0);
    desk.does(Deed { prompt: Some(leaked), ..desk.deed_command("make", 1) });
    let fine = desk.says("please build the whole thing now", None, 2);
    desk.does(Deed { prompt: Some(fine), ..desk.deed_command("make all", 3) });
    let session = desk.session.id;
    desk.write(move |tx| sessions::summarise(tx, session));
    let intent = || desk.read(|rx| sessions::by_id(rx, session)).unwrap().summary.unwrap().intent;
    assert!(intent().contains("hunter-gatherer"));
    let filter = PurgeFilter { ids: Some(vec![leaked]), ..PurgeFilter::default() };
    assert_eq!(run(&desk, filter), (0, 1, 0));
    assert_eq!(intent(), "please build the whole thing now");
    assert_eq!(desk.count(), 2, "what it caused stays");
}

/// @purge_parents
#[test]
fn a_prompt_that_keeps_some_actions_counts_them_anew() {
    let desk = Desk::new();
    let prompt = desk.says("do two things", None, 0);
    let one = desk.does(Deed { prompt: Some(prompt), ..desk.deed_command("one", 1) }).id();
    desk.does(Deed { prompt: Some(prompt), ..desk.deed_command("two", 2) });
    run(&desk, PurgeFilter { ids: Some(vec![one]), ..PurgeFilter::default() });
    assert_eq!(desk.read(|rx| prompts::by_id(rx, prompt)).unwrap().actions, 1);
}

/// @purge_ignores_pins
#[test]
fn a_purged_project_is_gone_with_its_receipts_and_pins_do_not_protect() {
    let desk = Desk::new();
    let other = desk.session("s-2", "other", 0);
    desk.does(Deed { session: other, ..desk.deed_command("make", 1) });
    let pinned = desk.runs("make", 0);
    desk.says("what is this", None, 0);
    let session = desk.session.id;
    desk.write(move |tx| {
        observations::pin(tx, pinned, true)?;
        let path = format!("obs://{pinned}");
        let (at, reason) = (NOW, "pinned");
        receipts::add(tx, &NewReceipt { session, at, path: &path, stamp: 0, reason, tokens: 1 })
    });
    let app = desk.project.id;
    desk.write(move |tx| pauses::begin(tx, Pause { project: Some(app), until: None }));
    let filter = PurgeFilter { projects: Some(vec![app]), ..PurgeFilter::default() };
    assert_eq!(run(&desk, filter), (1, 1, 1));
    assert_eq!(desk.read(|rx| receipts::list(rx, &ReceiptFilter::default(), 10)), []);
    let left = desk.read(projects::list);
    assert_eq!(left.len(), 1);
    assert_eq!((left[0].project.name.as_str(), left[0].observations), ("other", 1));
}

/// @purge_repeats
#[test]
fn a_record_that_was_purged_does_not_swallow_the_next_repeat() {
    let desk = Desk::new();
    let first = desk.reads("/w/app/a.rs", 0).id();
    desk.runs("make", 0);
    run(&desk, PurgeFilter { ids: Some(vec![first]), ..PurgeFilter::default() });
    let second = desk.reads("/w/app/a.rs", 1).id();
    assert_ne!(first, second);
    assert!(desk.get(second).is_some());
}

/// @purge_leaves_no_trace
#[test]
fn after_a_purge_the_file_and_its_log_hold_nothing_of_it() {
    let desk = Desk::new();
    let word = "zanzibarquux";
    for i in 0..300 {
        desk.runs(&format!("echo filler number {i}"), i);
    }
    let prompt = desk.says(&format!("the word is {word} indeed"), None, 300);
    let edit = desk.edits(&format!("/w/app/{word}.rs"), 301);
    let session = desk.session.id;
    desk.write(move |tx| sessions::summarise(tx, session));
    let holds = || {
        let files = ["", "-wal"].map(|suffix| crate::files::beside(&desk.home.db(), suffix));
        files.iter().any(|file| {
            let bytes = fs::read(file).unwrap_or_default();
            bytes.windows(word.len()).any(|window| window == word.as_bytes())
        })
    };
    assert!(holds());
    run(&desk, PurgeFilter { ids: Some(vec![prompt, edit]), ..PurgeFilter::default() });
    desk.opening.store.compact().unwrap();
    assert!(!holds());
    assert_eq!(desk.count(), 300, "the rest is still there");
    desk.runs("after", 400);
    assert_eq!(desk.count(), 301);
}

fn sweep(desk: &Desk, rules: Rules, now: i64) -> Swept {
    let (removed, finished) = desk.write(move |tx| {
        let swept = retention::sweep(tx, &rules, now, Duration::from_secs(10))?;
        let removed: Vec<(String, u64)> =
            swept.by_kind.iter().map(|(kind, n)| ((*kind).to_owned(), *n)).collect();
        Ok((removed, swept.finished))
    });
    let by_kind =
        removed.into_iter().map(|(kind, n)| (ObsType::parse(&kind).unwrap().word(), n)).collect();
    Swept { by_kind, finished }
}

/// @retention_days
#[test]
fn each_kind_goes_when_its_time_is_over_and_pins_stay() {
    let desk = Desk::new();
    let prompt = desk.says("read it", None, 0);
    let read = desk.deed(ObsType::FileRead, "Read a", 0);
    desk.does(Deed { path: Some("/w/app/a".into()), prompt: Some(prompt), ..read });
    let pinned = desk.reads("/w/app/b", 0).id();
    let edit = desk.edits("/w/app/a", 0);
    desk.write(move |tx| observations::pin(tx, pinned, true));
    assert_eq!(sweep(&desk, Rules::default(), NOW + 90 * DAY).removed(), 0, "not a moment early");
    let swept = sweep(&desk, Rules::default(), NOW + 90 * DAY + 1);
    assert_eq!(swept, Swept { by_kind: vec![(ObsType::FileRead.word(), 1)], finished: true });
    assert!(desk.get(pinned).is_some() && desk.get(edit).is_some() && desk.get(prompt).is_some());
    let swept = sweep(&desk, Rules::default(), NOW + 2000 * DAY);
    assert_eq!(swept.by_kind, [("file_edit", 1), ("user_prompt", 1)]);
    assert_eq!(desk.count(), 1, "the pinned one keeps its session");
    desk.write(move |tx| observations::pin(tx, pinned, false));
    let swept = sweep(&desk, Rules::default(), NOW + 2000 * DAY);
    assert_eq!(swept.by_kind, [("file_read", 1), ("session_summary", 1)]);
    assert_eq!(desk.read(sessions::count), 0);
}

/// @retention_days
#[test]
fn a_rule_of_the_user_wins_and_zero_is_for_ever() {
    let desk = Desk::new();
    desk.runs("make", 0);
    desk.edits("/w/app/a", 0);
    let rules = Rules {
        days: vec![(ObsType::Command.into(), 1), (ObsType::FileEdit.into(), 0)],
        ..Rules::default()
    };
    let swept = sweep(&desk, rules, NOW + 9000 * DAY);
    assert_eq!(swept.by_kind, [("command", 1)]);
}

/// @retention_budget
#[test]
fn a_sweep_ends_with_its_time_and_goes_on_a_minute_later() {
    let desk = Desk::new();
    desk.write({
        let deed = desk.deed_command("x", 0);
        move |tx| {
            for i in 0..250 {
                super::desk::do_it(tx, &Deed { content: format!("c{i}"), ..deed.clone() })?;
            }
            Ok(())
        }
    });
    let now = NOW + 9000 * DAY;
    let due = |after: i64| desk.read(|rx| retention::is_due(rx, now + after));
    assert!(due(0));
    let finished = desk.write(move |tx| {
        retention::sweep(tx, &Rules::default(), now, Duration::ZERO).map(|swept| swept.finished)
    });
    assert!(!finished && !due(limits::SWEEP_AGAIN_MS - 1) && due(limits::SWEEP_AGAIN_MS));
    assert_eq!(desk.count(), 250 - limits::SWEEP_BATCH as u64);
    assert!(sweep(&desk, Rules::default(), now).finished);
    assert!(!due(limits::SWEEP_EVERY_MS - 1) && due(limits::SWEEP_EVERY_MS));
    let removed: Vec<u64> =
        desk.read(|rx| retention::sweeps(rx, 10)).iter().map(|sweep| sweep.removed).collect();
    assert_eq!(
        removed,
        [151, 100],
        "each sweep is on record; the empty session went with the last"
    );
}

/// @retention_size
#[test]
fn above_its_size_the_database_loses_its_oldest() {
    let desk = Desk::new();
    desk.write({
        let deed = desk.deed_command("x", 0);
        move |tx| {
            for i in 0..400 {
                let content = format!("{i} {}", "word ".repeat(200));
                super::desk::do_it(tx, &Deed { content, ..deed.clone() })?;
            }
            Ok(())
        }
    });
    let passages_each = desk.read(passages::count) / 400;
    let newest = desk.runs("the newest", 1);
    let swept = sweep(&desk, Rules { bytes_max: 790_000, ..Rules::default() }, NOW);
    assert!(swept.finished && swept.removed() >= 100, "{swept:?}");
    assert!(desk.get(newest).is_some());
    assert!(desk.count() > 1);
    let left = (desk.count() - 1) * passages_each + 1;
    assert_eq!(desk.read(passages::count), left, "the index goes along");
}

/// @hook_events_age
#[test]
fn hook_events_of_long_ago_are_forgotten_by_themselves() {
    let desk = Desk::new();
    let record = |id: u8, at: i64| HookRecord {
        id: CallId([id; 16]),
        name: "Stop".into(),
        session: Some("s".into()),
        tool_use_id: None,
        at,
    };
    desk.write(move |tx| {
        hook_events::record(tx, record(1, NOW))?;
        hook_events::record(tx, record(2, NOW + 40 * DAY))?;
        hook_events::HookEvents.prune(tx, NOW + 31 * DAY)
    });
    assert_eq!(desk.read(hook_events::count), 1);
    assert!(desk.write(move |tx| hook_events::record(tx, record(1, NOW))), "it is unknown again");
}

/// @pause_of_a_project
#[test]
fn a_pause_holds_for_its_project_until_its_end() {
    let desk = Desk::new();
    let (app, other) = (desk.project.id, desk.session("s-2", "other", 0).project);
    let begin = |project: Option<i64>, until: Option<i64>| {
        desk.write(move |tx| pauses::begin(tx, Pause { project, until }));
    };
    let holds = |project: Option<i64>, now: i64| desk.read(|rx| pauses::holds(rx, project, now));
    begin(Some(app), Some(NOW + 10));
    assert!(holds(Some(app), NOW) && !holds(Some(other), NOW) && !holds(None, NOW));
    assert!(!holds(Some(app), NOW + 10));
    begin(None, None);
    assert!(holds(Some(other), NOW + 9999) && holds(None, NOW));
    assert!(desk.write(|tx| pauses::end(tx, None)));
    assert!(!desk.write(|tx| pauses::end(tx, None)));
    assert!(!holds(Some(other), NOW));
}

#[test]
fn a_scrubbed_record_has_its_new_text_and_keeps_its_count() {
    let desk = Desk::new();
    let prompt = desk.says("the word is swordfish", None, 0);
    let read = desk.reads("/w/app/swordfish.rs", 1).id();
    desk.reads("/w/app/swordfish.rs", 2);
    let kept = desk.read(|rx| scrub::after(rx, 0, 10));
    let ids: Vec<i64> = kept.iter().map(|texts| texts.id).collect();
    assert_eq!(ids, [prompt, read]);
    assert_eq!(kept[1].metadata, None, "the count is not a text");
    assert_eq!(desk.read(|rx| scrub::after(rx, prompt, 10)).len(), 1);
    for texts in kept {
        let hide = |text: &str| super::desk::plain(&text.replace("swordfish", "hidden"));
        let new = Replacement {
            content: hide(&texts.content),
            file_path: texts.file_path.as_deref().map(hide),
            metadata: None,
        };
        assert!(desk.write(move |tx| scrub::replace(tx, texts.id, &new)));
    }
    assert_eq!(desk.get(prompt).unwrap().content, "the word is hidden");
    let read = desk.get(read).unwrap();
    assert_eq!(read.file_path.as_deref(), Some("/w/app/hidden.rs"));
    assert_eq!(read.metadata.unwrap()["count"], 2);
    let paths: Vec<String> = desk.read(|rx| {
        rx.sql(|db| {
            db.prepare("SELECT path FROM paths")?.query_map([], |row| row.get(0))?.collect()
        })
    });
    assert_eq!(paths, ["/w/app/hidden.rs"]);
    let nothing = Replacement { content: super::desk::plain(""), file_path: None, metadata: None };
    assert!(!desk.write(move |tx| scrub::replace(tx, 999, &nothing)));
}
