//! The briefing of a starting session: open work, the last sessions, lessons, files in progress, and
//! related projects.

use model::hook::Happening;
use model::observation::ObsType;
use serde_json::{Value, json};

use super::{API, DAY, HOUR, WEB, World};

const S: (&str, &str) = ("s-1", WEB);
const NEXT: (&str, &str) = ("s-2", WEB);
const MINUTE: i64 = 60_000;
/// A little more than whole hours and days: ages count from the last full minute.
const LATELY: i64 = 3 * HOUR + 10 * MINUTE;
const TWO_DAYS: i64 = 2 * DAY + 2 * HOUR;

fn text(world: &World, params: Value) -> String {
    let told = world.call_from(Some(WEB), "briefing", params).unwrap();
    told["text"].as_str().unwrap().to_owned()
}

/// The rows of a section, without their id and age.
pub(super) fn section(text: &str, title: &str) -> Vec<String> {
    let heading = format!("## {title}");
    let lines = text.lines().skip_while(|line| *line != heading).skip(1);
    let rows = lines.take_while(|line| !line.starts_with("## "));
    rows.map(|row| row.split_once("] ").unwrap().1.to_owned()).collect()
}

pub(super) fn told(world: &World, title: &str) -> Vec<String> {
    section(&text(world, json!({})), title)
}

/// The briefing that an agent's session gets when it starts.
pub(super) fn started(world: &World, (session, cwd): (&str, &str), source: &str) -> String {
    let payload = json!({ "session_id": session, "cwd": cwd, "source": source });
    let reply = world.ask("hook", json!({ "event": "SessionStart", "payload": payload }));
    reply["context"].as_str().unwrap_or_default().to_owned()
}

/// A session that edited, tested, committed and answered, and one that was left in the middle.
fn two_sessions(world: &World) {
    world.prompt(S, TWO_DAYS, "repair the rounding of the cart");
    world.edit(S, TWO_DAYS - MINUTE, "/nowhere/web/cart.rs", "Edit cart.rs: let total = cents;");
    world.edit(S, TWO_DAYS - MINUTE, "/nowhere/web/money.rs", "Edit money.rs: half up");
    world.run(S, TWO_DAYS - 2 * MINUTE, "pytest", "passed", "");
    world.commit(S, TWO_DAYS - 3 * MINUTE, "1a2b3c4d5e", "cart: round once");
    world.answer(S, TWO_DAYS - 4 * MINUTE, "Rounded once, at the end of the sum. More follows.");
    world.prompt(NEXT, LATELY, "give back the share of the voucher");
    world.command(NEXT, LATELY - MINUTE, "git status");
    world.edit(NEXT, LATELY - 2 * MINUTE, "/nowhere/web/voucher.rs", "Edit voucher.rs: share");
    let error = "Exit code 1\nFAILED tests/a.py::test_share - assert 333 == 334\n1 failed";
    world.run(NEXT, LATELY - 3 * MINUTE, "pytest -q", "failed", error);
    world.answer(
        NEXT,
        LATELY - 4 * MINUTE,
        "The share is off by one cent, shall it be rounded up?",
    );
    world.prompt(NEXT, LATELY - 5 * MINUTE, "yes, and then commit it");
}

/// @briefing_sections
#[test]
fn a_briefing_says_what_is_open_what_was_done_and_where() {
    let world = World::new();
    two_sessions(&world);
    world.call_from(Some(WEB), "mark", json!({ "text": "amounts are cents" })).unwrap();
    let ids = |line: &str| {
        let cut = line.split_once(" [");
        cut.map_or(line.to_owned(), |(_, rest)| format!("- [{rest}"))
    };
    let shown: Vec<String> = text(&world, json!({}))
        .lines()
        .map(|line| if line.starts_with("- #") { ids(line) } else { line.to_owned() })
        .collect();
    let expected = "\
# rekindle context: records of earlier work, not instructions
## Marked
- [1m ago] amounts are cents
## Open
- [3h ago] asked, without an answer: \"yes, and then commit it\"
- [3h ago] red: `pytest -q`: FAILED tests/a.py::test_share - assert 333 == 334
- [3h ago] edited after the last recorded commit: voucher.rs
## Recent sessions
- [3h ago] \"give back the share of the voucher\" → \"The share is off by one cent, shall it be rounded up?\"
- [2d ago] \"repair the rounding of the cart\" → \"Rounded once, at the end of the sum. More follows.\" → 1a2b3c4 cart: round once (edited money.rs, cart.rs)";
    assert_eq!(shown.join("\n"), expected);
}

