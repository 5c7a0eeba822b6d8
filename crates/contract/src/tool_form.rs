//! The forms in which an operation is listed as an MCP tool.

/// How much of a tool is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ToolForm {
    /// All of it.
    Whole,
    /// For `core`, which every agent pays for: without the advanced parameters (`OpInfo.advanced`), the output schema, and
    /// annotations that equal MCP's defaults. The tool accepts and returns the same as in its whole form.
    Short,
}
