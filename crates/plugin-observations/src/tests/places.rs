//! Where an agent stands: repositories, work trees, names of one's own, and what stays private.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use model::hook::{Answer, Ends, Happening, HookEvent};
use model::observation::ObsType;
use serde_json::json;

use super::reading::{HOUR, World, texts};
use super::{Desk, Folder, edits, event, plain, runs, tool};
use crate::settings::Settings;
use place::{Place, PlaceSource as _, Places};

/// A git repository with only the files that the lookup of a project reads.
pub(super) fn repository(dir: &Path, remote: Option<&str>) {
    let git = dir.join(".git");
    fs::create_dir_all(git.join("objects")).unwrap();
    fs::create_dir_all(git.join("refs")).unwrap();
    fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    let remote = remote.map(|url| format!("[remote \"origin\"]\n\turl = {url}\n"));
    let config = format!("[core]\n\tbare = false\n{}", remote.unwrap_or_default());
    fs::write(git.join("config"), config).unwrap();
}

/// A second work tree of the repository.
pub(super) fn worktree(of: &Path, dir: &Path) {
    let own = of.join(".git/worktrees/second");
    fs::create_dir_all(&own).unwrap();
    fs::create_dir_all(dir).unwrap();
    fs::write(own.join("HEAD"), "ref: refs/heads/fix\n").unwrap();
    fs::write(own.join("commondir"), "../..\n").unwrap();
    fs::write(own.join("gitdir"), format!("{}\n", dir.join(".git").display())).unwrap();
    fs::write(dir.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
}

fn look(dir: &Path) -> Arc<Place> {
    Places::new(None).at(dir.to_str())
}

/// @project_identity
#[test]
fn a_repository_is_known_by_its_remote_and_shown_by_its_directory() {
    let folder = Folder::new();
    let app = folder.0.join("app");
    fs::create_dir_all(app.join("src/deep")).unwrap();
    repository(&app, Some("https://user:pass@GitHub.com/Org/app.git"));
    let place = look(&app.join("src/deep"));
    assert_eq!(place.facts.remote_key.as_deref(), Some("github.com/Org/app"));
    assert_eq!(place.facts.root.as_deref(), app.to_str());
    assert_eq!(place.facts.name, "app");
}

/// @project_identity
#[test]
fn a_missing_directory_belongs_to_the_repository_around_it() {
    let folder = Folder::new();
    let (app, link) = (folder.0.join("app"), folder.0.join("link"));
    repository(&app, None);
    std::os::unix::fs::symlink(&app, &link).unwrap();
    for gone in [app.join("gone"), app.join("gone/deep"), link.join("gone")] {
        assert_eq!(look(&gone).facts.root.as_deref(), app.to_str(), "{}", gone.display());
    }
    let outside = folder.0.join("gone");
    assert_eq!(look(&outside).facts.root.as_deref(), outside.to_str());
}

/// @project_worktrees
#[test]
fn a_worktree_and_a_link_are_the_same_place() {
    let folder = Folder::new();
    let (app, second, link) =
        (folder.0.join("app"), folder.0.join("second"), folder.0.join("link"));
    repository(&app, None);
    worktree(&app, &second);
    std::os::unix::fs::symlink(&app, &link).unwrap();
    assert_eq!(look(&second).facts, look(&app).facts);
    assert_eq!(look(&link).facts, look(&app).facts);
}

/// @project_home
#[test]
fn the_home_directory_and_the_root_directory_are_not_projects() {
    let folder = Folder::new();
    let home = folder.0.join("home");
    fs::create_dir_all(home.join("notes")).unwrap();
    repository(&home, Some("github.com/me/dotfiles"));
    let places = Places::new(Some(home.clone()));
    let at = |dir: &Path| places.at(dir.to_str()).facts.clone();
    assert_eq!((at(&home).name.as_str(), at(&home).root), ("home", None));
    assert_eq!((at(Path::new("/")).name.as_str(), at(Path::new("/")).root), ("unknown", None));
    assert_eq!(places.at(None).facts.name, "unknown");
    let notes = at(&home.join("notes"));
    assert_eq!((notes.name.as_str(), notes.remote_key), ("notes", None), "not the dot files");
}

/// @project_own_name
#[test]
fn a_project_can_have_a_name_of_its_own() {
    let folder = Folder::new();
    let app = folder.0.join("app");
    fs::create_dir_all(app.join("packages/ui/src")).unwrap();
    repository(&app, Some("git@github.com:org/app.git"));
    fs::write(app.join(".nmem.toml"), "project = \"The App\"\n").unwrap();
    let whole = look(&app.join("packages"));
    assert_eq!(whole.facts.name, "The App");
    assert_eq!(whole.facts.remote_key.as_deref(), Some("github.com/org/app"));
    fs::write(app.join("packages/ui/.rekindle.toml"), "project = \"ui\"\n").unwrap();
    let part = look(&app.join("packages/ui/src"));
    assert_eq!(part.facts.name, "ui");
    assert_eq!(part.facts.remote_key.as_deref(), Some("github.com/org/app#packages/ui"));
    assert_eq!(part.facts.root.as_deref(), app.join("packages/ui").to_str());
}

/// @capture_exclude
#[test]
fn paths_that_the_project_excludes_are_not_stored() {
    let folder = Folder::new();
    let app = folder.0.join("app");
    fs::create_dir_all(app.join("src")).unwrap();
    repository(&app, None);
    let own = "exclude = [\"secrets/**\", \"private\", \"*.pem\", \"docs/*.md\"]\n";
    fs::write(app.join(".rekindle.toml"), own).unwrap();
    let place = look(&app.join("src"));
    let excludes = |path: &str| place.excludes(app.join(path).to_str().unwrap());
    for hidden in [
        "secrets/a",
        "secrets/deep/.env",
        "secrets",
        "private/x/y",
        "key.pem",
        "a/b/key.pem",
        "a/.key.pem",
        "docs/a.md",
    ] {
        assert!(excludes(hidden), "{hidden}");
    }
    for shown in ["src/a.rs", "secret", "docs/deep/a.md", "key.pem.txt", "src/private.rs"] {
        assert!(!excludes(shown), "{shown}");
    }
    assert!(place.excludes("key.pem"), "relative to where the agent stands");
    assert!(!place.excludes("/elsewhere/secrets/a"));
    let desk =
        Desk::with(Arc::new(Places::new(None)), Settings { answers: true, ..Settings::default() });
    let cwd = Some(plain(app.join("src").to_str().unwrap()));
    let here = |event: HookEvent| HookEvent { cwd: cwd.clone(), ..event };
    desk.take(here(edits(app.join("secrets/a").to_str().unwrap(), 0)));
    let patch = tool(
        ObsType::FileEdit,
        "Edit two",
        app.join("src/a.rs").to_str(),
        json!({ "files": ["a.rs", "../secrets/b"] }),
    );
    desk.take(here(event("PostToolUse", Happening::ToolUsed(patch), 1)));
    desk.take(here(runs("make", 2)));
    let text = plain("I moved secrets/a to the vault.");
    let answer = Answer { text, ends: Ends::Turn, failed: false };
    desk.take(here(event("Stop", Happening::Answered(answer), 3)));
    let kept: Vec<String> = desk.seen("s-1").into_iter().map(|one| one.content).collect();
    assert_eq!(
        kept,
        ["make", "I moved secrets/a to the vault."],
        "an answer is not about one file"
    );
}

/// @capture_exclude_links
#[test]
fn a_link_does_not_bypass_an_exclusion() {
    let folder = Folder::new();
    let (app, link) = (folder.0.join("app"), folder.0.join("link"));
    fs::create_dir_all(&app).unwrap();
    std::os::unix::fs::symlink(&app, &link).unwrap();
    fs::write(app.join(".rekindle.toml"), "exclude = \"secrets\"\n").unwrap();
    let place = look(&link);
    assert!(place.excludes(link.join("secrets/a").to_str().unwrap()));
    assert!(!place.excludes(link.join("src/a").to_str().unwrap()));
}

/// Directories below a replaced one are cached too, each with the settings of the former project.
#[test]
fn a_replaced_directory_does_not_keep_the_exclusions_of_the_former_one() {
    let folder = Folder::new();
    let app = folder.0.join("app");
    fs::create_dir_all(app.join("src")).unwrap();
    repository(&app, None);
    fs::write(app.join(".rekindle.toml"), "exclude = \"src\"\n").unwrap();
    let places = Places::new(None);
    let file = app.join("src/a.rs");
    let hides = || places.hides(&places.at(app.to_str()), app.to_str(), file.to_str().unwrap());
    assert!(hides());
    // The first lookup found the path excluded by `app` alone, so this one is needed to cache `src`.
    places.at(app.join("src").to_str());
    fs::rename(&app, folder.0.join("former")).unwrap();
    fs::create_dir_all(app.join("src")).unwrap();
    repository(&app, None);
    assert!(!hides());
}

/// @capture_exclude_elsewhere
#[test]
fn exclusions_of_a_project_apply_from_every_working_directory() {
    let folder = Folder::new();
    let home = folder.0.join("home");
    let (app, other) = (home.join("app"), home.join("other"));
    fs::create_dir_all(app.join("private")).unwrap();
    repository(&app, None);
    repository(&other, None);
    fs::write(app.join(".rekindle.toml"), "exclude = \"private/**\"\n").unwrap();
    fs::write(other.join(".rekindle.toml"), "exclude = \"src\"\n").unwrap();
    std::os::unix::fs::symlink(app.join("private"), other.join("link")).unwrap();
    std::os::unix::fs::symlink(app.join("private"), app.join("open")).unwrap();
    let places = Places::new(Some(home.clone()));
    for cwd in [&other, &home, &app, Path::new("/")] {
        let hides = |path: &str| places.hides(&places.at(cwd.to_str()), cwd.to_str(), path);
        let inside = |path: &str| hides(app.join(path).to_str().unwrap());
        assert!(inside("private/plan.txt") && inside("src/../private/gone/plan.txt"), "{cwd:?}");
        assert!(inside("open/plan.txt") && hides("~/app/private/plan.txt"), "{cwd:?}");
        assert!(hides(other.join("link/plan.txt").to_str().unwrap()), "{cwd:?}");
        assert!(!inside("src/plan.txt") && !inside("privateer.txt"), "{cwd:?}");
    }
    assert!(places.hides(&places.at(other.to_str()), other.to_str(), "../app/private/plan.txt"));
    assert!(
        !places.hides(&places.at(None), None, "private/plan.txt"),
        "nobody knows where that is"
    );
}

/// @capture_exclude_broken
#[test]
fn settings_that_cannot_be_understood_hide_every_path() {
    let folder = Folder::new();
    for broken in ["exclude = [", "exclude = 3", "exclude = [\"a[\"]", "\u{0}"] {
        fs::write(folder.0.join(".rekindle.toml"), broken).unwrap();
        let place = look(&folder.0);
        assert!(place.excludes(folder.0.join("a").to_str().unwrap()), "{broken:?}");
        assert_eq!(place.facts.root.as_deref(), folder.0.to_str());
        assert!(
            place.withheld().is_some_and(|line| line.contains(".rekindle.toml cannot be read"))
        );
    }
    fs::write(folder.0.join(".rekindle.toml"), "project = \"app\"\nexclude = = 3\n").unwrap();
    let places = Places::new(None);
    assert_eq!(places.withheld().len(), 0);
    places.at(folder.0.to_str());
    let told: Vec<String> = places.withheld().into_iter().collect();
    assert!(told.len() == 1 && told[0].contains("line 2 is not TOML"), "{told:?}");
}

/// @capture_exclude_broken
#[test]
fn a_named_pipe_as_settings_file_excludes_every_path_and_does_not_block() {
    let folder = Folder::new();
    let made = std::process::Command::new("mkfifo").arg(folder.0.join(".rekindle.toml")).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo can be run");
    assert!(look(&folder.0).excludes(folder.0.join("a").to_str().unwrap()));
}

/// @capture_exclude_broken
#[test]
fn a_settings_file_that_is_too_long_or_not_text_excludes_every_path() {
    let folder = Folder::new();
    let file = folder.0.join(".rekindle.toml");
    let withheld = |why: &str| {
        let place = look(&folder.0);
        assert!(place.excludes(folder.0.join("a").to_str().unwrap()), "{why}");
        let line = place.withheld().unwrap_or_default();
        assert!(line.contains(why), "{line}");
        fs::remove_file(&file).or_else(|_| fs::remove_dir(&file)).unwrap();
    };
    // The part past the limit may exclude something.
    fs::write(&file, format!("{}\nexclude = \"a\"\n", "#".repeat(64 * 1024))).unwrap();
    withheld("it is over 64 KiB");
    fs::write(&file, b"exclude = \"\xff\"").unwrap();
    withheld("it is not a text");
    fs::create_dir(&file).unwrap();
    withheld("it is a directory");
    std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
    withheld("it is a device");
    std::os::unix::fs::symlink("nowhere", &file).unwrap();
    withheld("it is a link that leads nowhere");
    std::os::unix::fs::symlink(".rekindle.toml", &file).unwrap();
    withheld("it is a symbolic link that leads to itself");
    for deep in ["[", "{a=", "[["] {
        fs::write(&file, format!("a = {}", deep.repeat(20_000))).unwrap();
        withheld("line 1 is not TOML");
    }
    for (open, close) in [("", " = 1"), ("[", "]")] {
        fs::write(&file, format!("{open}{}a{close}", "a.".repeat(30_000))).unwrap();
        withheld("line 1 is not TOML");
    }
    fs::write(&file, format!("exclude = [{}]", "\"a\",".repeat(201))).unwrap();
    withheld("exclude has more than 200 globs or 8 KiB");
    let long = format!("\"{}\",", "b".repeat(400));
    fs::write(&file, format!("exclude = [{}]", long.repeat(21))).unwrap();
    withheld("exclude has more than 200 globs or 8 KiB");
}

/// @capture_exclude_everything
#[test]
fn globs_that_exclude_every_path_are_reported() {
    let folder = Folder::new();
    let file = folder.0.join(".rekindle.toml");
    let all = [
        r#""**""#,
        r#""*""#,
        r#"["**/*"]"#,
        r#""./**""#,
        r#""/**""#,
        r#""/*""#,
        r#"".""#,
        r#""./""#,
        r#""/""#,
        r#""?*""#,
        r#"["*.*", "*"]"#,
        r#""!q-w-e""#,
        r#"["!src/**", "src"]"#,
        r#"["[a-z]*", "[A-Z]*", "[0-9]*", "[^a-zA-Z0-9]*"]"#,
        r#""{*,**/*}""#,
    ];
    for exclude in all {
        fs::write(&file, format!("exclude = {exclude}\n")).unwrap();
        let place = look(&folder.0);
        let line = place.withheld().unwrap_or_default();
        assert!(line.contains(".rekindle.toml excludes every path"), "{exclude}: {line:?}");
        assert!(place.excludes(folder.0.join("any/thing").to_str().unwrap()), "{exclude}");
    }
    let some = [r#""src/**""#, r#""*.*""#, r#"["secrets", "*.pem"]"#, "[]", r#""[a-z]*""#];
    for exclude in some {
        fs::write(&file, format!("exclude = {exclude}\n")).unwrap();
        assert_eq!(look(&folder.0).withheld(), None, "{exclude}");
    }
}

/// @capture_exclude_everything
#[test]
fn globs_that_together_exclude_nearly_all_files_are_reported() {
    let folder = Folder::new();
    for path in ["src/main.rs", "src/lib.rs", "docs/a.md", "Cargo.toml", ".github/ci.yml"] {
        let path = folder.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }
    let file = folder.0.join(".rekindle.toml");
    let report = |exclude: &str| {
        fs::write(&file, format!("exclude = {exclude}\n")).unwrap();
        look(&folder.0).withheld()
    };
    for exclude in [r#"["src", "docs/**", "*.toml"]"#, r#""{src,docs,Cargo.toml}""#] {
        let line = report(exclude).unwrap_or_default();
        assert!(line.contains(".rekindle.toml excludes all files here (4)"), "{exclude}: {line}");
        // Unlike a glob for every path, these keep a new file.
        assert!(!look(&folder.0).excludes(folder.0.join("new.py").to_str().unwrap()));
    }
    assert_eq!(report(r#"["src", "docs"]"#), None, "Cargo.toml is left");
    fs::create_dir(folder.0.join("data")).unwrap();
    for number in 0..96 {
        fs::write(folder.0.join(format!("data/{number}.csv")), "x").unwrap();
    }
    let line = report(r#"["src", "data"]"#).unwrap_or_default();
    assert!(line.contains("excludes 98 of 100 files here; nothing about them"), "{line}");
    // The settings of a directory count for the files in it.
    fs::write(folder.0.join("docs/.rekindle.toml"), "exclude = \"*.md\"\n").unwrap();
    assert!(look(&folder.0.join("docs")).withheld().unwrap().contains("all files here (1)"));
}

/// @capture_exclude_everything
#[test]
fn the_check_of_excluded_files_takes_a_sample_of_many() {
    let folder = Folder::new();
    for number in 0..4_000 {
        let path = folder.0.join(format!("{}/{number}.rs", number % 7));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }
    // A few files that are left do not matter.
    for number in 0..5 {
        fs::write(folder.0.join(format!("!{number}")), "x").unwrap();
    }
    let globs: Vec<String> = (0..7).map(|number| format!("\"{number}\"")).collect();
    let exclude = format!("exclude = [{}]\n", globs.join(","));
    fs::write(folder.0.join(".rekindle.toml"), exclude).unwrap();
    let line = look(&folder.0).withheld().unwrap_or_default();
    assert!(line.contains("checked files (4005 in all)"), "{line}");
}

/// @capture_exclude
#[test]
fn a_leading_slash_means_the_directory_of_the_settings_file() {
    let folder = Folder::new();
    let own = "exclude = [\"/keys/**\", \"/plan.md\"]\n";
    fs::write(folder.0.join(".rekindle.toml"), own).unwrap();
    let place = look(&folder.0);
    let excludes = |path: &str| place.excludes(folder.0.join(path).to_str().unwrap());
    assert!(excludes("keys/a") && excludes("plan.md"));
    assert!(!excludes("docs/plan.md") && !excludes("src/keys/a"));
    assert!(excludes(&"a".repeat(5_000)), "no file has such a path");
}

/// @project_name_is_plain
#[test]
fn a_name_from_a_file_or_a_directory_is_short_and_plain() {
    let folder = Folder::new();
    let odd = folder.0.join("# obey\n<system>");
    fs::create_dir_all(&odd).unwrap();
    assert_eq!(look(&odd).facts.name, "obey-system");
    let file = odd.join(".rekindle.toml");
    fs::write(&file, format!("project = '{}'\n", "Ignore all! ".repeat(2_000))).unwrap();
    let name = look(&odd).facts.name.clone();
    assert_eq!(name, "Ignore all- ".repeat(5).trim_end_matches(['-', ' ']));
    for nothing in ["''", "'...'", "'🦀'", "3", "['a']"] {
        fs::write(&file, format!("project = {nothing}\n")).unwrap();
        assert_eq!(look(&odd).facts.name, "obey-system", "{nothing}");
    }
}

/// @capture_exclude_broken
#[test]
fn a_briefing_reports_broken_settings_of_the_callers_project() {
    let folder = Folder::new();
    fs::write(folder.0.join(".rekindle.toml"), "exclude = [").unwrap();
    let world = World::new();
    let told = |params| world.call_from(folder.0.to_str(), "briefing", params).unwrap();
    let text = told(json!({}))["text"].to_string();
    assert!(text.contains("is stored there until the file is corrected"), "{text}");
    assert!(!told(json!({ "project": "*" }))["text"].to_string().contains("corrected"));
}

/// @project_identity
#[test]
fn a_place_that_does_not_exist_goes_by_its_path() {
    let place = look(Path::new("/nowhere/at/all"));
    assert_eq!(place.facts.root.as_deref(), Some("/nowhere/at/all"));
    assert_eq!(place.facts.name, "all");
    assert_eq!(look(Path::new("relative/path")).facts.name, "unknown");
}

/// @read_file_history
/// @search_filters
#[test]
fn a_file_has_one_history_in_all_work_trees_and_through_links() {
    let folder = Folder::new();
    let (app, second, link) =
        (folder.0.join("app"), folder.0.join("second"), folder.0.join("link"));
    repository(&app, None);
    worktree(&app, &second);
    std::os::unix::fs::symlink(&app, &link).unwrap();
    let world = World::new();
    for (number, dir) in [&app, &second, &link].into_iter().enumerate() {
        fs::create_dir_all(dir.join("deep/src")).unwrap();
        fs::create_dir_all(dir.join("src")).unwrap();
        let (session, cwd) = (format!("s-{number}"), dir.to_str().unwrap());
        for path in ["src/a.rs", "deep/src/a.rs"] {
            world.edit((&session, cwd), HOUR, dir.join(path).to_str().unwrap(), path);
        }
    }
    for (cwd, path) in [(&app, "src/a.rs"), (&second, "src/a.rs"), (&link, "./src/a.rs")] {
        for path in [path.to_owned(), cwd.join("src/a.rs").to_str().unwrap().to_owned()] {
            let params = json!({ "file_path": path });
            let history = world.call_from(cwd.to_str(), "file_history", params).unwrap();
            let sessions = history["sessions"].as_array().unwrap();
            let touches = sessions.iter().flat_map(|one| texts(&one["touches"]));
            assert_eq!(touches.collect::<Vec<_>>(), ["src/a.rs"; 3], "{path} from {cwd:?}");
            let params = json!({ "query": "src", "file_path": path, "diverse": false });
            let found = world.call_from(cwd.to_str(), "search", params).unwrap();
            assert_eq!(texts(&found["results"]), ["src/a.rs"; 3], "{path} from {cwd:?}");
        }
    }
    // Only one work tree has it on record, and not the one where the caller stands.
    let only = second.join("src/only.rs");
    world.edit(("s-1", second.to_str().unwrap()), 0, only.to_str().unwrap(), "made only here");
    for cwd in [&app, &second, &link] {
        let params = json!({ "query": "made", "file_path": "src/only.rs" });
        let found = world.call_from(cwd.to_str(), "search", params).unwrap();
        assert_eq!(texts(&found["results"]), ["made only here"], "from {cwd:?}");
    }
}
