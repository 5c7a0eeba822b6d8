//! Limits of memories: texts that an agent or a user asks to store.

/// Characters of a memory's content, and of a query for memories; a longer one is refused. Content from a file is cut.
pub const MEMORY_CHARS_MAX: usize = 10_000;
/// Tags of a memory, and characters of each; more are refused.
pub const MEMORY_TAGS_MAX: usize = 20;
pub const MEMORY_TAG_CHARS_MAX: usize = 50;
/// Memories that one call may supersede; more are refused.
pub const MEMORY_SUPERSEDES_MAX: usize = 20;
/// Memories of one answer: default and most.
pub const MEMORIES_FOUND_DEFAULT: usize = 10;
pub const MEMORIES_FOUND_MAX: usize = 100;
/// Fewest characters of a memory's id that name the memory by prefix, for a user.
pub const MEMORY_PREFIX_CHARS_MIN: usize = 6;
/// Memories that the error for an ambiguous prefix lists, and characters of each.
pub const MEMORY_CANDIDATES_LISTED: usize = 5;
pub const MEMORY_CANDIDATE_CHARS: usize = 40;
/// Memories of one list: default and most.
pub const MEMORIES_LISTED_DEFAULT: usize = 50;
pub const MEMORIES_LISTED_MAX: usize = 200;
/// Similar memories that the answer to a new one names.
pub const MEMORIES_SIMILAR_MAX: usize = 3;
/// Memories, the nearest ones, that a new one is compared with.
pub const MEMORIES_COMPARED: usize = 6;
/// Hits that a search with a filter on categories or importance reads: the index has neither.
pub const MEMORY_HITS_READ: usize = 2_000;
/// Superseded memories that are followed from one to its successor; a longer chain ends there.
pub const MEMORY_CHAIN_MAX: usize = 1_000;
/// Tokens of a text about a question: least, default and most; others are refused.
pub const CONTEXT_TOKENS_MIN: usize = 100;
pub const CONTEXT_TOKENS_DEFAULT: usize = 1_500;
pub const CONTEXT_TOKENS_MAX: usize = 10_000;
/// Items of each type in a text about a question: default and most.
pub const CONTEXT_TYPE_ITEMS_DEFAULT: usize = 10;
pub const CONTEXT_TYPE_ITEMS_MAX: usize = 50;
/// Rows of each section of a text about past failures. The strategies of a domain are few, and all are shown.
pub const PREMORTEM_ROWS_MAX: usize = 5;
/// Learned items of each kind that are compared with a prompt, and those that are shown.
pub const PROMPT_ITEMS_READ: usize = 40;
pub const PROMPT_ITEMS_MAX: usize = 5;
