//! Records similar to a text: which ones, in which order, and which of them are duplicates.

use model::limits;

use super::desk::{Deed, Desk};
use crate::search::{self, Alike, ComparedText, Filter, Recipe, Similar};

fn similar(desk: &Desk, text: &str, filter: &Filter<'_>) -> Vec<Similar> {
    desk.read(|rx| search::similar(rx, Recipe::Table, text, filter, 10))
}

fn ids(found: &[Similar]) -> Vec<i64> {
    found.iter().map(|one| one.hit.id).collect()
}

/// @similar_nearest
#[test]
fn the_nearest_in_words_and_meaning_come_first_and_neighbours_do_not_count() {
    let desk = Desk::new();
    let beside = desk.runs("tidy up", 0);
    let same = desk.runs("the database was locked by another writer", 1);
    let beside_too = desk.runs("go home", 2);
    let meant = desk.runs("SQLite waits because somebody else holds its file", 3);
    desk.runs("paint the fence green", 4);
    let found = similar(&desk, "database locked by a writer", &Filter::default());
    assert_eq!(ids(&found)[..2], [same, meant]);
    let of = |id: i64| found.iter().find(|one| one.hit.id == id).unwrap().hit;
    assert!(of(same).lexical > 0.0 && of(meant).lexical == 0.0 && of(meant).meaning > 0.3);
    for id in [beside, beside_too] {
        assert_eq!((of(id).neighbours, of(id).in_session), (0.0, 0.0));
    }
}

/// @similar_not_itself
#[test]
fn an_excluded_record_is_not_listed_and_does_not_lift_its_neighbours() {
    let desk = Desk::new();
    desk.runs("make tea", 0);
    let own = desk.runs("the watchdog resets the flaky sensor", 1);
    desk.runs("make coffee", 2);
    let other = desk.runs("a sensor was reset", 3);
    let except = Filter { except: Some(own), ..Filter::default() };
    let found = similar(&desk, "the watchdog resets the flaky sensor", &except);
    assert_eq!(ids(&found)[0], other);
    assert!(!ids(&found).contains(&own));
}

/// The check for a text that is compared with many others; it has to agree with `Alike`.
fn is_compared_as_duplicate(a: &str, b: &str) -> bool {
    let [a, b] = [a, b].map(|text| ComparedText::new(text.to_owned()));
    a.is_duplicate_of(&b)
}

/// @similar_duplicates
#[test]
fn texts_say_the_same_only_if_they_are_near_and_share_their_words_in_the_same_order() {
    let same = [
        ("run the migration first", "run the migration first"),
        ("Run the migrations first!", "run the migration first"),
        (
            "the daemon holds the only write lock on the database file",
            "the daemon holds the only write lock on the database",
        ),
        ("二要素認証のエラー", "二要素認証のエラー"),
        ("we chose SQLite over Postgres", "we chose sqlite over postgres"),
        (
            "the build of the router fails because the cache of the base image is cold and the disk is slow",
            "the build of the router fails because cache of the base image is cold and the disk is slow",
        ),
    ];
    for (a, b) in same {
        assert!(Alike::of(a, b).is_duplicate(), "{a} {b} {:?}", Alike::of(a, b));
        assert!(is_compared_as_duplicate(a, b), "{a} {b}");
    }
    let other = [
        ("run the migration first", "never run the migration first"),
        ("make target 7", "make target 8"),
        ("we chose SQLite over Postgres", "why did we choose SQLite instead of Postgres?"),
        ("alpha beta", "gamma delta"),
        ("", ""),
        ("🦀", "🦀"),
        ("deploy to staging, not to production", "deploy to production, not to staging"),
        ("retry from port 80 to port 8080", "retry from port 8080 to port 80"),
        (
            "do deploy on a friday with the usual crew",
            "don't deploy on a friday with the usual crew",
        ),
        ("从数据库复制到缓存", "从缓存复制到数据库"),
    ];
    for (a, b) in other {
        assert!(!Alike::of(a, b).is_duplicate(), "{a} {b} {:?}", Alike::of(a, b));
        assert!(!is_compared_as_duplicate(a, b), "{a} {b}");
    }
}

