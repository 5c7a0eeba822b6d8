//! Tests of the store as a call sees it: answers of repeated calls, events, progress.

use std::sync::Arc;

use model::event::Event;
use model::{CallId, Caller, Code};
use serde_json::{Value, json};

use super::{NOW, Shop};
use crate::cx::CallStore;
use crate::job::RunningJob;

const FINGERPRINT: i64 = 7;

impl Shop {
    fn call_store(&self, call: Option<u8>) -> CallStore<'_> {
        CallStore::new(&self.store, call.map(|id| CallId([id; 16])), FINGERPRINT, NOW)
    }

    fn kinds(&self) -> Vec<String> {
        self.published.try_iter().flatten().map(|event| event.kind).collect()
    }
}

#[test]
fn a_repeated_call_finds_the_stored_answer_and_does_not_run_again() {
    let shop = Shop::new();
    let first = shop.call_store(Some(1));
    assert_eq!(first.call_id(), Some(CallId([1; 16])));
    assert_eq!(first.write(|_| Ok("done")).unwrap(), "done");
    assert_eq!(first.take_repeated(), None);
    let again = shop.call_store(Some(1));
    assert!(again.write(|_| Ok("done twice")).is_err());
    assert_eq!(again.take_repeated().as_deref(), Some(r#""done""#));
    assert_eq!(again.take_repeated(), None, "it is taken once");
}

#[test]
fn a_write_without_an_answer_runs_each_time() {
    let shop = Shop::new();
    for number in 1..3 {
        let store = shop.call_store(Some(1));
        assert_eq!(store.write_unanswered(move |_| Ok(number)).unwrap(), number);
    }
    assert_eq!(shop.call_store(None).call_id(), None);
}

#[test]
fn noted_events_are_published_with_the_next_write_and_once() {
    let shop = Shop::new();
    shop.call(&Caller::default(), shop.call_store(None), |cx| {
        cx.note(Event::new("box/opened", "box://1".into()));
        assert!(shop.kinds().is_empty(), "nothing is committed yet");
        cx.store.write(|_| Ok(())).unwrap();
        assert_eq!(shop.kinds(), ["box/opened"]);
        cx.store.write(|_| Ok(())).unwrap();
        assert!(shop.kinds().is_empty());
    });
}

#[test]
fn a_failed_write_publishes_nothing() {
    let shop = Shop::new();
    shop.call(&Caller::default(), shop.call_store(None), |cx| {
        cx.note(Event::new("box/opened", "box://1".into()));
        let failed = cx.store.write::<()>(|_| Err(model::OpError::invalid("box", "it is shut")));
        assert_eq!(failed.unwrap_err().code, Code::Invalid);
        assert!(shop.kinds().is_empty());
    });
}

#[test]
fn a_search_tells_that_the_index_has_all_records() {
    let shop = Shop::new();
    let store = shop.call_store(None);
    assert_eq!(store.search(|_| Ok(5)).unwrap(), (5, true));
    assert_eq!(store.read(|_| Ok(6)).unwrap(), 6);
}

#[test]
fn a_call_of_another_operation_returns_its_reply() {
    let shop = Shop::new();
    let reply: Value = shop.call(&Caller::default(), shop.call_store(None), |cx| {
        cx.call("open_box", json!({ "id": 1 })).unwrap()
    });
    assert_eq!(reply, json!({ "op": "open_box", "params": { "id": 1 } }));
}

#[test]
fn a_job_reports_its_progress_until_it_is_cancelled() {
    let shop = Shop::new();
    let job = Arc::new(RunningJob::default());
    let store = shop.call_store(None).of_job(Some(Arc::clone(&job)));
    store.progress("first", 1, Some(2)).unwrap();
    let progress = job.progress();
    assert_eq!((&*progress.step, progress.done, progress.total), ("first", 1, Some(2)));
    assert!(!job.is_cancelled());
    job.cancel();
    assert!(job.is_cancelled());
    assert_eq!(store.progress("second", 2, Some(2)).unwrap_err().code, Code::Conflict);
    assert_eq!(job.progress().step, "second", "the last step is shown");
}

#[test]
fn a_call_that_is_no_job_may_report_progress_too() {
    let shop = Shop::new();
    assert!(shop.call_store(None).progress("first", 1, None).is_ok());
}
