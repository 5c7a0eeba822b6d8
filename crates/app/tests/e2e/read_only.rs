//! A database that is read-only for a while: it is used for reading, and written again as soon as possible.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::json;
use testkit::home::{finish, signal};
use testkit::{Home, Run, wait_until};

use super::{home, sqlite};

/// A home whose processes respect file modes even if the tests run as root.
struct Bound {
    home: Home,
    is_root: bool,
}

impl Bound {
    fn new() -> Bound {
        let (home, is_root) = (home(), client::platform::uid() == 0);
        if is_root {
            // Uid 65534 needs access to the directory and has to own it.
            assert!(
                Command::new("chown").arg("65534:65534").arg(&home.dir).status().unwrap().success()
            );
        }
        Bound { home, is_root }
    }

    fn command(&self, args: &[&str]) -> Command {
        if !self.is_root {
            return self.home.command(args);
        }
        let plain = self.home.command(args);
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"]);
        command.arg(plain.get_program()).args(plain.get_args());
        command.current_dir(&self.home.dir).env_clear();
        command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command
    }

    fn run(&self, args: &[&str]) -> Run {
        finish(self.command(args), b"")
    }

    fn set(&self, key: &str) -> Run {
        self.run(&["hint", "set", "web", key, "make", "--ttl", "forever"])
    }
}

fn chmod(path: &Path, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Killed when dropped.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        signal(self.0.id(), "KILL");
        let _ = self.0.wait();
    }
}

/// @a_read_only_database_is_unavailable
#[test]
fn a_daemon_that_started_read_only_writes_when_the_database_is_writable() {
    let bound = Bound::new();
    bound.set("before").ok();
    let database = bound.home.path("data/rekindle.db");
    chmod(&database, 0o444);
    let mut serve = bound.command(&["serve", "--http"]);
    let _daemon = Served(serve.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap());
    wait_until("the daemon answers", || {
        (bound.run(&["status", "--json"]).json()["running"] == true).then_some(())
    });
    let refused = bound.set("meanwhile");
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stderr.contains("read-only"), "{refused:?}");
    assert_eq!(bound.run(&["hint", "get", "web", "before"]).code, 0, "reading goes on");
    let event = json!({ "session_id": "s-1" }).to_string();
    finish(bound.command(&["hook", "Stop"]), event.as_bytes()).ok();
    assert_eq!(bound.home.spooled().len(), 1);
    chmod(&database, 0o600);
    wait_until("a write is accepted", || (bound.set("after").code == 0).then_some(()));
    wait_until("the event is recorded", || bound.home.spooled().is_empty().then_some(()));
    for key in ["before", "after"] {
        assert_eq!(bound.run(&["hint", "get", "web", key]).code, 0, "{key}");
    }
    assert_eq!(bound.run(&["hint", "get", "web", "meanwhile"]).code, 1);
    assert!(sqlite::is_sound(&database));
}

/// @context_full_disk
#[test]
fn a_read_only_database_shows_the_context_of_a_session_and_refuses_a_change() {
    let bound = Bound::new();
    let context = |args: &[&str]| bound.run(&[&["context"], args, &["--session", "s-1"]].concat());
    let set = r#"{"setName":"files","items":["/srv/cart.md"],"session_id":"s-1"}"#;
    bound.run(&["call", "set_relevant_context", set]).ok();
    let database = bound.home.path("data/rekindle.db");
    chmod(&database, 0o444);
    let refused = context(&["set", "files", "/srv/tax.md"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stderr.contains("read-only"), "{refused:?}");
    assert_eq!(context(&["get"]).ok(), "files:\n  /srv/cart.md\n");
    let input = json!({ "session_id": "s-1" }).to_string();
    assert_eq!(finish(bound.command(&["statusline"]), input.as_bytes()).ok(), "cart.md\n");
    chmod(&database, 0o600);
    context(&["set", "files", "/srv/tax.md"]).ok();
    assert_eq!(context(&["get"]).ok(), "files:\n  /srv/tax.md\n");
}

/// @a_read_only_database_is_unavailable
#[test]
fn a_shm_file_that_stayed_read_only_is_repaired() {
    let bound = Bound::new();
    let index = bound.home.path("data/rekindle.db-shm");
    bound.set("before").ok();
    chmod(&index, 0o400);
    let doctor = bound.run(&["doctor"]);
    let told = format!("{} cannot be written, but the database can", index.display());
    assert!(doctor.stdout.contains(&told), "{doctor:?}");
    let fixed = bound.run(&["doctor", "--fix"]);
    assert!(fixed.stdout.contains(&format!("made {} writable", index.display())), "{fixed:?}");
    assert_eq!(mode(&index), 0o600);
    // A command that opens the database for writing repairs the mode too.
    chmod(&index, 0o400);
    bound.set("after").ok();
    assert_eq!(mode(&index), 0o600);
}

/// @a_read_only_database_is_unavailable
#[test]
fn a_database_whose_mode_is_read_only_is_reported_and_repaired() {
    for mode_bits in [0o400, 0o444] {
        let bound = Bound::new();
        bound.set("before").ok();
        let database = bound.home.path("data/rekindle.db");
        chmod(&database, mode_bits);
        assert_eq!(bound.set("meanwhile").code, 1);
        let doctor = bound.run(&["doctor", "--json"]);
        assert_eq!(doctor.code, 1, "{doctor:?}");
        for name in ["database", "permissions"] {
            let checks = doctor.json()["checks"].as_array().unwrap().clone();
            let check = checks.into_iter().find(|check| check["name"] == name).unwrap();
            assert_eq!(check["status"], "fail", "{mode_bits:o}: {check}");
        }
        let fixed = bound.run(&["doctor", "--fix"]);
        let told = format!("made {} writable (mode 600)", database.display());
        assert!(fixed.stdout.contains(&told) || mode_bits == 0o444, "{fixed:?}");
        assert_eq!(mode(&database), 0o600, "{fixed:?}");
        bound.set("after").ok();
    }
}