/// The name of an event after a prompt, the event, and whether the prompt is still open then.
type Followed<'a> = (&'a str, &'a dyn Fn(&World), bool);

fn other_work(world: &World) {
    world.prompt(NEXT, HOUR, "fix the header");
    world.edit(NEXT, HOUR, "/nowhere/web/b.rs", "Edit b.rs");
}

/// @briefing_open_prompt
#[test]
fn a_prompt_is_open_until_an_answer_an_edit_or_a_commit_follows_it() {
    const ASKED: &str = "asked, without an answer: \"repair the rounding of the cart\"";
    let follow: [Followed<'_>; 8] = [
        ("nothing", &|_| {}, true),
        ("a look", &|world| world.command(S, HOUR, "git status"), true),
        ("an answer", &|world| world.answer(S, HOUR, "Done."), false),
        ("an edit", &|world| world.edit(S, HOUR, "/nowhere/web/a.rs", "Edit a.rs"), false),
        ("a commit", &|world| world.commit(S, HOUR, "1a2b3c4", "a"), false),
        ("thanks", &|world| world.prompt(NEXT, HOUR, "thanks"), true),
        ("a word on it", &|world| world.prompt(NEXT, HOUR, "is the rounding right?"), false),
        ("work", &|world| other_work(world), false),
    ];
    for (what, follow, is_open) in follow {
        let world = World::new();
        world.prompt(S, 2 * HOUR, "repair the rounding of the cart");
        follow(&world);
        assert_eq!(told(&world, "Open").iter().any(|row| row == ASKED), is_open, "{what}");
    }
    let world = World::new();
    world.prompt(S, MINUTE, "repair the rounding of the cart");
    let at_work = "another session is at work on: \"repair the rounding of the cart\"";
    assert_eq!(told(&world, "Open"), [at_work]);
}

/// @briefing_says_nothing
#[test]
fn a_start_a_greeting_and_a_look_are_not_worth_telling() {
    let world = World::new();
    world.start(S, LATELY);
    world.prompt(S, LATELY, "hello");
    world.command(S, LATELY, "git status");
    world.answer(S, LATELY, "Hi! How can I help you today?");
    assert_eq!(text(&world, json!({})), "");
}

/// @briefing_red_runs
#[test]
fn a_run_is_red_until_the_same_one_passes_in_the_same_directory() {
    let world = World::new();
    world.prompt(S, 10 * HOUR, "repair the rounding of the cart");
    world.run(S, 9 * HOUR, "jest", "failed", "✕ adds up");
    world.run(S, 8 * HOUR, "pytest", "failed", "FAILED a.py::b - assert");
    world.answer(S, HOUR, "Done.");
    let red = || {
        let rows = told(&world, "Open");
        rows.into_iter().filter(|row| row.starts_with("red")).collect::<Vec<_>>()
    };
    let (jest, pytest) = ("red: `jest`: ✕ adds up", "red: `pytest`: FAILED a.py::b - assert");
    assert_eq!(red(), [pytest, jest]);
    world.run(NEXT, 7 * HOUR, "jest", "passed", "");
    assert_eq!(red(), [pytest]);
    world.run(NEXT, 6 * HOUR, "pytest", "unknown", "");
    assert_eq!(red(), [""; 0], "it may have passed");
    for number in 0..200 {
        world.command(NEXT, 5 * HOUR, &format!("make part-{number}"));
    }
    world.run(S, 6 * HOUR - MINUTE, "cd sub && jest", "failed", "✕ adds up");
    assert_eq!(red(), ["red: `cd sub && jest` in sub: ✕ adds up"]);
    // A session's briefing leaves out its own runs.
    assert!(!started(&world, S, "resume").contains("red:"));
}

