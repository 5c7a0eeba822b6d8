//! Converts parameters to the command line that gives them, for the examples of help and reference.

use contract::Operation;
use serde_json::Value;

use crate::name::ProgramName;
use crate::param::{Param, ParamKind, split_list, structure};

/// The line that calls the operation with these parameters: its own command under this name, or `rekindle call` if
/// the command cannot express them.
pub(crate) fn command_line(op: &Operation, params: &Value, name: &ProgramName) -> String {
    own_line(op, params, name).unwrap_or_else(|| call_line(op, params))
}

/// The line that calls the operation by name.
pub(crate) fn call_line(op: &Operation, params: &Value) -> String {
    format!("rekindle call {} {}", op.info.name, quoted(&params.to_string()))
}

fn own_line(op: &Operation, params: &Value, name: &ProgramName) -> Option<String> {
    if op.info.cli.path.is_empty() {
        return None;
    }
    let known = Param::all(op);
    let mut positions: Vec<Option<String>> = vec![None; op.info.cli.positional.len()];
    let mut flags = String::new();
    for (name, value) in params.as_object()? {
        let param = known.iter().find(|param| param.path() == *name)?;
        match param.position.and_then(|position| positions.get_mut(position)) {
            Some(place) => *place = Some(by_position(param, value)?),
            None => flags.push_str(&format!(" {}", by_flags(&known, param, value)?)),
        }
    }
    let given: Vec<String> = positions.iter().flatten().cloned().collect();
    // Positional arguments can only be omitted at the end.
    if positions.iter().take(given.len()).any(Option::is_none) {
        return None;
    }
    let mut line = name.any_line(op.info.cli.path);
    given.iter().for_each(|word| line.push_str(&format!(" {word}")));
    Some(line + &flags)
}

/// The flags of a parameter: one, or one for each member if flags can express them.
fn by_flags(known: &[Param], param: &Param, value: &Value) -> Option<String> {
    let members = value.as_object().filter(|members| param.whole && !members.is_empty());
    let flags = members.and_then(|members| {
        let flags = members.iter().map(|(name, value)| {
            let path = format!("{}.{name}", param.path());
            by_flags(known, known.iter().find(|param| param.path() == path)?, value)
        });
        flags.collect::<Option<Vec<String>>>()
    });
    flags.map(|flags| flags.join(" ")).or_else(|| by_flag(param, value))
}

fn by_position(param: &Param, value: &Value) -> Option<String> {
    // A leading dash would be read as a flag, and a dash alone as stdin.
    let word = |text: String| if text.starts_with('-') { None } else { Some(quoted(&text)) };
    if let (true, ParamKind::List(item), Value::Array(values)) = (param.rest, &param.kind, value) {
        let words = values.iter().map(|value| word(text_of(item, value)?));
        return Some(words.collect::<Option<Vec<String>>>()?.join(" "));
    }
    word(text_of(&param.kind, value)?)
}

fn by_flag(param: &Param, value: &Value) -> Option<String> {
    let flag = param.flag();
    match (&param.kind, value) {
        (ParamKind::Boolean, Value::Bool(true)) => return Some(format!("--{flag}")),
        (ParamKind::Boolean, Value::Bool(false)) => return Some(format!("--{flag}=false")),
        (ParamKind::Map(of), Value::Object(members)) => {
            let pair = |(name, value): (&String, &Value)| {
                let fits = !name.is_empty() && !name.contains('=') && !name.starts_with(['-', '{']);
                let text = value.as_str().filter(|_| fits)?;
                let readable = **of != ParamKind::Any || structure(text).is_none();
                readable.then(|| format!("--{flag} {}", quoted(&format!("{name}={text}"))))
            };
            let pairs: Option<Vec<String>> = members.iter().map(pair).collect();
            if let Some(pairs) = pairs.filter(|pairs| !pairs.is_empty()) {
                return Some(pairs.join(" "));
            }
        }
        _ => {}
    }
    let text = text_of(&param.kind, value)?;
    let between = if text.starts_with('-') { '=' } else { ' ' };
    Some(format!("--{flag}{between}{}", quoted(&text)))
}

/// The text that parses to this value, if there is one.
fn text_of(kind: &ParamKind, value: &Value) -> Option<String> {
    match (kind, value) {
        (ParamKind::Text | ParamKind::Choice(_), Value::String(text)) => Some(text.clone()),
        (ParamKind::Any, Value::String(text)) => structure(text).is_none().then(|| text.clone()),
        (ParamKind::Integer | ParamKind::Number, Value::Number(number)) => Some(number.to_string()),
        (ParamKind::Boolean, Value::Bool(truth)) => Some(truth.to_string()),
        (ParamKind::Object | ParamKind::Map(_) | ParamKind::Any, Value::Object(_)) => {
            Some(value.to_string())
        }
        (ParamKind::Array | ParamKind::Any, Value::Array(_)) => Some(value.to_string()),
        (ParamKind::List(item), Value::Array(values)) => {
            let texts: Option<Vec<String>> =
                values.iter().map(|value| text_of(item, value)).collect();
            joined(&texts?)
        }
        (ParamKind::OneOrMany, Value::String(text)) => joined(std::slice::from_ref(text)),
        (ParamKind::OneOrMany, Value::Array(values)) if values.len() > 1 => {
            text_of(&ParamKind::List(Box::new(ParamKind::Text)), &Value::Array(values.clone()))
        }
        _ => None,
    }
}

/// Joins texts to a list that splits into them again.
fn joined(texts: &[String]) -> Option<String> {
    let text = texts.join(",");
    let fits = texts.iter().all(|text| !text.is_empty()) && split_list(&text) == texts;
    fits.then_some(text)
}

/// Quotes a word for a POSIX shell.
fn quoted(word: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_./:=@%+,".contains(&b);
    if !word.is_empty() && word.bytes().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
