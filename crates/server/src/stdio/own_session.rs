//! The session of a client that names none: the one whose ghap it started or adopted. Without this, its next call would get
//! the session that was active last, which may be that of another agent.

use serde_json::Value;

/// Tools whose reply names the session that the client works in from then on.
const BEGIN: [&str; 3] = ["start_ghap", "adopt_orphaned_ghap", "start_session"];

/// A fact about the client in one of its lines, or in the reply to the line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// It introduces itself with this name.
    Introduction(String),
    /// The reply names its session.
    OwnSession,
}

/// The request in a line that tells something about the client; `None` for most lines, which are not parsed.
pub(super) fn asked(line: &[u8]) -> Option<Asked> {
    let has = |word: &str| line.windows(word.len()).any(|part| part == word.as_bytes());
    if !has("\"initialize\"") && !BEGIN.iter().any(|tool| has(tool)) {
        return None;
    }
    let request: Value = serde_json::from_slice(line).ok()?;
    match request["method"].as_str()? {
        "initialize" => {
            let name = request["params"]["clientInfo"]["name"].as_str()?;
            Some(Asked::Introduction(name.to_owned()))
        }
        "tools/call" => {
            let tool = request["params"]["name"].as_str()?;
            BEGIN.contains(&tool).then_some(Asked::OwnSession)
        }
        _ => None,
    }
}

/// The session that the reply to a call of a tool in [`BEGIN`] names; none if the call failed.
pub(super) fn of_reply(reply: &str) -> Option<String> {
    let reply: Value = serde_json::from_str(reply).ok()?;
    let result = &reply["result"];
    if result["isError"] == true {
        return None;
    }
    // Older clients get the text only.
    let text = result["content"][0]["text"].as_str().map(serde_json::from_str::<Value>);
    let text = text.and_then(Result::ok).unwrap_or_default();
    let session = result["structuredContent"]["session_id"].as_str();
    session.or(text["session_id"].as_str()).filter(|id| !id.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_known_by_its_introduction_and_by_the_session_of_its_ghap() {
        let init =
            r#"{"id":1,"method":"initialize","params":{"clientInfo":{"name":"codex-mcp-client"}}}"#;
        assert_eq!(
            asked(init.as_bytes()),
            Some(Asked::Introduction("codex-mcp-client".to_owned()))
        );
        let call = |tool: &str| {
            let line = format!(r#"{{"id":1,"method":"tools/call","params":{{"name":"{tool}"}}}}"#);
            asked(line.as_bytes())
        };
        assert_eq!(call("start_ghap"), Some(Asked::OwnSession));
        assert_eq!(call("search"), None);
        let reply = r#"{"result":{"structuredContent":{"ok":true,"session_id":"s-1"}}}"#;
        assert_eq!(of_reply(reply), Some("s-1".to_owned()));
        let text = r#"{"result":{"content":[{"type":"text","text":"{\"session_id\":\"s-2\"}"}]}}"#;
        assert_eq!(of_reply(text), Some("s-2".to_owned()));
        let failed = r#"{"result":{"isError":true,"structuredContent":{"session_id":"s-1"}}}"#;
        assert_eq!(of_reply(failed), None);
    }
}
