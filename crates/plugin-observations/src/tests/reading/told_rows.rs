//! Which sessions, decisions, files and projects a briefing lists, and which it leaves out.

use model::observation::ObsType;
use serde_json::json;

use super::sections::{section, started, told};
use super::{API, DAY, HOUR, WEB, World};

const S: (&str, &str) = ("s-1", WEB);
const NEXT: (&str, &str) = ("s-2", WEB);
const MINUTE: i64 = 60_000;

/// @briefing_sessions
#[test]
fn sessions_that_greeted_or_asked_about_the_state_have_no_row() {
    let world = World::new();
    world.prompt(S, 9 * DAY, "repair the rounding of the cart");
    world.edit(S, 9 * DAY, "/nowhere/web/a.rs", "Edit a.rs: one");
    world.answer(S, 9 * DAY, "Rounded once, at the end of the sum.");
    let asked = [
        "hi, where are we?",
        "thanks, good morning, what's up?",
        "what changed today?",
        "run git status",
    ];
    for (number, prompt) in asked.iter().enumerate() {
        let name = format!("look-{number}");
        let (at, ago) = ((name.as_str(), WEB), DAY - number as i64 * HOUR);
        world.prompt(at, ago, prompt);
        world.command(at, ago, "git status");
        world.answer(at, ago, "There are no uncommitted changes, the working tree is clean.");
    }
    let rows = told(&world, "Recent sessions");
    let work = "\"repair the rounding of the cart\" → \"Rounded once, at the end of the sum.\"";
    assert_eq!(rows, [work]);
    // Once such a session does something, that is what it was about.
    let late = ("look-0", WEB);
    world.prompt(late, 2 * HOUR, "fix the header");
    world.edit(late, HOUR, "/nowhere/web/b.rs", "Edit b.rs: one");
    let rows = told(&world, "Recent sessions");
    assert!(rows[0].starts_with("\"fix the header\" → "), "{rows:?}");
}

/// @briefing_sessions
#[test]
fn the_outcome_of_a_session_is_the_answer_after_its_last_change() {
    let world = World::new();
    world.prompt(S, 9 * HOUR, "the invoice PDF has the wrong VAT for Norway");
    world.edit(S, 9 * HOUR - MINUTE, "/nowhere/web/vat.py", "Edit vat.py: 0.25");
    let first = "The VAT of Norway is 25 % now. `test_svalbard` still fails: no VAT there at all.";
    world.answer(S, 9 * HOUR - 2 * MINUTE, first);
    world.prompt(S, 8 * HOUR, "then treat Svalbard as zero");
    world.edit(S, 8 * HOUR - MINUTE, "/nowhere/web/vat.py", "Edit vat.py: SVALBARD = 0");
    world.commit(S, 8 * HOUR - 2 * MINUTE, "1a2b3c4d", "vat: Norway 25 %, Svalbard 0");
    let last = "Svalbard is zero-rated now and all 5 tests pass.";
    world.answer(S, 8 * HOUR - 3 * MINUTE, last);
    let rows = told(&world, "Recent sessions");
    assert!(rows[0].contains(last) && !rows[0].contains("still fails"), "{rows:?}");
    // An answer that only says that it is done does not hide what was found out.
    world.prompt(S, 7 * HOUR, "push it again");
    world.edit(S, 7 * HOUR - MINUTE, "/nowhere/web/vat.py", "Edit vat.py: # zero");
    world.answer(S, 7 * HOUR - 2 * MINUTE, "Done, pushed.");
    let rows = told(&world, "Recent sessions");
    assert!(rows[0].contains(last), "{rows:?}");
}

/// @briefing_sessions
#[test]
fn a_finding_beside_the_commit_of_its_session_has_a_row_of_its_own() {
    let world = World::new();
    world.prompt(S, 9 * HOUR, "Rename the config loader to settings reader");
    world.edit(S, 9 * HOUR - MINUTE, "/nowhere/web/settings.rs", "Edit settings.rs: one");
    world.commit(S, 9 * HOUR - 2 * MINUTE, "1a2b3c4d", "config: rename the loader");
    world.answer(S, 9 * HOUR - 3 * MINUTE, "The loader is the settings reader everywhere.");
    let asked = "look into why the cache misses on restart";
    let found = "The cache key contains the process id, so each restart begins empty.";
    world.prompt(S, 8 * HOUR, asked);
    world.read(S, 8 * HOUR - MINUTE, "/nowhere/web/cache.rs");
    world.answer(S, 8 * HOUR - 2 * MINUTE, found);
    let rows = told(&world, "Recent sessions");
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert!(rows[0].contains("1a2b3c4"), "{rows:?}");
    assert_eq!(rows[1], format!("\"{asked}\" → \"{found}\""), "{rows:?}");
    // A later change of its subject overtakes it.
    world.prompt(NEXT, 7 * HOUR, "leave the process id out of the cache key, so restart keeps it");
    world.edit(NEXT, 7 * HOUR - MINUTE, "/nowhere/web/cache.rs", "Edit cache.rs: key");
    let rows = told(&world, "Recent sessions");
    assert!(!rows.iter().any(|row| row.contains(found)), "{rows:?}");
}

