//! Projects as a user arranges them, and marks in a session that the caller names.

use serde_json::json;
use testkit::Home;

use super::home;

fn prompt(home: &Home, session: &str, cwd: &str) {
    let payload = json!({ "session_id": session, "cwd": cwd, "prompt": "Fix the login",
        "hook_event_name": "UserPromptSubmit" });
    home.run_with(&["hook", "UserPromptSubmit"], payload.to_string().as_bytes()).ok();
}

/// @project_unalias
#[test]
fn an_alias_is_removed_and_a_directory_with_sessions_is_not() {
    let home = home();
    let _daemon = home.daemon();
    prompt(&home, "s-1", "/srv/web");
    prompt(&home, "s-2", "/srv/web-old");
    home.run(&["project", "alias", "web", "/srv/assets"]).ok();
    let removed = home.run(&["project", "unalias", "web", "/srv/assets"]).ok();
    assert_eq!(removed, "✔ /srv/assets no longer leads to web\n");
    // A session there begins a project of its own.
    prompt(&home, "s-3", "/srv/assets");
    let listed = home.run(&["project", "list", "--json"]).json();
    let mut names: Vec<&str> = Vec::new();
    for project in listed["projects"].as_array().unwrap() {
        names.push(project["name"].as_str().unwrap());
    }
    names.sort_unstable();
    assert_eq!(names, ["assets", "web", "web-old"], "{listed}");
    home.run(&["project", "merge", "web-old", "web"]).ok();
    for (alias, why) in [
        ("/srv/web", "is what the project web is known by"),
        ("/srv/web-old", "1 session began in /srv/web-old"),
        ("/srv/nowhere", "is not an alias of web"),
        ("/srv/assets", "is not an alias of web"),
        ("", "is not a directory, remote or name"),
    ] {
        let refused = home.run(&["project", "unalias", "web", alias]);
        assert_eq!(refused.code, 1, "{alias}: {refused:?}");
        assert!(refused.stderr.contains(why), "{alias}: {refused:?}");
    }
}

/// @mark_in_the_session
#[test]
fn a_mark_is_stored_in_the_session_that_it_names() {
    let home = home();
    let _daemon = home.daemon();
    prompt(&home, "marked-session-1", "/srv/web");
    prompt(&home, "other-session-2", "/srv/api");
    let mark = |more: &[&str]| home.run(&[&["mark", "Use the frozen clock"], more].concat());
    mark(&["--session", "marked-s"]).ok();
    let mut agent = home.serve();
    agent.initialize("2025-06-18");
    let params = json!({ "text": "Pin the zone", "session_id": "marked-session-1" });
    let stored = agent.call("mark", &params).unwrap();
    assert_eq!(stored["session_id"], "marked-session-1", "{stored}");
    assert_eq!(stored["project"], "web", "{stored}");
    let trace = home.run(&["trace", "marked-session-1"]).ok();
    assert!(trace.contains("Use the frozen clock") && trace.contains("Pin the zone"), "{trace}");
    assert!(!home.run(&["trace", "other-session-2"]).ok().contains("frozen"));
    for wrong in [
        &["--session", "nobody-1"][..],
        &["--session", "a/b"],
        &["--session", "marked-s", "--project", "api"],
    ] {
        assert_eq!(mark(wrong).code, 1, "{wrong:?}");
    }
}

/// @capture_exclude_projects
#[test]
fn a_mark_in_an_excluded_project_is_refused_and_creates_nothing() {
    let home = home();
    let shop = home.path("shop");
    std::fs::create_dir_all(shop.join(".git")).unwrap();
    home.run(&["config", "set", "observations.exclude_projects", "shop"]).ok();
    let mut command = home.command(["mark", "never log card numbers"]);
    command.current_dir(&shop);
    let refused = testkit::home::finish(command, b"");
    assert_eq!(refused.code, 1, "{}", refused.stdout);
    assert!(refused.stderr.contains("excluded"), "{}", refused.stderr);
    let listed = home.run(&["project", "list", "--json"]).json();
    assert_eq!(listed["projects"], json!([]), "{listed}");
}