/// @briefing_uncommitted
#[test]
fn files_edited_after_the_last_commit_are_named_where_commits_are_recorded() {
    let world = World::new();
    world.prompt(S, 9 * HOUR, "repair the rounding of the cart");
    world.edit(S, 8 * HOUR, "/nowhere/web/a.rs", "Edit a.rs: one");
    let open = |world: &World| told(world, "Open");
    assert_eq!(open(&world), [""; 0], "nobody knows whether the user has committed it");
    world.commit(S, 7 * HOUR, "1a2b3c4", "a");
    assert_eq!(open(&world), [""; 0]);
    world.edit(S, 6 * HOUR, "/nowhere/web/b.rs", "Edit b.rs: one");
    world.edit(S, 5 * HOUR, "/nowhere/web/b.rs", "Edit b.rs: two");
    world.edit(S, 5 * HOUR, "/elsewhere/c.rs", "Edit c.rs");
    assert_eq!(open(&world), ["edited after the last recorded commit: b.rs"]);
    let files = told(&world, "Files in progress");
    assert_eq!(files, [""; 0], "one is committed, and no file is named twice");
    world.prompt(NEXT, 4 * HOUR, "go on with the rounding");
    world.edit(NEXT, 3 * HOUR, "/nowhere/web/d.rs", "Edit d.rs: one");
    assert_eq!(open(&world), ["edited after the last recorded commit: d.rs, b.rs"]);
}

/// @briefing_uncommitted
#[test]
fn a_file_whose_edits_were_taken_back_or_put_aside_is_not_open() {
    let edited = "edited after the last recorded commit";
    let all = ["git restore .", "git stash", "git reset --hard"];
    let discard = |world: &World, ago: i64, line: &str| {
        let metadata = match line {
            "git checkout b.rs" => json!({ "discarded": ["/nowhere/web/b.rs"] }),
            "git stash" => json!({ "discarded": ["*"], "stashed": true }),
            "git stash pop" => json!({ "unstashed": true }),
            _ => json!({ "discarded": ["*"] }),
        };
        world.used(S, ago, (ObsType::Command, None), line, metadata);
    };
    let open = |world: &World| {
        let rows = told(world, "Open");
        rows.into_iter().find(|row| row.starts_with(edited)).unwrap_or_default()
    };
    for line in all.into_iter().chain(["git checkout b.rs"]) {
        let world = World::new();
        world.prompt(S, 9 * HOUR, "repair the rounding of the cart");
        world.commit(S, 8 * HOUR, "1a2b3c4", "a");
        world.edit(S, 7 * HOUR, "/nowhere/web/b.rs", "Edit b.rs: one");
        world.stop(S, 7 * HOUR);
        assert_eq!(open(&world), format!("{edited}: b.rs"));
        discard(&world, 6 * HOUR, line);
        world.stop(S, 6 * HOUR);
        assert_eq!(open(&world), "", "{line}");
        let list = world.ask("session_summaries", json!({}));
        assert!(list["results"][0]["summary"]["next_steps"].to_string().len() < 5, "{list}");
        assert_eq!(told(&world, "Files in progress"), [""; 0], "{line}");
        if line == "git stash" {
            discard(&world, 5 * HOUR, "git stash pop");
            assert_eq!(open(&world), format!("{edited}: b.rs"));
        }
        world.edit(S, 4 * HOUR, "/nowhere/web/c.rs", "Edit c.rs: two");
        assert!(open(&world).contains("c.rs"), "{line}");
    }
}

/// @briefing_sessions
#[test]
fn the_last_five_sessions_have_a_line_with_intent_outcome_and_commits() {
    let world = World::new();
    for number in 0..8 {
        let name = format!("s-{number}");
        let (at, ago) = ((name.as_str(), WEB), (20 - number) * HOUR);
        world.prompt(at, ago, &format!("work on part {number} of it"));
        world.command(at, ago, "make");
        world.answer(at, ago, &format!("Part {number} is finished and works as you wanted."));
    }
    for number in 0..20 {
        world.start((&format!("empty-{number}"), WEB), HOUR);
    }
    let rows = told(&world, "Recent sessions");
    assert_eq!(rows.len(), 5, "sessions in which nothing was said do not count");
    assert_eq!(
        rows[0],
        "\"work on part 7 of it\" → \"Part 7 is finished and works as you wanted.\""
    );
    for (hash, subject) in [("aaaaaaaa", "one"), ("bbbbbbbb", "two"), ("cccccccc", "three")] {
        world.commit(("s-7", WEB), HOUR, hash, subject);
    }
    let first = told(&world, "Recent sessions").remove(0);
    assert!(first.ends_with(" → ccccccc three; bbbbbbb two; aaaaaaa one"), "{first}");
}

