//! Queries that are a command or a path, ask for a command, or quote an error.

use model::observation::ObsType;
use serde_json::{Value, json};

use super::{DAY, HOUR, WEB, World};

/// @search_typed_command
#[test]
fn a_command_line_that_contains_the_query_is_on_the_page_however_much_it_printed() {
    let world = World::new();
    let output: Vec<String> =
        (0..40).map(|n| format!("warning: unused variable `left_{n}` in module_{n}.rs")).collect();
    let error = format!("{}\nerror: linking with `cc` failed", output.join("\n"));
    let failed = json!({ "failed": true, "error": error, "exit_code": 101 });
    let line = "cd api && cargo build --release";
    let s = ("s-1", WEB);
    world.prompt(s, 9 * DAY, "Make a release of the api");
    world.used(s, 9 * DAY - HOUR, (ObsType::CommandError, None), line, failed);
    world.command(s, 9 * DAY - HOUR, "cargo build");
    for n in 0..30 {
        let at = (format!("t-{n}"), 8 * DAY - n * HOUR);
        let at = ((at.0.as_str(), WEB), at.1);
        world.prompt(at.0, at.1, &format!("Why is the cargo cache of build {n} so large?"));
        let said = format!("The build of cargo number {n} is large because build {n} is.");
        world.answer(at.0, at.1 - HOUR / 2, &said);
    }
    let found = world.found(json!({ "query": "cargo build" }));
    assert!(found[..3].contains(&"cargo build".to_owned()), "{found:?}");
    assert!(found[..5].iter().any(|text| text.starts_with(line)), "{found:?}");
    assert!(found.iter().any(|text| text.starts_with("The build of cargo")), "{found:?}");
    // A question is not a command line.
    let found = world.found(json!({ "query": "why is the cargo build cache large" }));
    assert!(found[0].starts_with("The build of cargo"), "{found:?}");
}

/// @search_answers_first
#[test]
fn a_command_that_is_asked_for_comes_first() {
    let world = World::new();
    let s = ("s-1", WEB);
    world.prompt(s, 9 * DAY, "Deploy a preview of the shop for the customer");
    let line = "make preview-deploy STAGE=customer";
    world.command(s, 9 * DAY - HOUR, line);
    world.edit(s, 9 * DAY - HOUR, "/nowhere/web/preview.md", "Edit preview.md: deploy the preview");
    let said = "The preview is live, and the customer has got a mail with its address.";
    world.answer(s, 9 * DAY - 2 * HOUR, said);
    let found = world.found(json!({ "query": "how do I deploy a preview of the shop" }));
    assert_eq!(found[0], line, "{found:?}");
    let found = world.found(json!({ "query": "preview of the shop for the customer" }));
    assert_ne!(found[0], line, "it was not asked for: {found:?}");
}

/// @search_answers_first
#[test]
fn the_fix_comes_before_the_error_that_the_query_quotes() {
    let world = World::new();
    let s = ("s-1", WEB);
    let error = "ValueError: Table schema does not match the export";
    world.prompt(s, 9 * DAY, "Run the export of the table");
    let failed = json!({ "failed": true, "error": format!("Traceback\n{error}") });
    let line = "python export.py";
    world.used(s, 9 * DAY - HOUR, (ObsType::CommandError, None), line, failed);
    let edit = "Edit export.py: schema = table.schema_of(export)";
    world.edit(s, 9 * DAY - HOUR, "/nowhere/web/export.py", edit);
    world.commit(s, 9 * DAY - 2 * HOUR, "1a2b3c4", "export: use the schema of the table");
    let found = world.ask("search", json!({ "query": error }));
    let hits = found["results"].as_array().unwrap();
    let place = |kind: &str| hits.iter().position(|hit| hit["obs_type"] == kind).expect("a hit");
    assert!(place("git_commit") < place("command_error"), "{found}");
    assert!(place("file_edit") < place("command_error"), "{found}");
}

/// @search_exact
#[test]
fn records_about_a_path_are_listed_newest_first() {
    let world = World::new();
    let path = "/nowhere/web/src/session.rs";
    world.edit(("s-1", WEB), 9 * DAY, path, "Edit src/session.rs: one");
    world.prompt(("s-2", WEB), 5 * DAY, "Look at src/session.rs and at the tests of the login");
    let text = "Edit src/session.rs: pub grace: u64, the seconds for which a token of a login \
                that has expired is still accepted by the server";
    world.edit(("s-3", WEB), DAY, path, text);
    let found = world.ask("search", json!({ "query": "src/session.rs" }));
    let sessions: Vec<&Value> =
        found["results"].as_array().unwrap().iter().map(|hit| &hit["session_id"]).collect();
    assert_eq!(sessions, ["s-3", "s-2", "s-1"], "{found}");
}
