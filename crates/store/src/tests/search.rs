//! Search through the store: which records are found, in which order, and which ones a filter excludes.

use std::collections::BTreeMap;
use std::time::Duration;

use model::limits;
use model::observation::ObsType;
use serde_json::json;
use text::query::{self, Form};

use super::desk::{Deed, Desk};
use crate::search::{self, Effort, Filter, Hits, Order, Recipe, Wanted};
use crate::{Rx, passages, sessions};

pub(super) const ALL: Filter<'static> = Filter {
    projects: None,
    kind: None,
    session: None,
    file: None,
    also: &[],
    root: None,
    agent: None,
    failed: None,
    before: None,
    after: None,
    except: None,
};

const BY_INDEX: &str = "SELECT doc, bm25(passage_fts, 1.0, 0.5) FROM passage_fts \
     JOIN passages ON id = passage_fts.rowid WHERE passage_fts MATCH ?1";

fn hits(desk: &Desk, query: &str, filter: &Filter<'_>) -> Hits {
    desk.read(|rx| search::hits(rx, &query::rewrite(query), filter, Order::Best, 100))
}

fn ids(desk: &Desk, query: &str, filter: &Filter<'_>) -> Vec<i64> {
    hits(desk, query, filter).hits.iter().map(|hit| hit.id).collect()
}

fn form(desk: &Desk, query: &str) -> Form {
    hits(desk, query, &ALL).query.form
}

/// @search_any_term
#[test]
fn a_question_finds_records_with_any_of_its_words_the_best_first() {
    let desk = Desk::new();
    let noise: Vec<i64> = (0..20).map(|i| desk.runs(&format!("ls dir{i}"), i)).collect();
    let router = desk.runs("docker build router", 100);
    let both = desk.runs("docker compose build router image", 101);
    let docker = desk.runs("docker ps", 102);
    let found = ids(&desk, "How do I build the router image with docker compose?", &ALL);
    assert_eq!(found[..3], [both, router, docker]);
    let with_words = hits(&desk, "How do I build the router image with docker compose?", &ALL);
    let others = with_words.hits.iter().filter(|hit| hit.lexical == 0.0);
    assert!(others.clone().count() > 0, "what has none of the words stands behind");
    assert!(others.into_iter().all(|hit| noise.contains(&hit.id)));
    assert_eq!(form(&desk, "How do I build the router image?"), Form::AnyTerm);
}

/// @search_word_forms
#[test]
fn words_are_found_in_all_their_forms() {
    let desk = Desk::new();
    let table = [
        ("fix authentication of tokens", "authenticate"),
        ("call getUserName in HTTPServer", "server"),
        ("open src/user_store.rs", "store"),
        ("Café Süd geöffnet", "cafe"),
        ("二要素認証のエラー", "認証"),
        ("使用SQLite数据库", "sqlite"),
        ("黒猫が寝ている", "猫"),
        ("한국어로 검색하기", "검색"),
        ("dump the statistics of the queue", "stats"),
        ("move it to another db", "databases"),
        ("the nightly pipeline broke", "breaks"),
    ];
    for (at, (content, query)) in (0..).zip(table) {
        let id = desk.runs(content, at);
        assert_eq!(ids(&desk, query, &ALL), [id], "{query}");
    }
}

/// @search_pairs
#[test]
fn words_that_stand_together_in_both_count_more() {
    let desk = Desk::new();
    let apart = desk.runs("compose with the old docker file", 0);
    let together = desk.runs("the old file with docker compose", 1);
    let newer = desk.runs("compose the docker file with old", 2);
    let found = ids(&desk, "docker compose", &ALL);
    assert_eq!(found[0], together);
    assert_eq!(found[1..], [newer, apart], "of equal ones the newer is first");
}

