//! The conditions of a hint as written, their checks, and their canonical text.
//!
//! Globs are compiled and matched elsewhere.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::error::{Code, OpError};
use crate::limits;

// Operating systems a hint may be for.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Os {
    Linux,
    Darwin,
    Windows,
}

impl Os {
    pub const ALL: [Os; 3] = [Os::Linux, Os::Darwin, Os::Windows];

    pub fn word(self) -> &'static str {
        match self {
            Os::Linux => "linux",
            Os::Darwin => "darwin",
            Os::Windows => "windows",
        }
    }

    pub fn parse(word: &str) -> Option<Os> {
        Os::ALL.into_iter().find(|os| os.word() == word)
    }
}

// One text, or a list of alternatives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl OneOrMany {
    pub fn as_slice(&self) -> &[String] {
        match self {
            OneOrMany::One(one) => std::slice::from_ref(one),
            OneOrMany::Many(many) => many,
        }
    }
}

/// Conditions of a hint. All that are given must hold; an empty list counts as none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HintScope {
    /// Globs for the working directory, for example `**/http-proxy*`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cwd_glob: Vec<String>,
    /// Repositories, for example `git:org/repo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "OneOrMany")]
    pub repo: Option<OneOrMany>,
    /// Branches or globs of branches, for example `hotfix/*`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub branch: Vec<String>,
    /// Systems.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub os: Vec<Os>,
    /// Environment variables that must be set.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub env_required: Vec<String>,
    /// Variables that must have this value, or one of these.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env_match: BTreeMap<String, OneOrMany>,
}

/// The canonical text of an empty scope.
pub const UNSCOPED: &str = "{}";

impl HintScope {
    /// Repositories, however they were written.
    pub fn repos(&self) -> &[String] {
        self.repo.as_ref().map_or(&[], OneOrMany::as_slice)
    }

    /// The identity of a variant. Equal conditions give equal texts, in whatever order and form they were written.
    pub fn canonical(&self) -> String {
        let os: Vec<String> = self.os.iter().map(|os| os.word().to_owned()).collect();
        let env_match: Map<String, Value> = self
            .env_match
            .iter()
            .map(|(name, values)| (name.clone(), json!(sorted(values.as_slice()))))
            .collect();
        let fields = [
            ("branch", json!(sorted(&self.branch))),
            ("cwd_glob", json!(sorted(&self.cwd_glob))),
            ("env_match", Value::Object(env_match)),
            ("env_required", json!(sorted(&self.env_required))),
            ("os", json!(sorted(&os))),
            ("repo", json!(sorted(self.repos()))),
        ];
        let given =
            fields.into_iter().filter(|(_, value)| *value != json!([]) && *value != json!({}));
        let fields: Map<String, Value> =
            given.map(|(name, value)| (name.to_owned(), value)).collect();
        Value::Object(fields).to_string()
    }

    /// The number of conditions relative to five, which make a scope fully specific. Each list counts once, each
    /// environment variable counts by itself.
    #[expect(clippy::cast_precision_loss, reason = "a few dozen conditions at most")]
    pub fn specificity(&self) -> f64 {
        let lists = [
            !self.cwd_glob.is_empty(),
            !self.repos().is_empty(),
            !self.branch.is_empty(),
            !self.os.is_empty(),
        ];
        let lists = lists.into_iter().filter(|given| *given).count();
        let count = lists + self.env_required.len() + self.env_match.len();
        (count as f64 / 5.0).min(1.0)
    }

    /// Checks sizes, and that no glob contains `..`. Whether a glob compiles is checked elsewhere.
    pub fn check(&self) -> Result<(), OpError> {
        check_list("cwd_glob", self.cwd_glob.iter().map(String::as_str))?;
        check_list("repo", self.repos().iter().map(String::as_str))?;
        check_list("branch", self.branch.iter().map(String::as_str))?;
        check_count("os", self.os.len())?;
        check_list("env_required", self.env_required.iter().map(String::as_str))?;
        check_list("env_match", self.env_match.keys().map(String::as_str))?;
        for values in self.env_match.values() {
            check_count("env_match", values.as_slice().len())?;
            for value in values.as_slice() {
                check_length("env_match", value)?;
            }
        }
        for glob in &self.cwd_glob {
            if has_parent_step(glob) {
                return Err(scope_error("cwd_glob", format!("the glob '{glob}' has a '..' in it"))
                    .hint(
                        "Write the glob against the absolute path, for example **/http-proxy*.",
                    ));
            }
        }
        let names = self.env_required.iter().chain(self.env_match.keys());
        for name in names {
            if name.contains(['=', '\0']) {
                let path = "meta.scope.env_required";
                return Err(OpError::invalid(path, "a variable's name has '=' or NUL in it")
                    .hint("Give the name alone; env_match takes the values."));
            }
        }
        Ok(())
    }
}

