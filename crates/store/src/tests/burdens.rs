//! Queries and stores of unusual shapes: each query is answered within a deadline.

use std::time::{Duration, Instant};

use rusqlite::params;
use text::query::{self, Form};

use super::desk::{Desk, do_it};
use crate::search::{self, Filter, Order, Recipe, Wanted};
use crate::{Tx, passages};

/// Far more than any of these queries takes, and far less than an unbounded query would take.
const DEADLINE: Duration = Duration::from_secs(40);

fn within_deadline<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let begun = Instant::now();
    let done = work();
    let took = begun.elapsed();
    assert!(took < DEADLINE, "{what} took {took:?}");
    done
}

/// A store in which every record has many of the same words.
fn crowded() -> Desk {
    let desk = Desk::new();
    let deed = desk.deed_command("", 0);
    desk.write(move |tx| {
        for i in 0..1_500_usize {
            let words: Vec<String> =
                (0..30).map(|j| format!("w{}", (i * 7 + j * j) % 400)).collect();
            let mut deed = deed.clone();
            deed.content = format!("the common 認証 {} n{i}", words.join(" "));
            do_it(tx, &deed)?;
        }
        while passages::catch_up(tx)? {}
        Ok(())
    });
    desk
}

/// @search_bounded
#[test]
fn any_query_is_answered_within_the_deadline_and_without_an_error() {
    let desk = crowded();
    let many = |count: usize, of: &dyn Fn(usize) -> String| {
        (0..count).map(of).collect::<Vec<_>>().join(" ")
    };
    let table: Vec<(&str, String, Form)> = vec![
        ("nothing", String::new(), Form::Empty),
        ("100,000 characters", "common ".repeat(15_000), Form::AnyTerm),
        ("stop words", "what is this and why was it so".to_owned(), Form::AnyTerm),
        ("punctuation", "?!… --- ;;; ()".to_owned(), Form::Empty),
        ("CJK", "認証".repeat(3_000), Form::AnyTerm),
        ("one character of CJK", "認".to_owned(), Form::AnyTerm),
        ("emoji", "🦀🔥".repeat(2_000), Form::Empty),
        ("one word of 10,000 characters", "x".repeat(10_000), Form::AnyTerm),
        ("5,000 words that are there", many(5_000, &|i| format!("w{i}")), Form::AnyTerm),
        ("5,000 words that are not", many(5_000, &|i| format!("q{i}")), Form::AnyTerm),
        ("NUL", "common\0n7\0".to_owned(), Form::AnyTerm),
        ("only NUL", "\0\0".to_owned(), Form::Empty),
        ("beginnings", many(2_000, &|i| format!("w{}*", i % 10)), Form::AnyTerm),
        ("ANDs", many(2_000, &|_| "AND".to_owned()), Form::AnyTerm),
        ("ORs without ends", format!("OR {} OR", "common OR ".repeat(3_000)), Form::AnyTerm),
        ("open NEAR", "NEAR(common n7, ".repeat(500), Form::AnyTerm),
        ("open quotes", "\"common ".repeat(1_001), Form::AnyTerm),
        ("brackets", format!("{}common{}", "(".repeat(9_000), ")".repeat(9_000)), Form::AnyTerm),
        ("columns", "body : common parts: n7 {body parts} : x".to_owned(), Form::AnyTerm),
    ];
    for (what, typed, form) in table {
        let query = query::rewrite(&typed);
        for recipe in [Recipe::Lexical, Recipe::Table] {
            let wanted = Wanted::of(Order::Best, 20);
            let found = within_deadline(what, || {
                desk.read(|rx| search::hits_by(recipe, rx, &query, &Filter::default(), wanted))
            });
            assert!(found.hits.len() <= 20, "{what}");
            if query.form == Form::Empty {
                assert!(found.hits.is_empty(), "{what}");
            }
        }
        assert_eq!(query.form, form, "{what}");
        within_deadline(what, || {
            desk.read(|rx| search::similar(rx, Recipe::Table, &typed, &Filter::default(), 20))
        });
    }
}

