//! Sessions, prompts and observations: one sequence of ids, order by time, and all the ways to read.

use model::observation::ObsType;
use model::session::SessionState;
use serde_json::json;

use super::NOW;
use super::desk::{Deed, Desk, facts, touch};
use crate::history::{self, FileQuery};
use crate::receipts::ReceiptFilter;
use crate::recent::{self, RecentQuery, Taken};
use crate::sessions::{SessionFilter, Sighting};
use crate::{TextQuestion, observations, passages, projects, prompts, receipts, sessions};

/// @obs_ids
#[test]
fn sessions_prompts_and_observations_share_ids_that_are_never_used_twice() {
    let desk = Desk::new();
    let prompt = desk.says("fix the login", None, 0);
    let first = desk.runs("make", 1);
    let session = desk.session("s-2", "app", 2).id;
    let second = desk.runs("make test", 3);
    let ids = [desk.session.id, prompt, first, session, second];
    assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
    desk.write(move |tx| observations::remove(tx, second));
    assert!(desk.runs("make again", 4) > second);
    desk.write(|tx| tx.sql(|db| db.execute("DELETE FROM record_ids", [])));
    assert!(
        desk.runs("after damage", 5) > second + 1,
        "a lost counter goes on after what is there"
    );
}

#[test]
fn records_come_in_the_order_of_the_ids_and_each_once() {
    let desk = Desk::new();
    let prompt = desk.says("fix the login page of the app", Some("p-1"), 0);
    let edit = desk.edits("/w/app/login.rs", 1);
    let run = desk.runs("make", 2);
    let session = desk.session.id;
    assert_eq!(desk.read(|rx| observations::get(rx, &[session])), [], "no summary yet");
    desk.write(move |tx| sessions::summarise(tx, session));
    let found = desk.read(|rx| observations::get(rx, &[run, session, 999, prompt, run, edit]));
    let ids: Vec<i64> = found.iter().map(|one| one.id).collect();
    assert_eq!(ids, [run, session, prompt, edit]);
    let kinds: Vec<ObsType> = found.iter().map(|one| one.obs_type.kind()).collect();
    use ObsType as O;
    assert_eq!(kinds, [O::Command, O::SessionSummary, O::UserPrompt, O::FileEdit]);
    assert_eq!(found[1].content.lines().next(), Some("fix the login page of the app"));
    assert_eq!(found[2].metadata.as_ref().unwrap()["agent_prompt_id"], "p-1");
    assert_eq!(found[3].file_path.as_deref(), Some("/w/app/login.rs"));
    assert_eq!((found[3].project.as_str(), found[3].session_id.as_str()), ("app", "s-1"));
}

#[test]
fn a_verdict_on_a_text_is_kept_until_the_text_changes() {
    let desk = Desk::new();
    let [one, other] = [desk.runs("make", 1), desk.runs("make test", 2)];
    // Whether the text was judged once more.
    let judged = |id: i64| {
        desk.read(|rx| {
            let mut again = false;
            rx.verdict(TextQuestion::Repeats, (one, id), || {
                again = true;
                Ok(true)
            })?;
            Ok(again)
        })
    };
    assert_eq!([judged(other), judged(other)], [true, false]);
    desk.write(move |tx| passages::changed(tx, other));
    assert_eq!([judged(other), judged(other)], [true, false], "its text is another one");
    desk.runs("make install", 3);
    assert!(!judged(other), "a new record changes no text");
    desk.read(|rx| {
        let store = rx.verdict(TextQuestion::Repeats, (other, one), || {
            desk.write(move |tx| observations::remove(tx, one));
            Ok(true)
        });
        store.map(drop)
    });
    assert!(judged(other), "it was purged while a snapshot from before was read");
    desk.write(move |tx| tx.verdict(TextQuestion::Decides, (other, 0), || Ok(true)).map(drop));
    let known = desk.read(|rx| rx.verdict(TextQuestion::Decides, (other, 0), || Ok(false)));
    assert!(!known, "a transaction may be rolled back");
}