/// @briefing_sessions
#[test]
fn sessions_with_commits_come_before_sessions_that_only_talked_if_not_all_fit() {
    let world = World::new();
    world.prompt(S, 3 * DAY, "repair the rounding of the cart");
    world.commit(S, 3 * DAY, "1a2b3c4", "cart: round once");
    for number in 0..7 {
        let name = format!("talk-{number}");
        let at = (name.as_str(), WEB);
        world.prompt(at, DAY - number * HOUR, &format!("why is topic{number} subject{number}?"));
        world.answer(at, DAY - number * HOUR, &format!("Because of reason{number}, as before."));
    }
    let rows = told(&world, "Recent sessions");
    assert_eq!(rows.len(), 5);
    assert!(rows.iter().any(|row| row.ends_with("→ 1a2b3c4 cart: round once")), "{rows:?}");
}

/// @briefing_sessions
#[test]
fn answers_of_the_last_sessions_are_shown_beside_older_commits() {
    let world = World::new();
    for number in 0..6 {
        let name = format!("work-{number}");
        let at = (name.as_str(), WEB);
        let ago = 9 * DAY - number * DAY;
        world.prompt(at, ago, &format!("implement feature{number} of part{number}"));
        world.commit(at, ago, &format!("1a2b3c{number}"), &format!("part{number}: feature"));
    }
    let asked = ("asked", WEB);
    world.prompt(asked, DAY, "Why does the checkout fail? Do not change anything yet.");
    world.answer(asked, DAY, "Great question! The webhook secret on pod 3 is stale.");
    let rows = told(&world, "Recent sessions");
    assert_eq!(rows.len(), 5);
    assert!(rows[0].ends_with("→ \"The webhook secret on pod 3 is stale.\""), "{rows:?}");
}

/// @briefing_decisions
#[test]
fn a_report_that_something_never_happens_is_not_a_decision() {
    let world = World::new();
    let old = "We decided: the worker acks each job of the mail queue after the mail was sent.";
    let report = "the worker never acks, jobs of the mail queue drop after the deploy";
    // The row of a session shows its task, so each session has a task of its own.
    for (session, day, task, said) in
        [("s-1", 9, "repair the header of the shop", old), ("s-2", 2, "sort the invoices", report)]
    {
        world.prompt((session, WEB), day * DAY, task);
        world.edit((session, WEB), day * DAY, "/nowhere/web/a.rs", "Edit a.rs: one");
        world.edit((session, WEB), day * DAY, "/nowhere/web/b.rs", "Edit b.rs: one");
        world.prompt((session, WEB), day * DAY - HOUR, said);
        world.answer((session, WEB), day * DAY - HOUR, "Looked at the queue.");
    }
    let found = world.ask("search", json!({ "query": "when does the worker ack a job" }));
    assert!(found.to_string().contains(old) && !found.to_string().contains("replace"), "{found}");
    let briefing = started(&world, ("s-3", WEB), "startup");
    assert!(briefing.contains("decided: \"We decided: the worker acks"), "{briefing}");
    assert!(!briefing.contains("decided: \"the worker never"), "{briefing}");
    assert!(!briefing.contains("replace"), "{briefing}");
}

