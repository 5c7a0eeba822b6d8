//! The block that an agent gets with a prompt: outcomes of earlier turns about its subject.

use serde_json::{Value, json};

use super::briefing::world_with;
use super::{DAY, HOUR, WEB, World, texts};

const S: (&str, &str) = ("s-1", WEB);
const NEXT: (&str, &str) = ("s-2", WEB);
const MINUTE: i64 = 60_000;
const OFF: &[(&str, &str)] = &[("briefing.at_prompts", "false")];

/// The rows of the block for a prompt: type and text.
fn block(world: &World, prompt: &str) -> Vec<(String, String)> {
    let params = json!({ "for": "prompt", "prompt": prompt });
    let told = world.call_from(Some(WEB), "briefing", params).unwrap();
    let text = told["text"].as_str().unwrap().to_owned();
    let rows = text.lines().filter(|line| line.starts_with("| #"));
    let cells = |row: &str| row.split(" | ").map(str::to_owned).collect::<Vec<_>>();
    rows.map(cells)
        .map(|cells| (cells[2].clone(), cells[3].trim_end_matches(" |").to_owned()))
        .collect()
}

fn row(kind: &str, text: &str) -> (String, String) {
    (kind.to_owned(), text.to_owned())
}

/// @briefing_at_prompts
#[test]
fn a_row_shows_the_answer_and_the_commit_of_a_turn_instead_of_its_prompt() {
    let world = World::new();
    world.prompt(S, 5 * HOUR, "The berth map flickers when zooming on Safari. Find out why.");
    world.read(S, 5 * HOUR - MINUTE, "/nowhere/web/berth_map.tsx");
    world.command(S, 5 * HOUR - MINUTE, "grep -rn berth map flickers Safari");
    world.commit(S, 5 * HOUR - 2 * MINUTE, "1a2b3c4d", "berth map: stable canvas ref");
    world.answer(
        S,
        5 * HOUR - 3 * MINUTE,
        "I looked at the styles first and at the tiles, none of which is to blame here, and at the \
         timers, which are fine as well, so that I went on to look at the events of the page. The \
         berth map flickers on Safari because an inline ref callback remounts the canvas.",
    );
    world.stop(S, 5 * HOUR - 3 * MINUTE);
    let rows = block(&world, "berth map flickers in Safari when I pan");
    let answer = "… The berth map flickers on Safari because an inline ref callback remounts the \
                  canvas. → 1a2b3c4 berth map: stable canvas ref";
    assert_eq!(rows, [row("answer", answer)]);
}

/// @briefing_at_prompts
#[test]
fn a_prompt_with_nothing_but_the_name_of_the_project_in_common_gets_no_rows() {
    let world = World::new();
    let at = ("s-1", "/nowhere/gritlog");
    world.prompt(at, 5 * HOUR, "Write a man page stub for gritlog");
    world.edit(at, 4 * HOUR, "/nowhere/gritlog/man/gritlog.1", "Write man/gritlog.1");
    world.answer(at, 3 * HOUR, "Added `man/gritlog.1` with NAME only.");
    let block = |prompt: &str| {
        let params = json!({ "for": "prompt", "prompt": prompt });
        let told = world.call_from(Some("/nowhere/gritlog"), "briefing", params).unwrap();
        told["text"].as_str().unwrap().to_owned()
    };
    assert!(!block("Write a changelog for gritlog").contains("| #"));
    assert!(block("extend the man page stub of gritlog").contains("| #"));
}

/// @briefing_at_prompts
#[test]
fn words_for_work_on_any_subject_bring_no_rows() {
    let world = World::new();
    world.prompt(S, 5 * HOUR, "add a unit test for the zone names");
    world.edit(S, 4 * HOUR, "/nowhere/web/zones_test.rs", "Edit zones_test.rs: fn unit()");
    world.answer(S, 3 * HOUR, "The zone names have a unit test now. All tests pass.");
    for prompt in ["run the unit tests", "add a unit test for the router"] {
        assert_eq!(block(&world, prompt), [], "{prompt}");
    }
    assert_eq!(block(&world, "is there a unit test for the zone names?").len(), 1);
}

