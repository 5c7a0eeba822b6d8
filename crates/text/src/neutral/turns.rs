//! Lines that look like the next turn of a conversation: `Human:` or `Assistant:` after an empty line, and headings such
//! as `### System:`. Some models were trained on transcripts of this form.
//!
//! The colon is replaced. An ordinary line such as `user: root` in a configuration file is kept, because before it there
//! is no empty line, or its name is in lower case.

use super::{Edit, INERT_COLON};

/// Names of speakers that begin a turn after an empty line.
const SPEAKERS: &[&str] = &["Human", "Assistant", "System"];
/// Names in headings that begin a part of a prompt, in lower case.
const HEADINGS: &[&str] =
    &["system", "instruction", "instructions", "human", "user", "assistant", "response"];
/// Longest line beginning that is read, in bytes.
const HEAD_BYTES_MAX: usize = 32;

/// The edits that replace the colons of such lines.
pub(super) fn edits(text: &str) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut start = 0;
    let mut after_empty_line = false;
    for line in text.split_inclusive('\n') {
        if let Some(colon) = colon(line, after_empty_line) {
            edits.push(Edit { at: start + colon, len: 1, with: INERT_COLON });
        }
        after_empty_line = line.trim_ascii().is_empty();
        start += line.len();
    }
    edits
}

/// The offset of the colon after a speaker in this line.
fn colon(line: &str, after_empty_line: bool) -> Option<usize> {
    let colon = line.bytes().take(HEAD_BYTES_MAX).position(|byte| byte == b':')?;
    let head = line.get(..colon)?.trim_ascii();
    let heading = head.trim_start_matches('#');
    if heading.len() < head.len() {
        let name = heading.trim_ascii().to_ascii_lowercase();
        return HEADINGS.contains(&name.as_str()).then_some(colon);
    }
    (after_empty_line && SPEAKERS.contains(&head)).then_some(colon)
}
