//! Checks before a hint is stored: versions, quotas and the secret guard, shared by `set_hint` and imports.

use model::hint::{HintMeta, HintName};
use model::{Code, OpError, limits};
use serde_json::Value;
use store::Tx;
use store::hints;
use text::secrets::{self, Profile};

use crate::settings::{AGENTS_MAY_STORE_SECRETS, HintSettings};

/// Checks that the stored variant has the version that the caller expects.
pub(crate) fn check_version(wanted: Option<u64>, current: u64) -> Result<(), OpError> {
    let Some(wanted) = wanted.filter(|wanted| *wanted != current) else { return Ok(()) };
    let message = match current {
        0 => format!("the hint does not exist, so it has version 0, not {wanted}"),
        _ => format!("the hint has version {current}, not {wanted}"),
    };
    Err(OpError::new(Code::Conflict, message)
        .with("expected_version", wanted)
        .with("current_version", current)
        .hint("Read the hint again, then decide whether it still needs the change."))
}

/// Checks that there is room for one more hint of this name. Expired hints were removed before.
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

/// A text that looks like a credential: the parameter that has it and the rule that matched.
#[derive(Clone, Copy)]
pub(crate) struct Secret {
    param: &'static str,
    rule: &'static str,
}

impl Secret {
    /// The first secret in a hint's names. Names are shown to every caller, so a secret there is refused even if it
    /// is marked.
    pub(crate) fn in_name(name: &HintName) -> Option<Secret> {
        found("component", &name.component).or_else(|| found("key", &name.key))
    }

    /// The first secret in a hint's value or meta, including values that only their key makes a secret.
    pub(crate) fn find(key: &str, value: &Value, meta: Option<&HintMeta>) -> Option<Secret> {
        // `env.DB_PASSWORD` is a variable; a sentence under `password` is not a password.
        let name = key.rsplit(['.', '/']).next().unwrap_or(key);
        let text = value.as_str().filter(|text| !text.contains(char::is_whitespace));
        rule_in(value)
            .or_else(|| rule(&format!("{name}=\"{}\"", text?)))
            .map(|rule| Secret { param: "value", rule })
            .or_else(|| meta.and_then(Secret::in_meta))
    }

    fn in_meta(meta: &HintMeta) -> Option<Secret> {
        let found_in = |param, texts: &[String]| texts.iter().find_map(|text| found(param, text));
        found_in("meta.reason", meta.reason.as_slice())
            .or_else(|| found_in("meta.tags", &meta.tags))
            .or_else(|| found_in("meta.added_by", meta.added_by.as_slice()))
            .or_else(|| {
                let scope = meta.scope.as_ref()?;
                found_in("meta.scope.cwd_glob", &scope.cwd_glob)
                    .or_else(|| found_in("meta.scope.repo", scope.repos()))
                    .or_else(|| found_in("meta.scope.branch", &scope.branch))
                    .or_else(|| found_in("meta.scope.env_required", &scope.env_required))
                    .or_else(|| {
                        let rule = scope.env_match.iter().find_map(|(name, values)| {
                            values.as_slice().iter().find_map(|value| rule_in_member(name, value))
                        })?;
                        Some(Secret { param: "meta.scope.env_match", rule })
                    })
            })
    }

    /// The error for a secret that is refused. Its hint depends on whether the caller may store secrets.
    pub(crate) fn refusal(self, may_store: bool) -> OpError {
        let Secret { param, rule } = self;
        let error = OpError::secret(param, rule);
        match param {
            "component" | "key" if may_store => error.hint(
                "Choose a name without the secret. The secret may be the value, stored with sensitivity secret (allow_secret).",
            ),
            "component" | "key" => error.hint("Choose a name without the secret."),
            _ if may_store => error.hint(
                "Say where the secret is kept instead, or store it with sensitivity secret (allow_secret).",
            ),
            _ => error.hint(only_people()).with("setting", AGENTS_MAY_STORE_SECRETS),
        }
    }
}

/// Refuses `allow_secret` to a caller that may not store secrets.
pub(crate) fn check_allow_secret(
    allow_secret: bool,
    settings: &HintSettings,
) -> Result<(), OpError> {
    if !allow_secret || settings.may_store_secrets {
        return Ok(());
    }
    Err(OpError::new(Code::Forbidden, "agents may not store secrets (allow_secret)")
        .with("param", "allow_secret")
        .with("setting", AGENTS_MAY_STORE_SECRETS)
        .hint(only_people()))
}

/// The hint for an agent. The user's command is not in backticks, because a quoted command that is also a tool is
/// reworded to the name of the tool.
fn only_people() -> String {
    format!(
        "Say where the secret is kept instead. The user can store it on the command line (rekindle hint set with \
         --sensitivity secret), or let agents do it: `rekindle config set {AGENTS_MAY_STORE_SECRETS} true`."
    )
}

fn found(param: &'static str, text: &str) -> Option<Secret> {
    rule(text).map(|rule| Secret { param, rule })
}

fn rule(text: &str) -> Option<&'static str> {
    secrets::first(text, Profile::Declared).map(|finding| finding.rule)
}

/// The rule that a text matches, alone or together with its name: a password has no shape of its own.
fn rule_in_member(name: &str, text: &str) -> Option<&'static str> {
    rule(&format!("{name}=\"{text}\"")).or_else(|| rule(name)).or_else(|| rule(text))
}

/// The rule that a text in the value matches.
fn rule_in(value: &Value) -> Option<&'static str> {
    match value {
        Value::String(text) => rule(text),
        Value::Array(items) => items.iter().find_map(rule_in),
        Value::Object(members) => members.iter().find_map(|(name, value)| match value {
            Value::String(text) => rule_in_member(name, text),
            value => rule(name).or_else(|| rule_in(value)),
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}
