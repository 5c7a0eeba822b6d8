//! Writes: repeats, groups, isolation, order, bounds, and lookups that never scan.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use model::event::{Event, HookRecord};
use model::{CallId, Code, OpError, limits};
use serde_json::json;

use super::{Home, NOW, answer, at_now, call, hint, hold_writer, name, set};
use crate::{Write, Written, calls, events, hints, hook_events};

#[test]
fn a_repeated_call_returns_the_stored_answer() {
    let home = Home::new();
    let opening = home.open();
    let write = || {
        opening.store.write(call(1), |tx| {
            hints::put(tx, &hint("build", "make"))?;
            hints::count(tx).map(|count| json!({ "count": count }))
        })
    };
    assert_eq!(write().unwrap(), Written::Done(json!({ "count": 1 })));
    set(&opening.store, "test", "make test").unwrap();
    assert_eq!(write().unwrap(), Written::Repeated(r#"{"count":1}"#.into()));
    opening.store.close();
    let again = home.open();
    let repeated = again.store.write(call(1), |_| Ok(0)).unwrap();
    assert_eq!(repeated, Written::Repeated(r#"{"count":1}"#.into()));
}

#[test]
fn a_call_that_failed_is_not_remembered() {
    let opening = Home::new().open();
    let failed =
        opening.store.write(call(1), |_| Err::<(), _>(OpError::not_found("no such thing")));
    assert_eq!(failed.unwrap_err().code, Code::NotFound);
    assert_eq!(opening.store.write(call(1), |_| Ok(7)).unwrap(), Written::Done(7));
}

#[test]
fn two_equal_calls_in_one_group_run_once() {
    let opening = Home::new().open();
    let release = hold_writer(&opening.store);
    let first = opening.store.submit(call(1), |_| Ok("ran")).unwrap();
    let second = opening.store.submit(call(1), |_| Ok("ran")).unwrap();
    drop(release);
    assert_eq!(answer(&first).unwrap(), Written::Done("ran"));
    assert_eq!(answer(&second).unwrap(), Written::Repeated("\"ran\"".into()));
}

#[test]
fn a_failed_write_leaves_nothing_and_does_not_affect_others_in_its_group() {
    let opening = Home::new().open();
    let release = hold_writer(&opening.store);
    let put = |key: &'static str, fails: bool| {
        let work = move |tx: &crate::Tx<'_>| {
            hints::put(tx, &hint(key, "v"))?;
            if fails { Err(OpError::invalid("key", "it may not be")) } else { Ok(()) }
        };
        opening.store.submit(at_now(), work).unwrap()
    };
    let replies = [put("a", false), put("b", true), put("c", false)];
    drop(release);
    let codes: Vec<_> = replies.iter().map(|r| answer(r).err().map(|e| e.code)).collect();
    assert_eq!(codes, [None, Some(Code::Invalid), None]);
    assert_eq!(opening.keys(), ["a", "c"]);
}

#[test]
fn a_panic_in_a_write_is_internal_and_the_writer_lives_on() {
    let opening = Home::new().open();
    let panicked = opening.store.write(at_now(), |tx| -> Result<(), OpError> {
        hints::put(tx, &hint("half", "done"))?;
        panic!("on purpose")
    });
    assert_eq!(panicked.unwrap_err().code, Code::Internal);
    opening.set("after", "v").unwrap();
    assert_eq!(opening.keys(), ["after"]);
}

#[test]
fn effects_come_after_commit_in_order_then_events_then_the_reply() {
    let home = Home::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = |what: String| {
        let seen = Arc::clone(&seen);
        move || seen.lock().unwrap().push(what.clone())
    };
    let publish = Arc::clone(&seen);
    let store = crate::Store::open(
        home.options(),
        Box::new(|_, _| Ok(())),
        Box::new(move |events| publish.lock().unwrap().push(format!("published {}", events.len()))),
    )
    .unwrap();
    let release = hold_writer(&store);
    let submit = |n: u8, fails: bool| {
        let effect = log(format!("effect {n}"));
        let write = Write { at: NOW, ..Write::default() };
        let work = move |tx: &crate::Tx<'_>| {
            tx.after_commit(Box::new(effect.clone()));
            tx.note(Event::new("hint/changed", format!("hint://web/{n}")))?;
            if fails { Err(OpError::invalid("n", "no")) } else { Ok(()) }
        };
        store.submit(write, work).unwrap()
    };
    let replies = [submit(1, false), submit(2, true), submit(3, false)];
    drop(release);
    answer(&replies[0]).unwrap();
    assert_eq!(*seen.lock().unwrap(), ["effect 1", "effect 3", "published 2"]);
}

#[test]
fn events_are_published_in_the_order_of_their_numbers() {
    let opening = Home::new().open();
    let event = |n: u64| {
        let event = Event::new("hint/changed", format!("hint://web/{n}")).with_data(json!(n));
        Event { reason: Some("set"), ..event }
    };
    for n in 0..3 {
        let write = Write { at: NOW, ..Write::default() };
        let noted = opening
            .store
            .write(write, move |tx| Ok((tx.note(event(2 * n))?, tx.note(event(2 * n + 1))?)));
        let numbers = (2 * n + 1, 2 * n + 2);
        assert_eq!(noted.unwrap(), Written::Done(numbers), "the number is known at once");
    }
    let published: Vec<_> = opening.published.try_iter().flatten().collect();
    let numbers: Vec<u64> = published.iter().map(|event| event.seq).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6]);
    assert_eq!((&published[5].data, published[5].at), (&json!(5), NOW));
    let stored: String = opening
        .store
        .read(|rx| rx.sql(|db| db.query_row("SELECT max(data) FROM events", [], |row| row.get(0))))
        .unwrap();
    assert_eq!(stored, "\"set\"", "of the rest only the reason is stored");
    assert_eq!(opening.store.read(events::last_seq).unwrap(), 6);
}

