//! The end of a first import: finds from the user's history, and a question that the search answers.

use serde_json::json;

use super::import::{Desk, desk};

/// Two sessions: a decision, a failed test with its fix, and the last work.
fn history(desk: &Desk) -> String {
    let file = format!("{}/cart.py", desk.shop);
    let test = json!({ "command": "pytest tests/test_cart.py" });
    [
        desk.prompt("p-1", "We decided to store all tariff prices in cents, not floats."),
        desk.call("toolu_1", "Bash", test.clone()),
        desk.failure("toolu_1", "Exit code 1\nE   KeyError: 'price'\n1 failed in 0.1s"),
        desk.call(
            "toolu_2",
            "Edit",
            json!({ "file_path": file, "old_string": "a", "new_string": "b" }),
        ),
        desk.result("toolu_2", json!({ "filePath": file })),
        desk.call("toolu_3", "Bash", test),
        desk.result(
            "toolu_3",
            json!({ "stdout": "1 passed in 0.1s", "stderr": "", "interrupted": false }),
        ),
        desk.says("The tariff has cents now."),
    ]
    .concat()
}

/// @import_finds
#[test]
fn a_first_import_ends_with_finds_and_a_question_that_the_search_answers() {
    let desk = desk();
    desk.write("s-import.jsonl", &history(&desk));
    let printed = desk.home.run(&["import", "claude-code"]);
    let text = &printed.stdout;
    for find in [
        "You decided: \"We decided to store all tariff prices in cents, not floats.\" (shop, ",
        "`pytest tests/test_cart.py` failed: KeyError: 'price'. It passed after a change of cart.py (",
        "Last you worked on that; the outcome: \"The tariff has cents now.\" (shop, ",
    ] {
        assert!(text.contains(find), "{find} is not in {printed:?}");
    }
    let command = text.lines().find_map(|line| line.strip_prefix("Try: rekindle search \""));
    let (question, project) = command.unwrap().split_once("\" --project ").unwrap();
    let hits = desk.home.run(&["search", question, "--project", project, "--json"]).json();
    let first = hits["results"][0]["content_preview"].as_str().unwrap();
    assert!(first.contains("tariff prices in cents"), "{question}: {hits}");
    // The second import is no first one.
    desk.write("s-other.jsonl", &history(&desk).replace("toolu_", "toolu_9").replace("p-1", "p-9"));
    let again = desk.import(&["claude-code"]);
    assert!(again["added"].as_u64() > Some(0) && again.get("first_import").is_none(), "{again}");
}

/// @import_finds
#[test]
fn a_history_without_anything_to_find_is_imported_without_finds() {
    let desk = desk();
    let only = desk.call("toolu_1", "Bash", json!({ "command": "ls" }))
        + &desk.result("toolu_1", json!({ "stdout": "a" }));
    desk.write("s-import.jsonl", &only);
    let imported = desk.import(&["claude-code"]);
    assert_eq!(imported["first_import"], json!({ "finds": [], "question": null }));
    let dry = desk.home.run(&["import", "claude-code", "--dry-run", "--json"]).json();
    assert!(dry.get("first_import").is_none(), "{dry}");
}
