//! The list of plugins of this build. To add a plugin, add a line here.

use std::sync::{Arc, OnceLock};

use contract::Plugin;
use model::wire::Build;
use runtime::{Kit, MachineChecks};

/// Constructs further plugins.
type MakePlugins = fn() -> Vec<Arc<dyn Plugin>>;

static MORE: OnceLock<MakePlugins> = OnceLock::new();
static MACHINE_CHECKS: OnceLock<MachineChecks> = OnceLock::new();

/// Sets the checks of this machine that `doctor` runs. Only the first call counts.
pub(crate) fn set_machine_checks(checks: MachineChecks) {
    let _ = MACHINE_CHECKS.set(checks);
}

/// Adds plugins to those of this build, for the `main` of another program. Only the first call counts, and it must
/// precede all other calls.
pub fn add_plugins(make: MakePlugins) {
    // A later call would change the table of a running process.
    let _ = MORE.set(make);
}

/// The plugins of this build. Their order is that of the operations in lists; records do not depend on it.
fn plugins() -> Vec<Arc<dyn Plugin>> {
    vec![
        Arc::new(plugin_observations::Observations),
        Arc::new(plugin_hints::Hints::default()),
        Arc::new(plugin_sessions::Sessions),
        Arc::new(plugin_learning::Learning::default()),
    ]
}

/// The plugins and their table of operations.
pub fn kit() -> Kit {
    let mut plugins = plugins();
    plugins.extend(MORE.get().into_iter().flat_map(|make| make()));
    let kit = Kit::new(plugins).with_home(client::platform::home());
    match MACHINE_CHECKS.get() {
        Some(checks) => kit.with_machine_checks(*checks),
        None => kit,
    }
}

