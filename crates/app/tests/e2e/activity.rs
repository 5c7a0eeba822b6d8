//! The activity of all sessions: pages of records, and the feed of new ones.

use serde_json::{Value, json};
use testkit::{Http, Ws};

use super::home;
use super::sessions::{frame, socket};

/// Records a command of a session as its agent reports it.
fn runs(http: &Http, session: &str, cwd: &str, command: &str, failed: bool) {
    let event = if failed { "PostToolUseFailure" } else { "PostToolUse" };
    let payload = json!({
        "session_id": session, "cwd": cwd, "hook_event_name": event, "tool_name": "Bash",
        "tool_use_id": format!("t-{command}"), "tool_input": { "command": command },
        "tool_response": { "stdout": "" }, "error": "exit code 1",
    });
    let done = http.post(&format!("/hook/{event}"), payload.to_string().as_bytes());
    assert_eq!(done.status, 200, "{}", done.text());
}

pub(crate) fn says(http: &Http, session: &str, cwd: &str, prompt: &str) {
    let payload = json!({
        "session_id": session, "cwd": cwd, "hook_event_name": "UserPromptSubmit", "prompt": prompt,
    });
    let done = http.post("/hook/UserPromptSubmit", payload.to_string().as_bytes());
    assert_eq!(done.status, 200, "{}", done.text());
}

fn texts(page: &Value) -> Vec<String> {
    let records = page["records"].as_array().expect("a list");
    records.iter().map(|record| record["content"].as_str().expect("a text").to_owned()).collect()
}

/// @activity_pages
#[test]
fn activity_lists_the_records_of_all_sessions_by_page_and_filter() {
    let home = home();
    let daemon = home.daemon();
    let http = daemon.http();
    for number in 0..6 {
        let (session, cwd) =
            if number % 2 == 0 { ("s-even", "/srv/a") } else { ("s-odd", "/srv/b") };
        says(&http, session, cwd, &format!("please run number {number}"));
        runs(&http, session, cwd, &format!("make part{number}"), number == 3);
    }
    let ask = |params: Value| http.rpc("activity", &params).expect("a page");
    let all = ask(json!({}));
    let ids = |page: &Value| -> Vec<i64> {
        page["records"].as_array().unwrap().iter().map(|one| one["id"].as_i64().unwrap()).collect()
    };
    assert_eq!((texts(&all).len(), all.get("next")), (12, None), "{all}");
    assert!(texts(&all)[0].contains("part5") && texts(&all)[11].contains("number 0"), "{all}");
    let (mut paged, mut before) = (Vec::new(), json!({ "limit": 5 }));
    for size in [5, 5, 2] {
        let page = ask(before.clone());
        assert_eq!(ids(&page).len(), size, "{page}");
        paged.extend(ids(&page));
        before["before"] = page["next"].clone();
    }
    assert_eq!((paged, &before["before"]), (ids(&all), &Value::Null));
    let count = |params: Value| ids(&ask(params)).len();
    assert_eq!(count(json!({ "session_id": "s-odd" })), 6);
    assert_eq!(count(json!({ "project": "/srv/a" })), 6);
    assert_eq!(count(json!({ "obs_type": "user_prompt" })), 6);
    assert_eq!(count(json!({ "obs_type": "user_prompt", "failed": true })), 0);
    assert_eq!(count(json!({ "session_id": "s-even", "obs_type": "command" })), 3);
    assert_eq!(count(json!({ "agent": "claude-code", "session_id": "s-even" })), 6);
    assert_eq!(count(json!({ "agent": "claude-code" })), 12);
    assert_eq!(count(json!({ "agent": "none" })), 0);
    assert!(texts(&ask(json!({ "failed": true })))[0].contains("part3"));
    assert_eq!(count(json!({ "failed": true, "project": "/srv/a" })), 0);
    assert_eq!(count(json!({ "failed": false })), 11);
    assert_eq!(count(json!({ "before": "2001-01-01T00:00:00Z" })), 0);
    // The records after one, the last first.
    let since = ask(json!({ "after_id": ids(&all)[4], "project": "/srv/b" }));
    assert_eq!(ids(&since), [ids(&all)[0], ids(&all)[1]], "{since}");
    let first = ask(json!({ "after_id": ids(&all)[4], "limit": 3 }));
    assert_eq!((ids(&first), &first["next"]), (ids(&all)[..3].to_vec(), &all["records"][2]["id"]));
    for wrong in [
        json!({ "limit": "x" }),
        json!({ "limit": 0 }),
        json!({ "limit": -1 }),
        json!({ "limit": 201 }),
        json!({ "before": "yesterday" }),
        json!({ "before": [] }),
        json!({ "after_id": "x" }),
        json!({ "obs_type": "nothing" }),
        json!({ "failed": "yes" }),
        json!({ "project": "no-such-project" }),
        json!({ "session_id": "unknown-session" }),
        json!({ "sort": "id" }),
    ] {
        assert!(http.rpc("activity", &wrong).is_err(), "{wrong}");
    }
    let table = home.run(&["activity", "--project", "*", "--limit", "2"]).ok();
    assert!(table.contains("make part5") && !table.contains("part4"), "{table}");
    ask(json!({ "limit": 200 }));
    for limit in [0, 201] {
        let refused = http.rpc("activity", &json!({ "limit": limit })).unwrap_err().to_string();
        assert!(refused.contains("`limit` is not between 1 and 200"), "{refused}");
    }
    // A user gets the highest number, and a note about it.
    for list in ["activity", "receipts"] {
        let reduced = home.run(&[list, "--limit", "100000"]);
        assert_eq!(reduced.code, 0, "{list}: {reduced:?}");
        assert!(reduced.stderr.contains("--limit 100000 was reduced to "), "{list}: {reduced:?}");
    }
}

