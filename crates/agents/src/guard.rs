//! Prepares captured text for storage: cuts it to a generous bound, redacts secrets, and only then cuts it to
//! the bound of its field, so that a secret at that cut is still recognised.

use std::cell::RefCell;
use std::collections::BTreeSet;

use model::hook::{Happening, HookEvent, ToolUse};
use model::limits;
use serde_json::{Map, Value};
use text::secrets::{
    KnownValues, Profile, Redacted, find, redact, redact_json, redact_place, redacted_rules,
    redacted_rules_json,
};

use crate::digest;
use crate::json::Json;
use crate::prompt::without_private_parts;

/// The prefix of a redaction.
const MARK: &str = "[redacted:";

thread_local! {
    /// Secrets of the event that this thread is extracting. Every text of the event passes through this module,
    /// so a thread-local spares a parameter in every function of the extraction.
    static KNOWN: RefCell<KnownValues> = RefCell::default();
}

/// Extracts an event, and extracts it again if it contains a secret: the second pass redacts the secret's value
/// in all texts, even where nothing marks it as a secret. Texts are cut to their bounds only after that.
pub(crate) fn with_known_values<E>(
    payload: &Json<'_>,
    extract: impl Fn() -> Result<HookEvent, E>,
) -> Result<HookEvent, E> {
    // An extraction that panicked may have left its values on this thread.
    KNOWN.take();
    let event = extract()?;
    if !is_redacted(&event) {
        return Ok(event);
    }
    let mut known = KnownValues::default();
    collect(&mut known, "", payload, &mut limits::KNOWN_VALUES_BYTES_MAX.clone());
    KNOWN.set(known);
    let event = extract();
    KNOWN.take();
    event
}

/// Collects the secrets in all texts of a payload, until the byte budget `left` is used up.
fn collect(known: &mut KnownValues, name: &str, payload: &Json<'_>, left: &mut usize) {
    match payload {
        Json::Text(text) => {
            let text = cut(looked_at(text), *left);
            *left -= text.len();
            known.collect_member(name, text);
            known.collect(text, Profile::Strict);
        }
        Json::List(items) => items.iter().for_each(|item| collect(known, name, item, left)),
        Json::Object(members) => {
            members.iter().for_each(|(name, value)| collect(known, name, value, left));
        }
        _ => {}
    }
}

/// Whether the guard found anything in an event.
fn is_redacted(event: &HookEvent) -> bool {
    let marked = |text: &Redacted<String>| text.contains(MARK);
    event.cwd.as_ref().is_some_and(marked)
        || match &event.what {
            Happening::Prompted(text) | Happening::CwdChanged(text) => marked(text),
            Happening::Answered(answer) => marked(&answer.text),
            Happening::SessionEnded { reason } => reason.as_ref().is_some_and(marked),
            Happening::ToolStarting(tool) | Happening::ToolUsed(tool) => !rules(tool).is_empty(),
            _ => false,
        }
}

/// The rules that matched in the texts of a tool use.
fn rules(tool: &ToolUse) -> BTreeSet<&str> {
    let texts = [Some(&tool.content), tool.file_path.as_ref(), tool.command.as_ref()];
    let in_texts = texts.into_iter().flatten().flat_map(|text| redacted_rules(text));
    in_texts.chain(redacted_rules_json(&tool.metadata)).collect()
}

/// Adds the list of matched rules to the metadata of a tool use.
pub(crate) fn with_rules(mut tool: ToolUse) -> ToolUse {
    let rules: Value = rules(&tool).into_iter().collect();
    if rules.as_array().is_some_and(|rules| !rules.is_empty())
        && let Value::Object(mut members) = tool.metadata.clone().into_inner()
    {
        members.insert("redacted".into(), rules);
        tool.metadata = self::members(members);
    }
    tool
}

/// Redacts the known secrets of the event, and all that the guard finds in this text. Private parts are removed: an agent
/// may repeat those of a prompt in a command or in the task of a subagent.
fn guarded(text: &str) -> Redacted<String> {
    let text = &without_private_parts(text);
    KNOWN.with_borrow(|known| redact(&known.hide(text), Profile::Strict))
}

