//! Jobs: long operations with progress, a recorded end, and a cancel.

use serde_json::{Value, json};

use testkit::{Home, Run, wait_until};

use super::{home, sqlite};

fn jobs(home: &Home) -> Vec<Value> {
    home.call("list_jobs", &json!({}))["jobs"].as_array().unwrap().clone()
}

/// @jobs_are_recorded
#[test]
fn a_long_operation_is_listed_as_a_job_with_its_end() {
    let home = home();
    let _daemon = home.daemon();
    assert_eq!(home.run(&["jobs", "list"]).ok().trim(), "no job has run yet");
    home.run(&["maintain"]).ok();
    let file = home.path("copy.db");
    home.run(&["backup", file.to_str().unwrap()]).ok();
    assert_ne!(home.run(&["backup", file.to_str().unwrap()]).code, 0);
    let all = jobs(&home);
    let seen: Vec<(&str, &str)> = (all.iter())
        .map(|job| (job["op"].as_str().unwrap(), job["state"].as_str().unwrap()))
        .collect();
    assert_eq!(seen, [("backup", "failed"), ("backup", "done"), ("maintain", "done")], "{all:?}");
    assert_eq!(all[0]["why"], "conflict");
    let listed = home.run(&["jobs", "list"]).ok();
    let rows: Vec<&str> = listed.lines().collect();
    assert_eq!(
        rows[0].split_whitespace().collect::<Vec<_>>(),
        ["id", "date", "age", "job", "state"]
    );
    let reason = "failed with the code conflict (the version differs or the name is taken)";
    assert!(rows[1].ends_with(reason) && rows[1].contains(" ago  backup "), "{listed}");
}

