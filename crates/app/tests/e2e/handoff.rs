//! A session is handed over to another agent: one text out of its records.

use serde_json::{Value, json};
use testkit::Home;

use super::home;

const SESSION: &str = "c0ffee00-0000-4000-8000-000000000001";

/// Sends events of one session, each a second after the one before.
struct PlayedAgent<'h> {
    home: &'h Home,
    root: String,
    session: &'static str,
    calls: std::cell::Cell<usize>,
}

impl PlayedAgent<'_> {
    fn event(&self, name: &str, more: &Value) {
        let mut payload = json!({
            "session_id": self.session, "cwd": self.root, "hook_event_name": name,
        });
        if let (Some(all), Some(more)) = (payload.as_object_mut(), more.as_object()) {
            all.extend(more.clone());
        }
        self.home.run_with(&["hook", name], payload.to_string().as_bytes()).ok();
    }

    fn asks(&self, prompt: &str) {
        self.event("UserPromptSubmit", &json!({ "prompt": prompt }));
    }

    fn answers(&self, text: &str) {
        self.event("Stop", &json!({ "last_assistant_message": text }));
    }

    fn call_id(&self) -> String {
        self.calls.set(self.calls.get() + 1);
        format!("toolu_{}_{}", self.session, self.calls.get())
    }

    fn reads(&self, name: &str) {
        let path = format!("{}/{name}", self.root);
        let input = json!({ "tool_name": "Read", "tool_use_id": self.call_id(),
            "tool_input": { "file_path": path }, "tool_response": {} });
        self.event("PostToolUse", &input);
    }

    fn edits(&self, name: &str, new: &str) {
        let path = format!("{}/{name}", self.root);
        let input = json!({ "tool_name": "Edit", "tool_use_id": self.call_id(),
            "tool_input": { "file_path": path, "old_string": "x", "new_string": new },
            "tool_response": { "filePath": path } });
        self.event("PostToolUse", &input);
    }

    fn runs(&self, command: &str, output: &str) {
        let input = json!({ "tool_name": "Bash", "tool_use_id": self.call_id(),
            "tool_input": { "command": command },
            "tool_response": { "stdout": output, "stderr": "" } });
        self.event("PostToolUse", &input);
    }

    fn fails(&self, command: &str, error: &str) {
        let input = json!({ "tool_name": "Bash", "tool_use_id": self.call_id(),
            "tool_input": { "command": command }, "error": error });
        self.event("PostToolUseFailure", &input);
    }
}

fn agent<'h>(home: &'h Home, session: &'static str) -> PlayedAgent<'h> {
    let root = home.write("shop/Cargo.toml", "[package]").parent().unwrap().to_owned();
    PlayedAgent {
        home,
        root: root.to_str().unwrap().to_owned(),
        session,
        calls: Default::default(),
    }
}

/// A session of more than a hundred events about the rounding of a cart.
fn long_session(home: &Home) -> PlayedAgent<'_> {
    let other = agent(home, "other-session");
    other.asks("Translate the newsletter into Portuguese for the zebra campaign");
    other.answers("The newsletter is translated.");
    let agent = agent(home, SESSION);
    agent.asks(
        "Fix the rounding of the cart total: the sum of the lines differs from the total by a cent",
    );
    for file in ["src/cart.rs", "src/tax.rs", "src/money.rs", "src/order.rs", "src/main.rs"] {
        for _ in 0..4 {
            agent.reads(file);
        }
        agent.runs(&format!("grep -n round {file}"), "12: round()");
    }
    agent.fails(
        "cargo test cart",
        "running 12 tests\ntest cart::rounds_lines ... FAILED\nassertion failed: 10.01 == 10.00\nerror: test failed",
    );
    for step in 0..12 {
        agent.edits("src/cart.rs", &format!("let cents_{step} = line.cents();"));
        agent.edits("src/money.rs", &format!("pub fn cents_{step}(&self) -> i64"));
    }
    agent.runs("cargo test cart", "test result: ok. 12 passed; 0 failed");
    agent.runs(
        "git add -A && git commit -m 'cart: sum in cents'",
        "[main 1a2b3c4] cart: sum in cents\n 2 files changed",
    );
    agent.answers("The total is now summed in cents. We decided to store money as i64 cents, because floats lose a cent in sums over 100 lines.");
    agent.asks("Now show the tax per line on the invoice page");
    for file in ["templates/invoice.html", "src/invoice.rs", "static/invoice.css"] {
        for _ in 0..4 {
            agent.reads(file);
        }
    }
    agent.fails("make test", "t: a.c:5: main: Assertion `x' failed.\nmake: *** [test] Aborted");
    agent.runs("make test 2>&1 | tail -15", "./build/t\n3 tests ok");
    agent.fails(
        "docker compose up -d db",
        "Bind for 0.0.0.0:5432 failed: port is already allocated",
    );
    for step in 0..10 {
        agent.edits("src/invoice.rs", &format!("row.tax_{step} = tax(line);"));
        agent.edits("templates/invoice.html", &format!("<td>{{{{ tax_{step} }}}}</td>"));
        agent.runs("ls templates", "invoice.html");
        agent.runs("git status", "modified: src/invoice.rs");
    }
    agent.fails("cargo test invoice", "running 3 tests\ntest invoice::shows_tax ... FAILED\nassertion failed: missing column tax\nerror: test failed");
    agent.answers("The tax column is in the template, but invoice::shows_tax is still red. Should reduced rates be shown in their own column?");
    agent
}

