//! An operation's error as an error of the protocol, for where MCP has no tool result to put it in.

use model::error::McpForm;
use model::{Code, OpError};
use rmcp::ErrorData;
use rmcp::model::ErrorCode;
use serde_json::Value;

/// The error with the number MCP has for it; its reason, hint and details are the data.
pub(crate) fn protocol_error(error: &OpError) -> ErrorData {
    let code = match (error.code.row().mcp, error.code) {
        (McpForm::Protocol(number), _) => {
            i32::try_from(number).map_or(ErrorCode::INTERNAL_ERROR, ErrorCode)
        }
        (_, Code::NotFound) => ErrorCode::RESOURCE_NOT_FOUND,
        (_, Code::Invalid | Code::ScopeInvalid) => ErrorCode::INVALID_PARAMS,
        _ => ErrorCode::INTERNAL_ERROR,
    };
    let data = error.to_wire().get_mut("data").map(Value::take);
    ErrorData::new(code, error.message.clone(), data)
}
