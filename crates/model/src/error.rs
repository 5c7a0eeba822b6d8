//! The closed list of error codes, what each is on every surface, and the error itself.

use std::fmt;

use serde_json::{Map, Value, json};

/// Error codes for programs. The list is closed: every kind of failure maps to one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    Invalid,
    SecretRejected,
    ScopeInvalid,
    Unauthenticated,
    Forbidden,
    NotFound,
    Conflict,
    NotReady,
    TooLarge,
    Quota,
    Internal,
    Unavailable,
    Timeout,
    UnknownMethod,
}

/// How MCP shows an error of this code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum McpForm {
    /// A tool result with `isError`, which the model can read and act upon.
    ToolResult,
    /// A protocol error with this number.
    Protocol(i64),
}

/// One row of the mapping table.
#[derive(Clone, Copy, Debug)]
pub struct CodeRow {
    pub code: Code,
    pub word: &'static str,
    pub reason: &'static str,
    pub rpc: i64,
    pub http: u16,
    pub mcp: McpForm,
    pub exit: u8,
    pub when: &'static str,
}

const fn row(
    code: Code,
    word: &'static str,
    reason: &'static str,
    rpc: i64,
    http: u16,
    when: &'static str,
) -> CodeRow {
    CodeRow { code, word, reason, rpc, http, mcp: McpForm::ToolResult, exit: 1, when }
}

/// *The* mapping table: every surface takes its numbers from here.
pub const CODES: [CodeRow; 14] = [
    row(
        Code::Invalid,
        "invalid",
        "E_INVALID",
        40001,
        400,
        "a parameter is missing, unknown or wrong",
    ),
    row(
        Code::SecretRejected,
        "secret_rejected",
        "E_SECRET_REJECTED",
        40002,
        400,
        "the text looks like a credential",
    ),
    row(
        Code::ScopeInvalid,
        "scope_invalid",
        "E_SCOPE_INVALID",
        40003,
        400,
        "a glob or path is not allowed",
    ),
    row(
        Code::Unauthenticated,
        "unauthenticated",
        "E_UNAUTHENTICATED",
        40101,
        401,
        "the token is missing or wrong",
    ),
    row(Code::Forbidden, "forbidden", "E_FORBIDDEN", 40301, 403, "this caller may not do this"),
    row(Code::NotFound, "not_found", "E_NOT_FOUND", 40401, 404, "there is no such thing"),
    row(
        Code::Conflict,
        "conflict",
        "E_CONFLICT",
        40901,
        409,
        "the version differs or the name is taken",
    ),
    row(Code::NotReady, "not_ready", "E_NOT_READY", 40902, 409, "something must happen first"),
    row(Code::TooLarge, "too_large", "E_TOO_LARGE", 41301, 413, "over a size limit"),
    row(Code::Quota, "quota", "E_QUOTA", 42901, 429, "the store holds as many as it may"),
    row(Code::Internal, "internal", "E_INTERNAL", 50001, 500, "a defect; the log has the details"),
    row(
        Code::Unavailable,
        "unavailable",
        "E_UNAVAILABLE",
        50301,
        503,
        "the store or daemon cannot answer now",
    ),
    row(Code::Timeout, "timeout", "E_TIMEOUT", 50401, 504, "no answer before the deadline"),
    CodeRow {
        code: Code::UnknownMethod,
        word: "unknown_method",
        reason: "E_UNKNOWN_METHOD",
        rpc: -32601,
        http: 404,
        mcp: McpForm::Protocol(-32602),
        exit: 2,
        when: "no operation has this name",
    },
];

impl Code {
    /// This code's row in the table.
    pub fn row(self) -> &'static CodeRow {
        // The table is in declaration order, which a test asserts.
        &CODES[self as usize]
    }

    /// The code with this JSON-RPC number.
    pub fn from_rpc(number: i64) -> Option<Code> {
        CODES.iter().find(|row| row.rpc == number).map(|row| row.code)
    }
}

/// The one error of the contract: a code for programs, a message and a hint for people.
#[derive(Clone, Debug, PartialEq)]
pub struct OpError {
    pub code: Code,
    /// The failure and its object: lower case, no full stop.
    pub message: String,
    /// One sentence that says what to do next.
    pub hint: Option<String>,
    /// More facts for programs; they become members of `data`.
    pub details: Map<String, Value>,
}

