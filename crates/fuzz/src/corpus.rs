//! Golden payloads of the repository, which cases start from.

use std::path::PathBuf;
use std::sync::LazyLock;

use serde_json::Value;

/// An event as an agent really sent it.
pub(crate) struct GoldenEvent {
    pub(crate) event: String,
    pub(crate) payload: Value,
}

/// Captured events of all agents.
pub(crate) static EVENTS: LazyLock<Vec<GoldenEvent>> = LazyLock::new(|| {
    let files = ["hooks", "cursor", "opencode"];
    let lines =
        files.iter().flat_map(|name| lines(&format!("crates/agents/testdata/{name}.jsonl")));
    lines
        .filter_map(|mut line| {
            let event = line["event"].as_str()?.to_owned();
            Some(GoldenEvent { event, payload: line["stdin"].take() })
        })
        .collect()
});

/// Lines with secrets of every known kind, and lines that only look like secrets.
pub(crate) static SECRET_LINES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let joined = |line: &Value, name: &str| -> String {
        line[name].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    };
    let secrets = lines("crates/text/testdata/secrets.jsonl");
    let whole =
        |line: Value| ["before", "secret", "after"].map(|name| joined(&line, name)).concat();
    let alike = lines("crates/text/testdata/look-alikes.jsonl");
    let text = |line: Value| line["text"].as_str().map(str::to_owned);
    secrets.into_iter().map(whole).chain(alike.into_iter().filter_map(text)).collect()
});

/// The operations that agents may call, with the schemas of their parameters.
pub(crate) static TOOLS: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let text = read("docs/reference/mcp-tools.json");
    let listed: Value = serde_json::from_str(&text).unwrap_or_default();
    listed["tools"].as_array().cloned().unwrap_or_default()
});

/// The project's directory.
pub(crate) fn root() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).map(PathBuf::from).unwrap_or(here)
}

/// Every line of JSON in a file of the project.
fn lines(path: &str) -> Vec<Value> {
    read(path).lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn read(path: &str) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_events_and_lines_are_found() {
        assert!(EVENTS.len() > 100 && EVENTS.iter().all(|golden| golden.payload.is_object()));
        assert!(SECRET_LINES.len() > 500);
        assert!(TOOLS.len() > 20);
    }
}