/// @handoff
#[test]
fn a_long_session_is_handed_over_with_results_failures_open_ends_and_decisions() {
    let home = home();
    let _daemon = home.daemon();
    let agent = long_session(&home);
    home.run(&[
        "context",
        "set",
        "endpoints",
        "http://127.0.0.1:8080/invoice",
        "--session",
        SESSION,
    ])
    .ok();
    home.run(&["context", "env", "source .env", "--session", SESSION]).ok();
    let text = home.run(&["handoff", "--to", "codex", "--session", "c0ffee00"]).ok();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "[HANDOFF from claude-code to codex]", "{text}");
    assert!(text.contains(&format!("Directory: {}\nEnvironment hint: source .env\n", agent.root)));
    let headings: Vec<&&str> = lines.iter().filter(|line| line.starts_with("## ")).collect();
    let expected = [
        "## Intent",
        "## Done",
        "## Failed",
        "## Open ends",
        "## Files and context",
        "## Decisions",
    ];
    assert_eq!(headings, expected.iter().collect::<Vec<_>>(), "{text}");
    let section = |name: &str| -> String {
        let from = lines.iter().skip_while(|line| **line != format!("## {name}")).skip(1);
        from.take_while(|line| !line.starts_with("## ")).map(|line| format!("{line}\n")).collect()
    };
    for (name, words) in [
        ("Intent", &["Fix the rounding of the cart total", "tax per line"][..]),
        ("Done", &["summed in cents", "1a2b3c4 cart: sum in cents", "src/invoice.rs"]),
        (
            "Failed",
            &[
                "docker compose up -d db",
                "port is already allocated; not fixed",
                "`cargo test cart` failed: test cart::rounds_lines",
            ],
        ),
        ("Open ends", &["red: `cargo test invoice`", "Should reduced rates", "not committed: "]),
        (
            "Files and context",
            &["src/cart.rs", "templates/invoice.html", "http://127.0.0.1:8080/invoice"],
        ),
        ("Decisions", &["store money as i64 cents"]),
    ] {
        let section = section(name);
        assert!(words.iter().all(|word| section.contains(word)), "{name}: {section}\n{text}");
    }
    // Looks and another session are not in it.
    for noise in ["grep -n", "git status", "ls templates", "zebra", "newsletter", "make test"] {
        assert!(!text.contains(noise), "{noise}: {text}");
    }
}

