//! `import --undo` beside other imports and hooks: it removes the records of its import only, and the next import reads
//! the files again.

use serde_json::json;

use super::import::{Desk, desk, some_days_ago};
use super::sqlite;

impl Desk {
    fn undo(&self, batch: &str) {
        self.home.run(&["import", "--undo", batch, "--yes"]).ok();
    }

    /// The tables of records, without how far files were read: undo forgets that of all files since.
    fn records_and_repeats(&self) -> Vec<String> {
        let cursors = sqlite::rows(&self.home, "import_cursors");
        let dump = sqlite::dump(&self.home).into_iter().filter(|row| !cursors.contains(row));
        dump.chain(sqlite::rows(&self.home, "repeats")).collect()
    }

    fn read(&self, id: &str) -> String {
        let file = format!("{}/zebra.py", self.shop);
        let call = self.call(id, "Read", json!({ "file_path": file }));
        call + &self.result(id, json!({ "type": "text", "file": { "filePath": file } }))
    }
}

/// A text with the times of lines replaced by one of a minute ago.
fn lately(text: &str) -> String {
    let then = model::time::rfc3339(client::clock::now_ms() - 60_000);
    text.replace(&model::time::rfc3339(some_days_ago()), &then)
}

/// @import_undo
#[test]
fn records_of_an_undone_import_come_back_although_a_later_import_read_their_file() {
    let desk = desk();
    desk.write("s-import.jsonl", &desk.session());
    let first = desk.import(&[])["batch"].to_string();
    let more = desk.prompt("p-2", "and the okapi totals?").replace(r#""a-last""#, r#""a-2""#);
    let nothing = desk.line("mode", "m", &json!({ "mode": "normal" }));
    for (added, text) in [(0, nothing), (1, more)] {
        let file = desk.home.path(".claude/projects/-shop/s-import.jsonl");
        let grown = std::fs::read_to_string(&file).unwrap() + &text;
        std::fs::write(&file, grown).unwrap();
        assert_eq!(desk.added(&[]), added);
    }
    desk.undo(&first);
    assert!(desk.finds("tariff").is_empty());
    assert_eq!(desk.added(&[]), 4);
    assert!(!desk.finds("tariff").is_empty());
}

/// @import_undo
#[test]
fn undo_leaves_a_session_that_hooks_captured_in_part_as_it_was() {
    let desk = desk();
    let file = format!("{}/zebra.py", desk.shop);
    for prompt in ["p-1", "p-2"] {
        desk.hook("UserPromptSubmit", &json!({ "prompt_id": prompt, "prompt": "why the zebra?" }));
        for call in ["a", "b"] {
            desk.hook(
                "PostToolUse",
                &json!({ "prompt_id": prompt, "tool_name": "Read", "tool_use_id": format!("{prompt}-{call}"),
                         "tool_input": { "file_path": file },
                         "tool_response": { "type": "text", "file": { "filePath": file } } }),
            );
        }
        desk.hook("Stop", &json!({ "prompt_id": prompt, "last_assistant_message": "It is big." }));
    }
    assert!(!desk.finds("zebra").is_empty());
    let before = desk.records_and_repeats();
    let turn = |prompt: &str| {
        let reads = ["a", "b", "c", "d"].map(|call| desk.read(&format!("{prompt}-{call}")));
        let made = format!("{prompt}-make");
        [
            desk.prompt(prompt, "why the zebra?"),
            reads.concat(),
            desk.call(&made, "Bash", json!({ "command": "make zebra" })),
            desk.result(&made, json!({ "stdout": "ok", "stderr": "" })),
        ]
        .concat()
    };
    let text = lately(&(turn("p-1") + &turn("p-2")));
    let file = desk.write("s-import.jsonl", &text);
    let first = desk.import(&[]);
    assert_eq!(first["counts"]["actions"], 2, "the reads are repeats of a hook's: {first}");
    let between = desk.records_and_repeats();
    let more = lately(&(turn("p-3") + &desk.says("It is done.")));
    std::fs::write(&file, text + &more).unwrap();
    let second = desk.import(&[]);
    assert!(second["added"].as_u64() > Some(1), "{second}");
    assert_ne!(desk.records_and_repeats(), between);
    desk.undo(&second["batch"].to_string());
    assert_eq!(desk.records_and_repeats(), between);
    desk.undo(&first["batch"].to_string());
    assert_eq!(desk.records_and_repeats(), before);
}

/// @import_undo
#[test]
fn undo_of_an_import_takes_back_the_repeats_that_it_counted_with_an_earlier_one() {
    let desk = desk();
    let text = lately(&(desk.prompt("p-1", "why the zebra?") + &desk.read("r-1")));
    let file = desk.write("s-import.jsonl", &text);
    desk.import(&[]);
    let before = desk.records_and_repeats();
    let now = model::time::rfc3339(client::clock::now_ms() - 1_000);
    let then = model::time::rfc3339(some_days_ago());
    std::fs::write(&file, text + &desk.read("r-2").replace(&then, &now)).unwrap();
    let second = desk.import(&[]);
    assert_eq!(second["counts"]["actions"], 1, "{second}");
    desk.undo(&second["batch"].to_string());
    assert_eq!(desk.records_and_repeats(), before);
}

/// @import_undo
#[test]
fn undo_leaves_the_records_that_a_hook_reported_after_the_import() {
    let desk = desk();
    let run = |id: &str| {
        let call = desk.call(id, "Bash", json!({ "command": format!("make {id}") }));
        call + &desk.result(id, json!({ "stdout": "ok", "stderr": "", "interrupted": false }))
    };
    let turn = desk.prompt("p-1", "why the quagga?") + &run("b-1") + &run("b-2");
    desk.write("s-import.jsonl", &lately(&(turn + &desk.says("It is striped."))));
    let batch = desk.import(&[])["batch"].to_string();
    desk.hook("UserPromptSubmit", &json!({ "prompt_id": "p-1", "prompt": "why the quagga?" }));
    desk.hook(
        "PostToolUse",
        &json!({ "prompt_id": "p-1", "tool_name": "Bash", "tool_use_id": "b-1",
                 "tool_input": { "command": "make b-1" },
                 "tool_response": { "stdout": "ok", "stderr": "", "interrupted": false } }),
    );
    desk.hook("Stop", &json!({ "prompt_id": "p-1", "last_assistant_message": "It is striped." }));
    // A search waits until the events are stored.
    assert!(!desk.finds("quagga").is_empty());
    desk.undo(&batch);
    assert!(!desk.finds("quagga").is_empty());
    let kept = [("make b-1".to_owned(), 1), ("It is striped.".to_owned(), 1)];
    assert_eq!(sqlite::observed(&desk.home), kept, "no hook reported the second command");
    let database = sqlite::open(&sqlite::path(&desk.home));
    let actions = database.query_row("SELECT actions FROM prompts", [], |row| row.get(0));
    assert_eq!(actions, Ok(1));
}

/// @import_undo
#[test]
fn undo_leaves_all_files_of_a_change_that_a_hook_reported_after_the_import() {
    let desk = desk();
    let patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: zebra.py\n@@\n-a\n+b\n\
                 *** Update File: okapi.py\n@@\n-a\n+b\n*** End Patch\nEOF";
    let (input, done) = (json!({ "command": patch }), json!({ "stdout": "Done", "stderr": "" }));
    let call = desk.call("c-1", "Bash", input.clone());
    let text = desk.prompt("p-1", "why the quagga?") + &call + &desk.result("c-1", done.clone());
    desk.write("s-import.jsonl", &lately(&text));
    let batch = desk.import(&[])["batch"].to_string();
    let imported = sqlite::observed(&desk.home);
    assert_eq!(imported.len(), 2, "{imported:?}");
    desk.hook(
        "PostToolUse",
        &json!({ "prompt_id": "p-1", "tool_name": "Bash", "tool_use_id": "c-1",
                 "tool_input": input, "tool_response": done }),
    );
    assert!(!desk.finds("quagga").is_empty());
    desk.undo(&batch);
    assert_eq!(sqlite::observed(&desk.home), imported);
}

/// @import_undo
#[test]
fn undo_of_a_session_and_a_copy_without_its_beginning_leaves_nothing() {
    let desk = desk();
    let turn = |turn: i64| {
        let at = model::time::rfc3339(some_days_ago() + turn * 1_000);
        let said = desk.says(&format!("It is done {turn} times."));
        let said = said.replace("a-last", &format!("a-{turn}"));
        let said = said.replace("msg-last", &format!("msg-{turn}"));
        let text = desk.prompt(&format!("p-{turn}"), &format!("why the zebra {turn}?")) + &said;
        text.replace(&model::time::rfc3339(some_days_ago()), &at)
    };
    let whole = [turn(1), turn(2), turn(3)].concat();
    // The copy begins with an answer, whose prompt is missing.
    let (_, copy) = whole.split_once('\n').unwrap();
    for texts in [[&*whole, copy], [copy, &*whole]] {
        let batches = texts.map(|text| {
            let file = desk.home.write("copy.jsonl", text);
            desk.import(&[&file.to_string_lossy()])["batch"].to_string()
        });
        for batch in batches.iter().filter(|batch| *batch != "null") {
            desk.home.run(&["import", "--undo", batch, "--yes"]);
        }
        for table in ["prompts", "observations", "sessions", "projects", "origins"] {
            assert_eq!(sqlite::rows(&desk.home, table), Vec::<String>::new(), "{table}");
        }
    }
}

/// @import_undo
#[test]
fn undo_of_a_later_import_restores_the_end_of_the_session() {
    let desk = desk();
    let file = desk.write("s-import.jsonl", &desk.session());
    desk.import(&[]);
    let before = sqlite::rows(&desk.home, "sessions");
    let later = model::time::rfc3339(some_days_ago() + 3_600_000);
    let more = desk.prompt("p-2", "and the okapi totals?");
    let more = more.replace(&model::time::rfc3339(some_days_ago()), &later);
    std::fs::write(&file, desk.session() + &more).unwrap();
    let second = desk.import(&[]);
    assert_eq!(second["added"], 1, "{second}");
    assert_ne!(sqlite::rows(&desk.home, "sessions"), before);
    desk.undo(&second["batch"].to_string());
    assert_eq!(sqlite::rows(&desk.home, "sessions"), before);
}
