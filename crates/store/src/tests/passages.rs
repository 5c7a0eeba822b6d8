//! The full-text index follows what is written: with it, instead of it, and not without it.

use std::time::Duration;

use model::{OpError, limits};
use rusqlite::params;
use serde_json::json;

use super::desk::{Deed, Desk, do_it, write};
use super::{Home, at_now, hold_writer, spoil_page_with};
use crate::search::{self, Effort, Filter, Order, Wanted};
use crate::{Store, Tx, passages};

/// Which of the observations that a desk made this query finds, as their contents.
fn found(desk: &Desk, query: &str) -> Vec<String> {
    let hits = desk.read(|rx| {
        let query = text::query::rewrite(query);
        search::hits(rx, &query, &Filter::default(), Order::Newest, 100)
    });
    hits.hits.iter().map(|hit| desk.get(hit.id).unwrap().content).collect()
}

fn count(store: &Store) -> u64 {
    store.read(passages::count).unwrap()
}

/// Puts another text in the place of an observation's.
fn reword(tx: &Tx<'_>, id: i64, text: &str) -> Result<(), OpError> {
    let update = "UPDATE observations SET content = ?2 WHERE id = ?1";
    tx.sql(|db| db.execute(update, params![id, text]))?;
    passages::changed(tx, id)
}

/// A text of three passages with one word in each that is nowhere else.
fn long_text(words: [&str; 3]) -> String {
    words.map(|word| format!("{word} {}.", vec!["filler"; 90].join(" "))).join("\n")
}

/// @search_index
#[test]
fn a_document_is_found_by_its_new_words_and_no_more_by_its_old_ones() {
    let desk = Desk::new();
    let id = desk.runs("make alpha", 0);
    assert_eq!(found(&desk, "alpha"), ["make alpha"]);
    desk.write(move |tx| reword(tx, id, "beta"));
    assert_eq!(found(&desk, "alpha"), [""; 0]);
    assert_eq!(found(&desk, "beta"), ["beta"]);
    desk.write(move |tx| passages::remove(tx, id));
    assert_eq!(found(&desk, "beta"), [""; 0]);
    assert_eq!(count(&desk.opening.store), 0);
}

/// @search_passages
#[test]
fn a_long_document_is_one_hit_for_words_of_any_of_its_passages() {
    let desk = Desk::new();
    let id = desk.runs("make", 0);
    let long = long_text(["alpha", "beta", "gamma"]);
    let said = long.clone();
    desk.write(move |tx| reword(tx, id, &said));
    desk.read(|_| Ok(()));
    assert_eq!(count(&desk.opening.store), 3);
    for query in ["alpha", "beta", "gamma", "alpha gamma", "filler"] {
        assert_eq!(found(&desk, query), [long.as_str()], "{query}");
    }
    // Its words are in different passages: a phrase of them is nowhere.
    assert_eq!(found(&desk, "\"alpha gamma\""), [""; 0]);
    desk.write(move |tx| reword(tx, id, "short"));
    desk.read(|_| Ok(()));
    assert_eq!(count(&desk.opening.store), 1);
    assert_eq!(found(&desk, "gamma"), [""; 0]);
}

/// @search_passages
#[test]
fn a_path_in_a_very_long_line_is_found_as_one() {
    let desk = Desk::new();
    let line = |path: &str| format!("{} {path} {}", "w ".repeat(97), "x ".repeat(150));
    let id = desk.says(&line("src/auth/login/form.rs"), None, 0);
    desk.says(&line("src/auth/logout/form.rs"), None, 1);
    for typed in ["src/auth/login/form.rs", "\"src/auth/login/form.rs\""] {
        let query = text::query::rewrite(typed);
        let found =
            desk.read(|rx| search::hits(rx, &query, &Filter::default(), Order::Best, 10)).hits;
        assert_eq!(found.first().map(|hit| hit.id), Some(id), "{typed}");
    }
}