/// The version and build time of this program.
pub(crate) fn build() -> Build {
    let number = |text: &str| text.parse().unwrap_or(0);
    Build {
        version: (
            number(env!("CARGO_PKG_VERSION_MAJOR")),
            number(env!("CARGO_PKG_VERSION_MINOR")),
            number(env!("CARGO_PKG_VERSION_PATCH")),
        ),
        built: env!("REKINDLE_BUILT").parse().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use std::ffi::OsString;
    use std::path::Path;

    use contract::{Caller, Config, Request, RestRoute, Road as _, Tier};
    use model::hook::HookEvent;
    use model::locations::{Locations, Surroundings};
    use model::{CallId, limits};
    use runtime::log::{Level, Log};
    use runtime::{Runtime, RuntimeSetup};
    use serde_json::{Value, json};

    use super::*;

    /// The names and parameters of a route, its path included.
    fn params(route: &RestRoute) -> Vec<&'static str> {
        let of_path = route.path.split('/').filter_map(|part| part.strip_prefix('{'));
        let of_path = of_path.filter_map(|part| part.strip_suffix('}'));
        let others = route.query.iter().chain(route.body).map(|(_, param)| *param);
        of_path.chain(others).collect()
    }

    #[test]
    fn rest_routes_are_distinct_and_set_each_parameter_once() {
        let mut seen = BTreeSet::new();
        for op in kit().table.iter() {
            let schema = op.params_schema();
            for route in op.info.rest {
                let name = format!("{} {}", route.method.name(), route.path);
                assert!(route.path.starts_with("/api/"), "{name}");
                assert!(op.info.tiers.contains(&Tier::Client), "{name}: clients may not call it");
                let shape = route
                    .path
                    .split('/')
                    .map(|part| if part.starts_with('{') { "{}" } else { part });
                assert!(seen.insert((route.method, shape.collect::<Vec<_>>())), "{name} twice");
                let params = params(route);
                for (at, param) in params.iter().enumerate() {
                    let outer = param.split('.').next().unwrap_or_default();
                    assert!(
                        schema["properties"].get(outer).is_some(),
                        "{name}: no parameter {param}"
                    );
                    let inside =
                        |other: &&str| *other == *param || other.starts_with(&format!("{param}."));
                    let others = params.iter().enumerate().filter(|(other, _)| *other != at);
                    assert!(!others.map(|(_, other)| other).any(inside), "{name}: {param} twice");
                }
            }
        }
    }

    #[test]
    fn advanced_parameters_exist_and_may_be_left_out() {
        for op in kit().table.iter() {
            let schema = op.params_schema();
            let required = schema["required"].as_array().into_iter().flatten();
            let required: Vec<&str> = required.filter_map(|name| name.as_str()).collect();
            for name in op.info.advanced {
                assert!(op.info.core, "{}: only core leaves parameters out", op.info.name);
                assert!(schema["properties"].get(name).is_some(), "{}: no {name}", op.info.name);
                assert!(!required.contains(name), "{}: {name} is needed", op.info.name);
            }
        }
    }

    #[test]
    fn files_of_the_page_have_distinct_paths() {
        let kit = kit();
        let paths: Vec<&str> = kit.table.assets().iter().map(|asset| asset.path).collect();
        let distinct: BTreeSet<&&str> = paths.iter().collect();
        assert_eq!(distinct.len(), paths.len(), "{paths:?}");
        assert!(
            paths.iter().all(|path| path.starts_with('/') && !path.starts_with("/api/")),
            "{paths:?}"
        );
    }

    const FAILED: &str =
        "error[E0425]: cannot find function `frozen` in this scope\n --> src/clock.rs:4:5";

    /// A session with prompts, runs that fail and pass, an edit and an end, from this time on.
    fn events(base: i64) -> Vec<HookEvent> {
        let run = |command: &str, output: &str| {
            json!({
                "hook_event_name": "PostToolUse", "tool_name": "Bash",
                "tool_input": { "command": command },
                "tool_response": { "stdout": output, "stderr": "", "interrupted": false },
            })
        };
        let edit = json!({
            "hook_event_name": "PostToolUse", "tool_name": "Edit",
            "tool_input": { "file_path": "/srv/shop/src/clock.rs", "old_string": "now()", "new_string": "frozen()" },
            "tool_response": { "filePath": "/srv/shop/src/clock.rs" },
        });
        let payloads = [
            json!({ "hook_event_name": "SessionStart", "source": "startup" }),
            json!({ "hook_event_name": "UserPromptSubmit", "prompt": "The login test is flaky: find out why" }),
            json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": { "command": "cargo build" } }),
            json!({
                "hook_event_name": "PostToolUseFailure", "tool_name": "Bash",
                "tool_input": { "command": "cargo build" }, "error": format!("Exit code 101\n{FAILED}"),
            }),
            edit,
            run("cargo build", "Finished `dev` profile in 0.51s"),
            run("cargo test", "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured"),
            json!({ "hook_event_name": "UserPromptSubmit", "prompt": "We decided to freeze the clock in all tests" }),
            json!({ "hook_event_name": "Stop", "last_assistant_message": "The clock is frozen in the login tests." }),
            json!({ "hook_event_name": "SessionEnd", "reason": "exit" }),
        ];
        let event = |(number, mut payload): (u8, Value)| {
            payload["session_id"] = "s-1".into();
            payload["cwd"] = "/srv/shop".into();
            let at = base + i64::from(number) * 1_000;
            agents::extract(Some("claude-code"), None, &(&payload).into(), CallId([number; 16]), at)
                .expect("an event")
        };
        (1..).zip(payloads).map(event).collect()
    }

    /// The results of operations after these plugins, in this order, observed the events.
    fn recorded(name: &str, plugins: Vec<Arc<dyn Plugin>>, base: i64) -> Vec<Value> {
        let name = format!("rekindle-order-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let around = Surroundings {
            var: &|name| (name == "REKINDLE_HOME").then(|| OsString::from(&folder)),
            uid: client::platform::uid(),
            cwd: Path::new("/"),
            mac: false,
            canonical: &|path| path.to_path_buf(),
        };
        let locations = Locations::resolve(&around, None);
        let kit = Kit::new(plugins);
        let config = Config::defaults(kit.table.config_keys());
        let log = Log::to_file(&locations.daemon_log(), Level::Info);
        let setup = RuntimeSetup { kit, locations, config, one_shot: false, log };
        let runtime = Runtime::open(setup).expect("it opens");
        let call = |op: &str, params: Value| {
            let mut caller = Caller { tier: Tier::Client, ..Caller::default() };
            caller.situation.cwd = Some("/srv/shop".to_owned());
            let request = Request { call: client::mint(), op: op.to_owned(), params, caller };
            runtime.call(request).expect(op)
        };
        events(base).into_iter().for_each(|event| {
            runtime.ingest(vec![event]).expect("it is recorded");
        });
        let found = call("find_fix", json!({ "error": FAILED, "command": "cargo build" }));
        let shown = vec![
            call("activity", json!({ "limit": 200 }))["records"].clone(),
            call("list_sessions", json!({}))["sessions"].clone(),
            found["failures"].clone(),
        ];
        runtime.close();
        let _ = std::fs::remove_dir_all(&folder);
        shown
    }

    #[test]
    fn the_order_of_the_plugins_does_not_change_the_records() {
        let base = client::clock::now_ms() - 600_000;
        let in_order = recorded("kit", plugins(), base);
        let reversed = recorded("reversed", plugins().into_iter().rev().collect(), base);
        assert_eq!(in_order, reversed);
        let lengths: Vec<usize> =
            in_order.iter().map(|shown| shown.as_array().map_or(0, Vec::len)).collect();
        assert!(lengths[0] >= 6 && lengths[1] == 1 && lengths[2] >= 1, "{in_order:?}");
    }

    #[test]
    fn the_mcp_instructions_of_all_plugins_fit() {
        let table = kit().table;
        let text = mcp::server_instructions(&table);
        assert!(
            table.instructions().count() > 0 && text.len() <= limits::MCP_INSTRUCTIONS_BYTES_MAX
        );
        assert!(table.instructions().all(|paragraph| text.contains(paragraph)), "{text}");
    }
}
