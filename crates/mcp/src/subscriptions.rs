//! Subscriptions to resources. A client's subscriptions are kept where its connection ends: in the process on its stdio, or
//! with its stream. This module reads the requests that change them, and writes the notifications.

use std::collections::BTreeSet;

use model::{Code, OpError, limits};
use rmcp::model::{
    ClientRequest, GetMeta, NotificationMetaObject, ProtocolVersion, RequestId,
    ServerJsonRpcMessage, ServerNotification, SubscriptionFilter,
    SubscriptionsAcknowledgedNotification, SubscriptionsAcknowledgedNotificationParams,
};
use runtime::Runtime;
use runtime::entry_updates::EntryUpdates;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The reply to a request that changes subscriptions, and the change.
pub(crate) type Changed = (String, SubscriptionChange);

/// The member of `_meta` that names the request which a notification belongs to.
const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// A change of a client's subscriptions. The surface that keeps them applies it before it sends the reply, so that no
/// update after the reply is missed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubscriptionChange {
    /// `resources/subscribe`
    Add { uri: String },
    /// `resources/unsubscribe`
    Remove { uri: String },
    /// `subscriptions/listen`, under the id of its request.
    Listen { id: Value, uris: Vec<String> },
    /// `notifications/cancelled` for this request.
    Cancel { id: Value },
}

/// The subscriptions of one client.
#[derive(Clone, Debug, Default)]
pub struct McpSubscriptions {
    /// The URI, and the id of the request that listens; none for `resources/subscribe`.
    entries: Vec<(String, Option<Value>)>,
}

impl McpSubscriptions {
    pub fn apply(&mut self, change: SubscriptionChange) {
        match change {
            SubscriptionChange::Add { uri } => {
                self.entries.retain(|(known, id)| id.is_some() || *known != uri);
                self.entries.push((uri, None));
            }
            SubscriptionChange::Remove { uri } => {
                self.entries.retain(|(known, id)| id.is_some() || *known != uri);
            }
            SubscriptionChange::Listen { id, uris } => {
                self.entries.retain(|(_, known)| known.as_ref() != Some(&id));
                self.entries.extend(uris.into_iter().map(|uri| (uri, Some(id.clone()))));
            }
            SubscriptionChange::Cancel { id } => {
                self.entries.retain(|(_, known)| known.as_ref() != Some(&id));
            }
        }
    }

    /// How many subscriptions there are; the number for each client is limited.
    pub fn count(&self) -> usize {
        self.entries.len()
    }

    pub fn uris(&self) -> BTreeSet<&str> {
        self.entries.iter().map(|(uri, _)| uri.as_str()).collect()
    }

    /// The notifications about an update of a resource, as lines.
    pub fn updated(&self, uri: &str) -> Vec<String> {
        let about = self.entries.iter().filter(|(known, _)| known == uri);
        let notification = |(_, id): &(String, Option<Value>)| {
            let mut params = json!({ "uri": uri });
            if let Some(id) = id {
                params["_meta"] = json!({ SUBSCRIPTION_ID: id });
            }
            let method = "notifications/resources/updated";
            json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string()
        };
        about.map(notification).collect()
    }
}

/// The subscriptions of a client whose connection ends in this process, and the updates for them.
pub struct ResourceUpdates {
    runtime: Runtime,
    subscriptions: McpSubscriptions,
    updates: Option<EntryUpdates>,
}

impl ResourceUpdates {
    pub fn new(runtime: Runtime) -> ResourceUpdates {
        ResourceUpdates { runtime, subscriptions: McpSubscriptions::default(), updates: None }
    }

    pub fn apply(&mut self, changes: Vec<SubscriptionChange>) {
        if changes.is_empty() {
            return;
        }
        changes.into_iter().for_each(|change| self.subscriptions.apply(change));
        let uris = self.subscriptions.uris();
        match uris.is_empty() {
            true => self.updates = None,
            false => {
                let new = || self.runtime.entry_updates();
                self.updates.get_or_insert_with(new).watch(uris);
            }
        }
    }

    pub fn count(&self) -> usize {
        self.subscriptions.count()
    }

    /// The notifications of the next update, or why there are no more. Waits for ever without a subscription.
    /// Cancellation-safe.
    pub async fn next(&mut self) -> Result<Vec<String>, String> {
        let Some(updates) = &mut self.updates else { return std::future::pending().await };
        match updates.next().await {
            Some(uri) => Ok(self.subscriptions.updated(&uri)),
            None => Err(updates.reason()),
        }
    }
}

