//! Scrub: secrets that came in before their rule did.

use contract::{Access, Cx, Op, OpError, OpInfo, Operation};
use model::project::ProjectFacts;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use store::sessions::{self, Sighting};
use store::{observations, projects};
use text::secrets::{Profile, redact};

use super::super::reading::{DAY, HOUR, WEB, World};
use super::{RANDOM, files_hold, leaky};

/// A store with the same secret in every place that a capture fills.
fn leaked() -> World {
    let world = leaky();
    let leak = |params: Value| world.ask("leak", params);
    let at = world.now - HOUR;
    let prompt = format!("please use the new word {RANDOM} from now on");
    leak(json!({ "cwd": WEB, "at": at, "content": prompt, "prompt": true }));
    leak(json!({
        "cwd": WEB, "at": at + 1, "content": format!("deploy with {RANDOM} twice {RANDOM}"),
        "path": format!("/w/deploy {RANDOM}"),
        "metadata": { "error": format!("denied: {RANDOM}"), "lines": 3 },
    }));
    leak(json!({ "cwd": WEB, "at": at + 2, "content": "walrus", "path": "/w/plain.rs" }));
    world.stop(("s-leak", WEB), HOUR - 3);
    world
}

/// @scrub_takes_secrets_out
#[test]
fn a_scrub_takes_secrets_out_of_every_place_and_every_file() {
    let world = leaked();
    assert!(files_hold(&world, RANDOM));
    let planned = world.ask("scrub", json!({ "dry_run": true }));
    assert_eq!(planned["scrubbed"], false);
    assert!(files_hold(&world, RANDOM), "a dry run changes nothing");
    let done = world.ask("scrub", json!({}));
    assert_eq!(done["scrubbed"], true);
    for answer in [&planned, &done] {
        assert_eq!(
            answer["by_place"],
            json!({ "content": 1, "file_path": 1, "metadata": 1, "prompt": 1, "summary": 1 })
        );
        let by_rule = answer["by_rule"].as_object().unwrap();
        assert_eq!(by_rule.keys().collect::<Vec<_>>(), ["entropy"]);
        assert_eq!(answer["found"], by_rule["entropy"]);
        assert!(!answer.to_string().contains(RANDOM));
    }
    assert!(!files_hold(&world, RANDOM));
    assert_eq!(world.found(json!({ "query": RANDOM })), [""; 0]);
    let found = world.found(json!({ "query": "twice" }));
    assert_eq!(found, ["deploy with [redacted:entropy] twice [redacted:entropy]"]);
    let history = world.ask("file_history", json!({ "file_path": "deploy [redacted:entropy]" }));
    assert_eq!(history["sessions"].as_array().unwrap().len(), 1, "{history}");
    assert_eq!(world.found(json!({ "query": "walrus" })), ["walrus"]);
}

/// @capture_secrets
#[test]
fn every_kind_of_scrubbed_record_lists_the_rules_that_matched() {
    let world = leaked();
    world.ask("scrub", json!({}));
    let all: Vec<i64> = (1..=10).collect();
    let records = world.ask("get_observations", json!({ "ids": all }))["results"].take();
    let mut kinds: Vec<&str> = Vec::new();
    for record in records.as_array().unwrap() {
        let (mut rest, kind) = (record.clone(), record["obs_type"].as_str().unwrap());
        let rules = rest["metadata"]["redacted"].take();
        match rest.to_string().contains("[redacted:entropy]") {
            true => assert_eq!(rules, json!(["entropy"]), "{record}"),
            false => assert_eq!(rules, json!(null), "{record}"),
        }
        kinds.extend(Some(kind).filter(|_| !rules.is_null()));
    }
    for kind in ["user_prompt", "file_edit", "session_summary"] {
        assert!(kinds.contains(&kind), "{kind}: {records}");
    }
}

/// @scrub_twice
#[test]
fn scrubbing_twice_finds_nothing_the_second_time() {
    let world = leaked();
    world.ask("scrub", json!({}));
    for params in [json!({}), json!({ "dry_run": true })] {
        let again = world.ask("scrub", params.clone());
        assert_eq!((&again["found"], &again["by_place"]), (&json!(0), &json!({})), "{params}");
        assert_eq!(world.shown("scrub", params), "no secrets found");
    }
}

#[test]
fn two_paths_that_differ_in_their_secret_become_one() {
    let world = leaky();
    for (after, secret) in [(0, RANDOM.to_owned()), (1, RANDOM.chars().rev().collect())] {
        let path = format!("/w/deploy {secret}");
        let at = world.now - HOUR + after;
        world.ask("leak", json!({ "cwd": WEB, "at": at, "content": "edit", "path": path }));
    }
    let done = world.ask("scrub", json!({}));
    assert_eq!(done["by_place"], json!({ "file_path": 2 }));
    let history = world.ask("file_history", json!({ "file_path": "/w/deploy [redacted:entropy]" }));
    let touches = history["sessions"][0]["touches"].as_array();
    assert_eq!(touches.map(Vec::len), Some(2), "{history}");
}