#[test]
fn the_last_change_within_a_group_counts() {
    let desk = Desk::new();
    let (a, b) = (desk.runs("make a", 0), desk.runs("make b", 1));
    let store = &desk.opening.store;
    let release = hold_writer(store);
    let change = |doc: i64, text: Option<&'static str>, fails: bool| {
        let change = move |tx: &Tx<'_>| match text {
            Some(text) if fails => {
                reword(tx, doc, text)?;
                Err(OpError::internal("this one fails"))
            }
            Some(text) => reword(tx, doc, text),
            None => passages::remove(tx, doc),
        };
        store.submit(at_now(), change).unwrap()
    };
    let answers = [
        change(a, Some("first"), false),
        change(b, Some("second"), false),
        change(b, None, false),
        change(a, Some("third"), false),
        change(a, Some("fourth"), true),
    ];
    release.send(()).unwrap();
    let done: Vec<bool> = answers.iter().map(|answer| answer.wait().unwrap().is_ok()).collect();
    assert_eq!(done, [true, true, true, true, false]);
    assert_eq!(found(&desk, "third"), ["third"]);
    assert_eq!(found(&desk, "first OR second OR fourth OR make"), [""; 0]);
}

#[test]
fn removed_words_are_not_in_the_file_after_the_index_was_optimized() {
    let desk = Desk::new();
    let file = || std::fs::read(desk.home.db()).unwrap();
    let holds = |bytes: &[u8], word: &str| bytes.windows(word.len()).any(|w| w == word.as_bytes());
    let id = desk.runs("xylophonewords among others", 0);
    desk.write(move |tx| {
        while passages::index(tx)? {}
        // Only the index has the words from now on.
        tx.sql(|db| db.execute("UPDATE observations SET content = 'make'", []))
    });
    desk.opening.store.compact().unwrap();
    assert!(holds(&file(), "xylophoneword"), "the index keeps words");
    desk.write(move |tx| passages::remove(tx, id).and_then(|()| passages::optimize(tx)));
    desk.opening.store.close();
    assert!(!holds(&file(), "xylophoneword"));
}

/// @search_index
#[test]
fn the_index_is_rebuilt_after_a_damaged_database_was_salvaged() {
    let home = Home::new();
    let desk = Desk::new();
    let long = long_text(["alpha", "beta", "gamma"]);
    for i in 0..40 {
        desk.runs(&format!("make target{i} {}", "x".repeat(400)), i);
    }
    desk.says(&long, None, 50);
    let lost = format!("make target35 {}", "x".repeat(400));
    desk.opening.store.compact().unwrap();
    desk.opening.store.close();
    std::fs::copy(desk.home.db(), home.db()).unwrap();
    spoil_page_with(&home.db(), &lost);
    let opening = home.open();
    let query = |text: &str| {
        let query = text::query::rewrite(text);
        assert!(opening.store.catch_up(limits::STORE_BUSY));
        let hits =
            opening.store.read(|rx| search::hits(rx, &query, &Filter::default(), Order::Best, 100));
        hits.map(|hits| hits.hits.len())
    };
    opening.store.mend().unwrap();
    assert!(opening.store.notices()[0].contains("was damaged"));
    assert_eq!(query("gamma").unwrap(), 1);
    assert_eq!(query("\"target3\"").unwrap(), 1);
    assert_eq!(query("\"target35\"").unwrap(), 0);
    let after = write(&opening, |tx| Ok(json!(crate::record_ids::next(tx)?)));
    assert!(after.as_i64() > Some(42), "ids go on after what was saved");
}

/// @search_index
#[test]
fn any_number_of_new_records_is_found_by_the_next_search() {
    let desk = Desk::new();
    let many = i64::try_from(limits::INDEX_BATCH).unwrap() * 2 + 3;
    for i in 0..many {
        desk.runs(&format!("make target{i}"), i);
    }
    let last = many - 1;
    assert_eq!(found(&desk, &format!("\"target{last}\"")), [format!("make target{last}")]);
    assert_eq!(count(&desk.opening.store), u64::try_from(many).unwrap());
    assert!(!desk.write(passages::is_behind));
}

