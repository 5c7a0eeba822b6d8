//! How the default order treats hits that say the same, answer each other or replace each other.

use model::hook::{Answer, Ends, Happening};
use model::observation::ObsType;
use model::situation::Situation;
use model::{Caller, Tier};
use serde_json::{Value, json};
use text::secrets::{Profile, redact};

use super::{API, DAY, HOUR, WEB, World, texts};

fn answer(world: &World, at: (&str, &str), ago: i64, text: &str) {
    let said = Answer { text: redact(text, Profile::Strict), ends: Ends::Turn, failed: false };
    world.feed(at, ago, Happening::Answered(said));
}

fn place(found: &Value, text: &str) -> usize {
    let all = texts(&found["results"]);
    let starts = |one: &String| one.starts_with(text);
    all.iter().position(starts).unwrap_or_else(|| panic!("{text} in {all:?}"))
}

/// @search_default_order
#[test]
fn of_equal_matches_the_newer_is_first_and_an_old_answer_before_a_new_weak_match() {
    let world = World::new();
    world.command(("s-1", WEB), 40 * DAY, "restore the ledger backup from the vault");
    world.command(("s-2", WEB), 20 * DAY, "restore the ledger backup from tape storage");
    world.edit(("s-3", WEB), HOUR, "/nowhere/web/b.rs", "Edit b.rs: a backup of other things");
    let found = world.found(json!({ "query": "restore ledger backup" }));
    assert!(found[0].contains("tape"), "{found:?}");
    assert!(found[1].contains("vault"), "{found:?}");
}

/// @search_look_ups
#[test]
fn a_word_or_a_name_finds_what_was_done_before_what_was_only_read() {
    let world = World::new();
    let at = ("s-1", WEB);
    world.prompt(at, 8 * DAY, "yes, commit it");
    world.read(at, 3 * DAY, "/nowhere/web/src/signature.js");
    world.command(at, 3 * DAY - HOUR, "sed -n 1,200p src/signature.js");
    world.command(at, 3 * DAY - 2 * HOUR, "rg -n fmt_amount src");
    let edit =
        "Edit src/signature.js: export function fmt_amount(body, key) { return hmac(body, key) }";
    world.edit(at, 3 * DAY - 3 * HOUR, "/nowhere/web/src/signature.js", edit);
    let message = "signature: the raw body, with the amount by fmt_amount";
    world.commit(at, 3 * DAY - 4 * HOUR, "1a2b3c4d", message);
    let told = "The signature is computed over the raw body now, and fmt_amount is only used for the mail.";
    answer(&world, at, 3 * DAY - 5 * HOUR, told);
    for query in ["signature", "fmt_amount", "src/signature.js"] {
        let found = world.ask("search", json!({ "query": query }));
        let kinds: Vec<&str> = (found["results"].as_array().unwrap().iter())
            .map(|hit| hit["obs_type"].as_str().unwrap())
            .collect();
        let is_read = |kind: &&str| matches!(*kind, "file_read" | "command");
        let reads = kinds.iter().filter(|kind| is_read(kind)).count();
        let first_read = kinds.iter().position(is_read).unwrap();
        assert_eq!(kinds.len(), first_read + reads, "{query}: {kinds:?}");
        assert!(first_read > 0, "{query}: {kinds:?}");
    }
    let found = world.ask("search", json!({ "query": "commit" }));
    assert_eq!(found["results"][0]["obs_type"], "git_commit", "{found}");
}

/// @search_folds
#[test]
fn equal_and_nearly_equal_texts_are_one_hit_with_a_count_and_the_newest_id() {
    let world = World::new();
    for day in 1..6 {
        world.command((&format!("s-{day}"), WEB), day * DAY, "docker compose build router");
    }
    world.command(("s-6", WEB), 6 * DAY, "docker compose build payments");
    let query = json!({ "query": "docker compose build router" });
    let found = world.ask("search", query.clone());
    assert_eq!(found["results"][0]["count"], 5, "{found}");
    assert_eq!(found["results"][0]["session_id"], "s-1", "the newest stands for all");
    assert_eq!(found["results"].as_array().unwrap().len(), 2, "{found}");
    let mut all = query;
    all["diverse"] = json!(false);
    assert_eq!(world.found(all).len(), 6, "every record on request");
}

/// @search_folds
#[test]
fn a_fold_counts_each_record_once_and_its_note_is_that_of_the_shown_one() {
    let world = World::new();
    let said = [
        "Upload limit is 10 MB per file.",
        "Bump the upload limit to 50 MB.",
        "The upload timeout is 120 seconds.",
        "The upload directory is on the second disk.",
        "Uploads are scanned for viruses at night.",
        "Failed uploads are retried three times.",
    ];
    for (number, text) in (0..).zip(said) {
        let session = format!("s-{number}");
        let at = (session.as_str(), WEB);
        world.prompt(at, (20 - number) * DAY, text);
        answer(&world, at, (20 - number) * DAY - HOUR, "Noted in the docs.");
    }
    let newest = world.id(said[5]);
    for query in ["what is the upload limit", "upload limit in the docs", "noted uploads docs"] {
        let found = world.ask("search", json!({ "query": query }));
        let results = found["results"].as_array().unwrap();
        let noted: Vec<&Value> =
            results.iter().filter(|hit| hit["content_preview"] == "Noted in the docs.").collect();
        let [fold] = noted[..] else { panic!("{query}: {found}") };
        assert_eq!((&fold["count"], &fold["session_id"]), (&json!(6), &json!("s-5")), "{found}");
        let note = fold["note"].as_str().unwrap_or_default();
        assert!(note.is_empty() || note.ends_with(&format!("answers #{newest}")), "{found}");
    }
}