/// @jobs_are_recorded
#[test]
fn bad_parameters_leave_no_job_and_an_unknown_one_cannot_be_cancelled() {
    let home = home();
    let _daemon = home.daemon();
    assert_ne!(home.run(&["call", "maintain", r#"{"sweep":7}"#]).code, 0);
    assert_eq!(jobs(&home), [] as [Value; 0]);
    let refused = home.run(&["jobs", "cancel", "5"]);
    assert!(refused.code != 0 && refused.stderr.contains("no job has the id 5"), "{refused:?}");
    home.run(&["maintain"]).ok();
    let late = home.run(&["jobs", "cancel", "1"]).ok();
    assert_eq!(late.trim(), "job 1 had ended already");
}

/// @jobs_are_recorded
#[test]
fn a_restored_backup_has_no_running_job() {
    let home = home();
    home.run(&["mark", "a decision"]).ok();
    let daemon = home.daemon();
    home.run(&["backup", "copy.db"]).ok();
    home.run(&["restore", "copy.db"]).ok();
    let all = jobs(&home);
    assert_eq!((&all[0]["op"], &all[0]["state"]), (&json!("backup"), &json!("done")), "{all:?}");
    drop(daemon);
}

/// @jobs_survive_a_crash
#[test]
fn a_job_of_a_process_that_was_killed_is_marked_as_failed() {
    let home = home();
    home.run(&["maintain"]).ok();
    let running = "INSERT INTO job_runs (op, state, started_at) VALUES ('maintain', 'running', 1)";
    sqlite::open(&sqlite::path(&home)).execute_batch(running).unwrap();
    let all = jobs(&home);
    assert_eq!((&all[0]["state"], &all[0]["why"]), (&json!("failed"), &json!("interrupted")));
}

/// A store with this many unindexed records, without a daemon.
fn waiting(home: &Home, records: usize) {
    fill(home, records);
    let waiting =
        "INSERT INTO unindexed (doc, known) SELECT id, 0 FROM observations WHERE kind = 'command';";
    sqlite::open(&sqlite::path(home)).execute_batch(waiting).unwrap();
}

/// A store with this many further records, without a daemon.
fn fill(home: &Home, records: usize) {
    home.run(&["mark", "a mark"]).ok();
    let copies = format!(
        "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {records}) \
         INSERT INTO observations (id, session, project, at, kind, source_event, content) \
           SELECT o.id + n, session, project, at - n, 'command', source_event, 'make part ' || n \
           FROM (SELECT * FROM observations ORDER BY id DESC LIMIT 1) o, n;"
    );
    sqlite::open(&sqlite::path(home)).execute_batch(&copies).unwrap();
}

/// @index_job
#[test]
fn a_daemon_that_starts_with_many_records_to_index_does_it_as_a_job() {
    let home = home();
    waiting(&home, 3_000);
    let _daemon = home.daemon();
    let job = wait_until("the index is whole", || {
        jobs(&home).into_iter().find(|job| job["op"] == "index" && job["state"] == "done")
    });
    assert!(job.get("why").is_none(), "{job}");
    let found = home.call("search", &json!({ "query": "\"make part 2999\"", "limit": 1 }));
    assert_eq!(found["results"][0]["content_preview"], "make part 2999", "{found}");
    let left: i64 = sqlite::open(&sqlite::path(&home))
        .query_row("SELECT count(*) FROM unindexed", [], |row| row.get(0))
        .unwrap();
    assert_eq!(left, 0);
}

/// @index_job
#[test]
fn maintain_rebuilds_the_index_in_steps_and_completely() {
    let home = home();
    waiting(&home, 3_000);
    let _daemon = home.daemon();
    home.run(&["maintain", "--rebuild-index"]).ok();
    let found = home.call("search", &json!({ "query": "\"make part 7\"", "limit": 1 }));
    assert_eq!(found["results"][0]["content_preview"], "make part 7", "{found}");
    let running: Vec<Value> =
        jobs(&home).into_iter().filter(|job| job["state"] == "running").collect();
    assert_eq!(running, [] as [Value; 0]);
    let doctor = home.run(&["doctor"]).stdout;
    assert!(!doctor.contains("damaged"), "{doctor}");
}

/// So many records that a rebuild of their index takes several seconds.
const MANY: usize = 40_000;

/// Starts the rebuild of the index in a process of its own.
fn rebuild(home: &Home) -> std::thread::JoinHandle<Run> {
    let command = home.command(["maintain", "--rebuild-index"]);
    std::thread::spawn(move || testkit::home::finish(command, b""))
}

/// Waits until a job of this operation has this state, and returns its id.
fn wait_for(home: &Home, state: &str) -> i64 {
    wait_until(state, || {
        let all = jobs(home);
        let job = all.iter().find(|job| job["op"] == "maintain" && job["state"] == state)?;
        job["id"].as_i64()
    })
}

/// @jobs_are_recorded @waiting_jobs
#[test]
fn a_running_and_a_waiting_job_of_the_daemon_are_cancelled() {
    let home = home();
    fill(&home, MANY);
    let _daemon = home.daemon();
    let first = rebuild(&home);
    let running = wait_for(&home, "running");
    let second = rebuild(&home);
    let waiting = wait_for(&home, "waiting");
    let cancelled = home.run(&["jobs", "cancel", &waiting.to_string()]).ok();
    assert_eq!(cancelled.trim(), format!("✔ job {waiting} was waiting and will not run"));
    let second = second.join().unwrap();
    assert!(second.code != 0 && second.stderr.contains("the job was cancelled"), "{second:?}");
    let cancelled = home.run(&["jobs", "cancel", &running.to_string()]).ok();
    assert_eq!(cancelled.trim(), format!("✔ job {running} ends after its present step"));
    let first = first.join().unwrap();
    assert!(first.code != 0 && first.stderr.contains("the job was cancelled"), "{first:?}");
    let ended = |id: i64| jobs(&home).into_iter().find(|job| job["id"] == id).unwrap();
    assert_eq!(
        (&ended(running)["state"], &ended(waiting)["state"]),
        (&json!("cancelled"), &json!("cancelled"))
    );
}

/// @jobs_survive_a_crash
#[test]
fn jobs_of_a_daemon_that_was_killed_are_marked_as_failed() {
    let home = home();
    fill(&home, MANY);
    let mut daemon = home.daemon();
    // A command would call the next daemon when it loses the connection. These clients do not.
    let params = json!({ "rebuild_index": true });
    let call =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "maintain", "params": params }).to_string();
    let http = daemon.http();
    let calls = ["running", "waiting"]
        .map(|state| (http.start("POST", "/rpc", call.as_bytes()), wait_for(&home, state)));
    daemon.kill();
    let all = jobs(&home);
    for (_, id) in &calls {
        let job = all.iter().find(|job| job["id"] == *id).unwrap();
        assert_eq!(
            (&job["state"], &job["why"]),
            (&json!("failed"), &json!("interrupted")),
            "{all:?}"
        );
    }
    let listed = home.run(&["jobs", "list"]).ok();
    assert!(listed.contains("failed: interrupted, its process ended first"), "{listed}");
}