/// @briefing_decisions
#[test]
fn a_decision_that_rejects_something_is_shown_with_what_holds_instead() {
    let world = World::new();
    let money = "Also, change of plan for money: since we now have customers paying in JPY and KWD, amounts \
                 in the database are no longer integer cents. Use integer minor units plus an ISO currency \
                 column instead, with the exponent from ISO 4217.";
    let queue =
        "We decided against Redis after all. The job queue uses Postgres LISTEN/NOTIFY instead.";
    world.prompt(S, 9 * DAY, "We store amounts as integer cents in the database.");
    world.prompt(S, 8 * DAY, "look at the numbers of the invoices please");
    world.edit(S, 8 * DAY, "/nowhere/web/a.rs", "Edit a.rs: one");
    world.prompt(S, 7 * DAY, money);
    world.prompt(S, 6 * DAY, &format!("{queue} Go on with the worker."));
    world.prompt(S, 5 * DAY, "run the tests of the worker");
    world.answer(S, 5 * DAY, "They pass.");
    let rows = told(&world, "Learned");
    for said in [money, queue] {
        let row = format!("decided: \"{said}\"");
        assert!(rows.iter().any(|told| told.starts_with(&row)), "{row}: {rows:?}");
    }
}

/// @briefing_decisions
#[test]
fn lines_of_sessions_say_which_decision_was_replaced_by_which() {
    let world = World::new();
    for (at, days) in [(S, 9), (NEXT, 2)] {
        world.prompt(at, days * DAY + HOUR, "look at the numbers of the invoices please");
        world.command(at, days * DAY + HOUR, "make");
    }
    let old = "Invoice numbers must have no gaps. We decided to use a Postgres sequence per year.";
    world.prompt(S, 9 * DAY, old);
    world.answer(S, 9 * DAY, "The invoice numbers come from a sequence.");
    let new = "Invoice numbers have gaps with the Postgres sequence. Use a counter table \
               with row lock instead of the sequence.";
    world.prompt(NEXT, 2 * DAY, new);
    world.answer(NEXT, 2 * DAY, "Never log the number of a card.");
    world.answer(NEXT, DAY, "All of it is finished and works as you wanted.");
    let [old, new] = [old, new].map(|text| world.id(text));
    assert_eq!(told(&world, "Learned"), ["decided: \"Never log the number of a card.\""]);
    let lines = told(&world, "Recent sessions");
    assert!(lines[0].contains(&format!("of the sequence.\" (replaces #{old}) → ")), "{lines:?}");
    assert!(lines[1].contains(&format!("per year.\" (replaced by #{new}) → ")), "{lines:?}");
}

/// @briefing_decisions
#[test]
fn lines_of_sessions_mark_facts_that_changed_in_everyday_wording() {
    let pairs = [
        ("Set the backup retention to 35 days", "Change the backup retention to 90 days"),
        ("Note it: payments go through Stripe", "Change of plan: payments go through Adyen"),
    ];
    for (old, new) in pairs {
        let world = World::new();
        for (at, days, said) in [(S, 9, old), (NEXT, 2, new)] {
            world.prompt(at, days * DAY, said);
            world.edit(at, days * DAY, "/nowhere/web/a.rs", "Edit a.rs: one");
            world.answer(at, days * DAY, "It is in the configuration.");
        }
        let lines = told(&world, "Recent sessions");
        let (older, newer) = (world.id(old), world.id(new));
        assert!(lines[0].contains(&format!("(replaces #{older})")), "{lines:?}");
        assert!(lines[1].contains(&format!("(replaced by #{newer})")), "{lines:?}");
    }
}

/// @briefing_sessions
#[test]
fn sessions_of_prompts_alone_do_not_hide_earlier_sessions_with_work() {
    let world = World::new();
    world.prompt(S, 9 * DAY, "repair the rounding of the cart");
    world.edit(S, 9 * DAY, "/nowhere/web/cart.rs", "Edit cart.rs: once");
    world.answer(S, 9 * DAY - HOUR, "The cart rounds once.");
    for n in 1..=14 {
        let at = (format!("left-{n}"), 8 * DAY - n * HOUR);
        world.prompt((&at.0, WEB), at.1, &format!("look at the invoice with number {n} please"));
    }
    let lines = told(&world, "Recent sessions");
    assert!(lines[0].starts_with("\"repair the rounding of the cart\" → "), "{lines:?}");
}

/// @briefing_files
#[test]
fn a_file_that_a_fix_names_is_not_a_file_in_progress_too() {
    let world = World::new();
    world.prompt(S, 9 * HOUR, "repair the import of the bank");
    world.run(S, 8 * HOUR, "pytest", "failed", "FAILED a.py::b - assert 1 == 2");
    world.edit(S, 7 * HOUR, "/nowhere/web/camt.py", "Edit camt.py: return None");
    world.run(S, 6 * HOUR, "pytest", "passed", "");
    world.edit(S, 5 * HOUR, "/nowhere/web/other.py", "Edit other.py: x = 1");
    let fix = "`pytest` failed: FAILED a.py::b - assert 1 == 2 → worked after edits of camt.py";
    assert_eq!(told(&world, "Learned"), [fix]);
    assert_eq!(told(&world, "Files in progress"), ["other.py: x = 1"]);
}

