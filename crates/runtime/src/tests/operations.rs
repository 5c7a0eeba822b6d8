//! The operations of every build, called as surfaces call them, and the texts that people get of them.

use std::sync::atomic::AtomicBool;

use contract::Scheme;
use model::entry::{Entry, EntryLine, EntryPath};
use model::hook::ToldEntry;

use super::*;
use crate::{Host, HostFacts};

impl TestRuntime {
    fn call(&self, op: &str, params: Value) -> Reply {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let mut call = [0; 16];
        call[..4].copy_from_slice(&NEXT.fetch_add(1, Ordering::Relaxed).to_le_bytes());
        self.runtime.call(Request {
            call: CallId(call),
            params,
            ..request(op, 0, if op == "hook" { Tier::Hook } else { Tier::Person })
        })
    }

    /// The text that people get of a result.
    fn text(&self, op: &str, params: &Value, result: &Value) -> String {
        let pretty = self.runtime.table().get(op).unwrap().info.cli.pretty.unwrap();
        pretty(params, result, usize::MAX).unwrap()
    }

    /// Calls an operation and returns the text that people get of its result.
    fn say(&self, op: &str, params: Value) -> String {
        let result = self.call(op, params.clone()).unwrap();
        self.text(op, &params, &result)
    }

    /// Has a session of the project `web` begin.
    fn begin_session(&self, session: &str) {
        let payload = json!({ "session_id": session, "cwd": "/home/you/web", "source": "startup" });
        self.call("hook", json!({ "event": "SessionStart", "payload": payload })).unwrap();
    }
}

#[test]
fn a_pause_holds_for_its_time_or_until_it_is_ended() {
    let home = home();
    let paused = home.call("pause", json!({ "duration": "30m" })).unwrap();
    assert_eq!((&paused["paused"], &paused["changed"]), (&json!(true), &json!(true)));
    let ends_at = paused["pauses"][0]["ends_at"].as_i64().unwrap();
    let answered_at = model::time::parse_rfc3339(paused["answered_at"].as_str().unwrap()).unwrap();
    assert_eq!(ends_at - answered_at / 1000, 1_800);
    let notes = home.call("status", json!({})).unwrap()["notes"].to_string();
    let paused = "paused everywhere: nothing is captured and agents get no text until 20";
    assert!(notes.contains(paused), "{notes}");
    assert_eq!(home.say("pause", json!({})), "paused everywhere until `rekindle pause off`");
    assert_eq!(home.say("pause", json!({ "duration": " off " })), "capture resumed");
    let nothing = "there was no pause of all projects";
    assert_eq!(home.say("pause", json!({ "duration": "off" })), nothing);
    assert_eq!(home.call("status", json!({})).unwrap()["notes"], json!([]));
}

#[test]
fn one_project_can_be_paused() {
    let home = home();
    let unknown = home.call("pause", json!({ "project": "web" })).unwrap_err();
    assert_eq!(unknown.code, Code::NotFound);
    home.begin_session("s-1");
    let text = home.say("pause", json!({ "project": "web" }));
    assert!(text.starts_with("paused in /") && !text.contains('%'), "{text}");
    assert!(text.contains("until `rekindle pause off --project /"), "{text}");
    let notes = home.call("status", json!({})).unwrap()["notes"].to_string();
    assert!(notes.contains("paused in web: nothing"), "{notes}");
    assert!(notes.contains("`rekindle pause off --project web`"), "{notes}");
    let resumed = home.say("pause", json!({ "project": "web", "duration": "off" }));
    assert_eq!(resumed, "capture resumed in web");
    let again = home.say("pause", json!({ "project": "web", "duration": "off" }));
    assert_eq!(again, "web was not paused");
}

#[test]
fn a_pause_lasts_at_least_a_moment_and_at_most_a_year() {
    let home = home();
    for wrong in ["soon", "", "0s", "-1h", "P0D"] {
        let error = home.call("pause", json!({ "duration": wrong })).unwrap_err();
        assert_eq!(error.code, Code::Invalid, "{wrong}");
        assert!(error.message.contains("neither off nor a duration"), "{}", error.message);
    }
    for long in ["367d", "P367D"] {
        let error = home.call("pause", json!({ "duration": long })).unwrap_err();
        assert_eq!(error.message, "the pause is longer than 366 days", "{long}");
    }
    for right in ["1ms", "366d", "PT90M"] {
        assert!(home.call("pause", json!({ "duration": right })).is_ok(), "{right}");
    }
}