/// @search_folds
#[test]
fn long_command_lines_with_another_argument_are_different_hits() {
    let world = World::new();
    for (day, name) in [(3, "orders"), (2, "refunds"), (1, "invoices")] {
        let line = format!(
            "docker compose run --rm --no-deps -e RAILS_ENV=test -e TZ=UTC web bundle exec rspec --format \
             progress --fail-fast --seed 42 spec/models/{name}_spec.rb"
        );
        world.command((&format!("s-{day}"), WEB), day * DAY, &line);
    }
    let found = world.ask("search", json!({ "query": "docker compose run rspec models" }));
    assert_eq!(found["results"].as_array().unwrap().len(), 3, "{found}");
}

/// @search_answers_first
#[test]
fn a_question_about_a_failed_commit_has_its_error_before_the_commits_that_were_made() {
    let world = World::new();
    for day in 2..9 {
        let at = (&*format!("s-{day}"), WEB);
        world.prompt(at, day * DAY, &format!("Commit step {day} of the import"));
        world.commit(at, day * DAY - HOUR, &format!("1a2b3c{day}"), &format!("import: step {day}"));
        answer(&world, at, day * DAY - 2 * HOUR, &format!("The commit of step {day} is made."));
    }
    let at = ("s-1", WEB);
    world.prompt(at, DAY, "Commit the last step of the import");
    let metadata = json!({ "failed": true, "error": "lint: 3 problems in src/import.py" });
    let line = "git commit -m 'import: last step'";
    world.used(at, DAY - HOUR, (ObsType::CommandError, None), line, metadata);
    let found = world.ask("search", json!({ "query": "why did the commit fail" }));
    assert!(place(&found, line) < 3, "{found}");
}

/// @search_answers_first
#[test]
fn a_prompt_that_states_the_fact_is_no_repetition_of_the_question() {
    let world = World::new();
    let facts = [
        "The billing worker runs on node 7.",
        "The staging database has 2 GB of memory.",
        "The release branch is called stable.",
        "The search index takes 40 minutes.",
    ];
    for (number, fact) in facts.iter().enumerate() {
        let name = format!("s-{number}");
        let (at, ago) = ((name.as_str(), WEB), (9 - number as i64) * DAY);
        world.prompt(at, ago, fact);
        answer(&world, at, ago - HOUR, "Noted.");
        world.edit(at, ago - HOUR, "/nowhere/web/notes.md", &format!("Edit notes.md: {number}"));
    }
    for (question, fact) in [
        ("how much memory does the staging database have", facts[1]),
        ("what is the release branch called", facts[2]),
    ] {
        let found = world.ask("search", json!({ "query": question }));
        assert_eq!(place(&found, fact), 0, "{found}");
        let all = found["results"].as_array().unwrap();
        let folded = all.iter().filter(|one| one["count"].as_u64() > Some(1));
        for one in folded {
            assert!(!one["note"].to_string().contains("answers #"), "of many prompts: {found}");
        }
    }
    let asked = "why has the staging database no memory left";
    world.prompt(("s-9", WEB), HOUR, asked);
    let found = world.ask("search", json!({ "query": asked }));
    assert!(place(&found, facts[1]) < place(&found, asked), "{found}");
}

/// @search_answers_first
#[test]
fn a_stated_fact_ranks_before_the_word_that_it_was_noted() {
    let facts = [
        (
            "The customer wants invoices in PDF/A-3 with the XML.",
            "how does the customer want invoices",
        ),
        ("the mobile app supports iOS 15 and later", "how old may iOS be for the mobile app"),
        ("Alice of finance owns the tax tables.", "how do I find the owner of the tax tables"),
    ];
    for (fact, question) in facts {
        let world = World::new();
        let at = ("s-1", WEB);
        world.prompt(at, 9 * DAY, fact);
        answer(&world, at, 9 * DAY - HOUR, "Noted.");
        let about = question.rsplit(' ').next().unwrap_or_default();
        let edit = format!("Edit notes.md: {about}");
        world.edit(("s-2", WEB), 3 * DAY, "/nowhere/web/notes.md", &edit);
        let found = world.ask("search", json!({ "query": question }));
        let results = found["results"].as_array().unwrap();
        let at = |text: &str| results.iter().position(|hit| hit["content_preview"] == text);
        assert!(at(fact) < at("Noted."), "{question}: {found}");
    }
}

