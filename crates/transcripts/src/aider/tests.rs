//! An invented history of aider, and the events that it becomes.

use model::json::Json;

use super::Aider;
use crate::{ReadEvent, SessionPlace, TranscriptReader};

const HISTORY: &str = "\
words of a run whose beginning is gone

# aider chat started at 2026-10-05 09:00:00

> aider v0.90
#### /add cart.py
> Added cart.py to the chat
#### why does the zebra
#### lose its price?

The rows lack a column.

cart.py
````python
#### this is code
> so is this
```
````

> Applied edit to cart.py
> Commit 1a2b3c4 fix: zebra price
> Running pytest tests

# aider chat started at 2026-10-06 09:00:00

#### /ask where is the gnu?
In the cellar.
";

#[test]
fn runs_become_sessions_with_prompts_answers_edits_commits_and_commands() {
    // Local clocks are two hours ahead.
    let mut reader = Aider::new(|local| local - 7_200);
    let place = SessionPlace {
        cwd: Some("/shop".to_owned()),
        session: Some("ab".to_owned()),
        parent: None,
    };
    reader.place(Some(&place));
    let mut found = Vec::new();
    let mut sink = |event: ReadEvent<'_>| {
        let text = |name: &str| event.payload.get(name).and_then(Json::as_str).unwrap_or_default();
        let input =
            event.payload.get("tool_input").map(|input| serde_json::to_string(input).unwrap());
        let words =
            [text("prompt"), text("last_assistant_message"), &input.unwrap_or_default()].concat();
        let session = text("session_id").strip_prefix("aider-ab-2026-10-").unwrap().to_owned();
        found.push((session, event.at, format!("{} {words}", event.name)));
    };
    for line in HISTORY.lines() {
        reader.line(line.as_bytes(), &mut sink).unwrap();
    }
    reader.finish(true, &mut sink);
    let code = "cart.py\n````python\n#### this is code\n> so is this\n```\n````";
    let first = model::time::parse_rfc3339("2026-10-05T07:00:00Z");
    let second = model::time::parse_rfc3339("2026-10-06T07:00:00Z");
    let event = |run: &str, at, words: &str| (format!("{run}-09-00-00"), at, words.to_owned());
    assert_eq!(
        found,
        [
            event("05", first, "prompt why does the zebra\nlose its price?"),
            event("05", None, r#"tool {"file_path":"cart.py"}"#),
            event("05", None, r#"tool {"command":"git commit -m 'fix: zebra price'"}"#),
            event("05", None, r#"tool {"command":"pytest tests"}"#),
            event("05", None, &format!("answer The rows lack a column.\n\n{code}")),
            event("06", second, "prompt where is the gnu?"),
            event("06", None, "answer In the cellar."),
        ]
    );
}

#[test]
fn a_file_that_grew_is_read_from_its_last_run() {
    let reader = Aider::new(|local| local);
    assert!(reader.can_start_here(b"# aider chat started at 2026-10-06 09:00:00"));
    assert!(!reader.can_start_here(b"#### why?"));
}