#[test]
fn the_time_left_of_a_pause_is_shown_in_the_unit_that_fits() {
    let home = home();
    let told = |seconds: i64| {
        let pauses = json!([{ "ends_at": 1_000_000 + seconds }]);
        let result = json!({ "paused": true, "changed": true, "pauses": pauses,
            "answered_at": "1970-01-12T13:46:40Z" });
        home.text("pause", &json!({}), &result)
    };
    for (seconds, text) in [
        (-5, "0 seconds"),
        (119, "119 seconds"),
        (120, "2 minutes"),
        (7_199, "119 minutes"),
        (7_200, "2 hours"),
        (172_799, "47 hours"),
        (172_800, "2 days"),
        (864_000, "10 days"),
    ] {
        assert_eq!(told(seconds), format!("paused everywhere for {text}"));
    }
}

#[test]
fn receipts_are_grouped_by_the_injected_text_newest_first() {
    let home = home();
    assert_eq!(home.say("receipts", json!({})), "Nothing was injected yet.");
    for (id, session) in [(1, "s-1"), (2, "s-2")] {
        home.begin_session(session);
        let entries = ["obs://1", "hint://a/b"].map(|path| ToldEntry {
            path: path.to_owned(),
            stamp: 1,
            reason: format!("because of {path}"),
            tokens: 10 + u64::from(id),
        });
        let what = Happening::Told(entries.to_vec());
        let at = 1_767_261_600_000 + i64::from(id);
        let told = HookEvent { session: session.to_owned(), what, ..event(id, at, "Told") };
        home.runtime.ingest(vec![told]).unwrap();
    }
    let all = home.call("receipts", json!({})).unwrap();
    let all = all["receipts"].as_array().unwrap();
    assert_eq!(all.len(), 2);
    assert_eq!((&all[0]["session_id"], &all[0]["tokens"]), (&json!("s-2"), &json!(24)));
    assert_eq!((&all[1]["session_id"], &all[1]["tokens"]), (&json!("s-1"), &json!(22)));
    assert_eq!(all[0]["items"][0]["path"], "obs://1", "items are in the order of the text");
    let said = home.say("receipts", json!({ "session_id": "s-1" }));
    let (at, said) = said.split_once("  session ").unwrap();
    assert!(at.starts_with(&zone::shown(1_767_261_600)) && at.ends_with(" ago)"), "{at}");
    assert_eq!(
        said,
        "s-1, 22 tokens\n  \
           obs://1  11 tokens: because of obs://1\n  \
           hint://a/b  11 tokens: because of hint://a/b"
    );
    let used = json!({ "receipts": [{ "session_id": "s", "at": "T", "tokens": 1,
        "items": [{ "path": "p", "reason": "r", "tokens": 1, "used": true }] }] });
    let text = home.text("receipts", &json!({}), &used);
    assert!(text.ends_with("p  1 tokens, used: r"), "{text}");
    let newest = home.call("receipts", json!({ "limit": 1 })).unwrap();
    let newest = &newest["receipts"][0];
    assert_eq!(newest["items"].as_array().unwrap().len(), 1);
    assert_eq!((&newest["tokens"], &newest["left_out"]), (&json!(24), &json!(1)));
    for limit in [0, 1_001] {
        assert!(
            home.call("receipts", json!({ "limit": limit })).is_ok(),
            "a user gets fewer: {limit}"
        );
    }
    let unknown = home.call("receipts", json!({ "session_id": "s-9" })).unwrap_err();
    assert_eq!(unknown.code, Code::NotFound);
}

#[test]
fn jobs_are_listed_with_their_progress_or_their_end() {
    let home = home();
    assert_eq!(home.say("list_jobs", json!({})), "no job has run yet");
    let job = |state: &str, more: Value| {
        let mut job = json!({ "id": 7, "op": "backup", "state": state, "started_at": 0 });
        job.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let listed = json!({ "jobs": [job], "answered_at": 7_200_000 });
        let text = home.text("list_jobs", &json!({}), &listed);
        text.lines().last().unwrap().to_owned()
    };
    let head = format!("7   {}  2h ago  backup  ", zone::shown(0));
    let progress = |step: &str, total: Option<u64>| json!({ "progress": { "step": step, "done": 3, "total": total } });
    for (state, more, shown) in [
        ("waiting", json!({}), "waiting"),
        ("running", progress("copying", Some(9)), "running: copying 3 of 9"),
        ("running", progress("copying", None), "running: copying"),
        ("running", progress("", None), "running"),
        ("failed", json!({ "why": "interrupted" }), "failed: interrupted, its process ended first"),
        ("done", json!({}), "done"),
    ] {
        assert_eq!(job(state, more), format!("{head}{shown}"));
    }
}