/// @search_bounded
#[test]
fn a_store_of_one_passage_is_searched() {
    let desk = Desk::new();
    let id = desk.runs("only this", 0);
    // A word that every record has still counts a little.
    for typed in ["only", "this", "only this", "on*", "\"only this\"", "onl"] {
        let query = query::rewrite(typed);
        let found = desk.read(|rx| search::hits(rx, &query, &Filter::default(), Order::Best, 10));
        let ids: Vec<i64> = found.hits.iter().map(|hit| hit.id).collect();
        assert_eq!(ids, [id], "{typed}");
        assert!(found.hits[0].score > 0.0, "{typed}");
    }
}

/// @search_bounded
#[test]
fn identical_passages_are_each_found_once_the_newest_first() {
    let desk = Desk::new();
    let ids: Vec<i64> =
        (0..300).map(|i| desk.says("rotate the signing keys now", None, i)).collect();
    let newest = |count: usize| ids.iter().rev().take(count).copied().collect::<Vec<_>>();
    for typed in ["rotate the keys", "\"signing keys\"", "signing"] {
        for recipe in [Recipe::Lexical, Recipe::Table] {
            let query = query::rewrite(typed);
            let found = |limit: usize| {
                let wanted = Wanted::of(Order::Best, limit);
                let found =
                    desk.read(|rx| search::hits_by(recipe, rx, &query, &Filter::default(), wanted));
                found.hits.iter().map(|hit| hit.id).collect::<Vec<_>>()
            };
            let mut all = found(1_000);
            all.sort_unstable();
            assert_eq!(all, ids, "{typed} {recipe:?}");
            // Where neighbours count, the last one has one fewer than the others.
            let last = usize::from(query.form == Form::AnyTerm);
            assert_eq!(found(5), newest(5 + last)[last..], "{typed} {recipe:?}");
        }
    }
    let alike = desk.read(|rx| {
        search::similar(rx, Recipe::Table, "rotate the signing keys now", &Filter::default(), 5)
    });
    assert_eq!(alike.iter().map(|one| one.hit.id).collect::<Vec<_>>(), newest(5));
    assert!(alike.iter().all(|one| one.alike.is_duplicate()));
}

/// @search_large_documents
#[test]
fn a_document_of_ten_megabytes_is_one_hit_and_does_not_slow_searches() {
    let desk = Desk::new();
    let before = desk.runs("before it", 0);
    let id = desk.runs("a placeholder", 1);
    desk.runs("after it", 2);
    // Most of it is one long value after the other, as in a log.
    let value = "0123456789abcdef".repeat(32);
    let line = |i: usize| format!("line {i} says filler{} and other{} {value}\n", i % 97, i % 89);
    let text: String = (0..10_000_000 / 540).map(line).collect();
    assert!(text.len() > 10_000_000);
    desk.write(move |tx: &Tx<'_>| {
        let update = "UPDATE observations SET content = ?2 WHERE id = ?1";
        tx.sql(|db| db.execute(update, params![id, text]))?;
        passages::changed(tx, id)?;
        while passages::catch_up(tx)? {}
        Ok(())
    });
    let pieces = desk.read(passages::count);
    assert!(pieces > 1_000, "{pieces}");
    for typed in ["filler13", "line says other7", "filler1 AND other1", "\"line 12345\""] {
        let query = query::rewrite(typed);
        let found = within_deadline(typed, || {
            desk.read(|rx| search::hits(rx, &query, &Filter::default(), Order::Best, 10))
        });
        assert_eq!(found.hits.iter().filter(|hit| hit.id == id).count(), 1, "{typed}");
        assert_eq!(found.hits[0].id, id, "{typed}");
    }
    let query = query::rewrite("before");
    let found = desk.read(|rx| search::hits(rx, &query, &Filter::default(), Order::Best, 10));
    assert_eq!(found.hits[0].id, before);
    desk.write(move |tx| passages::remove(tx, id));
    assert_eq!(desk.read(passages::count), 2);
}
