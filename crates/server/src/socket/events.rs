//! Events of hooks on a connection: begun as they arrive, many at a time so that they share a COMMIT, and
//! answered in the order of their lines.

use std::collections::VecDeque;
use std::future::pending;
use std::pin::Pin;
use std::sync::Arc;

use model::limits;
use tokio::io::{AsyncRead, BufReader};

use super::read_line;
use crate::primary::Shared;
use crate::rpc::{self, Event};

/// About what the answer to an event takes that nothing is told about.
const REPLY_BYTES: usize = 64;

type Replies = Pin<Box<dyn Future<Output = String> + Send>>;

/// The events of a connection that were begun and not answered yet, part by part: while one part is
/// committed the next is read.
#[derive(Default)]
pub(super) struct UnderWay {
    parts: VecDeque<(usize, Replies)>,
    count: usize,
}

impl UnderWay {
    /// Whether as many more may be begun as are begun at once.
    pub(super) fn has_room(&self) -> bool {
        self.count + limits::EVENTS_BEGUN_MAX <= limits::EVENTS_UNDER_WAY_MAX
    }

    /// The next answers, once they are known. It may be dropped and asked again.
    pub(super) async fn next(&mut self) -> String {
        let Some((count, replies)) = self.parts.front_mut() else { return pending().await };
        let replies = replies.await;
        self.count -= *count;
        self.parts.pop_front();
        replies
    }

    /// All answers that are still to come.
    pub(super) async fn rest(&mut self) -> String {
        let mut rest = String::new();
        while !self.parts.is_empty() {
            rest.push_str(&self.next().await);
        }
        rest
    }

    /// Begins the event in this line and those in the lines that have arrived behind it; says whether all
    /// were events. If not, the line holds the first that is none, which is to be answered after them.
    pub(super) async fn begin<R: AsyncRead + Unpin>(
        &mut self,
        shared: &Arc<Shared>,
        sender: &rpc::Sender,
        reader: &mut BufReader<R>,
        line: &mut Vec<u8>,
    ) -> bool {
        let mut begun = Vec::with_capacity(limits::EVENTS_BEGUN_MAX);
        // All of these lines were there before it looks.
        let is_quiet = shared.runtime.spool_is_quiet();
        let only_events = loop {
            match Event::read(line) {
                Some(event) => {
                    let bytes = line.len();
                    begun.push(rpc::begin_event(&shared.runtime, event, bytes, sender, is_quiet));
                }
                None => break false,
            }
            if begun.len() == limits::EVENTS_BEGUN_MAX || !reader.buffer().contains(&b'\n') {
                break true;
            }
            line.clear();
            // The line is there, so that this neither waits nor fails.
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

type Reply = Pin<Box<dyn Future<Output = Option<String>> + Send>>;

async fn replies(shared: Arc<Shared>, mut begun: Vec<Reply>) -> String {
    let mut replies = String::with_capacity(begun.len() * REPLY_BYTES);
    let mut push = |reply: Option<String>| {
        if let Some(reply) = reply {
            replies.push_str(&reply);
            replies.push('\n');
        }
    };
    // The last is waited for first: when it is committed the others mostly are, and nobody has to wake
    // this task for each of them.
    let last = match begun.pop() {
        Some(event) => event.await,
        None => None,
    };
    let log = shared.runtime.log().together();
    for event in begun {
        push(event.await);
    }
    drop(log);
    push(last);
    replies
}
