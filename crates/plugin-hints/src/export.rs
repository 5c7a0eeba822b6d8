//! `export_hints`: every hint as one JSON document, which `import_hints` reads without loss.

use std::collections::BTreeMap;
use std::sync::Arc;

use contract::{CliShape, Cx, Document, Example, Op, OpInfo};
use model::OpError;
use model::hint::Hint;
use model::time::rfc3339;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::gate::HintSituation;
use crate::held::{Held, RankedHint};
use crate::memory::Memory;
use crate::show;

/// The version of the document's format.
pub(crate) const SCHEMA_VERSION: &str = "1.0";

pub(crate) struct ExportHints {
    pub(crate) memory: Arc<Memory>,
}

/// The only format.
#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ExportFormat {
    #[default]
    Json,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExportHintsParams {
    /// The format of the document.
    #[serde(default, rename = "format")]
    _format: ExportFormat,
    /// Only hints of this component.
    #[serde(default)]
    component: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct ExportHintsOutput {
    payload: Payload,
}

/// Hints as a document.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Payload {
    schema_version: &'static str,
    /// When it was written; RFC 3339, UTC.
    created_at: String,
    /// The session of the caller; `local` without one.
    session_id: String,
    components: BTreeMap<String, ComponentHints>,
}

/// The hints of a component.
#[derive(Default, Serialize, JsonSchema)]
pub(crate) struct ComponentHints {
    /// The best hint of each key.
    hints: BTreeMap<String, Hint>,
    /// The other hints of a key, which differ in scope.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    variants: BTreeMap<String, Vec<Hint>>,
}

impl Op for ExportHints {
    const INFO: OpInfo = OpInfo {
        name: "export_hints",
        summary: "Write all hints as one JSON document",
        doc: "With scopes, versions, counts and secret values; a terminal shows secrets masked.",
        toolset: "hints",
        brief: None,
        aliases: &["nudge.export_hints", "nudge_export_hints", "nudge.export", "nudge_export"],
        cli: CliShape {
            path: &["hint", "export"],
            document: Some(Document { member: "payload", mask: show::mask_document }),
            starts_daemon: true,
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "Everything there is",
            before: &[("set_hint", r#"{"component":"api","key":"test","value":"make test"}"#)],
            params: r#"{"format":"json"}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = ExportHintsParams;
    type Output = ExportHintsOutput;

    fn run(&self, cx: &Cx<'_>, params: ExportHintsParams) -> Result<ExportHintsOutput, OpError> {
        let place = HintSituation::of(&cx.caller.situation);
        let index = self.memory.read();
        let wanted = |held: &&Held| {
            params.component.as_ref().is_none_or(|name| *name == held.stored.name.component)
        };
        let ranked = |held| RankedHint::new(held, &place, cx.now);
        let mut all: Vec<RankedHint<'_>> = index.all(cx.now).filter(wanted).map(ranked).collect();
        // The better hint is first, so that a reader that knows no variants finds it under its key.
        all.sort_unstable();
        let mut components: BTreeMap<String, ComponentHints> = BTreeMap::new();
        for RankedHint { held, .. } in all {
            let name = &held.stored.name;
            let of = components.entry(name.component.clone()).or_default();
            if of.hints.contains_key(&name.key) {
                of.variants.entry(name.key.clone()).or_default().push(held.shown());
            } else {
                of.hints.insert(name.key.clone(), held.shown());
            }
        }
        let payload = Payload {
            schema_version: SCHEMA_VERSION,
            created_at: rfc3339(cx.now),
            session_id: cx.caller.session.clone().unwrap_or_else(|| "local".to_owned()),
            components,
        };
        Ok(ExportHintsOutput { payload })
    }
}
