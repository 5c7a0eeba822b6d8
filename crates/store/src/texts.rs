//! The texts of a record as the secret guard reads and replaces them.

use serde_json::Value;
use text::secrets::Redacted;

/// The stored texts of one record.
#[derive(Clone, Debug, PartialEq)]
pub struct Texts {
    pub id: i64,
    /// The session's id in the store, whose summary may repeat these texts; 0 for a record in no session.
    pub session: i64,
    pub content: String,
    pub file_path: Option<String>,
    pub metadata: Option<Value>,
}

/// The texts that replace those of a record.
#[derive(Clone, Debug)]
pub struct Replacement {
    pub content: Redacted<String>,
    pub file_path: Option<Redacted<String>>,
    pub metadata: Option<Redacted<Value>>,
}