/// @briefing_sessions
/// @briefing_files
#[test]
fn committed_files_are_named_by_their_sessions_and_are_not_in_progress() {
    let world = World::new();
    world.prompt(("s-0", WEB), 9 * DAY, "give the header a new colour");
    world.edit(("s-0", WEB), 9 * DAY, "/nowhere/web/header.rs", "Edit header.rs: blue");
    world.prompt(S, 3 * DAY, "repair the rounding of the cart");
    for name in ["a.rs", "b.rs", "c.rs", "d.rs", "e.rs", "cart.rs"] {
        let path = format!("/nowhere/web/{name}");
        world.edit(S, 3 * DAY - MINUTE, &path, &format!("Edit {name}: one"));
    }
    world.commit(S, 3 * DAY - 2 * MINUTE, "1a2b3c4", "round once in cart.rs");
    world.prompt(NEXT, DAY, "print the vouchers on the invoice");
    world.edit(NEXT, DAY, "/nowhere/web/b.rs", "Edit b.rs: two");
    world.commit(NEXT, DAY, "2b3c4d5", "invoice: print vouchers");
    let lines = told(&world, "Recent sessions");
    assert!(lines[0].ends_with("→ 2b3c4d5 invoice: print vouchers (edited b.rs)"), "{lines:?}");
    let named = "→ 1a2b3c4 round once in cart.rs (edited e.rs, d.rs, c.rs, a.rs)";
    assert!(lines[1].ends_with(named), "no file is named twice: {lines:?}");
    assert!(lines[2].ends_with("(edited header.rs)"), "{lines:?}");
    assert_eq!(told(&world, "Files in progress"), [""; 0]);
}

/// @briefing_sessions
#[test]
fn a_line_joins_a_prompt_with_its_own_answer_and_the_newest_session_is_first() {
    let world = World::new();
    // The commit says what this session was about, though it talked about something else before and after.
    world.prompt(S, 9 * HOUR, "why does the login token expire?");
    world.answer(S, 9 * HOUR - MINUTE, "The clock of the container is behind.");
    world.prompt(S, 8 * HOUR, "repair the rounding of the cart");
    world.edit(S, 8 * HOUR - MINUTE, "/nowhere/web/cart.rs", "Edit cart.rs: once");
    world.answer(S, 8 * HOUR - 2 * MINUTE, "Shall it be rounded half up or half even?");
    world.prompt(S, 8 * HOUR - 3 * MINUTE, "half up, and commit it");
    world.commit(S, 8 * HOUR - 4 * MINUTE, "1a2b3c4", "cart: round once");
    world.answer(S, 8 * HOUR - 5 * MINUTE, "Rounded half up, and committed.");
    world.prompt(S, 7 * HOUR, "how many invoices are overdue?");
    world.answer(S, 7 * HOUR - MINUTE, "Three invoices are overdue.");
    // This one only talked; its last subject is what it was about.
    world.prompt(NEXT, 6 * HOUR, "which database holds the vouchers?");
    world.answer(NEXT, 6 * HOUR - MINUTE, "The vouchers are in Postgres.");
    world.prompt(NEXT, 5 * HOUR, "what sends the reminder mails?");
    world.answer(NEXT, 5 * HOUR - MINUTE, "A cron job of the worker sends them.");
    assert_eq!(
        told(&world, "Recent sessions"),
        [
            "\"what sends the reminder mails?\" → \"A cron job of the worker sends them.\"",
            "\"repair the rounding of the cart\" → \"Rounded half up, and committed.\" → \
             1a2b3c4 cart: round once (edited cart.rs)",
            "\"why does the login token expire?\" → \"The clock of the container is behind.\"",
        ]
    );
}