#[test]
fn words_count_as_much_as_in_the_full_text_index_itself() {
    let desk = Desk::new();
    for i in 0..60_i64 {
        let filler = vec!["word"; usize::try_from(i % 7).unwrap()].join(" ");
        let rare = if i % 9 == 0 { "rare rare" } else { "" };
        desk.runs(&format!("common {rare} {filler} fooBar{i}"), i);
    }
    // Small words between them: no pairs.
    for typed in ["common and rare", "rare", "common", "foo and rare", "rare or the common of bar"]
    {
        let query = query::rewrite(typed);
        let wanted = Wanted::of(Order::Best, 100);
        let own = desk.read(|rx| search::hits_by(Recipe::Lexical, rx, &query, &ALL, wanted));
        let own: BTreeMap<i64, f64> =
            own.hits.into_iter().map(|hit| (hit.id, hit.lexical)).collect();
        let by_index: Vec<(i64, f64)> = desk.read(|rx| {
            rx.sql(|db| {
                let mut select = db.prepare(BY_INDEX)?;
                let rows = select.query_map([query.expression()], |row| {
                    Ok((row.get(0)?, -row.get::<_, f64>(1)?))
                })?;
                rows.collect()
            })
        });
        assert!(by_index.len() > 5, "{typed}");
        for (id, score) in by_index {
            assert!((score - own[&id]).abs() < 1e-9, "{typed}: {id} {score} {}", own[&id]);
        }
    }
}

/// @search_neighbours
#[test]
fn only_direct_neighbours_of_a_hit_in_its_session_gain_score() {
    let desk = Desk::new();
    let before = desk.runs("make it so", 0);
    let hit = desk.runs("flaky watchdog reset", 1);
    let after = desk.runs("done at last", 2);
    let far = desk.runs("done at last too", 3);
    let found = hits(&desk, "watchdog reset", &ALL).hits;
    let part = |id: i64| found.iter().find(|one| one.id == id).map_or(0.0, |one| one.neighbours);
    assert_eq!(found[0].id, hit);
    assert!(part(before) > 0.0 && part(after) > 0.0);
    assert_eq!(part(far), 0.0);
    // A query of a single word lists only records that contain it.
    assert_eq!(ids(&desk, "watchdog", &ALL), [hit]);
}

/// @search_whole_sessions
#[test]
fn of_equal_records_the_one_whose_session_is_about_the_words_comes_first() {
    let desk = Desk::new();
    let session = desk.session("s-2", "app", 0);
    let of_other =
        |text: &str, at: i64| desk.does(Deed { session, ..desk.deed_command(text, at) }).id();
    // Records far enough apart not to be neighbours.
    let about = of_other("flaky watchdog", 0);
    for (at, text) in [(1, "ls"), (2, "pwd"), (3, "reset of the bus"), (4, "date"), (5, "id")] {
        of_other(text, at);
    }
    of_other("another reset after the watchdog barked", 6);
    // Newer, and so first without its session.
    let alone = desk.runs("flaky watchdog", 20);
    for (at, text) in [(21, "ls"), (22, "pwd"), (23, "take a break"), (24, "date"), (25, "id")] {
        desk.runs(text, at);
    }
    let found = hits(&desk, "watchdog reset", &ALL).hits;
    let part = |id: i64| found.iter().find(|one| one.id == id).map(|one| one.in_session);
    assert!(part(about) > part(alone), "{found:?}");
    let place = |id: i64| found.iter().position(|one| one.id == id);
    assert!(place(about) < place(alone), "{found:?}");
}

/// @search_neighbours
#[test]
fn neighbours_are_adjacent_in_their_session_not_in_the_index() {
    let desk = Desk::new();
    let before = desk.runs("make it so", 0);
    let hit = desk.runs("flaky watchdog reset", 1_000);
    // Another session writes much meanwhile.
    let session = desk.session("s-2", "app", 1_000);
    for at in 0..600 {
        desk.does(Deed { session, ..desk.deed_command(&format!("ls dir{at}"), 1_000 + at) });
    }
    let after = desk.runs("done at last", 2_000);
    let last = desk.runs("go home", 3_000);
    let beside = |what: &str| {
        let found = hits(&desk, "watchdog reset", &ALL);
        assert_eq!((found.hits[0].id, found.completeness.is_partial()), (hit, false), "{what}");
        let with = found.hits.iter().filter(|one| one.neighbours > 0.0);
        let mut with: Vec<i64> = with.map(|one| one.id).collect();
        with.sort_unstable();
        with
    };
    assert_eq!(beside("far apart in the index"), [before, after]);
    // A record with a changed text is indexed again, after all others.
    desk.write(move |tx| passages::renewed(tx, hit));
    assert_eq!(beside("in the index again"), [before, after]);
    desk.write(move |tx| passages::changed(tx, before));
    assert_eq!(beside("its neighbour again"), [before, after]);
    // A record may arrive late and still belong in between; a removed record is not a neighbour.
    let between = desk.runs("take a breath", 1_500);
    assert_eq!(beside("late"), [before, between]);
    desk.write(move |tx| passages::remove(tx, between));
    desk.write(move |tx| passages::remove(tx, after));
    assert_eq!(beside("gone"), [before, last]);
    // A catalogue that is loaded from scratch has the same neighbours.
    desk.write(|tx| {
        tx.facts().catalogue.clear();
        Ok(())
    });
    assert_eq!(beside("read anew"), [before, last]);
}