#[test]
fn records_around_a_record_are_of_its_session_and_in_order_of_time() {
    let desk = Desk::new();
    // The clock jumps back after the third command: time goes before arrival.
    let ids: Vec<i64> = [0, 10, 30, 20, 30]
        .iter()
        .enumerate()
        .map(|(i, at)| desk.runs(&format!("c{i}"), *at))
        .collect();
    let other = Deed { session: desk.session("s-2", "app", 0), ..desk.deed_command("other", 15) };
    desk.does(other);
    let around = |id, before, after| {
        let (anchor, before, after) =
            desk.read(|rx| observations::around(rx, id, before, after)).unwrap();
        let ids = |list: Vec<model::observation::Observation>| -> Vec<i64> {
            list.into_iter().map(|one| one.id).collect()
        };
        (ids(before), anchor.id, ids(after))
    };
    assert_eq!(around(ids[3], 5, 5), (vec![ids[0], ids[1]], ids[3], vec![ids[2], ids[4]]));
    assert_eq!(around(ids[3], 1, 1), (vec![ids[1]], ids[3], vec![ids[2]]));
    assert_eq!(around(ids[3], 0, 0), (vec![], ids[3], vec![]));
    assert!(desk.read(|rx| observations::around(rx, 999, 1, 1)).is_none());
}

/// @obs_prompt_link
#[test]
fn an_action_is_linked_to_the_prompt_that_the_agent_names() {
    let desk = Desk::new();
    let one = desk.says("first task", Some("p-1"), 0);
    let two = desk.says("second task", Some("p-2"), 10);
    let session = desk.session.id;
    let cause = |agent: Option<&'static str>, after: i64| {
        desk.write(move |tx| prompts::cause(tx, session, agent, NOW + after))
    };
    assert_eq!(cause(Some("p-1"), 20), Some(one), "a subagent of the first task goes on");
    assert_eq!(cause(Some("p-2"), 20), Some(two));
    assert_eq!(cause(None, 20), Some(two), "the newest, if the agent does not say");
    assert_eq!(cause(None, 5), Some(one), "an event that arrives late");
    assert_eq!(cause(None, -100), Some(two), "the clock was set back");
    assert_eq!(cause(Some("p-3"), 20), None, "a prompt that was not kept");
    assert_eq!(desk.says("first task", Some("p-1"), 0), one, "the same prompt is kept once");
}

/// @obs_prompt_link
#[test]
fn an_agent_without_ids_of_its_own_is_linked_by_time() {
    let desk = Desk::new();
    let one = desk.says("first task", None, 0);
    let session = desk.session.id;
    let cause = desk.write(move |tx| prompts::cause(tx, session, Some("turn-1"), NOW + 1));
    assert_eq!(cause, Some(one));
}

/// @obs_session_state
#[test]
fn a_session_is_alive_until_it_ends_and_late_events_do_not_bring_it_back() {
    let desk = Desk::new();
    let (session, project) = (desk.session.id, desk.project.id);
    let state = || desk.read(|rx| sessions::by_id(rx, session)).unwrap();
    desk.write(move |tx| sessions::idle(tx, session));
    assert_eq!(state().state, SessionState::Idle);
    desk.write(move |tx| touch(tx, "s-1", project, 5).map(|seen| seen.id));
    assert_eq!(state().state, SessionState::Active);
    desk.write(move |tx| sessions::end(tx, session, NOW + 10));
    desk.write(move |tx| touch(tx, "s-1", project, 7).map(|seen| seen.id));
    assert_eq!((state().state, state().ended_at), (SessionState::Ended, Some(NOW + 10)));
    desk.write(move |tx| touch(tx, "s-1", project, -50).map(|seen| seen.id));
    assert_eq!((state().started_at, state().last_at), (NOW - 50, NOW + 10), "the clock jumps back");
    desk.write(move |tx| touch(tx, "s-1", project, 20).map(|seen| seen.id));
    assert_eq!((state().state, state().ended_at), (SessionState::Ended, Some(NOW + 10)));
    desk.write(move |tx| {
        let again = Sighting {
            name: "s-1",
            agent: "claude-code",
            project: project + 1,
            root: None,
            at: NOW + 3,
            starts: true,
            works: true,
        };
        sessions::touch(tx, &again).map(|seen| seen.id)
    });
    assert_eq!((state().state, state().ended_at), (SessionState::Active, None), "resumed");
    assert_eq!(state().project_id, project, "a session belongs where it was first seen");
}

