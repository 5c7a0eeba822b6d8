//! `import_hints`: imports a document of hints, all of it or, on request, its valid hints.
//!
//! Parsing is in `import/document.rs`; this file merges the document with the stored hints.

mod document;

use std::sync::Arc;

use contract::pretty::pretty;
use contract::{Access, CliShape, Cx, Example, Op, OpInfo, Pretty};
use model::event::Event;
use model::hint::Sensitivity;
use model::{Code, OpError, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use store::Tx;
use store::hints::{self, StoredHint};
use text::secrets::{self, Profile};

use self::document::{DocumentMember, HintDocument};
use crate::admit::{Secret, check_allow_secret, check_room};
use crate::flags;
use crate::held::Held;
use crate::memory::Memory;
use crate::settings::HintSettings;

pub(crate) struct ImportHints {
    pub(crate) memory: Arc<Memory>,
}

/// How the stored hints are treated.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ImportMode {
    /// They stay unless the document has a later version.
    #[default]
    Merge,
    /// They are removed.
    Replace,
}

/// How a bad hint in the document is treated.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum OnError {
    /// Nothing is imported.
    #[default]
    Abort,
    /// The others are imported.
    Skip,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ImportHintsParams {
    /// A document as `export_hints` gives it in `payload`.
    payload: Map<String, Value>,
    /// How the stored hints are treated.
    #[serde(default)]
    mode: ImportMode,
    /// How a bad hint in the document is treated.
    #[serde(default)]
    on_error: OnError,
    /// Import hints that look like credentials, marked as secret. Agents need the setting
    /// hints.agents_may_store_secrets.
    #[serde(default)]
    allow_secret: bool,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct ImportHintsOutput {
    imported: usize,
    /// Hints that are stored in the same or a later version, have expired, or are bad.
    skipped: usize,
    /// The bad hints, at most the first fifty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    errors: Vec<ImportError>,
}

/// A hint that was not imported.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ImportError {
    component: String,
    key: String,
    /// For example `E_INVALID`.
    reason: String,
    message: String,
}

impl Op for ImportHints {
    const INFO: OpInfo = OpInfo {
        name: "import_hints",
        summary: "Import a JSON document of hints",
        doc: "All or nothing unless `on_error` is `skip`. Times, versions and counts are kept as the \
              document has them; missing times are the time of the import.",
        access: Access::Write { destructive: true, idempotent: true },
        toolset: "hints",
        brief: None,
        aliases: &["nudge.import_hints", "nudge_import_hints", "nudge.import", "nudge_import"],
        cli: CliShape {
            path: &["hint", "import"],
            positional: &["payload"],
            file: Some("payload"),
            flag_aliases: flags::GUARD,
            pretty: Some(pretty::<Self>),
            starts_daemon: true,
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "A seed written by hand",
            before: &[],
            params: r#"{"payload":{"schema_version":"1.0","components":{"api":{"hints":{"test":{"value":"make test","meta":{"tags":["test"]}}}}}},"mode":"merge"}"#,
        }],
        large: true,
        ..OpInfo::BASE
    };
    type Params = ImportHintsParams;
    type Output = ImportHintsOutput;

    fn run(&self, cx: &Cx<'_>, params: ImportHintsParams) -> Result<ImportHintsOutput, OpError> {
        let settings = HintSettings::of(cx.config, cx.caller.tier);
        check_allow_secret(params.allow_secret, &settings)?;
        let mut taken = Rejections { on_error: params.on_error, skipped: 0, errors: Vec::new() };
        let mut members = Vec::new();
        for member in HintDocument::read(params.payload)?.members() {
            match good(&member, &settings, params.allow_secret, cx.now) {
                Ok(held) if held.is_alive(cx.now) => members.push(Arc::new(held)),
                Ok(_) => taken.skipped += 1,
                Err(error) => taken.refuse(&member.component, &member.key, error)?,
            }
        }
        let data = json!({ "hints": members.len() });
        cx.note(Event::new("hint/imported", "hint://".to_owned()).with_data(data));
        let memory = self.memory.clone();
        let (now, mode, max) = (cx.now, params.mode, settings.max);
        cx.store.write(move |tx| {
            let mut taken = taken.clone();
            match mode {
                ImportMode::Merge => memory.sweep(tx, now)?,
                ImportMode::Replace => memory.clear(tx)?,
            }
            let mut imported = 0;
            for held in &members {
                match admit(tx, &held.stored, &held.variant, max) {
                    Ok(true) => {
                        memory.put(tx, held.clone())?;
                        imported += 1;
                    }
                    Ok(false) => taken.skipped += 1,
                    Err(error) if error.code == Code::Quota => {
                        let name = &held.stored.name;
                        taken.refuse(&name.component, &name.key, error)?;
                    }
                    Err(error) => return Err(error),
                }
            }
            Ok(ImportHintsOutput { imported, skipped: taken.skipped, errors: taken.errors })
        })
    }
}

