//! The resources that the client on stdio subscribed to. This process keeps the subscriptions and renews them with every
//! PRIMARY; the PRIMARY reports updates as long as it is connected.

use std::collections::VecDeque;
use std::io;

use mcp::{McpSubscriptions, SubscriptionChange};
use model::limits;
use model::locations::Locations;
use runtime::entry_updates::EntryUpdates;
use runtime::tasks;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::mpsc;

use super::{Backend, Remote};
use crate::socket::follow::FOLLOW;
use crate::socket::read_line;

/// The subscriptions of our client, and where their updates come from.
pub(super) struct LiveUpdates {
    subscriptions: McpSubscriptions,
    source: UpdateSource,
    /// Resources that were updated and not reported yet.
    updated: VecDeque<String>,
    /// Whether updates may have been missed since a PRIMARY was lost.
    missed: bool,
    /// Whether this process may become PRIMARY to renew the subscriptions. Not after a user stopped the last one.
    may_take_over: bool,
}

enum UpdateSource {
    None,
    /// The PRIMARY is in this process.
    Local(EntryUpdates),
    Remote(FollowedPrimary),
}

/// The next thing to do for our client's subscriptions.
pub(super) enum Live {
    /// Notifications for the client.
    Lines(Vec<String>),
    /// Find a PRIMARY and renew the subscriptions.
    Renew { may_take_over: bool },
}

impl LiveUpdates {
    pub(super) fn new() -> LiveUpdates {
        LiveUpdates {
            subscriptions: McpSubscriptions::default(),
            source: UpdateSource::None,
            updated: VecDeque::new(),
            missed: false,
            may_take_over: false,
        }
    }

    pub(super) fn count(&self) -> usize {
        self.subscriptions.count()
    }

    /// Applies changes and has the PRIMARY report updates of all subscribed resources. After a PRIMARY was lost, all of
    /// them are reported as updated.
    pub(super) async fn apply(
        &mut self,
        changes: Vec<SubscriptionChange>,
        backend: Option<&Backend>,
        locations: &Locations,
    ) {
        let is_current = match &self.source {
            UpdateSource::None => false,
            UpdateSource::Local(_) => true,
            UpdateSource::Remote(primary) => !primary.frames.is_closed(),
        };
        let unchanged = changes.is_empty();
        changes.into_iter().for_each(|change| self.subscriptions.apply(change));
        let uris: Vec<String> = self.subscriptions.uris().into_iter().map(str::to_owned).collect();
        if uris.is_empty() {
            self.source = UpdateSource::None;
            self.missed = false;
            return;
        }
        if unchanged && is_current {
            return;
        }
        let source = std::mem::replace(&mut self.source, UpdateSource::None);
        self.source = match (source, backend) {
            (UpdateSource::Local(updates), Some(Backend::Local(_))) => local(updates, &uris),
            (_, Some(Backend::Local(primary))) => local(primary.entry_updates(), &uris),
            (UpdateSource::Remote(primary), Some(Backend::Remote(_))) if is_current => {
                self.remote(primary, &uris).await
            }
            (_, Some(Backend::Remote(_))) => match FollowedPrimary::connect(locations).await {
                Ok(primary) => self.remote(primary, &uris).await,
                Err(_) => UpdateSource::None,
            },
            (_, None) => UpdateSource::None,
        };
        match self.source {
            UpdateSource::None => self.missed = true,
            _ if std::mem::take(&mut self.missed) => self.updated = uris.into(),
            _ => {}
        }
    }

    async fn remote(&mut self, mut primary: FollowedPrimary, uris: &[String]) -> UpdateSource {
        match primary.watch(uris, &mut self.updated).await {
            Ok(()) => UpdateSource::Remote(primary),
            Err(_) => UpdateSource::None,
        }
    }

    /// The PRIMARY in this process has ended.
    pub(super) fn ended(&mut self) {
        self.lose(false);
    }

    fn lose(&mut self, may_take_over: bool) {
        self.source = UpdateSource::None;
        self.missed = true;
        self.may_take_over = may_take_over;
    }