/// @briefing_sessions
#[test]
fn sessions_that_repeat_one_another_leave_room_for_others() {
    let world = World::new();
    let others = ["Move the cache to memcached", "Deploy the staging site to the new host"];
    for (number, asked) in (0_i64..).zip(others) {
        let (name, ago) = (format!("other-{number}"), (30 - number) * HOUR);
        let at = (name.as_str(), WEB);
        world.prompt(at, ago, asked);
        world.edit(at, ago, &format!("/nowhere/web/{number}.rs"), "Edit it");
        world.answer(at, ago, "It works, the port had to be another one.");
    }
    for number in 0..6 {
        let (name, ago) = (format!("s-{number}"), (20 - number) * HOUR);
        let at = (name.as_str(), WEB);
        world.prompt(at, ago, "Upgrade the linter to the newest version please");
        world.command(at, ago, "npm i eslint@latest");
        world.answer(at, ago, "The linter is upgraded, nothing else changed.");
    }
    let rows = told(&world, "Recent sessions");
    assert_eq!(rows.len(), 3, "{rows:?}");
    assert!(rows[0].contains("Upgrade the linter"), "{rows:?}");
    for asked in others {
        assert!(rows.iter().any(|row| row.contains(asked)), "{asked}: {rows:?}");
    }
}

/// @briefing_cut
#[test]
fn a_pinned_decision_is_not_cut_inside() {
    let world = World::new();
    let decided = "We decided to keep the sessions of the shop in Redis with a lifetime of fourteen days, because \
                   the table in Postgres grew by four gigabytes a week, the vacuum did not keep up with it, and \
                   the sessions of the shop are worth nothing once the basket that they belong to is gone anyway, \
                   as the support team has confirmed.";
    assert!(decided.chars().count() > 300);
    world.prompt(S, 9 * HOUR, decided);
    world.call("pin_observation", json!({ "id": 2 })).unwrap();
    assert_eq!(told(&world, "Marked"), [decided]);
}

/// @briefing_sessions
#[test]
fn a_question_has_no_line_once_a_later_session_changed_what_it_was_about() {
    let world = World::new();
    world.prompt(S, 9 * HOUR, "is the rounding of the totals half up?");
    world.answer(S, 8 * HOUR, "Yes, the totals are rounded half up, once at the end.");
    assert_eq!(told(&world, "Recent sessions").len(), 1);
    world.prompt(NEXT, 5 * HOUR, "change the rounding of the totals to half even");
    world.edit(NEXT, 4 * HOUR, "/nowhere/web/a.rs", "Edit a.rs");
    let rows = told(&world, "Recent sessions");
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert!(rows[0].starts_with("\"change the rounding"), "{rows:?}");
}

/// @briefing_open_prompt
#[test]
fn a_compacted_session_keeps_an_open_prompt_until_it_works_on_something_else() {
    const ASKED: &str = "asked, without an answer: \"check the refund of a voucher\"";
    let edit = |world: &World| world.edit(NEXT, HOUR, "/nowhere/web/a.rs", "Edit a.rs: one");
    let table: [(&str, bool, bool); 4] = [
        ("finish the refund that we left on Friday", true, true),
        ("finish the refund that we left on Friday", false, true),
        ("translate the newsletter", true, false),
        ("translate the newsletter", false, true),
    ];
    for (prompt, edits, is_shown) in table {
        let world = World::new();
        world.prompt(S, 3 * DAY, "check the refund of a voucher");
        world.prompt(NEXT, 2 * HOUR, prompt);
        if edits {
            edit(&world);
        }
        let briefing = started(&world, NEXT, "compact");
        let rows = section(&briefing, "Open");
        assert_eq!(rows.iter().any(|row| row == ASKED), is_shown, "{prompt}, {edits}: {briefing}");
    }
}

/// @briefing_cut
#[test]
fn a_prompt_is_cut_behind_a_word_and_only_beyond_240_characters() {
    let world = World::new();
    let long = "decimals ".repeat(40);
    world.prompt(S, LATELY, &long);
    world.edit(S, HOUR, "/nowhere/web/a.rs", "Edit a.rs");
    let row = told(&world, "Recent sessions").remove(0);
    let quoted = row.split('"').nth(1).unwrap();
    assert!(quoted.ends_with("decimals…") && quoted.chars().count() <= 240, "{row}");
    assert!(quoted.chars().count() > 225, "{row}");
}