/// @search_newer_decision
#[test]
fn a_decision_ranks_before_the_one_it_replaces_and_both_say_so() {
    let world = World::new();
    let old = "We decided to keep the sessions of the shop in Postgres";
    let new = "We no longer keep the sessions of the shop in Postgres, use Redis instead";
    world.prompt(("s-1", WEB), 20 * DAY, old);
    world.prompt(("s-2", WEB), 2 * DAY, new);
    let found = world.ask("search", json!({ "query": "keep sessions of the shop in Postgres" }));
    assert_eq!((place(&found, new), place(&found, old)), (0, 1), "{found}");
    let note = |at: usize| found["results"][at]["note"].as_str().unwrap_or_default().to_owned();
    assert!(note(0).starts_with("replaces #"), "{found}");
    assert!(note(1).starts_with("replaced by #"), "{found}");
}

/// @search_newer_decision
#[test]
fn a_record_keeps_its_place_if_the_question_is_about_a_part_that_still_holds() {
    let world = World::new();
    let ports = "The API listens on port 8080, Postgres on 5432 and Redis on 6379. The test user is demo@example.com.";
    let moved = "move Redis to port 6380 now, 6379 is taken on my machine";
    world.prompt(("s-1", WEB), 20 * DAY, "describe the local setup of the shop");
    answer(&world, ("s-1", WEB), 20 * DAY - HOUR, ports);
    world.prompt(("s-2", WEB), 2 * DAY, moved);
    let ask = |question: &str| world.ask("search", json!({ "query": question }));
    for question in ["who is the test user", "on which port does Postgres listen"] {
        let found = ask(question);
        let at = place(&found, ports);
        assert!(at < place(&found, moved), "{question}: {found}");
        let note = found["results"][at]["note"].as_str().unwrap_or_default();
        assert!(!note.starts_with("replaced by"), "{question}: {found}");
    }
    let found = ask("on which port does Redis listen");
    assert_eq!(place(&found, moved), 0, "{found}");
}

/// @search_newer_decision
#[test]
fn a_decision_that_was_taken_back_is_replaced() {
    let world = World::new();
    let chosen = "switch the cache of the shop from redis to memcached";
    let back = "memcached was a mistake, go back to redis for the cache";
    world.prompt(("s-1", WEB), 20 * DAY, chosen);
    answer(&world, ("s-1", WEB), 20 * DAY - HOUR, "The cache uses memcached.");
    world.prompt(("s-2", WEB), 2 * DAY, back);
    answer(&world, ("s-2", WEB), 2 * DAY - HOUR, "The cache uses redis again.");
    let found = world.ask("search", json!({ "query": "which cache do we use" }));
    let (old, new) =
        (place(&found, "The cache uses memcached."), place(&found, "The cache uses redis again."));
    assert!(new < old, "{found}");
}

/// @search_newer_decision
#[test]
fn a_changed_decision_ranks_before_every_repeat_of_the_old_one() {
    let pairs = [
        (
            "We decided to store amounts as integer cents in the database, not as Decimal strings.",
            "Change of plan: we store amounts as NUMERIC(12,2) instead of integer cents.",
            "how do we store amounts",
        ),
        (
            "The timeout of the upload is 30 seconds, agreed.",
            "The upload timeout is 120 seconds now, 30 was too short.",
            "what is the upload timeout",
        ),
        (
            "Let us deploy on Fridays at 18:00.",
            "Never deploy on Fridays again, deploy on Tuesday morning.",
            "when do we deploy",
        ),
        (
            "From now on the API is versioned by a header.",
            "Actually, version the API by the path /v2, not by a header.",
            "how is the API versioned",
        ),
    ];
    for (old, new, question) in pairs {
        let world = World::new();
        world.prompt(("s-1", WEB), 20 * DAY, old);
        let note = format!("Write notes.md: {old}");
        world.edit(("s-1", WEB), 20 * DAY - HOUR, "/nowhere/web/notes.md", &note);
        answer(&world, ("s-1", WEB), 20 * DAY - 2 * HOUR, &format!("Noted: {old}"));
        world.prompt(("s-2", WEB), 2 * DAY, new);
        answer(&world, ("s-2", WEB), 2 * DAY - HOUR, "Updated the notes.");
        let found = world.ask("search", json!({ "query": question }));
        let all = texts(&found["results"]);
        let note = |text: &str| {
            let at = all.iter().position(|one| one == text);
            found["results"][at.unwrap_or_else(|| panic!("{text} in {found}"))]["note"].to_string()
        };
        assert_eq!(place(&found, new), 0, "{found}");
        assert!(note(new).contains("replaces #"), "{found}");
        assert!(note(old).contains("replaced by #"), "{found}");
    }
}