/// @briefing_sessions
#[test]
fn a_question_is_shown_with_its_own_answer_before_that_of_a_later_change() {
    let world = World::new();
    world.prompt(S, 9 * HOUR, "why does the nightly export time out?");
    world.answer(S, 9 * HOUR - MINUTE, "An index of the orders is missing.");
    world.prompt(S, 8 * HOUR, "put it back please");
    world.edit(S, 8 * HOUR - MINUTE, "/nowhere/web/0057.sql", "Edit 0057.sql: create index");
    world.answer(S, 8 * HOUR - 2 * MINUTE, "The index is back in migration 0057.");
    let rows = told(&world, "Recent sessions");
    let own = "\"why does the nightly export time out?\" → \"An index of the orders is missing.\" → \
               \"The index is back in migration 0057.\"";
    assert!(rows.iter().any(|row| row.starts_with(own)), "{rows:?}");
}

/// @briefing_decisions
#[test]
fn a_decision_that_search_marks_as_replaced_is_not_listed() {
    let pairs = [
        (
            "We decided to store amounts as integer cents in the database, not as Decimal strings.",
            "Change of plan: we store amounts as NUMERIC(12,2) now, no more integer cents.",
        ),
        (
            "From now on the API is versioned by a header.",
            "Actually, version the API by the path /v2, not by a header.",
        ),
        (
            "We decided to deploy on Fridays at 18:00.",
            "Never deploy on Fridays again, deploy on Tuesday morning.",
        ),
    ];
    for (old, new) in pairs {
        let world = World::new();
        // The commits say what these sessions were about, so that their lines do not quote the decisions.
        for (at, days, said) in [(S, 20, old), (NEXT, 2, new)] {
            world.prompt(at, days * DAY, said);
            world.answer(at, days * DAY, "Noted, and all of it works as you wanted.");
            world.prompt(
                at,
                days * DAY - HOUR,
                &format!("tidy the notes of week {days} and print"),
            );
            world.commit(at, days * DAY - HOUR, "1a2b3c4", "notes: tidy");
        }
        let id = world.id(old);
        let found = world.ask("search", json!({ "query": new }));
        let hits = found["results"].as_array().unwrap();
        let hit = hits.iter().find(|hit| hit["id"] == id).unwrap_or_else(|| panic!("{found}"));
        assert!(hit["note"].to_string().contains("replaced by #"), "{found}");
        let expected = format!("decided: \"{new}\" (replaces #{id})");
        assert_eq!(told(&world, "Learned"), [expected]);
    }
}

/// @briefing_files
#[test]
fn files_of_sessions_without_a_line_share_one_row() {
    let world = World::new();
    for name in ["a.rs", "b.rs"] {
        let path = format!("/nowhere/web/{name}");
        world.edit(S, 3 * DAY, &path, &format!("Edit {name}: one"));
    }
    world.prompt(NEXT, DAY, "print the vouchers on the invoice");
    world.edit(NEXT, DAY, "/nowhere/web/c.rs", "Edit c.rs: two");
    let rows = told(&world, "Files in progress");
    assert_eq!(rows, ["c.rs: two", "also edited lately: b.rs, a.rs"]);
}

/// @briefing_other_projects
#[test]
fn the_names_of_files_do_not_relate_two_projects() {
    let world = World::new();
    let ask = |cwd: &'static str, prompt: &str| {
        world.prompt((cwd, cwd), 3 * HOUR, prompt);
        world.edit((cwd, cwd), 2 * HOUR, &format!("{cwd}/x.rs"), "Edit x.rs");
    };
    ask(WEB, "explain the vouchers of the printer in src/warehouse/ledger.rs");
    ask(API, "tidy `app/warehouse.ts` and ledger.ts");
    assert_eq!(told(&world, "Other projects"), [""; 0]);
    ask("/nowhere/tool", "a voucher for the printer of the warehouse");
    assert_eq!(
        told(&world, "Other projects"),
        ["\"a voucher for the printer of the warehouse\" [tool]"]
    );
}

/// @briefing_fixes
#[test]
fn a_run_of_other_tests_is_not_a_fix() {
    let world = World::new();
    world.prompt(S, 9 * HOUR, "repair the import of the bank");
    let edit = |ago: i64| world.edit(S, ago, "/nowhere/web/camt.py", "Edit camt.py: return None");
    let error = "FAILED tests/a.py::b - assert 1 == 2";
    world.run(S, 8 * HOUR, "pytest tests/a.py -x 2>&1 | tail -5", "failed", error);
    edit(7 * HOUR);
    world.run(S, 6 * HOUR, "pytest tests/b.py", "passed", "");
    assert_eq!(told(&world, "Learned"), [""; 0]);
    world.run(S, 5 * HOUR, "pytest -q", "passed", "");
    let fix = "`pytest tests/a.py -x 2>&1 | tail -5` failed: FAILED tests/a.py::b - assert 1 == 2 → \
               worked: `pytest -q` after edits of camt.py";
    assert_eq!(told(&world, "Learned"), [fix]);
}

