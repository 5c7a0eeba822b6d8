//! Hints as text for users. Secrets are masked here; `scheme` masks them in entries.

use model::hint::{Hint, HintMeta, value_text};
use serde_json::Value;
use text::secrets::{self, Profile};

use crate::held::MatchExplain;

/// The value of a hint, masked if it is a secret.
pub(crate) fn value(hint: &Hint) -> String {
    masked(value_text(&hint.value), hint.meta.is_secret())
}

/// A rendered template, masked like the value of its hint.
pub(crate) fn rendered(text: &str, hint: &Hint) -> String {
    masked(text.to_owned(), hint.meta.is_secret())
}

fn masked(text: String, is_secret: bool) -> String {
    if is_secret { secrets::mask(&text) } else { text }
}

/// A hint's meta; for a secret hint without texts that look like credentials.
fn safe(meta: &HintMeta) -> HintMeta {
    if !meta.is_secret() {
        return meta.clone();
    }
    let json = serde_json::to_value(meta).map(without_credentials);
    json.and_then(serde_json::from_value).unwrap_or_default()
}

fn without_credentials(meta: Value) -> Value {
    secrets::redact_json(meta, Profile::Declared).into_inner()
}

/// Why the hint is true or useful.
pub(crate) fn reason(meta: &HintMeta) -> Option<String> {
    safe(meta).reason
}

/// `label: text`. Text of several lines is indented below, so that no line looks like another member.
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

/// The score and the reasons of a match, indented by two.
pub(crate) fn explain(explain: &MatchExplain) -> Vec<String> {
    let mut lines = vec![format!("  score: {:.2}", explain.score), "  reasons:".to_owned()];
    lines.extend(explain.reasons.iter().map(|reason| format!("    - {reason}")));
    lines
}

/// The parts of a hint's rank: `priority=7 tags=build,docker ttl=session scope=cwd_glob`.
pub(crate) fn base(meta: &HintMeta) -> String {
    let meta = safe(meta);
    let mut parts = Vec::new();
    parts.extend(meta.priority.map(|priority| format!("priority={priority}")));
    parts.extend(meta.confidence.map(|confidence| format!("confidence={confidence:?}")));
    if !meta.tags.is_empty() {
        parts.push(format!("tags={}", meta.tags.join(",")));
    }
    parts.push(format!("ttl={}", meta.lifetime()));
    let scope = meta.scope.as_ref().map(serde_json::to_value).and_then(Result::ok);
    let fields: Vec<&str> =
        scope.iter().filter_map(Value::as_object).flatten().map(|(name, _)| &name[..]).collect();
    if !fields.is_empty() {
        parts.push(format!("scope={}", fields.join(",")));
    }
    parts.join(" ")
}

/// Masks the secrets of an exported document. Returns a note with their number.
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
        1 => Some(
            "note: 1 secret is masked on this terminal; output to a file or pipe contains it"
                .to_owned(),
        ),
        _ => Some(format!(
            "note: {masked} secrets are masked on this terminal; output to a file or pipe contains them"
        )),
    }
}

/// Masks a hint of a document if it is a secret.
fn mask_hint(hint: &mut Value) -> Option<()> {
    if hint["meta"]["sensitivity"] != "secret" {
        return None;
    }
    hint["value"] = masked(value_text(&hint["value"]), true).into();
    hint["meta"] = without_credentials(hint["meta"].take());
    Some(())
}