/// @activity_pages
#[test]
fn a_mark_in_an_idle_session_is_listed_at_its_time_and_on_a_page() {
    let home = home();
    let daemon = home.daemon();
    let http = daemon.http();
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().expect("a time").as_millis();
    let before = i64::try_from(now).expect("a time") - 60_000;
    for (number, (session, cwd)) in
        [("s-idle", "/srv/a"), ("s-busy", "/srv/b"), ("s-busy", "/srv/b")].into_iter().enumerate()
    {
        let prompt =
            json!({ "session_id": session, "cwd": cwd, "prompt": format!("part {number}") });
        let time = before + 1_000 * i64::try_from(number).expect("a number");
        at(&http, time, "UserPromptSubmit", prompt);
    }
    let marked = http.rpc("mark", &json!({ "text": "keep the cents", "session_id": "s-idle" }));
    let marked = marked.expect("a mark")["id"].clone();
    for filter in [json!({}), json!({ "agent": "claude-code" })] {
        let mut ask = filter.clone();
        ask["project"] = json!("*");
        ask["limit"] = json!(2);
        let first = http.rpc("activity", &ask).expect("a page");
        assert_eq!(texts(&first), ["keep the cents", "part 2"], "{filter}: {first}");
        assert_eq!((&first["records"][0]["id"], &first["last_id"]), (&marked, &marked));
        ask["before"] = first["next"].clone();
        assert_eq!(texts(&http.rpc("activity", &ask).expect("a page")), ["part 1", "part 0"]);
    }
    let recent = http.rpc("recent_context", &json!({ "project": "/srv/a" })).expect("records");
    assert!(recent.to_string().contains("keep the cents"), "{recent}");
}

