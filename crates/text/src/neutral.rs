//! Makes stored text safe for a model to read: code is unchanged, and no markup is left that the model, its host
//! or the program that displays the conversation would act on.
//!
//! Everything that reaches a model passes through [`neutral`]: the assembler's lines and every string of an
//! MCP reply. Control and invisible characters become visible (`hidden`), tags of hosts and chat templates and HTML
//! elements that load a URL lose their bracket (`tags`), HTML attributes that do lose their `=` (`attributes`), lines
//! that look like the next turn of a conversation lose their colon (`turns`), and Markdown images become links (`images`). The function is idempotent, so two layers may apply it.

mod attributes;
mod hidden;
mod images;
mod tags;
mod turns;

use std::borrow::Cow;

/// Replaces the bracket of a host tag. It looks like the original and has no meaning for a parser.
const INERT_BRACKET: &str = "‹";
/// Replaces the `!` that turns a link into an image.
const INERT_BANG: &str = "！";
/// Replaces the `=` of an attribute that loads a URL.
const INERT_EQUALS: &str = "＝";
/// Replaces the colon after a speaker's name that would begin a turn of the conversation.
const INERT_COLON: &str = "：";

/// One replacement: the text at this byte offset, of this length, is replaced by `with`.
struct Edit {
    at: usize,
    len: usize,
    with: &'static str,
}

/// Neutralises markup that a model or its host would act on. Ordinary text and code are returned unchanged, and
/// without a copy.
pub fn neutral(text: &str) -> Cow<'_, str> {
    let visible = hidden::made_visible(text);
    let mut edits = tags::edits(&visible);
    edits.extend(images::edits(&visible));
    edits.extend(attributes::edits(&visible));
    edits.extend(turns::edits(&visible));
    if edits.is_empty() {
        return visible;
    }
    edits.sort_by_key(|edit| edit.at);
    Cow::Owned(applied(&visible, &edits))
}

fn applied(text: &str, edits: &[Edit]) -> String {
    let mut made = String::with_capacity(text.len() + 2 * edits.len());
    let mut from = 0;
    for edit in edits {
        made.push_str(text.get(from..edit.at).unwrap_or_default());
        made.push_str(edit.with);
        from = edit.at + edit.len;
    }
    made.push_str(text.get(from..).unwrap_or_default());
    made
}

#[cfg(test)]
mod tests;
