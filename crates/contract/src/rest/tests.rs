//! Tests of how requests find their operation and become parameters.

use std::sync::Arc;

use model::Code;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::*;
use crate::cx::Cx;
use crate::op::Op;
use crate::plugin::Plugin;

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only the schema matters")]
struct BoxPlace {
    shelf: Option<String>,
    row: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only the schema matters")]
struct BoxParams {
    id: String,
    number: Option<u32>,
    width: Option<f64>,
    open: Option<bool>,
    #[serde(default)]
    tags: Vec<String>,
    place: Option<BoxPlace>,
    any: Option<Value>,
    label: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct BoxOutput {}

const PATH: &str = "/api/boxes/{id}";

macro_rules! box_op {
    ($type:ident, $name:literal, $rest:expr) => {
        struct $type;
        impl Op for $type {
            const INFO: OpInfo = OpInfo { name: $name, rest: $rest, ..OpInfo::BASE };
            type Params = BoxParams;
            type Output = BoxOutput;

            fn run(&self, _: &Cx<'_>, _: BoxParams) -> Result<BoxOutput, OpError> {
                Ok(BoxOutput {})
            }
        }
    };
}

const QUERY: &[RestName] = &[
    ("number", "number"),
    ("width", "width"),
    ("open", "open"),
    ("tags", "tags"),
    ("shelf", "place.shelf"),
    ("row", "place.row"),
    ("any", "any"),
    ("newLabel", "label"),
];

box_op!(GetBox, "get_box", &[RestRoute::new(RestMethod::Get, PATH).query(QUERY)]);
box_op!(
    PatchBox,
    "patch_box",
    &[
        RestRoute::new(RestMethod::Patch, PATH)
            .body(&[("newLabel", "label"), ("row", "place.row")]),
        RestRoute::new(RestMethod::Post, "/api/boxes/{number}/open"),
    ]
);
box_op!(DeleteBox, "delete_box", &[RestRoute::new(RestMethod::Delete, PATH)]);
box_op!(NewestBox, "newest_box", &[RestRoute::new(RestMethod::Get, "/api/boxes/newest")]);
box_op!(Unrouted, "unrouted", &[]);

struct BoxPlugin;

impl Plugin for BoxPlugin {
    fn name(&self) -> &'static str {
        "boxes"
    }

    fn operations(&self) -> Vec<Operation> {
        vec![
            Operation::new(Unrouted),
            Operation::new(PatchBox),
            Operation::new(NewestBox),
            Operation::new(GetBox),
            Operation::new(DeleteBox),
        ]
    }
}

fn routes() -> RestTable {
    RestTable::new(&Table::new(&[Arc::new(BoxPlugin)]))
}

fn called(method: &str, path: &str) -> Option<&'static str> {
    routes().find(path)?.endpoint(method).map(|endpoint| endpoint.op.name)
}

fn params(method: &str, target: &str, body: &str) -> Result<Value, OpError> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let routes = routes();
    let endpoint = routes.find(path).unwrap().endpoint(method).unwrap();
    endpoint.params(path, query, body.as_bytes())
}

/// The parameter that an `invalid` error names, and its message.
fn refused(method: &str, target: &str, body: &str) -> (String, String) {
    let error = params(method, target, body).unwrap_err();
    assert_eq!(error.code, Code::Invalid);
    let param = error.details.get("param").and_then(Value::as_str).unwrap_or_default();
    (param.to_owned(), format!("{}. {}", error.message, error.hint.unwrap_or_default()))
}

#[test]
fn a_path_and_a_method_find_their_operation() {
    for (method, path, op) in [
        ("GET", "/api/boxes/7", Some("get_box")),
        ("HEAD", "/api/boxes/7", Some("get_box")),
        ("PATCH", "/api/boxes/7", Some("patch_box")),
        ("DELETE", "/api/boxes/7", Some("delete_box")),
        ("POST", "/api/boxes/7/open", Some("patch_box")),
        ("GET", "/api/boxes/newest", Some("newest_box")),
        ("GET", "/api/boxes/new%65st", Some("get_box")),
        ("PUT", "/api/boxes/7", None),
        ("DELETE", "/api/boxes/newest", None),
        ("GET", "/api/boxes/7/", None),
        ("GET", "/api/boxes", None),
        ("GET", "/api/boxes/..", Some("get_box")),
        ("GET", "/api//boxes/7", None),
        ("GET", "/API/boxes/7", None),
        ("GET", "/x/api/boxes/7", None),
        ("GET", "api/boxes/7", None),
        ("GET", "", None),
    ] {
        assert_eq!(called(method, path), op, "{method} {path}");
    }
}

#[test]
fn a_path_tells_its_methods() {
    let allow = |path: &str| routes().find(path).map(RestPath::allow);
    assert_eq!(allow("/api/boxes/7").as_deref(), Some("GET, HEAD, PATCH, DELETE"));
    assert_eq!(allow("/api/boxes/7/open").as_deref(), Some("POST"));
    assert_eq!(allow("/api/boxes/newest").as_deref(), Some("GET, HEAD"));
    assert_eq!(allow("/api/boxes/7/close"), None);
}

