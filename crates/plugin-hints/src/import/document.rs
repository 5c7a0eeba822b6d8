//! A document of hints, read member by member, so that one bad hint does not hide the others.

use model::OpError;
use model::hint::{self, HintMeta, HintName};
use model::time::{parse_rfc3339, plausible};
use serde::Deserialize;
use serde_json::{Map, Value};
use store::hints::StoredHint;

/// A document whose outer structure is valid.
pub(super) struct HintDocument {
    members: Vec<DocumentMember>,
}

/// One hint of the document, not parsed yet.
pub(super) struct DocumentMember {
    pub(super) component: String,
    pub(super) key: String,
    hint: Value,
}

/// A hint as documents have it. Only the value is required, so that a document can be written by hand.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DocumentHint {
    value: Value,
    #[serde(default, deserialize_with = "model::object::optional")]
    meta: Option<HintMeta>,
    version: Option<u64>,
    created_at: Option<String>,
    updated_at: Option<String>,
    last_used_at: Option<String>,
    use_count: Option<u64>,
}

impl HintDocument {
    pub(super) fn read(mut payload: Map<String, Value>) -> Result<HintDocument, OpError> {
        check_schema_version(payload.get("schema_version"))?;
        let components = match payload.remove("components") {
            Some(components) => object("payload.components", components)?,
            None => {
                return Err(OpError::invalid(
                    "payload.components",
                    "the payload has no components",
                )
                .hint(
                    "Pass a document as `export_hints` writes it, with the member `components`.",
                ));
            }
        };
        let mut members = Vec::new();
        for (component, of) in components {
            let place = format!("payload.components.{component}");
            for (part, under) in object(&place, of)? {
                let place = format!("{place}.{part}");
                if !matches!(part.as_str(), "hints" | "variants") {
                    return Err(OpError::invalid(&place, format!("unknown member `{part}`"))
                        .hint("A component has the members `hints` and `variants`."));
                }
                for (key, hints) in object(&place, under)? {
                    let hints = match (part.as_str(), hints) {
                        ("variants", Value::Array(hints)) => hints,
                        ("variants", _) => {
                            let place = format!("{place}.{key}");
                            return Err(OpError::invalid(&place, "the variants are not a list"));
                        }
                        (_, hint) => vec![hint],
                    };
                    let member = |hint| DocumentMember {
                        component: component.clone(),
                        key: key.clone(),
                        hint,
                    };
                    members.extend(hints.into_iter().map(member));
                }
            }
        }
        Ok(HintDocument { members })
    }

    pub(super) fn members(self) -> Vec<DocumentMember> {
        self.members
    }
}

impl DocumentMember {
    /// The hint as it will be stored. A missing time of creation or change is the other one, or else the current time.
    pub(super) fn hint(&self, now: i64) -> Result<StoredHint, OpError> {
        let name = HintName::new(self.component.clone(), self.key.clone())?;
        let written = DocumentHint::deserialize(&self.hint)
            .map_err(|error| OpError::invalid("payload", error.to_string()))?;
        hint::check_value(&written.value)?;
        let meta = written.meta.unwrap_or_default();
        meta.check()?;
        let version = written.version.unwrap_or(1);
        let use_count = written.use_count.unwrap_or(0);
        let too_many = |number: u64| i64::try_from(number).is_err();
        if version < 1 || too_many(version) || too_many(use_count) {
            return Err(OpError::invalid("payload", "a version or use count is out of range"));
        }
        let then = |at: Option<i64>| at.map(|at| plausible(at, now));
        let created_at = then(time("created_at", written.created_at)?);
        let updated_at = then(time("updated_at", written.updated_at)?);
        Ok(StoredHint {
            name,
            value: written.value,
            meta,
            version,
            created_at: created_at.or(updated_at).unwrap_or(now),
            updated_at: updated_at.or(created_at).unwrap_or(now),
            last_used_at: then(time("last_used_at", written.last_used_at)?),
            use_count,
        })
    }
}

/// Every 1.x is read; a later major version may have another meaning.
fn check_schema_version(version: Option<&Value>) -> Result<(), OpError> {
    let Some(version) = version else { return Ok(()) };
    let major = version.as_str().map(|version| version.split('.').next().unwrap_or_default());
    let digits = |text: &str| text.split('.').all(|part| part.parse::<u32>().is_ok());
    if major == Some("1") && version.as_str().is_some_and(digits) {
        return Ok(());
    }
    let message = format!("the schema version {version} is not 1.x");
    Err(OpError::invalid("payload.schema_version", message)
        .hint("Export the hints with a version that writes 1.x."))
}

fn object(place: &str, value: Value) -> Result<Map<String, Value>, OpError> {
    match value {
        Value::Object(members) => Ok(members),
        _ => Err(OpError::invalid(place, format!("{place} is not an object"))),
    }
}

fn time(name: &str, text: Option<String>) -> Result<Option<i64>, OpError> {
    let Some(text) = text else { return Ok(None) };
    let at = parse_rfc3339(&text);
    at.map(Some)
        .ok_or_else(|| OpError::invalid("payload", format!("{name} is not an RFC 3339 time")))
}