/// @briefing_at_prompts
#[test]
fn chores_and_answers_that_teach_nothing_bring_no_rows() {
    let world = World::new();
    let turns = [
        ("is ci green?", "CI is green on `main`."),
        ("open a PR", "The PR is open."),
        ("rebase on main", "Rebased without conflicts."),
        ("start the dev server", "It runs on port 5173."),
        ("remove the debug prints of the mooring lights", "Removed."),
        ("which port does the mooring service listen on?", "It listens on 7341."),
    ];
    for (place, (prompt, answer)) in (0_i64..).zip(turns) {
        let ago = 9 * HOUR - place * 10 * MINUTE;
        world.prompt(S, ago, prompt);
        world.command(S, ago - MINUTE, "git status");
        world.answer(S, ago - 2 * MINUTE, answer);
    }
    for (prompt, _) in &turns[..4] {
        assert_eq!(block(&world, prompt), [], "{prompt}");
    }
    let rows = block(&world, "remove the debug prints of the mooring lights again");
    assert!(rows.iter().all(|(_, text)| text != "Removed."), "{rows:?}");
    let rows = block(&world, "on which port does the mooring service listen?");
    assert_eq!(rows, [row("answer", "It listens on 7341.")]);
}

/// @briefing_at_prompts
#[test]
fn a_row_shows_the_prompt_if_it_decides_or_has_no_answer() {
    let world = World::new();
    world.prompt(S, 5 * HOUR, "We decided to compress the uploads of skiff with zstd level 3.");
    world.answer(S, 5 * HOUR - MINUTE, "The uploads are compressed with zstd level 3 now.");
    world.prompt(NEXT, 2 * HOUR, "compress the uploads of skiff with zstd level 9 on servers");
    let rows = block(&world, "which zstd level compresses the uploads of skiff?");
    let decided = "We decided to compress the uploads of skiff with zstd level 3. → The uploads are \
                   compressed with zstd level 3 now.";
    let open = "compress the uploads of skiff with zstd level 9 on servers";
    assert_eq!(rows.len(), 2, "{rows:?}");
    for expected in [row("user_prompt", decided), row("user_prompt", open)] {
        assert!(rows.contains(&expected), "{expected:?}: {rows:?}");
    }
}

/// @briefing_at_prompts
#[test]
fn a_decision_is_shown_whole_in_prompts_and_in_answers() {
    let decided = "We decided to compress the uploads of skiff with zstd level 3, because the                    level 9 that was tried in the spring took more time on the small machines of                    the harbour offices than the network saves there, and because the offices pay                    for the machines by the hour and not for the network, which is free.";
    assert!(decided.chars().count() > 240);
    let world = World::new();
    world.prompt(S, 5 * HOUR, decided);
    let rows = block(&world, "which zstd level compresses the uploads of skiff?");
    assert_eq!(rows, [row("user_prompt", decided)]);
    let world = World::new();
    world.prompt(S, 5 * HOUR, "which zstd level compresses the uploads of skiff?");
    let answer = format!("The notes of the spring say this. {decided} The notes end here.");
    world.answer(S, 5 * HOUR - MINUTE, &answer);
    let rows = block(&world, "compress the uploads of skiff with another zstd level");
    assert_eq!(rows, [row("answer", decided)]);
}

/// @briefing_at_prompts
#[test]
fn a_replaced_decision_is_shown_as_the_newer_one() {
    let world = World::new();
    let old = "We decided to compress the uploads of skiff with zstd level 3.";
    world.prompt(S, 9 * HOUR, old);
    world.answer(S, 9 * HOUR - MINUTE, "The uploads are compressed with zstd level 3.");
    let new = "Change of plan: compress the uploads of skiff with zstd level 9 instead of level 3.";
    world.prompt(NEXT, 2 * HOUR, new);
    world.answer(NEXT, 2 * HOUR - MINUTE, "The configuration has the other level.");
    let id = world.id(old);
    let rows = block(&world, "which zstd level compresses the uploads of skiff?");
    let [(kind, text)] = rows.as_slice() else { panic!("{rows:?}") };
    assert_eq!(kind, "user_prompt");
    assert!(text.starts_with(new) && text.ends_with(&format!("(replaces #{id})")), "{rows:?}");
}

