//! Agents' files in states that nobody wants: what `doctor`, `agents`, `install` and `uninstall` make of them.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use testkit::Home;

use super::install::{agent, home, install, read};

/// What the doctor says under a name: the status, the detail and what to do.
fn said(home: &Home, name: &str) -> (String, String, String) {
    let report = home.run(&["doctor", "--json"]).json();
    let mut checks = report["checks"].as_array().unwrap().iter();
    let check = checks.find(|check| check["name"] == name).cloned().unwrap_or_default();
    let text = |member: &str| check[member].as_str().unwrap_or_default().to_owned();
    (text("status"), text("detail"), text("hint"))
}

fn texts(value: &Value) -> String {
    let all = value.as_array().into_iter().flatten().filter_map(Value::as_str);
    all.collect::<Vec<_>>().join("\n")
}

/// @agents_no_file
#[test]
fn what_is_no_file_is_named_and_never_opened() {
    let home = home();
    install(&home, &["claude-code"]).ok();
    let settings = home.path(".claude/settings.json");
    std::fs::remove_file(&settings).unwrap();
    assert!(Command::new("mkfifo").arg(&settings).status().unwrap().success());
    let started = Instant::now();
    let named = format!("{} is not a file but a pipe", settings.display());
    assert_eq!(texts(&agent(&home, "claude-code")["trouble"]), named);
    assert_eq!(said(&home, "claude-code").0, "fail");
    assert_eq!(said(&home, "claude-code").1, named);
    let run = home.run(&["uninstall"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains(&named), "{run:?}");
    assert!(started.elapsed() < Duration::from_secs(20), "nobody writes into it");
    std::fs::remove_file(&settings).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &settings).unwrap();
    assert!(said(&home, "claude-code").1.ends_with("is not a file but a device"));
}

/// @connect_narrowed
#[test]
fn what_is_not_as_it_was_written_is_partly_connected_until_it_is_installed_again() {
    let home = home();
    install(&home, &["opencode", "claude-code"]).ok();
    let plugin = read(&home, ".config/opencode/plugins/rekindle.js");
    home.write(".config/opencode/plugins/rekindle.js", &plugin[..plugin.len() / 2]);
    let settings = read(&home, ".claude/settings.json");
    home.write(".claude/settings.json", &settings.replacen("\"command\"", "\"prompt\"", 1));
    for (name, part) in [("opencode", "plugin"), ("claude-code", "SessionStart")] {
        assert_eq!(agent(&home, name)["wired"], "partly", "{name}");
        let (status, detail, hint) = said(&home, name);
        assert_eq!(status, "fail", "{detail}");
        assert!(detail.contains(part) && hint.contains("`rekindle install "), "{detail} {hint}");
    }
    install(&home, &["opencode", "claude-code"]).ok();
    assert_eq!(agent(&home, "opencode")["wired"], "yes");
    assert_eq!(read(&home, ".config/opencode/plugins/rekindle.js"), plugin);
    assert_eq!(read(&home, ".claude/settings.json"), settings);
}