/// @search_meaning
#[test]
fn a_question_finds_what_means_the_same_in_other_words() {
    let desk = Desk::new();
    for (at, text) in (0..).zip(["ls the directory", "git status", "cargo fmt", "open the editor"])
    {
        desk.runs(text, at);
    }
    let session = desk.session("s-2", "app", 5);
    let meant = desk.deed_command("we decided to use SQLite instead of Postgres", 6);
    let meant = desk.does(Deed { session, ..meant }).id();
    let typed = "why choose a database engine";
    assert_eq!(ids(&desk, typed, &ALL)[0], meant);
    // Repeating a word does not turn it into a question.
    assert_eq!(ids(&desk, "database Database", &ALL), [0; 0]);
    assert_eq!(ids(&desk, "database engine", &ALL)[0], meant);
    let lexical = desk.read(|rx| {
        search::hits_by(
            Recipe::Lexical,
            rx,
            &query::rewrite(typed),
            &ALL,
            Wanted::of(Order::Best, 10),
        )
    });
    assert!(lexical.hits.is_empty());
}

/// @search_exact
#[test]
fn a_path_or_a_code_has_the_record_that_contains_it_first() {
    let desk = Desk::new();
    let exact = desk
        .runs("cat src/auth/login_form.rs of an old and very long command line with much in it", 0);
    for at in 1..20 {
        desk.runs("login login form form auth auth src rs rs", at);
    }
    assert_eq!(ids(&desk, "src/auth/login_form.rs", &ALL)[0], exact);
}

/// @search_exact
#[test]
fn a_name_is_found_behind_any_number_of_newer_ones_that_only_begin_like_it() {
    let desk = Desk::new();
    let exact = desk.runs("cat src/user.rs", 0);
    let newer = limits::SEARCH_EXACT_READ as i64 + 250;
    for at in 1..newer {
        desk.runs(&format!("cat src/user.rs.bak{at}"), at);
    }
    let query = query::rewrite("src/user.rs");
    let found = |time: Duration| {
        let effort = Effort::within(time);
        desk.read(|rx| search::hits_within(&effort, rx, &query, &ALL, Wanted::of(Order::Best, 10)))
    };
    let whole = found(Duration::from_secs(60));
    assert_eq!(whole.hits.iter().map(|hit| hit.id).collect::<Vec<_>>(), [exact]);
    assert!(whole.hits[0].exact && !whole.completeness.is_partial());
    let hurried = found(Duration::ZERO);
    assert!(
        hurried.completeness.is_partial() && hurried.hits.iter().all(|hit| !hit.exact),
        "it had no time"
    );
}

/// @search_exact
#[test]
fn a_longer_name_that_is_in_the_way_is_passed_over_at_once() {
    let desk = Desk::new();
    let exact = desk.runs("cat src/user.rs", 0);
    let both = desk.runs("mv src/user.rs src/user.rs.bak", 1);
    for at in 2..limits::SEARCH_EXACT_READ as i64 + 250 {
        let longer = if at % 3 == 0 { "src/user.rs.orig" } else { "src/user.rs.bak" };
        desk.runs(&format!("vim {longer} number {at}"), at);
    }
    let effort = Effort::within(Duration::from_secs(60));
    let query = query::rewrite("src/user.rs");
    let found =
        desk.read(|rx| search::hits_within(&effort, rx, &query, &ALL, Wanted::of(Order::Best, 10)));
    assert!(found.hits[0].id == exact && found.hits[0].exact, "{:?}", found.hits);
    assert!(found.completeness.is_partial(), "not all were read");
    assert!(found.hits.iter().all(|hit| hit.id != both || !hit.exact), "what has both comes late");
}