/// The hints that were not imported so far.
#[derive(Clone)]
struct Rejections {
    on_error: OnError,
    skipped: usize,
    errors: Vec<ImportError>,
}

impl Rejections {
    /// Counts a bad hint, or gives up because of it.
    fn refuse(&mut self, component: &str, key: &str, error: OpError) -> Result<(), OpError> {
        // The name itself may contain the secret.
        let shown = |name: &str| secrets::redact(name, Profile::Declared).into_inner();
        let (component, key) = (&shown(component)[..], &shown(key)[..]);
        if self.on_error == OnError::Abort {
            let message = format!("{component}/{key}: {}", error.message);
            return Err(OpError { message, ..error }
                .with("component", component)
                .with("key", key)
                .hint(
                    "Nothing was imported. Correct it, or pass on_error skip to take the others.",
                ));
        }
        self.skipped += 1;
        if self.errors.len() < limits::HINT_IMPORT_ERRORS_TOLD {
            self.errors.push(ImportError {
                component: component.to_owned(),
                key: key.to_owned(),
                reason: error.code.row().reason.to_owned(),
                message: error.message,
            });
        }
        Ok(())
    }
}

/// The member as a hint, checked as `set_hint` checks it.
fn good(
    member: &DocumentMember,
    settings: &HintSettings,
    allow_secret: bool,
    now: i64,
) -> Result<Held, OpError> {
    let mut hint = member.hint(now)?;
    if settings.guard
        && let Some(secret) = Secret::in_name(&hint.name)
    {
        return Err(secret.refusal(settings.may_store_secrets));
    }
    let may_store = settings.may_store_secrets;
    if settings.guard
        && !(may_store && hint.meta.is_secret())
        && let Some(secret) = Secret::find(&hint.name.key, &hint.value, Some(&hint.meta))
    {
        if !(may_store && allow_secret) {
            return Err(secret.refusal(may_store));
        }
        hint.meta.sensitivity = Some(Sensitivity::Secret);
    }
    settings.complete(&mut hint.meta);
    Held::new(hint)
}

/// Whether the hint is to be written: the stored version is older, or there is none. An error if there is no room for
/// a new one.
fn admit(tx: &Tx<'_>, hint: &StoredHint, variant: &str, max: usize) -> Result<bool, OpError> {
    let stored = hints::variants(tx, &hint.name)?;
    match stored.iter().find(|stored| stored.meta.variant() == variant) {
        Some(stored) => Ok(stored.version < hint.version),
        None => check_room(tx, &hint.name, max).map(|()| true),
    }
}

impl Pretty for ImportHints {
    fn pretty(_: &ImportHintsParams, output: &ImportHintsOutput, _: usize) -> String {
        let ImportHintsOutput { imported, skipped, errors } = output;
        let imported = text::counted(*imported, "hint");
        let mut lines = vec![format!("✔ imported {imported}, skipped {skipped}")];
        for ImportError { component, key, message, .. } in errors {
            lines.push(format!("  {component}/{key}: {message}"));
        }
        lines.join("\n")
    }
}