#[test]
fn a_job_that_has_ended_cannot_be_cancelled_and_an_unknown_one_is_not_found() {
    let home = home();
    assert_eq!(home.call("cancel_job", json!({ "id": 1 })).unwrap_err().code, Code::NotFound);
    home.call("slow", json!({})).unwrap();
    assert_eq!(home.say("cancel_job", json!({ "id": 1 })), "job 1 had ended already");
    let cancelled = json!({ "id": 1, "cancelled": true });
    let text = home.text("cancel_job", &json!({ "id": 1 }), &cancelled);
    assert_eq!(text, "✔ job 1 ends after its present step");
    let cancelled = json!({ "id": 1, "cancelled": true, "was_waiting": true });
    let text = home.text("cancel_job", &json!({ "id": 1 }), &cancelled);
    assert_eq!(text, "✔ job 1 was waiting and will not run");
}

struct Shelf;

impl Plugin for Shelf {
    fn name(&self) -> &'static str {
        "shelf"
    }

    fn operations(&self) -> Vec<Operation> {
        Vec::new()
    }

    fn schemes(&self) -> Vec<Arc<dyn Scheme>> {
        vec![Arc::new(Shelf)]
    }
}

impl Scheme for Shelf {
    fn name(&self) -> &'static str {
        "shelf"
    }

    fn template(&self) -> &'static str {
        "shelf://{board}"
    }

    fn summary(&self) -> &'static str {
        "Boards"
    }

    fn list(&self, _: &Cx<'_>) -> Result<Vec<EntryLine>, OpError> {
        let (path, media_type) = ("shelf://top".to_owned(), "text/plain".to_owned());
        Ok(vec![EntryLine { path, summary: "The top board".to_owned(), media_type }])
    }

    fn read(&self, _: &Cx<'_>, path: &EntryPath) -> Result<Entry, OpError> {
        let body = format!("books on {}", path.segments.join("/"));
        let (path, media_type) = ("shelf://top".to_owned(), "text/plain".to_owned());
        Ok(Entry { path, body, media_type, attributes: serde_json::Map::new() })
    }
}

#[test]
fn entries_are_listed_and_read_by_path() {
    let home = home_with(vec![Arc::new(Shelf)]);
    assert_eq!(home.say("get", json!({ "path": "shelf://top" })), "books on top");
    let error = home.call("get", json!({ "path": "attic://box" })).unwrap_err();
    assert_eq!(error.code, Code::Invalid);
    assert_eq!(error.hint.as_deref(), Some("Paths begin with shelf://."));
    let listed = home.call("list_resources", json!({})).unwrap();
    assert_eq!(listed["resources"][0]["path"], "shelf://top");
    assert_eq!(
        listed["templates"],
        json!([{ "template": "shelf://{board}", "summary": "Boards" }])
    );
}

#[derive(Default)]
struct Daemon {
    is_stopped: AtomicBool,
}

impl Host for Daemon {
    fn facts(&self) -> HostFacts {
        let started_at = crate::clock::now_ms() - 90_500;
        HostFacts { pid: 7, notes: vec!["it rains".to_owned()], started_at, ..HostFacts::default() }
    }

    fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }
}

#[test]
fn status_and_stop_reach_the_daemon_around_the_runtime() {
    let home = home();
    let status = home.call("status", json!({})).unwrap();
    assert_eq!((&status["running"], &status["held"]), (&json!(false), &json!(0)));
    assert_eq!(home.call("stop", json!({})).unwrap()["stopping"], false);
    let daemon = Arc::new(Daemon::default());
    home.runtime.attach_host(daemon.clone());
    let status = home.call("status", json!({})).unwrap();
    assert_eq!((&status["running"], &status["pid"]), (&json!(true), &json!(7)));
    assert_eq!(status["notes"], json!(["it rains"]));
    assert!((90..100).contains(&status["uptime_seconds"].as_i64().unwrap()), "{status}");
    assert!(!daemon.is_stopped.load(Ordering::Relaxed));
    assert_eq!(home.call("stop", json!({})).unwrap()["stopping"], true);
    assert!(daemon.is_stopped.load(Ordering::Relaxed));
}

#[test]
fn a_backup_can_be_put_in_place_of_the_database() {
    let home = home();
    for op in ["backup", "restore"] {
        let error = home.call(op, json!({ "file": "copy.db" })).unwrap_err();
        assert_eq!(error.message, "the path is not absolute", "{op}");
    }
    home.begin_session("s-1");
    let file = home.dir.join("copy.db");
    let made = home.call("backup", json!({ "file": file })).unwrap();
    assert_eq!(made["bytes"].as_u64(), std::fs::metadata(&file).ok().map(|meta| meta.len()));
    home.begin_session("s-2");
    let restored = home.call("restore", json!({ "file": file })).unwrap();
    assert!(std::path::Path::new(restored["previous"].as_str().unwrap()).is_file());
    assert_eq!(home.call("status", json!({})).unwrap()["events"], 1);
}