/// @search_exact
#[test]
fn a_name_lists_only_what_contains_it_or_else_what_has_parts_of_it() {
    let desk = Desk::new();
    let verify = desk.runs("cat crates/manifest/src/verify.rs", 0);
    let other = desk.runs("cat crates/manifest/src/lib.rs", 1);
    let copy = desk.runs("cat crates/manifest/src/verify.rs.bak", 2);
    let jobs = desk.says("FERROWICK_JOBS says how many jobs of ferrowick run at once", None, 3);
    let ferrowick = desk.says("ferrowick has no jobs", None, 4);
    let elsewhere = desk.session("s-2", "elsewhere", 5);
    let foreign = desk.deed_command("vim crates/manifest/src/verify.rs", 6);
    let foreign = desk.does(Deed { session: elsewhere, ..foreign }).id();
    let own = [desk.project.id];
    let here = Filter { projects: Some(&own), ..ALL };
    for order in [Order::Best, Order::Newest] {
        let found = |typed: &str, filter: &Filter<'_>| {
            let query = query::rewrite(typed);
            let found = desk.read(|rx| search::hits(rx, &query, filter, order, 100));
            let mut ids: Vec<i64> = found.hits.iter().map(|hit| hit.id).collect();
            ids.sort_unstable();
            (ids, found.query.form)
        };
        let path = "crates/manifest/src/verify.rs";
        assert_eq!(found(path, &ALL), (vec![verify, foreign], Form::AllTerms));
        assert_eq!(found(path, &here), (vec![verify], Form::AllTerms));
        assert_eq!(found("ferrowick_jobs", &ALL), (vec![jobs], Form::AllTerms));
        // A name that no record within the filter contains is searched by its parts.
        let prompts = Filter { kind: Some(ObsType::UserPrompt.into()), ..ALL };
        assert_eq!(found(path, &prompts), (vec![], Form::AnyTerm));
        let parts = found("crates/manifest/src/main.rs", &here);
        assert_eq!(parts, (vec![verify, other, copy], Form::AnyTerm));
        assert_eq!(found("ferrowick_job", &ALL), (vec![jobs, ferrowick], Form::AnyTerm));
        // More words than the name are a question.
        assert!(found("where is crates/manifest/src/verify.rs read", &here).0.contains(&other));
    }
}

/// @search_everything
#[test]
fn prompts_errors_commits_paths_and_summaries_are_found() {
    let desk = Desk::new();
    let prompt = desk.says("please migrate the ledger", None, 0);
    let failed = Deed {
        metadata: json!({ "error": "linker terminated by signal" }),
        failed: true,
        ..desk.deed(ObsType::CommandError, "cargo build", 1)
    };
    let failed = desk.does(failed).id();
    let edit = desk.edits("/w/app/src/ledger_book.rs", 2);
    let session = desk.session.id;
    desk.write(move |tx| sessions::summarise(tx, session));
    assert!(ids(&desk, "migrate", &ALL).contains(&prompt));
    assert!(ids(&desk, "linker signal", &ALL).contains(&failed));
    assert_eq!(
        ids(&desk, "ledger_book", &Filter { kind: Some(ObsType::FileEdit.into()), ..ALL }),
        [edit]
    );
    let summaries = Filter { kind: Some(ObsType::SessionSummary.into()), ..ALL };
    assert_eq!(ids(&desk, "ledger", &summaries), [session]);
}

/// @search_prefix
#[test]
fn beginnings_of_words_are_tried_only_when_no_word_is_there() {
    let desk = Desk::new();
    let id = desk.runs("fix authentication", 0);
    let other = desk.runs("authority", 1);
    assert_eq!(ids(&desk, "authentica", &ALL), [id]);
    assert_eq!(form(&desk, "authentica"), Form::Prefix);
    assert_eq!(ids(&desk, "authority", &ALL), [other]);
    assert_eq!(form(&desk, "authority"), Form::AnyTerm);
    assert_eq!(ids(&desk, "nothingofthekind", &ALL), [0; 0]);
    assert_eq!(form(&desk, "?!"), Form::Empty);
}

/// @search_operators
#[test]
fn operators_are_honoured() {
    let desk = Desk::new();
    let a = desk.runs("auth token refresh", 0);
    let b = desk.runs("auth login page", 1);
    let c = desk.runs("token bucket with some words before the limit", 2);
    let found = |query: &str| {
        let mut found = ids(&desk, query, &ALL);
        found.sort_unstable();
        found
    };
    for (query, expected) in [
        ("auth AND token", vec![a]),
        ("auth OR bucket", vec![a, b, c]),
        ("auth NOT token", vec![b]),
        ("(login OR bucket) NOT page", vec![c]),
        ("\"auth token\"", vec![a]),
        ("\"token auth\"", vec![]),
        ("tok*", vec![a, c]),
        ("NEAR(token limit, 20)", vec![c]),
        ("NEAR(token limit, 2)", vec![]),
        ("nowhere AND auth", vec![]),
    ] {
        assert_eq!(found(query), expected, "{query}");
        assert_eq!(form(&desk, query), Form::Operators);
    }
}