/// @briefing_fixes
#[test]
fn a_command_whose_exit_code_a_pipe_hides_is_not_a_fix() {
    let lines = [
        ("./deploy.sh staging 2>&1 | tail -3", false),
        ("./deploy.sh staging; echo done", false),
        ("./deploy.sh staging || true", false),
        ("set -o pipefail; ./deploy.sh staging | tail -3", true),
        ("./deploy.sh staging --verbose && echo done", true),
    ];
    for (line, is_fix) in lines {
        let world = World::new();
        world.prompt(S, 9 * HOUR, "deploy the shop to staging");
        let error = "Exit code 1\nERROR: health check of web failed";
        let failed = json!({ "failed": true, "exit_code": 1, "error": error });
        world.used(S, 8 * HOUR, (ObsType::CommandError, None), "./deploy.sh staging", failed);
        world.edit(S, 7 * HOUR, "/nowhere/web/deploy.yml", "Edit deploy.yml: two");
        world.command(S, 6 * HOUR, line);
        assert_eq!(told(&world, "Learned").len(), usize::from(is_fix), "{line}");
        let found = world.ask("search", json!({ "query": "health check of web" }));
        assert_eq!(found.to_string().contains("worked later"), is_fix, "{line}: {found}");
    }
}

/// @briefing_red_runs
#[test]
fn a_red_run_behind_a_commit_is_open_and_found_as_a_failure_and_the_commit_counts() {
    let world = World::new();
    world.prompt(S, 9 * HOUR, "add a second field to the booking form");
    world.edit(S, 8 * HOUR, "/nowhere/web/form.rs", "Edit form.rs: two");
    let metadata = json!({ "failed": true, "commit_message": "form: two", "commit_hash": "1a2b3c4",
        "kind": "test", "program": "cargo",
        "run": { "result": "failed", "own_exit": false }, "error": "test form::two ... FAILED" });
    let line = "git commit -am 'form: two' && cargo test 2>&1 | tail -3";
    world.used(S, 7 * HOUR, (ObsType::GitCommit, None), line, metadata);
    let open = told(&world, "Open");
    let is_red =
        |row: &String| row.starts_with("red: ") && row.contains("test form::two ... FAILED");
    assert!(open.iter().any(is_red), "{open:?}");
    assert!(!open.iter().any(|row| row.contains("form.rs")), "it is committed: {open:?}");
    let found = world.ask("search", json!({ "query": "form", "failed": true }));
    assert_eq!(found["results"][0]["obs_type"], "git_commit", "{found}");
    world.run(S, 6 * HOUR, "cargo test", "passed", "");
    assert!(!told(&world, "Open").iter().any(is_red));
}

/// @briefing_fixes
#[test]
fn a_commit_that_only_lacked_staged_files_is_not_a_lesson() {
    let refused = "On branch main\nChanges not staged for commit:\n  modified: a.rs\n\n\
                   no changes added to commit (use \"git add\" and/or \"git commit -a\")";
    let hook = "error: eslint found 2 problems\nno-unused-vars in a.js";
    for (error, rows) in [(refused, 0), (hook, 1)] {
        let world = World::new();
        world.prompt(S, 9 * HOUR, "repair the import of the bank");
        let failed = json!({ "failed": true, "error": error });
        let kind = (ObsType::CommandError, None);
        world.used(S, 8 * HOUR, kind, "git commit -m 'camt: skip'", failed);
        world.edit(S, 7 * HOUR + MINUTE, "/nowhere/web/a.js", "Edit a.js: one");
        let made = json!({ "commit_message": "camt: skip", "commit_hash": "0a1b2c3" });
        let command = "git add -A && git commit -m 'camt: skip'";
        world.used(S, 7 * HOUR, (ObsType::GitCommit, None), command, made);
        assert_eq!(told(&world, "Learned").len(), rows, "{error}");
    }
}

/// @briefing_fixes
#[test]
fn edits_in_other_directories_do_not_make_a_later_success_a_fix() {
    let world = World::new();
    world.prompt(S, 9 * HOUR, "repair the import of the bank");
    world.run(S, 8 * HOUR, "pytest", "failed", "FAILED a.py::b - assert 1 == 2");
    world.edit(S, 7 * HOUR, "/elsewhere/camt.py", "Edit /elsewhere/camt.py: return None");
    world.run(S, 6 * HOUR, "pytest", "passed", "");
    assert_eq!(told(&world, "Learned"), [""; 0]);
}