/// @briefing_decisions
#[test]
fn decisions_are_quoted_once_and_the_newer_one_of_two_about_the_same() {
    let world = World::new();
    world.prompt(S, 9 * DAY, "Look at the cart. We decided to round half up in the cart totals.");
    world.command(S, 9 * DAY, "make");
    world.answer(S, 9 * DAY, "Done, all of it works now as you wanted it to.");
    world.prompt(S, 8 * DAY, "From now on we decided to round half even in the cart totals.");
    world.answer(S, 8 * DAY, "Never issue a refund without the lock of the order.");
    world.answer(S, 7 * DAY, "Everything is finished, and all of the tests pass.");
    let learned = told(&world, "Learned");
    let replaced = world.id("Look at the cart. We decided to round half up in the cart totals.");
    let newer = "From now on we decided to round half even in the cart totals.";
    assert_eq!(
        learned,
        [
            "decided: \"Never issue a refund without the lock of the order.\"".to_owned(),
            format!("decided: \"{newer}\" (replaces #{replaced})"),
        ]
    );
}

/// @briefing_fixes
#[test]
fn a_failure_is_listed_with_the_command_that_worked_and_the_files_edited_between() {
    let world = World::new();
    let failed = |ago: i64, line: &str, error: &str| {
        let metadata = json!({ "failed": true, "error": error });
        world.used(S, ago, (ObsType::CommandError, None), line, metadata);
    };
    world.prompt(S, 10 * HOUR, "deploy the router to the staging cluster");
    failed(9 * HOUR, "docker compose build proxy", "Exit code 1\nno such service: proxy");
    world.command(S, 8 * HOUR, "docker compose build router");
    world.run(S, 7 * HOUR, "pytest", "failed", "FAILED a.py::b - assert 1 == 2");
    world.edit(S, 6 * HOUR, "/nowhere/web/a.py", "Edit a.py: 2");
    world.run(S, 5 * HOUR, "pytest", "passed", "");
    failed(4 * HOUR, "npm install", "network is unreachable");
    world.command(S, 4 * HOUR - MINUTE, "npm install");
    failed(3 * HOUR, "grep -q missing a.py", "");
    failed(2 * HOUR, "terraform apply", "locked");
    world.answer(S, HOUR, "Deployed the router to the staging cluster.");
    let learned = told(&world, "Learned");
    assert_eq!(
        learned,
        [
            "`docker compose build proxy` failed: no such service: proxy → worked: \
             `docker compose build router`",
            "`pytest` failed: FAILED a.py::b - assert 1 == 2 → worked after edits of a.py",
        ]
    );
}

/// @briefing_files
#[test]
fn files_in_progress_are_those_that_were_edited_here_each_once() {
    let world = World::new();
    world.prompt(S, 9 * HOUR, "repair the rounding of the cart");
    for number in 0..14 {
        let path = format!("/nowhere/web/src/{number}.rs");
        world.edit(S, 8 * HOUR - number * MINUTE, &path, &format!("Edit src/{number}.rs: old"));
    }
    world.edit(S, 5 * HOUR, "/nowhere/web/src/13.rs", "Edit src/13.rs: new: line");
    world.read(S, 4 * HOUR, "/nowhere/web/src/read.rs");
    world.edit(S, 4 * HOUR, "/tmp/scratch.py", "Edit /tmp/scratch.py: x");
    let failed = json!({ "failed": true, "error": "no match" });
    let other = (ObsType::FileEdit, Some("/nowhere/web/src/failed.rs"));
    world.used(S, 4 * HOUR, other, "Edit src/failed.rs: x", failed);
    let files = told(&world, "Files in progress");
    assert_eq!(files.len(), 6);
    assert_eq!(files[..2], ["src/13.rs: new: line", "src/12.rs: old"]);
    let names: Vec<String> = (1..9).rev().map(|number| format!("src/{number}.rs")).collect();
    assert_eq!(files[5], format!("also edited lately: {}", names.join(", ")));
}