/// Records of two projects, three sessions and several kinds, all with the same word.
struct Mixed {
    desk: Desk,
    all: Vec<i64>,
    other_project: i64,
    other: i64,
}

fn mixed() -> Mixed {
    let desk = Desk::new();
    let elsewhere = desk.session("s-2", "elsewhere", 0);
    let command = desk.runs("needle in a command", 10);
    let edit = desk.edits("/w/app/src/needle.rs", 20);
    let prompt = desk.says("find the needle", None, 30);
    let failing = Deed { failed: true, ..desk.deed(ObsType::CommandError, "needle broke", 40) };
    let failing = desk.does(failing).id();
    let other = Deed { session: elsewhere, ..desk.deed_command("needle elsewhere", 50) };
    let other = desk.does(other).id();
    let all = vec![command, edit, prompt, failing, other];
    Mixed { other_project: elsewhere.project, desk, all, other }
}

/// @search_filters
#[test]
fn every_filter_holds_alone_and_together() {
    let Mixed { desk, all, other_project, other } = mixed();
    let own = [desk.project.id];
    let foreign = [other_project];
    let [command, edit, prompt, failing, _] = all[..] else { unreachable!() };
    let now = super::NOW;
    let table = [
        (ALL, all.clone()),
        (Filter { projects: Some(&own), ..ALL }, vec![command, edit, prompt, failing]),
        (Filter { projects: Some(&foreign), ..ALL }, vec![other]),
        (Filter { projects: Some(&[own[0], foreign[0]]), ..ALL }, all.clone()),
        (Filter { projects: Some(&[]), ..ALL }, vec![]),
        (Filter { kind: Some(ObsType::UserPrompt.into()), ..ALL }, vec![prompt]),
        (Filter { session: Some(desk.session.id), ..ALL }, vec![command, edit, prompt, failing]),
        (Filter { session: Some(99_999), ..ALL }, vec![]),
        (Filter { file: Some("/w/app/src/needle.rs"), ..ALL }, vec![edit]),
        (Filter { file: Some("src/needle.rs"), root: Some("/w/app"), ..ALL }, vec![edit]),
        (Filter { file: Some("needle.rs"), ..ALL }, vec![edit]),
        (Filter { file: Some("other.rs"), ..ALL }, vec![]),
        (Filter { agent: Some("claude-code"), ..ALL }, all),
        (Filter { agent: Some("codex"), ..ALL }, vec![]),
        (Filter { failed: Some(true), ..ALL }, vec![failing]),
        (Filter { failed: Some(false), before: Some(now + 25), ..ALL }, vec![command, edit]),
        (Filter { before: Some(now + 20), ..ALL }, vec![command]),
        (Filter { after: Some(now + 40), ..ALL }, vec![other]),
        (Filter { projects: Some(&foreign), failed: Some(true), ..ALL }, vec![]),
    ];
    for (filter, expected) in table {
        let query = query::rewrite("needle");
        for effort in [Effort::default(), Effort { scope_documents: 0, ..Effort::default() }] {
            for query in [query.clone(), query::rewrite("needle OR nothing")] {
                let wanted = Wanted::of(Order::Best, 100);
                let found =
                    desk.read(|rx| search::hits_within(&effort, rx, &query, &filter, wanted));
                let mut found: Vec<i64> = found.hits.iter().map(|hit| hit.id).collect();
                found.sort_unstable();
                assert_eq!(found, expected, "{filter:?} {effort:?}");
            }
        }
        assert_eq!(desk.read(|rx| search::all(rx, &query, &filter)), expected, "{filter:?}");
        let by_index = desk.read(|rx| search::all_by_index(rx, &query, &filter));
        assert_eq!(by_index, expected, "{filter:?}");
    }
}

