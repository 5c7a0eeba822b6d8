//! Calls an operation and prints its reply: as text for people, as a list or as JSON. It also prints that an item is
//! missing, and how many results there are.

use contract::op::OpInfo;
use contract::{Document, Listed};
use model::{Caller, Code, OpError, Reply, Request, Road};
use serde_json::{Value, json};
use text::secrets::{Profile, redact_json};
use text::table::fitted;

use crate::name::{ProgramName, ResultForm, Saying};
use crate::output::Output;
use crate::parse::OpCall;

/// Calls the operation, prints the reply, and returns the exit code.
pub fn run_op(out: &mut Output, road: &dyn Road, caller: Caller, call: OpCall) -> u8 {
    let op = call.op;
    let ask = |op: &OpInfo, params: Value| -> Reply {
        let (id, caller) = (client::mint(), caller.clone());
        road.call(Request { call: id, op: op.name.to_owned(), params, caller })
    };
    let refusal = op.cli.refusal.filter(|_| call.saying.is_none() && !call.is_json);
    let mut reply = match refusal.and_then(|refusal| refusal(&call.params, client::clock::now_ms()))
    {
        Some(refused) => Err(refused),
        None => ask(op, call.params.clone()),
    };
    if let (Err(error), Some(nothing)) = (&reply, call.saying.and_then(|saying| saying.nothing))
        && error.code == Code::NotFound
        && !out.json
    {
        out.note(&error.message);
        reply = Ok(serde_json::from_str(nothing).unwrap_or_default());
    }
    let whole = op.cli.listed.and_then(|listed| Some((listed, listed.whole?)));
    let mut gone = Vec::new();
    if let (Ok(result), Some((listed, (whole, most)))) = (&mut reply, whole)
        && call.full
        && (out.json || !call.ids)
    {
        match fill(result, listed, most, |ids| ask(whole, json!({ "ids": ids }))) {
            Ok(missing) => gone = missing,
            Err(error) => reply = Err(error),
        }
    }
    match reply {
        Ok(result) => print(out, &call, result, &gone),
        Err(error) if out.json => out.error(&error),
        Err(error) => out.error(&in_words_of_the_line(error, &call, out.name())),
    }
}

/// Replaces the names of operations and parameters in an error by those of commands and flags.
fn in_words_of_the_line(error: OpError, call: &OpCall, name: &ProgramName) -> OpError {
    let param = error.details.get("param").and_then(Value::as_str);
    // `ids[1]` is one of the values of `ids`.
    let list = param.and_then(|param| param.split('[').next());
    let label = call.labels.iter().find(|(path, _)| Some(path.as_str()) == list);
    let rest = label.zip(param).and_then(|((_, label), param)| {
        Some((label, error.message.strip_prefix(&format!("parameter `{param}`: "))?))
    });
    match rest {
        Some((label, rest)) => OpError { message: format!("{label}: {rest}"), ..error }
            .hint(format!("See `{} --help`.", name.any_line(call.op.cli.path))),
        None => OpError {
            message: labelled(call.words.reworded(&error.message), label),
            hint: error.hint.map(|hint| call.words.reworded(&hint)),
            ..error
        },
    }
}

/// A message about a member of an object, such as a glob, with the flag that it was given by.
fn labelled(message: String, label: Option<&(String, String)>) -> String {
    match label {
        Some((path, label)) if path.contains('.') && !message.contains(label.as_str()) => {
            format!("{label}: {message}")
        }
        _ => message,
    }
}

/// Adds the members of the whole item to each item of the list, and returns the ids of items that no longer exist.
fn fill(
    result: &mut Value,
    listed: Listed,
    most: usize,
    ask: impl Fn(&[Value]) -> Reply,
) -> Result<Vec<Value>, OpError> {
    let mut gone = Vec::new();
    let Some(items) = result.get_mut(listed.member).and_then(Value::as_array_mut) else {
        return Ok(gone);
    };
    let id_of = |item: &Value| item.get(listed.id).cloned().unwrap_or_default();
    for items in items.chunks_mut(most.max(1)) {
        let mut ids: Vec<Value> = items.iter().map(id_of).collect();
        let mut whole = ask(&ids)?;
        let whole = whole.get_mut(listed.member).and_then(Value::as_array_mut);
        for mut one in whole.into_iter().flatten().map(Value::take) {
            let id = id_of(&one);
            let found = items.iter_mut().find(|item| id_of(item) == id);
            if let (Some(Value::Object(item)), Some(more)) = (found, one.as_object_mut()) {
                item.append(more);
            }
            ids.retain(|asked| *asked != id);
        }
        gone.append(&mut ids);
    }
    Ok(gone)
}

