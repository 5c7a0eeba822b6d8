//! The records that each kind of event becomes.

use std::collections::HashMap;
use std::sync::Arc;

use model::hook::{Answer, Ends, Happening, HookEvent, Source, ToolUse};
use model::observation::ObsType;
use model::project::{Pause, ProjectFacts};
use model::session::SessionState;
use serde_json::json;
use store::pauses;
use store::receipts::{self, NewReceipt};
use store::{observations, projects, retention};

use super::{Desk, FakePlaces, NOW, edits, event, plain, runs, says, starts, tool};
use crate::settings::Settings;

/// @obs_session
#[test]
fn a_session_from_start_to_end_is_kept_in_order() {
    let desk = Desk::new();
    desk.take(starts(Source::Startup, 0));
    desk.take(says("please fix the broken login page", Some("p-1"), 1));
    desk.take(HookEvent { prompt_id: Some("p-1".into()), ..edits("/w/app/login.rs", 2) });
    desk.take(event("Stop", Happening::TurnEnded, 3));
    assert_eq!(desk.session("s-1").unwrap().state, SessionState::Idle);
    let reason = Some(plain("logout"));
    desk.take(event("SessionEnd", Happening::SessionEnded { reason }, 4));
    use ObsType as O;
    assert_eq!(desk.kinds("s-1"), [O::SessionStart, O::FileEdit, O::SessionEnd]);
    let session = desk.session("s-1").unwrap();
    assert_eq!((session.state, session.ended_at), (SessionState::Ended, Some(NOW + 4)));
    assert_eq!((session.project.as_str(), session.agent.as_str()), ("app", "claude-code"));
    let summary = session.summary.unwrap();
    assert_eq!(summary.intent, "please fix the broken login page");
    assert_eq!(summary.files_edited, ["/w/app/login.rs"]);
    assert_eq!(session.signature, [(O::FileEdit, 1)]);
    let end = desk.seen("s-1").pop().unwrap();
    assert_eq!(end.metadata.unwrap()["reason"], "logout");
}

/// @obs_summary
#[test]
fn a_stop_after_every_turn_rolls_the_summary_on_and_twice_changes_nothing() {
    let desk = Desk::new();
    desk.take(says("hello", None, 0));
    desk.take(event("Stop", Happening::TurnEnded, 1));
    assert_eq!(desk.session("s-1").unwrap().summary.unwrap().intent, "hello");
    desk.take(says("now add a button to the page", None, 2));
    desk.take(edits("/w/app/button.rs", 3));
    desk.take(event("Stop", Happening::TurnEnded, 4));
    let once = desk.session("s-1").unwrap();
    assert_eq!(once.summary.as_ref().unwrap().intent, "now add a button to the page");
    desk.take(event("Stop", Happening::TurnEnded, 4));
    assert_eq!(desk.session("s-1").unwrap(), once);
}

fn answers(text: &str, ends: Ends, after: i64) -> HookEvent {
    let answer = Answer { text: plain(text), ends, failed: false };
    event("Stop", Happening::Answered(answer), after)
}

/// @obs_answers
#[test]
fn an_answer_is_stored_with_its_prompt_and_ends_the_turn() {
    let desk = Desk::new();
    desk.take(says("why is the cart total off by a cent", Some("p-1"), 0));
    let cause = |event: HookEvent| HookEvent { prompt_id: Some("p-1".into()), ..event };
    desk.take(cause(edits("/w/app/cart.rs", 1)));
    let said = "Done. The total was rounded twice, so I round once at the end.\n\nTests pass.";
    desk.take(cause(answers(said, Ends::Turn, 2)));
    let session = desk.session("s-1").unwrap();
    assert_eq!(session.state, SessionState::Idle);
    let summary = session.summary.unwrap();
    assert_eq!(summary.outcome, "Done. The total was rounded twice, so I round once at the end.");
    let answer = desk.seen("s-1").pop().unwrap();
    assert_eq!((answer.obs_type.kind(), answer.content.as_str()), (ObsType::Answer, said));
    let turn = desk.trace("s-1").pop().unwrap();
    assert_eq!(turn.observations.len(), 2, "the edit and the answer");
    // An answer does not count as an action of the prompt.
    let prompt = desk.read(|rx| observations::one(rx, answer.prompt_id.unwrap())).unwrap();
    assert_eq!(prompt.metadata.unwrap()["actions"], 1);
}

/// @obs_answers
#[test]
fn an_answer_equal_to_the_previous_one_is_counted_with_it() {
    let desk = Desk::new();
    for (after, said) in [(0, "Done."), (1, "Done."), (2, "Really done."), (3, "Done.")] {
        desk.take(answers(said, Ends::Turn, after));
    }
    let stored = desk.seen("s-1");
    let said: Vec<&str> = stored.iter().map(|answer| answer.content.as_str()).collect();
    assert_eq!(said, ["Done.", "Really done.", "Done."]);
    assert_eq!(stored[0].metadata.as_ref().unwrap()["count"], 2);
}

