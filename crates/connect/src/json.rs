//! Adds our entries to JSON and JSONC, and removes them. Everything else keeps its formatting.

use agents::wiring::{Format, Hooked, Hooks, Part, Server};
use jsonc_parser::ast;
use jsonc_parser::common::Ranged as _;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use jsonc_parser::{CollectOptions, ParseOptions};
use serde_json::{Map, Value};

use crate::edit::{EditError, OurEntry};
use crate::ours::{self, Ours, SERVER, STATUS_LINE};

const HOOKS: &str = "hooks";
const MATCHER: &str = "matcher";

/// The text with all parts.
pub(crate) fn wire(
    text: &str,
    format: Format,
    parts: &[Part],
    ours: &Ours<'_>,
) -> Result<String, EditError> {
    // An empty file is treated as an empty object.
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    check(text, format, parts)?;
    let root = parse(text, format)?;
    let object = root.object_value_or_set();
    for part in parts {
        match part {
            Part::Hooks(hooks) => wire_hooks(&object, hooks, ours),
            Part::Server { under, shape } => wire_server(&object, under, *shape, ours),
            Part::StatusLine => wire_status_line(&object, ours),
            Part::Number { name, number } if object.get(name).is_none() => {
                object.insert(0, name, CstInputValue::Number(number.to_string()));
            }
            Part::Number { .. } | Part::Text(_) => {}
        }
    }
    Ok(root.to_string())
}

/// The entry in the list of an event.
fn entry(hooks: &Hooks, hooked: &Hooked, ours: &Ours<'_>) -> Value {
    let hook = ours.hook(hooks, hooked);
    if hooks.grouped { serde_json::json!({ HOOKS: [hook] }) } else { hook.into() }
}

fn wire_hooks(object: &CstObject, hooks: &Hooks, ours: &Ours<'_>) {
    let events = object.object_value_or_set(HOOKS);
    for hooked in hooks.events {
        let list = events.array_value_or_set(hooked.event);
        let mut found = false;
        for hook in our_hooks(&list, hooks.grouped) {
            if found || is_matched(&hook, hooks.grouped) {
                remove_hook(hook, hooks.grouped);
            } else {
                renew(&hook, ours.hook(hooks, hooked));
                found = true;
            }
        }
        if !found {
            list.append(input(&entry(hooks, hooked, ours)));
        }
    }
}

/// Our hooks in the list of an event.
fn our_hooks(list: &CstArray, grouped: bool) -> Vec<CstObject> {
    let objects = |list: &CstArray| -> Vec<CstObject> {
        list.elements().iter().filter_map(CstNode::as_object).collect()
    };
    let mut all = Vec::new();
    for entry in objects(list) {
        match grouped {
            true => all.extend(entry.array_value(HOOKS).iter().flat_map(objects)),
            false => all.push(entry),
        }
    }
    all.retain(|hook| hook.to_serde_value().is_some_and(|hook| ours::is_our_hook(&hook)));
    all
}

/// Whether a matcher narrows a hook, so that the agent calls it at some of its events only.
fn is_matched(hook: &CstObject, grouped: bool) -> bool {
    let group = || hook.parent()?.parent()?.parent()?.as_object();
    let holder = if grouped { group() } else { Some(hook.clone()) };
    holder.is_some_and(|holder| holder.get(MATCHER).is_some())
}

/// Members of a hook that decide what is called and when. With other values than ours, the hook is not whole.
const DECIDING: [&str; 8] =
    ["type", "command", "args", "timeout", "if", "async", "asyncRewake", "once"];

/// Those of [`DECIDING`] that say what is called.
const CALLING: [&str; 2] = ["command", "args"];

/// Whether a member has its default value.
fn is_default(name: &str, value: &Value) -> bool {
    value == &Value::Bool(false) || (name == "type" && value == "command")
}

/// The members of a hook to remove, because ours does not have them.
fn extra_members<'h>(
    hook: &'h Value,
    ours: &'h Map<String, Value>,
) -> impl Iterator<Item = &'static str> {
    DECIDING.into_iter().filter(move |name| {
        !ours.contains_key(*name) && hook.get(name).is_some_and(|value| !is_default(name, value))
    })
}

