//! The memory that a caller names: by its UUID, by its path, or, for a user, by the first characters of its id.

use contract::{Cx, OpError};
use model::{limits, memory};
use store::memories as stored;
use store::sessions::SessionIdForm;

use super::store_memory::unknown;

/// The id of the memory that is named in this parameter. A whole id is not looked up: there may be no such memory.
pub(super) fn id(cx: &Cx<'_>, param: &str, given: &str) -> Result<String, OpError> {
    let whole = memory::read_id(param, given);
    let prefix = given.strip_prefix("memory://").unwrap_or(given).to_ascii_lowercase();
    let is_prefix = prefix.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    if whole.is_ok() || !is_prefix || cx.caller.session_id_form() == SessionIdForm::Whole {
        return whole;
    }
    let least = limits::MEMORY_PREFIX_CHARS_MIN;
    if prefix.len() < least {
        let message =
            format!("'{prefix}' is too short: a prefix of an id has at least {least} characters");
        return Err(OpError::invalid(param, message).hint("`list_memories` lists the ids."));
    }
    let listed = limits::MEMORY_CANDIDATES_LISTED;
    let (found, count) = cx.store.read(|rx| stored::with_prefix(rx, &prefix, listed))?;
    match found.as_slice() {
        [] => Err(unknown(&prefix)),
        [only] => Ok(only.uuid.clone()),
        several => {
            let candidate = |one: &stored::Memory| {
                let content = text::one_line(&one.content, limits::MEMORY_CANDIDATE_CHARS);
                format!("{} ({content})", one.uuid)
            };
            let listed: Vec<String> = several.iter().map(candidate).collect();
            let more = match count.saturating_sub(several.len()) {
                0 => String::new(),
                more => format!("; and {more} more"),
            };
            let message = format!("the ids of {count} memories begin with '{prefix}'");
            let hint = format!("Give more characters of the id: {}{more}.", listed.join("; "));
            Err(OpError::invalid(param, message).hint(hint))
        }
    }
}

/// The id of a memory to delete. A user must have seen which one it is, so a prefix deletes nothing.
pub(super) fn whole_id(cx: &Cx<'_>, param: &str, given: &str) -> Result<String, OpError> {
    let whole = memory::read_id(param, given);
    if whole.is_ok() {
        return whole;
    }
    let found = id(cx, param, given)?;
    let shown = text::one_line(given, limits::PREVIEW_CHARS);
    let message = format!("nothing was deleted: '{shown}' is only a prefix of the id {found}");
    Err(OpError::invalid(param, message).hint("Give the whole id to delete that memory."))
}
