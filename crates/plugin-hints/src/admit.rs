//! Who may come in: versions, quotas and the secret guard, the same for `set_hint` and imports.

use model::hint::{HintMeta, HintName};
use model::{Code, OpError, limits};
use serde_json::Value;
use store::Tx;
use store::hints;
use text::secrets::{self, Profile};

/// Whether the variant that is there is the one the caller means.
pub(crate) fn check_version(wanted: Option<u64>, current: u64) -> Result<(), OpError> {
    let Some(wanted) = wanted.filter(|wanted| *wanted != current) else { return Ok(()) };
    Err(OpError::new(Code::Conflict, format!("the hint has version {current}, not {wanted}"))
        .with("expected_version", wanted)
        .with("current_version", current)
        .hint("Read it again and decide on what is there now."))
}

/// Whether there is room for one more hint of this name. What time has ended was swept before.
pub(crate) fn check_room(tx: &Tx<'_>, name: &HintName, max: usize) -> Result<(), OpError> {
    let over = |what: String, max: usize| {
        let error = OpError::new(Code::Quota, what).with("limit", max);
        Err(error.hint("Delete hints that are no longer true."))
    };
    let of_component = hints::count_of(tx, &name.component)?;
    let most = limits::HINTS_PER_COMPONENT_MAX;
    if of_component >= most {
        return over(format!("the component holds {most} hints already"), most);
    }
    if hints::count(tx)? >= max {
        return over(format!("the store holds {max} hints already"), max);
    }
    let most = limits::HINT_COMPONENTS_MAX;
    if of_component == 0 && hints::count_components(tx)? >= most {
        return over(format!("there are {most} components already"), most);
    }
    Ok(())
}

/// Something that looks like a credential: where it stands and which rule says so.
#[derive(Clone, Copy)]
pub(crate) struct Secret {
    param: &'static str,
    rule: &'static str,
}

impl Secret {
    /// The first secret in what a hint says.
    pub(crate) fn find(value: &Value, meta: Option<&HintMeta>) -> Option<Secret> {
        let in_value = rule_in(value).map(|rule| Secret { param: "value", rule });
        in_value.or_else(|| {
            let reason = meta?.reason.as_deref()?;
            let rule = secrets::first(reason, Profile::Declared)?.rule;
            Some(Secret { param: "meta.reason", rule })
        })
    }

    pub(crate) fn refusal(self) -> OpError {
        let Secret { param, rule } = self;
        OpError::new(Code::SecretRejected, format!("{param} looks like a secret ({rule})"))
            .with("param", param)
            .with("rule", rule)
            .hint(
                "Say where the secret is kept instead, or store it with sensitivity secret \
                 (allow_secret).",
            )
    }
}

/// The rule that some text of the value meets. A member is also looked at together with its name,
/// because a password has no shape of its own.
fn rule_in(value: &Value) -> Option<&'static str> {
    let rule = |text: &str| secrets::first(text, Profile::Declared).map(|finding| finding.rule);
    match value {
        Value::String(text) => rule(text),
        Value::Array(items) => items.iter().find_map(rule_in),
        Value::Object(members) => members.iter().find_map(|(name, value)| {
            let together = value.as_str().and_then(|text| rule(&format!("{name}=\"{text}\"")));
            together.or_else(|| rule(name)).or_else(|| rule_in(value))
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}