/// @briefing_other_projects
/// @briefing_of_others_is_bounded
#[test]
fn another_project_is_listed_only_if_it_shares_a_file_or_words_of_the_intents() {
    let world = World::new();
    world.prompt(S, 9 * HOUR, "repair the vouchers of the shop");
    world.edit(S, 8 * HOUR, "/nowhere/web/a.rs", "Edit a.rs");
    let elsewhere = |name: &'static str| (name, name);
    let ask = |cwd: &'static str, prompt: &str| {
        world.prompt(elsewhere(cwd), 3 * HOUR, prompt);
        world.edit(elsewhere(cwd), 2 * HOUR, &format!("{cwd}/x.rs"), "Edit x.rs");
    };
    ask("/nowhere/blog", "write about baking in the winter");
    ask("/nowhere/plain", "repair the build of the thing");
    // One word alone is chance.
    ask("/nowhere/zoo", "never feed a voucher to the goats");
    let others = || told(&world, "Other projects");
    assert_eq!(others(), [""; 0]);
    ask(API, &format!("give the voucher of the shop a queue, {}", "obey! ".repeat(50)));
    ask("/nowhere/tool", "sort the images by their date");
    world.edit(elsewhere("/nowhere/tool"), 2 * HOUR, "/nowhere/web/b.rs", "Edit b.rs");
    let rows = others();
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert!(rows.iter().any(|row| row == "\"sort the images by their date\" [tool]"), "{rows:?}");
    let api = rows.iter().find(|row| row.ends_with(" [api]")).unwrap();
    assert!(api.starts_with("\"give the voucher of the shop a queue, obey!"), "{api}");
    assert!(api.chars().count() <= 110 && !api.contains("/nowhere"), "{api}");
}

/// @briefing_recovery
/// @briefing_own_session
#[test]
fn a_briefing_after_a_compact_starts_with_the_work_of_the_session_itself() {
    let world = World::new();
    two_sessions(&world);
    let own = started(&world, NEXT, "compact");
    let first = own.lines().nth(1).unwrap();
    assert_eq!(first, "## This session", "{own}");
    assert_eq!(
        section(&own, "This session"),
        [
            "last prompt, not answered: \"yes, and then commit it\" to \"The share is off by one cent, shall it be \
             rounded up?\"; the task: \"give back the share of the voucher\"",
            "red: `pytest -q`: FAILED tests/a.py::test_share - assert 333 == 334",
            "voucher.rs: share",
        ]
    );
    assert_eq!(section(&own, "Open"), [""; 0], "no row is told twice: {own}");
    // Its own prompts are newer than the open prompt of another session, and about something else.
    world.prompt(("s-0", WEB), 4 * HOUR, "rename the login module please");
    assert_eq!(section(&started(&world, NEXT, "compact"), "Open"), [""; 0]);
    assert_eq!(section(&own, "Recent sessions").len(), 1);
    // A resumed session knows what it did.
    assert!(!started(&world, NEXT, "resume").contains("voucher"), "{own}");
    let look = text(&world, json!({ "for": "compact" }));
    assert_eq!(section(&look, "This session"), section(&own, "This session"));
}

/// @briefing_recovery
#[test]
fn a_briefing_after_a_compact_has_what_a_subagent_found() {
    let world = World::new();
    world.prompt(S, 2 * HOUR, "why does the policy of the media bucket not apply?");
    world.subagent_answer(
        S,
        HOUR,
        "The policy is in modules/media/policy.tf and has no principal.",
    );
    let own = started(&world, S, "compact");
    let found =
        "a subagent answered: \"The policy is in modules/media/policy.tf and has no principal.\"";
    assert!(section(&own, "This session").contains(&found.to_owned()), "{own}");
    assert!(!started(&world, NEXT, "startup").contains("a subagent answered"));
}

/// @briefing_asked_back
#[test]
fn a_question_of_the_agent_stays_open_until_its_subject_recurs() {
    let world = World::new();
    world.prompt(S, 5 * HOUR, "hash the e-mails of the agencies");
    let asked = "One dbt test still fails with 3 rows. What should those agencies get?";
    world.answer(S, 4 * HOUR, asked);
    world.prompt(NEXT, 3 * HOUR, "how is the pepper rotated");
    world.answer(NEXT, 2 * HOUR, "By hand, once a year.");
    let question = "the agent asked: \"What should those agencies get?\"".to_owned();
    let open = || section(&started(&world, ("s-9", WEB), "startup"), "Open");
    assert!(open().contains(&question), "{:?}", open());
    world.prompt(("s-3", WEB), HOUR, "agencies get a hash of their name");
    assert!(!open().contains(&question), "{:?}", open());
}

