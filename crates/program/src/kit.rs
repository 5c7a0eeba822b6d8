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

/// The plugins and their table of operations.
pub fn kit() -> Kit {
    let mut plugins: Vec<Arc<dyn Plugin>> = vec![
        Arc::new(plugin_observations::Observations),
        Arc::new(plugin_hints::Hints::default()),
        Arc::new(plugin_sessions::Sessions),
        Arc::new(plugin_learning::Learning::default()),
    ];
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

    use contract::{RestRoute, Tier};
    use model::limits;

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
