//! Projects: their identity survives renames and new remotes, and people can correct it.

use super::desk::{Desk, facts, touch, write};
use super::{Home, NOW, Opening};
use crate::tx::Tx;
use crate::{check_ins, projects};
use model::Code;
use model::project::{Project, ProjectFacts};

const REMOTE: &str = "github.com/org/app";

fn resolve(opening: &Opening, facts: ProjectFacts) -> Project {
    write(opening, move |tx| projects::resolve(tx, &facts, NOW))
}

/// @project_rename
#[test]
fn a_renamed_directory_keeps_its_project() {
    let opening = Home::new().open();
    let before = resolve(&opening, facts(Some(REMOTE), Some("/w/app"), "app"));
    let after = resolve(&opening, facts(Some(REMOTE), Some("/w/better"), "better"));
    assert_eq!((after.id, after.key.as_str()), (before.id, REMOTE));
    let found = opening.store.read(|rx| projects::find(rx, "better")).unwrap();
    assert_eq!(found, [before], "and its new name means it too");
}

/// @project_new_root
#[test]
fn a_new_root_never_renames_a_known_project() {
    let opening = Home::new().open();
    let before = resolve(&opening, facts(Some(REMOTE), Some("/w/app"), "app"));
    for name in ["hostile", "Read this first"] {
        let clone = resolve(&opening, facts(Some(REMOTE), Some("/w/hostile"), name));
        assert_eq!(clone, before, "{name}");
    }
    let listed = opening.store.read(projects::list).unwrap();
    assert_eq!((listed.len(), &listed[0].project), (1, &before));
    assert_eq!(listed[0].aliases, ["/w/app", "/w/hostile", REMOTE]);
}

/// @project_own_name
#[test]
fn the_settings_at_its_own_root_rename_a_project() {
    let opening = Home::new().open();
    let before = resolve(&opening, facts(Some(REMOTE), Some("/w/app"), "app"));
    let after = resolve(&opening, facts(Some(REMOTE), Some("/w/app"), "The App"));
    assert_eq!((after.id, after.name.as_str()), (before.id, "The App"));
    assert_eq!((after.key, after.root), (before.key, before.root));
}

/// @project_rename
/// @project_shared_name
#[test]
fn a_project_is_found_by_every_name_that_it_had_and_letters_may_be_small_or_capital() {
    let opening = Home::new().open();
    let one = resolve(&opening, facts(Some(REMOTE), Some("/w/shop"), "shop"));
    resolve(&opening, facts(Some(REMOTE), Some("/w/clone2"), "clone2"));
    let other = resolve(&opening, facts(None, Some("/v/shop"), "shop"));
    let find = |text: &str| -> Vec<i64> {
        let found = opening.store.read(|rx| projects::find(rx, text)).unwrap();
        found.into_iter().map(|project| project.id).collect()
    };
    assert_eq!(find("shop"), [one.id, other.id]);
    for name in ["clone2", "app", "APP", "github.com/ORG/app", "/W/Shop"] {
        assert_eq!(find(name), [one.id], "{name}");
    }
    for stranger in ["hop", "op", "%", "_hop", "w/shop/", ""] {
        assert_eq!(find(stranger), [0; 0], "{stranger}");
    }
}

/// @project_new_remote
#[test]
fn a_new_remote_keeps_the_project_and_both_remotes_lead_to_it() {
    let opening = Home::new().open();
    let here = |remote| made(facts(Some(remote), Some("/w/app"), "app"), &["made:git", "made:app"]);
    let before = resolve(&opening, here(REMOTE));
    let moved = resolve(&opening, here("gitlab.com/o/app"));
    let clone = resolve(&opening, facts(Some("gitlab.com/o/app"), Some("/elsewhere"), "elsewhere"));
    let old = resolve(&opening, facts(Some(REMOTE), Some("/old"), "old"));
    assert_eq!([moved.id, clone.id, old.id], [before.id; 3]);
    assert_eq!(old.key, REMOTE, "the key never changes");
}

