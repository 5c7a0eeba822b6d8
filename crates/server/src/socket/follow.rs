//! `rekindle/follow {uris}`: turns a connection into a stream of updates of entries, for a PROXY whose client subscribed to
//! them. A later call on it replaces the list. The PROXY keeps the subscriptions: they end with the connection.

use model::{OpError, limits};
use runtime::entry_updates::EntryUpdates;
use serde_json::{Value, json};
use tokio::io::{AsyncBufRead, AsyncWriteExt as _};
use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::watch;

use super::line::read_line;
use crate::connections::ConnectionSlot;
use crate::http::stopped;
use crate::rpc::{self, RpcFrame, RpcMembers};

/// The method that begins a stream, and the method of its frames.
pub(crate) const FOLLOW: &str = "rekindle/follow";

/// Serves the stream until the PROXY leaves. Returns the writer if the daemon stops before.
pub(super) async fn serve<R: AsyncBufRead + Unpin>(
    first: RpcMembers,
    (reader, mut writer): (&mut R, OwnedWriteHalf),
    mut updates: EntryUpdates,
    slot: &ConnectionSlot,
    stop: &mut watch::Receiver<bool>,
) -> Option<OwnedWriteHalf> {
    let mut text = replace(&mut updates, first);
    let mut line = Vec::new();
    loop {
        text.push('\n');
        let written = writer.write_all(text.as_bytes());
        tokio::time::timeout(limits::REQUEST_RECEIVE, written).await.ok()?.ok()?;
        text = tokio::select! {
            read = read_line(reader, &mut line) => {
                let call = read.is_ok_and(|read| read).then(|| call(&line)).flatten()?;
                line.clear();
                replace(&mut updates, call)
            }
            // A PROXY that did not keep up connects again and reports all of its entries as updated.
            updated = updates.next() => frame(json!({ "uri": updated? })),
            _ = slot.evicted() => return None,
            () = stopped(stop) => return Some(writer),
        };
    }
}

/// The last frame of a daemon that a user stopped: the PROXY does not start another by itself.
pub(super) fn stopped_frame() -> String {
    frame(json!({ "stopped": true })) + "\n"
}

fn call(line: &[u8]) -> Option<RpcMembers> {
    let RpcFrame::One(members) = rpc::parse(line).ok()? else { return None };
    Some(members).filter(|members| members.method() == Some(FOLLOW))
}

/// Watches the entries that a call lists. Returns its answer.
fn replace(updates: &mut EntryUpdates, call: RpcMembers) -> String {
    let params = call.params.unwrap_or_default();
    let uris = params["uris"].as_array();
    let uris: Option<Vec<&str>> = uris.and_then(|uris| uris.iter().map(Value::as_str).collect());
    let reply = match uris {
        Some(uris) => {
            updates.watch(uris.iter().copied().take(limits::SUBSCRIPTIONS_PER_CLIENT_MAX));
            Ok(json!({ "following": uris.len() }))
        }
        None => Err(OpError::invalid("uris", "`uris` is not a list of strings")),
    };
    rpc::reply_text(&call.id.unwrap_or_default(), &reply)
}

fn frame(params: Value) -> String {
    json!({ "jsonrpc": "2.0", "method": FOLLOW, "params": params }).to_string()
}
