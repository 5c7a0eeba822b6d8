//! Why a template was not rendered.

use std::fmt;

use model::limits;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateError {
    /// The template does not parse; lines are counted from 1.
    Syntax { line: usize, why: String },
    /// Blocks and brackets are nested deeper than this.
    Nesting { max: usize },
    /// Rendering takes more steps than this.
    Steps { max: usize },
    /// The text, or a text on the way to it, has more bytes than this.
    Length { max: usize },
    /// Names that have no value.
    Missing(Vec<String>),
    /// The template requests an operation that its value does not support.
    Value(String),
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TemplateError::Syntax { line, why } => {
                write!(f, "the template does not parse, line {line}: {why}")
            }
            TemplateError::Nesting { max } => {
                write!(f, "the template is nested more than {max} deep")
            }
            TemplateError::Steps { max } => write!(f, "the template takes over {max} steps"),
            TemplateError::Length { max } => {
                write!(f, "the rendered text is over {}", text::size(*max as u64))
            }
            TemplateError::Missing(names) => {
                write!(f, "the template has no value for {}", names.join(", "))
            }
            TemplateError::Value(why) => write!(f, "the template cannot be rendered: {why}"),
        }
    }
}

impl std::error::Error for TemplateError {}

/// A template that does not parse at this byte of its text.
pub(crate) fn broken(text: &str, at: usize, why: impl AsRef<str>) -> TemplateError {
    let line = text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1;
    TemplateError::Syntax { line, why: why.as_ref().to_owned() }
}

/// An operation that a value does not support.
pub(crate) fn wrong(why: impl Into<String>) -> TemplateError {
    TemplateError::Value(why.into())
}

/// A part of the template for an error message.
pub(crate) fn shown(text: &str) -> String {
    text::one_line(text, limits::HINT_RENDER_WORD_CHARS_TOLD)
}

/// Refuses blocks and brackets that are nested deeper than the renderer follows.
pub(crate) fn check_nesting(depth: usize) -> Result<(), TemplateError> {
    let max = limits::HINT_RENDER_NESTING_MAX;
    if depth <= max { Ok(()) } else { Err(TemplateError::Nesting { max }) }
}