/// @activity_types
#[test]
fn types_of_declared_records_are_refused_with_those_that_activity_has() {
    let home = home();
    let daemon = home.daemon();
    let http = daemon.http();
    runs(&http, "s-1", "/srv/a", "make", false);
    let stored = json!({ "content": "Round once.", "category": "decision", "cwd": "/srv/a" });
    http.rpc("store_memory", &stored).expect("a memory");
    for kind in ["memory", "ghap", "experience", "value", "session_summary", "nothing"] {
        let refused = http.rpc("activity", &json!({ "project": "*", "obs_type": kind }));
        let refused = refused.expect_err("an error");
        assert_eq!(refused["code"], 40001, "{kind}: {refused}");
        let hint = refused.to_string();
        assert!(hint.contains("file_edit") && hint.contains("session_start"), "{hint}");
    }
    let printed = home.run(&["activity", "--project", "*", "--type", "memory"]);
    assert_eq!((printed.code, printed.stdout.as_str()), (1, ""), "{}", printed.stderr);
}

/// @activity_feed
#[test]
fn new_activity_is_reported_in_groups_with_its_true_number() {
    let home = home();
    let daemon = home.daemon();
    let http = daemon.http();
    let token = format!("Bearer {}", daemon.token);
    let connect = || Ws::connect(daemon.port, &[("Authorization", token.as_str())]).unwrap();
    says(&http, "s-1", "/srv/a", "before the subscription");
    let (mut all, mut failures) = (connect(), connect());
    all.rpc("activity/subscribe", &json!({})).unwrap();
    failures.rpc("activity/subscribe", &json!({ "failed": true, "session_id": "s-2" })).unwrap();
    let begun = std::time::Instant::now();
    for number in 0..120 {
        runs(&http, "s-1", "/srv/a", &format!("make part{number}"), false);
    }
    runs(&http, "s-2", "/srv/b", "make wrong", true);
    let (mut count, mut last_id, mut frames, mut newest) = (0, 0, 0, String::new());
    while count < 121 {
        let frame = all.receive().expect("a frame");
        if frame["method"] != "activity/new" {
            continue;
        }
        let params = &frame["params"];
        let records = params["records"].as_array().expect("records").len() as u64;
        let counted = params["count"].as_u64().expect("a number");
        assert!(records == counted.min(50), "{records} of {counted}");
        assert!(params["last_id"].as_u64().unwrap() > last_id, "{params}");
        last_id = params["last_id"].as_u64().unwrap();
        count += counted;
        frames += 1;
        newest = texts(params)[0].clone();
    }
    assert_eq!(count, 121);
    assert!(newest.contains("make wrong"), "{newest}");
    let quarters = begun.elapsed().as_millis() / 250 + 2;
    assert!(frames <= quarters, "{frames} frames in {quarters} quarters of a second");
    let failure = loop {
        let frame = failures.receive().expect("a frame");
        if frame["method"] == "activity/new" {
            break frame["params"].clone();
        }
    };
    assert_eq!((&failure["count"], texts(&failure).len()), (&json!(1), 1), "{failure}");
    // After a reconnect the gap is closed.
    let mut back = connect();
    back.rpc("activity/subscribe", &json!({ "after_id": last_id - 60, "project": "/srv/a" }))
        .unwrap();
    let gap = back.receive().expect("a frame")["params"].clone();
    // The failure and its session have the last two ids.
    assert_eq!((&gap["count"], texts(&gap).len()), (&json!(58), 50));
    let wrong = [
        json!({ "limit": 1 }),
        json!({ "obs_type": "x" }),
        json!({ "failed": 1 }),
        json!({ "session_id": ".." }),
        json!({ "after_id": -1 }),
        json!([]),
    ];
    for wrong in wrong {
        let refused = back.rpc("activity/subscribe", &wrong).unwrap_err();
        assert!(refused.to_string().contains("E_INVALID"), "{wrong}: {refused}");
    }
    // Without parameters all subscriptions of the feed end.
    let unsubscribed = back.rpc("activity/unsubscribe", &json!({})).unwrap();
    assert_eq!(unsubscribed, json!({ "subscribed": false }));
    says(&http, "s-3", "/srv/a", "after the end");
    back.rpc("activity/subscribe", &json!({ "session_id": "s-9" })).unwrap();
    says(&http, "s-9", "/srv/a", "of the new subscription");
    let mut frames = std::iter::from_fn(|| back.receive());
    let next = frames.find(|frame| frame["method"] == "activity/new").expect("a frame");
    assert!(!next.to_string().contains("after the end"), "{next}");
}

