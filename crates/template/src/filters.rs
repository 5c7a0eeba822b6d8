//! The filters and tests of Jinja that depend only on their value and arguments.

use serde_json::{Number, Value, json};

use super::budget::{RenderBudget, weight};
use super::error::{TemplateError, wrong};
use super::expr::{kind, order, text_of, truthy};

/// Each filter with its maximum number of arguments.
const FILTERS: &[(&str, usize)] = &[
    ("abs", 0),
    ("capitalize", 0),
    ("count", 0),
    ("first", 0),
    ("float", 0),
    ("int", 0),
    ("items", 0),
    ("join", 1),
    ("last", 0),
    ("length", 0),
    ("list", 0),
    ("lower", 0),
    ("replace", 2),
    ("reverse", 0),
    ("round", 1),
    ("safe", 0),
    ("sort", 0),
    ("string", 0),
    ("title", 0),
    ("tojson", 0),
    ("trim", 0),
    ("unique", 0),
    ("upper", 0),
];

const TESTS: &[&str] = &[
    "boolean",
    "defined",
    "even",
    "mapping",
    "none",
    "number",
    "odd",
    "sequence",
    "string",
    "undefined",
];

/// The filter of this name and its maximum number of arguments.
pub(super) fn filter(name: &str) -> Option<(&'static str, usize)> {
    FILTERS.iter().find(|filter| filter.0 == name).copied()
}

pub(super) fn test_name(name: &str) -> Option<&'static str> {
    TESTS.iter().find(|test| **test == name).copied()
}

/// Whether the test holds; `None` for a missing value.
pub(super) fn test(name: &str, value: Option<&Value>) -> Option<bool> {
    let remainder = |value: &Value| value.as_i64().map(|number| number.rem_euclid(2));
    Some(match (name, value) {
        ("defined", value) => value.is_some(),
        ("undefined", value) => value.is_none(),
        (_, None) => return None,
        ("boolean", Some(value)) => value.is_boolean(),
        ("even", Some(value)) => remainder(value) == Some(0),
        ("mapping", Some(value)) => value.is_object(),
        ("none", Some(value)) => value.is_null(),
        ("number", Some(value)) => value.is_number(),
        ("odd", Some(value)) => remainder(value) == Some(1),
        ("sequence", Some(value)) => value.is_array(),
        (_, Some(value)) => value.is_string(),
    })
}

/// Applies the filter to a value that is already paid for.
pub(super) fn apply(
    budget: &mut RenderBudget,
    name: &str,
    value: &Value,
    args: &[Value],
) -> Result<Value, TemplateError> {
    let text = || text_of(value);
    match name {
        "upper" => Ok(text().to_uppercase().into()),
        "lower" => Ok(text().to_lowercase().into()),
        "trim" => Ok(text().trim().into()),
        "capitalize" => Ok(capitalized(&text()).into()),
        "title" => {
            let text = text();
            let words = text.split_inclusive(|c: char| !c.is_alphanumeric());
            Ok(words.map(capitalized).collect::<String>().into())
        }
        "string" | "safe" => Ok(text().into()),
        "tojson" => Ok(value.to_string().into()),
        "length" | "count" => match value {
            Value::String(text) => Ok(text.chars().count().into()),
            Value::Array(items) => Ok(items.len().into()),
            Value::Object(members) => Ok(members.len().into()),
            _ => Err(unfit(name, value)),
        },
        "join" => {
            join(budget, items(name, value)?, args.first().map_or("".into(), text_of).as_ref())
        }
        "replace" => match args {
            [from, to] => replace(budget, &text(), &text_of(from), &text_of(to)),
            _ => Err(wrong("replace takes two texts")),
        },
        "int" => {
            // The cast saturates.
            Ok((number(value).unwrap_or(0.0) as i64).into())
        }
        "float" => float(number(value).unwrap_or(0.0)),
        "abs" | "round" => rounded(name, value, args),
        _ => of_list(budget, name, value),
    }
}