/// @project_isolation
#[test]
fn a_record_of_another_project_never_answers_whatever_is_typed() {
    let Mixed { desk, other_project, other, .. } = mixed();
    let own = [desk.project.id];
    let filter = Filter { projects: Some(&own), ..ALL };
    for typed in ["elsewhere", "needle OR elsewhere", "elsewh", "elsewh*", "\"needle elsewhere\""] {
        assert!(!ids(&desk, typed, &filter).contains(&other), "{typed}");
        let everywhere = ids(&desk, typed, &Filter { projects: Some(&[other_project]), ..ALL });
        assert_eq!(everywhere, [other], "{typed}");
    }
}

#[test]
fn the_newest_come_first_where_that_is_wanted() {
    let desk = Desk::new();
    let best = desk.runs("needle needle", 0);
    let newer = desk.runs("a needle in much hay and more hay", 1);
    let query = query::rewrite("needle");
    let newest = desk.read(|rx| search::hits(rx, &query, &ALL, Order::Newest, 1));
    assert_eq!(newest.hits.iter().map(|hit| hit.id).collect::<Vec<_>>(), [newer]);
    assert_eq!(ids(&desk, "needle", &ALL), [best, newer]);
}

/// @search_frequent
#[test]
fn a_frequent_word_finds_every_record_that_has_it() {
    let desk = Desk::new();
    let rare = desk.runs("common rare", 0);
    for i in 1..=40 {
        desk.runs(&format!("common n{i}"), i);
    }
    let effort = Effort { rows: 10, ..Effort::default() };
    let query = query::rewrite("common rare");
    for filter in [ALL, Filter { projects: Some(&[desk.project.id]), ..ALL }] {
        let found = desk.read(|rx| {
            search::hits_within(&effort, rx, &query, &filter, Wanted::of(Order::Best, 100))
        });
        assert_eq!(found.hits[0].id, rare);
        assert_eq!((found.hits.len(), found.completeness.is_partial()), (41, false));
    }
}

/// Texts of pieces that mean something to the index, in all the wrong places.
fn hostile(seed: &mut u64) -> String {
    const PIECES: [&str; 40] = [
        "AND",
        "OR",
        "NOT",
        "NEAR",
        "NEAR(",
        "(",
        ")",
        "\"",
        "\"\"",
        "*",
        "^",
        "+",
        "-",
        ":",
        ",",
        "{",
        "}",
        "auth",
        "token*",
        "body:",
        "parts :",
        "5",
        "\0",
        "é",
        "認証",
        "猫",
        "Ⓐ",
        "\u{301}",
        "🦀",
        "autho",
        ";",
        "--",
        "\\",
        "\n",
        " ",
        " ",
        " ",
        "the",
        "getUserName",
        "\u{200d}",
    ];
    let mut next = || {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        usize::try_from(*seed % 40).unwrap_or_default()
    };
    let length = next() % 14;
    (0..length).map(|_| PIECES[next()]).collect::<Vec<_>>().join(if next() % 2 == 0 {
        " "
    } else {
        ""
    })
}

/// @search_never_fails
#[test]
fn no_query_makes_a_search_fail() {
    let desk = Desk::new();
    desk.runs("auth token the getUserName 認証 猫 é body parts 5", 0);
    desk.read(|_| Ok(()));
    let mut seed = 88_172_645_463_325_252;
    let mut forms = BTreeMap::<&str, u32>::new();
    let mut typed: Vec<String> = (0..4_000).map(|_| hostile(&mut seed)).collect();
    let nested = |depth: usize| format!("{}a OR b{}", "(x AND ".repeat(depth), ")".repeat(depth));
    typed.extend((0..12).map(nested));
    typed.extend([vec!["w"; 5_000].join(" OR "), "a ".repeat(50_000), "(".repeat(100_000)]);
    typed.push((0..32).map(|i| format!("a{i}")).collect::<Vec<_>>().join(" NOT "));
    for typed in typed {
        let run = |rx: &Rx<'_>| {
            let found = search::hits(rx, &query::rewrite(&typed), &ALL, Order::Best, 10)?;
            let beginnings = query::rewrite(&typed).prefix();
            for query in [Some(query::all_terms(&typed)), beginnings].into_iter().flatten() {
                let by_text = search::all(rx, &query, &ALL)?;
                assert_eq!(by_text, search::all_by_index(rx, &query, &ALL)?, "{typed:?} {query:?}");
            }
            Ok(found.query.form.word())
        };
        match desk.opening.store.read(run) {
            Ok(form) => *forms.entry(form).or_default() += 1,
            Err(error) => panic!("{typed:?}: {error}"),
        }
    }
    for form in ["operators", "any_term", "prefix", "empty"] {
        assert!(forms.get(form).is_some_and(|count| *count > 20), "{forms:?}");
    }
}

