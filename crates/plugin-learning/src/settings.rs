//! The settings of learning.

use contract::{ConfigKey, ConfigKind};

/// Whether hooks take part in learning.
pub(crate) const HOOKS: &str = "learning.hooks";

pub(crate) const KEYS: &[ConfigKey] = &[ConfigKey {
    key: HOOKS,
    kind: ConfigKind::Boolean,
    default: "true",
    env: &["REKINDLE_LEARNING_HOOKS"],
    doc: "Whether hooks count tool calls, record runs as evidence, and show reminders and experiences. The tools work \
          either way.",
}];