/// The filters of lists.
fn of_list(budget: &mut RenderBudget, name: &str, value: &Value) -> Result<Value, TemplateError> {
    match (name, value) {
        ("items", Value::Object(members)) => {
            return Ok(members.iter().map(|(name, value)| json!([name, value])).collect());
        }
        ("list", Value::Object(members)) => return Ok(members.keys().cloned().collect()),
        ("list" | "reverse", Value::String(text)) => {
            budget.spend(text.len())?;
            let chars = text.chars();
            return Ok(if name == "list" {
                chars.map(String::from).collect()
            } else {
                chars.rev().collect::<String>().into()
            });
        }
        _ => {}
    }
    let items = items(name, value)?;
    match name {
        "first" => Ok(items.first().cloned().unwrap_or_default()),
        "last" => Ok(items.last().cloned().unwrap_or_default()),
        "reverse" => Ok(items.iter().rev().cloned().collect()),
        "list" => Ok(value.clone()),
        "sort" | "unique" => {
            // Sorting takes several comparisons per item.
            let rounds = usize::try_from(items.len().max(1).ilog2()).unwrap_or(0);
            budget.spend_bytes(weight(value).saturating_mul(rounds))?;
            let mut sorted: Vec<Value> = items.to_vec();
            let alike = sorted.windows(2).all(|pair| order(&pair[0], &pair[1]).is_some());
            if !alike {
                return Err(wrong(format!(
                    "{name} cannot order this list: its items must be all numbers or all texts"
                )));
            }
            let by_order = |a: &Value, b: &Value| order(a, b).unwrap_or(std::cmp::Ordering::Equal);
            sorted.sort_by(by_order);
            if name == "unique" {
                sorted.dedup_by(|a, b| by_order(a, b).is_eq());
            }
            Ok(Value::Array(sorted))
        }
        _ => Err(unfit(name, value)),
    }
}

fn items<'v>(name: &str, value: &'v Value) -> Result<&'v [Value], TemplateError> {
    value.as_array().map(Vec::as_slice).ok_or_else(|| unfit(name, value))
}

fn unfit(name: &str, value: &Value) -> TemplateError {
    wrong(format!("{name} does not take {}", kind(value)))
}

fn join(budget: &mut RenderBudget, items: &[Value], between: &str) -> Result<Value, TemplateError> {
    let texts: Vec<_> = items.iter().map(text_of).collect();
    let gaps = between.len().saturating_mul(texts.len().saturating_sub(1));
    budget.spend_text(texts.iter().map(|text| text.len()).sum::<usize>().saturating_add(gaps))?;
    Ok(texts.join(between).into())
}

fn replace(
    budget: &mut RenderBudget,
    text: &str,
    from: &str,
    to: &str,
) -> Result<Value, TemplateError> {
    let count = text.matches(from).count();
    budget.spend_text(text.len().saturating_add(to.len().saturating_mul(count)))?;
    Ok(text.replace(from, to).into())
}

fn capitalized(word: &str) -> String {
    let mut chars = word.chars();
    let first = chars.next().into_iter().flat_map(char::to_uppercase);
    first.chain(chars.as_str().to_lowercase().chars()).collect()
}

/// The number of a value, or of its text.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        Value::Bool(_) => Some(if truthy(value) { 1.0 } else { 0.0 }),
        value => value.as_f64(),
    }
}

fn float(number: f64) -> Result<Value, TemplateError> {
    Number::from_f64(number).map(Value::Number).ok_or_else(|| wrong("a number is out of range"))
}

fn rounded(name: &str, value: &Value, args: &[Value]) -> Result<Value, TemplateError> {
    let number = value.as_f64().ok_or_else(|| unfit(name, value))?;
    if name == "abs" {
        return value
            .as_i64()
            .and_then(i64::checked_abs)
            .map_or_else(|| float(number.abs()), |n| Ok(n.into()));
    }
    let digits = args.first().and_then(Value::as_i64).unwrap_or(0).clamp(0, 15);
    let scale = 10_f64.powi(i32::try_from(digits).unwrap_or(0));
    float((number * scale).round() / scale)
}