#[test]
fn a_full_queue_is_unavailable_at_once() {
    let opening = Home::new().open();
    let release = hold_writer(&opening.store);
    let waiting: Vec<_> = (0..limits::WRITE_QUEUE_MAX)
        .map(|_| opening.store.submit(at_now(), |_| Ok(())).unwrap())
        .collect();
    let refused = opening.set("one", "too many").unwrap_err();
    assert_eq!(refused.code, Code::Unavailable);
    assert!(refused.message.contains("4096"), "{refused}");
    drop(release);
    assert!(waiting.iter().all(|reply| answer(reply).is_ok()));
    opening.set("one", "more").unwrap();
}

#[test]
fn a_write_that_waits_for_itself_is_refused() {
    let opening = Home::new().open();
    let inner = opening.store.clone();
    let nested = opening.store.write(at_now(), move |_| set(&inner, "a", "b"));
    assert_eq!(nested.unwrap_err().code, Code::Internal);
}

#[test]
fn old_answers_and_events_go_within_a_later_write() {
    static CLOCK: AtomicI64 = AtomicI64::new(NOW);
    let home = Home::new();
    let mut options = home.options();
    options.clock = || CLOCK.load(Ordering::Relaxed);
    let opening = home.open_with(options).unwrap();
    let many = usize::try_from(limits::EVENTS_KEPT).unwrap() + 5;
    let note = |tx: &crate::Tx<'_>| tx.note(Event::new("hint/changed", "hint://web/a".into()));
    opening.store.write(call(1), move |tx| (0..many).try_for_each(|_| note(tx).map(drop))).unwrap();
    let later = NOW + i64::try_from(limits::CALL_MEMORY.as_millis()).unwrap() + 1;
    CLOCK.store(later, Ordering::Relaxed);
    opening.store.write(Write { at: later, ..call(2) }, |_| Ok(())).unwrap();
    let (old, young, kept) = opening
        .store
        .read(|rx| {
            let kept: u64 =
                rx.sql(|db| db.query_row("SELECT count(*) FROM events", [], |row| row.get(0)))?;
            Ok((
                calls::answer(rx, CallId([1; 16]), 0)?,
                calls::answer(rx, CallId([2; 16]), 0)?,
                kept,
            ))
        })
        .unwrap();
    assert_eq!((old, young, kept), (None, Some("null".into()), limits::EVENTS_KEPT));
}

