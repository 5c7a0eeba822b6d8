//! `hint://component/key`: hints as entries. A path leads to the best hint of its name that applies to the caller's
//! situation; hints that do not apply are neither listed nor read.

use std::sync::Arc;

use contract::{Cx, OpError, Scheme};
use model::entry::{Entry, EntryLine, EntryPath};
use model::hint::{HintName, value_text};
use serde_json::{Value, json};
use store::hints::StoredHint;
use text::secrets::{self, Profile};

use crate::choose::{not_found, not_here};
use crate::gate::HintSituation;
use crate::held::{Held, best_eligible};
use crate::memory::Memory;

pub(crate) struct HintScheme {
    pub(crate) memory: Arc<Memory>,
}

impl Scheme for HintScheme {
    fn name(&self) -> &'static str {
        "hint"
    }

    fn template(&self) -> &'static str {
        "hint://{component}/{key}"
    }

    fn summary(&self) -> &'static str {
        "A small fact about a component: the exact command, folder or toggle"
    }

    fn list(&self, cx: &Cx<'_>) -> Result<Vec<EntryLine>, OpError> {
        let place = HintSituation::of(&cx.caller.situation);
        let index = self.memory.read();
        let eligible = index.all(cx.now).filter(|held| held.is_eligible(&place));
        let mut lines: Vec<EntryLine> = eligible.map(line).collect();
        // Hints of one name are adjacent and form one entry.
        lines.dedup_by(|later, first| later.path == first.path);
        Ok(lines)
    }

    fn read(&self, cx: &Cx<'_>, path: &EntryPath) -> Result<Entry, OpError> {
        let [component, key] = path.segments.as_slice() else {
            return Err(OpError::invalid("path", "a hint's path has two parts")
                .hint("Write it as hint://component/key."));
        };
        let name = HintName::new(component.clone(), key.clone())?;
        let place = HintSituation::of(&cx.caller.situation);
        let index = self.memory.read();
        let variants = || index.variants(&name.component, &name.key, cx.now);
        let Some(best) = best_eligible(variants(), &place, cx.now) else {
            let none = variants().next().is_none();
            return Err(if none { not_found(&name) } else { not_here(&name, variants(), &place) });
        };
        let (body, media_type) = body(&best.held.stored);
        let shown = best.held.shown();
        let mut attributes =
            json!({ "meta": shown.meta, "version": shown.version, "updated_at": shown.updated_at });
        if best.held.stored.meta.is_secret() {
            attributes = secrets::redact_json(attributes, Profile::Declared).into_inner();
            attributes["note"] = "The value is masked here; `get_hint` returns it.".into();
        }
        Ok(Entry {
            path: name.path(),
            body,
            media_type: media_type.to_owned(),
            attributes: attributes.as_object().cloned().unwrap_or_default(),
        })
    }
}

fn line(held: &Held) -> EntryLine {
    let hint = &held.stored;
    let HintName { component, key } = &hint.name;
    let reason = hint.meta.reason.as_deref().map(|reason| {
        if hint.meta.is_secret() {
            secrets::redact(reason, Profile::Declared).into_inner()
        } else {
            reason.to_owned()
        }
    });
    EntryLine {
        path: hint.name.path(),
        summary: reason.unwrap_or_else(|| format!("{key} of {component}")),
        media_type: body(hint).1.to_owned(),
    }
}

/// A hint's text: a string as it is, any other value as JSON. People read entries, and hosts store them, so a secret
/// is always masked.
fn body(hint: &StoredHint) -> (String, &'static str) {
    match &hint.value {
        value if hint.meta.is_secret() => (secrets::mask(&value_text(value)), "text/plain"),
        Value::String(text) => (text.clone(), "text/plain"),
        other => (other.to_string(), "application/json"),
    }
}