/// @obs_answers
#[test]
fn a_subagents_answer_names_it_and_is_not_the_outcome() {
    let desk = Desk::new();
    desk.take(says("explore the parser for me please", None, 0));
    let of_subagent = HookEvent {
        agent_id: Some("a-1".into()),
        ..answers("The parser is in three files.", Ends::Subagent, 1)
    };
    desk.take(of_subagent);
    assert_eq!(desk.session("s-1").unwrap().state, SessionState::Active);
    assert_eq!(desk.seen("s-1").pop().unwrap().agent_id.as_deref(), Some("a-1"));
    desk.take(event("Stop", Happening::TurnEnded, 2));
    assert_eq!(desk.session("s-1").unwrap().summary.unwrap().outcome, "");
    // An answer that arrives after its parent session ended is stored, and the session stays ended.
    desk.take(event("SessionEnd", Happening::SessionEnded { reason: None }, 3));
    let late = answers("It also has a lexer.", Ends::Subagent, 4);
    desk.take(HookEvent { agent_id: Some("a-2".into()), ..late });
    let session = desk.session("s-1").unwrap();
    assert_eq!(session.state, SessionState::Ended);
    assert_eq!(desk.kinds("s-1").iter().filter(|kind| **kind == ObsType::Answer).count(), 2);
}

/// @obs_answers
#[test]
fn answers_are_not_stored_if_the_user_does_not_want_them() {
    let places = Arc::new(FakePlaces::default());
    let desk = Desk::with(places, Settings { answers: false, ..Settings::default() });
    desk.take(answers("Done.", Ends::Turn, 0));
    assert!(desk.seen("s-1").is_empty());
    assert_eq!(desk.session("s-1").unwrap().state, SessionState::Idle);
}

/// @capture_sign_of_life
#[test]
fn announcements_are_not_stored_and_only_update_the_last_activity_of_the_session() {
    let desk = Desk::new();
    let used = tool(ObsType::Command, "make", None, json!({}));
    desk.take(event("PreToolUse", Happening::ToolStarting(used), 0));
    desk.take(event("SubagentStop", Happening::SubagentEnded, 1));
    desk.take(event("PostCompact", Happening::Compacted, 2));
    desk.take(event("Notification", Happening::Other, 3));
    assert_eq!(desk.trace("s-1"), []);
    assert_eq!(desk.session("s-1").unwrap().last_at, NOW + 3);
}

/// @obs_prompt_link
#[test]
fn actions_belong_to_the_prompt_that_caused_them_also_of_interleaved_subagents() {
    let desk = Desk::new();
    let by = |prompt: &str, agent: Option<&str>, event: HookEvent| HookEvent {
        prompt_id: Some(prompt.into()),
        agent_id: agent.map(str::to_owned),
        ..event
    };
    desk.take(says("first task", Some("p-1"), 0));
    desk.take(by("p-1", Some("a-1"), runs("sub one", 1)));
    desk.take(says("second task", Some("p-2"), 2));
    desk.take(by("p-1", Some("a-1"), runs("sub two", 3)));
    desk.take(by("p-2", None, runs("own", 4)));
    desk.take(by("p-1", Some("a-1"), runs("sub three", 5)));
    let turns: Vec<(String, u64, Vec<String>)> = desk
        .trace("s-1")
        .into_iter()
        .map(|turn| {
            let prompt = turn.prompt.unwrap();
            let did = turn.observations.into_iter().map(|one| one.content).collect();
            (prompt.content, desk.actions(prompt.id), did)
        })
        .collect();
    let did = |list: &[&str]| list.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
    assert_eq!(
        turns,
        [
            ("first task".to_owned(), 3, did(&["sub one", "sub two", "sub three"])),
            ("second task".to_owned(), 1, did(&["own"])),
        ]
    );
    let sub = desk.seen("s-1").into_iter().find(|one| one.content == "sub two").unwrap();
    assert_eq!(sub.agent_id.as_deref(), Some("a-1"));
}