/// Answers a request that changes the subscriptions of a client, which has `count` of them. `None` for all other
/// requests, and for those that their revision does not have.
pub(crate) fn answer(
    runtime: &Runtime,
    request: &ClientRequest,
    id: &RequestId,
    count: usize,
) -> Option<Result<Changed, OpError>> {
    let meta = request.get_meta();
    let modern = meta.protocol_version().is_some_and(|named| !named.has_initialize());
    let changed = match request {
        ClientRequest::SubscribeRequest(request) if !modern => {
            let uri = request.params.uri.clone();
            let checked = runtime.check_watchable(&uri).and_then(|()| check_count(count + 1));
            checked.map(|()| (SubscriptionChange::Add { uri }, None))
        }
        ClientRequest::UnsubscribeRequest(request) if !modern => {
            Ok((SubscriptionChange::Remove { uri: request.params.uri.clone() }, None))
        }
        ClientRequest::SubscriptionsListenRequest(request) if modern => {
            let missing = meta.missing_required_keys(&ProtocolVersion::V_2026_07_28);
            if !missing.is_empty() {
                return None;
            }
            let accepted = accepted(runtime, &request.params.notifications);
            let uris = accepted.resource_subscriptions.clone().unwrap_or_default();
            let id = id.clone().into_json_value();
            let change = SubscriptionChange::Listen { id, uris };
            check_count(count + accepted.resource_subscriptions.iter().flatten().count())
                .map(|()| (change, Some(accepted)))
        }
        _ => return None,
    };
    Some(changed.map(|(change, accepted)| {
        let reply = match accepted {
            Some(accepted) => acknowledgement(id, accepted),
            None => json!({ "jsonrpc": "2.0", "id": id, "result": {} }).to_string(),
        };
        (reply, change)
    }))
}

/// The part of a filter that can be served: the resources that can be watched.
pub(crate) fn accepted(runtime: &Runtime, requested: &SubscriptionFilter) -> SubscriptionFilter {
    let requested = requested.resource_subscriptions.clone().unwrap_or_default();
    let watchable = requested.into_iter().filter(|uri| runtime.check_watchable(uri).is_ok());
    let watchable: BTreeSet<String> = watchable.collect();
    match watchable.is_empty() {
        true => SubscriptionFilter::new(),
        false => SubscriptionFilter::builder().resource_subscriptions(watchable).build(),
    }
}

fn check_count(count: usize) -> Result<(), OpError> {
    let max = limits::SUBSCRIPTIONS_PER_CLIENT_MAX;
    if count <= max {
        return Ok(());
    }
    Err(OpError::new(Code::Quota, format!("a client has at most {max} subscriptions"))
        .with("max", max)
        .hint("Unsubscribe from others first."))
}

/// The first message of a stream, which names the resources that the stream will report.
fn acknowledgement(id: &RequestId, accepted: SubscriptionFilter) -> String {
    let params = SubscriptionsAcknowledgedNotificationParams::new(accepted);
    let mut notification = SubscriptionsAcknowledgedNotification::new(params);
    let mut meta = NotificationMetaObject::new();
    meta.set_subscription_id(id.clone());
    notification.extensions.insert(meta);
    let notification = ServerNotification::SubscriptionsAcknowledgedNotification(notification);
    serde_json::to_string(&ServerJsonRpcMessage::notification(notification)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(uri: &str) -> SubscriptionChange {
        SubscriptionChange::Add { uri: uri.to_owned() }
    }

    fn listen(id: i64, uris: &[&str]) -> SubscriptionChange {
        let uris = uris.iter().map(|uri| (*uri).to_owned()).collect();
        SubscriptionChange::Listen { id: json!(id), uris }
    }

    #[test]
    fn each_request_that_listens_is_notified_under_its_id() {
        let mut kept = McpSubscriptions::default();
        for change in
            [add("a://1"), add("a://1"), listen(7, &["a://1", "a://2"]), listen(8, &["a://1"])]
        {
            kept.apply(change);
        }
        assert_eq!((kept.count(), kept.uris().len()), (4, 2));
        let ids = |kept: &McpSubscriptions| -> Vec<Value> {
            let lines = kept.updated("a://1");
            let read = |line: &String| serde_json::from_str::<Value>(line).unwrap();
            let lines = lines.iter().map(read);
            lines.map(|line| line["params"]["_meta"][SUBSCRIPTION_ID].clone()).collect()
        };
        assert_eq!(ids(&kept), [Value::Null, json!(7), json!(8)]);
        kept.apply(SubscriptionChange::Cancel { id: json!(7) });
        kept.apply(SubscriptionChange::Remove { uri: "a://1".to_owned() });
        assert_eq!(ids(&kept), [json!(8)]);
        kept.apply(listen(8, &["a://3"]));
        assert!(kept.updated("a://1").is_empty());
    }
}