/// @similar_duplicates
#[test]
fn a_long_text_and_what_denies_it_do_not_say_the_same() {
    let long = (0..80).map(|at| format!("step{at} is green")).collect::<Vec<_>>().join(" and ");
    let other = |from: &str, to: &str| Alike::of(&long, &long.replacen(from, to, 1));
    assert!(other("step40", "step401").is_duplicate());
    for (from, to) in [("step40 is", "step40 is not"), ("step40 is", "step40 never is")] {
        assert!(!other(from, to).is_duplicate(), "{to}");
    }
    let swapped = long.replace("step40", "x").replace("step70", "step40").replace('x', "step70");
    assert!(!Alike::of(&long, &swapped).is_duplicate());
    // Duplicates must agree beyond the beginning of a long text too.
    let begun = |end: &str| format!("{long} {} {end}", "and on it goes ".repeat(300));
    assert!(Alike::of(&begun("to the left"), &begun("To the left!")).is_duplicate());
    assert!(!Alike::of(&begun("to the left"), &begun("to the right")).is_duplicate());
}

/// @similar_duplicates
#[test]
fn a_record_truncated_at_capture_is_compared_with_as_much_of_the_text() {
    let desk = Desk::new();
    let long = (0..3_000).map(|at| format!("tok{at}")).collect::<Vec<_>>().join(" ");
    let kept = |chars: usize| long.chars().take(chars).collect::<String>();
    let prompt = desk.says(&kept(limits::PROMPT_CHARS_MAX), None, 0);
    let command = desk.runs(&kept(limits::OBSERVED_CHARS_MAX), 1);
    let shorter = desk.says(&kept(1_000), None, 2);
    let found = similar(&desk, &long, &Filter::default());
    let same = found.iter().filter(|one| one.alike.is_duplicate());
    let mut same: Vec<i64> = same.map(|one| one.hit.id).collect();
    same.sort_unstable();
    assert_eq!(same, [prompt, command]);
    assert!(ids(&found).contains(&shorter));
}

/// @similar_duplicates
#[test]
fn a_long_record_is_compared_as_a_whole() {
    let desk = Desk::new();
    let sentence = |i: usize| format!("step {i} moves table{i} to shard{i} and checks row{i}.");
    let long = (0..60).map(sentence).collect::<Vec<_>>().join("\n");
    let copy = desk.says(&long, None, 0);
    let part = desk.says(&sentence(7), None, 1);
    let found = similar(&desk, &long, &Filter::default());
    let duplicate =
        |id: i64| found.iter().find(|one| one.hit.id == id).unwrap().alike.is_duplicate();
    assert!(duplicate(copy), "{found:?}");
    assert!(!duplicate(part));
}

/// @similar_projects
#[test]
fn only_records_of_the_project_answer() {
    let desk = Desk::new();
    let own = desk.runs("restart the broken queue", 0);
    let session = desk.session("s-2", "elsewhere", 1);
    desk.does(Deed { session, ..desk.deed_command("restart the broken queue", 2) });
    let projects = [desk.project.id];
    let filter = Filter { projects: Some(&projects), ..Filter::default() };
    for text in ["restart the broken queue", "begin the damaged line again"] {
        assert_eq!(ids(&similar(&desk, text, &filter)), [own], "{text}");
    }
}

/// @similar_text
#[test]
fn operators_are_words_and_a_text_without_words_is_like_nothing() {
    let desk = Desk::new();
    let id = desk.runs("sort the list AND NOT the map*", 0);
    for text in ["NOT map*", "\"the list", "list OR", "(map"] {
        assert_eq!(ids(&similar(&desk, text, &Filter::default())), [id], "{text}");
    }
    for text in ["", " \n", "?! …", "🦀🔥", "\0"] {
        assert_eq!(similar(&desk, text, &Filter::default()), [], "{text:?}");
    }
}

/// @similar_text
#[test]
fn words_after_the_length_limit_of_a_text_are_not_searched() {
    let desk = Desk::new();
    let id = desk.runs("zebra crossing", 0);
    let text = |before: usize| format!("{}zebra crossing", "x".repeat(before) + " ");
    let lexical = |text: &str| {
        let found = similar(&desk, text, &Filter::default());
        found.iter().find(|one| one.hit.id == id).map_or(0.0, |one| one.hit.lexical)
    };
    assert!(lexical(&text(3_000)) > 0.0);
    assert_eq!(lexical(&text(4_000)), 0.0);
}

/// @similar_without_meaning
#[test]
fn without_meaning_words_alone_decide() {
    let desk = Desk::new();
    let words = desk.runs("the engine stalls", 0);
    desk.runs("the motor stops", 1);
    let found = desk
        .read(|rx| search::similar(rx, Recipe::Lexical, "engine stall", &Filter::default(), 10));
    assert_eq!(ids(&found), [words]);
}