/// @search_newer_decision
#[test]
fn a_replaced_decision_is_marked_wherever_it_is_shown_and_the_newer_one_is_listed_before_it() {
    let world = World::new();
    let old = "From now on the session timeout is 15 minutes, decided by the support team.";
    let new = "The session timeout is 60 minutes from now on, 15 was too short.";
    let s = ("s-1", WEB);
    world.prompt(s, 9 * DAY, old);
    world.prompt(s, 8 * DAY, "Add a health endpoint to the router");
    world.prompt(s, 7 * DAY, new);
    let (old_id, new_id) = (world.id(old), world.id(new));
    let replaced = format!("replaced by #{new_id}");
    for query in ["what did support decide", "session timeout", "timeout"] {
        let found = world.ask("search", json!({ "query": query }));
        let (newer, older) = (place(&found, "The session"), place(&found, "From now on"));
        assert!(newer < older, "{query}: {found}");
        assert_eq!(found["results"][older]["note"], replaced, "{query}: {found}");
        assert_eq!(found["results"][newer]["note"], format!("replaces #{old_id}"), "{found}");
    }
    // Only the old record has the word `support`, and a single word lists no other record.
    let found = world.ask("search", json!({ "query": "support" }));
    assert_eq!(texts(&found["results"]).iter().filter(|text| *text == new).count(), 0, "{found}");
    assert_eq!(found["results"][place(&found, "From now on")]["note"], replaced, "{found}");
    // The filter excludes the newer one: the mark stays.
    let only = json!({ "query": "support", "before": "8d" });
    let found = world.ask("search", only);
    assert_eq!(texts(&found["results"]).len(), 1, "{found}");
    assert_eq!(found["results"][0]["note"], replaced, "{found}");
    let found = world.ask("search", json!({ "query": "timeout", "order_by": "recent" }));
    assert_eq!(found["results"][1]["note"], replaced, "{found}");
    let shown = world.ask("get_observations", json!({ "ids": [old_id, new_id] }));
    assert_eq!(shown["results"][0]["note"], replaced, "{shown}");
    assert_eq!(shown["results"][1]["note"], format!("replaces #{old_id}"), "{shown}");
    let recent = world.ask("recent_records", json!({}));
    let of_old = |list: &Value| {
        let list = list.as_array().unwrap();
        list.iter().find(|one| one["id"] == old_id).map(|one| one["note"].clone())
    };
    assert_eq!(of_old(&recent["results"]), Some(json!(replaced)), "{recent}");
    let around = world.ask("timeline", json!({ "anchor": new_id }));
    assert_eq!(of_old(&around["before"]), Some(json!(replaced)), "{around}");
    let trace = world.ask("session_trace", json!({ "session_id": "s-1" }));
    let said = trace["prompts"].as_array().unwrap();
    let noted: Vec<_> = said.iter().filter(|prompt| !prompt["note"].is_null()).collect();
    assert_eq!(noted.len(), 1, "{trace}");
    assert_eq!((&noted[0]["prompt_id"], &noted[0]["note"]), (&json!(old_id), &json!(replaced)));
}

/// @search_newer_decision
#[test]
fn decisions_about_different_subjects_are_not_linked() {
    let world = World::new();
    for (day, said) in [
        (9, "We decided: the upload timeout of the API is 30 seconds."),
        (8, "The download timeout of the API is 60 seconds from now on."),
        (7, "We decided to use Postgres for the job queue."),
        (6, "Use Redis instead of Postgres for the mail queue."),
    ] {
        world.prompt((&format!("s-{day}"), WEB), day * DAY, said);
    }
    for query in ["timeout of the API", "which queue uses Postgres", "timeout", "queue"] {
        let found = world.ask("search", json!({ "query": query }));
        assert!(!found.to_string().contains("replace"), "{found}");
    }
}

/// @search_answers_first
#[test]
fn a_prompt_that_was_asked_again_without_an_answer_leads_to_the_first_answer() {
    let world = World::new();
    let asked = "The nightly backup fails on Sundays, look into it";
    let said = "On Sundays logrotate holds the volume lock; it gives up after a minute.";
    world.prompt(("s-1", WEB), 9 * DAY, asked);
    answer(&world, ("s-1", WEB), 9 * DAY - HOUR, said);
    world.prompt(("s-2", WEB), 2 * DAY, asked);
    world.prompt(("s-3", WEB), DAY, asked);
    let found = world.ask("search", json!({ "query": "why does the backup fail on sundays" }));
    // The summary that quotes the answer may come first.
    assert!(place(&found, said) <= 1, "{found}");
}

/// @search_answers_first
#[test]
fn an_answer_is_listed_before_its_question_even_with_none_of_the_words() {
    let world = World::new();
    let s = ("s-1", WEB);
    world.prompt(s, 9 * HOUR, "Why does the login token expire after a minute?");
    world.command(s, 8 * HOUR, "cat compose.yml");
    world.command(s, 7 * HOUR, "date");
    answer(&world, s, 6 * HOUR, "The container's clock was forty seconds behind; chrony fixed it.");
    let found = world.ask("search", json!({ "query": "why does the login token expire" }));
    assert_eq!(place(&found, "The container's clock"), 0, "{found}");
    assert_eq!(place(&found, "Why does the login"), 1, "{found}");
    let note = found["results"][0]["note"].as_str().unwrap_or_default();
    assert!(note.starts_with("answers #"), "{found}");
    let only = json!({ "query": "why does the login token expire", "obs_type": "user_prompt" });
    assert_eq!(world.found(only).len(), 1, "filters hold for answers too");
}