/// The findings of the doctor with this name: status and text.
fn findings(home: &TestRuntime, name: &str) -> Vec<(String, String)> {
    let report = home.call("doctor", json!({})).unwrap();
    let named = |check: &&Value| check["name"] == name;
    let text = |check: &Value, member: &str| check[member].as_str().unwrap().to_owned();
    let checks = report["checks"].as_array().unwrap().iter().filter(named);
    checks.map(|check| (text(check, "status"), text(check, "detail"))).collect()
}

#[test]
fn the_doctor_reports_the_database_the_spool_and_the_last_event() {
    let home = home();
    let all = home.call("doctor", json!({})).unwrap();
    assert_eq!(all["ok"], true, "{all}");
    let of = |status: &str, detail: &str| vec![(status.to_owned(), detail.to_owned())];
    assert_eq!(findings(&home, "spool"), of("ok", "no events are waiting"));
    assert_eq!(findings(&home, "last event"), of("warn", "no hook event has been recorded yet"));
    let database = findings(&home, "database");
    assert!(
        database[0].0 == "ok" && database[0].1.contains("rekindle.db: schema "),
        "{database:?}"
    );
    assert!(findings(&home, "damaged records").is_empty() && findings(&home, "room").is_empty());
    home.begin_session("s-1");
    assert_eq!(findings(&home, "last event"), of("ok", "SessionStart 0s ago"));
    let all = home.call("doctor", json!({})).unwrap();
    assert!(all["events"]["SessionStart"].is_string(), "{all}");
    assert!(all["agents"]["claude-code"].is_string(), "{all}");
    std::fs::create_dir_all(&home.locations.spools()[0]).unwrap();
    std::fs::write(home.locations.spools()[0].join("000000000000030-x.json"), "no").unwrap();
    home.call("write", json!({})).unwrap();
    // Both directories of the spool are one here, and the file counts once.
    let spool = findings(&home, "spool");
    assert!(
        spool.contains(&of("warn", "1 file of the spool could not be read as an event")[0]),
        "{spool:?}"
    );
    home.call("pause", json!({})).unwrap();
    assert!(findings(&home, "capture")[0].1.starts_with("paused everywhere"));
}

/// @page_health
#[test]
fn the_doctor_tells_the_last_events_without_a_check() {
    let home = home();
    home.begin_session("s-1");
    let report = home.call("doctor", json!({ "checks": false })).unwrap();
    assert_eq!((&report["ok"], &report["checks"]), (&json!(true), &json!([])));
    assert!(report["events"]["SessionStart"].is_string(), "{report}");
}

#[test]
fn the_doctor_and_the_status_tell_that_the_settings_changed() {
    let home = home();
    assert!(findings(&home, "settings in force").is_empty());
    let file = &home.locations.config_file;
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, "[daemon]\nport = 9000\n").unwrap();
    let told = findings(&home, "settings in force");
    assert!(told[0].1.contains("was changed since the daemon started"), "{told:?}");
    std::fs::write(file, "[daemon]\nport = =\n").unwrap();
    let notes = home.call("status", json!({})).unwrap()["notes"].to_string();
    assert!(notes.contains("line 2") && notes.contains("still uses the old settings"), "{notes}");
}

#[test]
fn the_body_of_a_hook_is_one_json_value() {
    let read = |body: &str| crate::read_event(body.as_bytes());
    assert_eq!(read(r#"{ "session_id": "s-1" }"#), Ok(json!({ "session_id": "s-1" })));
    for wrong in ["", "{", "{} {}"] {
        assert_eq!(read(wrong).unwrap_err().code, Code::Invalid, "{wrong}");
    }
}

#[test]
fn an_event_has_the_id_and_the_time_that_its_call_gives_it() {
    let home = home();
    let params = |at: i64| {
        json!({ "event": "Stop", "at": at, "id": "0a".repeat(16),
        "payload": { "session_id": "s-1" } })
    };
    let (first, again) = (home.call("hook", params(86_400_000)), home.call("hook", params(5)));
    assert_eq!(first.unwrap()["recorded"], true);
    assert_eq!(again.unwrap()["recorded"], false, "an id is recorded once");
    let last = home.call("status", json!({})).unwrap()["last_event"].clone();
    assert_eq!(last["at"], "1970-01-02T00:00:00.000Z", "{last}");
    assert_eq!(home.call("hook", json!({ "event": "Stop" })).unwrap_err().code, Code::Invalid);
}

#[test]
fn every_group_of_commands_says_what_it_is_about() {
    let home = home();
    let table = home.runtime.table();
    let groups = table.iter().filter_map(|op| match op.info.cli.path {
        [group, _, ..] => Some(*group),
        _ => None,
    });
    let groups: Vec<&str> = groups.collect();
    assert!(groups.contains(&"jobs"));
    for group in groups {
        assert!(table.command_group(group).is_some_and(|about| about.len() > 10), "{group}");
    }
}
