//! Adds our MCP server to TOML, and removes it. Everything else keeps its formatting.

use agents::wiring::{Part, Server};
use serde_json::Value;
use toml_edit::{Array, Document, DocumentMut, Item, Table};

use crate::edit::{EditError, OurEntry};
use crate::ours::{self, Ours, SERVER};

/// The text with all parts.
pub(crate) fn wire(text: &str, parts: &[Part], ours: &Ours<'_>) -> Result<String, EditError> {
    check(text, parts)?;
    let mut document = parse(text)?;
    for (under, shape) in servers(parts) {
        let entry = ours.server(shape);
        let all = document.entry(under).or_insert_with(|| {
            let mut table = Table::new();
            table.set_implicit(true);
            table.into()
        });
        let Some(all) = all.as_table_like_mut() else { continue };
        if let Some(there) = all.get_mut(SERVER).and_then(Item::as_table_like_mut) {
            if there.get("command").and_then(Item::as_str) != entry["command"].as_str() {
                // The decoration of the value, such as a comment, is the user's.
                if let Some(value) = there.get_mut("command").and_then(Item::as_value_mut) {
                    let around = value.decor().clone();
                    *value = ours.binary.into();
                    *value.decor_mut() = around;
                }
            }
            // An entry of an earlier version may lack them; an existing list is the user's.
            if let Some(names) =
                list(&entry, "env_vars").filter(|_| !there.contains_key("env_vars"))
            {
                there.insert("env_vars", names);
            }
            continue;
        }
        let mut table = Table::new();
        table.insert("command", ours.binary.into());
        for name in ["args", "env_vars"] {
            if let Some(texts) = list(&entry, name) {
                table.insert(name, texts);
            }
        }
        all.insert(SERVER, table.into());
    }
    Ok(as_written(text, document.to_string()))
}

/// A member of our JSON entry, which has to be a list of strings, as a TOML array.
fn list(entry: &Value, name: &str) -> Option<Item> {
    let texts = entry[name].as_array()?.iter().filter_map(Value::as_str);
    Some(texts.collect::<Array>().into())
}

/// The text without our entries, and without a table that only had those and is not in `before`.
pub(crate) fn unwire(
    text: &str,
    parts: &[Part],
    before: Option<&str>,
) -> Result<String, EditError> {
    let mut document = parse(text)?;
    let was = before.and_then(|before| parse(before).ok()).unwrap_or_default();
    for (under, _) in servers(parts) {
        let Some(all) = document.get_mut(under).and_then(Item::as_table_like_mut) else {
            continue;
        };
        if all.get(SERVER).is_some_and(|entry| ours::is_our_server(&value(entry))) {
            all.remove(SERVER);
            if all.is_empty() && was.get(under).is_none() {
                document.remove(under);
            }
        }
    }
    Ok(as_written(text, document.to_string()))
}

/// Our entries in a text.
pub(crate) fn wired(text: &str, parts: &[Part]) -> Vec<OurEntry> {
    let Ok(document) = parse(text) else { return Vec::new() };
    let entries = servers(parts).filter_map(|(under, _)| document.get(under)?.get(SERVER));
    let ours = entries.map(value).filter(ours::is_our_server);
    ours.map(|entry| OurEntry::whole(SERVER, entry)).collect()
}

fn servers(parts: &[Part]) -> impl Iterator<Item = (&'static str, Server)> {
    parts.iter().filter_map(|part| match part {
        Part::Server { under, shape } => Some((*under, *shape)),
        _ => None,
    })
}

fn parse(text: &str) -> Result<DocumentMut, EditError> {
    text.parse().map_err(|error| refused(text, &error))
}

fn refused(text: &str, error: &toml_edit::TomlError) -> EditError {
    let start = error.span().map_or(0, |span| span.start);
    EditError::at(text, start, format!("not valid TOML: {}", error.message().trim()))
}

/// Refuses a text that has another value at the place of ours.
fn check(text: &str, parts: &[Part]) -> Result<(), EditError> {
    let document = Document::parse(text).map_err(|error| refused(text, &error))?;
    let wrong = |item: &Item, what: String| {
        Err(EditError::at(text, item.span().map_or(0, |span| span.start), what))
    };
    for (under, _) in servers(parts) {
        let Some(all) = document.get(under) else { continue };
        if all.as_table_like().is_none() {
            return wrong(all, format!("`{under}` is not a table"));
        }
        let Some(entry) = all.get(SERVER) else { continue };
        if !ours::is_our_server(&value(entry)) {
            return wrong(entry, format!("`{under}.{SERVER}` already exists and is not ours"));
        }
    }
    Ok(())
}

/// The parsed value of a text; `None` if it is not valid.
pub(crate) fn meaning(text: &str) -> Option<Value> {
    parse(text).ok().map(|document| value(document.as_item()))
}

fn value(item: &Item) -> Value {
    if let Some(table) = item.as_table_like() {
        return table.iter().map(|(name, item)| (name.to_owned(), value(item))).collect();
    }
    if let Some(list) = item.as_array() {
        return list.iter().map(|one| value(&Item::Value(one.clone()))).collect();
    }
    if let Some(tables) = item.as_array_of_tables() {
        return tables.iter().map(|one| value(&Item::Table(one.clone()))).collect();
    }
    match (item.as_str(), item.as_bool(), item.as_integer()) {
        (Some(text), _, _) => text.into(),
        (_, Some(truth), _) => truth.into(),
        (_, _, Some(number)) => number.into(),
        // We do not search fractions and times; their text is enough to compare them.
        _ => item.to_string().trim().into(),
    }
}

/// Restores the line ends of the original text.
fn as_written(from: &str, text: String) -> String {
    if !from.contains("\r\n") {
        return text;
    }
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}