/// @restore_events
#[test]
fn new_activity_is_reported_after_a_restore_of_an_older_database() {
    let home = home();
    let daemon = home.daemon();
    let http = daemon.http();
    says(&http, "s-1", "/srv/a", "before the backup");
    let copy = home.path("copy.db");
    home.run(&["backup", copy.to_str().unwrap()]).ok();
    for number in 0..5 {
        runs(&http, "s-1", "/srv/a", &format!("make part{number}"), false);
    }
    let mut watcher = socket(&daemon);
    watcher.rpc("activity/subscribe", &json!({})).unwrap();
    home.run(&["restore", copy.to_str().unwrap()]).ok();
    says(&http, "s-1", "/srv/a", "after the restore");
    let new = frame(&mut watcher, "activity/new");
    assert!(new.to_string().contains("after the restore"), "{new}");
}

/// @activity_feed
#[test]
fn two_subscriptions_of_a_socket_share_its_four_messages_a_second() {
    let home = home();
    let daemon = home.daemon();
    let http = daemon.http();
    says(&http, "s-1", "/srv/a", "before the subscriptions");
    let mut watcher = socket(&daemon);
    for filter in [json!({}), json!({ "project": "*" }), json!({ "agent": "claude-code" })] {
        watcher.rpc("activity/subscribe", &filter).unwrap();
    }
    let begun = std::time::Instant::now();
    for number in 0..10 {
        runs(&http, "s-1", "/srv/a", &format!("make part{number}"), false);
        frame(&mut watcher, "activity/new");
    }
    let millis = begun.elapsed().as_millis();
    assert!(millis >= 9 * 250 - 50, "10 messages in {millis} ms");
}

/// @activity_feed
#[test]
fn a_message_says_which_subscription_of_the_socket_it_belongs_to() {
    let home = home();
    let daemon = home.daemon();
    let http = daemon.http();
    says(&http, "s-1", "/srv/a", "before the subscriptions");
    let mut watcher = socket(&daemon);
    let filters = [json!({ "project": "*" }), json!({ "agent": "claude-code" })];
    for filter in &filters {
        let mut params = filter.clone();
        params["after_id"] = json!(1);
        watcher.rpc("activity/subscribe", &params).unwrap();
    }
    runs(&http, "s-1", "/srv/a", "make cart", false);
    let mut named: Vec<Value> = Vec::new();
    while named.len() < filters.len() {
        let filter = frame(&mut watcher, "activity/new")["filters"].clone();
        if !named.contains(&filter) {
            named.push(filter);
        }
    }
    assert!(filters.iter().all(|filter| named.contains(filter)), "{named:?}");
}

/// A hook event at a time, in milliseconds since 1970.
fn at(http: &Http, at: i64, event: &str, mut payload: Value) {
    payload["hook_event_name"] = json!(event);
    http.rpc("hook", &json!({ "event": event, "at": at, "payload": payload })).expect("a hook");
}