#[test]
fn values_are_decoded_once() {
    let id = |path: &str| params("GET", path, "").unwrap()["id"].clone();
    assert_eq!(id("/api/boxes/a%2Fb"), "a/b");
    assert_eq!(id("/api/boxes/a%252Fb"), "a%2Fb");
    assert_eq!(id("/api/boxes/a+b%20c"), "a+b c");
    assert_eq!(id("/api/boxes/%C3%A4"), "ä");
    let label =
        |query: &str| params("GET", &format!("/api/boxes/1?{query}"), "").unwrap()["label"].clone();
    assert_eq!(label("newLabel=a%252Fb"), "a%2Fb");
    assert_eq!(label("newLabel=a+b%2Bc&"), "a b+c");
    assert_eq!(label("new%4cabel=x=y"), "x=y");
    assert_eq!(label("newLabel"), "");
    for (target, param) in [
        ("/api/boxes/%zz", "id"),
        ("/api/boxes/%4", "id"),
        ("/api/boxes/%ff", "id"),
        ("/api/boxes/1?newLabel=%ff", "newLabel"),
        ("/api/boxes/1?%ff=1", "query"),
    ] {
        let (named, message) = refused("GET", target, "");
        assert_eq!(named, param, "{target}");
        assert!(message.contains("percent-encoded"), "{message}");
    }
}

#[test]
fn a_segment_that_a_proxy_would_resolve_is_refused() {
    for id in ["", ".", "..", "%2e%2E"] {
        let (param, message) = refused("GET", &format!("/api/boxes/{id}"), "");
        assert_eq!(param, "id");
        assert!(message.contains("is empty, `.` or `..`"), "{message}");
    }
}

#[test]
fn texts_are_read_as_the_type_in_the_schema() {
    let all = "number=7&width=1.5&open=true&tags=[\"a\"]&shelf=12&row=3&any=5&newLabel=9";
    assert_eq!(
        params("GET", &format!("/api/boxes/42?{all}"), "").unwrap(),
        json!({ "id": "42", "number": 7, "width": 1.5, "open": true, "tags": ["a"],
            "place": { "shelf": "12", "row": 3 }, "any": "5", "label": "9" })
    );
    let large = params("POST", "/api/boxes/18446744073709551615/open", "").unwrap();
    assert_eq!(large, json!({ "number": u64::MAX }));
    for (query, wanted) in [
        ("number=x", "a whole number"),
        ("number=1.5", "a whole number"),
        ("number=", "a whole number"),
        ("width=x", "a number"),
        ("width=inf", "a number"),
        ("open=1", "true or false"),
        ("open=TRUE", "true or false"),
        ("tags=a", "JSON"),
        ("row=x", "a whole number"),
    ] {
        let (param, message) = refused("GET", &format!("/api/boxes/1?{query}"), "");
        assert_eq!(param, query.split('=').next().unwrap());
        assert!(message.contains(&format!("is not {wanted}")), "{message}");
    }
}

#[test]
fn a_body_is_an_object_of_the_routes_members() {
    let patch = |body: &str| params("PATCH", "/api/boxes/1", body).unwrap();
    assert_eq!(patch(""), json!({ "id": "1" }));
    assert_eq!(patch("{}"), json!({ "id": "1" }));
    assert_eq!(
        patch(r#"{"newLabel":null,"row":[1]}"#),
        json!({ "id": "1", "label": null, "place": { "row": [1] } })
    );
    for (body, message) in [
        ("[]", "not a JSON object"),
        ("null", "not a JSON object"),
        ("{", "not JSON"),
        ("\u{0}", "not JSON"),
    ] {
        let (_, told) = refused("PATCH", "/api/boxes/1", body);
        assert!(told.contains(message), "{told}");
    }
}

#[test]
fn unknown_and_repeated_names_are_refused() {
    let (param, message) = refused("GET", "/api/boxes/1?colour=red", "");
    assert_eq!(param, "colour");
    assert!(
        message.contains("GET /api/boxes/{id} accepts these in its query: number, width"),
        "{message}"
    );
    // The query takes only the names that the route lists, so it cannot set the parameter of the path again.
    assert_eq!(refused("GET", "/api/boxes/1?label=x", "").0, "label");
    assert_eq!(refused("GET", "/api/boxes/1?id=2", "").0, "id");
    let (param, message) = refused("PATCH", "/api/boxes/1", r#"{"id":"2"}"#);
    assert_eq!(param, "id");
    assert!(message.contains("accepts these in its body: newLabel, row"), "{message}");
    assert_eq!(refused("PATCH", "/api/boxes/1?newLabel=x", "").0, "newLabel");
    let (_, message) = refused("DELETE", "/api/boxes/1", r#"{"x":1}"#);
    assert!(message.contains("takes nothing in its body"), "{message}");
    let (param, message) = refused("GET", "/api/boxes/1?number=1&number=1", "");
    assert_eq!(param, "number");
    assert!(message.contains("twice"), "{message}");
}

#[test]
fn a_route_describes_itself() {
    let table = Table::new(&[Arc::new(BoxPlugin)]);
    assert_eq!(
        table.find("patch_box").unwrap().describe()["rest"],
        json!([
            { "method": "PATCH", "path": PATH, "query": [], "body": [
                { "name": "newLabel", "param": "label" }, { "name": "row", "param": "place.row" }] },
            { "method": "POST", "path": "/api/boxes/{number}/open", "query": [], "body": [] },
        ])
    );
    assert_eq!(table.find("unrouted").unwrap().describe()["rest"], json!([]));
}
