//! The text for agents at events: once in a session, with a receipt, and not during a pause.

use std::sync::atomic::AtomicI64;

use super::*;
use crate::log::Level;

/// Has one row to tell at every occasion.
#[derive(Default)]
struct Teller {
    /// The stamp of the row.
    stamp: Arc<AtomicI64>,
}

impl Plugin for Teller {
    fn name(&self) -> &'static str {
        "teller"
    }

    fn operations(&self) -> Vec<Operation> {
        Vec::new()
    }

    fn candidates(&self, _: &Moment<'_>) -> Result<Vec<Candidate>, OpError> {
        Ok(vec![Candidate {
            path: "hint://proxy/build".to_owned(),
            stamp: self.stamp.load(Ordering::Relaxed),
            score: 0.567,
            reasons: vec!["it is marked".to_owned()],
            cells: vec!["make router".to_owned()],
            ..Candidate::new(Slot::Open)
        }])
    }
}

fn teller() -> (TestRuntime, Arc<AtomicI64>) {
    let teller = Teller::default();
    let stamp = teller.stamp.clone();
    (home_with(vec![Arc::new(teller)]), stamp)
}

/// The reply to an event of the session, called by a client, which waits as long as it takes.
fn reply(home: &TestRuntime, id: u8, event: &str, session: &str) -> Value {
    let payload = json!({ "session_id": session, "cwd": "/srv/app", "source": "startup",
        "prompt": "mend it", "tool_name": "Bash", "tool_input": { "command": "make" } });
    let params = json!({ "event": event, "payload": payload });
    home.runtime.call(Request { params, ..request("hook", id, Tier::Client) }).unwrap()
}

#[test]
fn a_session_receives_a_row_once_and_again_after_a_change() {
    let (home, stamp) = teller();
    const ROW: &str = "## Open\n- make router\n";
    let told = |id, session| {
        let text = reply(&home, id, "UserPromptSubmit", session)["context"].clone();
        // The title says that the rows are no instructions.
        text.as_str().map(|text| text.split_once('\n').unwrap().1.to_owned())
    };
    assert_eq!(told(1, "s-1").as_deref(), Some(ROW));
    assert_eq!(told(2, "s-1"), None);
    assert_eq!(told(3, "s-2").as_deref(), Some(ROW), "another session has not seen it");
    stamp.store(1, Ordering::Relaxed);
    assert_eq!(told(4, "s-1").as_deref(), Some(ROW));
    let receipts = home.runtime.call(request("receipts", 9, Tier::Person)).unwrap();
    assert_eq!(receipts["receipts"].as_array().unwrap().len(), 3);
    let item = &receipts["receipts"][0]["items"][0];
    assert_eq!(
        (&item["path"], &item["reason"]),
        (&json!("hint://proxy/build"), &json!("it is marked"))
    );
}

#[test]
fn a_text_is_given_in_the_form_of_the_agent_at_events_that_take_one() {
    let (home, _) = teller();
    let started = reply(&home, 1, "SessionStart", "s-1");
    let text = started["context"].as_str().unwrap();
    assert!(
        text.starts_with("# rekindle context: ") && text.ends_with("- make router\n"),
        "{text}"
    );
    let given = &started["answer"]["hookSpecificOutput"]["additionalContext"];
    assert_eq!(given.as_str().unwrap(), text.trim_end());
    for (id, event) in [(2, "PreToolUse"), (3, "PostToolUse"), (4, "UserPromptSubmit")] {
        let told = reply(&home, id, event, &format!("s-{id}"));
        let text = told["context"].as_str().unwrap();
        assert!(text.ends_with("## Open\n- make router\n"), "{event}: {text}");
        assert_eq!(text.starts_with("# rekindle context: "), event == "UserPromptSubmit", "{text}");
    }
    let stopped = reply(&home, 5, "Stop", "s-5");
    assert_eq!((&stopped["recorded"], stopped.get("context")), (&json!(true), None));
}

