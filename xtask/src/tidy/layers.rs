//! Who may see whom, as a table, against the dependencies that cargo reports.

use serde_json::Value;

use crate::report::Problem;

/// A crate and those of ours it may depend on. What only tests need is not looked at.
const MAY_SEE: [(&str, &[&str]); 25] = [
    ("model", &["text"]),
    ("text", &[]),
    ("git", &["regular"]),
    ("regular", &[]),
    ("zone", &["model", "regular"]),
    ("meaning", &[]),
    ("pattern", &["text"]),
    ("markup", &["text"]),
    ("agents", &["model", "text"]),
    ("store", &["model", "text", "pattern", "meaning", "regular"]),
    ("eval", &["model", "text", "store", "regular"]),
    ("contract", &["model", "store"]),
    ("llm", &["model", "contract"]),
    ("client", &["model", "git", "regular"]),
    ("connect", &["model", "agents", "regular"]),
    ("runtime", &["model", "text", "git", "agents", "store", "contract", "regular"]),
    ("hook", &["model", "agents", "text", "git", "client", "regular"]),
    ("mcp", &["model", "text", "contract", "runtime", "client"]),
    ("server", &["model", "contract", "runtime", "client", "mcp", "regular"]),
    ("cli", &["model", "text", "contract", "client", "agents", "regular"]),
    ("commands", &["*", "-app"]),
    ("app", &["*"]),
    ("testkit", &["*", "-app", "-commands"]),
    ("fuzz", &["agents", "git", "model", "pattern", "testkit", "text"]),
    ("xtask", &[]),
];

/// What every plugin may see: never another plugin and never a surface.
const PLUGIN_MAY_SEE: [&str; 10] =
    ["model", "text", "git", "pattern", "markup", "agents", "store", "contract", "regular", "zone"];

/// Crates that may use tokio: for sockets, to talk to a model, or to handle Ctrl-C.
pub(crate) const TOKIO_CRATES: [&str; 6] =
    ["runtime", "server", "mcp", "commands", "plugin-agent", "fuzz"];

/// Crates from outside that only some of ours may use.
const RESERVED: [(&str, &[&str]); 2] = [("tokio", &TOKIO_CRATES), ("rusqlite", &["store"])];

pub(crate) fn check(members: &Value, problems: &mut Vec<Problem>) {
    for (manifest, name, seen) in arrows(members, false) {
        let reserved = RESERVED.iter().find(|(foreign, _)| *foreign == seen);
        if let Some((_, owners)) = reserved.filter(|(_, owners)| !owners.contains(&name.as_str())) {
            let what = format!("`{seen}` is for {} only; go through them", owners.join(", "));
            problems.push(Problem::new(&manifest, 1, what));
        }
    }
    for (manifest, name, seen) in arrows(members, true) {
        let Some(verdict) = may_see(&name, &seen) else {
            let what = format!("`{name}` has no row in xtask's table of who may see whom; add it");
            problems.push(Problem::new(&manifest, 1, what));
            continue;
        };
        if !verdict {
            let what = format!(
                "`{name}` may not depend on `{seen}`; go through what it may see, or change the \
                 table in xtask and ARCHITECTURE.md together"
            );
            problems.push(Problem::new(&manifest, 1, what));
        }
    }
}

/// Every dependency outside of tests on our own crates or on foreign ones: manifest, from, to.
fn arrows(members: &Value, on_ours: bool) -> Vec<(String, String, String)> {
    let root = members["workspace_root"].as_str().unwrap_or_default();
    let mut found = Vec::new();
    for package in members["packages"].as_array().into_iter().flatten() {
        let name = package["name"].as_str().unwrap_or_default();
        let manifest = package["manifest_path"].as_str().unwrap_or_default();
        let manifest = manifest.strip_prefix(root).unwrap_or(manifest).trim_start_matches('/');
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let ours = dependency["path"].is_string();
            if ours == on_ours && dependency["kind"] != "dev" {
                let seen = dependency["name"].as_str().unwrap_or_default();
                found.push((manifest.to_owned(), name.to_owned(), seen.to_owned()));
            }
        }
    }
    found
}

/// Whether `name` may see `seen`; nothing if the table does not know `name`.
fn may_see(name: &str, seen: &str) -> Option<bool> {
    if name.starts_with("plugin-") {
        let agent = name == "plugin-agent" && seen == "llm";
        return Some(agent || PLUGIN_MAY_SEE.contains(&seen));
    }
    let (_, allowed) = MAY_SEE.iter().find(|(known, _)| *known == name)?;
    let excluded = allowed.iter().any(|word| word.strip_prefix('-') == Some(seen));
    Some(!excluded && (allowed.contains(&"*") || allowed.contains(&seen)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn found(name: &str, dependencies: Value) -> Vec<String> {
        let members = json!({
            "workspace_root": "/r",
            "packages": [{
                "name": name,
                "manifest_path": format!("/r/crates/{name}/Cargo.toml"),
                "dependencies": dependencies,
            }],
        });
        let mut problems = Vec::new();
        check(&members, &mut problems);
        problems.into_iter().map(|problem| format!("{} {}", problem.path, problem.what)).collect()
    }

    fn ours(name: &str, kind: Value) -> Value {
        json!({ "name": name, "path": format!("/r/crates/{name}"), "kind": kind })
    }

    #[test]
    fn an_arrow_against_the_table_is_reported() {
        let found = found("model", json!([ours("store", Value::Null)]));
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("crates/model/Cargo.toml `model` may not depend on `store`"));
    }

    #[test]
    fn allowed_arrows_tests_and_foreign_crates_are_left_alone() {
        assert!(found("contract", json!([ours("store", Value::Null)])).is_empty());
        assert!(found("model", json!([ours("testkit", json!("dev"))])).is_empty());
        let serde = json!({ "name": "serde", "kind": null });
        assert!(found("model", json!([serde])).is_empty());
    }

    #[test]
    fn a_reserved_crate_in_the_wrong_place_is_reported() {
        let tokio = |kind: Value| json!([{ "name": "tokio", "kind": kind }]);
        assert!(found("hook", tokio(Value::Null))[0].contains("`tokio` is for runtime"));
        assert!(found("hook", tokio(json!("dev"))).is_empty());
        assert!(found("server", tokio(Value::Null)).is_empty());
        assert_eq!(found("runtime", json!([{ "name": "rusqlite", "kind": null }])).len(), 1);
    }

    #[test]
    fn a_plugin_sees_no_other_plugin_and_no_surface() {
        assert_eq!(may_see("plugin-hints", "store"), Some(true));
        assert_eq!(may_see("plugin-hints", "plugin-sessions"), Some(false));
        assert_eq!(may_see("plugin-hints", "server"), Some(false));
        assert_eq!(may_see("plugin-hints", "llm"), Some(false));
        assert_eq!(may_see("plugin-agent", "llm"), Some(true));
    }

    #[test]
    fn only_the_leaf_sees_all_and_nobody_sees_the_leaf() {
        assert_eq!(may_see("app", "plugin-hints"), Some(true));
        assert_eq!(may_see("testkit", "server"), Some(true));
        assert_eq!(may_see("testkit", "app"), Some(false));
    }

    #[test]
    fn a_crate_without_a_row_is_reported() {
        let found = found("newcomer", json!([ours("model", Value::Null)]));
        assert!(found[0].contains("has no row"), "{found:?}");
    }
}
