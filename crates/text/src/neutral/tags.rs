//! Tags that a host or a chat template gives a meaning: `<system-reminder>`, `</memory>`, `<|im_start|>`.
//!
//! Generics, comparisons, redirections, includes and HTML are code and are kept. The name distinguishes them:
//! hosts use a known set of words, or several words joined by `-` or `_`, and a type argument follows an
//! identifier directly.

use super::{Edit, INERT_BRACKET};

/// Names of one word that a host, a model's template or a common prompt uses as a tag.
const ROLES: &[&str] = &[
    "admin",
    "antartifact",
    "antthinking",
    "assistant",
    "bos",
    "context",
    "developer",
    "eos",
    "function",
    "functions",
    "human",
    "important",
    "instruction",
    "instructions",
    "invoke",
    "memories",
    "memory",
    "parameter",
    "prompt",
    "reminder",
    "scratchpad",
    "system",
    "think",
    "thinking",
    "tool",
    "tools",
    "user",
];

/// Words that mark a multi-word name as a host tag, for example `environment_context`.
const PARTS: &[&str] = &[
    "agent",
    "antml",
    "args",
    "bash",
    "calls",
    "claude",
    "command",
    "hook",
    "ide",
    "notification",
    "query",
    "result",
    "results",
    "stderr",
    "stdout",
    "subagent",
    "turn",
];

/// Names of several words that hosts and chat templates use as tags, with `_` between the words. They are tags wherever
/// they are; other names may be those of types (`vector<system_state>`).
const HOST_TAGS: &[&str] = &[
    "assistant_response",
    "available_tools",
    "bash_input",
    "bash_stderr",
    "bash_stdout",
    "begin_of_text",
    "chat_history",
    "command_args",
    "command_message",
    "command_name",
    "custom_instructions",
    "developer_message",
    "end_header_id",
    "end_of_text",
    "end_of_turn",
    "environment_context",
    "environment_details",
    "function_call",
    "function_calls",
    "function_response",
    "function_result",
    "function_results",
    "ide_opened_file",
    "ide_selection",
    "im_end",
    "im_start",
    "local_command_stderr",
    "local_command_stdout",
    "start_header_id",
    "start_of_turn",
    "system_instruction",
    "system_instructions",
    "system_message",
    "system_prompt",
    "system_reminder",
    "task_notification",
    "tool_call",
    "tool_calls",
    "tool_code",
    "tool_output",
    "tool_outputs",
    "tool_response",
    "tool_result",
    "tool_results",
    "tool_use",
    "tool_use_error",
    "use_mcp_tool",
    "user_instructions",
    "user_prompt",
    "user_prompt_submit_hook",
    "user_query",
    "user_rules",
];
/// Prefix of the tags of one host.
const HOST_PREFIX: &str = "antml:";

/// HTML elements that load a URL as soon as they are displayed.
const LOADING: &[&str] = &[
    "audio", "embed", "feimage", "iframe", "image", "img", "object", "picture", "source", "video",
];
/// HTML elements that load a URL by an attribute. Without attributes they are XML elements or placeholders.
const LOADING_BY_ATTRIBUTE: &[&str] = &["base", "bgsound", "frame", "input", "link"];
/// Text of a style sheet that loads a URL.
const LOADING_RULES: &[&str] = &["url(", "@import"];

/// Markers of chat templates in square brackets.
const MARKERS: &[&str] = &["[INST]", "[/INST]"];

/// Longest name of a tag in bytes.
const NAME_BYTES_MAX: usize = 80;
/// How many bytes of an `<input>` are searched for its type.
const TAG_BYTES_MAX: usize = 256;
/// How many blanks between the bracket and the name are skipped.
const BLANKS_MAX: usize = 8;

/// The edits that replace the brackets of all host tags in the text.
pub(super) fn edits(text: &str) -> Vec<Edit> {
    let mut edits = Vec::new();
    // A style sheet or a tag may be long, so everything before the last rule or `=` counts.
    let last_rule = LOADING_RULES.iter().filter_map(|rule| last_of(text, rule)).max();
    let last_equals = text.rfind('=');
    for (at, c) in text.char_indices().filter(|(_, c)| matches!(c, '<' | '[' | '＜' | '﹤')) {
        let from_here = text.get(at..).unwrap_or_default();
        if c == '[' {
            if MARKERS.iter().any(|marker| from_here.starts_with(marker)) {
                // An inserted blank makes the marker a different token, and the brackets stay balanced.
                edits.push(Edit { at, len: 1, with: "[ " });
            }
            continue;
        }
        let before = text.get(..at).unwrap_or_default();
        let rest = from_here.get(c.len_utf8()..).unwrap_or_default();
        let loads = (last_rule.is_some_and(|rule| at < rule) && is_style_sheet(rest))
            || (last_equals.is_some_and(|equals| at < equals) && loads_by_attribute(rest));
        if loads || is_host_tag(rest, before) {
            edits.push(Edit { at, len: c.len_utf8(), with: INERT_BRACKET });
        }
    }
    edits
}

/// The last place of an ASCII text, in lower or upper case.
fn last_of(text: &str, part: &str) -> Option<usize> {
    let mut parts = text.as_bytes().windows(part.len());
    parts.rposition(|window| window.eq_ignore_ascii_case(part.as_bytes()))
}

/// Whether a bracket before this text opens a `<style>` element.
fn is_style_sheet(rest: &str) -> bool {
    name(rest).is_some_and(|Name { name, rest }| {
        name.eq_ignore_ascii_case("style")
            && rest.starts_with(|c: char| c == '>' || c == '/' || c.is_ascii_whitespace())
    })
}

