//! Hints in text for people. A secret is masked here; of an entry, `scheme` masks it.

use model::hint::value_text;
use serde_json::Value;
use text::secrets::{self, Profile};

/// The value of a hint, as the wire shows the hint.
pub(crate) fn value(hint: &Value) -> String {
    let text = value_text(&hint["value"]);
    if is_secret(&hint["meta"]) { secrets::mask(&text) } else { text }
}

/// What a template became; of a secret one, as little as of the template.
pub(crate) fn rendered(result: &Value) -> Option<String> {
    let text = result["rendered"].as_str()?;
    let secret = is_secret(&result["hint"]["meta"]);
    Some(if secret { secrets::mask(text) } else { text.to_owned() })
}

/// What is said about a hint; of a secret one, without what looks like a credential.
fn meta(meta: &Value) -> Value {
    if is_secret(meta) {
        secrets::redact_json(meta.clone(), Profile::Declared).into_inner()
    } else {
        meta.clone()
    }
}

fn is_secret(meta: &Value) -> bool {
    meta["sensitivity"] == "secret"
}

/// Why the hint is true or useful.
pub(crate) fn reason(of: &Value) -> Option<String> {
    meta(of)["reason"].as_str().map(str::to_owned)
}

/// `label: text`; what has several lines stands below, indented, so that none of them can pretend
/// to be another member.
pub(crate) fn labelled(label: &str, text: &str) -> String {
    let mut lines = text.lines();
    match (lines.next(), lines.next()) {
        (Some(_), Some(_)) => {
            let indent = label.len() - label.trim_start().len() + 2;
            let lines = text.lines().map(|line| format!("{}{line}", " ".repeat(indent)));
            format!("{label}:\n{}", lines.collect::<Vec<_>>().join("\n"))
        }
        _ => format!("{label}: {text}"),
    }
}

/// The score and the reasons of a `match_explain`, indented by two.
pub(crate) fn explain(explain: &Value) -> Vec<String> {
    let score = explain["score"].as_f64().unwrap_or_default();
    let mut lines = vec![format!("  score: {score:.2}"), "  reasons:".to_owned()];
    let reasons = explain["reasons"].as_array().into_iter().flatten();
    lines.extend(reasons.filter_map(Value::as_str).map(|reason| format!("    - {reason}")));
    lines
}

/// A number of things in words: `1 hint`, `2 hints`.
pub(crate) fn count(number: &Value, noun: &str) -> String {
    let plural = if *number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// `component/key` of parameters or of a result.
pub(crate) fn name(of: &Value) -> String {
    let word = |name: &str| of[name].as_str().unwrap_or_default();
    format!("{}/{}", word("component"), word("key"))
}

/// What a hint's rank starts from: `priority=7 tags=build,docker ttl=session scope=cwd_glob`.
pub(crate) fn base(of: &Value) -> String {
    let meta = meta(of);
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

/// Masks the secrets of an exported document, and says how many.
pub(crate) fn mask_document(document: &mut Value) -> Option<String> {
    let mut masked = 0;
    let components = document["components"].as_object_mut().into_iter().flatten();
    for (_, component) in components {
        for part in ["hints", "variants"] {
            let keys = component.get_mut(part).and_then(Value::as_object_mut);
            for (_, under) in keys.into_iter().flatten() {
                let hints = match under {
                    Value::Array(variants) => variants.iter_mut(),
                    one => std::slice::from_mut(one).iter_mut(),
                };
                masked += hints.filter_map(mask_hint).count();
            }
        }
    }
    match masked {
        0 => None,
        1 => Some("note: one secret is masked here; a file or pipe gets it as it is".to_owned()),
        _ => Some(format!(
            "note: {masked} secrets are masked here; a file or pipe gets them as they are"
        )),
    }
}

/// Masks a hint if it is a secret.
fn mask_hint(hint: &mut Value) -> Option<()> {
    if !is_secret(&hint["meta"]) {
        return None;
    }
    hint["value"] = value(hint).into();
    hint["meta"] = meta(&hint["meta"]);
    Some(())
}
