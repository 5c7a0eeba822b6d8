//! The runtime directory in every state that a machine can have it in.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;

use super::home;

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

/// @runtime_directory_is_made
#[test]
fn a_missing_runtime_directory_is_created_private() {
    let mut home = home();
    let nested = home.path("a/b/run");
    home.set("REKINDLE_RUNTIME_DIR", nested.to_str().unwrap());
    let daemon = home.daemon();
    assert_eq!(mode(&nested), 0o700);
    assert_eq!(mode(&home.path("data")), 0o700);
    assert_eq!(mode(&home.path("data/rekindle.db")), 0o600);
    assert_eq!(home.run(&["status", "--json"]).json()["pid"], daemon.pid());
}

/// @runtime_directory_is_closed
#[test]
fn a_runtime_directory_that_others_can_write_is_made_private() {
    let home = home();
    std::fs::create_dir(home.path("run")).unwrap();
    let open = |bits| std::fs::set_permissions(home.path("run"), PermissionsExt::from_mode(bits));
    open(0o770).unwrap();
    let doctor = home.run(&["doctor"]);
    assert!(doctor.stdout.contains("runtime directory"), "{doctor:?}");
    open(0o777).unwrap();
    let _daemon = home.daemon();
    assert_eq!(mode(&home.path("run")), 0o700);
    // Opened again while the daemon runs, it is made private before any file in it is trusted.
    open(0o770).unwrap();
    let name = json!({ "component": "web", "key": "build", "value": "make" });
    home.call("set_hint", &name);
    assert_eq!(mode(&home.path("run")), 0o700);
}

/// @unusable_runtime_directory_is_named
#[test]
fn a_runtime_directory_that_cannot_be_used_is_named_and_the_hook_is_silent() {
    let home = home();
    // A file at its path represents every reason why it cannot be written; root ignores modes.
    home.write("run", "");
    let run_dir = home.path("run");
    let commands: [&[&str]; 4] =
        [&["serve"], &["serve", "--http"], &["up"], &["hint", "set", "web", "build", "make"]];
    for command in commands {
        let run = home.run(command);
        assert_eq!(run.code, 1, "{command:?}: {run:?}");
        assert!(run.stderr.contains(run_dir.to_str().unwrap()), "{command:?}: {run:?}");
        assert!(run.stderr.contains("REKINDLE_RUNTIME_DIR"), "{command:?}: {run:?}");
    }
    assert!(home.run(&["status"]).ok().starts_with("not running"));
    let doctor = home.run(&["doctor"]);
    assert_eq!(doctor.code, 1);
    assert!(doctor.stdout.contains("✘ runtime directory"), "{doctor:?}");
    home.hook("Stop", &json!({ "session_id": "s-1" }));
    assert_eq!(home.spooled().len(), 1);
}

/// @foreign_runtime_directory_is_refused
#[test]
fn a_runtime_directory_of_another_user_is_refused_by_name() {
    if client::platform::uid() != 0 {
        // Only root can change a directory's owner; the claim is tested where the tests run as root.
        return;
    }
    let home = home();
    std::fs::create_dir(home.path("run")).unwrap();
    std::os::unix::fs::chown(home.path("run"), Some(12_345), None).unwrap();
    for command in [&["serve", "--http"] as &[&str], &["hint", "get", "web", "build"]] {
        let run = home.run(command);
        assert_eq!(run.code, 1, "{command:?}: {run:?}");
        let named = format!("{} belongs to another user", home.path("run").display());
        assert!(run.stderr.contains(&named), "{command:?}: {run:?}");
    }
    // Not even by a session start, which reads its answer from the store.
    for event in ["Stop", "SessionStart"] {
        home.hook(event, &json!({ "session_id": "s-1" }));
    }
    assert_eq!(std::fs::read_dir(home.path("run")).unwrap().count(), 0, "nothing is put there");
    assert_eq!(home.spooled().len(), 2);
}

/// @long_paths_get_a_short_socket
#[test]
fn a_runtime_directory_with_a_path_of_150_characters_works() {
    let mut home = home();
    let long = home.path(&"r".repeat(150));
    home.set("REKINDLE_RUNTIME_DIR", long.to_str().unwrap());
    let mut daemon = home.daemon();
    let socket = home.discovery()["socket"].as_str().unwrap().to_owned();
    assert!(socket.len() <= 100 && Path::new(&socket).exists(), "{socket}");
    assert_eq!(mode(Path::new(&socket).parent().unwrap()), 0o700);
    home.call("set_hint", &json!({ "component": "web", "key": "build", "value": "make" }));
    let mut proxy = home.serve();
    proxy.initialize("2025-06-18");
    let found = proxy.call("get_hint", &json!({ "component": "web", "key": "build" })).unwrap();
    assert_eq!(found["hint"]["value"], "make");
    home.hook("Stop", &json!({ "session_id": "s-1" }));
    assert_eq!(home.run(&["status", "--json"]).json()["events"], 1);
    home.run(&["stop"]).ok();
    assert_eq!(daemon.wait(), Some(0));
    assert!(!Path::new(&socket).parent().unwrap().exists(), "nothing is left in /tmp");
}