/// @activity_stats
#[test]
fn records_are_counted_by_local_day_and_hour_and_by_what_they_are() {
    const MINUTE: i64 = 60_000;
    // Thursday, 2026-01-01T23:10:00Z.
    const LATE: i64 = 1_767_309_000_000;
    let home = home();
    let daemon = home.daemon();
    let http = daemon.http();
    for (number, after) in [0, 30, 60, 90].into_iter().enumerate() {
        let (session, cwd) = if number == 3 { ("s-b", "/srv/b") } else { ("s-a", "/srv/a") };
        let time = LATE + after * MINUTE;
        let prompt =
            json!({ "session_id": session, "cwd": cwd, "prompt": format!("part {number}") });
        at(&http, time, "UserPromptSubmit", prompt);
        let event = if number == 1 { "PostToolUseFailure" } else { "PostToolUse" };
        let ran = json!({
            "session_id": session, "cwd": cwd, "tool_name": "Bash", "tool_use_id": format!("t-{number}"),
            "tool_input": { "command": format!("make part{number}") },
            "tool_response": { "stdout": "" }, "error": "exit code 1",
        });
        at(&http, time + 1, event, ran);
    }
    let ask = |params: Value| {
        let mut all =
            json!({ "project": "*", "from": "2026-01-01", "to": "2026-01-03", "utc_offset": 0 });
        all.as_object_mut().unwrap().extend(params.as_object().unwrap().clone());
        http.rpc("activity_stats", &all).expect("statistics")
    };
    let per_bucket = |stats: &Value| -> Vec<u64> {
        let buckets = stats["buckets"].as_array().unwrap();
        buckets.iter().map(|one| one["count"].as_u64().unwrap()).collect()
    };
    let days = ask(json!({}));
    assert_eq!((&days["records"], &days["failed"]), (&json!(8), &json!(1)), "{days}");
    let types = json!({ "command": 1, "command_error": 1, "user_prompt": 2 });
    let first = json!({ "start": "2026-01-01T00:00:00Z", "count": 4, "failed": 1, "by": types });
    assert_eq!((per_bucket(&days), &days["buckets"][0]), (vec![4, 4], &first), "{days}");
    let ends = (&json!("2026-01-01T00:00:00Z"), &json!("2026-01-04T00:00:00Z"));
    assert_eq!((&days["from"], &days["to"]), ends);
    assert_eq!(days["injected"], json!([]));
    assert_eq!(days["by_project"], json!({ "a": 6, "b": 2 }));
    assert_eq!(days["by_tool"], json!({ "Bash": 4 }));
    assert_eq!(days["by_agent"], json!({ "claude-code": 8 }));
    assert_eq!((&days["week"][3][23], &days["week"][4][0]), (&json!(4), &json!(4)), "{days}");
    // In New York all of it was on Thursday, in India on Friday.
    let new_york = ask(json!({ "utc_offset": -300 }));
    let midnight = json!("2026-01-01T05:00:00Z");
    assert_eq!((per_bucket(&new_york), &new_york["buckets"][0]["start"]), (vec![8], &midnight));
    let india = ask(json!({ "utc_offset": 330 }));
    let midnight = json!("2026-01-01T18:30:00Z");
    assert_eq!((per_bucket(&india), &india["buckets"][0]["start"]), (vec![8], &midnight));
    let hours = ask(
        json!({ "bucket": "hour", "from": "2026-01-01T23:00:00Z", "to": "2026-01-02T01:00:00Z" }),
    );
    assert_eq!(per_bucket(&hours), [4, 4]);
    let of_b = ask(json!({ "project": "/srv/b" }));
    assert_eq!((per_bucket(&of_b), &of_b["failed"]), (vec![2], &json!(0)));
    let printed = home
        .run(&[
            "activity-stats",
            "--project",
            "*",
            "--from",
            "2026-01-01",
            "--to",
            "2026-01-02",
            "--utc-offset",
            "0",
        ])
        .ok();
    assert!(
        printed.contains("2026-01-01  4") && printed.contains("8 records, 12 % failed"),
        "{printed}"
    );
}

/// @activity_stats
#[test]
fn statistics_of_an_impossible_time_are_refused() {
    let home = home();
    let daemon = home.daemon();
    let http = daemon.http();
    for wrong in [
        json!({ "bucket": "week" }),
        json!({ "utc_offset": 900 }),
        json!({ "from": "2026-01-03", "to": "2026-01-01" }),
        json!({ "bucket": "hour", "from": "2020-01-01" }),
        json!({ "from": "soon" }),
    ] {
        let mut all = json!({ "project": "*", "utc_offset": 0 });
        all.as_object_mut().unwrap().extend(wrong.as_object().unwrap().clone());
        let error = http.rpc("activity_stats", &all).expect_err("an error");
        assert_eq!(error["code"], 40001, "{wrong}: {error}");
    }
}
