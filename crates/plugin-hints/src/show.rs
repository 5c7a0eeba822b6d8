//! Hints in text for people. A secret is masked here, and only here.

use model::hint::value_text;
use serde_json::Value;

/// The value of a hint, as the wire shows the hint.
pub(crate) fn value(hint: &Value) -> String {
    let text = value_text(&hint["value"]);
    if hint["meta"]["sensitivity"] == "secret" { text::secrets::mask(&text) } else { text }
}

/// The score and the reasons of a `match_explain`, indented by two.
pub(crate) fn explain(explain: &Value) -> Vec<String> {
    let mut lines = vec![format!("  score: {}", explain["score"]), "  reasons:".to_owned()];
    let reasons = explain["reasons"].as_array().into_iter().flatten();
    lines.extend(reasons.filter_map(Value::as_str).map(|reason| format!("    - {reason}")));
    lines
}

/// `component/key` of parameters or of a result.
pub(crate) fn name(of: &Value) -> String {
    let word = |name: &str| of[name].as_str().unwrap_or_default();
    format!("{}/{}", word("component"), word("key"))
}

/// What a hint's rank starts from: `priority=7 tags=build,docker ttl=session scope=cwd_glob`.
pub(crate) fn base(meta: &Value) -> String {
    let mut parts = Vec::new();
    for name in ["priority", "confidence"] {
        if !meta[name].is_null() {
            parts.push(format!("{name}={}", meta[name]));
        }
    }
    let tags: Vec<&str> =
        meta["tags"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if !tags.is_empty() {
        parts.push(format!("tags={}", tags.join(",")));
    }
    parts.push(format!("ttl={}", meta["ttl"].as_str().unwrap_or("session")));
    let fields: Vec<&str> =
        meta["scope"].as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    if !fields.is_empty() {
        parts.push(format!("scope={}", fields.join(",")));
    }
    parts.join(" ")
}
