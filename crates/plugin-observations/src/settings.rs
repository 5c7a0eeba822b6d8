//! The configuration keys of observations, and their values for ingesting events.

use contract::config::days_by_type;
use contract::{Config, ConfigKey, ConfigKind};
use store::observations::Folding;
use store::retention::Rules;

pub(crate) const ANSWERS: &str = "capture.answers";
const FOLD: &str = "observations.fold";
pub(crate) const OTHER_PROJECTS: &str = "briefing.other_projects";
pub(crate) const AT_PROMPTS: &str = "briefing.at_prompts";
const RETENTION: &str = "retention.enabled";
const RETENTION_DAYS: &str = "retention.days";
const RETENTION_MB: &str = "retention.max_mb";

pub(crate) const KEYS: &[ConfigKey] = &[
    ConfigKey {
        key: ANSWERS,
        kind: ConfigKind::Boolean,
        default: "true",
        env: &["REKINDLE_CAPTURE_ANSWERS"],
        doc: "Whether the agent's final message of each turn is stored, redacted and shortened. A change takes effect when the daemon starts again.",
    },
    ConfigKey {
        key: FOLD,
        kind: ConfigKind::Duration,
        default: "300s",
        env: &["REKINDLE_FOLD"],
        doc: "Reads of one file, or equal searches, within this time become one record; 0s stores each of them.",
    },
    ConfigKey {
        key: OTHER_PROJECTS,
        kind: ConfigKind::Boolean,
        default: "true",
        env: &["REKINDLE_BRIEFING_OTHER_PROJECTS"],
        doc: "Whether a briefing has a section about recent work in related projects.",
    },
    ConfigKey {
        key: AT_PROMPTS,
        kind: ConfigKind::Boolean,
        default: "true",
        env: &["REKINDLE_BRIEFING_AT_PROMPTS"],
        doc: "Whether the agent gets up to three earlier records of the project along with a prompt that they are about.",
    },
    ConfigKey {
        key: RETENTION,
        kind: ConfigKind::Boolean,
        default: "true",
        env: &[],
        doc: "Whether records past the age limit of their type are deleted automatically; pinned records stay.",
    },
    ConfigKey {
        key: RETENTION_DAYS,
        kind: ConfigKind::DaysByType,
        default: "",
        env: &[],
        doc: "Age limits in days that differ from the defaults, by type, such as file_read=30,command=365; 0 for no limit.",
    },
    ConfigKey {
        key: RETENTION_MB,
        kind: ConfigKind::Integer,
        default: "0",
        env: &[],
        doc: "Size of the used part of the database, in MiB, above which the oldest observations are deleted; 0 for no limit.",
    },
];

/// The settings that apply when an event is ingested.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    /// Whether the agents' answers are stored.
    pub(crate) answers: bool,
    pub(crate) folding: Folding,
    /// None if retention is off.
    pub(crate) retention: Option<Rules>,
}

impl Settings {
    pub(crate) fn of(config: &Config) -> Settings {
        let fold = i64::try_from(config.duration(FOLD).as_millis()).unwrap_or(i64::MAX);
        Settings {
            answers: config.boolean(ANSWERS),
            folding: Folding { reads_ms: fold },
            retention: config.boolean(RETENTION).then(|| rules(config)),
        }
    }
}

/// The retention rules, whether or not retention is on.
pub(crate) fn rules(config: &Config) -> Rules {
    Rules {
        days: days_by_type(config.text(RETENTION_DAYS)).unwrap_or_default(),
        bytes_max: config.integer(RETENTION_MB).saturating_mul(1024 * 1024),
    }
}
