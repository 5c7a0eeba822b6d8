//! Output: results, errors and notes, for people and as JSON, with their exit codes.

use expect_test::expect;
use model::error::CODES;
use model::{Caller, Code, Reply, Request, Road, Tier};
use serde_json::json;

use super::*;
use crate::{OpCall, run_op};

/// A transport that gives one reply and records the request.
struct Fixed(Reply, RefCell<Vec<Request>>);

impl Road for Fixed {
    fn call(&self, request: Request) -> Reply {
        self.1.borrow_mut().push(request);
        self.0.clone()
    }
}

/// Runs `put_note` or `list_notes` over a fixed answer.
fn answered(op: &'static OpInfo, reply: Reply, json: bool, terminal: bool) -> (u8, String, String) {
    let (mut output, out, err) = kept(terminal);
    output.json = json;
    let call = OpCall::new(op, json!({"a": 1}));
    let exit = run_op(&mut output, &Fixed(reply, RefCell::default()), Caller::default(), call);
    (exit, out.text(), err.text())
}

#[test]
fn a_call_has_its_caller_and_a_unique_id() {
    let road = Fixed(Ok(json!({"ok": true})), RefCell::default());
    let caller = Caller { tier: Tier::Person, ..Caller::default() };
    for _ in 0..2 {
        let (mut output, ..) = kept(false);
        let call = OpCall::new(&Put::INFO, json!({"a": 1}));
        assert_eq!(run_op(&mut output, &road, caller.clone(), call), 0);
    }
    let requests = road.1.borrow();
    assert_eq!(requests[0].op, "put_note");
    assert_eq!(requests[0].params, json!({"a": 1}));
    assert_eq!(requests[0].caller, caller);
    assert_ne!(requests[0].call, requests[1].call);
}

#[test]
fn a_result_is_pretty_for_people_and_itself_with_json() {
    let result = json!({"ok": true, "text": "a\u{1b}b\u{9b}c"});
    let put = |json, terminal| answered(&Put::INFO, Ok(result.clone()), json, terminal);
    assert_eq!(put(false, false), (0, "kept: true\n".into(), String::new()));
    let (exit, out, err) = put(true, false);
    assert_eq!((exit, err.as_str()), (0, ""));
    assert_eq!(out.lines().count(), 1);
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap(), result);
    let (_, on_terminal, _) = put(true, true);
    assert_eq!(on_terminal.lines().count(), 4);
    assert_eq!(serde_json::from_str::<Value>(&on_terminal).unwrap(), result);
    assert!(!on_terminal.chars().any(|c| c.is_control() && c != '\n'), "{on_terminal:?}");
    let (_, generic, _) = answered(&List::INFO, Ok(result.clone()), false, true);
    assert_eq!(generic, "ok: true\ntext: a␛b\u{fffd}c\n");
}

#[test]
fn recalled_text_cannot_control_the_terminal() {
    let (mut output, out, _) = kept(true);
    let hostile = json!("line\n\u{1b}[2Jwiped\u{7}");
    output.result(&hostile, Some(&|value: &Value| value.as_str().unwrap_or_default().to_owned()));
    assert_eq!(out.text(), "line\n␛[2Jwiped␇\n");
}

#[test]
fn every_code_exits_by_the_table_in_both_forms() {
    for row in &CODES {
        let error = OpError::new(row.code, "it failed").hint("Do it better.").with("max", 3);
        let (exit, out, err) = answered(&Put::INFO, Err(error.clone()), false, false);
        assert_eq!((exit, out.as_str()), (row.exit, ""), "{}", row.word);
        assert_eq!(err, "error: it failed\nhint: Do it better.\n");
        let (exit, out, err) = answered(&Put::INFO, Err(error.clone()), true, false);
        assert_eq!((exit, err.as_str()), (row.exit, ""), "{}", row.word);
        let printed: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(printed, json!({ "error": error.to_wire() }));
    }
}

#[test]
fn errors_and_notes_cannot_control_the_terminal() {
    let error = OpError::new(Code::NotFound, "no \u{1b}[31m'x'\nerror: fake");
    let (_, _, err) = answered(&Put::INFO, Err(error), false, false);
    assert_eq!(err, "error: no ␛[31m'x' error: fake\n");
    let (mut output, _, err) = kept(false);
    output.note("started a daemon\u{1b}c\n");
    assert_eq!(err.text(), "started a daemon␛c\n");
}

#[test]
fn colours_appear_on_a_terminal_only() {
    let error = || Err(OpError::not_found("nothing there").hint("Look elsewhere."));
    let (_, _, plain) = answered(&Put::INFO, error(), false, false);
    assert!(!plain.contains('\u{1b}'));
    let (_, _, coloured) = answered(&Put::INFO, error(), false, true);
    expect![[r#"
        ESC[1mESC[31merror:ESC[0m nothing there
        ESC[1mhint:ESC[0m Look elsewhere.
    "#]]
    .assert_eq(&coloured.replace('\u{1b}', "ESC"));
}

/// A stdout that fails in one way.
struct Failing(io::ErrorKind);

impl Write for Failing {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(self.0.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_closed_pipe_is_not_a_failure_but_a_full_disk_is() {
    for (kind, json, exit) in [
        (io::ErrorKind::BrokenPipe, false, 0),
        (io::ErrorKind::BrokenPipe, true, 0),
        (io::ErrorKind::StorageFull, false, 1),
        (io::ErrorKind::StorageFull, true, 1),
    ] {
        let err = Shared::default();
        let mut output =
            Output::new(&ProgramName::FULL, Box::new(Failing(kind)), Box::new(err.clone()), false);
        output.json = json;
        assert_eq!(output.result(&json!({"ok": true}), None), exit, "{kind:?}");
        assert_eq!(err.text().is_empty(), exit == 0, "{}", err.text());
    }
}