/// Whether a hook is equivalent to ours, with any path and in any form: it reports every event of its type and no
/// other, and has our timeout.
fn is_whole(hook: &CstObject, hooks: &Hooks, hooked: &Hooked, agent: &str) -> bool {
    let Some(there) = hook.to_serde_value() else { return false };
    let wanted = Ours { agent, binary: SERVER, status_line: false }.hook(hooks, hooked);
    let is_same = |(name, value): (&String, &Value)| {
        CALLING.contains(&name.as_str()) || there.get(name) == Some(value)
    };
    !is_matched(hook, hooks.grouped)
        && ours::tells_of(&there, hooked.event, agent)
        && wanted.iter().all(is_same)
        && extra_members(&there, &wanted).all(|name| CALLING.contains(&name))
}

/// Updates a hook of ours to its current form. Members that decide nothing are the user's.
fn renew(object: &CstObject, hook: Map<String, Value>) {
    let there = object.to_serde_value().unwrap_or_default();
    for name in extra_members(&there, &hook) {
        if let Some(member) = object.get(name) {
            member.remove();
        }
    }
    for (name, value) in hook {
        set(object, &name, &value);
    }
}

/// Sets a member to this value, unless it has it already.
fn set(object: &CstObject, name: &str, value: &Value) {
    match object.get(name) {
        Some(there) if there.value().and_then(|v| v.to_serde_value()).as_ref() == Some(value) => {}
        Some(there) => there.set_value(input(value)),
        None => drop(object.append(name, input(value))),
    }
}

/// Removes a hook, and its group if that has no other.
fn remove_hook(hook: CstObject, grouped: bool) {
    let list = hook.parent().and_then(|parent| parent.as_array());
    hook.remove();
    if !grouped {
        return;
    }
    let Some(list) = list.filter(|list| list.elements().is_empty()) else { return };
    let group = list.parent().and_then(|member| member.parent());
    if let Some(group) = group.and_then(|group| group.as_object()) {
        group.remove();
    }
}

fn wire_server(object: &CstObject, under: &str, shape: Server, ours: &Ours<'_>) {
    let servers = object.object_value_or_set(under);
    let entry = ours.server(shape);
    let Some(there) = servers.object_value(SERVER) else {
        servers.append(SERVER, input(&entry));
        return;
    };
    let mut command = Map::new();
    match (&entry["command"], there.to_serde_value()) {
        // Arguments after ours are the user's.
        (Value::Array(command_of_ours), Some(old)) => {
            let mut list = old["command"].as_array().cloned().unwrap_or_default();
            if let (Some(first), Some(program)) = (list.first_mut(), command_of_ours.first()) {
                *first = program.clone();
            }
            command.insert("command".into(), list.into());
        }
        (program, _) => drop(command.insert("command".into(), program.clone())),
    }
    for (name, value) in command {
        set(&there, &name, &value);
    }
    let old = there.to_serde_value().unwrap_or_default();
    if !has_its_type(&old, shape) {
        set(&there, "type", &entry["type"]);
    }
}

/// Adds our status line if the user wants it and has none. A status line of ours gets the current path.
fn wire_status_line(object: &CstObject, ours: &Ours<'_>) {
    let entry = ours.status_line();
    match (object.get(STATUS_LINE), object.object_value(STATUS_LINE)) {
        (None, _) if ours.status_line => drop(object.append(STATUS_LINE, input(&entry))),
        (Some(_), Some(there)) if is_our_status_line(&there) => {
            set(&there, "command", &entry["command"]);
        }
        _ => {}
    }
}

fn is_our_status_line(line: &CstObject) -> bool {
    line.to_serde_value().is_some_and(|line| ours::is_our_status_line(&line))
}

/// Whether an agent starts a program for this entry, by its type.
fn has_its_type(entry: &Value, shape: Server) -> bool {
    match (&entry["type"], shape) {
        (Value::String(there), Server::Listed) => there == "local",
        (_, Server::Listed) => false,
        (there, _) => there.is_null() || there == "stdio",
    }
}

