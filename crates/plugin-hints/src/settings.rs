//! The settings of hints, and what they mean for a call.

use contract::{Config, ConfigKey, ConfigKind, Tier};
use model::hint::{HintMeta, Ttl};
use model::limits;

const MAX: &str = "hints.max";
const DEFAULT_TTL: &str = "hints.default_ttl";
const SECRET_GUARD: &str = "hints.secret_guard";
pub(crate) const AGENTS_MAY_STORE_SECRETS: &str = "hints.agents_may_store_secrets";
pub(crate) const JUST_IN_TIME: &str = "hints.just_in_time";

pub(crate) const KEYS: &[ConfigKey] = &[
    ConfigKey {
        key: MAX,
        kind: ConfigKind::Integer,
        default: "5000",
        env: &["REKINDLE_MAX_HINTS", "NUDGE_MAX_HINTS"],
        doc: "How many hints there may be in all.",
    },
    ConfigKey {
        key: DEFAULT_TTL,
        kind: ConfigKind::Lifetime,
        default: "session",
        env: &["REKINDLE_DEFAULT_TTL", "NUDGE_DEFAULT_TTL"],
        doc: "How long a hint lives that does not say: session, forever, or a duration such as PT2H. \
              Hints that a person types are kept for good unless this is set.",
    },
    ConfigKey {
        key: SECRET_GUARD,
        kind: ConfigKind::Boolean,
        default: "true",
        env: &["REKINDLE_SECRET_GUARD", "NUDGE_SECRET_GUARD"],
        doc: "Whether hints that look like credentials are refused.",
    },
    ConfigKey {
        key: AGENTS_MAY_STORE_SECRETS,
        kind: ConfigKind::Boolean,
        default: "false",
        env: &["REKINDLE_AGENTS_MAY_STORE_SECRETS"],
        doc: "Whether agents may store hints that look like credentials, marked as secret. People always may.",
    },
    ConfigKey {
        key: JUST_IN_TIME,
        kind: ConfigKind::Boolean,
        default: "true",
        env: &["REKINDLE_JUST_IN_TIME"],
        doc: "Whether an agent gets a hint when it is about to run the command that the hint is about, or when it fails.",
    },
];

/// The settings that matter while a hint is written.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) max: usize,
    pub(crate) guard: bool,
    /// Whether this caller may store a credential that is marked as one.
    pub(crate) may_store_secrets: bool,
    default_ttl: Ttl,
}

impl Settings {
    /// The settings for a person who typed the hint: it is kept for good unless the user set a default.
    pub(crate) fn of_typed(config: &Config, tier: Tier) -> Settings {
        let settings = Settings::of(config, tier);
        match config.is_set(DEFAULT_TTL) {
            true => settings,
            false => Settings { default_ttl: Ttl::Forever, ..settings },
        }
    }

    pub(crate) fn of(config: &Config, tier: Tier) -> Settings {
        // Whoever set it was told if it is none.
        let default_ttl = Ttl::parse(config.text(DEFAULT_TTL)).unwrap_or_default();
        let max = usize::try_from(config.integer(MAX)).unwrap_or(limits::HINTS_MAX);
        let guard = config.boolean(SECRET_GUARD);
        // A text that the agent has read (prompt injection) may make it store a secret where others will read it.
        let is_agent = matches!(tier, Tier::Agent | Tier::Hook);
        let may_store_secrets = !guard || !is_agent || config.boolean(AGENTS_MAY_STORE_SECRETS);
        Settings { max, guard, may_store_secrets, default_ttl }
    }

    /// Says how long the hint lives if it does not say so itself. What lives for a boot, as hints
    /// do by nature, is left as it was written.
    pub(crate) fn complete(&self, meta: &mut HintMeta) {
        if meta.ttl.is_none() && self.default_ttl != Ttl::Session {
            meta.ttl = Some(self.default_ttl.clone());
        }
    }
}
