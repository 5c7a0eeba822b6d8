//! Every operation on every surface: an example gives equal answers, or equal refusals, everywhere.

use std::fmt::Write as _;

use serde_json::{Value, json};
use testkit::Home;

use super::ways::{Surface, WAYS};
use super::{home, values};

/// Operations without an example, and why. Their answers are compared by shape, not by equality.
const BOUND: [(&str, &str); 10] = [
    ("backup", "needs a path in the home of the test"),
    ("delete_value", "needs experiences and a value"),
    ("doctor", "tells of files in the home of the test"),
    ("get_cluster_members", "needs experiences"),
    ("get_clusters", "needs experiences"),
    ("restore", "needs a backup in the home of the test"),
    ("status", "tells of this daemon's pid, port and time"),
    ("stop", "ends the daemon it is asked of"),
    ("store_value", "needs experiences"),
    ("validate_value", "needs experiences"),
];

/// One example of one operation under one of its names.
struct ExampleRow {
    name: String,
    op: Value,
    title: String,
    before: Vec<(String, Value)>,
    params: Value,
    /// Compared by shape only.
    bound: bool,
}

/// One answer, and its expected value.
struct Cell {
    row: usize,
    way: Surface,
    answer: Result<Value, Value>,
}

/// @parity_of_surfaces
#[test]
fn an_example_gives_the_same_answer_on_every_surface() {
    let rows = rows();
    let cells = fill(&rows);
    let mut problems = String::new();
    for (index, row) in rows.iter().enumerate() {
        let of_row: Vec<&Cell> = cells.iter().filter(|cell| cell.row == index).collect();
        let reference =
            of_row.iter().find(|cell| cell.way == Surface::Command).expect("a reference");
        let reference = reference.answer.as_ref().expect("the reference succeeds");
        for way in WAYS.into_iter().filter(|way| applies(*way, row)) {
            let Some(cell) = of_row.iter().find(|cell| cell.way == way) else {
                writeln!(problems, "{} “{}” on {way:?}: no cell", row.name, row.title).unwrap();
                continue;
            };
            if let Err(why) = judge(row, way, &cell.answer, reference) {
                writeln!(problems, "{} “{}” on {way:?}: {why}", row.name, row.title).unwrap();
            }
        }
    }
    println!("parity: {} rows on {} surfaces, {} cells", rows.len(), WAYS.len(), cells.len());
    assert_eq!(problems, "");
    let expected: usize =
        rows.iter().map(|row| WAYS.iter().filter(|way| applies(**way, row)).count()).sum();
    assert_eq!(cells.len(), expected);
    assert!(cells.len() > 150, "only {} cells", cells.len());
}

/// @every_operation_has_an_example
#[test]
fn an_operation_without_an_example_is_on_the_short_list() {
    let described = home().run(&["ops", "--json"]).json();
    let operations = described["operations"].as_array().unwrap();
    let without = operations.iter().filter(|op| op["examples"] == json!([]));
    let without: Vec<&str> = without.map(|op| op["name"].as_str().unwrap()).collect();
    assert_eq!(without, BOUND.map(|(name, _)| name));
    assert!(operations.len() > BOUND.len());
}

/// Whether this surface can call the row: own commands have the operation's name only.
fn applies(way: Surface, row: &ExampleRow) -> bool {
    let has_command = row.op["cli"] != json!([]) && row.name == row.op["name"];
    way != Surface::OwnCommand || (has_command && !row.bound)
}

/// Every example under every name, and one row for each operation that has none.
fn rows() -> Vec<ExampleRow> {
    let described = home().run(&["ops", "--json"]).json();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut rows = Vec::new();
    for op in described["operations"].as_array().unwrap() {
        let mut names = vec![text(&op["name"])];
        names.extend(op["aliases"].as_array().unwrap().iter().map(text));
        for name in &names {
            for example in op["examples"].as_array().unwrap() {
                let before = example["before"].as_array().unwrap().iter();
                rows.push(ExampleRow {
                    name: name.clone(),
                    op: op.clone(),
                    title: text(&example["title"]),
                    before: before
                        .map(|call| (text(&call["op"]), call["params"].clone()))
                        .collect(),
                    params: example["params"].clone(),
                    bound: false,
                });
            }
        }
        if op["examples"] == json!([]) {
            rows.push(ExampleRow {
                name: text(&op["name"]),
                op: op.clone(),
                title: "shape".to_owned(),
                before: Vec::new(),
                params: json!({}),
                bound: true,
            });
        }
    }
    rows
}

/// Runs every cell in a home of its own; each surface has a thread.
fn fill(rows: &[ExampleRow]) -> Vec<Cell> {
    std::thread::scope(|scope| {
        let surfaces = WAYS.map(|way| {
            scope.spawn(move || {
                let rows = rows.iter().enumerate().filter(|(_, row)| applies(way, row));
                rows.map(|(row, use_)| Cell { row, way, answer: run(way, use_) }).collect()
            })
        });
        surfaces.into_iter().flat_map(|surface| -> Vec<Cell> { surface.join().unwrap() }).collect()
    })
}