#[test]
fn a_hook_event_counts_once() {
    let opening = Home::new().open();
    let record = |id: u8, session: Option<&str>, tool: Option<&str>, at: i64| HookRecord {
        id: CallId([id; 16]),
        name: "PostToolUse".into(),
        session: session.map(Into::into),
        tool_use_id: tool.map(Into::into),
        at,
    };
    let new = |event: HookRecord| match opening
        .store
        .write(at_now(), move |tx| hook_events::record(tx, event.clone()))
        .unwrap()
    {
        Written::Done(new) => new,
        Written::Repeated(_) => unreachable!("no call id was given"),
    };
    assert!(new(record(1, Some("s"), Some("t"), 20)));
    assert!(!new(record(1, Some("other"), None, 21)), "the same id");
    assert!(!new(record(2, Some("s"), Some("t"), 22)), "the same tool call");
    assert!(new(record(3, Some("s2"), Some("t"), 23)));
    assert!(new(record(4, None, Some("t"), 24)));
    assert!(!new(record(5, None, Some("t"), 25)), "no session is a session too");
    assert!(new(record(6, Some("s"), None, 26)) && new(record(7, Some("s"), None, 5)));
    let (last, count) =
        opening.store.read(|rx| Ok((hook_events::last(rx)?, hook_events::count(rx)?))).unwrap();
    assert_eq!(last, Some(record(6, Some("s"), None, 26)), "by time, not by arrival");
    assert_eq!(count, 5);
}

#[test]
fn a_hint_comes_back_as_it_was_put() {
    let opening = Home::new().open();
    let mut kept = hint("build", "make");
    kept.value = json!({ "type": "command", "run": "make ü", "n": 1.5 });
    kept.meta.reason = Some("it is so".into());
    kept.meta.tags = vec!["build".into(), "ci".into()];
    kept.version = 3;
    (kept.last_used_at, kept.use_count) = (Some(NOW - 5), 7);
    let put = kept.clone();
    opening.store.write(at_now(), move |tx| hints::put(tx, &put)).unwrap();
    let found = || opening.store.read(|rx| hints::variants(rx, &name("build"))).unwrap();
    assert_eq!(found(), [kept.clone()]);
    kept.meta = model::hint::HintMeta { ttl: None, ..kept.meta };
    let put = kept.clone();
    opening.store.write(at_now(), move |tx| hints::put(tx, &put)).unwrap();
    assert_eq!(found(), [kept.clone()]);
    let mut scoped = kept.clone();
    scoped.meta = serde_json::from_value(json!({
        "priority": 7, "confidence": 0.25, "ttl": "PT1,5H", "sensitivity": "secret", "source": "tool-output",
        "added_by": "agent:x", "scope": { "cwd_glob": ["b", "a"], "repo": "git:a/b", "branch": ["c"],
        "os": ["linux"], "env_required": ["A"], "env_match": { "B": "1", "C": ["2"] } },
    }))
    .unwrap();
    let put = scoped.clone();
    opening.store.write(at_now(), move |tx| hints::put(tx, &put)).unwrap();
    assert_eq!(opening.store.read(hints::all).unwrap(), [scoped, kept]);
}

