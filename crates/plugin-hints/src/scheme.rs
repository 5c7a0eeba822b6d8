//! `hint://component/key`: hints in the one address space.

use std::sync::Arc;

use contract::{Cx, OpError, Scheme};
use model::entry::{Entry, EntryLine, EntryPath};
use model::hint::HintName;
use serde_json::{Value, json};
use store::hints::StoredHint;

use crate::get::not_found;
use crate::memory::{Memory, shown};

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

    fn list(&self, _: &Cx<'_>) -> Result<Vec<EntryLine>, OpError> {
        Ok(self.memory.all().iter().map(line).collect())
    }

    fn read(&self, _: &Cx<'_>, path: &EntryPath) -> Result<Entry, OpError> {
        let [component, key] = path.segments.as_slice() else {
            return Err(OpError::invalid("path", "a hint's path has two parts")
                .hint("Write it as hint://component/key."));
        };
        let name = HintName::new(component.clone(), key.clone())?;
        let hint = self.memory.get(&name).ok_or_else(|| not_found(&name))?;
        let (body, media_type) = body(&hint.value);
        let shown = shown(hint);
        let attributes =
            json!({ "meta": shown.meta, "version": shown.version, "updated_at": shown.updated_at });
        Ok(Entry {
            path: name.path(),
            body,
            media_type: media_type.to_owned(),
            attributes: attributes.as_object().cloned().unwrap_or_default(),
        })
    }
}

fn line(hint: &StoredHint) -> EntryLine {
    let HintName { component, key } = &hint.name;
    EntryLine {
        path: hint.name.path(),
        summary: hint.meta.reason.clone().unwrap_or_else(|| format!("{key} of {component}")),
        media_type: body(&hint.value).1.to_owned(),
    }
}

/// A hint's text: a string as it is, anything else as JSON.
fn body(value: &Value) -> (String, &'static str) {
    match value {
        Value::String(text) => (text.clone(), "text/plain"),
        other => (other.to_string(), "application/json"),
    }
}