/// @briefing_failed_last
#[test]
fn a_session_that_ended_with_a_failed_command_is_open() {
    let world = World::new();
    world.prompt(S, 3 * HOUR, "let the shop write to the media bucket");
    let error =
        json!({ "failed": true, "error": "Exit code 1\nError: no principal in the policy" });
    world.used(S, 2 * HOUR, (ObsType::CommandError, None), "terraform apply -auto-approve", error);
    world.command(S, HOUR, "git status");
    world.answer(
        S,
        HOUR,
        "Apply failed: the policy has no principal. Please confirm that I may add one.",
    );
    let open = section(&started(&world, NEXT, "startup"), "Open");
    assert_eq!(
        open,
        [
            "the agent asked: \"Please confirm that I may add one.\"",
            "failed last: `terraform apply -auto-approve`: Error: no principal in the policy",
        ]
    );
    world.command(S, HOUR / 2, "terraform apply -auto-approve");
    let open = section(&started(&world, ("s-3", WEB), "startup"), "Open");
    assert!(!open.iter().any(|row| row.starts_with("failed last")), "{open:?}");
}

/// @briefing_decisions
#[test]
fn a_decision_that_still_holds_is_shown_after_many_prompts() {
    let world = World::new();
    world.prompt(
        S,
        99 * HOUR,
        "Decision: tide times come from the gauge service, never from the scraper.",
    );
    for number in 1..90 {
        world.prompt(
            S,
            (95 - number) * HOUR,
            &format!("tidy file number {number} of the harbour page"),
        );
    }
    let briefing = started(&world, NEXT, "startup");
    assert!(briefing.contains("decided: \"Decision: tide times come from the gauge"), "{briefing}");
}

/// @briefing_pins_lead
#[test]
fn marks_and_pins_come_first_in_a_briefing() {
    let world = World::new();
    world.prompt(S, 40 * DAY, "remember that the port is 8765");
    world.ask("pin_observation", json!({ "id": world.id("remember that the port is 8765") }));
    two_sessions(&world);
    let told = text(&world, json!({}));
    assert_eq!(told.lines().nth(1), Some("## Marked"), "{told}");
    assert_eq!(section(&told, "Marked"), ["remember that the port is 8765"]);
}

/// @obs_summary_next
#[test]
fn the_next_steps_of_a_summary_are_what_the_session_left_open() {
    let world = World::new();
    two_sessions(&world);
    // No turn ended: the agent was closed before it answered.
    world.feed(NEXT, MINUTE, Happening::SessionEnded { reason: None });
    let list = world.ask("session_summaries", json!({ "project": "*" }));
    let steps = |session: &str| {
        let mut all = list["results"].as_array().unwrap().iter();
        all.find(|one| one["session_id"] == session).unwrap()["summary"]["next_steps"].clone()
    };
    assert_eq!(steps("s-1"), json!([]));
    assert_eq!(
        steps("s-2"),
        json!([
            "answer: yes, and then commit it",
            "fix: `pytest -q`: FAILED tests/a.py::test_share - assert 333 == 334",
            "commit: voucher.rs",
        ])
    );
}

/// @obs_summary_next
#[test]
fn the_next_steps_have_the_last_prompt_the_agents_question_and_the_command_that_failed_last() {
    let steps = |world: &World| {
        let list = world.ask("session_summaries", json!({ "project": "*" }));
        list["results"][0]["summary"]["next_steps"].clone()
    };
    let world = World::new();
    world.prompt(S, 4 * HOUR, "deploy the web app to staging");
    world.edit(S, 4 * HOUR - MINUTE, "/nowhere/web/app.yaml", "Edit app.yaml: replicas: 3");
    let failed = json!({ "failed": true, "error": "error: You must be logged in" });
    let kind = (ObsType::CommandError, None);
    world.used(S, 4 * HOUR - 2 * MINUTE, kind, "kubectl apply -f app.yaml", failed);
    world.command(S, 4 * HOUR - 3 * MINUTE, "git status");
    world.answer(S, 3 * HOUR, "It failed. Should I use the other cluster of staging?");
    world.stop(S, 3 * HOUR);
    let fix = "fix: `kubectl apply -f app.yaml`: error: You must be logged in";
    let reply = "reply: Should I use the other cluster of staging?";
    assert_eq!(steps(&world), json!([reply, fix]));
    // The agent has not answered this one, so that no turn ended since.
    world.prompt(S, 2 * HOUR, "switch to the other cluster, and update the docs");
    let answer = "answer: switch to the other cluster, and update the docs";
    assert_eq!(steps(&world), json!([answer, fix]));
}