#[test]
fn sessions_are_listed_by_their_last_event_and_by_project() {
    let desk = Desk::new();
    let other = desk.session("s-2", "other", 20);
    desk.session("s-3", "app", 10);
    let names = |filter: SessionFilter<'_>, limit: usize| -> Vec<String> {
        let found = desk.read(|rx| sessions::list(rx, &filter, limit));
        found.into_iter().map(|session| session.session_id).collect()
    };
    let all = SessionFilter::default();
    assert_eq!(names(all, 10), ["s-2", "s-3", "s-1"]);
    assert_eq!(names(all, 1), ["s-2"]);
    assert_eq!(names(SessionFilter { before: Some(NOW + 20), ..all }, 10), ["s-3", "s-1"]);
    assert_eq!(names(SessionFilter { after: Some(NOW + 10), ..all }, 10), ["s-2"]);
    assert_eq!(names(SessionFilter { summarised: true, ..all }, 10), [""; 0]);
    let app = [desk.project.id];
    assert_eq!(names(SessionFilter { projects: Some(&app), ..all }, 10), ["s-3", "s-1"]);
    let both = [desk.project.id, other.project];
    assert_eq!(names(SessionFilter { projects: Some(&both), ..all }, 2), ["s-2", "s-3"]);
}

/// @mark_is_no_conversation
#[test]
fn no_fork_begins_in_the_session_of_marks() {
    let desk = Desk::new();
    let (own, project) = (desk.session.id, desk.project.id);
    desk.write(move |tx| {
        let marks = Sighting {
            name: "marks:app",
            agent: sessions::OF_MARKS,
            project,
            root: None,
            at: NOW + 50,
            starts: false,
            works: true,
        };
        sessions::touch(tx, &marks).map(|seen| seen.id)
    });
    let fork = desk.session("s-2", "app", 60);
    assert_eq!(desk.read(|rx| sessions::latest_before(rx, project, fork.id, i64::MAX)), Some(own));
}

/// @obs_summary
#[test]
fn a_summary_says_what_was_wanted_and_what_came_of_it_and_is_the_same_twice() {
    let desk = Desk::new();
    desk.says("hello", None, 0);
    let task = desk.says("please fix the broken login page", None, 1);
    let linked = |deed: Deed| desk.does(Deed { prompt: Some(task), ..deed });
    let edit = desk.deed(ObsType::FileEdit, "Edit login.rs", 2);
    linked(Deed { path: Some("/w/app/login.rs".into()), ..edit });
    desk.reads("/w/app/login.rs", 3);
    desk.reads("/w/app/readme.md", 4);
    let failure = desk.deed(ObsType::CommandError, "make", 5);
    let error = json!({ "failed": true, "error": "no rule to make target" });
    linked(Deed { failed: true, metadata: error, ..failure });
    let commit = desk.deed(ObsType::GitCommit, "git commit -m x", 6);
    let message = json!({ "commit_message": "login: works again\n\nbody" });
    linked(Deed { metadata: message, ..commit });
    let session = desk.session.id;
    desk.write(move |tx| {
        let text = super::desk::plain("the token has to be trimmed");
        observations::mark(tx, (session, 1), None, &text, NOW + 7)
    });
    let summarise = || {
        desk.write(move |tx| sessions::summarise(tx, session));
        desk.read(|rx| sessions::by_id(rx, session)).unwrap()
    };
    let first = summarise();
    let summary = first.summary.clone().unwrap();
    assert_eq!(summary.intent, "please fix the broken login page");
    assert_eq!(summary.completed, ["login: works again"]);
    assert_eq!(summary.files_edited, ["/w/app/login.rs"]);
    assert_eq!(summary.files_read, ["/w/app/readme.md"]);
    assert_eq!(summary.notes, ["no rule to make target"]);
    assert_eq!(summary.learned, ["the token has to be trimmed"]);
    assert_eq!(first.signature.first(), Some(&(ObsType::FileRead, 2)));
    assert_eq!(summarise(), first);
}

