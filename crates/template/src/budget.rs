//! The budget of rendering: steps, and bytes of intermediate texts.

use model::limits;
use serde_json::Value;

use super::error::TemplateError;

pub(super) struct RenderBudget {
    steps: usize,
}

impl RenderBudget {
    pub(super) fn new() -> RenderBudget {
        RenderBudget { steps: limits::HINT_RENDER_STEPS_MAX }
    }

    pub(super) fn spend(&mut self, steps: usize) -> Result<(), TemplateError> {
        self.steps = self
            .steps
            .checked_sub(steps)
            .ok_or(TemplateError::Steps { max: limits::HINT_RENDER_STEPS_MAX })?;
        Ok(())
    }

    /// Charges for bytes that are read, copied or written.
    pub(super) fn spend_bytes(&mut self, bytes: usize) -> Result<(), TemplateError> {
        self.spend(1 + bytes / limits::HINT_RENDER_BYTES_PER_STEP)
    }

    /// Charges for a text before it is created.
    pub(super) fn spend_text(&mut self, bytes: usize) -> Result<(), TemplateError> {
        check_length(bytes)?;
        self.spend_bytes(bytes)
    }

    /// Charges for a traversal of the whole value.
    pub(super) fn spend_value(&mut self, value: &Value) -> Result<(), TemplateError> {
        self.spend_bytes(weight(value))
    }
}

/// Refuses a text that is longer than the output may be.
pub(super) fn check_length(bytes: usize) -> Result<(), TemplateError> {
    let max = limits::HINT_RENDER_OUTPUT_BYTES_MAX;
    if bytes <= max { Ok(()) } else { Err(TemplateError::Length { max }) }
}

/// The approximate size of a value in bytes.
pub(super) fn weight(value: &Value) -> usize {
    const PLAIN: usize = 16;
    PLAIN
        + match value {
            Value::String(text) => text.len(),
            Value::Array(items) => items.iter().map(weight).sum(),
            Value::Object(members) => {
                members.iter().map(|(name, value)| name.len() + weight(value)).sum()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        }
}