/// A `scope_invalid` error about a field of the scope.
pub fn scope_error(field: &str, message: String) -> OpError {
    OpError::new(Code::ScopeInvalid, message).with("param", format!("meta.scope.{field}"))
}

/// Whether a component of the path, in Unix or Windows notation, is `..`.
pub fn has_parent_step(path: &str) -> bool {
    path.split(['/', '\\']).any(|step| step == "..")
}

fn check_list<'t>(
    field: &str,
    texts: impl ExactSizeIterator<Item = &'t str>,
) -> Result<(), OpError> {
    check_count(field, texts.len())?;
    for text in texts {
        if text.trim().is_empty() {
            return Err(scope_error(field, format!("{field} has an empty text in it"))
                .hint(format!("Leave {field} out if it does not matter.")));
        }
        check_length(field, text)?;
    }
    Ok(())
}

fn check_count(field: &str, count: usize) -> Result<(), OpError> {
    let max = limits::HINT_SCOPE_ITEMS_MAX;
    if count <= max {
        return Ok(());
    }
    let path = format!("meta.scope.{field}");
    Err(OpError::invalid(&path, format!("{field} has over {max} members")).with("max", max))
}

fn check_length(field: &str, text: &str) -> Result<(), OpError> {
    let max = limits::HINT_SCOPE_TEXT_BYTES_MAX;
    if text.len() <= max {
        return Ok(());
    }
    Err(scope_error(field, format!("a text of {field} is over {max} bytes")).with("max", max))
}

fn sorted(list: &[String]) -> Vec<String> {
    let mut list = list.to_vec();
    list.sort_unstable();
    list.dedup();
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(value: Value) -> HintScope {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn equal_conditions_have_equal_texts() {
        let one = scope(json!({
            "os": ["darwin", "linux", "linux"], "repo": "git:a/b", "branch": ["dev", "main"],
            "env_match": { "B": "1", "A": ["2", "1"] }, "cwd_glob": [],
        }));
        let other = scope(json!({
            "env_match": { "A": ["1", "2"], "B": ["1"] }, "branch": ["main", "dev"],
            "repo": ["git:a/b"], "os": ["linux", "darwin"],
        }));
        assert_eq!(one.canonical(), other.canonical());
        assert_ne!(one.canonical(), scope(json!({ "os": ["linux"] })).canonical());
        assert_eq!(scope(json!({ "os": [] })).canonical(), UNSCOPED);
    }

    #[test]
    fn specificity_counts_lists_once_and_variables_each() {
        let of = |value| (scope(value).specificity() * 5.0).round();
        assert_eq!(of(json!({})), 0.0);
        assert_eq!(of(json!({ "os": ["linux", "darwin"] })), 1.0);
        assert_eq!(of(json!({ "cwd_glob": ["a"], "repo": "r", "branch": ["b"] })), 3.0);
        assert_eq!(of(json!({ "env_required": ["A", "B"], "env_match": { "C": "1" } })), 3.0);
        assert_eq!(of(json!({ "os": ["linux"], "env_required": ["A", "B", "C", "D", "E"] })), 5.0);
    }

    #[test]
    fn a_scope_with_parent_steps_or_over_its_limits_is_refused() {
        let many: Vec<String> = (0..33).map(|n| n.to_string()).collect();
        for (value, code) in [
            (json!({ "cwd_glob": ["../**"] }), Code::ScopeInvalid),
            (json!({ "cwd_glob": ["/a\\..\\b"] }), Code::ScopeInvalid),
            (json!({ "cwd_glob": ["a".repeat(501)] }), Code::ScopeInvalid),
            (json!({ "branch": [" "] }), Code::ScopeInvalid),
            (json!({ "branch": many }), Code::Invalid),
            (json!({ "env_required": ["A=1"] }), Code::Invalid),
        ] {
            assert_eq!(scope(value.clone()).check().unwrap_err().code, code, "{value}");
        }
        assert_eq!(scope(json!({ "cwd_glob": ["**/a..b/*"] })).check(), Ok(()));
    }
}