    /// Waits for an update, or for the time to look for another PRIMARY. Cancellation-safe.
    pub(super) async fn next(&mut self) -> Live {
        loop {
            let is_waiting =
                matches!(self.source, UpdateSource::None) && self.subscriptions.count() > 0;
            if is_waiting && self.updated.is_empty() {
                if !self.may_take_over {
                    tokio::time::sleep(limits::PRIMARY_RETRY).await;
                }
                // If that fails, only a PRIMARY that another process started is used.
                let may_take_over = std::mem::take(&mut self.may_take_over);
                return Live::Renew { may_take_over };
            }
            if let Some(lines) = self.step().await {
                return Live::Lines(lines);
            }
        }
    }

    /// Waits for notifications for the client. Cancellation-safe.
    pub(super) async fn lines(&mut self) -> Vec<String> {
        loop {
            if let Some(lines) = self.step().await {
                return lines;
            }
        }
    }

    /// Waits for an update or the loss of the PRIMARY, for ever without either. Returns the notifications.
    async fn step(&mut self) -> Option<Vec<String>> {
        if let Some(uri) = self.updated.pop_front() {
            return Some(self.subscriptions.updated(&uri));
        }
        let frame = match &mut self.source {
            UpdateSource::None => std::future::pending().await,
            UpdateSource::Local(updates) => updates.next().await.map(FollowFrame::Updated),
            UpdateSource::Remote(primary) => primary.frames.recv().await,
        };
        match frame {
            Some(FollowFrame::Updated(uri)) => return Some(self.subscriptions.updated(&uri)),
            Some(FollowFrame::Following) => {}
            Some(FollowFrame::Stopped) => self.lose(false),
            None => self.lose(true),
        }
        None
    }
}

fn local(mut updates: EntryUpdates, uris: &[String]) -> UpdateSource {
    updates.watch(uris.iter().map(String::as_str));
    UpdateSource::Local(updates)
}

/// A connection on which another process reports updates.
struct FollowedPrimary {
    writer: OwnedWriteHalf,
    frames: mpsc::Receiver<FollowFrame>,
}

enum FollowFrame {
    /// The answer to a call: updates of the listed resources are reported from now on.
    Following,
    Updated(String),
    /// A user stopped the PRIMARY.
    Stopped,
}

impl FollowedPrimary {
    async fn connect(locations: &Locations) -> io::Result<FollowedPrimary> {
        let Remote { mut reader, writer } = Remote::connect(locations).await?;
        let (sender, frames) = mpsc::channel(limits::SUBSCRIBER_QUEUE_MAX);
        tasks::spawn("updates", async move {
            let mut line = Vec::new();
            while let Ok(true) = read_line(&mut reader, &mut line).await {
                let Some(frame) = read(&line) else { return };
                line.clear();
                if sender.send(frame).await.is_err() {
                    return;
                }
            }
        });
        Ok(FollowedPrimary { writer, frames })
    }

    /// Replaces the list of resources. Updates that arrive before the answer are added to `updated`.
    async fn watch(&mut self, uris: &[String], updated: &mut VecDeque<String>) -> io::Result<()> {
        let params = json!({ "uris": uris });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": FOLLOW, "params": params });
        let answered = async {
            self.writer.write_all(format!("{call}\n").as_bytes()).await?;
            loop {
                match self.frames.recv().await {
                    Some(FollowFrame::Following) => return Ok(()),
                    Some(FollowFrame::Updated(uri)) => updated.push_back(uri),
                    Some(FollowFrame::Stopped) | None => {
                        return Err(io::ErrorKind::ConnectionAborted.into());
                    }
                }
            }
        };
        tokio::time::timeout(limits::HELLO_DEADLINE, answered).await?
    }
}

/// Reads a frame; `None` for one that a PRIMARY of another build sends.
fn read(line: &[u8]) -> Option<FollowFrame> {
    let frame: Value = serde_json::from_slice(line).ok()?;
    if frame.get("result").is_some() {
        return Some(FollowFrame::Following);
    }
    let params = frame.get("params")?;
    match params["uri"].as_str() {
        Some(uri) => Some(FollowFrame::Updated(uri.to_owned())),
        None => (params["stopped"] == json!(true)).then_some(FollowFrame::Stopped),
    }
}