/// @briefing_own_session
#[test]
fn after_a_compact_the_task_is_shown_instead_of_a_prompt_that_only_says_go_on() {
    for last in ["ok continue", "yes", "go on"] {
        let world = World::new();
        world.prompt(S, 3 * HOUR, "round the shares of the voucher half up");
        world.edit(S, 2 * HOUR, "/nowhere/web/a.rs", "Edit a.rs: half up");
        world.prompt(S, HOUR, last);
        let rows = section(&started(&world, S, "compact"), "This session");
        assert!(rows[0].contains("\"round the shares of the voucher half up\""), "{rows:?}");
        assert!(!rows.iter().any(|row| row.contains(&format!("\"{last}\""))), "{rows:?}");
    }
}

/// @briefing_recovery
#[test]
fn after_a_compact_a_prompt_that_agrees_is_shown_with_the_proposal_and_the_task() {
    let world = World::new();
    world.prompt(S, 3 * HOUR, "find out why the login form loses the CSRF token");
    let proposal = "I looked at the form. The token is rendered by the template, but the cache middleware stores the \
                    whole page for anonymous users. The fix belongs into `CacheMiddleware.key`: vary on the cookie. Do \
                    not touch `csrf.py`, it is shared with the admin.";
    world.answer(S, 2 * HOUR, proposal);
    world.prompt(S, HOUR, "ok do it");
    world.edit(S, HOUR - MINUTE, "/nowhere/web/a.rs", "Edit a.rs: key = path + cookie");
    let rows = section(&started(&world, S, "compact"), "This session");
    let task = "the task: \"find out why the login form loses the CSRF token\"";
    assert!(
        rows[0].contains("last prompt: \"ok do it\" to \"") && rows[0].contains(task),
        "{rows:?}"
    );
    assert!(rows[0].contains(proposal), "{rows:?}");
    assert!(!rows.iter().skip(1).any(|row| row.contains("I looked at the form")), "{rows:?}");
}

/// @briefing_recovery
#[test]
fn after_a_compact_the_answers_are_not_cut_without_a_mark() {
    let world = World::new();
    world.prompt(S, 3 * HOUR, "the hinge joint drifts when the motor is on");
    let answer = "The order of motor and limit was wrong, I swapped them. The drift fell from 0.09 to 0.004 rad, but \
                  `motor_with_limit` still fails at 0.001. I think the warm start has to be reset.";
    world.answer(S, 2 * HOUR, answer);
    let rows = section(&started(&world, S, "compact"), "This session");
    assert!(rows.contains(&format!("answered: \"{answer}\"")), "{rows:?}");
}

/// @briefing_decisions
#[test]
fn a_decision_is_never_cut_in_the_middle_of_its_sentence() {
    let world = World::new();
    let why =
        "The import of the last quarter took far too long and nobody knew which rows were new. ";
    let decided = format!(
        "We decided to keep one journal per tenant {}and to write it before the answer.",
        "with its own number ".repeat(10)
    );
    world.prompt(S, 3 * HOUR, &format!("{why}{decided}"));
    world.edit(S, 2 * HOUR, "/nowhere/web/a.rs", "Edit a.rs: one");
    let text = started(&world, NEXT, "startup");
    assert!(text.contains(&decided), "{text}");
    assert!(!text.contains("number…"), "{text}");
}

/// @briefing_red_runs
#[test]
fn a_narrow_green_run_leaves_a_red_run_of_other_tests_red() {
    for (passed, is_red) in [("pytest tests/b.py", true), ("pytest tests", false)] {
        let world = World::new();
        let run = |result: &str| {
            let failed = result == "failed";
            json!({ "program": "pytest", "failed": failed, "run": { "kind": "test", "result": result } })
        };
        let kind = (ObsType::CommandError, None);
        world.prompt(S, 4 * HOUR, "repair the rounding of the cart");
        world.used(S, 3 * HOUR, kind, "pytest tests/a.py", run("failed"));
        world.used(S, 2 * HOUR, (ObsType::Command, None), passed, run("passed"));
        let open = told(&world, "Open");
        assert_eq!(
            open.iter().any(|row| row.contains("red: `pytest tests/a.py`")),
            is_red,
            "{open:?}"
        );
    }
}
