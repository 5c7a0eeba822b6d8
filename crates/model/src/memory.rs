//! Memories: texts that an agent or a user asks to store, each with a category, an importance and tags.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{OpError, limits};

macro_rules! categories {
    ($($variant:ident $word:literal,)*) => {
        /// The kind of statement that a memory is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "lowercase")]
        pub enum MemoryCategory { $($variant,)* }

        impl MemoryCategory {
            pub fn word(self) -> &'static str {
                match self { $(MemoryCategory::$variant => $word,)* }
            }

            pub fn parse(word: &str) -> Option<MemoryCategory> {
                match word { $($word => Some(MemoryCategory::$variant),)* _ => None }
            }
        }
    };
}

categories! {
    Preference "preference",
    Fact "fact",
    Event "event",
    Workflow "workflow",
    Context "context",
    Error "error",
    Decision "decision",
}

/// Whether a memory is current (`stored`), or a newer one superseded it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MemoryStatus {
    Stored,
    Superseded,
}

/// Refuses a content that is blank or too long.
pub fn check_content(content: &str) -> Result<(), OpError> {
    if text::is_blank(content) {
        return Err(OpError::invalid("content", "the content is blank")
            .hint("Give the sentence to remember."));
    }
    check_length("content", content, limits::MEMORY_CHARS_MAX)
}

/// Refuses a query that is too long.
pub fn check_query(query: &str) -> Result<(), OpError> {
    check_length("query", query, limits::MEMORY_CHARS_MAX)
}

/// Refuses an importance outside of 0 to 1.
pub fn check_importance(param: &str, importance: f64) -> Result<(), OpError> {
    match (0.0..=1.0).contains(&importance) {
        true => Ok(()),
        false => Err(OpError::invalid(
            param,
            format!("`{param}` is {importance}, which is not between 0 and 1"),
        )),
    }
}

/// Refuses tags that are blank, too long or too many.
pub fn check_tags(tags: &[String]) -> Result<(), OpError> {
    let max = limits::MEMORY_TAGS_MAX;
    if tags.len() > max {
        let message = format!("{} tags are more than {max}", tags.len());
        return Err(OpError::invalid("tags", message).with("max", max));
    }
    for tag in tags {
        if tag.trim().is_empty() {
            return Err(OpError::invalid("tags", "a tag is blank"));
        }
        let max = limits::MEMORY_TAG_CHARS_MAX;
        if tag.chars().nth(max).is_some() {
            let message = format!("a tag has more than {max} characters");
            return Err(OpError::invalid("tags", message).with("max", max));
        }
    }
    Ok(())
}

/// Refuses a text with more than this many characters.
fn check_length(param: &str, text: &str, max: usize) -> Result<(), OpError> {
    if text.chars().nth(max).is_none() {
        return Ok(());
    }
    let message = format!("`{param}` has more than {max} characters");
    Err(OpError::invalid(param, message).with("max", max))
}

/// The id of a memory in its usual form, from an id or a `memory://` path.
pub fn read_id(param: &str, given: &str) -> Result<String, OpError> {
    let id = given.strip_prefix("memory://").unwrap_or(given).to_ascii_lowercase();
    let fits = |(place, byte): (usize, u8)| match place {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    if id.len() == 36 && id.bytes().enumerate().all(fits) {
        return Ok(id);
    }
    Err(OpError::invalid(param, format!("`{param}` is not the id of a memory, which is a UUID"))
        .hint("`list_memories` lists the ids."))
}

/// The UUID (version 4) of these random bytes.
pub fn id_of(mut bytes: [u8; 16]) -> String {
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let mut id = String::with_capacity(36);
    for (place, byte) in bytes.into_iter().enumerate() {
        if matches!(place, 4 | 6 | 8 | 10) {
            id.push('-');
        }
        id.push_str(&format!("{byte:02x}"));
    }
    id
}

/// The path of a memory as an entry.
pub fn path(id: &str) -> String {
    format!("memory://{id}")
}

/// Whether an agent loads the files of this source itself, so that it knows a memory from there already. A file that
/// several agents load has several sources, joined by `+`.
pub fn is_loaded_by(source: &str, agent: &str) -> bool {
    let agents = |source: &str| -> &[&str] {
        match source {
            "claude-md" => &["claude-code", "opencode", "cursor"],
            "claude-memory" => &["claude-code"],
            "agents-md" => &["codex", "opencode", "cursor"],
            "codex-memory" => &["codex"],
            "gemini-md" => &["gemini-cli"],
            _ => &[],
        }
    };
    source.split('+').any(|source| agents(source).contains(&agent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_uuid_and_is_read_in_any_case_and_from_a_path() {
        let id = id_of([0xff; 16]);
        assert_eq!(id, "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert_eq!(read_id("memory_id", &id).unwrap(), id);
        assert_eq!(read_id("memory_id", &id.to_uppercase()).unwrap(), id);
        assert_eq!(read_id("memory_id", &path(&id)).unwrap(), id);
        for odd in ["", "7", "memory://", "ffffffff-ffff-4fff-bfff-fffffffffffg", &id[1..]] {
            assert_eq!(read_id("memory_id", odd).unwrap_err().details["param"], "memory_id");
        }
    }

    #[test]
    fn limits_count_characters_and_name_their_number() {
        assert!(check_content(&"ü".repeat(limits::MEMORY_CHARS_MAX)).is_ok());
        let error = check_content(&"ü".repeat(limits::MEMORY_CHARS_MAX + 1)).unwrap_err();
        assert!(error.message.contains("10000"), "{error:?}");
        assert!(check_content(" \n\t").is_err());
        let tags = |count: usize, chars: usize| vec!["é".repeat(chars); count];
        assert!(check_tags(&tags(20, 50)).is_ok());
        assert!(check_tags(&tags(21, 1)).unwrap_err().message.contains("20"));
        assert!(check_tags(&tags(1, 51)).unwrap_err().message.contains("50"));
        assert!(check_tags(&[" ".to_owned()]).is_err());
        assert!(check_importance("importance", 1.0).is_ok());
        assert!(check_importance("importance", 1.01).is_err());
    }
}