/// @search_index
#[test]
fn unindexed_records_are_ranked_among_indexed_ones() {
    let desk = Desk::new();
    for i in 0..300 {
        desk.runs(&format!("make item {i}"), i);
    }
    desk.read(|_| Ok(()));
    let deed = desk.deed_command("", 0);
    // The index is not brought up to date inside a transaction.
    let best: Vec<(String, String)> = desk.write(move |tx| {
        for i in 300..900 {
            do_it(
                tx,
                &Deed {
                    content: format!("make item {i} in src/f{i}.rs"),
                    after: i,
                    ..deed.clone()
                },
            )?;
        }
        let mut best = Vec::new();
        for typed in ["item 899", "item 700", "item 450", "item AND 500", "src/f800.rs", "item 7"] {
            for order in [Order::Best, Order::Newest] {
                let query = text::query::rewrite(typed);
                let found = search::hits(tx, &query, &Filter::default(), order, 20)?;
                let first = found.hits.first().map_or(0, |hit| hit.id);
                let text = passages::text(tx, first)?.unwrap_or_default();
                best.push((typed.to_owned(), text));
            }
        }
        Ok(best)
    });
    let all = |i: u32| format!("make item {i} in src/f{i}.rs");
    let newest = all(899);
    let expected = [
        ("item 899", all(899)),
        ("item 899", newest.clone()),
        ("item 700", all(700)),
        ("item 700", newest.clone()),
        ("item 450", all(450)),
        ("item 450", newest.clone()),
        ("item AND 500", all(500)),
        ("item AND 500", all(500)),
        ("src/f800.rs", all(800)),
        ("src/f800.rs", all(800)),
        ("item 7", "make item 7".to_owned()),
        ("item 7", newest),
    ];
    assert_eq!(best, expected.map(|(typed, text)| (typed.to_owned(), text)));
}

/// @search_index
#[test]
fn an_index_of_an_older_layout_is_rebuilt_at_the_next_open() {
    // The passage table of an older build, without the time and kind of the document.
    const OLDER: &str = "CREATE TABLE older (id INTEGER PRIMARY KEY AUTOINCREMENT, doc INTEGER NOT NULL, \
         session INTEGER NOT NULL, project INTEGER NOT NULL, length INTEGER NOT NULL, \
         words INTEGER NOT NULL, vector BLOB) STRICT; \
         INSERT INTO older SELECT id, doc, session, project, length, words, vector FROM passages; \
         DROP TABLE passages; ALTER TABLE older RENAME TO passages; \
         INSERT INTO passages SELECT 900, max(id), 0, 0, 1, 1, NULL FROM observations; \
         INSERT INTO passage_fts (rowid, body, parts) VALUES (900, 'stale', '');";
    // Posting lists of full blocks were moved to another table.
    const PACKED: &str = "CREATE TABLE packed_postings (pack INTEGER, term TEXT, entries BLOB); \
         INSERT INTO packed_postings SELECT 0, term, entries FROM postings WHERE term = 'gamma'; \
         DELETE FROM postings WHERE term = 'gamma';";
    for older in [OLDER, PACKED] {
        let mut desk = Desk::new();
        let long = long_text(["alpha", "beta", "gamma"]);
        let ids = [desk.runs("make one", 0), desk.runs("make two", 1), desk.says(&long, None, 2)];
        desk.read(|_| Ok(()));
        desk.opening.store.close();
        super::other_connection(&desk.home.db()).execute_batch(older).unwrap();
        for _ in 0..2 {
            desk.opening = desk.home.open();
            let hits = |query: &str| {
                let (query, all) = (text::query::rewrite(query), Filter::default());
                let found = desk.read(|rx| search::hits(rx, &query, &all, Order::Newest, 100));
                found.hits.iter().map(|hit| hit.id).collect::<Vec<_>>()
            };
            assert_eq!(hits("make"), [ids[1], ids[0]]);
            assert_eq!(hits("gamma"), [ids[2]]);
            assert_eq!(hits("stale"), [0; 0]);
            assert_eq!(count(&desk.opening.store), 5);
            let left = "SELECT count(*) FROM passage_fts_docsize";
            let left: u64 = desk.read(|rx| rx.sql(|db| db.query_row(left, [], |row| row.get(0))));
            assert_eq!(left, 5);
            desk.opening.store.close();
        }
    }
}

#[test]
fn a_write_that_fails_beside_it_does_not_keep_a_document_out_of_the_index() {
    let desk = Desk::new();
    let store = &desk.opening.store;
    let id = desk.runs("make alpha", 0);
    let release = hold_writer(store);
    let renewed = store.submit(at_now(), move |tx| passages::renewed(tx, id)).unwrap();
    let indexed = store.submit(at_now(), passages::catch_up).unwrap();
    let failed = store
        .submit(at_now(), move |tx| {
            passages::remove(tx, id)?;
            Err::<(), _>(OpError::internal("this one fails"))
        })
        .unwrap();
    release.send(()).unwrap();
    assert!(renewed.wait().unwrap().is_ok() && indexed.wait().unwrap().is_ok());
    assert!(failed.wait().unwrap().is_err());
    assert_eq!(found(&desk, "alpha"), ["make alpha"]);
}