/// @briefing_files
#[test]
fn changed_lines_of_a_file_are_shown_as_far_as_they_fit_without_table_headings() {
    let world = World::new();
    world.prompt(S, 9 * HOUR, "lock the files of the store");
    let long = "y".repeat(85);
    let table = [
        ("a.toml", "[dependencies] ⏎ fs2 = \"0.4\" ⏎ }", "a.toml: fs2 = \"0.4\""),
        ("b.rs", "one(); ⏎ two(); ⏎ three();", "b.rs: one(); ⏎ two(); ⏎ three();"),
        ("c.rs", &format!("one(); ⏎ {long}"), "c.rs: one();"),
        ("d.toml", "[dependencies]", "d.toml"),
        ("e.rs", "#[test] ⏎ fn f() {}", "e.rs: #[test] ⏎ fn f() {}"),
    ];
    for (file, lines, _) in &table {
        let path = format!("/nowhere/web/{file}");
        world.edit(S, 8 * HOUR, &path, &format!("Edit {file}: {lines}"));
    }
    let rows = told(&world, "Files in progress");
    for (_, _, row) in table {
        assert!(rows.iter().any(|told| told == row), "{row}: {rows:?}");
    }
}

/// @briefing_other_projects
#[test]
fn a_word_that_many_projects_use_does_not_relate_two_of_them() {
    let world = World::new();
    let ask = |cwd: &'static str, prompt: &str| {
        world.prompt((cwd, cwd), 3 * HOUR, prompt);
        world.edit((cwd, cwd), 2 * HOUR, &format!("{cwd}/x.rs"), "Edit x.rs");
    };
    ask(WEB, "Decide how the quarterly vouchers of members are stored");
    ask(API, "Decide on the queue of the quarterly worker");
    ask("/nowhere/blog", "A quarterly newsletter, decide which photos");
    ask("/nowhere/tool", "Sort vouchers of members by date");
    world.ask("search", json!({ "query": "quarterly" }));
    let rows = told(&world, "Other projects");
    assert_eq!(rows, ["\"Sort vouchers of members by date\" [tool]"]);
}

/// @briefing_recovery
#[test]
fn an_answer_given_twice_is_listed_once_after_a_compact() {
    let world = World::new();
    world.prompt(S, 3 * HOUR, "is the build green again?");
    world.answer(S, 3 * HOUR - MINUTE, "The build is green, all 312 tests pass on main.");
    world.answer(S, 3 * HOUR - 2 * MINUTE, "The other branch has one red test, in the cart.");
    world.prompt(S, 2 * HOUR, "and is it green now?");
    world.answer(S, 2 * HOUR - MINUTE, "The build is green, all 312 tests pass on main.");
    let own = section(&started(&world, S, "compact"), "This session");
    let answers = own.iter().filter(|row| row.starts_with("answered: ")).count();
    assert_eq!(answers, 2, "{own:?}");
}

/// @briefing_near_duplicates
#[test]
fn marks_that_say_nearly_the_same_are_one_row_and_are_not_told_by_a_resume() {
    let world = World::without_resume();
    let mark = |text: &str| {
        world.call_from(Some(WEB), "mark", json!({ "text": text })).unwrap();
    };
    let on = |place: &str| {
        format!(
            "the queue of the worker has to be empty before the migration of the orders runs on {place}"
        )
    };
    ["staging", "production", "node 7", "node 8"].iter().for_each(|place| mark(&on(place)));
    mark(&format!("{}!", on("staging").replace("the queue", "The queues")));
    let look = world.call_from(Some(WEB), "briefing", json!({ "explain": true })).unwrap();
    let rows = section(look["text"].as_str().unwrap(), "Marked");
    assert_eq!(rows.len(), 4, "{rows:?}");
    let count = |place: &str| rows.iter().filter(|row| row.contains(place)).count();
    assert_eq!(["staging", "production", "node 7", "node 8"].map(count), [1, 1, 1, 1]);
    assert_eq!(look["left_out"].as_array().unwrap().len(), 1);
    assert_eq!(look["left_out"][0]["why"], "a better one says the same");
    assert_eq!(section(&started(&world, NEXT, "startup"), "Marked").len(), 4);
    assert_eq!(started(&world, NEXT, "resume"), "", "the merged one counts as told");
    let kept = world.ask("receipts", json!({ "session_id": "s-2" }));
    let items = kept["receipts"][0]["items"].as_array().unwrap();
    let merged = items.iter().find(|item| item["tokens"] == 0).unwrap();
    assert!(merged["reason"].as_str().unwrap().starts_with("says the same as obs://"), "{merged}");
    assert_eq!(merged["path"], look["left_out"][0]["path"]);
}