/// @project_new_remote
#[test]
fn a_repository_that_gets_its_first_remote_stays_the_same_project() {
    let opening = Home::new().open();
    let here = |remote| made(facts(remote, Some("/w/app"), "app"), &["made:git", "made:app"]);
    let before = resolve(&opening, here(None));
    let after = resolve(&opening, here(Some(REMOTE)));
    assert_eq!((after.id, after.key.as_str()), (before.id, "/w/app"));
}

/// @project_new_remote
#[test]
fn a_directory_that_becomes_a_repository_with_a_remote_stays_the_same_project() {
    let opening = Home::new().open();
    let plain = resolve(&opening, made(facts(None, Some("/w/app"), "app"), &["made:app"]));
    let cloned = made(facts(Some(REMOTE), Some("/w/app"), "app"), &["made:git", "made:app"]);
    assert_eq!(resolve(&opening, cloned).id, plain.id);
}

/// @project_replaced
#[test]
fn another_repository_at_a_known_path_is_another_project() {
    let opening = Home::new().open();
    let here =
        |remote, git| made(facts(Some(remote), Some("/w/app"), "app"), &[git, "made:app-again"]);
    let private = resolve(&opening, here(REMOTE, "made:1"));
    let foreign = resolve(&opening, here("evil.example/x", "made:2"));
    assert_ne!(foreign.id, private.id);
    let clone = resolve(&opening, facts(Some("evil.example/x"), Some("/elsewhere"), "x"));
    assert_eq!(clone.id, foreign.id);
    let without_remote = resolve(&opening, facts(None, Some("/w/app"), "app"));
    assert_eq!(without_remote.id, foreign.id, "the path belongs to what is there now");
    assert_eq!(resolve(&opening, here(REMOTE, "made:3")).id, private.id, "its remote leads back");
    let listed = opening.store.read(projects::list).unwrap();
    let of_private = listed.iter().find(|listed| listed.project.id == private.id).unwrap();
    assert_eq!(of_private.aliases, [REMOTE]);
}

/// @project_replaced
#[test]
fn a_directory_without_a_remote_in_the_place_of_a_known_repository_is_another_project() {
    let opening = Home::new().open();
    let at = |remote, directories: &[&str]| made(facts(remote, Some("/w/app"), "app"), directories);
    let private = resolve(&opening, at(Some(REMOTE), &["made:1-a", "made:2-a"]));
    assert_eq!(resolve(&opening, at(None, &["made:1-a", "made:2-a"])).id, private.id, "no remote");
    assert_eq!(resolve(&opening, at(None, &[])).id, private.id, "the directory is gone");
    let unpacked = resolve(&opening, at(None, &["made:3-b"]));
    assert_ne!(unpacked.id, private.id);
    assert_eq!(unpacked.key, "/w/app#made:3-b");
    assert_eq!(resolve(&opening, at(None, &["made:4-c"])).id, unpacked.id, "known by its path");
    assert_eq!(resolve(&opening, at(Some(REMOTE), &["made:5-d", "made:6-d"])).id, private.id);
    // It was moved away and back, and has lost its remote.
    assert_eq!(resolve(&opening, at(None, &["made:1-a", "made:2-a"])).id, private.id);
    let known = opening.store.read(|rx| projects::known(rx, &at(None, &["made:7-e"]))).unwrap();
    assert_eq!(known.unwrap().id, unpacked.id);
}

/// @project_replaced
#[test]
fn a_repository_cloned_into_a_directory_that_was_another_one_is_another_project() {
    let opening = Home::new().open();
    let at = |remote, directories: &[&str]| made(facts(remote, Some("/w/app"), "app"), directories);
    let plain = resolve(&opening, at(None, &["made:app"]));
    let private = resolve(&opening, at(Some(REMOTE), &["made:git", "made:app"]));
    assert_eq!((private.id, private.key.as_str()), (plain.id, "/w/app"));
    let foreign = resolve(&opening, at(Some("evil.example/x"), &["made:git-2", "made:app"]));
    assert_ne!(foreign.id, private.id);
    let keyless = resolve(&opening, at(None, &["made:git-3", "made:app"]));
    assert!(keyless.id != private.id && keyless.id != foreign.id, "{keyless:?}");
    let found = opening.store.read(|rx| projects::find(rx, "project:///w/app")).unwrap();
    assert_eq!(found, [private], "its key is exact");
}

