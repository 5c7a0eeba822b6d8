//! What rendering may cost: steps, and bytes of whatever is made.

use model::limits;
use serde_json::Value;

use super::error::TemplateError;

pub(super) struct Budget {
    steps: usize,
}

impl Budget {
    pub(super) fn new() -> Budget {
        Budget { steps: limits::HINT_RENDER_STEPS_MAX }
    }

    pub(super) fn spend(&mut self, steps: usize) -> Result<(), TemplateError> {
        self.steps = self
            .steps
            .checked_sub(steps)
            .ok_or(TemplateError::Steps { max: limits::HINT_RENDER_STEPS_MAX })?;
        Ok(())
    }

    /// Pays for bytes that are looked at, copied or made.
    pub(super) fn spend_bytes(&mut self, bytes: usize) -> Result<(), TemplateError> {
        self.spend(1 + bytes / limits::HINT_RENDER_BYTES_PER_STEP)
    }

    /// Pays for a text before it is made.
    pub(super) fn spend_text(&mut self, bytes: usize) -> Result<(), TemplateError> {
        check_length(bytes)?;
        self.spend_bytes(bytes)
    }

    /// Pays for a walk through the whole value.
    pub(super) fn spend_value(&mut self, value: &Value) -> Result<(), TemplateError> {
        self.spend_bytes(weight(value))
    }
}

/// No text is longer than what may come out in the end.
pub(super) fn check_length(bytes: usize) -> Result<(), TemplateError> {
    let max = limits::HINT_RENDER_OUTPUT_BYTES_MAX;
    if bytes <= max { Ok(()) } else { Err(TemplateError::Length { max }) }
}

/// About how many bytes a value is.
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
