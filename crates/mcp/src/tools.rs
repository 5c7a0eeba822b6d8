//! The table of operations as MCP tools, and the reply of an operation as a tool's result.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use contract::{OpInfo, Operation, Table, ToolForm};
use model::error::McpForm;
use model::{OpError, Reply};
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, MetaObject, Tool};
use serde_json::json;

use crate::errors::protocol_error;

/// Tools by their names and forms.
type MadeTools = BTreeMap<(&'static str, ToolForm), Tool>;

/// Every operation an agent may call, as a tool in each form that is listed. Schemas are costly to make and never change in a
/// process, so they are made once.
#[derive(Default)]
pub(crate) struct Tools {
    made: OnceLock<Result<MadeTools, OpError>>,
}

impl Tools {
    /// The tools of these toolsets, by name.
    pub(crate) fn list(&self, table: &Table, toolsets: &str) -> Result<Vec<Tool>, OpError> {
        let made = self.made.get_or_init(|| {
            let listed = table.toolset("all")?.into_iter().chain(table.toolset("core")?);
            listed.map(|(op, form)| Ok(((op.info.name, form), tool(op, form)?))).collect()
        });
        let made = made.as_ref().map_err(OpError::clone)?;
        let shown = table.toolset(toolsets)?.into_iter();
        Ok(shown.filter_map(|(op, form)| made.get(&(op.info.name, form)).cloned()).collect())
    }
}

fn tool(op: &Operation, form: ToolForm) -> Result<Tool, OpError> {
    let mut tool: Tool = serde_json::from_value(op.as_tool(form)).map_err(|error| {
        OpError::internal(format!("{} is not a tool as MCP has them: {error}", op.info.name))
    })?;
    if op.info.upfront {
        // Some agents keep tools out of the prompt until they are searched for.
        let mut meta = MetaObject::default();
        meta.insert("anthropic/alwaysLoad".to_owned(), json!(true));
        tool.meta = Some(meta);
    }
    Ok(tool)
}

/// The form of an operation's error in the text of a tool's result.
#[derive(Clone, Copy, Default)]
pub(crate) enum ErrorText {
    /// The error object of JSON-RPC.
    #[default]
    Wire,
    /// `{"error": {"type", "message"}}`.
    Typed,
}

impl ErrorText {
    /// The form that an operation declares.
    pub(crate) fn of(info: &OpInfo) -> ErrorText {
        if info.typed_errors { ErrorText::Typed } else { ErrorText::Wire }
    }

    fn write(self, error: &OpError) -> String {
        match self {
            ErrorText::Wire => error.to_wire().to_string(),
            ErrorText::Typed => error.to_typed().to_string(),
        }
    }
}

/// An operation's reply as the result of a tool: JSON as structure, and as text the same JSON or the operation's own text.
pub(crate) fn result(
    reply: Reply,
    text: Option<String>,
    errors: ErrorText,
) -> Result<CallToolResult, ErrorData> {
    match reply {
        Ok(value) => {
            let mut result = CallToolResult::structured(value);
            if let Some(text) = text {
                result.content = vec![ContentBlock::text(text)];
            }
            Ok(result)
        }
        // Structured content would have to match the output schema, which an error does not.
        Err(error) if error.code.row().mcp == McpForm::ToolResult => {
            Ok(CallToolResult::error(vec![ContentBlock::text(errors.write(&error))]))
        }
        Err(error) => Err(protocol_error(&error)),
    }
}