/// @search_folds
#[test]
fn equal_answers_to_several_questions_are_one_hit() {
    let world = World::new();
    let text =
        "The buffer was flushed before its last chunk had arrived; now it waits for the end.";
    for (number, place) in ["lists", "tables", "quotes"].into_iter().enumerate() {
        let session = format!("s-{number}");
        let ago = DAY * (1 + i64::try_from(number).unwrap());
        let question = format!("why does the parser lose zebra tokens inside {place}?");
        world.prompt((&session, WEB), ago, &question);
        answer(&world, (&session, WEB), ago - HOUR, text);
    }
    let found = world.found(json!({ "query": "why does the parser lose zebra tokens" }));
    assert_eq!(found.iter().filter(|one| one.starts_with("The buffer")).count(), 1, "{found:?}");
}

/// @search_folds
#[test]
fn commits_with_equal_messages_are_one_hit_whatever_their_hashes() {
    let world = World::new();
    let commit = |day: i64, message: &str, hash: &str| {
        let metadata = json!({ "commit_message": message, "commit_hash": hash });
        let command = format!("git commit -am '{message}'");
        let session = format!("s-{day}");
        world.used((&session, WEB), day * DAY, (ObsType::GitCommit, None), &command, metadata);
    };
    commit(4, "booking: pin the time zone of the tests", "0a1b2c3");
    commit(3, "tidy booking tests", "1c6b610");
    commit(2, "tidy booking tests", "77b0941");
    commit(1, "tidy booking tests", "9d3f05e");
    let found = world.ask("search", json!({ "query": "what changed in the booking tests" }));
    let results = found["results"].as_array().unwrap();
    assert_eq!(results.len(), 2, "{found}");
    let tidied = results.iter().find(|hit| hit["session_id"] == "s-1");
    assert_eq!(tidied.unwrap_or_else(|| panic!("{found}"))["count"], 3, "{found}");
}

/// @search_folds
#[test]
fn failures_of_one_command_with_one_error_are_one_hit() {
    let world = World::new();
    let fails = |day: i64, frames: usize, error: &str| {
        let output = format!("{}{error}", "  in writer.write_table(table)\n".repeat(frames));
        let metadata = json!({ "failed": true, "error": output });
        let session = format!("s-{day}");
        let command = "python -m mill write --day yesterday";
        world.used((&session, WEB), day * DAY, (ObsType::CommandError, None), command, metadata);
    };
    fails(9, 3, "ValueError: the table does not match the schema");
    fails(5, 40, "ValueError: the table does not match the schema");
    fails(2, 3, "PermissionError: the table is read-only");
    let found = world.ask("search", json!({ "query": "why does writing the table fail" }));
    let counts: Vec<&Value> =
        found["results"].as_array().unwrap().iter().map(|hit| &hit["count"]).collect();
    assert_eq!(counts.len(), 2, "another error is another hit: {found}");
    assert!(counts.contains(&&json!(2)), "{found}");
}

/// @search_default_order
#[test]
fn in_a_history_of_talk_a_prompt_that_answers_ranks_before_a_newer_one_that_does_not() {
    let world = World::new();
    let told = "My sister Mara moved to Lisbon in May and opened a pottery studio there";
    world.prompt(("s-1", WEB), 60 * DAY, told);
    answer(&world, ("s-1", WEB), 60 * DAY - HOUR, "That sounds lovely, congratulations to her!");
    for number in 0..12 {
        let session = format!("t-{number}");
        let ago = (30 - number) * DAY;
        world.prompt((&session, WEB), ago, "My sister called again, we talked about the weather");
        let said = format!("It is good to hear from your sister. Day {number} was nice here.");
        answer(&world, (&session, WEB), ago - HOUR, &said);
    }
    let found = world.found(json!({ "query": "Where did my sister open a pottery studio?" }));
    assert_eq!(found.first().map(String::as_str), Some(told), "{found:?}");
}

/// @search_answers_first
#[test]
fn prompts_of_the_callers_own_session_are_not_listed() {
    let world = World::new();
    world.prompt(("s-1", WEB), 2 * HOUR, "where is the invoice template stored?");
    world.prompt(("s-2", WEB), HOUR, "find the invoice template again");
    let caller =
        Caller { tier: Tier::Person, session: Some("s-2".to_owned()), ..Caller::default() };
    let query = json!({ "query": "invoice template", "project": "*" });
    let found = world.call_as(caller, "search", query).unwrap();
    let sessions: Vec<&Value> =
        found["results"].as_array().unwrap().iter().map(|hit| &hit["session_id"]).collect();
    assert_eq!(sessions, [&json!("s-1")], "{found}");
}

