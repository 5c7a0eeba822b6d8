//! The settings of learning.

use contract::{ConfigKey, ConfigKind};

/// Whether hooks take part in learning.
pub(crate) const HOOKS: &str = "learning.hooks";

/// Tokens of the learned items that a prompt gets.
pub(crate) const PROMPT_TOKENS: &str = "learning.prompt_tokens";

pub(crate) const KEYS: &[ConfigKey] = &[
    ConfigKey {
        key: HOOKS,
        kind: ConfigKind::Boolean,
        default: "true",
        env: &["REKINDLE_LEARNING_HOOKS"],
        doc: "Whether hooks count tool calls, record runs as evidence, and show reminders and experiences. The tools work \
              either way.",
    },
    ConfigKey {
        key: PROMPT_TOKENS,
        kind: ConfigKind::Integer,
        default: "1500",
        env: &["REKINDLE_LEARNING_PROMPT_TOKENS"],
        doc: "The most tokens of values, experiences and memories that a hook adds to a prompt.",
    },
];