/// The text without our entries, and without objects that only had those and are not in `before`.
pub(crate) fn unwire(
    text: &str,
    format: Format,
    parts: &[Part],
    before: Option<&str>,
) -> Result<String, EditError> {
    if text.trim().is_empty() {
        return Ok(text.to_owned());
    }
    let root = parse(text, format)?;
    let Some(object) = root.object_value() else { return Ok(text.to_owned()) };
    let was = before.and_then(|before| parse(before, format).ok());
    let was = was.and_then(|was| was.to_serde_value()).unwrap_or_default();
    for part in parts.iter().rev() {
        match part {
            Part::Hooks(hooks) => unwire_hooks(&object, hooks.grouped, &was),
            Part::Server { under, .. } => unwire_server(&object, under, &was),
            Part::StatusLine => {
                let is_ours =
                    object.object_value(STATUS_LINE).is_some_and(|line| is_our_status_line(&line));
                if is_ours && let Some(line) = object.get(STATUS_LINE) {
                    line.remove();
                }
            }
            // The number belongs to the hooks, which are removed before it. It is removed only if the remaining hooks
            // are those of `before`.
            Part::Number { name, .. } => {
                let now = object.to_serde_value().unwrap_or_default();
                if was.get(name).is_none()
                    && now.get(HOOKS) == was.get(HOOKS)
                    && let Some(number) = object.get(name)
                {
                    number.remove();
                }
            }
            Part::Text(_) => {}
        }
    }
    Ok(root.to_string())
}

fn unwire_hooks(object: &CstObject, grouped: bool, was: &Value) {
    let Some(events) = object.object_value(HOOKS) else { return };
    for event in events.properties() {
        let Some(list) = event.array_value() else { continue };
        let found = our_hooks(&list, grouped);
        let any = !found.is_empty();
        for hook in found {
            remove_hook(hook, grouped);
        }
        let name = event.name().and_then(|name| name.decoded_value().ok()).unwrap_or_default();
        if any && list.elements().is_empty() && was[HOOKS].get(&name).is_none() {
            event.remove();
        }
    }
    if events.properties().is_empty()
        && was.get(HOOKS).is_none()
        && let Some(member) = object.get(HOOKS)
    {
        member.remove();
    }
}

fn unwire_server(object: &CstObject, under: &str, was: &Value) {
    let Some(servers) = object.object_value(under) else { return };
    let Some(entry) = servers.get(SERVER) else { return };
    let value = entry.value().and_then(|value| value.to_serde_value());
    if !value.is_some_and(|entry| ours::is_our_server(&entry)) {
        return;
    }
    entry.remove();
    if servers.properties().is_empty()
        && was.get(under).is_none()
        && let Some(member) = object.get(under)
    {
        member.remove();
    }
}

/// Our entries in a text: hooks by event, and the server.
pub(crate) fn wired(text: &str, format: Format, parts: &[Part], agent: &str) -> Vec<OurEntry> {
    let Ok(root) = parse(text, format) else { return Vec::new() };
    let Some(object) = root.object_value() else { return Vec::new() };
    let mut all = Vec::new();
    for part in parts {
        match part {
            Part::Hooks(hooks) => {
                let Some(events) = object.object_value(HOOKS) else { continue };
                for hooked in hooks.events {
                    let list = events.array_value(hooked.event);
                    let found: Vec<CstObject> =
                        list.iter().flat_map(|list| our_hooks(list, hooks.grouped)).collect();
                    let whole = found.iter().find(|hook| is_whole(hook, hooks, hooked, agent));
                    let hook = whole.or(found.first()).and_then(|hook| hook.to_serde_value());
                    all.extend(hook.map(|entry| {
                        let name = hooked.event.to_owned();
                        OurEntry { name, entry, whole: whole.is_some() }
                    }));
                }
            }
            Part::Server { under, shape } => {
                let entry = object.object_value(under).and_then(|all| all.object_value(SERVER));
                let entry = entry.and_then(|entry| entry.to_serde_value());
                all.extend(entry.filter(ours::is_our_server).map(|entry| {
                    let whole = has_its_type(&entry, *shape);
                    OurEntry { name: SERVER.to_owned(), entry, whole }
                }));
            }
            Part::StatusLine => {
                let line = object.object_value(STATUS_LINE).and_then(|line| line.to_serde_value());
                let ours = line.filter(ours::is_our_status_line);
                all.extend(ours.map(|entry| OurEntry::whole(STATUS_LINE, entry)));
            }
            Part::Number { .. } | Part::Text(_) => {}
        }
    }
    all
}