#[test]
fn a_trace_has_every_prompt_once_with_what_it_caused() {
    let desk = Desk::new();
    desk.runs("before any prompt", -5);
    let one = desk.says("one", Some("p-1"), 0);
    let two = desk.says("two", Some("p-2"), 0);
    for (prompt, after) in [(one, 1), (two, 2), (one, 3)] {
        let deed = desk.deed_command(&format!("c{after}"), after);
        desk.does(Deed { prompt: Some(prompt), ..deed });
    }
    let session = desk.session.id;
    let trace = |before, after| -> Vec<(Option<i64>, usize)> {
        let turns = desk.read(|rx| history::trace(rx, session, before, after));
        turns
            .into_iter()
            .map(|turn| (turn.prompt.map(|prompt| prompt.id), turn.observations.len()))
            .collect()
    };
    assert_eq!(trace(None, None), [(None, 1), (Some(one), 2), (Some(two), 1)]);
    assert_eq!(trace(Some(NOW + 2), None), [(None, 1), (Some(one), 1), (Some(two), 0)]);
    assert_eq!(trace(None, Some(NOW + 3)), []);
}

/// @read_file_history
#[test]
fn a_file_is_found_in_all_forms_of_its_path() {
    let desk = Desk::new();
    let here = desk.edits("/w/app/src/auth.rs", 0);
    let deeper = desk.edits("/w/app/packages/x/src/auth.rs", 1);
    let read = desk.reads("/w/app/src/auth.rs", 2).id();
    let other = desk.session("s-2", "other", 0);
    let elsewhere = desk.deed(ObsType::FileEdit, "Edit", 3);
    let path = Some("/w/other/src/auth.rs".to_owned());
    let elsewhere = desk.does(Deed { session: other, path, ..elsewhere }).id();
    let query = FileQuery { path: "", limit: 10, ..FileQuery::default() };
    let touched = |query: FileQuery<'_>| -> Vec<i64> {
        let found = desk.read(|rx| history::of_file(rx, &query));
        found.into_iter().flat_map(|one| one.touches).map(|touch| touch.id).collect()
    };
    let root = Some("/w/app");
    assert_eq!(touched(FileQuery { path: "/w/app/src/auth.rs", ..query }), [read, here]);
    assert_eq!(touched(FileQuery { path: "src/auth.rs", root, ..query }), [read, here]);
    assert_eq!(touched(FileQuery { path: "./src/auth.rs", root, ..query }), [read, here]);
    assert_eq!(touched(FileQuery { path: "auth.rs", ..query }), [elsewhere, read, deeper, here]);
    assert_eq!(touched(FileQuery { path: "auth.rs", limit: 2, ..query }), [elsewhere, read]);
    assert_eq!(
        touched(FileQuery { path: "uth.rs", ..query }),
        [0; 0],
        "parts of a name are no path"
    );
    assert_eq!(touched(FileQuery { path: "/auth.rs", ..query }), [0; 0]);
    assert_eq!(touched(FileQuery { path: "", ..query }), [0; 0]);
    let app = [desk.project.id];
    let mine = FileQuery { path: "auth.rs", projects: Some(&app), ..query };
    assert_eq!(touched(mine), [read, deeper, here], "another project does not answer");
    let changed = FileQuery { interventions_only: true, ..mine };
    assert_eq!(touched(changed), [deeper, here]);
    let early = FileQuery { before: Some(NOW + 1), ..mine };
    assert_eq!(touched(early), [here]);
}

