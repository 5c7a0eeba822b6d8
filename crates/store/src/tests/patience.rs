//! The time budget of a search.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use model::limits;
use model::observation::ObsType;
use text::query::{self, Form};

use super::desk::{self, Deed, Desk};
use super::search::ALL;
use crate::search::{self, Effort, Filter, Order, Wanted};
use crate::sessions::{self, Seen, Sighting};

/// @search_patience
#[test]
fn a_query_that_takes_too_long_ends_with_what_it_has() {
    let desk = Desk::new();
    for i in 0..800 {
        desk.runs(&format!("common words n{i}"), i);
    }
    let effort = Effort::within(Duration::ZERO);
    let query = query::rewrite("n* AND \"common words\"");
    let wanted = Wanted::of(Order::Best, 1_000);
    let found = desk.read(|rx| search::hits_within(&effort, rx, &query, &ALL, wanted));
    assert!(found.completeness.is_partial());
    assert!(found.hits.len() < 800);
    let effort = Effort::within(Duration::from_secs(60));
    let complete = desk.read(|rx| search::hits_within(&effort, rx, &query, &ALL, wanted));
    assert_eq!((complete.hits.len(), complete.completeness.is_partial()), (800, false));
}

/// Writes more records than a filter checks regardless of the deadline.
fn many(desk: &Desk, deed: Deed) {
    desk.write(move |tx| {
        for i in 0..5_000 {
            let content = format!("{} n{i}", deed.content);
            desk::do_it(tx, &Deed { content, after: i, ..deed.clone() })?;
        }
        Ok(())
    });
}

/// @search_filters @search_patience
#[test]
fn filters_by_agent_or_failure_find_few_records_among_many_with_zero_time() {
    let desk = Desk::new();
    let project = desk.project.id;
    let codex = desk.write(move |tx| {
        let (name, root, at) = ("s-codex", None, super::NOW);
        let (starts, works) = (false, true);
        let seen = Sighting { name, agent: "codex", project, root, at, starts, works };
        Ok(sessions::touch(tx, &seen)?.id)
    });
    let session = Seen { id: codex, project, new: true, went_active: false };
    let path = Some("/w/app/src/dock.rs".to_owned());
    let own = Deed { session, path, ..desk.deed(ObsType::FileEdit, "Edit src/dock.rs", 0) };
    let own = desk.does(own).id();
    desk.write(move |tx| sessions::summarise(tx, codex));
    let failing = Deed { failed: true, ..desk.deed(ObsType::FileRead, "a dock too far", 0) };
    let failing = desk.does(failing).id();
    many(&desk, desk.deed_command("dock dock", 0));
    let table = [
        (Filter { agent: Some("codex"), ..ALL }, vec![codex, own]),
        (Filter { agent: Some("nobody"), ..ALL }, vec![]),
        (Filter { agent: Some("codex"), failed: Some(true), ..ALL }, vec![]),
        (Filter { failed: Some(true), ..ALL }, vec![failing]),
        (Filter { file: Some("nowhere.rs"), ..ALL }, vec![]),
    ];
    for (filter, expected) in table {
        for typed in ["dock", "dock OR nothing"] {
            for order in [Order::Best, Order::BestAndNewest, Order::Newest] {
                let query = query::rewrite(typed);
                // If nothing is found, prefixes are tried, and only these need time.
                let time = Duration::from_secs(if expected.is_empty() { 60 } else { 0 });
                let effort = Effort::within(time);
                let found = desk.read(|rx| {
                    search::hits_within(&effort, rx, &query, &filter, Wanted::of(order, 100))
                });
                let mut ids: Vec<i64> = found.hits.iter().map(|hit| hit.id).collect();
                ids.sort_unstable();
                assert_eq!(
                    (&ids, found.completeness.is_partial()),
                    (&expected, false),
                    "{filter:?} {typed}"
                );
            }
        }
    }
}

/// @search_filters @search_frequent
#[test]
fn all_that_a_filter_lets_through_is_found_however_much_it_is() {
    let desk = Desk::new();
    many(&desk, desk.deed_command("dock", 0));
    let effort = Effort::within(Duration::ZERO);
    let filters = [
        Filter { agent: Some("claude-code"), ..ALL },
        Filter { kind: Some(ObsType::Command.into()), ..ALL },
        Filter { session: Some(desk.session.id), ..ALL },
    ];
    for filter in filters {
        let (query, wanted) = (query::rewrite("dock"), Wanted::of(Order::Best, 10_000));
        let found = desk.read(|rx| search::hits_within(&effort, rx, &query, &filter, wanted));
        assert_eq!(
            (found.hits.len(), found.completeness.is_partial()),
            (5_000, false),
            "{filter:?}"
        );
    }
}