/// @search_answers_first
#[test]
fn an_agent_that_names_no_session_is_taken_for_the_only_one_at_work_in_its_project() {
    const MINUTE: i64 = 60_000;
    let world = World::new();
    world.prompt(("s-1", WEB), 2 * HOUR, "where is the invoice template stored?");
    world.prompt(("codex-2", WEB), MINUTE, "find the invoice template again");
    world.prompt(("codex-3", API), MINUTE, "an invoice template for the api");
    let sessions = |tier: Tier, cwd: &str, project: &str| {
        let situation = Situation { cwd: Some(cwd.to_owned()), ..Situation::default() };
        let caller = Caller { tier, situation, ..Caller::default() };
        let query = json!({ "query": "invoice template", "project": project });
        let found = world.call_as(caller, "search", query).unwrap();
        let hits = found["results"].as_array().unwrap().iter();
        let mut names: Vec<String> =
            hits.map(|hit| hit["session_id"].as_str().unwrap().to_owned()).collect();
        names.retain(|name| name != "codex-4");
        names.sort_unstable();
        names
    };
    assert_eq!(sessions(Tier::Agent, WEB, "web"), ["s-1"]);
    assert_eq!(sessions(Tier::Agent, WEB, "*"), ["codex-3", "s-1"]);
    assert_eq!(sessions(Tier::Agent, WEB, "api"), ["codex-3"], "it is of another project");
    assert_eq!(sessions(Tier::Person, WEB, "web"), ["codex-2", "s-1"]);
    world.prompt(("s-5", WEB), MINUTE, "where is the invoice template of claude?");
    let with_other = ["s-1", "s-5"];
    assert_eq!(sessions(Tier::Agent, WEB, "web"), with_other, "Claude Code would name its session");
    world.prompt(("codex-4", WEB), MINUTE, "wait for the colours");
    assert_eq!(sessions(Tier::Agent, WEB, "web"), ["codex-2", "s-1", "s-5"], "two may be at it");
    world.feed(("codex-4", WEB), 0, Happening::SessionEnded { reason: None });
    assert_eq!(sessions(Tier::Agent, WEB, "web"), with_other);
}

/// @search_answers_first
#[test]
fn asked_for_a_fix_search_lists_the_commit_of_the_turn_before_the_failures() {
    let world = World::new();
    let s = ("s-1", WEB);
    world.prompt(s, 9 * HOUR, "the booking test fails every evening, please look");
    let failed = json!({ "failed": true, "error": "the booking test expected tomorrow" });
    world.used(s, 8 * HOUR, (ObsType::CommandError, None), "pnpm test booking", failed);
    let message = "e2e: pin the browser to one time zone";
    let metadata = json!({ "commit_message": message, "commit_hash": "0a1b2c3" });
    let command = format!("git commit -am '{message}'");
    world.used(s, 7 * HOUR, (ObsType::GitCommit, None), &command, metadata);
    let found = world.ask("search", json!({ "query": "how did we fix the booking test?" }));
    assert_eq!(found["results"][0]["obs_type"], "git_commit", "{found}");
}

/// @search_worked_later
#[test]
fn a_failed_command_ranks_below_the_run_that_worked_and_names_it() {
    let world = World::new();
    let s = ("s-1", WEB);
    let failed = json!({ "failed": true, "error": "no such service: proxy in compose build" });
    world.used(s, 5 * HOUR, (ObsType::CommandError, None), "docker compose build", failed);
    world.command(s, 4 * HOUR, "docker compose build");
    for query in ["docker compose build", "compose build no such service proxy"] {
        let found = world.ask("search", json!({ "query": query }));
        let results = found["results"].as_array().unwrap();
        let kinds: Vec<&str> = results.iter().filter_map(|hit| hit["obs_type"].as_str()).collect();
        let [worked, broken] = ["command", "command_error"]
            .map(|kind| kinds.iter().position(|one| *one == kind).unwrap());
        assert!(worked < broken, "{query}: {found}");
        let expected = format!("failed, #{} worked later", results[worked]["id"]);
        assert_eq!(results[broken]["note"], expected, "{query}");
    }
}

