//! Tests of the settings file through the functions a command uses.

use super::*;

const KEYS: &[ConfigKey] = &[
    ConfigKey {
        key: "daemon.port",
        kind: ConfigKind::Integer,
        default: "8765",
        env: &["X_PORT", "OLD_PORT"],
        doc: "",
    },
    ConfigKey { key: "daemon.idle", kind: ConfigKind::Duration, default: "12h", env: &[], doc: "" },
    ConfigKey { key: "daemon.http", kind: ConfigKind::Port, default: "1", env: &[], doc: "" },
    ConfigKey {
        key: "log.level",
        kind: ConfigKind::Choice(&["info"]),
        default: "info",
        env: &[],
        doc: "",
    },
    ConfigKey { key: "mcp.tools", kind: ConfigKind::Toolsets, default: "core", env: &[], doc: "" },
];

fn file(name: &str, text: &str) -> PathBuf {
    let folder =
        std::env::temp_dir().join(format!("rekindle-config-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("config.toml");
    std::fs::write(&file, text).unwrap();
    file
}

/// A table whose settings are [`KEYS`].
fn table() -> Table {
    struct Keys;

    impl contract::Plugin for Keys {
        fn name(&self) -> &'static str {
            "keys"
        }

        fn operations(&self) -> Vec<contract::Operation> {
            Vec::new()
        }

        fn config(&self) -> &'static [ConfigKey] {
            KEYS
        }
    }

    Table::new(&[std::sync::Arc::new(Keys)])
}

fn nothing(_: &str) -> Option<String> {
    None
}

#[test]
fn a_broken_file_is_reported_by_name_and_line() {
    for (name, text, line) in [
        ("syntax", "[daemon]\nport = = 1\n", 2),
        ("unknown", "[daemon]\n\n# hello\ncolour = 1\n", 4),
        ("type", "[daemon]\nport = \"many\"\n", 2),
        ("unit", "\n[daemon]\nidle = \"soon\"\n", 3),
        ("range", "[daemon]\nhttp = 70000\n", 2),
        ("word", "[log]\nlevel = \"loud\"\n", 2),
        ("toolset", "[mcp]\n\ntools = \"bogus\"\n", 3),
        ("list", "[daemon]\nport = [1]\n", 2),
    ] {
        let file = file(name, text);
        let error = load(&table(), &file, &nothing).unwrap_err();
        assert!(error.message.contains("config.toml"), "{}", error.message);
        assert_eq!(error.details["line"], line, "{name}: {}", error.message);
    }
}

#[test]
fn setting_one_key_keeps_comments_and_order() {
    let file = file("keep", "# mine\n[daemon] # here\nidle = \"1h\" # an hour\n");
    set(&table(), &file, "daemon.port", "9000").unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(text, "# mine\n[daemon] # here\nidle = \"1h\" # an hour\nport = 9000\n");
    assert_eq!(load(&table(), &file, &nothing).unwrap().integer("daemon.port"), 9000);
}

#[test]
fn a_bad_value_changes_nothing() {
    let file = file("bad", "[daemon]\nport = 1\n");
    assert!(set(&table(), &file, "daemon.port", "x").is_err());
    assert!(set(&table(), &file, "daemon.colour", "x").is_err());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "[daemon]\nport = 1\n");
}

#[test]
fn the_environment_wins_over_the_file_and_our_name_over_others() {
    let file = file("env", "[daemon]\nport = 1\n");
    let var = |name: &str| match name {
        "X_PORT" => Some("3".to_owned()),
        "OLD_PORT" => Some("4".to_owned()),
        _ => None,
    };
    assert_eq!(load(&table(), &file, &var).unwrap().integer("daemon.port"), 3);
    assert!(load(&table(), &file, &|_| Some("x".into())).is_err());
}