/// @session_in_a_replaced_directory
#[test]
fn a_session_in_a_replaced_directory_continues_in_the_other_project() {
    let opening = Home::new().open();
    let one = resolve(&opening, facts(Some(REMOTE), Some("/w/app"), "app"));
    let two = resolve(&opening, facts(Some("evil.example/x"), Some("/w/app"), "app"));
    let see = |project: i64, root: &'static str| {
        write(&opening, move |tx| {
            let here = crate::sessions::Sighting {
                name: "s",
                agent: "codex",
                project,
                root: Some(root),
                at: NOW,
                starts: false,
                works: true,
            };
            let seen = crate::sessions::touch(tx, &here)?;
            Ok((seen.id, seen.project, seen.new))
        })
    };
    let first = see(one.id, "/w/app");
    assert_eq!(see(two.id, "/w/other").0, first.0, "a session may work elsewhere");
    let second = see(two.id, "/w/app");
    assert_eq!((second.1, second.2), (two.id, true));
    assert_eq!(see(two.id, "/w/app").0, second.0);
    // A late event of the first part.
    assert_eq!(see(one.id, "/w/app").0, first.0);
    assert_eq!(see(two.id, "/w/app").0, second.0);
    let of = |name: &str| opening.store.read(|rx| crate::sessions::id_of(rx, name)).unwrap();
    assert_eq!(of("s"), Some(second.0));
    assert_eq!(of(&format!("s~{}", one.id)), Some(first.0));
}

/// @project_lost_aliases
#[test]
fn a_project_is_found_by_its_key_when_the_rows_that_lead_to_it_are_lost() {
    let home = Home::new();
    let opening = home.open();
    let facts = facts(Some(REMOTE), Some("/w/app"), "app");
    let before = resolve(&opening, facts.clone());
    write(&opening, |tx| tx.sql(|db| db.execute("DELETE FROM project_aliases", []).map(drop)));
    drop(opening);
    let opening = home.open();
    assert_eq!(resolve(&opening, facts).id, before.id);
    let listed = opening.store.read(projects::list).unwrap();
    assert_eq!(listed[0].aliases, ["/w/app", REMOTE], "and they lead to it again");
}

fn made(facts: ProjectFacts, made: &[&str]) -> ProjectFacts {
    ProjectFacts { made: made.iter().map(|made| (*made).to_owned()).collect(), ..facts }
}

/// @project_shared_name
#[test]
fn two_projects_of_one_name_are_two_and_the_name_finds_both() {
    let opening = Home::new().open();
    let one = resolve(&opening, facts(None, Some("/a/app"), "app"));
    let two = resolve(&opening, facts(None, Some("/b/app"), "app"));
    assert_ne!(one.id, two.id);
    let find = |text: &str| -> Vec<i64> {
        let found = opening.store.read(|rx| projects::find(rx, text)).unwrap();
        found.into_iter().map(|project| project.id).collect()
    };
    assert_eq!(find("app"), [one.id, two.id]);
    assert_eq!(find("APP"), [one.id, two.id]);
    assert_eq!(find("/b/app"), [two.id]);
    assert_eq!(find("/b/app/"), [two.id]);
    assert_eq!(find("project:///a/app"), [one.id]);
    assert_eq!(find("project://%2Fa%2Fapp"), [one.id]);
    assert_eq!(find("project://app"), [0; 0], "a name is no key");
    assert_eq!(find("other"), [0; 0]);
}

#[test]
fn the_home_directory_goes_by_its_name_and_is_one_place() {
    let opening = Home::new().open();
    let home = resolve(&opening, facts(None, None, "home"));
    let again = resolve(&opening, facts(None, None, "home"));
    let unknown = resolve(&opening, facts(None, None, "unknown"));
    assert_eq!(home, again);
    assert_ne!(home.id, unknown.id);
}

