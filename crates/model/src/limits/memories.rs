//! Limits of memories: texts that an agent or a user asks to store.

/// Characters of a memory's content, and of a query for memories; a longer one is refused.
pub const MEMORY_CHARS_MAX: usize = 10_000;
/// Tags of a memory, and characters of each; more are refused.
pub const MEMORY_TAGS_MAX: usize = 20;
pub const MEMORY_TAG_CHARS_MAX: usize = 50;
/// Memories that one call may supersede; more are refused.
pub const MEMORY_SUPERSEDES_MAX: usize = 20;
/// Memories of one answer: default and most.
pub const MEMORIES_FOUND_DEFAULT: usize = 10;
pub const MEMORIES_FOUND_MAX: usize = 100;
/// Memories of one list: default and most.
pub const MEMORIES_LISTED_DEFAULT: usize = 50;
pub const MEMORIES_LISTED_MAX: usize = 200;
/// Similar memories that the answer to a new one names.
pub const MEMORIES_SIMILAR_MAX: usize = 3;
/// Hits that a search with a filter on categories or importance reads: the index has neither.
pub const MEMORY_HITS_READ: usize = 2_000;
/// Superseded memories before one that are followed; a longer chain ends there.
pub const MEMORY_CHAIN_MAX: usize = 1_000;
