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

/// A settings file in a directory of its own, which is removed with it.
struct TestFile(PathBuf);

impl std::ops::Deref for TestFile {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for TestFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(self.parent().unwrap());
    }
}

fn file(name: &str, text: &str) -> TestFile {
    let folder =
        std::env::temp_dir().join(format!("rekindle-config-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("config.toml");
    std::fs::write(&file, text).unwrap();
    TestFile(file)
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
    let text = std::fs::read_to_string(&*file).unwrap();
    assert_eq!(text, "# mine\n[daemon] # here\nidle = \"1h\" # an hour\nport = 9000\n");
    assert_eq!(load(&table(), &file, &nothing).unwrap().integer("daemon.port"), 9000);
}

#[test]
fn a_bad_value_changes_nothing() {
    let file = file("bad", "[daemon]\nport = 1\n");
    assert!(set(&table(), &file, "daemon.port", "x").is_err());
    assert!(set(&table(), &file, "daemon.colour", "x").is_err());
    assert_eq!(std::fs::read_to_string(&*file).unwrap(), "[daemon]\nport = 1\n");
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

#[test]
fn a_missing_file_means_the_defaults_and_an_unreadable_one_is_an_error() {
    let present = file("missing", "");
    let missing = present.with_file_name("none.toml");
    assert_eq!(load(&table(), &missing, &nothing).unwrap().integer("daemon.port"), 8765);
    let folder = missing.parent().unwrap();
    let error = load(&table(), folder, &nothing).unwrap_err();
    assert_eq!(error.code, Code::Invalid);
    assert!(error.message.starts_with("cannot read "), "{}", error.message);
}

#[test]
fn one_setting_is_read_without_a_look_at_the_others() {
    let file = file("one", "[daemon]\nport = 9\ncolour = \"red\"\n");
    let port = |file: &Path, var: &dyn Fn(&str) -> Option<String>| one(&KEYS[0], file, var);
    assert_eq!(port(&file, &nothing).as_deref(), Ok("9"));
    assert_eq!(port(&file.with_file_name("none.toml"), &nothing).as_deref(), Ok("8765"));
    let old = |name: &str| (name == "OLD_PORT").then(|| "4".to_owned());
    assert_eq!(port(&file, &old).as_deref(), Ok("4"));
    assert_eq!(port(&file, &|_| Some("x".into())).unwrap_err().code, Code::Invalid);
    assert_eq!(one(&KEYS[1], &file, &nothing).as_deref(), Ok("12h"));
}

#[test]
fn a_written_setting_has_the_type_of_its_kind() {
    const FLAG: ConfigKey =
        ConfigKey { key: "quiet", kind: ConfigKind::Boolean, default: "false", env: &[], doc: "" };
    struct Flag;

    impl contract::Plugin for Flag {
        fn name(&self) -> &'static str {
            "flag"
        }

        fn operations(&self) -> Vec<contract::Operation> {
            Vec::new()
        }

        fn config(&self) -> &'static [ConfigKey] {
            const { &[FLAG] }
        }
    }

    let written = |table: &Table, name: &str, value: &str| {
        let file = file(&format!("type-{name}-{value}"), "");
        set(table, &file, name, value).unwrap();
        std::fs::read_to_string(&*file).unwrap()
    };
    assert_eq!(written(&table(), "daemon.http", "80"), "[daemon]\nhttp = 80\n");
    assert_eq!(written(&table(), "daemon.idle", "7d"), "[daemon]\nidle = \"7d\"\n");
    let flags = Table::new(&[std::sync::Arc::new(Flag)]);
    assert_eq!(written(&flags, "quiet", "on"), "quiet = true\n");
    assert_eq!(written(&flags, "quiet", "no"), "quiet = false\n");
    let large = written(&table(), "daemon.port", "18446744073709551615");
    assert_eq!(large, "[daemon]\nport = \"18446744073709551615\"\n", "TOML has no such number");
}

#[test]
fn a_setting_that_is_not_declared_is_not_found() {
    assert_eq!(find(KEYS, "daemon.port").unwrap().default, "8765");
    assert_eq!(find(KEYS, "daemon.colour").unwrap_err().code, Code::NotFound);
}

#[test]
fn a_change_of_the_file_is_noticed_and_judged() {
    let file = file("taken", "[daemon]\nport = 1\n");
    let taken = LoadedFile::from(&file);
    assert_eq!(taken.outdated(&table()), None);
    std::fs::write(&*file, "[daemon]\nport = 2\n").unwrap();
    assert!(taken.outdated(&table()).unwrap().ends_with("was changed since the daemon started"));
    std::fs::write(&*file, "[daemon]\nport = \"x\"\n").unwrap();
    assert!(taken.outdated(&table()).unwrap().contains("line 2"));
    std::fs::write(&*file, "[daemon]\nport = 1\n").unwrap();
    assert_eq!(taken.outdated(&table()), None);
}
