//! Limits of sessions and of their declared context.

use std::time::Duration;

use super::in_this_build;

/// Bytes of the agent's own id of a session; a longer one is refused.
pub const SESSION_ID_BYTES_MAX: usize = 200;
/// Characters of a user's name for a session, and of its environment hint; a longer one is refused.
pub const SESSION_LABEL_CHARS_MAX: usize = 200;
pub const ENV_HINT_CHARS_MAX: usize = 1_024;
/// Items of one set, where further ones are dropped, and of all sets of a session, where more are refused.
pub const CONTEXT_SET_ITEMS_MAX: usize = 10;
pub const CONTEXT_ITEMS_MAX: usize = 50;
/// Characters of a set's name and of an item; a longer one is refused.
pub const CONTEXT_SET_NAME_CHARS_MAX: usize = 64;
pub const CONTEXT_ITEM_CHARS_MAX: usize = 1_024;
/// Characters of an item, other than a path, in the text for a resumed session.
pub const CONTEXT_ITEM_CHARS_SHOWN: usize = 200;
/// Characters that the context of a resumed session leaves for the title and the heading of a text.
pub const RESUME_ROOM: usize = 200;
/// Files that the status line of a session names, and characters of each name.
pub const FOOTER_FILES_MAX: usize = 5;
pub const FOOTER_NAME_CHARS_MAX: usize = 40;
/// How long the status line waits for stdin and the daemon. It leaves time for the start and the end of its process
/// within 150 ms.
pub const STATUS_LINE_DEADLINE: Duration = in_this_build(Duration::from_millis(120));
/// Bytes of an agent's JSON for its status line; the rest is not read, so that a longer one shows nothing.
pub const STATUS_LINE_BYTES_MAX: usize = 1024 * 1024;
/// Tokens of the text for an agent that takes over a session: least, default and most; others are refused.
pub const HANDOFF_TOKENS_MIN: usize = 200;
pub const HANDOFF_TOKENS_DEFAULT: usize = 1_500;
pub const HANDOFF_TOKENS_MAX: usize = super::INJECT_TOKENS_MAX;
/// Lines of the text for an agent that takes over: in effect, only its tokens are limited.
pub const HANDOFF_LINES_MAX: usize = HANDOFF_TOKENS_MAX;
/// An environment hint is left out of the handoff text if it has room for fewer characters than this.
pub const ENV_HINT_SHOWN_MIN: usize = 40;
/// Rows of the sections of the handoff text if other sections need the room.
pub const HANDOFF_DONE_MAX: usize = 10;
pub const HANDOFF_FAILED_MAX: usize = 6;
pub const HANDOFF_OPEN_MAX: usize = 6;
pub const HANDOFF_FILES_MAX: usize = 14;
pub const HANDOFF_DECISIONS_MAX: usize = 8;
/// Characters of a task in the list of results.
pub const HANDOFF_TASK_CHARS: usize = 90;
/// Characters of the answer of a turn without a commit.
pub const HANDOFF_ANSWER_CHARS: usize = 400;
/// The newest prompts, answers and records of each other kind of the session that are read for the handoff text.
pub const HANDOFF_READ_TALK: usize = 200;
pub const HANDOFF_READ_WORK: usize = 400;
/// The first prompts of the session that are read for its first task. Sessions often begin with small talk.
pub const HANDOFF_READ_FIRST: usize = 20;
/// Calls of our own tools whose session is remembered until they arrive over MCP; the oldest is dropped first.
pub const TOOL_CALLS_KEPT: usize = 256;
/// Fewest characters of a session's id that name the session by prefix. A shorter text has to be the whole id.
pub const SESSION_PREFIX_CHARS_MIN: usize = 6;
/// Sessions that the error for an ambiguous prefix lists.
pub const SESSION_CANDIDATES_LISTED: usize = 5;
/// Characters of a session's id in a table, or more if several sessions of the table share them.
pub const SESSION_ID_CHARS_SHOWN: usize = 8;
/// Time between two attempts of a stdio server to find a daemon for its client's subscriptions, after a user stopped the
/// last one.
pub const PRIMARY_RETRY: Duration = Duration::from_millis(500);
/// Sessions on a page of a viewer, unless it asks for another number, and at most.
pub const SESSION_ROWS_DEFAULT: usize = 200;
pub const SESSION_ROWS_MAX: usize = 1_000;
/// Sessions that a search by characters reads at a time.
pub const SESSIONS_MATCHED: usize = 500;
/// Records of one page of `activity`: the default, and the most.
pub const ACTIVITY_DEFAULT: usize = 50;
pub const ACTIVITY_MAX: usize = 200;
/// Ids that one page of `activity` with `after_id` looks at; the next page continues after them.
pub const ACTIVITY_GAP_MAX: i64 = 20_000;
/// The most records in one message about new activity; its `count` is the number of all new records.
pub const ACTIVITY_PUSHED_MAX: usize = 50;
/// Shortest time between two messages of a feed that is read from the store after commits.
pub const FEED_PULL_INTERVAL: Duration = Duration::from_millis(250);
