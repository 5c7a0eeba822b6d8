//! The settings of hints, and how they apply to a call.

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
        doc: "The maximum number of hints.",
    },
    ConfigKey {
        key: DEFAULT_TTL,
        kind: ConfigKind::Lifetime,
        default: "session",
        env: &["REKINDLE_DEFAULT_TTL", "NUDGE_DEFAULT_TTL"],
        doc: "Lifetime of a hint that is stored without a TTL: session, forever, or a duration such as PT2H. \
              Unless this is set, hints set on the command line are kept forever.",
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
        doc: "Whether hooks show an agent the hints about a command when the command is about to run or has failed.",
    },
];

/// The settings for writing a hint.
#[derive(Clone)]
pub(crate) struct HintSettings {
    pub(crate) max: usize,
    pub(crate) guard: bool,
    /// Whether this caller may store a credential that is marked as secret.
    pub(crate) may_store_secrets: bool,
    default_ttl: Ttl,
}

impl HintSettings {
    /// The settings for a hint that a user typed: it is permanent unless the user set a default.
    pub(crate) fn of_typed(config: &Config, tier: Tier) -> HintSettings {
        let settings = HintSettings::of(config, tier);
        match config.is_set(DEFAULT_TTL) {
            true => settings,
            false => HintSettings { default_ttl: Ttl::Forever, ..settings },
        }
    }

    pub(crate) fn of(config: &Config, tier: Tier) -> HintSettings {
        // An invalid value was reported when it was set.
        let default_ttl = Ttl::parse(config.text(DEFAULT_TTL)).unwrap_or_default();
        let max = usize::try_from(config.integer(MAX)).unwrap_or(limits::HINTS_MAX);
        let guard = config.boolean(SECRET_GUARD);
        // A text that the agent has read (prompt injection) may make it store a secret where others can read it.
        let is_agent = matches!(tier, Tier::Agent | Tier::Hook);
        let may_store_secrets = !guard || !is_agent || config.boolean(AGENTS_MAY_STORE_SECRETS);
        HintSettings { max, guard, may_store_secrets, default_ttl }
    }

    /// Writes the default lifetime into a hint without one. The built-in default, `session`, is not written.
    pub(crate) fn complete(&self, meta: &mut HintMeta) {
        if meta.ttl.is_none() && self.default_ttl != Ttl::Session {
            meta.ttl = Some(self.default_ttl.clone());
        }
    }
}