/// @briefing_at_prompts
#[test]
fn an_answer_beside_a_replaced_decision_is_shown_without_it() {
    let world = World::new();
    let answer = "User sessions are kept for 14 days in Redis. While testing I found that the cleanup job leaks \
                  database connections: it opens one per batch and never closes it.";
    world.prompt(S, 9 * HOUR, "Keep user sessions for 14 days in Redis.");
    world.answer(S, 9 * HOUR - MINUTE, answer);
    world.prompt(NEXT, 2 * HOUR, "Change of plan: keep user sessions for 30 days.");
    world.answer(NEXT, 2 * HOUR - MINUTE, "User sessions are kept for 30 days now.");
    let rows = block(&world, "why does the cleanup job leak database connections?");
    let [(kind, text)] = rows.as_slice() else { panic!("{rows:?}") };
    assert_eq!(kind, "answer");
    assert!(text.contains("never closes it. (partly replaced by #"), "{rows:?}");
    let rows = block(&world, "for how many days are user sessions kept?");
    let [(_, text)] = rows.as_slice() else { panic!("{rows:?}") };
    assert!(text.contains("30 days") && !text.contains("14 days"), "{rows:?}");
}

/// @briefing_at_prompts
#[test]
fn of_two_answers_about_one_subject_the_newer_one_is_first() {
    let world = World::new();
    let old = "The harbour radar sits behind the blue proxy of the pier at night.";
    let new = "The harbour radar sits behind the green proxy of the pier.";
    for (at, ago, answer) in [(S, 60 * HOUR, old), (NEXT, 2 * HOUR, new)] {
        world.prompt(at, ago, "look up where the harbour radar sits");
        world.answer(at, ago - MINUTE, answer);
    }
    let rows = block(&world, "which proxy of the pier does the harbour radar sit behind at night?");
    assert_eq!(rows, [row("answer", new), row("answer", old)]);
}

/// @briefing_at_prompts
#[test]
fn a_file_that_was_only_read_and_a_test_runner_bring_no_rows() {
    let world = World::new();
    world.prompt(S, 9 * HOUR, "how long do session tokens live?");
    world.read(S, 9 * HOUR - MINUTE, "/nowhere/web/src/util.py");
    world.answer(S, 9 * HOUR - 2 * MINUTE, "Session tokens live 30 days.");
    world.prompt(NEXT, 5 * HOUR, "Send the order mail only from the webhook and answer first");
    world.run(NEXT, 5 * HOUR - MINUTE, "npx vitest run", "passed", "");
    world.answer(NEXT, 5 * HOUR - 2 * MINUTE, "The mail is sent once, from the webhook.");
    for prompt in ["add type hints to src/util.py", "bump vitest to 3"] {
        assert_eq!(block(&world, prompt), [], "{prompt}");
    }
    assert_eq!(block(&world, "how many days do session tokens live?").len(), 1);
    assert_eq!(block(&world, "is the order mail sent by the webhook?").len(), 1);
}

/// @briefing_at_prompts
#[test]
fn the_answer_of_a_subagent_is_shown_if_it_is_what_matched() {
    let world = World::new();
    world.prompt(S, 9 * HOUR, "Set up a staging cluster: 3 nodes in eu-central-1");
    let found = "The prod module pins Kubernetes 1.31 and the node group uses m6i.large.";
    world.subagent_answer(S, 9 * HOUR - MINUTE, found);
    let said = "The plan for staging is ready: 14 resources. The state lock was stale.";
    world.answer(S, 9 * HOUR - 2 * MINUTE, said);
    let rows = block(&world, "upgrade Kubernetes of the prod module");
    assert_eq!(rows, [row("answer", &format!("a subagent found: {found}"))]);
    let rows = block(&world, "why was the state lock of the staging cluster stale?");
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert!(rows[0].1.contains("The state lock was stale."), "{rows:?}");
}

/// @briefing_at_prompts
#[test]
fn a_row_that_only_asks_is_left_out() {
    let world = World::new();
    world.prompt(S, 9 * HOUR, "which zstd level compresses the uploads of skiff on the servers?");
    world.prompt(("s-3", WEB), 5 * HOUR, "compress uploads of skiff, zstd level");
    world.prompt(
        ("s-4", WEB),
        4 * HOUR,
        "compress the uploads of skiff with the zstd level of tar",
    );
    world.answer(("s-4", WEB), 3 * HOUR, "Which zstd level shall compress the uploads of skiff?");
    let rows = block(&world, "which zstd level compresses the uploads of skiff?");
    let open = "compress the uploads of skiff with the zstd level of tar";
    assert_eq!(rows, [row("user_prompt", open)]);
}