/// @briefing_sessions
#[test]
fn the_answer_to_a_question_about_the_state_is_not_the_outcome_of_a_session_that_went_on() {
    for looks in [false, true] {
        let world = World::new();
        world.prompt(S, 3 * HOUR, "Where were we with Pundit?");
        if looks {
            world.command(S, 3 * HOUR - MINUTE, "git status");
        }
        world.answer(
            S,
            3 * HOUR - 2 * MINUTE,
            "Slips are migrated, invoices have one red example.",
        );
        world.stop(S, 3 * HOUR - 2 * MINUTE);
        world.prompt(S, 2 * HOUR, "Yes, check the role through MarinaMembership");
        world.edit(
            S,
            2 * HOUR - MINUTE,
            "/nowhere/web/policy.rb",
            "Edit policy.rb: MarinaMembership",
        );
        world.commit(S, 2 * HOUR - 2 * MINUTE, "6fadfc01", "invoices: roles per marina");
        let last = "Roles are looked up per marina through MarinaMembership.";
        world.answer(S, 2 * HOUR - 3 * MINUTE, last);
        world.stop(S, 2 * HOUR - 3 * MINUTE);
        let lines = section(&started(&world, NEXT, "startup"), "Recent sessions");
        assert!(lines.len() == 1 && lines[0].contains(last), "{looks}: {lines:?}");
        assert!(!lines[0].contains("one red example"), "{looks}: {lines:?}");
    }
}

/// @briefing_sessions
#[test]
fn a_turn_without_an_answer_of_the_agent_has_what_its_subagent_found() {
    let world = World::new();
    world.prompt(S, 3 * HOUR, "Find out why the websocket hub leaks memory");
    world.subagent_answer(S, 3 * HOUR - MINUTE, "ws/hub.rb retains 40,000 EventSource listeners.");
    world.stop(S, 3 * HOUR - MINUTE);
    let found = "a subagent found: ws/hub.rb retains 40,000 EventSource listeners.";
    let summaries = world.shown("session_summaries", json!({ "project": "*" }));
    assert!(summaries.contains(found), "{summaries}");
    let briefing = started(&world, NEXT, "startup");
    assert!(briefing.contains(found), "{briefing}");
    // The answer of the agent itself counts more.
    world.answer(
        S,
        3 * HOUR - 2 * MINUTE,
        "The hub never removes the listeners of closed sockets.",
    );
    let briefing = started(&world, ("s-3", WEB), "startup");
    assert!(briefing.contains("never removes") && !briefing.contains(found), "{briefing}");
}

/// @briefing_fixes
#[test]
fn an_equal_command_is_fixed_by_an_installation_a_migration_or_a_service_between() {
    for (between, is_fix) in [
        ("pip install requests", true),
        ("npm i left-pad", true),
        ("cargo add serde", true),
        ("sudo apt-get install -y libpq-dev", true),
        ("psql shop -c 'CREATE EXTENSION pgcrypto'", true),
        ("python manage.py migrate", true),
        ("docker compose up -d db", true),
        ("export DATABASE_URL=postgres://localhost/shop", true),
        ("git status", false),
        ("cat requirements.txt", false),
        ("git commit -am wip", false),
        ("docker ps", false),
    ] {
        let world = World::new();
        world.prompt(S, 9 * HOUR, "repair the import of the bank");
        let error = "ModuleNotFoundError: No module named 'requests'";
        world.run(S, 8 * HOUR, "pytest tests/a.py", "failed", error);
        world.command(S, 7 * HOUR, between);
        world.run(S, 6 * HOUR, "pytest tests/a.py", "passed", "");
        let fix = format!("`pytest tests/a.py` failed: {error} → worked after `{between}`");
        let expected: Vec<String> = is_fix.then_some(fix).into_iter().collect();
        assert_eq!(told(&world, "Learned"), expected, "{between}");
    }
}
