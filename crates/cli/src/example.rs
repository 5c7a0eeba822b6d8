//! Parameters as the command line that would give them: how help and reference show examples.

use contract::Operation;
use serde_json::Value;

use crate::param::{Kind, Param, structure};

/// The line that calls the operation with these parameters: its own command, or `rekindle call`
/// where the command cannot say them.
pub(crate) fn command_line(op: &Operation, params: &Value) -> String {
    own_line(op, params).unwrap_or_else(|| call_line(op, params))
}

/// The line that calls the operation by name.
pub(crate) fn call_line(op: &Operation, params: &Value) -> String {
    format!("rekindle call {} {}", op.info.name, quoted(&params.to_string()))
}

fn own_line(op: &Operation, params: &Value) -> Option<String> {
    if op.info.cli.path.is_empty() {
        return None;
    }
    let known = Param::all(op);
    let mut positions: Vec<Option<String>> = vec![None; op.info.cli.positional.len()];
    let mut flags = String::new();
    for (within, name, value) in leaves(op, params)? {
        let param = known.iter().find(|param| param.within == within && param.name == name)?;
        match param.position {
            Some(position) => positions[position] = Some(by_position(&param.kind, value)?),
            None => flags.push_str(&format!(" {}", by_flag(param, value)?)),
        }
    }
    let given: Vec<String> = positions.iter().flatten().cloned().collect();
    // A position that is left out may only be followed by others that are left out.
    if positions.iter().take(given.len()).any(Option::is_none) {
        return None;
    }
    let mut line = format!("rekindle {}", op.info.cli.path.join(" "));
    given.iter().for_each(|word| line.push_str(&format!(" {word}")));
    Some(line + &flags)
}

/// Every given parameter, the members of the flattened object one by one.
fn leaves<'v>(
    op: &Operation,
    params: &'v Value,
) -> Option<Vec<(Option<&'static str>, &'v str, &'v Value)>> {
    let mut leaves = Vec::new();
    for (name, value) in params.as_object()? {
        match op.info.cli.flatten.filter(|flattened| flattened == name) {
            Some(outer) => {
                let members = value.as_object().filter(|members| !members.is_empty())?;
                leaves.extend(
                    members.iter().map(|(name, value)| (Some(outer), name.as_str(), value)),
                );
            }
            None => leaves.push((None, name.as_str(), value)),
        }
    }
    Some(leaves)
}

fn by_position(kind: &Kind, value: &Value) -> Option<String> {
    let text = text_of(kind, value)?;
    // A leading dash would be read as a flag, and a dash alone as stdin.
    if text.starts_with('-') { None } else { Some(quoted(&text)) }
}

fn by_flag(param: &Param, value: &Value) -> Option<String> {
    let flag = param.flag();
    match (&param.kind, value) {
        (Kind::Boolean, Value::Bool(true)) => return Some(format!("--{flag}")),
        (Kind::Boolean, Value::Bool(false)) => return Some(format!("--{flag}=false")),
        _ => {}
    }
    let text = text_of(&param.kind, value)?;
    let between = if text.starts_with('-') { '=' } else { ' ' };
    Some(format!("--{flag}{between}{}", quoted(&text)))
}

/// The text that is read back as this value, if there is one.
fn text_of(kind: &Kind, value: &Value) -> Option<String> {
    match (kind, value) {
        (Kind::Text | Kind::Choice(_), Value::String(text)) => Some(text.clone()),
        (Kind::Any, Value::String(text)) => structure(text).is_none().then(|| text.clone()),
        (Kind::Integer | Kind::Number, Value::Number(number)) => Some(number.to_string()),
        (Kind::Boolean, Value::Bool(truth)) => Some(truth.to_string()),
        (Kind::Object | Kind::Any, Value::Object(_)) => Some(value.to_string()),
        (Kind::Array | Kind::Any, Value::Array(_)) => Some(value.to_string()),
        (Kind::List(item), Value::Array(values)) => {
            let texts: Option<Vec<String>> =
                values.iter().map(|value| text_of(item, value)).collect();
            let texts = texts?;
            let fits = |text: &String| !text.is_empty() && !text.contains(',');
            texts.iter().all(fits).then(|| texts.join(","))
        }
        _ => None,
    }
}

/// The word as a POSIX shell reads it back.
fn quoted(word: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_./:=@%+,".contains(&b);
    if !word.is_empty() && word.bytes().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