/// @handoff
#[test]
fn a_turn_without_a_commit_is_handed_over_with_its_answer_and_the_run_that_passed() {
    let home = home();
    let _daemon = home.daemon();
    let agent = agent(&home, SESSION);
    agent.asks("Fix the rounding of the cart total in src/cart.py");
    agent.edits("src/cart.py", "total = quantize(total)");
    agent.runs("pytest tests/cart", "4 passed in 0.2s");
    agent.answers(
        "The total now rounds half up with Decimal. The old code added floats line by line, which lost a cent at \
         every third line. The invoice still adds floats in src/invoice.py, which nobody asked about.",
    );
    let text = home.run(&["handoff"]).ok();
    for words in [
        "lost a cent at",
        "src/invoice.py, which",
        "edited src/cart.py",
        "`pytest tests/cart` passed",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    // A commit says it in its own words, so the answer is shortened again.
    agent.runs("git commit -qam 'cart: round half up'", "[main 1a2b3c4] cart: round half up");
    let text = home.run(&["handoff"]).ok();
    assert!(text.contains("1a2b3c4 cart: round half up"), "{text}");
    assert!(!text.contains("nobody asked about"), "{text}");
}

/// @capture_our_text
#[test]
fn a_handoff_in_a_prompt_is_not_stored_with_the_prompt() {
    let home = home();
    let _daemon = home.daemon();
    let agent = agent(&home, SESSION);
    agent.asks("Fix the rounding of the cart total");
    let text = home.run(&["handoff", "--session", SESSION]).ok();
    agent.asks(&format!("{} Go on with the open ends.", text.trim_end()));
    let newest = home.run(&["recent", "--json", "--limit", "1"]).json();
    assert_eq!(newest["results"][0]["content"], "Go on with the open ends.", "{newest}");
}

/// @handoff
#[test]
fn every_failure_and_decision_is_handed_over_if_there_is_room_and_counted_if_not() {
    let home = home();
    let _daemon = home.daemon();
    let agent = agent(&home, SESSION);
    let tasks = [
        ("cart", "rounding", "We decided to store money as integers, because floats lose cents."),
        ("invoice", "tax column", "We decided to print invoices with WeasyPrint, not LaTeX."),
        ("mail", "greeting line", "From now on every letter greets customers by first name."),
        ("stock", "warehouse count", "We decided to lock shelves by row and not by table."),
        ("search", "product filter", "Use Tantivy instead of Elastic for the catalogue."),
        ("login", "session cookie", "Never keep passwords in the browser storage."),
    ];
    for (name, subject, decision) in tasks {
        agent.asks(&format!("Repair the {subject} of the {name} module"));
        let command = format!("cargo test {name}");
        agent.fails(&command, &format!("test {name}::works ... FAILED\nerror: test failed"));
        agent.edits(&format!("src/{name}.rs"), &format!("let {name} = 1;"));
        agent.runs(&command, "test result: ok. 3 passed; 0 failed");
        agent.answers(decision);
    }
    let text = home.run(&["handoff", "--tokens", "2400"]).ok();
    for (name, _, decision) in tasks {
        assert!(text.contains(&format!("`cargo test {name}` failed")), "{name}: {text}");
        assert!(text.contains(decision.trim_end_matches('.')), "{decision}: {text}");
    }
    assert!(!text.contains("left out"), "{text}");
    let text = home.run(&["handoff", "--tokens", "450"]).ok();
    let failed = text.split("## Failed\n").nth(1).expect("the section");
    let failed: Vec<&str> = failed.lines().take_while(|line| line.starts_with("- ")).collect();
    let shown = failed.iter().filter(|line| line.contains("` failed")).count();
    let counted = format!("- ({} failures left out", tasks.len() - shown);
    assert!(failed.last().is_some_and(|line| line.starts_with(&counted)), "{text}");
    // A long hint is shortened, so that the shortest text still says what it is about.
    let hint = "source .env; ".repeat(75);
    home.run(&["context", "env", hint.trim(), "--session", SESSION]).ok();
    let text = home.run(&["handoff", "--tokens", "200"]).ok();
    for kept in ["[HANDOFF from ", "Directory: ", "Environment hint: source .env;", "## Intent"] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
    assert!(text.chars().count() <= 800, "{text}");
}

/// @handoff
#[test]
fn a_handoff_fits_into_its_tokens_and_keeps_every_section() {
    let home = home();
    let _daemon = home.daemon();
    long_session(&home);
    let mut counts = Vec::new();
    for tokens in [250, 500, 1_500] {
        let params = json!({ "session_id": SESSION, "tokens": tokens });
        let told = home.call("handoff", &params);
        assert!(told["tokens"].as_u64() <= Some(tokens), "{told}");
        let text = told["text"].as_str().unwrap_or_default();
        let done = text.split("## Done\n").nth(1).expect("the section");
        let done: Vec<&str> = done.lines().take_while(|line| line.starts_with("- ")).collect();
        let left_out = done.last().and_then(|line| line.strip_prefix("- (")).map(|line| {
            let (count, rest) = line.split_once(' ').expect("a number");
            assert!(rest.starts_with("earlier task"), "{text}");
            count.parse::<usize>().expect("a number")
        });
        let shown = done.len() - usize::from(left_out.is_some());
        counts.push((shown, left_out.unwrap_or_default()));
        for kept in ["## Intent", "red: `cargo test invoice`", "store money as i64 cents"] {
            assert!(text.contains(kept), "{kept}: {text}");
        }
    }
    // Tasks that are not shown are counted.
    let all = |(shown, left_out): &(usize, usize)| shown + left_out;
    assert!(counts[0].1 > counts[2].1, "{counts:?}");
    assert!(counts.iter().all(|count| all(count) == all(&counts[0])), "{counts:?}");
    for wrong in [
        json!({ "session_id": SESSION, "tokens": 10 }),
        json!({ "session_id": SESSION, "to": "hal" }),
        json!({ "session_id": "unknown-session" }),
    ] {
        let run = home.run(&["call", "handoff", &wrong.to_string()]);
        assert_eq!(run.code, 1, "{wrong}");
    }
}
