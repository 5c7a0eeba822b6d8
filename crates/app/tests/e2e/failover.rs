//! What becomes of hints and clients when a PRIMARY goes, in every way it can go.

use serde_json::json;

use super::home;

/// @failover_within_one_call
#[test]
fn a_proxy_takes_over_within_one_call_when_its_primary_is_killed() {
    let home = home();
    let mut first = home.serve();
    first.initialize("2025-06-18");
    let mut second = home.serve();
    second.initialize("2025-06-18");
    let hint = json!({ "component": "web", "key": "build", "value": "make" });
    first.call("set_hint", &hint).unwrap();
    assert_eq!(home.pid(), first.pid());
    first.signal("KILL");
    let found = second.call("get_hint", &json!({ "component": "web", "key": "build" })).unwrap();
    assert_eq!(found["hint"]["value"], "make");
    assert_eq!(home.pid(), second.pid());
}