/// @obs_order
#[test]
fn a_clock_that_jumps_back_loses_nothing_and_order_goes_by_time() {
    let desk = Desk::new();
    desk.take(starts(Source::Startup, 0));
    desk.take(says("a task for you", None, 1000));
    desk.take(runs("make", 2000));
    desk.take(runs("make test", -60_000));
    desk.take(event("Stop", Happening::TurnEnded, -59_000));
    let contents: Vec<String> = desk.seen("s-1").into_iter().map(|one| one.content).collect();
    assert_eq!(contents, ["make test", "startup", "make"]);
    // The session was last active at the end of its turn, not at the time that is in the future now.
    let session = desk.session("s-1").unwrap();
    assert_eq!((session.started_at, session.last_at), (NOW - 60_000, NOW - 59_000));
    let actions: u64 = desk
        .trace("s-1")
        .into_iter()
        .filter_map(|turn| turn.prompt)
        .map(|prompt| desk.actions(prompt.id))
        .sum();
    assert_eq!(actions, 2);
}

/// @obs_session_project
#[test]
fn a_session_stays_in_the_project_where_it_was_first_seen() {
    let desk = Desk::new();
    desk.take(runs("make", 0));
    desk.take(HookEvent { cwd: Some(plain("/w/other")), ..runs("make", 1) });
    assert!(desk.seen("s-1").iter().all(|one| one.project == "app"));
}

/// @project_worktrees
#[test]
fn a_worktree_shares_the_project_of_its_repository() {
    let shared = ProjectFacts {
        remote_key: Some("github.com/org/app".into()),
        root: Some("/w/app".into()),
        name: "app".into(),
        made: Vec::new(),
    };
    let places =
        HashMap::from([("/w/app".to_owned(), shared.clone()), ("/w/app-fix".to_owned(), shared)]);
    let desk = Desk::with(Arc::new(FakePlaces(places)), Settings::default());
    desk.take(runs("make", 0));
    let there =
        HookEvent { cwd: Some(plain("/w/app-fix")), session: "s-2".into(), ..runs("make", 1) };
    desk.take(there);
    let of = |name: &str| desk.session(name).unwrap().project_id;
    assert_eq!(of("s-1"), of("s-2"));
}

/// @capture_pause
#[test]
fn while_paused_nothing_is_kept() {
    let desk = Desk::new();
    desk.write(|tx| pauses::begin(tx, Pause { project: None, until: Some(NOW + 100) }));
    desk.take(starts(Source::Startup, 0));
    desk.take(says("a secret plan", None, 1));
    desk.take(runs("make", 99));
    assert!(desk.session("s-1").is_none());
    assert_eq!(desk.read(projects::list), []);
    desk.take(runs("make", 100));
    assert_eq!(desk.kinds("s-1"), [ObsType::Command]);
    let app = desk.session("s-1").unwrap().project_id;
    desk.write(move |tx| pauses::begin(tx, Pause { project: Some(app), until: None }));
    desk.take(runs("make test", 200));
    let there =
        HookEvent { cwd: Some(plain("/w/other")), session: "s-2".into(), ..runs("make", 201) };
    desk.take(there);
    assert_eq!(desk.kinds("s-1").len(), 1);
    assert_eq!(desk.kinds("s-2").len(), 1, "another project is not paused");
}

/// @capture_exclude_projects
#[test]
fn nothing_is_stored_for_an_excluded_project() {
    for named in ["app", "/w/app", "/w/*"] {
        let desk = Desk { exclude_projects: vec![named.into()], ..Desk::new() };
        desk.take(says("hello", None, 0));
        desk.take(runs("make", 1));
        assert!(desk.session("s-1").is_none(), "{named}");
    }
}

/// @obs_paths
#[test]
fn relative_paths_are_stored_as_absolute_paths() {
    let desk = Desk::new();
    desk.take(edits("src/a.rs", 0));
    desk.take(edits("./src/b.rs", 1));
    desk.take(edits("/elsewhere/c.rs", 2));
    let paths: Vec<_> = desk.seen("s-1").into_iter().filter_map(|one| one.file_path).collect();
    assert_eq!(paths, ["/w/app/src/a.rs", "/w/app/src/b.rs", "/elsewhere/c.rs"]);
}

/// @capture_patch_files
#[test]
fn a_patch_over_several_files_is_kept_for_each_of_them() {
    let files = json!({ "files": ["/w/app/a.rs", "/w/app/b.rs", "/w/app/c.rs"] });
    let patch = tool(ObsType::FileEdit, "Edit a.rs and 2 more: x", Some("/w/app/a.rs"), files);
    let desk = Desk::new();
    desk.take(says("change all of these files", None, 0));
    desk.take(event("PostToolUse", Happening::ToolUsed(patch.clone()), 1));
    let seen = desk.seen("s-1");
    let contents: Vec<&str> = seen.iter().map(|one| one.content.as_str()).collect();
    assert_eq!(contents, ["Edit a.rs and 2 more: x", "Edit b.rs", "Edit c.rs"]);
    let paths: Vec<_> = seen.iter().filter_map(|one| one.file_path.as_deref()).collect();
    assert_eq!(paths, ["/w/app/a.rs", "/w/app/b.rs", "/w/app/c.rs"]);
    assert!(seen.iter().all(|one| one.prompt_id == seen[0].prompt_id && one.prompt_id.is_some()));
    desk.take(event("Stop", Happening::TurnEnded, 2));
    assert_eq!(desk.session("s-1").unwrap().summary.unwrap().files_edited.len(), 3);
    let failed = ToolUse { failed: true, ..patch };
    desk.take(event("PostToolUseFailure", Happening::ToolUsed(failed), 3));
    assert_eq!(desk.seen("s-1").len(), 4, "what failed changed nothing");
}