/// @briefing_at_prompts
#[test]
fn a_preview_of_the_block_names_the_setting_that_is_off() {
    let shown = |world: &World, params: Value| world.shown("briefing", params);
    let prompt = json!({ "for": "prompt", "prompt": "which zstd level compresses the uploads?" });
    let off = shown(&world_with(OFF), prompt.clone());
    assert!(off.starts_with("briefing.at_prompts is off"), "{off}");
    assert!(off.contains("`rekindle config set briefing.at_prompts true`"), "{off}");
    assert_eq!(shown(&World::new(), prompt), "Nothing worth saying yet.\n");
    assert_eq!(shown(&world_with(OFF), json!({})), "Nothing worth saying yet.\n");
}

/// @briefing_at_prompts
#[test]
fn a_reply_gets_the_answer_that_asked_and_later_prompts_what_came_of_it() {
    let world = World::new();
    world.prompt(S, 50 * HOUR, "Migrate the invoices controller to Pundit as well");
    world.edit(S, 50 * HOUR, "/nowhere/web/invoices.rb", "Edit invoices.rb: authorize Invoice");
    world.answer(
        S,
        49 * HOUR,
        "InvoicePolicy is there, but the harbour master may not download PDFs because the role is \
         stored per marina. Should the role check go through MarinaMembership?",
    );
    world.stop(S, 49 * HOUR);
    let reply = "Yes, check the role through MarinaMembership";
    let rows = block(&world, reply);
    assert!(rows.len() == 1 && rows[0].1.contains("Should the role check go"), "{rows:?}");
    let later = ("s-3", WEB);
    world.prompt(later, 4 * HOUR, "Where were we with Pundit?");
    let state = "The slips controller is migrated to Pundit, the invoices controller has one red \
                 example, the berths controller is left to migrate.";
    world.answer(later, 4 * HOUR, state);
    world.stop(later, 4 * HOUR);
    world.prompt(later, 3 * HOUR, reply);
    world.edit(later, 3 * HOUR, "/nowhere/web/policy.rb", "Edit policy.rb: MarinaMembership");
    world.commit(later, 3 * HOUR, "6fadfc01", "invoices: Pundit, roles per marina");
    world.answer(
        later,
        3 * HOUR,
        "Green. Roles are looked up per marina through MarinaMembership, cached per request.",
    );
    world.stop(later, 3 * HOUR);
    let rows = block(&world, "Migrate the berths controller to Pundit now");
    assert!(rows.iter().any(|row| row.1.contains("Roles are looked up")), "{rows:?}");
    assert!(!rows.iter().any(|row| row.1.contains("one red example")), "{rows:?}");
}

/// @search_answers_first @search_honest_nothing
#[test]
fn a_question_without_an_answer_is_no_answer_and_ranks_below_one() {
    let world = World::new();
    let asked = "Which queue does the harbour importer read its readings from?";
    for day in [9, 8] {
        let session = format!("s-{day}");
        world.prompt((&session, WEB), day * DAY, asked);
    }
    let found = world.ask("search", json!({ "query": asked }));
    assert!(found["merely_similar"].as_bool() == Some(true), "{found}");
    let told = json!({ "for": "prompt", "prompt": asked });
    let told = world.call_from(Some(WEB), "briefing", told).unwrap();
    assert_eq!(told["text"], "", "{told}");
    let fact = "The harbour importer reads its readings from the NATS queue tide.readings.";
    world.prompt(("s-3", WEB), 30 * DAY, "Look at the importer of the harbour.");
    world.answer(("s-3", WEB), 30 * DAY - HOUR, fact);
    let found = world.ask("search", json!({ "query": asked }));
    assert!(found["merely_similar"].is_null(), "{found}");
    let all = texts(&found["results"]);
    let place = |text: &str| all.iter().position(|one| one.starts_with(text)).unwrap();
    assert!(place("The harbour importer") < place("Which queue"), "{found}");
}
