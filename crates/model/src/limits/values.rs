//! Limits of clusters of experiences and of the values drawn from them.

/// Experiences that a project needs on an axis before they are clustered; with fewer the call is not ready.
pub const CLUSTERED_MIN: usize = 20;
/// The newest experiences of a project that are clustered; older ones are left out.
pub const CLUSTERED_MAX: usize = 5_000;
/// How many of its most distinctive words a cluster shows.
pub const CLUSTER_WORDS: usize = 5;
/// Members of a cluster in one answer: default and most.
pub const CLUSTER_MEMBERS_DEFAULT: usize = 20;
pub const CLUSTER_MEMBERS_MAX: usize = 100;
/// Characters of a value; a longer one is refused.
pub const VALUE_CHARS_MAX: usize = 500;
/// The least similarity between a value and the lessons of its cluster; a value with less is refused.
pub const VALUE_SIMILARITY_MIN: f64 = 0.4;
/// Values of one list: default and most.
pub const VALUES_LISTED_DEFAULT: usize = 20;
pub const VALUES_LISTED_MAX: usize = 100;