fn print(out: &mut Output, call: &OpCall, mut result: Value, gone: &[Value]) -> u8 {
    let OpCall { op, params, saying, .. } = call;
    if let Some(miss) = op.cli.miss.and_then(|miss| miss(params, &result)) {
        return out.miss(result, &miss, op.cli.miss_is_result);
    }
    if out.json {
        let exit = out.result(&result, None);
        // The result itself does not say that it has fewer items than the call asked for.
        let notes = op.cli.notes.filter(|_| saying.is_none()).map(|notes| notes(params, &result));
        let reduced = notes.into_iter().flatten().filter(|note| note.starts_with("--limit "));
        reduced.for_each(|note| out.remark(&note));
        return exit;
    }
    let goes = saying.map_or(ResultForm::ToStdout, |saying| saying.goes);
    let items = op.cli.listed.and_then(|listed| result.get(listed.member)?.as_array());
    let exit = match (op.cli.listed, items, goes, op.cli.document) {
        (Some(listed), Some(items), ..) if call.ids => out.ids(items, listed.id),
        (_, Some(items), ResultForm::AsList { members, full }, _) => {
            let full = if call.full { full } else { &[] };
            let short = items.iter().map(|item| shortened(item, members.iter().chain(full)));
            out.list(short.collect())
        }
        (_, _, _, Some(Document { member, mask })) => {
            let member = result.get_mut(member).map(Value::take).unwrap_or_default();
            return out.document(member, mask);
        }
        (_, _, ResultForm::ToStderr, _) => {
            out.remark(&text(call, &result, gone, usize::MAX));
            0
        }
        _ => {
            let text = text(call, &result, gone, out.width());
            let accent = op.cli.accent.map(|accent| accent(params, &result, &text));
            out.accented(&text, &accent.unwrap_or_default())
        }
    };
    if let (Some(asked), Some(items)) = (op.cli.listed.and_then(|listed| listed.asked), items) {
        let asked = text::one_line(params[asked].as_str().unwrap_or_default(), usize::MAX);
        // Under another program name, programs parse this line, so it always has the plural and nothing else.
        let is_plain = saying.is_some();
        let s = if items.len() == 1 && !is_plain { "" } else { "s" };
        let offset = params["offset"].as_u64().filter(|offset| *offset > 0 && !is_plain);
        let from = offset.map(|offset| format!(" from offset {offset} on")).unwrap_or_default();
        let next = result["next_offset"].as_u64().filter(|_| !is_plain);
        let more = next.map(|next| format!("; --offset {next} shows more")).unwrap_or_default();
        out.remark(&format!("{} result{s} for {asked:?}{from}{more}", items.len()));
    }
    if let Some(notes) = op.cli.notes.filter(|_| saying.is_none()) {
        notes(&shown_params(call), &result).iter().for_each(|note| out.remark(note));
    }
    exit
}

/// The parameters of a call and the columns that the line selects, which only the text for people depends on.
fn shown_params(call: &OpCall) -> Value {
    let mut params = call.params.clone();
    if !call.columns.is_empty() {
        params["columns"] = json!(call.columns);
    }
    params
}

/// The item with only these members, in their order.
fn shortened<'m>(item: &Value, members: impl Iterator<Item = &'m &'m str>) -> Value {
    let known = members.filter_map(|name| Some(((*name).to_owned(), item.get(*name)?.clone())));
    Value::Object(known.collect())
}

/// The result as text for people. A result that the operation cannot parse is printed as it is, without credentials:
/// a daemon of another version may have sent it.
fn text(call: &OpCall, result: &Value, gone: &[Value], width: usize) -> String {
    let listed = call.op.cli.listed.filter(|_| call.full);
    let pretty = call.saying.and_then(|saying: &Saying| saying.pretty);
    let text = match (pretty, listed.and_then(|listed| Some((listed, listed.whole?.0)))) {
        (None, Some((listed, whole))) => {
            let (params, result) = whole_items(result, listed, gone);
            whole.cli.pretty.map(|pretty| pretty(&params, &result, width))
        }
        _ => pretty.or(call.op.cli.pretty).map(|pretty| pretty(&shown_params(call), result, width)),
    };
    match text {
        Some(Some(text)) if call.full || call.op.cli.verbatim => text::printable(&text),
        Some(Some(text)) => fitted(&text::printable(&text), width),
        Some(None) => {
            crate::render::readable(&redact_json(result.clone(), Profile::Declared).into_inner())
        }
        None => crate::render::readable(result),
    }
}

/// Parameters and result of the operation that returns whole items: all items but the missing ones, which its
/// parameters name.
fn whole_items(result: &Value, listed: Listed, gone: &[Value]) -> (Value, Value) {
    let mut result = result.clone();
    if let Some(items) = result.get_mut(listed.member).and_then(Value::as_array_mut) {
        items.retain(|item| item.get(listed.id).is_none_or(|id| !gone.contains(id)));
    }
    (json!({ "ids": gone }), result)
}