#[test]
fn our_stems_are_those_of_the_index() {
    const BEGINNINGS: [&str; 24] = [
        "relat", "hop", "fil", "agre", "cat", "controll", "conn", "authent", "migr", "y", "by",
        "toy", "crypt", "serial", "modul", "x", "tokeniz", "fail", "bl", "tr", "size", "sky", "oa",
        "fullf",
    ];
    const ENDS: [&str; 40] = [
        "", "s", "ies", "sses", "ed", "eed", "ing", "y", "ational", "tional", "enci", "anci",
        "izer", "logi", "bli", "alli", "entli", "eli", "ousli", "ization", "ation", "ator",
        "alism", "iveness", "fulness", "ousness", "aliti", "iviti", "biliti", "icate", "ative",
        "alize", "iciti", "ical", "ness", "ement", "ion", "ll", "ate", "e",
    ];
    let db = rusqlite::Connection::open_in_memory().unwrap();
    db.execute_batch(
        "CREATE VIRTUAL TABLE t USING fts5 (b, tokenize = 'porter unicode61'); \
         CREATE VIRTUAL TABLE v USING fts5vocab (t, instance);",
    )
    .unwrap();
    let made = BEGINNINGS.iter().flat_map(|begin| ENDS.map(|end| format!("{begin}{end}")));
    let words: Vec<String> =
        made.chain(["Über", "café", "naïveté", "señor"].map(str::to_owned)).collect();
    for (row, word) in (1_i64..).zip(&words) {
        db.execute("INSERT INTO t (rowid, b) VALUES (?1, ?2)", (row, word)).unwrap();
    }
    let mut select = db.prepare("SELECT doc, term FROM v").unwrap();
    let terms = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let terms: std::collections::HashMap<i64, String> = terms.collect::<Result<_, _>>().unwrap();
    for (row, word) in (1..).zip(&words) {
        let ours = text::stem::stem(&text::words::fold(word));
        assert_eq!(terms.get(&row), Some(&ours), "{word}");
    }
}

#[test]
fn a_filter_never_walks_through_all_documents() {
    let desk = Desk::new();
    let filters = [
        Filter { projects: Some(&[1]), ..ALL },
        Filter { session: Some(1), ..ALL },
        Filter { session: Some(1), agent: Some("x"), failed: Some(true), ..ALL },
    ];
    for filter in filters {
        desk.read(|rx| {
            let conditions = search::Conditions::of(rx, &filter)?;
            for sql in [conditions.select_among(), conditions.select_scope()] {
                let plan: Vec<String> = rx.sql(|db| {
                    let mut explain = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
                    let count = explain.parameter_count();
                    let values = vec!["[1]"; count];
                    explain
                        .query_map(rusqlite::params_from_iter(values), |row| row.get(3))?
                        .collect()
                })?;
                let scans: Vec<&String> = plan
                    .iter()
                    .filter(|line| line.contains("SCAN") && !line.contains("json_each"))
                    .collect();
                assert!(scans.is_empty(), "{sql}: {plan:#?}");
            }
            Ok(())
        });
    }
}

/// @search_exact @search_operators
#[test]
fn an_exact_phrase_match_comes_first_beside_operators_and_other_words_too() {
    let desk = Desk::new();
    let exact =
        desk.says("alpha sardine harvest of a copper kettle and a long line of others", None, 0);
    desk.says("sardines harvested copper kettles alpha", None, 1_000);
    desk.says("alpha harvest copper kettling sardines harvesting", None, 2_000);
    for typed in [
        "\"copper kettle\"",
        "alpha \"copper kettle\" harvest",
        "\"copper kettle\" AND alpha",
        "\"sardine harvest\" \"copper kettle\"",
        "alpha OR \"copper kettle\"",
    ] {
        let query = query::rewrite(typed);
        let found = desk.read(|rx| search::hits(rx, &query, &ALL, Order::Best, 10)).hits;
        assert!(found.len() > 1, "{typed}");
        assert_eq!((found[0].id, found[0].exact), (exact, true), "{typed}");
        assert!(!found[1].exact, "{typed}");
    }
}
