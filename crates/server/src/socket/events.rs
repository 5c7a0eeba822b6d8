//! Hook events on a connection: recorded in batches, so that several share a COMMIT, and answered in the order of
//! their lines.

use std::collections::VecDeque;
use std::future::pending;
use std::pin::Pin;
use std::sync::Arc;

use model::limits;
use tokio::io::{AsyncRead, BufReader};

use super::line::read_line;
use crate::primary::PrimaryState;
use crate::rpc::{self, HookLine};

/// The usual size of an answer without text for the agent.
const REPLY_BYTES: usize = 64;

type BatchReplies = Pin<Box<dyn Future<Output = String> + Send>>;

/// The events of a connection that are being recorded, in batches: while one batch is committed, the next is read.
#[derive(Default)]
pub(super) struct PendingEvents {
    parts: VecDeque<(usize, BatchReplies)>,
    count: usize,
}

impl PendingEvents {
    /// Whether one more full batch fits.
    pub(super) fn has_room(&self) -> bool {
        self.count + limits::EVENT_BATCH_MAX <= limits::EVENTS_PENDING_MAX
    }

    /// The answers of the oldest batch. Cancellation-safe.
    pub(super) async fn next(&mut self) -> String {
        let Some((count, replies)) = self.parts.front_mut() else { return pending().await };
        let replies = replies.await;
        self.count -= *count;
        self.parts.pop_front();
        replies
    }

    /// All outstanding answers.
    pub(super) async fn rest(&mut self) -> String {
        let mut rest = String::new();
        while !self.parts.is_empty() {
            rest.push_str(&self.next().await);
        }
        rest
    }

    /// Starts to record the event in this line and those in the lines that have already arrived after it. Returns
    /// whether all were events. If not, `line` has the first other frame, which is answered after them.
    pub(super) async fn begin<R: AsyncRead + Unpin>(
        &mut self,
        shared: &Arc<PrimaryState>,
        sender: &rpc::Sender,
        reader: &mut BufReader<R>,
        line: &mut Vec<u8>,
    ) -> bool {
        let mut begun = Vec::with_capacity(limits::EVENT_BATCH_MAX);
        // Checked after all of these lines have arrived.
        let is_quiet = shared.runtime.spool_is_quiet();
        let only_events = loop {
            match HookLine::read(line) {
                Some(event) => {
                    let bytes = line.len();
                    begun.push(rpc::begin_event(&shared.runtime, event, bytes, sender, is_quiet));
                }
                None => break false,
            }
            if begun.len() == limits::EVENT_BATCH_MAX || !reader.buffer().contains(&b'\n') {
                break true;
            }
            line.clear();
            // The whole line is in the buffer, so this neither waits nor fails.
            if !matches!(read_line(reader, line).await, Ok(true)) {
                break true;
            }
        };
        if !begun.is_empty() {
            self.count += begun.len();
            self.parts.push_back((begun.len(), Box::pin(replies(shared.clone(), begun))));
        }
        only_events
    }
}

type EventReply = Pin<Box<dyn Future<Output = Option<String>> + Send>>;

async fn replies(shared: Arc<PrimaryState>, mut begun: Vec<EventReply>) -> String {
    let mut replies = String::with_capacity(begun.len() * REPLY_BYTES);
    let mut push = |reply: Option<String>| {
        if let Some(reply) = reply {
            replies.push_str(&reply);
            replies.push('\n');
        }
    };
    // Wait for the last event first: once it is committed, the others mostly are, and this task is not woken for each
    // of them.
    let last = match begun.pop() {
        Some(event) => event.await,
        None => None,
    };
    let log = shared.runtime.log().batch();
    for event in begun {
        push(event.await);
    }
    drop(log);
    push(last);
    replies
}
