//! A short session as an agent's hooks report it: the data for the examples of the operations.

/// A prompt, an edit and a test run in `/home/you/web`; the ids of its records are 1 to 4.
pub(crate) const A_SESSION: &[(&str, &str)] = &[
    (
        "hook",
        r#"{"event":"UserPromptSubmit","at":1767261600000,"payload":{"session_id":"s-1","cwd":"/home/you/web","prompt":"Fix the login bug in the auth module"}}"#,
    ),
    (
        "hook",
        r#"{"event":"PostToolUse","at":1767261660000,"payload":{"session_id":"s-1","cwd":"/home/you/web","tool_name":"Edit","tool_use_id":"t-1","tool_input":{"file_path":"/home/you/web/src/auth.rs","old_string":"ttl = 0","new_string":"ttl = 3600 // tokens expired at once"},"tool_response":{}}}"#,
    ),
    (
        "hook",
        r#"{"event":"PostToolUse","at":1767261720000,"payload":{"session_id":"s-1","cwd":"/home/you/web","tool_name":"Bash","tool_use_id":"t-2","tool_input":{"command":"cargo test auth"},"tool_response":{"stdout":"test result: ok. 4 passed","stderr":""}}}"#,
    ),
    (
        "hook",
        r#"{"event":"Stop","at":1767261780000,"payload":{"session_id":"s-1","cwd":"/home/you/web"}}"#,
    ),
];