/// The first bytes of a text, at a character's end.
pub(crate) fn cut(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// The part of a text that is read, cut to `CAPTURED_BYTES_MAX`.
pub(crate) fn looked_at(text: &str) -> &str {
    cut(text, limits::CAPTURED_BYTES_MAX)
}

/// The part of a text that is read, redacted.
pub(crate) fn safe(text: &str) -> Redacted<String> {
    guarded(looked_at(text))
}

/// The first characters of the redacted text.
pub(crate) fn head(text: &str, max_chars: usize) -> Redacted<String> {
    safe(text).head(max_chars)
}

/// A path, redacted in such a way that different paths stay different.
pub(crate) fn place(path: &str) -> Redacted<String> {
    let path = looked_at(path);
    // This precedes the known secrets, because those are replaced without a hash.
    let safe = redact_place(path, Profile::Strict);
    let hidden = KNOWN.with_borrow(|known| match known.is_empty() {
        true => None,
        false => Some(redact_place(&known.hide(&safe), Profile::Strict)),
    });
    hidden.unwrap_or(safe).head(limits::PATH_CHARS_MAX)
}

/// The text as one line.
pub(crate) fn line(text: &str, max_chars: usize) -> Redacted<String> {
    safe(text).line(max_chars)
}

/// An object of metadata.
pub(crate) fn members(members: Map<String, Value>) -> Redacted<Value> {
    let members = Value::Object(members);
    KNOWN.with_borrow(|known| match known.is_empty() {
        true => redact_json(members, Profile::Strict),
        false => redact_json(known.hide_json(members), Profile::Strict),
    })
}

/// The last bytes of a text, up to the capture limit, redacted.
pub(crate) fn safe_end(text: &str) -> Redacted<String> {
    let from = text.ceil_char_boundary(text.len().saturating_sub(limits::CAPTURED_BYTES_MAX));
    guarded(&text[from..])
}

/// The beginning and the end of a text with ` … ` between them, at most `head + tail` characters in all.
pub(crate) fn head_and_tail(text: &str, head: usize, tail: usize) -> Redacted<String> {
    const MARK: &str = " … ";
    let first = safe(text);
    let is_whole = text.len() <= limits::CAPTURED_BYTES_MAX;
    if is_whole && first.chars().nth(head + tail).is_none() {
        return first;
    }
    let last = match is_whole {
        true => first.clone(),
        false => safe_end(text),
    };
    let tail = tail - MARK.chars().count();
    let from = last.char_indices().rev().nth(tail - 1).map_or(0, |(at, _)| at);
    // Both parts are redacted already. The guard runs again because only it can create a `Redacted`.
    safe(&format!("{}{MARK}{}", first.head(head).as_str(), &last[from..]))
}

/// An id or a name. It has to stay the same for the same thing, so a long random word is left alone;
/// a text in the shape of a known kind of secret is replaced by its fingerprint.
pub(crate) fn name(name: &str) -> String {
    let looked_at = cut(name, 2 * limits::HOOK_NAME_BYTES_MAX);
    let known = |rule: &str| rule != "long-hex";
    if find(looked_at, Profile::Declared).iter().any(|finding| known(finding.rule)) {
        return format!("redacted-{}", digest::fingerprint(name.as_bytes()));
    }
    looked_at.to_owned()
}

/// An id that must not make its event invalid: if it is too long or has control characters, it is
/// shortened and gets a fingerprint, so that equal ids stay equal.
pub(crate) fn id(id: &str) -> String {
    let safe = name(id);
    if id.len() <= limits::HOOK_NAME_BYTES_MAX && !id.chars().any(char::is_control) {
        return safe;
    }
    let head = cut(&safe, limits::HOOK_NAME_BYTES_MAX / 2).chars().filter(|c| !c.is_control());
    format!("{}-{}", head.collect::<String>(), digest::fingerprint(id.as_bytes()))
}