#[test]
fn a_repeated_event_gets_no_text() {
    let (home, stamp) = teller();
    assert!(reply(&home, 1, "UserPromptSubmit", "s-1")["context"].is_string());
    stamp.store(1, Ordering::Relaxed);
    let again = reply(&home, 1, "UserPromptSubmit", "s-1");
    assert_eq!((&again["recorded"], again.get("context")), (&json!(false), None));
}

#[test]
fn a_paused_project_gets_no_text() {
    let (home, _) = teller();
    reply(&home, 1, "Stop", "s-1");
    let pause = |id, duration: Option<&str>| {
        let params = json!({ "project": "app", "duration": duration });
        home.runtime.call(Request { params, ..request("pause", id, Tier::Person) }).unwrap();
    };
    pause(2, None);
    assert_eq!(reply(&home, 3, "UserPromptSubmit", "s-1").get("context"), None);
    pause(4, Some("off"));
    assert!(reply(&home, 5, "UserPromptSubmit", "s-1")["context"].is_string());
}

#[test]
fn a_briefing_explains_its_rows_and_leaves_no_receipt() {
    let (home, _) = teller();
    let brief = |id, params: Value| {
        let request = Request { params: params.clone(), ..request("briefing", id, Tier::Person) };
        let result = home.runtime.call(request).unwrap();
        let pretty = home.runtime.table().get("briefing").unwrap().info.cli.pretty.unwrap();
        (pretty(&params, &result, usize::MAX).unwrap(), result)
    };
    let (text, result) = brief(1, json!({}));
    assert!(text.starts_with("# rekindle context") && text.ends_with("- make router\n"), "{text}");
    assert_eq!(result["tokens"], text::tokens::estimate(result["text"].as_str().unwrap()));
    assert_eq!(result.get("told"), None);
    let (text, result) = brief(2, json!({ "explain": true, "for": "prompt", "prompt": "x" }));
    let told = &result["told"][0];
    assert_eq!((&told["score"], &told["reasons"]), (&json!(0.57), &json!(["it is marked"])));
    let line = "\nTold:\n  hint://proxy/build  score 0.57, ";
    assert!(text.contains(line) && text.ends_with(" tokens: it is marked\n"), "{text}");
    assert!(!text.contains("Left out"), "{text}");
    let receipts = home.runtime.call(request("receipts", 3, Tier::Person)).unwrap();
    assert_eq!(receipts["receipts"], json!([]));
}

#[test]
fn an_empty_briefing_says_so_and_names_the_setting_that_is_off() {
    let home = home();
    let pretty = home.runtime.table().get("briefing").unwrap().info.cli.pretty.unwrap();
    let said = |id, params: Value| {
        let request = Request { params: params.clone(), ..request("briefing", id, Tier::Person) };
        pretty(&params, &home.runtime.call(request).unwrap(), usize::MAX).unwrap()
    };
    assert_eq!(said(1, json!({ "for": "resume" })), "Nothing worth saying yet.\n");
    let off = said(2, json!({ "for": "prompt", "prompt": "x" }));
    assert!(off.starts_with("briefing.at_prompts is off"), "{off}");
    let left_out = json!({ "text": "t\n", "tokens": 1,
        "left_out": [{ "path": "obs://1", "score": 0.5, "why": "its section is full" }] });
    let text = pretty(&json!({}), &left_out, usize::MAX).unwrap();
    assert_eq!(text, "t\n\nLeft out:\n  obs://1  score 0.5: its section is full\n");
}

#[test]
fn a_process_that_only_reads_returns_the_receipt_for_the_spool() {
    let (home, _) = teller();
    reply(&home, 1, "Stop", "s-1");
    let teller: Arc<dyn Plugin> = Arc::new(Teller::default());
    let reader = open_home(home.dir.clone(), vec![teller], Runtime::open_read_only);
    let what = Happening::SessionStarted(Source::Startup);
    let started = HookEvent { what, ..event(2, 50, "SessionStart") };
    let told = reader.runtime.tell(&started, Instant::now()).unwrap();
    assert!(told.text.ends_with("- make router\n"), "{}", told.text);
    let receipt = told.receipt.unwrap();
    assert!(receipt.at > started.at && receipt.id != started.id);
    assert_eq!((&receipt.session, &receipt.agent), (&started.session, &started.agent));
    let Happening::Told(entries) = &receipt.what else { panic!("{:?}", receipt.what) };
    assert_eq!(entries[0].path, "hint://proxy/build");
    // The next process that writes knows it by the receipt.
    home.runtime.ingest(vec![*receipt]).unwrap();
    assert_eq!(reply(&home, 3, "UserPromptSubmit", "s-1").get("context"), None);
    assert!(reader.runtime.call(request("write", 4, Tier::Person)).is_err());
}