#[test]
fn expired_hints_are_swept_and_their_names_returned() {
    let opening = Home::new().open();
    let mut short = hint("a", "v");
    short.meta.ttl = Some(model::hint::Ttl::parse("PT1S").unwrap());
    let mut long = hint("b", "v");
    long.meta.ttl = Some(model::hint::Ttl::parse("PT2S").unwrap());
    let swept = opening.store.write(at_now(), move |tx| {
        for hint in [&short, &long, &hint("c", "v")] {
            hints::put(tx, hint)?;
        }
        let early = hints::sweep(tx, NOW + 999)?.len();
        let names = hints::sweep(tx, NOW + 1000)?.into_iter().map(|gone| gone.name.key);
        Ok((early, names.collect::<Vec<_>>()))
    });
    assert_eq!(swept.unwrap(), Written::Done((0, vec!["a".to_owned()])));
    assert_eq!(opening.keys(), ["b", "c"]);
}

#[test]
fn hints_are_counted_by_variant_and_by_component() {
    let opening = Home::new().open();
    let counts = opening.store.write(at_now(), move |tx| {
        let empty = hints::count_components(tx)?;
        for component in ["web", "api", "zoo"] {
            for os in ["linux", "darwin"] {
                let mut hint = hint("a", "v");
                hint.name.component = component.to_owned();
                hint.meta.scope = Some(serde_json::from_value(json!({ "os": [os] })).unwrap());
                hints::put(tx, &hint)?;
            }
        }
        let counts = (hints::count(tx)?, hints::count_of(tx, "web")?, hints::count_of(tx, "no")?);
        Ok((empty, counts, hints::count_components(tx)?))
    });
    assert_eq!(counts.unwrap(), Written::Done((0, (6, 2, 0), 3)));
}

#[test]
fn clearing_session_hints_keeps_the_others() {
    let opening = Home::new().open();
    let mut session = hint("a", "v");
    session.meta.ttl = Some(model::hint::Ttl::Session);
    let mut by_default = hint("b", "v");
    by_default.meta.ttl = None;
    let cleared = opening.store.write(at_now(), move |tx| {
        for hint in [&session, &by_default, &hint("c", "v")] {
            hints::put(tx, hint)?;
        }
        hints::clear_session(tx)
    });
    assert_eq!(cleared.unwrap(), Written::Done(2));
    assert_eq!(opening.keys(), ["c"]);
}

#[test]
fn exact_lookups_never_scan() {
    let opening = Home::new().open();
    for lookup in [hints::GET, hints::SWEEP, calls::ANSWER] {
        let plan: Vec<String> = opening
            .store
            .read(|rx| {
                rx.sql(|db| {
                    let mut explain = db.prepare(&format!("EXPLAIN QUERY PLAN {lookup}"))?;
                    for index in 1..=explain.parameter_count() {
                        explain.raw_bind_parameter(index, "x")?;
                    }
                    let mut rows = explain.raw_query();
                    let mut lines = Vec::new();
                    while let Some(row) = rows.next()? {
                        lines.push(row.get(3)?);
                    }
                    Ok(lines)
                })
            })
            .unwrap();
        assert!(
            plan.iter()
                .any(|line| line.contains("USING INDEX") || line.contains("USING COVERING INDEX")),
            "{lookup}: {plan:?}"
        );
        let sorts = plan.iter().any(|line| line.contains("TEMP B-TREE"));
        assert!(!sorts, "{lookup}: {plan:?}");
    }
}

#[test]
fn a_read_sees_one_moment() {
    let opening = Home::new().open();
    opening.set("a", "v").unwrap();
    let (before, after) = opening
        .store
        .read(|rx| {
            let before = hints::count(rx)?;
            set(&opening.store, "b", "v")?;
            Ok((before, hints::count(rx)?))
        })
        .unwrap();
    assert_eq!((before, after), (1, 1));
    assert_eq!(opening.keys(), ["a", "b"]);
}

#[test]
fn more_readers_than_connections_all_get_their_turn() {
    let opening = Home::new().open();
    opening.set("a", "v").unwrap();
    let store = &opening.store;
    std::thread::scope(|scope| {
        for _ in 0..limits::READ_CONNECTIONS_MAX * 4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    assert_eq!(store.read(hints::all).unwrap().len(), 1);
                }
            });
        }
    });
}