/// @project_merge
#[test]
fn merging_moves_everything_and_all_names_lead_to_the_one_that_stays() {
    let desk = Desk::new();
    let into = desk.project.id;
    let other = desk.session("s-2", "other", 10);
    let moved = super::desk::Deed { session: other, ..desk.deed_command("make", 11) };
    let id = desk.does(moved).id();
    desk.write(move |tx| projects::merge(tx, other.project, into));
    assert_eq!(desk.get(id).unwrap().project, "app");
    let found = desk.read(|rx| projects::find(rx, "/w/other"));
    assert_eq!(found.first().map(|project| project.id), Some(into));
    let listed = desk.read(projects::list);
    assert_eq!(listed.len(), 1);
    let overview = &listed[0];
    assert_eq!((overview.sessions, overview.observations), (2, 1));
    assert_eq!(overview.aliases, ["/w/app", "/w/other"]);
}

#[test]
fn merging_adds_the_tool_calls_that_a_session_counted_in_both_projects() {
    let desk = Desk::new();
    let (into, session) = (desk.project.id, desk.session.id);
    let other = desk.session("s-2", "other", 10);
    let count = move |tx: &Tx<'_>, session: i64, project: i64| {
        check_ins::count_call(tx, session, project, NOW).map(|counted| counted.count)
    };
    desk.write(move |tx| {
        for (of, project) in [(session, into), (session, other.project), (other.id, other.project)]
        {
            count(tx, of, project)?;
            count(tx, of, project)?;
        }
        projects::merge(tx, other.project, into)
    });
    assert_eq!(desk.write(move |tx| count(tx, session, into)), 5);
    assert_eq!(desk.write(move |tx| count(tx, other.id, into)), 3);
}

/// @project_split
#[test]
fn a_split_root_is_a_project_of_its_own_from_then_on() {
    let opening = Home::new().open();
    let whole = resolve(&opening, facts(Some(REMOTE), Some("/w/app"), "app"));
    resolve(&opening, facts(Some(REMOTE), Some("/w/fork"), "fork"));
    let split = write(&opening, move |tx| {
        touch(tx, "s-1", whole.id, 0)?;
        let here = crate::sessions::Sighting {
            name: "s-2",
            agent: "codex",
            project: whole.id,
            root: Some("/w/fork"),
            at: NOW,
            starts: true,
            works: true,
        };
        crate::sessions::touch(tx, &here)?;
        projects::split(tx, whole.id, "/w/fork", NOW)
    });
    assert_eq!(split.name, "fork");
    let later = resolve(&opening, facts(Some(REMOTE), Some("/w/fork"), "fork"));
    assert_eq!(later.id, split.id, "what a person says wins over the remote");
    let app = resolve(&opening, facts(Some(REMOTE), Some("/w/app"), "app"));
    assert_eq!(app.id, whole.id);
    let of = |name: &str| {
        opening.store.read(|rx| crate::sessions::by_name(rx, name)).unwrap().unwrap().project_id
    };
    assert_eq!((of("s-1"), of("s-2")), (whole.id, split.id));
    let refused = opening
        .store
        .write(super::at_now(), move |tx| projects::split(tx, whole.id, "/nowhere", NOW));
    assert_eq!(refused.unwrap_err().code, Code::Invalid);
}

/// @project_alias
#[test]
fn an_alias_leads_to_one_project_only() {
    let opening = Home::new().open();
    let one = resolve(&opening, facts(None, Some("/a"), "a"));
    let two = resolve(&opening, facts(None, Some("/b"), "b"));
    write(&opening, move |tx| projects::alias(tx, one.id, "/c"));
    assert_eq!(resolve(&opening, facts(None, Some("/c"), "c")).id, one.id);
    let taken = opening.store.write(super::at_now(), move |tx| projects::alias(tx, two.id, "/c"));
    assert_eq!(taken.unwrap_err().code, Code::Conflict);
}