fn run(way: Surface, row: &ExampleRow) -> Result<Value, Value> {
    let mut site = way.open();
    for (op, params) in &row.before {
        site.home.call(op, params);
    }
    let params = if row.bound { bound_params(&site.home, row) } else { row.params.clone() };
    site.call(&row.name, &params)
}

/// Parameters that name files of the current home.
fn bound_params(home: &Home, row: &ExampleRow) -> Value {
    let file = home.path("copy.db");
    match row.name.as_str() {
        "backup" => json!({ "file": file }),
        "restore" => {
            home.call("backup", &json!({ "file": file }));
            json!({ "file": file })
        }
        "delete_value"
        | "get_cluster_members"
        | "get_clusters"
        | "store_value"
        | "validate_value" => values::params_in(home, &row.name),
        _ => json!({}),
    }
}

fn judge(
    row: &ExampleRow,
    way: Surface,
    answer: &Result<Value, Value>,
    reference: &Value,
) -> Result<(), String> {
    let allowed = row.op["tiers"].as_array().unwrap().contains(&json!(way.tier()));
    match answer {
        Err(error) if !allowed => {
            let right = error["code"] == 40301 && error["data"]["reason"] == "E_FORBIDDEN";
            right.then_some(()).ok_or_else(|| format!("refused otherwise: {error}"))
        }
        Ok(result) if !allowed => Err(format!("not refused: {result}")),
        Err(error) => Err(format!("failed: {error}")),
        Ok(_) if way.is_mcp() && row.bound => Ok(()),
        Ok(result) if way.is_mcp() => {
            let (result, reference) = (brief(result), brief(reference));
            (result == reference)
                .then_some(())
                .ok_or_else(|| format!("gives {result}, the reference is {reference}"))
        }
        // A hint set on the command line is permanent; see `hints_typed_for_good`.
        Ok(result) if way == Surface::OwnCommand && row.name == "set_hint" => {
            let (mut result, mut reference) = (normal(result), normal(reference));
            for hint in [&mut result["hint"]["meta"], &mut reference["hint"]["meta"]] {
                hint.as_object_mut().unwrap().remove("ttl");
            }
            (result == reference).then_some(()).ok_or_else(|| format!("gives {result}"))
        }
        Ok(result) if row.bound => fits(&row.op["output_schema"], result),
        Ok(result) if normal(result) != normal(reference) => {
            Err(format!("gives {result}, the reference is {reference}"))
        }
        Ok(result) => fits(&row.op["output_schema"], result),
    }
}

/// The part of an answer that models and programs both get: the id of a listed record; of other objects all
/// members except times and those that are null or false. The project of a hit is a member of the hit for
/// programs, and a list of ids by project for models.
fn brief(value: &Value) -> Value {
    match value {
        Value::Object(hit) if is_listed(hit) => json!({ "id": hit.get("id").map(normal) }),
        Value::Object(members) => {
            let told = |(name, value): &(&String, &Value)| {
                let is_time =
                    ["at", "answeredAt", "timestamp"].iter().any(|end| name.ends_with(end));
                let is_shared = !["sessions", "by_project"].contains(&name.as_str());
                !value.is_null() && **value != json!(false) && !is_time && is_shared
            };
            members.iter().filter(told).map(|(name, value)| (name.clone(), brief(value))).collect()
        }
        Value::Array(items) => items.iter().map(brief).collect(),
        other => normal(other),
    }
}

/// Whether an object is a record in a list of hits or of recent records, of which models get a short form.
fn is_listed(record: &serde_json::Map<String, Value>) -> bool {
    let has = |name| record.contains_key(name);
    has("content_preview") || (has("content") && has("score"))
}

/// Whether the result has every required member of the schema and no member that is not in it.
fn fits(schema: &Value, result: &Value) -> Result<(), String> {
    let known = schema["properties"].as_object().ok_or("the schema has no properties")?;
    let members = result.as_object().ok_or_else(|| format!("not an object: {result}"))?;
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !members.contains_key(name) {
            return Err(format!("lacks `{name}`: {result}"));
        }
    }
    match members.keys().find(|name| !known.contains_key(*name)) {
        Some(name) => Err(format!("`{name}` is not in the output schema: {result}")),
        None => Ok(()),
    }
}

/// The value without the parts that differ from run to run: times, and fractions that depend on the elapsed time.
fn normal(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| {
                let is_time = name == "at" || name.ends_with("_at") || name == "answeredAt";
                (name.clone(), if is_time { json!("a time") } else { normal(value) })
            };
            Value::Object(members.iter().map(member).collect())
        }
        Value::Array(items) => items.iter().map(normal).collect(),
        Value::Number(number) if number.is_f64() => {
            json!((number.as_f64().unwrap() * 1e4).round() / 1e4)
        }
        // The id of a memory is random.
        Value::String(text) if model::memory::read_id("", text).is_ok() => json!("a memory"),
        // The id of a ghap has the time at which it was started.
        Value::String(text) if text.starts_with("ghap_") => json!("a ghap"),
        other => other.clone(),
    }
}