#[test]
fn the_best_recent_records_come_first_across_projects_and_kinds() {
    let desk = Desk::new();
    let other = desk.session("s-2", "other", 0);
    let edit = desk.edits("/w/app/a.rs", 0);
    let run = desk.runs("make", 10);
    let newer = desk.edits("/w/app/b.rs", 20);
    let foreign = desk.does(Deed { session: other, ..desk.deed_command("make", 30) }).id();
    let app = desk.project.id;
    #[expect(clippy::cast_precision_loss, reason = "the times of a test are small")]
    let score = move |project: i64, kind: ObsType, at: i64| {
        let age = (NOW + 100 - at) as f64;
        kind.weight() + if project == app { 1.0 } else { 0.0 } - age / 1e6
    };
    let best = |projects: Option<&[i64]>, after: Option<i64>, most: usize| {
        let mut ids = Vec::new();
        let query = RecentQuery { projects, before: None, after, score: &score };
        desk.read(|rx| {
            recent::best(rx, &query, |found, _| {
                ids.push(found.id);
                if ids.len() == most { Taken::Enough } else { Taken::GoOn }
            })
        });
        ids
    };
    assert_eq!(best(None, None, 10), [newer, edit, run, foreign]);
    assert_eq!(best(None, None, 2), [newer, edit]);
    assert_eq!(best(Some(&[other.project]), None, 10), [foreign]);
    assert_eq!(best(None, Some(NOW + 10), 10), [newer, foreign]);
}

/// @briefing_intents
#[test]
fn intents_are_prompts_that_led_to_something() {
    let desk = Desk::new();
    desk.says("thank you", None, 0);
    let task = desk.says("fix it", None, 1);
    desk.does(Deed { prompt: Some(task), ..desk.deed_command("make", 2) });
    let app = [desk.project.id];
    let found = desk.read(|rx| prompts::intents(rx, &app, None, 10));
    let told: Vec<(i64, u64)> = found.iter().map(|prompt| (prompt.id, prompt.actions)).collect();
    assert_eq!(told, [(task, 1)]);
    assert_eq!(desk.read(|rx| prompts::intents(rx, &app, Some(NOW + 1), 10)), []);
}

/// @obs_pin
#[test]
fn pins_hold_for_every_kind_of_record_and_can_be_taken_back() {
    let desk = Desk::new();
    let prompt = desk.says("remember this", None, 0);
    let run = desk.runs("make", 1);
    for id in [prompt, run] {
        for (pinned, changed) in [(true, true), (true, false), (false, true), (false, false)] {
            let done = desk.write(move |tx| observations::pin(tx, id, pinned));
            assert_eq!(done, Some(changed), "{pinned}");
            assert_eq!(desk.get(id).unwrap().is_pinned, pinned);
        }
    }
    assert_eq!(desk.write(|tx| observations::pin(tx, 999, true)), None);
}