/// @purge_by_words @search_operators
#[test]
fn operators_go_by_the_whole_record_however_long_it_is() {
    let desk = Desk::new();
    let long = desk.says(&long_text(["alphaq", "between", "betaq"]), None, 0);
    let short = desk.says("alphaq alone", None, 1);
    let all = |typed: &str| {
        let query = text::query::all_terms(typed);
        desk.read(|rx| search::all(rx, &query, &Filter::default()))
    };
    let listed = |typed: &str| {
        let query = text::query::rewrite(typed);
        let found = desk.read(|rx| search::hits(rx, &query, &Filter::default(), Order::Best, 10));
        assert!(!found.completeness.is_partial(), "{typed}");
        assert!(found.hits.iter().all(|hit| hit.score > 0.0), "{typed}");
        let mut ids: Vec<i64> = found.hits.iter().map(|hit| hit.id).collect();
        ids.sort_unstable();
        ids
    };
    for (typed, expected) in [
        ("alphaq AND betaq", vec![long]),
        ("alphaq NOT betaq", vec![short]),
        ("betaq OR alphaq", vec![long, short]),
        ("(alphaq OR nothing) AND (betaq NOT nowhere)", vec![long]),
        ("betaq NOT alphaq", vec![]),
        ("\"betaq\" AND alpha*", vec![long]),
        ("alpha* NOT \"betaq filler\"", vec![short]),
        ("NEAR(filler betaq, 0) alphaq", vec![long]),
        ("alphaq NOT (betaq NOT between)", vec![long, short]),
        ("al* AND be*", vec![long]),
    ] {
        assert_eq!(all(typed), expected, "{typed}");
        assert_eq!(listed(typed), expected, "{typed}");
    }
    assert_eq!(all("alphaq betaq"), [long]);
    assert_eq!(count(&desk.opening.store), 4, "the long one has three passages");
}

/// @purge_by_words @search_operators
#[test]
fn words_stand_together_also_where_a_long_record_is_cut() {
    let desk = Desk::new();
    let counted =
        |prefix: &str, to: u32| -> String { (0..to).map(|i| format!("{prefix}{i} ")).collect() };
    let cut = |said: &str| format!("{}{said} {}", counted("w", 98), counted("v", 121));
    let id = desk.says(&cut("correct horse battery staple"), None, 0);
    let other = desk.says(&cut("staple battery horse correct"), None, 1);
    let all = |typed: &str| {
        let query = text::query::all_terms(typed);
        desk.read(|rx| search::all(rx, &query, &Filter::default()))
    };
    let listed = |typed: &str| {
        let query = text::query::rewrite(typed);
        let found = desk.read(|rx| search::hits(rx, &query, &Filter::default(), Order::Best, 10));
        assert!(!found.completeness.is_partial(), "{typed}");
        let mut ids: Vec<i64> = found.hits.iter().map(|hit| hit.id).collect();
        ids.sort_unstable();
        ids
    };
    for (typed, expected) in [
        ("\"correct horse battery staple\"", vec![id]),
        ("\"horse batteries\"", vec![id]),
        ("\"w97 correct horse battery staple v0\"", vec![id]),
        ("\"w97 correct horse batt\"*", vec![id]),
        ("w5 NOT \"correct horse battery staple\"", vec![other]),
        ("NEAR(correct staple, 2)", vec![id, other]),
        ("NEAR(correct staple, 1)", vec![]),
        ("NEAR(w97 battery, 2)", vec![id, other]),
        ("NEAR(w97 battery, 1)", vec![other]),
        ("\"horse staple\"", vec![]),
        ("\"of the\"", vec![]),
    ] {
        assert_eq!(all(typed), expected, "{typed}");
        assert_eq!(listed(typed), expected, "{typed}");
    }
    let query = text::query::rewrite("what is the \"correct horse battery staple\" for?");
    let found = desk.read(|rx| search::hits(rx, &query, &Filter::default(), Order::Best, 10));
    assert_eq!(found.hits.first().map(|hit| (hit.id, hit.exact)), Some((id, true)));
}