impl OpError {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        OpError { code, message: message.into(), hint: None, details: Map::new() }
    }

    /// A bad parameter, named.
    pub fn invalid(param: &str, message: impl Into<String>) -> Self {
        let error = OpError::new(Code::Invalid, message);
        if param.is_empty() { error } else { error.with("param", param) }
    }

    /// The refusal of input with more bytes than this.
    pub fn over_size(what: &str, max: usize) -> Self {
        let size = text::size(max as u64);
        Self::new(Code::TooLarge, format!("{what} is over {size}"))
            .with("max", max)
            .hint(format!("Send at most {size}."))
    }

    /// The refusal of a parameter that the secret guard recognises by this rule.
    pub fn secret(param: &str, rule: &str) -> Self {
        Self::new(Code::SecretRejected, format!("{param} looks like a secret ({rule})"))
            .with("param", param)
            .with("rule", rule)
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        OpError::new(Code::NotFound, message)
    }

    /// The error of a call that needs something else to happen first. The type, such as `active_ghap_exists`, is
    /// `data.type`.
    pub fn not_ready(kind: &str, message: impl Into<String>) -> Self {
        OpError::new(Code::NotReady, message).with("type", kind)
    }

    pub fn unavailable(message: impl Into<String>) -> Self {
        OpError::new(Code::Unavailable, message)
    }

    pub fn internal(message: impl Into<String>) -> Self {
        OpError::new(Code::Internal, message)
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    /// The error object of the wire: `{"code", "message", "data": {"reason", …}}`.
    pub fn to_wire(&self) -> Value {
        let mut data = Map::new();
        data.insert("reason".into(), self.code.row().reason.into());
        if let Some(hint) = &self.hint {
            data.insert("hint".into(), hint.as_str().into());
        }
        data.extend(self.details.clone());
        json!({ "code": self.code.row().rpc, "message": self.message, "data": data })
    }

    /// The word for the kind of failure in [`OpError::to_typed`]: `data.type` if the error has one.
    pub fn type_word(&self) -> &str {
        let by_code = match self.code {
            Code::Invalid | Code::ScopeInvalid | Code::TooLarge => "validation_error",
            Code::NotFound => "not_found",
            Code::SecretRejected => "secret_rejected",
            Code::NotReady => "not_ready",
            _ => "internal_error",
        };
        self.details.get("type").and_then(Value::as_str).unwrap_or(by_code)
    }

    /// The error as tools with typed errors put it into their MCP text: `{"error": {"type", "message"}}`. The message
    /// includes the hint.
    pub fn to_typed(&self) -> Value {
        let message = match &self.hint {
            Some(hint) => format!("{}. {hint}", self.message),
            None => self.message.clone(),
        };
        json!({ "error": { "type": self.type_word(), "message": message } })
    }

    /// Reads an error object of the wire; an unknown number becomes `internal`.
    pub fn from_wire(error: &Value) -> Self {
        let number = error.get("code").and_then(Value::as_i64).unwrap_or(0);
        let message = error.get("message").and_then(Value::as_str).unwrap_or("no message");
        let code = Code::from_rpc(number).unwrap_or(match number {
            -32700 | -32600 | -32602 => Code::Invalid,
            _ => Code::Internal,
        });
        let mut details = error.get("data").and_then(Value::as_object).cloned().unwrap_or_default();
        details.remove("reason");
        let hint = match details.remove("hint") {
            Some(Value::String(hint)) => Some(hint),
            _ => None,
        };
        OpError { code, message: message.to_owned(), hint, details }
    }
}

impl fmt::Display for OpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for OpError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_declaration_order_and_has_no_number_twice() {
        for (index, row) in CODES.iter().enumerate() {
            assert_eq!(row.code as usize, index, "{}", row.word);
            assert_eq!(Code::from_rpc(row.rpc), Some(row.code));
        }
    }

    #[test]
    fn an_error_survives_the_wire() {
        let error =
            OpError::invalid("key", "the key is empty").hint("Give a key.").with("max", 200);
        assert_eq!(OpError::from_wire(&error.to_wire()), error);
    }

    #[test]
    fn a_typed_error_has_the_type_of_its_code_or_its_own_and_the_hint_in_the_message() {
        let typed = |error: OpError| {
            let typed = error.to_typed()["error"].take();
            let word = |member: &str| typed[member].as_str().unwrap_or_default().to_owned();
            (word("type"), word("message"))
        };
        let of = |code| typed(OpError::new(code, "no")).0;
        for code in [Code::Invalid, Code::ScopeInvalid, Code::TooLarge] {
            assert_eq!(of(code), "validation_error");
        }
        assert_eq!(of(Code::NotFound), "not_found");
        assert_eq!(of(Code::SecretRejected), "secret_rejected");
        assert_eq!(of(Code::NotReady), "not_ready");
        assert_eq!(of(Code::Internal), "internal_error");
        let active = OpError::not_ready("active_ghap_exists", "one is active").hint("Resolve it.");
        let expected = ("active_ghap_exists".to_owned(), "one is active. Resolve it.".to_owned());
        assert_eq!(typed(active), expected);
    }
}