/// @briefing_forgotten
#[test]
fn deliveries_are_remembered_until_the_receipts_are_reset() {
    let desk = Desk::new();
    let session = desk.session.id;
    let tell = |path: &'static str, stamp: i64, after: i64| {
        desk.write(move |tx| {
            let (at, reason, tokens) = (NOW + after, "recent", 12);
            receipts::add(tx, &receipts::NewReceipt { session, at, path, stamp, reason, tokens })
        })
    };
    let delivered = |path: &str| {
        desk.read(|rx| receipts::delivered(rx, session, path)).map(|told| (told.stamp, told.at))
    };
    tell("hint://web/build", 1, 0);
    tell("hint://web/test", 1, 50);
    tell("hint://web/build", 2, 100);
    tell("hints://other", 1, 100);
    assert_eq!(delivered("hint://web/build"), Some((2, NOW + 100)));
    assert_eq!(delivered("obs://1"), None);
    let count = |since| desk.read(|rx| receipts::count(rx, session, "hint", NOW + since));
    assert_eq!((count(0), count(60)), (3, 1));
    assert!(desk.write(move |tx| receipts::mark_used(tx, session, "hint://web/test")));
    assert!(!desk.write(move |tx| receipts::mark_used(tx, session, "obs://1")));
    desk.write(move |tx| receipts::reset(tx, session));
    assert_eq!(delivered("hint://web/build"), None);
    assert_eq!(count(0), 3, "what it cost is still known");
    let of_session = ReceiptFilter { session: Some(session), ..ReceiptFilter::default() };
    let ids = |filter: &ReceiptFilter| -> Vec<i64> {
        let listed = desk.read(|rx| receipts::list(rx, filter, 10));
        listed.iter().map(|receipt| receipt.id).collect()
    };
    let listed = desk.read(|rx| receipts::list(rx, &of_session, 10));
    let used: Vec<bool> = listed.iter().map(|receipt| receipt.used).collect();
    assert_eq!(used, [false, false, true, false]);
    let [last, third, second, first] = ids(&of_session)[..] else { panic!("four receipts") };
    let all = ReceiptFilter::default();
    assert_eq!(ids(&ReceiptFilter { used: Some(true), ..all.clone() }), [second]);
    assert_eq!(ids(&ReceiptFilter { used: Some(false), ..all.clone() }), [last, third, first]);
    assert_eq!(ids(&ReceiptFilter { before: Some(third), ..all.clone() }), [second, first]);
    let within = (Some(NOW + 50), Some(NOW + 100));
    assert_eq!(ids(&ReceiptFilter { from: within.0, to: within.1, ..all.clone() }), [second]);
    let of = |project: i64| ids(&ReceiptFilter { projects: Some(vec![project]), ..all.clone() });
    assert_eq!((of(desk.project.id).len(), of(0).len()), (4, 0));
}

/// @activity_stats
#[test]
fn tokens_of_records_are_tracked_and_those_of_a_declared_context_are_not() {
    let desk = Desk::new();
    let session = desk.session.id;
    let paths = ["obs://1", "hint://web/build", "session://s-1"];
    desk.write(move |tx| {
        for path in paths {
            let (at, reason, stamp, tokens) = (NOW, "recent", 1, 10);
            receipts::add(tx, &receipts::NewReceipt { session, at, path, stamp, reason, tokens })?;
        }
        receipts::mark_used(tx, session, "obs://1")
    });
    let slots = desk.read(|rx| receipts::by_slot(rx, None, (0, 2), NOW + 1));
    let [slot] = slots[..] else { panic!("one slot: {slots:?}") };
    assert_eq!((slot.tokens, slot.tracked_tokens, slot.used_tokens), (30, 20, 10));
}

#[test]
fn kinds_are_counted_by_project() {
    let desk = Desk::new();
    desk.runs("make", 0);
    desk.runs("make test", 1);
    desk.edits("/w/app/a.rs", 2);
    let other = desk.session("s-2", "other", 0);
    desk.does(Deed { session: other, ..desk.deed_command("make", 3) });
    let all = desk.read(|rx| observations::counts(rx, None));
    assert_eq!(all, [(ObsType::Command, 3), (ObsType::FileEdit, 1)]);
    let of = desk.read(|rx| observations::counts(rx, Some(&[other.project])));
    assert_eq!(of, [(ObsType::Command, 1)]);
}

#[test]
fn a_place_is_known_only_after_something_happened_there() {
    let desk = Desk::new();
    let known = |root: &str| {
        desk.read(|rx| projects::known(rx, &facts(None, Some(root), "x"))).map(|project| project.id)
    };
    assert_eq!((known("/w/app"), known("/w/none")), (Some(desk.project.id), None));
}