/// @search_operators @search_prefix
#[test]
fn a_beginning_finds_what_begins_so_whatever_its_stem_is() {
    let desk = Desk::new();
    let texts = [
        "build the router",
        "organization chart",
        "university",
        "filing cabinets",
        "list of files",
        "chocolate cake",
        "getOrganizers of thistles",
        "this and that",
        "the bus stops",
        "happy users",
        "happiness",
    ];
    let ids: Vec<i64> = (0..).zip(texts).map(|(at, text)| desk.says(text, None, at)).collect();
    for (typed, expected) in [
        ("bus*", vec![8]),
        ("bui*", vec![0]),
        ("organi*", vec![1, 6]),
        ("organiz*", vec![1, 6]),
        ("organizat*", vec![1]),
        ("universi*", vec![2]),
        ("file*", vec![4]),
        ("fil*", vec![3, 4]),
        ("thi*", vec![6, 7]),
        ("this*", vec![6, 7]),
        ("happi*", vec![10]),
        ("happ*", vec![9, 10]),
        ("happy*", vec![9]),
        ("chos*", vec![]),
        ("uni* OR cho*", vec![2, 5]),
        ("fil* NOT file*", vec![3]),
        ("Organiz* char*", vec![1]),
    ] {
        let expected: Vec<i64> = expected.into_iter().map(|at: usize| ids[at]).collect();
        let query = text::query::rewrite(typed);
        let all = desk.read(|rx| search::all(rx, &query, &Filter::default()));
        assert_eq!(all, expected, "{typed}");
        let found = desk.read(|rx| search::hits(rx, &query, &Filter::default(), Order::Best, 10));
        let mut listed: Vec<i64> = found.hits.iter().map(|hit| hit.id).collect();
        listed.sort_unstable();
        assert_eq!((listed, found.completeness.is_partial()), (expected, false), "{typed}");
    }
    // Words that no record has are tried as prefixes, under the same rules.
    for (typed, expected) in [("chosen", vec![]), ("universi", vec![2]), ("organizatory", vec![1])]
    {
        let expected: Vec<i64> = expected.into_iter().map(|at: usize| ids[at]).collect();
        let query = text::query::rewrite(typed);
        let found = desk.read(|rx| search::hits(rx, &query, &Filter::default(), Order::Best, 10));
        assert_eq!(found.hits.iter().map(|hit| hit.id).collect::<Vec<_>>(), expected, "{typed}");
    }
}

/// @search_patience
#[test]
fn records_not_checked_for_an_excluded_term_are_not_listed() {
    let desk = Desk::new();
    for at in 0..600 {
        let unwanted = if at % 2 == 0 { "not wanted" } else { "" };
        desk.says(&format!("wanted words n{at} {unwanted}"), None, at);
    }
    let effort = Effort::within(Duration::ZERO);
    let query = text::query::rewrite("\"wanted words\" NOT \"not wanted\"");
    let wanted = Wanted::of(Order::Best, 1_000);
    let found =
        desk.read(|rx| search::hits_within(&effort, rx, &query, &Filter::default(), wanted));
    assert!(
        found.completeness.is_partial() && (1..300).contains(&found.hits.len()),
        "{}",
        found.hits.len()
    );
    for hit in &found.hits {
        assert!(!desk.get(hit.id).unwrap().content.contains("not wanted"));
    }
    let effort = Effort::within(Duration::from_secs(60));
    let whole =
        desk.read(|rx| search::hits_within(&effort, rx, &query, &Filter::default(), wanted));
    assert_eq!((whole.hits.len(), whole.completeness.is_partial()), (300, false));
    // Nothing is listed either if the words have more postings than the budget allows.
    let query = text::query::rewrite("wanted NOT n7");
    for (entries, found) in [(601, (599, false)), (600, (0, true)), (599, (0, true))] {
        let effort = Effort { entries, ..Effort::default() };
        let hits =
            desk.read(|rx| search::hits_within(&effort, rx, &query, &Filter::default(), wanted));
        assert_eq!((hits.hits.len(), hits.completeness.is_partial()), found, "{entries}");
    }
}