/// @obs_summary
#[test]
fn a_failed_tool_use_is_a_note_in_the_summary_and_not_an_edit() {
    let desk = Desk::new();
    for (kind, path, error) in [
        (ObsType::FileEdit, Some("/w/app/a.rs"), "old_string was not found"),
        (ObsType::FileRead, Some("/w/app/b.rs"), "no such file"),
        (ObsType::CommandError, None, "exit 2"),
        (ObsType::FileWrite, Some("/w/app/c.rs"), "exit 2"),
    ] {
        let metadata = json!({ "failed": true, "error": error });
        let used = ToolUse { failed: true, ..tool(kind, "tried", path, metadata) };
        desk.take(event("PostToolUseFailure", Happening::ToolUsed(used), 0));
    }
    desk.take(event("Stop", Happening::TurnEnded, 1));
    let summary = desk.session("s-1").unwrap().summary.unwrap();
    assert_eq!(summary.notes, ["exit 2", "no such file", "old_string was not found"]);
    assert!(summary.files_edited.is_empty() && summary.files_read.is_empty(), "{summary:?}");
}

/// @briefing_forgotten
#[test]
fn after_a_compact_every_entry_may_be_delivered_again() {
    let desk = Desk::new();
    desk.take(starts(Source::Startup, 0));
    let session = desk.session("s-1").unwrap().id;
    desk.write(move |tx| {
        let (at, path, reason) = (NOW, "obs://1", "recent");
        receipts::add(tx, &NewReceipt { session, at, path, stamp: 0, reason, tokens: 5 })
    });
    let told = || desk.read(|rx| receipts::delivered(rx, session, "obs://1")).is_some();
    desk.take(starts(Source::Resume, 1));
    assert!(told(), "a resumed session still has it");
    desk.take(starts(Source::Compact, 2));
    assert!(!told());
    use ObsType as O;
    assert_eq!(desk.kinds("s-1"), [O::SessionStart, O::SessionResume, O::SessionCompact]);
}

/// @obs_fork
#[test]
fn a_fork_knows_the_session_it_came_from() {
    let desk = Desk::new();
    desk.take(runs("make", 0));
    desk.take(HookEvent { session: "s-2".into(), ..starts(Source::Fork, 1) });
    let parent = desk.session("s-2").unwrap().parent;
    assert_eq!(parent, Some(desk.session("s-1").unwrap().id));
    assert_eq!(desk.kinds("s-2"), [ObsType::SessionFork]);
}

/// @obs_prompt_once
#[test]
fn a_prompt_with_a_repeated_id_is_stored_once() {
    let desk = Desk::new();
    desk.take(says("do it", Some("p-1"), 0));
    desk.take(says("do it", Some("p-1"), 1));
    desk.take(says("do it", Some("p-2"), 2));
    assert_eq!(desk.trace("s-1").len(), 2);
}

const DAY: i64 = 86_400_000;

fn sweeping() -> Desk {
    let settings = Settings { retention: Some(retention::Rules::default()), ..Settings::default() };
    Desk::with(Arc::new(FakePlaces::default()), settings)
}

/// @retention_by_itself
#[test]
fn expired_records_are_deleted_at_the_end_of_a_turn() {
    let desk = sweeping();
    let read = tool(ObsType::FileRead, "Read a", Some("/w/app/a"), json!({}));
    desk.take(event("PostToolUse", Happening::ToolUsed(read), 0));
    desk.take(runs("make", 0));
    desk.take(event("Stop", Happening::TurnEnded, 89 * DAY));
    assert_eq!(desk.kinds("s-1").len(), 2);
    desk.take(event("Stop", Happening::TurnEnded, 91 * DAY));
    assert_eq!(desk.kinds("s-1"), [ObsType::Command], "a read is kept for ninety days");
}

/// @retention_clock
#[test]
fn an_event_that_claims_to_come_from_the_future_makes_nothing_old() {
    let desk = sweeping();
    let today = desk.read(retention::clock) - NOW;
    desk.take(runs("make", today));
    desk.take(event("Stop", Happening::TurnEnded, today + 9_000 * DAY));
    assert_eq!(desk.kinds("s-1"), [ObsType::Command]);
}