/// @search_prefix @search_patience
#[test]
fn beginnings_of_words_are_not_tried_while_some_record_may_have_the_word() {
    let desk = Desk::new();
    let begins = desk.runs("docker went up", 9_000);
    many(&desk, Deed { failed: true, ..desk.deed_command("dock", 0) });
    let filter = Filter { failed: Some(false), ..ALL };
    let found = |time| {
        let effort = Effort::within(time);
        let (query, wanted) = (query::rewrite("dock"), Wanted::of(Order::Best, 100));
        desk.read(|rx| search::hits_within(&effort, rx, &query, &filter, wanted))
    };
    let cut_short = found(Duration::ZERO);
    assert_eq!((cut_short.hits.len(), cut_short.completeness.is_partial()), (0, true));
    assert_eq!(cut_short.query.form, Form::AnyTerm);
    let whole = found(Duration::from_secs(60));
    assert_eq!(whole.hits.iter().map(|hit| hit.id).collect::<Vec<_>>(), [begins]);
    assert_eq!((whole.query.form, whole.completeness.is_partial()), (Form::Prefix, false));
}

/// @search_prefix @search_patience
#[test]
fn a_search_without_time_to_try_prefixes_is_marked_partial() {
    let desk = Desk::new();
    let begins = desk.runs("docker went up", 0);
    for i in 0..600 {
        desk.runs(&format!("make n{i}"), i);
    }
    let found = |time| {
        let effort = Effort::within(time);
        let (query, wanted) = (query::rewrite("docke"), Wanted::of(Order::Best, 100));
        desk.read(|rx| search::hits_within(&effort, rx, &query, &ALL, wanted))
    };
    let hurried = found(Duration::ZERO);
    assert_eq!((hurried.hits.len(), hurried.completeness.is_partial()), (0, true));
    let whole = found(Duration::from_secs(60));
    assert_eq!(whole.hits.iter().map(|hit| hit.id).collect::<Vec<_>>(), [begins]);
    assert!(!whole.completeness.is_partial());
}

/// @search_patience @search_exact
#[test]
fn waiting_for_the_catalogue_does_not_use_up_the_time_of_a_search() {
    let desk = Desk::new();
    let wanted = desk.runs("docker of src/user.rs", 0);
    // More records than are checked regardless of the deadline.
    for i in 0..600 {
        desk.runs(&format!("make n{i}"), i);
    }
    desk.read(|_| Ok(()));
    let (send, catalogue) = channel();
    desk.write(move |tx| {
        let _ = send.send(Arc::clone(&tx.facts().catalogue));
        Ok(())
    });
    let catalogue = catalogue.recv().unwrap();
    for typed in ["dock*", "use* OR us*"] {
        let (held, is_held) = channel();
        thread::scope(|scope| {
            scope.spawn(|| {
                let guard = catalogue.hold();
                held.send(()).unwrap();
                // Nothing is ever sent: this waits for longer than the time budget of a query.
                let (_keep, never) = channel::<()>();
                let _ = never.recv_timeout(limits::SEARCH_TIME * 2);
                drop(guard);
            });
            is_held.recv().unwrap();
            let query = query::rewrite(typed);
            let found =
                desk.opening.store.read(|rx| search::hits(rx, &query, &ALL, Order::Best, 10));
            let found = found.unwrap();
            assert!(found.hits.iter().any(|hit| hit.id == wanted), "{typed}");
            assert!(!found.completeness.is_partial(), "{typed}");
        });
    }
}

/// @search_patience @search_exact
#[test]
fn all_that_contains_a_name_is_there_though_its_words_are_too_frequent_to_be_paired() {
    let desk = Desk::new();
    let exact: Vec<i64> =
        (0..20).map(|i| desk.edits("/w/app/src/user.rs", i * 1_000_000)).collect();
    desk.edits("/w/app/src/user.rs.bak", 1);
    let effort = Effort { rows: 5, ..Effort::within(Duration::from_secs(60)) };
    let found = |typed: &str| {
        let query = query::rewrite(typed);
        desk.read(|rx| search::hits_within(&effort, rx, &query, &ALL, Wanted::of(Order::Best, 100)))
    };
    let named = found("src/user.rs");
    let mut ids: Vec<i64> = named.hits.iter().map(|hit| hit.id).collect();
    ids.sort_unstable();
    assert_eq!((ids, named.completeness.is_partial()), (exact, false));
    assert!(found("user rs").completeness.is_partial(), "of words that are no name pairs count");
}