#[test]
fn text_that_only_looks_redacted_is_not_counted_and_marks_have_their_own_rules() {
    let world = leaky();
    let at = world.now - DAY;
    let forged = "see [redacted:my-own-rule] and [redacted:";
    world.ask("leak", json!({ "cwd": WEB, "at": at, "content": forged }));
    let mark = format!("the good build is {RANDOM}");
    world.ask("mark", json!({ "text": mark, "project": "web" }));
    let leak = format!("{forged} {RANDOM}");
    world.ask("leak", json!({ "cwd": WEB, "at": at + 1, "content": leak }));
    let done = world.ask("scrub", json!({}));
    assert_eq!(done["by_rule"], json!({ "entropy": 1 }));
    assert_eq!(world.found(json!({ "query": "good" })), [mark]);
}

#[test]
fn a_scrub_checks_every_batch_of_records() {
    let world = leaky();
    let many = model::limits::SCRUB_BATCH + 20;
    for number in 0..many {
        let secret = if number + 1 == many { RANDOM } else { "plain" };
        let at = world.now - DAY + i64::try_from(number).unwrap();
        let content = format!("deed {number} {secret}");
        world.ask("leak", json!({ "cwd": WEB, "at": at, "content": content }));
    }
    let done = world.ask("scrub", json!({}));
    assert_eq!(done["by_place"], json!({ "content": 1 }));
    assert!(!files_hold(&world, RANDOM));
}

/// Creates a project that a guard with fewer rules let through: with an agent's session, and with the
/// session for marks of callers without one.
struct LeakPlace;

#[derive(Deserialize, JsonSchema)]
struct Leaked {
    root: String,
    remote: Option<String>,
    name: String,
}

impl Op for LeakPlace {
    const INFO: OpInfo = OpInfo {
        name: "leak_place",
        access: Access::Write { destructive: false, idempotent: false },
        ..OpInfo::BASE
    };
    type Params = Leaked;
    type Output = Value;

    fn run(&self, cx: &Cx<'_>, leaked: Leaked) -> Result<Value, OpError> {
        let at = cx.now;
        cx.store.write(move |tx| {
            let (root, name) = (Some(leaked.root.clone()), leaked.name.clone());
            let remote_key = leaked.remote.clone();
            let facts = ProjectFacts { remote_key, root, name, ..ProjectFacts::default() };
            let project = projects::resolve(tx, &facts, at)?;
            let of_marks = format!("marks:{}", project.key);
            let own = format!("s-{}", project.id);
            for (name, agent) in [(&own, "claude-code"), (&of_marks, sessions::OF_MARKS)] {
                let seen = sessions::touch(
                    tx,
                    &Sighting {
                        name,
                        agent,
                        project: project.id,
                        root: project.root.as_deref(),
                        at,
                        starts: false,
                        works: true,
                    },
                )?;
                let content = redact("a numbat was here", Profile::Strict);
                observations::mark(tx, (seen.id, seen.project), None, &content, at)?;
            }
            Ok(json!({ "key": project.key }))
        })
    }
}

/// @scrub_takes_secrets_out
#[test]
fn a_scrub_takes_secrets_out_of_the_names_and_places_of_projects_and_sessions() {
    let world = World::with(|| vec![Operation::new(LeakPlace)]);
    let backwards: String = RANDOM.chars().rev().collect();
    for (secret, remote) in [(RANDOM, Some(format!("host/{RANDOM}"))), (&backwards, None)] {
        let root = format!("/w/deploy {secret}");
        let name = format!("deploy {secret}");
        world.ask("leak_place", json!({ "root": root, "remote": remote, "name": name }));
    }
    // A name that a user chose is checked by the rules for text that people write.
    let chosen = json!({ "root": "/w/chosen", "name": format!("the {RANDOM}") });
    world.ask("leak_place", chosen);
    let planned = world.ask("scrub", json!({ "dry_run": true }));
    assert!(files_hold(&world, &backwards), "a dry run changes nothing");
    let done = world.ask("scrub", json!({}));
    for answer in [&planned, &done] {
        // The first: key, name, root and two aliases; the second: key, name, root and one.
        assert_eq!(answer["by_place"], json!({ "project": 9, "session_root": 4 }), "{answer}");
        assert_eq!(answer["by_rule"], json!({ "entropy": 13 }));
    }
    assert!(!files_hold(&world, &backwards));
    assert_eq!(world.ask("scrub", json!({}))["found"], 0);
    let listed = world.ask("list_projects", json!({}));
    let listed = listed["projects"].as_array().unwrap();
    let mut names: Vec<&str> = listed.iter().map(|one| one["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    let chosen = format!("the {RANDOM}");
    assert_eq!(names, ["deploy redacted-entropy", "deploy redacted-entropy", chosen.as_str()]);
    // Every record is still where it was.
    assert_eq!(world.found(json!({ "query": "numbat", "diverse": false })).len(), 6);
    for project in listed {
        let path = &project["path"];
        let found = world.found(json!({ "query": "numbat", "project": path, "diverse": false }));
        assert_eq!(found.len(), 2, "{project}");
    }
}
