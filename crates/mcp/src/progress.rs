//! Progress of a job as `notifications/progress`, for a client that gave a token with its request.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use contract::ProgressWatcher;
use model::job::JobProgress;
use model::limits;
use rmcp::model::RequestMetaObject;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::inert;

/// The notifications of one request. They end when this is dropped, so none follows the reply, even if the job outlives
/// the request's deadline.
pub(crate) struct Progress {
    sending: Arc<Mutex<Sending>>,
}

struct Sending {
    /// None once the request has ended.
    queue: Option<mpsc::Sender<String>>,
    token: Value,
    step: String,
    /// The value of `progress` at which the present step begins. The numbers of a job begin again with every step, those of
    /// the protocol have to increase.
    base: u64,
    sent: Option<(u64, Instant)>,
}

impl Progress {
    /// None if the client has no queue for notifications, or gave no token that is a string or a number.
    pub(crate) fn of(
        meta: &RequestMetaObject,
        queue: Option<&mpsc::Sender<String>>,
    ) -> Option<Progress> {
        let token =
            meta.get("progressToken").filter(|token| token.is_string() || token.is_number());
        let sending = Sending {
            queue: Some(queue?.clone()),
            token: token?.clone(),
            step: String::new(),
            base: 0,
            sent: None,
        };
        Some(Progress { sending: Arc::new(Mutex::new(sending)) })
    }

    pub(crate) fn watcher(&self) -> ProgressWatcher {
        let sending = self.sending.clone();
        Arc::new(move |progress| lock(&sending).report(progress, Instant::now()))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        lock(&self.sending).queue = None;
    }
}

fn lock(sending: &Mutex<Sending>) -> MutexGuard<'_, Sending> {
    sending.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sending {
    /// Sends the first report of every step, and others at intervals. A client that does not read misses reports: half of
    /// the queue is left for replies.
    fn report(&mut self, progress: &JobProgress, now: Instant) {
        let Some(queue) = &self.queue else { return };
        let is_new_step = self.sent.is_none() || self.step != progress.step;
        let base = match (is_new_step, self.sent) {
            (true, Some((last, _))) => last + 1,
            _ => self.base,
        };
        let value = base.saturating_add(progress.done);
        let is_due = self.sent.is_none_or(|(last, at)| {
            value > last && (is_new_step || now - at >= limits::PROGRESS_INTERVAL)
        });
        if !is_due || queue.capacity() * 2 <= queue.max_capacity() {
            return;
        }
        let message = inert::line(progress.step.clone());
        let mut params =
            json!({ "progressToken": self.token, "progress": value, "message": message });
        if let Some(total) = progress.total.filter(|total| *total >= progress.done) {
            params["total"] = json!(base.saturating_add(total));
        }
        let notification = json!({
            "jsonrpc": "2.0", "method": "notifications/progress", "params": params,
        });
        if queue.try_send(notification.to_string()).is_ok() {
            self.step.clone_from(&progress.step);
            self.base = base;
            self.sent = Some((value, now));
        }
    }
}

/// Work that may put notifications into a queue. All of them precede its result.
pub struct Notifying<F: Future> {
    work: Pin<Box<F>>,
    queue: mpsc::Receiver<String>,
    result: Option<F::Output>,
}

/// An item of [`Notifying`]: a line to send, or the result.
pub enum Notified<T> {
    Line(String),
    Result(T),
}

impl<F: Future> Notifying<F> {
    pub fn new(work: F, queue: mpsc::Receiver<String>) -> Notifying<F> {
        Notifying { work: Box::pin(work), queue, result: None }
    }

    /// The next notification, or the result. It must not be called again after the result.
    pub async fn next(&mut self) -> Notified<F::Output> {
        if self.result.is_none() {
            tokio::select! {
                Some(line) = self.queue.recv() => return Notified::Line(line),
                result = &mut self.work => self.result = Some(result),
            }
        }
        match (self.queue.try_recv(), self.result.take()) {
            (Ok(line), result) => {
                self.result = result;
                Notified::Line(line)
            }
            (Err(_), Some(result)) => Notified::Result(result),
            (Err(_), None) => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(capacity: usize) -> (Progress, mpsc::Receiver<String>) {
        let (sender, receiver) = mpsc::channel(capacity);
        let meta: RequestMetaObject =
            serde_json::from_value(json!({ "progressToken": "t" })).unwrap();
        (Progress::of(&meta, Some(&sender)).unwrap(), receiver)
    }

    fn report(progress: &Progress, step: &str, done: u64, total: Option<u64>, at: Instant) {
        lock(&progress.sending).report(&JobProgress { step: step.to_owned(), done, total }, at);
    }

    /// `progress` and `total` of all that was sent.
    fn sent(receiver: &mut mpsc::Receiver<String>) -> Vec<(u64, Option<u64>)> {
        let mut all = Vec::new();
        while let Ok(line) = receiver.try_recv() {
            let line: Value = serde_json::from_str(&line).unwrap();
            let params = &line["params"];
            all.push((params["progress"].as_u64().unwrap(), params["total"].as_u64()));
        }
        all
    }

    #[test]
    fn numbers_increase_over_steps_that_count_from_the_start() {
        let (progress, mut receiver) = begin(64);
        let mut at = Instant::now();
        for (step, done) in [("a", 0), ("a", 4), ("a", 4), ("a", 2), ("b", 0), ("b", 3), ("a", 1)] {
            report(&progress, step, done, Some(4), at);
            at += limits::PROGRESS_INTERVAL;
        }
        let expected = [(0, 4), (4, 4), (5, 9), (8, 9), (10, 13)];
        assert_eq!(sent(&mut receiver), expected.map(|(value, total)| (value, Some(total))));
    }

    #[test]
    fn reports_within_the_interval_are_left_out_but_the_first_of_a_step() {
        let (progress, mut receiver) = begin(64);
        let at = Instant::now();
        for done in 0..100 {
            report(&progress, "a", done, None, at);
        }
        report(&progress, "b", 0, None, at);
        report(&progress, "b", 7, None, at + limits::PROGRESS_INTERVAL);
        assert_eq!(sent(&mut receiver), [(0, None), (1, None), (8, None)]);
    }

    #[test]
    fn half_of_the_queue_is_left_for_replies() {
        let (progress, mut receiver) = begin(8);
        for step in 0..100_u64 {
            report(&progress, &step.to_string(), 0, None, Instant::now());
        }
        assert_eq!(sent(&mut receiver).len(), 4);
    }

    #[test]
    fn nothing_is_sent_after_the_end_of_the_request() {
        let (progress, mut receiver) = begin(8);
        let watcher = progress.watcher();
        watcher(&JobProgress { step: "a".to_owned(), done: 0, total: None });
        drop(progress);
        watcher(&JobProgress { step: "b".to_owned(), done: 0, total: None });
        assert_eq!(sent(&mut receiver), [(0, None)]);
    }
}