/// @search_worked_later
#[test]
fn a_failed_run_names_the_run_that_worked_whatever_its_options() {
    let run = |program: &str, subcommand: Value, result: &str| {
        let run = json!({ "kind": "test", "result": result });
        let mut metadata = json!({ "program": program, "run": run });
        if !subcommand.is_null() {
            metadata["subcommand"] = subcommand;
        }
        if result == "failed" {
            metadata["failed"] = json!(true);
            metadata["error"] = json!("1 failed in the swiss case");
        }
        metadata
    };
    let pairs = [
        ("pytest -q 2>&1 | tail -20", "pytest -q | tail -5", "pytest", Value::Null, true),
        ("python3 -m unittest -v", "python3 -m unittest", "unittest", Value::Null, true),
        ("node --test 2>&1 | tail", "node --test", "node", Value::Null, true),
        ("RUST_LOG=debug cargo test", "cargo test", "cargo", json!("test"), true),
        ("npx jest | tail -20", "npx jest", "jest", Value::Null, true),
        ("./gradlew test --info", "./gradlew test --info -q", "gradlew", json!("test"), true),
        ("make check 2>&1 | tail", "make check", "make", json!("check"), true),
        ("pytest tests/a.py", "pytest tests/b.py", "pytest", Value::Null, false),
        (
            "python3 -m unittest tests.test_a",
            "python3 -m unittest tests.test_b",
            "unittest",
            Value::Null,
            false,
        ),
    ];
    for (failed, worked, program, subcommand, is_same) in pairs {
        let world = World::new();
        let metadata = run(program, subcommand.clone(), "failed");
        world.used(("s-1", WEB), 5 * HOUR, (ObsType::CommandError, None), failed, metadata);
        let metadata = run(program, subcommand, "passed");
        world.used(("s-2", WEB), 4 * HOUR, (ObsType::Command, None), worked, metadata);
        let found = world.ask("search", json!({ "query": "swiss case" }));
        let failed_at = place(&found, &format!("{failed}: "));
        let note = found["results"][failed_at]["note"].to_string();
        assert_eq!(note.contains("worked later"), is_same, "{failed} | {worked}: {found}");
    }
    // A script is not another script of the same interpreter, and a hidden exit code proves nothing.
    for (worked, is_same) in [
        ("bash test.sh -v", true),
        ("set -o pipefail; bash test.sh | tail -3", true),
        ("bash test.sh | tail -3", false),
        ("bash test.sh || true", false),
        ("bash test.sh; ls", false),
        ("bash deploy.sh", false),
        ("bash test.sh clean", false),
    ] {
        let world = World::new();
        let metadata = json!({ "failed": true, "error": "the swiss case is red" });
        let s = ("s-1", WEB);
        world.used(s, 5 * HOUR, (ObsType::CommandError, None), "bash test.sh", metadata);
        world.command(s, 4 * HOUR, worked);
        let found = world.ask("search", json!({ "query": "bash swiss case" }));
        let results = found["results"].as_array().unwrap();
        let broken = results.iter().find(|hit| hit["obs_type"] == "command_error");
        let note = broken.unwrap_or_else(|| panic!("{found}"))["note"].to_string();
        assert_eq!(note.contains("worked later"), is_same, "{worked}: {found}");
    }
}

/// @search_worked_later
#[test]
fn a_refused_commit_names_the_one_that_staged_its_files_first() {
    let world = World::new();
    let s = ("s-1", WEB);
    let refused = json!({ "failed": true, "error": "no changes added to the swiss commit" });
    world.used(s, 5 * HOUR, (ObsType::CommandError, None), "git commit -m round", refused);
    let made = json!({ "commit_message": "round", "commit_hash": "0a1b2c3" });
    let command = "git add -A && git commit -m round";
    world.used(s, 4 * HOUR, (ObsType::GitCommit, None), command, made);
    // The commit is not among the hits of this word.
    let found = world.ask("search", json!({ "query": "swiss" }));
    let note = found["results"][0]["note"].to_string();
    assert!(note.contains("worked later"), "{found}");
}

/// @search_answers_first
#[test]
fn asked_why_or_how_search_lists_the_answer_before_the_prompt_that_set_the_task() {
    let world = World::new();
    let turns = [
        (
            "The login page throws a 500 after the upgrade, please fix it",
            "The session middleware was registered after the router; I moved it up.",
            "login.py",
        ),
        (
            "Exports are slow for big tenants, speed them up",
            "The cause was an N+1 query on order lines; a join brought it from 40 s to 2 s.",
            "export.py",
        ),
        (
            "The nightly backup fails since Tuesday, find out why",
            "pg_dump 15 refuses a server of version 16. The cron image has pg_dump 16 since.",
            "backup.sh",
        ),
    ];
    for (at, (asked, said, file)) in turns.into_iter().enumerate() {
        let session = format!("s-{at}");
        let s = (session.as_str(), WEB);
        let ago = DAY * (9 - i64::try_from(at).unwrap());
        world.prompt(s, ago, asked);
        world.edit(s, ago, &format!("/nowhere/web/{file}"), &format!("Write {file}"));
        let metadata =
            json!({ "commit_message": format!("update {file}"), "commit_hash": "0a1b2c3" });
        let command = format!("git commit -am 'update {file}'");
        world.used(s, ago, (ObsType::GitCommit, None), &command, metadata);
        answer(&world, s, ago - HOUR, said);
    }
    for (question, at) in [
        ("why did the login page throw a 500", 0),
        ("what fixed the login page", 0),
        ("how did we speed up exports", 1),
        ("why did the nightly backup fail", 2),
    ] {
        let found = world.ask("search", json!({ "query": question }));
        let (_, said, _) = turns[at];
        let results = found["results"].as_array().unwrap();
        let asked = results.iter().position(|hit| hit["obs_type"] == "user_prompt");
        assert!(asked.is_none_or(|asked| place(&found, said) < asked), "{question}: {found}");
    }
}