/// Whether a bracket before this text opens an element that loads a URL by an attribute, and has one. An `<input>` loads
/// only an image.
fn loads_by_attribute(rest: &str) -> bool {
    name(rest).is_some_and(|Name { name, rest }| {
        let attribute = rest.trim_ascii_start().trim_start_matches('/').trim_ascii_start();
        let lower = name.to_ascii_lowercase();
        let end = rest.bytes().take(TAG_BYTES_MAX).take_while(|byte| *byte != b'>').count();
        let is_image = || last_of(rest.get(..end).unwrap_or(rest), "image").is_some();
        LOADING_BY_ATTRIBUTE.contains(&lower.as_str())
            && (lower != "input" || is_image())
            && attribute.len() < rest.len()
            && attribute.starts_with(|c: char| c.is_ascii_alphabetic())
    })
}

/// Whether a bracket opens a host tag; `before` and `rest` are the text around it.
fn is_host_tag(rest: &str, before: &str) -> bool {
    // Special tokens, in the usual spelling and with a full-width bar. `f <| x` is an operator.
    if let Some(token) = rest.strip_prefix('|') {
        return token.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    }
    if rest.starts_with('｜') {
        return true;
    }
    let (blank, rest) = without_blanks(rest);
    let (closes, rest) = rest.strip_prefix('/').map_or((false, rest), |rest| (true, rest));
    let (inner_blank, rest) = without_blanks(rest);
    let Some(Name { name, rest }) = name(rest) else { return false };
    let lower = name.to_ascii_lowercase();
    // Types, headers and variables have no hyphen in their names, so this is not code.
    if lower.contains('-') && is_known(&lower) || names_host_tag(&lower) && ends_name(rest) {
        return true;
    }
    if blank || inner_blank || (!closes && is_include(before)) {
        return false;
    }
    let glued = !closes && before.ends_with(|c: char| c.is_alphanumeric() || "_:.".contains(c));
    if lower.contains(['-', '_', ':']) {
        return !glued && (is_known(&lower) || (lower == name && is_whole(rest)));
    }
    is_role(name, &lower, rest, glued)
}

/// Whether a one-word name is that of a host tag. `glued` means that it directly follows an identifier, as a type
/// argument does: `Vec<User>`.
fn is_role(name: &str, lower: &str, rest: &str, glued: bool) -> bool {
    // Some templates begin and end a text with `<s>` and `</s>`; `<S>` is a type.
    if name == "s" || name == "SYS" {
        return rest.starts_with('>') && !(glued && name == "SYS");
    }
    let is_type = name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.contains(|c: char| c.is_ascii_lowercase());
    // The name continues: it is that of a file, or a path.
    let goes_on = rest.starts_with('.') || (rest.starts_with('/') && !rest.starts_with("/>"));
    let named = LOADING.contains(&lower) || (ROLES.contains(&lower) && !goes_on);
    named && !(glued && is_type)
}

/// Whether the text ends with a C `#include`, whose file is in brackets.
fn is_include(before: &str) -> bool {
    let line = before.trim_end_matches([' ', '\t']);
    let directive = ["include", "include_next", "import"].iter();
    let hash = directive.filter_map(|word| line.strip_suffix(word)).next();
    hash.is_some_and(|line| line.trim_end_matches([' ', '\t']).ends_with('#'))
}

/// Whether a name of several words is that of a host tag.
fn names_host_tag(lower: &str) -> bool {
    lower.starts_with(HOST_PREFIX) || HOST_TAGS.contains(&lower)
}

/// Whether the text after the name of a host tag may belong to a tag: its end, or a word. In code an operator or a member
/// follows: `i<tool_calls.length`.
fn ends_name(rest: &str) -> bool {
    let next = rest.trim_start();
    let ends = next.is_empty() || next.starts_with(['>', '＞']) || next.starts_with("/>");
    ends || next.len() < rest.len() && next.starts_with(|c: char| c.is_alphanumeric())
}

/// Whether one of the words of a name is a known word of hosts.
fn is_known(lower: &str) -> bool {
    lower.split(['-', '_', ':']).any(|part| ROLES.contains(&part) || PARTS.contains(&part))
}

/// Whether the text after a name completes a tag: its end, or an attribute.
fn is_whole(rest: &str) -> bool {
    if rest.starts_with('>') || rest.starts_with("/>") {
        return true;
    }
    let attribute = rest.trim_start();
    let in_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':');
    let end = attribute.find(|c| !in_name(c)).unwrap_or(attribute.len());
    attribute.len() < rest.len()
        && end > 0
        && attribute.get(end..).is_some_and(|rest| rest.starts_with('='))
}

fn without_blanks(text: &str) -> (bool, &str) {
    let blanks =
        text.bytes().take(BLANKS_MAX).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    (blanks > 0, text.get(blanks..).unwrap_or_default())
}

/// A tag's name and the text after it.
struct Name<'a> {
    name: &'a str,
    rest: &'a str,
}

fn name(text: &str) -> Option<Name<'_>> {
    let in_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':');
    let end = text.bytes().take(NAME_BYTES_MAX).take_while(|byte| in_name(byte)).count();
    let (name, rest) = text.split_at_checked(end)?;
    // A path such as `std::string` is not a tag name.
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic()) && !name.contains("::");
    is_name.then_some(Name { name, rest })
}
