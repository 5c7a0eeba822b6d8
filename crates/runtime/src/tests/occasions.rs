//! The occasions on which plugins are asked, and how a question is answered.

use contract::Config;
use model::situation::Situation;
use place::Place;

use super::*;

/// The moment of a question.
fn ask<T>(home: &TestRuntime, question: Occasion<'_>, then: impl FnOnce(&Moment<'_>) -> T) -> T {
    let inner = &home.runtime.inner;
    let (situation, place) = (Situation::default(), Place::default());
    then(&Moment {
        occasion: question,
        session: None,
        project: None,
        form: BriefingForm::Sections,
        host: text::HostLimits::NONE,
        situation: &situation,
        place: &place,
        ran_in: &place,
        now: 1,
        config: &inner.config,
        store: &inner.store,
    })
}

fn answered(home: &TestRuntime, question: Occasion<'_>) -> String {
    ask(home, question, |moment| home.runtime.inner.assemble(moment).unwrap().text)
}

#[test]
fn a_question_is_answered_by_the_sources_it_names_within_its_limit_and_tokens() {
    let home = home();
    let named = |sources: &[&str]| sources.iter().map(|name| (*name).to_owned()).collect();
    let all: Vec<String> = named(&[]);
    let question = Occasion::Question { query: "ports", sources: &all, limit: 2, tokens: 100 };
    assert_eq!(answered(&home, question), "## Probe\n- ports 0\n- ports 1\n");
    let (probe, others): (Vec<String>, Vec<String>) = (named(&["x", "probe"]), named(&["x"]));
    let of = |sources, limit, tokens| Occasion::Question { query: "ports", sources, limit, tokens };
    assert_eq!(answered(&home, of(&probe, 1, 100)), "## Probe\n- ports 0\n");
    assert_eq!(answered(&home, of(&others, 9, 100)), "");
    // A title of 9 characters and two rows of 10 are 8 tokens.
    assert_eq!(answered(&home, of(&all, 9, 8)), "## Probe\n- ports 0\n- ports 1\n");
    assert_eq!(answered(&home, of(&all, 9, 4)), "");
}

#[test]
fn a_question_is_answered_during_a_pause_as_reading_tools_are() {
    let home = home();
    home.runtime.call(request("pause", 1, Tier::Person)).unwrap();
    let question = Occasion::Question { query: "ports", sources: &[], limit: 1, tokens: 100 };
    assert_eq!(answered(&home, question), "## Probe\n- ports 0\n");
    assert_eq!(answered(&home, Occasion::Prompt("ports")), "");
}

#[test]
fn a_used_tool_is_an_occasion_unless_the_user_interrupted_it() {
    let home = home();
    let heard = |event: &str, extra: Value, call: u8| {
        let mut payload = json!({ "session_id": "s-1", "tool_name": "Bash",
            "tool_input": { "command": "make" } });
        let members = payload.as_object_mut().unwrap();
        members.extend(extra.as_object().unwrap().clone());
        let params = json!({ "event": event, "payload": payload });
        home.runtime.call(Request { params, ..request("hook", call, Tier::Hook) }).unwrap();
        std::mem::take(&mut *home.probe.after_tool.lock().unwrap())
    };
    let worked = heard("PostToolUse", json!({ "tool_response": { "stdout": "done" } }), 1);
    assert!(!worked.is_empty() && worked.iter().all(|failed| !failed), "{worked:?}");
    let failed = heard("PostToolUseFailure", json!({ "error": "Exit code 2" }), 2);
    assert!(!failed.is_empty() && failed.iter().all(|failed| *failed), "{failed:?}");
    let stopped = json!({ "error": "stopped", "is_interrupt": true });
    assert!(heard("PostToolUseFailure", stopped, 3).is_empty());
}

#[test]
fn each_occasion_has_its_title_and_its_budget() {
    let home = home();
    let config: &Config = &home.runtime.inner.config;
    let of = |occasion| {
        let (title, budget) = crate::assemble::budgets::of(&occasion, config);
        (title, budget.tokens, budget.lines, budget.recovery)
    };
    let question = |tokens| Occasion::Question { query: "", sources: &[], limit: 1, tokens };
    let start = Occasion::SessionStart;
    assert_eq!(of(start(Source::Startup)), ("rekindle context", 800, 50, false));
    assert_eq!(of(start(Source::Compact)), ("rekindle context", 800, 70, true));
    assert_eq!(of(Occasion::Prompt("x")), ("rekindle context", 600, 50, false));
    assert_eq!(of(question(100)), ("", 100, 400, false));
    assert_eq!(of(question(10_000)), ("", 10_000, 400, false));
}