/// @search_honest_nothing
#[test]
fn a_turn_whose_prompt_and_answer_have_the_words_together_is_a_likely_answer() {
    let asked = "The berth map flickers when somebody zooms in Safari. Find out why.";
    let told = "An inline callback remounts the canvas with every render; it has a stable \
                reference now.";
    let other = ("Please shorten the start of the router.", "It reads the certificates twice.");
    let query = "did the berth map remount its canvas in the browser of the customers?";
    for (turns, is_likely) in
        [([(asked, told), other], true), ([(asked, other.1), (other.0, told)], false)]
    {
        let world = World::new();
        for number in 0..30 {
            let text = format!("run the nightly import of meter file{number} and check the report");
            world.command((&format!("f-{number}"), WEB), number * HOUR, &text);
        }
        for (session, (prompt, reply)) in ["s-1", "s-2"].into_iter().zip(turns) {
            world.prompt((session, WEB), 9 * HOUR, prompt);
            answer(&world, (session, WEB), 8 * HOUR, reply);
        }
        let found = world.ask("search", json!({ "query": query }));
        assert_eq!(found["merely_similar"].is_null(), is_likely, "{found}");
    }
}

/// @search_honest_nothing
#[test]
fn the_name_of_the_project_is_no_evidence_for_its_records() {
    let world = World::new();
    let at = ("s-1", "/nowhere/gritlog");
    for number in 0..30 {
        let text = format!("run the nightly import of meter file{number} and check the report");
        world.command((&format!("f-{number}"), "/nowhere/gritlog"), number * HOUR, &text);
    }
    world.prompt(at, 9 * HOUR, "Add a man page stub");
    world.edit(at, 8 * HOUR, "/nowhere/gritlog/man/gritlog.1", "Write man/gritlog.1: gritlog(1)");
    answer(&world, at, 7 * HOUR, "Added `man/gritlog.1` with NAME only.");
    let asked = |query: &str, project: &str| {
        let params = json!({ "query": query, "project": project });
        world.call_from(Some("/nowhere/gritlog"), "search", params).unwrap()
    };
    for project in ["gritlog", "*"] {
        for query in ["what is the license of gritlog", "who maintains gritlog"] {
            let found = asked(query, project);
            assert_eq!(found["merely_similar"], true, "{query} in {project}: {found}");
        }
        let found = asked("is there a man page of gritlog", project);
        assert!(found["merely_similar"].is_null(), "{project}: {found}");
    }
    // In another project the name says which records are meant.
    let other = ("s-2", WEB);
    world.prompt(other, HOUR, "read the lines of gritlog in the dashboard");
    let found = asked("dashboard lines of gritlog", "web");
    assert!(found["merely_similar"].is_null(), "{found}");
}

/// @search_honest_nothing
#[test]
fn a_question_about_something_that_never_happened_gets_few_hits_and_they_say_so() {
    let world = World::new();
    for number in 0..30 {
        let text = format!("run the nightly import of meter file{number} and check the report");
        world.command((&format!("s-{number}"), WEB), number * HOUR, &text);
    }
    let query = json!({ "query": "how did we configure the kafka consumer lag alert?" });
    let found = world.ask("search", query.clone());
    let results = found["results"].as_array().unwrap();
    let is_marked = found["merely_similar"] == true;
    assert!(results.is_empty() || is_marked, "{found}");
    assert!(results.len() <= 10, "{found}");
    let is_similar = |hit: &Value| hit["note"].as_str().unwrap().starts_with("merely similar");
    assert!(results.iter().all(is_similar), "{found}");
    assert!(found["next_offset"].is_null(), "{found}");
    if !results.is_empty() {
        let shown = world.shown("search", query);
        let says_so = ["None of these is likely", "Nothing contains these words"];
        assert!(says_so.iter().any(|line| shown.starts_with(line)), "before the rows: {shown}");
    }
    let known = world.ask("search", json!({ "query": "check the report of the nightly import" }));
    assert!(known["merely_similar"].is_null(), "{known}");
    // Merely similar hits keep what is known about them.
    let line = "make import of meter files";
    world.used(("s-x", WEB), HOUR, (ObsType::CommandError, None), line, json!({ "failed": true }));
    world.command(("s-x", WEB), HOUR / 2, line);
    let query = json!({ "query": "did somebody make files of a kafka consumer lag alert?" });
    let found = world.ask("search", query.clone());
    assert_eq!(found["merely_similar"], true, "{found}");
    let failed = found["results"].as_array().unwrap().iter().map(|hit| hit["note"].to_string());
    let marked = failed.filter(|note| note.contains("merely similar; failed, #")).count();
    assert_eq!(marked, 1, "{found}");
    let shown = world.shown("search", query);
    assert!(shown.starts_with("None of these is likely"), "{shown}");
    assert!(shown.contains("[failed, #") && !shown.contains("[merely"), "{shown}");
}
