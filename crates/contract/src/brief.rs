//! Results in the short form for models: without null members, and with times as RFC 3339.

use model::time::rfc3339_seconds;
use serde_json::{Map, Value};

/// Shortens a result for a model, given the parameters of the call.
pub type Brief = fn(&Value, &mut Value);

/// Removes null members and writes times as RFC 3339, everywhere in the result.
pub fn plain(_: &Value, result: &mut Value) {
    match result {
        Value::Object(members) => shorten(members),
        Value::Array(items) => items.iter_mut().for_each(|item| plain(&Value::Null, item)),
        _ => {}
    }
}

fn shorten(members: &mut Map<String, Value>) {
    members.retain(|_, value| !value.is_null());
    for (name, value) in members.iter_mut() {
        match value.as_i64().filter(|_| is_time(name)) {
            Some(seconds) => *value = rfc3339_seconds(seconds.saturating_mul(1000)).into(),
            None => plain(&Value::Null, value),
        }
    }
}

/// Whether a member of this name is a time. Results have times in seconds since 1970.
fn is_time(name: &str) -> bool {
    name == "at" || name.ends_with("_at") || name.ends_with("timestamp")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn null_members_are_removed_and_times_become_dates() {
        let mut result = json!({ "results": [{ "timestamp": 1_769_817_600, "file": null, "n": 3,
            "more": { "last_timestamp": 0, "at": "x", "count": null } }], "ended_at": 951_782_400 });
        plain(&json!({}), &mut result);
        assert_eq!(
            result,
            json!({ "results": [{ "timestamp": "2026-01-31T00:00:00Z", "n": 3,
                "more": { "last_timestamp": "1970-01-01T00:00:00Z", "at": "x" } }],
                "ended_at": "2000-02-29T00:00:00Z" })
        );
    }
}