/// The parsed value of a text; `None` if it is not valid.
pub(crate) fn meaning(text: &str, format: Format) -> Option<Value> {
    parse(text, format).ok()?.to_serde_value()
}

fn options(format: Format) -> ParseOptions {
    ParseOptions {
        allow_comments: format != Format::Json,
        allow_trailing_commas: format == Format::Jsonc,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
    }
}

fn parse(text: &str, format: Format) -> Result<CstRootNode, EditError> {
    CstRootNode::parse(text, &options(format)).map_err(|error| refused(&error))
}

fn refused(error: &jsonc_parser::errors::ParseError) -> EditError {
    let what = error.kind().to_string();
    let mut letters = what.chars();
    let first = letters.next().map(|first| first.to_ascii_lowercase());
    EditError {
        line: error.line_display(),
        column: error.column_display(),
        what: format!("not valid JSON: {}", first.into_iter().chain(letters).collect::<String>()),
    }
}

/// Refuses a text that its agent cannot read, or that has another value at the place of ours.
fn check(text: &str, format: Format, parts: &[Part]) -> Result<(), EditError> {
    let parsed = jsonc_parser::parse_to_ast(text, &CollectOptions::default(), &options(format))
        .map_err(|error| refused(&error))?;
    if format == Format::Json
        && let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(text)
    {
        // Checked again by a strict parser without extensions.
        let (line, column) = (error.line(), error.column());
        return Err(EditError { line, column, what: "not valid JSON".to_owned() });
    }
    let Some(root) = parsed.value else { return Ok(()) };
    let wrong =
        |value: &ast::Value<'_>, what: String| EditError::at(text, value.range().start, what);
    let Some(root) = root.as_object() else {
        return Err(wrong(&root, "the file is not an object".to_owned()));
    };
    for part in parts {
        match part {
            Part::Hooks(hooks) => {
                let Some(events) = object_at(text, root, HOOKS)? else { continue };
                for hooked in hooks.events {
                    let name = hooked.event;
                    let Some(value) = only(text, events, name)? else { continue };
                    if value.as_array().is_none() {
                        return Err(wrong(value, format!("`{HOOKS}.{name}` is not a list")));
                    }
                }
            }
            Part::Server { under, .. } => {
                let Some(servers) = object_at(text, root, under)? else { continue };
                let Some(entry) = only(text, servers, SERVER)? else { continue };
                let range = entry.range();
                let entry_text = text.get(range.start..range.end).unwrap_or_default();
                let value = parse(entry_text, format).ok().and_then(|root| root.to_serde_value());
                if !value.is_some_and(|entry| ours::is_our_server(&entry)) {
                    let what = format!("`{under}.{SERVER}` already exists and is not ours");
                    return Err(wrong(entry, what));
                }
            }
            Part::StatusLine => drop(only(text, root, STATUS_LINE)?),
            Part::Number { .. } | Part::Text(_) => {}
        }
    }
    Ok(())
}

/// The object with this name, if there is one.
fn object_at<'t, 'a>(
    text: &str,
    of: &'t ast::Object<'a>,
    name: &str,
) -> Result<Option<&'t ast::Object<'a>>, EditError> {
    let Some(value) = only(text, of, name)? else { return Ok(None) };
    match value.as_object() {
        Some(object) => Ok(Some(object)),
        None => Err(EditError::at(text, value.range().start, format!("`{name}` is not an object"))),
    }
}

/// The member with this name, if there is one; an error if there are two.
fn only<'t, 'a>(
    text: &str,
    of: &'t ast::Object<'a>,
    name: &str,
) -> Result<Option<&'t ast::Value<'a>>, EditError> {
    let mut all = of.properties.iter().filter(|member| member.name.as_str() == name);
    let first = all.next();
    match all.next() {
        Some(second) => {
            Err(EditError::at(text, second.range.start, format!("`{name}` is there twice")))
        }
        None => Ok(first.map(|member| &member.value)),
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(members) => CstInputValue::Object(
            members.iter().map(|(name, value)| (name.clone(), input(value))).collect(),
        ),
    }
}
