//! Limits of ghaps: goals with a hypothesis, an action and a prediction.

/// Characters of a goal, hypothesis, action or prediction; a longer one is refused.
pub const GHAP_TEXT_CHARS_MAX: usize = 1_000;
/// Characters of a note, a result, a surprise, the description of a root cause or a lesson; a longer one is refused.
pub const GHAP_LONG_CHARS_MAX: usize = 2_000;
/// Words that a hypothesis and a prediction need; with fewer the experience is bronze.
pub const GHAP_WORDS_MIN: usize = 3;
/// Earlier versions, notes and runs that a ghap has at most; the oldest are dropped.
pub const GHAP_HISTORY_MAX: usize = 100;
/// How long before its resolution a run of a ghap still counts.
pub const GHAP_EVIDENCE_MS: i64 = 30 * 60 * 1_000;
/// Characters of a command in the evidence; the rest is dropped.
pub const GHAP_COMMAND_CHARS_MAX: usize = 240;
/// Ghaps of one list: default and most.
pub const GHAPS_LISTED_DEFAULT: usize = 20;
pub const GHAPS_LISTED_MAX: usize = 100;
/// Experiences of one answer: default and most.
pub const EXPERIENCES_FOUND_DEFAULT: usize = 10;
pub const EXPERIENCES_FOUND_MAX: usize = 50;
/// Hits that a search for experiences reads: the index knows neither domain nor outcome.
pub const EXPERIENCE_HITS_READ: usize = 2_000;
/// Characters of a query for experiences; a longer one is refused.
pub const EXPERIENCE_QUERY_CHARS_MAX: usize = 10_000;
/// Milliseconds without an event after which the session of an active ghap counts as gone, if another session of the
/// project is active.
pub const GHAP_ORPHAN_MS: i64 = 30 * 60 * 1_000;
/// Tool calls after a text about a ghap within which an operation on the ghap counts as use of the text.
pub const GHAP_USE_CALLS: u64 = 10;
/// Tool calls between two reminders of an active ghap; the default of `should_check_in`, and its most.
pub const CHECK_IN_CALLS: u64 = 10;
pub const CHECK_IN_CALLS_MAX: u64 = 1_000;