#[test]
fn an_answer_that_is_late_is_not_given() {
    let (home, _) = teller();
    let what = Happening::SessionStarted(Source::Startup);
    let started = HookEvent { what, ..event(2, 50, "SessionStart") };
    home.runtime.ingest(vec![started.clone()]).unwrap();
    let long_ago = Instant::now().checked_sub(Duration::from_secs(60)).unwrap();
    assert!(home.runtime.tell(&started, long_ago).is_none());
    // Too little time is left to store the receipt: the row would count as seen.
    let almost = Instant::now().checked_sub(crate::deadline(&started).mul_f64(0.9)).unwrap();
    assert!(home.runtime.tell(&started, almost).is_none());
    let receipts = home.runtime.call(request("receipts", 9, Tier::Person)).unwrap();
    assert_eq!(receipts["receipts"], json!([]));
    assert!(home.runtime.tell(&started, Instant::now()).is_some_and(|told| told.receipt.is_none()));
}

#[test]
fn agents_wait_longest_for_an_event_that_happens_once() {
    let tool = |name: &str| {
        let payload = json!({ "session_id": "s-1", "tool_name": "Bash",
            "tool_input": { "command": "make" }, "prompt": "x" });
        agents::extract(None, Some(name), &agents::Json::from(&payload), CallId([1; 16]), 0)
            .unwrap()
    };
    for (name, deadline, patience) in [
        ("PreToolUse", 150, 150),
        ("PostToolUse", 150, 150),
        ("UserPromptSubmit", 300, 200),
        ("Stop", 1_000, 750),
    ] {
        let event = tool(name);
        assert_eq!(crate::deadline(&event), Duration::from_millis(deadline), "{name}");
        assert_eq!(crate::tell::patience(&event), Duration::from_millis(patience), "{name}");
    }
}

#[test]
fn a_situation_has_the_repository_and_the_branch_of_its_directory() {
    let dir = new_dir();
    std::fs::create_dir_all(dir.join(".git/refs")).unwrap();
    std::fs::create_dir_all(dir.join(".git/objects")).unwrap();
    std::fs::write(dir.join(".git/HEAD"), "ref: refs/heads/feature\n").unwrap();
    let here = crate::tell::situation(dir.to_str());
    assert_eq!(here.cwd.as_deref(), dir.to_str());
    assert_eq!(here.branch.as_deref(), Some("feature"));
    assert!(here.repo.is_some() && here.os.is_some());
    assert_eq!(crate::tell::situation(None).cwd, None);
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_failing_plugin_leaves_a_word_in_the_log_and_no_text() {
    struct Broken;

    impl Plugin for Broken {
        fn name(&self) -> &'static str {
            "broken"
        }

        fn operations(&self) -> Vec<Operation> {
            Vec::new()
        }

        fn candidates(&self, _: &Moment<'_>) -> Result<Vec<Candidate>, OpError> {
            Err(OpError::not_found("a secret"))
        }
    }

    let home = home_with(vec![Arc::new(Broken)]);
    assert!(home.runtime.log().keeps(Level::Warn));
    let told = reply(&home, 1, "UserPromptSubmit", "s-1");
    assert_eq!((&told["recorded"], told.get("context")), (&json!(true), None));
    let log = std::fs::read_to_string(home.locations.daemon_log()).unwrap();
    assert!(log.contains("WARN tell: nothing told: not_found") && !log.contains("secret"), "{log}");
}
