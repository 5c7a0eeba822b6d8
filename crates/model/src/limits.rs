//! Every bound of the system, named once. An error that a bound causes quotes its number.

mod connect;
mod evaluation;
mod failures;
mod ghaps;
mod import;
mod memories;
mod sessions;
mod values;

use std::time::Duration;

pub use connect::*;
pub use evaluation::*;
pub use failures::*;
pub use ghaps::*;
pub use import::*;
pub use memories::*;
pub use sessions::*;
pub use values::*;

/// A time limit, ten times as long in a build without optimisation: tests expect complete results on a machine that
/// may be slow and shared.
pub const fn in_this_build(time: Duration) -> Duration {
    if cfg!(debug_assertions) { time.saturating_mul(10) } else { time }
}

/// Bytes of an HTTP body; a larger one is refused. Only imports and hook events may use all of it.
pub const BODY_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes of a request that is neither an import nor a hook event; a larger one is refused.
pub const REQUEST_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Estimated memory of a parsed request, in bytes; a larger one is refused.
pub const JSON_TREE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Requests up to this size, in bytes, are parsed without an estimate of their memory.
pub const JSON_BYTES_LIGHT: usize = 256 * 1024;
/// Nesting depth that the JSON parser accepts; deeper JSON is refused.
pub const JSON_DEPTH_MAX: usize = 128;
/// Bytes of one WebSocket message; a longer one closes the connection.
pub const WS_MESSAGE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Bytes of one line on the unix socket or on stdin of `serve`; a longer one is refused, and the socket is closed.
pub const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Read buffer of one connection to the unix socket, in bytes.
pub const SOCKET_READ_AHEAD_BYTES: usize = 128 * 1024;
/// Members of one JSON-RPC batch; a larger batch is refused.
pub const BATCH_MAX: usize = 1_000;

/// Open connections of all surfaces, or fewer if fewer files may be open; at the limit the longest idle one is closed.
pub const CONNECTIONS_MAX: usize = 512;
/// Connections that are served even if only few files may be open.
pub const CONNECTIONS_MIN: usize = 8;
/// Open file limit that the daemon requests at its start.
pub const OPEN_FILES_WANTED: u64 = 4_096;
/// Open files that are reserved for the rest of the daemon: database and WAL of the writer and each
/// reader, log, locks, spool, backups, and connections that were evicted and are not closed yet.
pub const OPEN_FILES_RESERVED: usize = 64;
/// Requests of one WebSocket that run concurrently; a further one is read when one of them has ended.
pub const IN_FLIGHT_MAX: usize = 64;
/// Hook events of one connection to the unix socket that are processed concurrently; further ones wait unread.
pub const EVENTS_PENDING_MAX: usize = 256;
/// Hook events of one connection that are recorded as one batch.
pub const EVENT_BATCH_MAX: usize = 64;
/// Time for a WebSocket client, or a PROXY that follows updates, to read one message; a slower one is disconnected.
pub const REQUEST_RECEIVE: Duration = Duration::from_secs(30);
/// Time an operation may take unless it declares its own deadline; after it, the caller gets a `timeout`.
pub const OP_DEADLINE: Duration = Duration::from_secs(5);
/// Time for running requests to finish after a stop request. Together with [`STORE_BUSY`], which the last write may
/// wait, it stays under five seconds.
pub const DRAIN: Duration = Duration::from_millis(2_500);
/// Events waiting for one subscriber before it is dropped.
pub const SUBSCRIBER_QUEUE_MAX: usize = 1_024;
/// Notifications in the queue of one MCP client while its call runs. Progress reports are dropped while half of
/// the queue or more is full: the rest is for replies.
pub const NOTIFICATIONS_QUEUE_MAX: usize = 16;
/// Time between two notifications about the progress of one step of a job.
pub const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);
/// Subscriptions of one client at a time; a further one is refused.
pub const SUBSCRIPTIONS_PER_CLIENT_MAX: usize = 256;
/// Characters of an unknown feed's name in the error.
pub const FEED_NAME_CHARS_SHOWN: usize = 60;
/// Calls waiting for the worker pool; a further one is refused as `unavailable`.
pub const POOL_QUEUE_MAX: usize = 4_096;
/// Threads that run operations.
pub const POOL_THREADS: usize = 4;

/// Writes waiting for the writer thread; a further one is refused as `unavailable`.
pub const WRITE_QUEUE_MAX: usize = 4_096;
/// Writes that may share one transaction.
pub const WRITE_GROUP_MAX: usize = 512;
/// How long after its first write a transaction still accepts more.
pub const WRITE_GROUP_PATIENCE: Duration = Duration::from_millis(20);
/// Documents that are indexed in one batch.
pub const INDEX_BATCH: usize = 256;
/// Buckets of one answer of `activity_stats`: hours of a year, or days of 27 years. A call for more is refused.
pub const ACTIVITY_BUCKETS_MAX: usize = 10_000;
/// Tools, projects or agents in one answer of `activity_stats`, the most frequent ones.
pub const ACTIVITY_SHARES_MAX: usize = 50;
/// Unobserved sessions that are found by their own index and sorted; if there are more, a walk of all sessions by time
/// finds a page of them sooner.
pub const UNOBSERVED_SORTED_MAX: u64 = 1_000;
/// Record ids whose records are counted for statistics in one batch.
pub const COUNT_BATCH: i64 = 4_096;
/// From this many unindexed documents on, a job indexes them.
pub const INDEX_JOB_DOCUMENTS: u64 = 2_000;
/// From this many unindexed documents on, the writer indexes them after [`INDEX_PAUSE`] without a write; fewer wait
/// for [`INDEX_QUIET`].
pub const INDEX_AT: usize = 64;
/// How long the writer must be idle before it indexes a few documents.
pub const INDEX_QUIET: Duration = Duration::from_secs(1);
/// How long the writer must be idle before it indexes many documents. Within a burst of writes the gaps are shorter.
pub const INDEX_PAUSE: Duration = Duration::from_millis(20);
/// Documents that a check of the full-text index looks up: half of them spread evenly, the others at random, so that
/// repeated checks cover more.
pub const INDEX_PROBES: i64 = 64;
/// Passages per checked document whose words are looked up, so that long documents take no longer.
pub const INDEX_PROBE_PASSAGES: usize = 4;
/// The highest number of a passage or a record: searches store them in 32 bits. A higher one is damage.
pub const RECORD_NUMBER_MAX: i64 = u32::MAX as i64;
/// The highest record id that new ids may continue from, unless the id counter is higher. A higher id is damage, and
/// a repair replaces it. Half of the numbers up to [`RECORD_NUMBER_MAX`] remain for new records.
pub const RECORD_ID_MAX: i64 = 1 << 31;
/// The highest plausible value of the counter of record ids. A higher value is damage: numbers up to
/// [`RECORD_NUMBER_MAX`] would soon be used up. Ids then continue after the highest id of a record.
pub const RECORD_COUNTER_MAX: i64 = 3 << 30;
/// The latest time of a record, session or project, in milliseconds since 1970: the beginning of 2100. A later or
/// negative time is damage. A time ahead of the clock may just come from a wrong clock.
pub const RECORD_TIME_MAX_MS: i64 = 4_102_444_800_000;
/// The highest number of an event that JavaScript clients represent exactly. A higher one is damage.
pub const EVENT_NUMBER_MAX: u64 = 1 << 53;
/// Consecutive passage numbers that may be unused. The catalogue allocates memory for each of them, so a larger gap
/// counts as damage, and the index is rebuilt with new numbers.
pub const PASSAGE_GAP_MAX: i64 = 1 << 21;
/// How many times one process rebuilds a damaged full-text index; after that, a write that meets damage fails.
pub const INDEX_REBUILDS_MAX: usize = 3;
/// Unindexed documents, newest first, that a search scans even past its deadline.
pub const UNINDEXED_READ_MAX: usize = 5_000;
/// Unindexed documents that a search scans at most, before its deadline.
pub const UNINDEXED_MAX: usize = 100_000;
/// How long a search waits for the index to be complete.
pub const INDEX_PATIENCE: Duration = Duration::from_secs(2);
/// WAL pages from which on the checkpointer runs, beside the writer. A page that was written many times is copied once.
pub const WAL_PAGES: u32 = 24_000;
/// WAL pages from which on a COMMIT waits for a checkpoint.
pub const WAL_PAGES_MAX: u32 = 4 * WAL_PAGES;
/// The checkpointer also runs after this time without a write.
pub const WAL_QUIET: Duration = Duration::from_secs(3);
/// Bytes of the WAL file above which it is truncated when the writer is idle.
pub const WAL_BYTES_KEPT: u64 = 16 * 1024 * 1024;
/// Size that the WAL file may keep between writes: truncating it each time would make the disk allocate it again.
pub const WAL_BYTES_IN_USE: u64 = 128 * 1024 * 1024;
/// Time between two attempts to erase a deleted value from the WAL while a reader still needs the WAL.
pub const WAL_WIPE_RETRY: Duration = Duration::from_millis(50);
/// How long to wait for another process that holds the database's write lock.
pub const STORE_BUSY: Duration = Duration::from_secs(2);
/// Read connections of the daemon; a read waits up to [`OP_DEADLINE`] for a free one, then it is `unavailable`.
pub const READ_CONNECTIONS_MAX: usize = 4;
/// How long a stored answer is replayed for repeats of its call.
pub const CALL_MEMORY: Duration = Duration::from_secs(600);
/// Events that the store retains; older ones are deleted.
pub const EVENTS_KEPT: u64 = 10_000;
/// WAL pages from which on a one-shot command checkpoints while it runs. Only a long import gets there.
pub const ONE_SHOT_WAL_PAGES: u32 = 8_000;
/// A one-shot command checkpoints before it exits if the WAL has more bytes than this.
pub const ONE_SHOT_WAL_BYTES_MAX: u64 = 512 * 1024;

/// The hook exits within this time, with or without an answer.
pub const HOOK_DEADLINE: Duration = Duration::from_millis(1_000);
/// The hook's deadline for events before and after a tool call.
pub const HOOK_TOOL_DEADLINE: Duration = Duration::from_millis(150);
/// The hook's deadline for a prompt.
pub const HOOK_PROMPT_DEADLINE: Duration = Duration::from_millis(300);
/// How long the hook waits for the daemon's answer. The rest of its deadline is for the spool and, at a session's
/// start and at a prompt, for a read of the store: Codex kills the hook of a session's end after 1 s. Around a tool
/// call the hook waits for its whole deadline.
pub const HOOK_PATIENCE: Duration = Duration::from_millis(750);
/// How long the hook waits for the daemon's answer to a prompt.
pub const HOOK_PROMPT_PATIENCE: Duration = Duration::from_millis(200);
/// How long the hook waits for the first byte of an event.
pub const HOOK_STDIN_BEGIN: Duration = Duration::from_secs(5);
/// An incomplete event is dropped after this pause on stdin; of a large one, the part that has arrived is used.
pub const HOOK_STDIN_SILENCE: Duration = Duration::from_millis(1_000);
/// The longest that an event may take to arrive: about as long as an agent waits for a hook.
pub const HOOK_STDIN_MAX: Duration = Duration::from_secs(60);
/// How long the hook waits for the end of stdin after a complete event: closing the pipe while the agent still writes
/// would give it an error.
pub const HOOK_STDIN_END: Duration = Duration::from_millis(10);
/// Bytes of an event's name or of an id in it; a longer id is shortened with a fingerprint, a longer name is refused.
pub const HOOK_NAME_BYTES_MAX: usize = 200;
/// Bytes of stdin above which an event is dropped and logged.
pub const HOOK_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Minimum time between two attempts of hooks to start a daemon.
pub const HOOK_START_PAUSE: Duration = Duration::from_secs(30);
/// A partly written event in the spool is deleted at this age: its writer is gone.
pub const SPOOL_PART_AGE: Duration = Duration::from_secs(3_600);
/// A spool directory is trusted to be unchanged once its modification time is this old: file times are coarse.
pub const SPOOL_SETTLED: Duration = Duration::from_secs(1);
/// How long an incoming event waits while another thread drains the spool.
pub const SPOOL_TURN: Duration = Duration::from_millis(50);
/// How long a read waits for earlier events to be ingested from the spool.
pub const SPOOL_READ_PATIENCE: Duration = Duration::from_millis(200);
/// How long reads and sweeps do not retry the spool after the store refused its events; a write retries at once.
pub const SPOOL_RETRY: Duration = Duration::from_secs(1);
/// How far the time of an event may be ahead of the clock, in milliseconds: one day. A later time is reduced to
/// this, so that no event stays the newest for ever.
pub const EVENT_AHEAD_MAX_MS: i64 = 24 * 3_600_000;
/// How far ahead of the clock the last activity of a session may be, in milliseconds. If it is further ahead, the clock
/// was set back since.
pub const CLOCK_SLACK_MS: i64 = 60_000;
/// How long an event that could not be stored waits in the spool until the daemon retries it. The wait doubles
/// with each failure, up to the maximum.
pub const SPOOL_HELD_MIN: Duration = Duration::from_secs(2);
pub const SPOOL_HELD_MAX: Duration = Duration::from_secs(600);
/// Files of the spool that `doctor` names; the others are counted.
pub const SPOOL_NAMED_MAX: usize = 5;
/// Events in the spool, the newest ones, whose sender `doctor` determines; older ones are not read.
pub const SPOOL_HEARD_MAX: usize = 1_000;
/// Events that are ingested from the spool in one transaction.
pub const SPOOL_BATCH_MAX: usize = 500;
/// Events that are ingested from the spool in one transaction while an agent waits.
pub const SPOOL_BATCH_HURRIED: usize = 50;
/// How long the spool is drained while an agent waits.
pub const HOOK_SPOOL_PATIENCE: Duration = Duration::from_millis(400);

/// An event with more bytes than this is shortened while it is read.
pub const EVENT_BYTES_WHOLE: usize = 1024 * 1024;
/// A text with more bytes in a shortened event is reduced to its head and tail.
pub const EVENT_TEXT_BYTES_MAX: usize = 64 * 1024;
/// Bytes of the head, and of the tail, of a reduced text.
pub const EVENT_TEXT_HEAD_BYTES: usize = 4 * 1024;
/// Size of a shortened event in bytes. Members that extraction reads may take as much again.
pub const EVENT_SHORT_BYTES: usize = 768 * 1024;
/// Items of one list, or members of one object, in a shortened event.
pub const EVENT_ITEMS_MAX: usize = 1_000;
/// Values in a shortened event altogether.
pub const EVENT_VALUES_MAX: usize = 20_000;
/// Bytes of a member name or a number; a longer one is omitted from a shortened event.
pub const EVENT_NAME_BYTES_MAX: usize = 1_000;
/// Nesting depth of a shortened event. The call around it adds levels, and parsers refuse more than 128.
pub const EVENT_DEPTH_MAX: usize = 64;
/// Bytes of one captured text that are processed, from its start or its end; the rest is dropped.
pub const CAPTURED_BYTES_MAX: usize = 64 * 1024;
/// Bytes of an event that are searched for secret values after one was found, to redact their repetitions. Texts
/// past this bound are still redacted one by one.
pub const KNOWN_VALUES_BYTES_MAX: usize = 256 * 1024;
/// Characters of a prompt that are stored; the rest is dropped.
pub const PROMPT_CHARS_MAX: usize = 2_000;
/// Characters of an agent's answer that are stored: its beginning and its end. The middle of a longer answer is
/// omitted.
pub const ANSWER_HEAD_CHARS: usize = 3_000;
pub const ANSWER_TAIL_CHARS: usize = 1_000;
/// Lines of fenced code in an answer above which only their number is stored.
pub const ANSWER_CODE_LINES_MAX: usize = 10;
/// Characters of an observation's preview: a command, a query, a URL or a path. A longer one is cut.
pub const OBSERVED_CHARS_MAX: usize = 500;
/// Characters of an edit's preview, path included; a longer one is cut.
pub const OBSERVED_EDIT_CHARS_MAX: usize = 240;
/// Changed lines of an edit that are stored: the first ones.
pub const OBSERVED_EDIT_LINES: usize = 3;
/// Characters of a task that was given to a subagent; a longer one is cut.
pub const OBSERVED_TASK_CHARS_MAX: usize = 200;
/// Characters of an error's text; of a longer one, an excerpt is stored.
pub const OBSERVED_ERROR_CHARS_MAX: usize = 2_000;
/// Characters of the command line that an observation carries besides its preview; the rest is dropped.
pub const COMMAND_CHARS_MAX: usize = 4_000;
/// Characters of a path; a longer one is cut.
pub const PATH_CHARS_MAX: usize = 4_096;
/// Files that one observation names; further ones are dropped.
pub const OBSERVED_FILES_MAX: usize = 50;
/// Bytes of a command line that is split into commands; the rest is ignored.
pub const SHELL_LINE_BYTES_MAX: usize = 64 * 1024;
/// Nesting depth up to which commands inside commands are parsed; deeper ones are ignored.
pub const SHELL_DEPTH_MAX: usize = 16;

/// Bytes of a component or key name; a longer one is refused.
pub const HINT_NAME_BYTES_MAX: usize = 200;
/// Bytes of a hint's value as JSON; a larger one is refused.
pub const HINT_VALUE_BYTES_MAX: usize = 64 * 1024;
/// Bytes of a hint's reason; a longer one is refused.
pub const HINT_REASON_BYTES_MAX: usize = 2_000;
/// Tags of one hint; more are refused.
pub const HINT_TAGS_MAX: usize = 32;
/// Bytes of one tag; a longer one is refused.
pub const HINT_TAG_BYTES_MAX: usize = 100;
/// Components with hints; a hint of a further one is refused.
pub const HINT_COMPONENTS_MAX: usize = 500;
/// Hints of one component; a further one is refused.
pub const HINTS_PER_COMPONENT_MAX: usize = 200;
/// Hints in all, unless the setting `hints.max` says otherwise; a further one is refused.
pub const HINTS_MAX: usize = 5_000;
/// Bytes of the name of a hint's author; a longer one is refused.
pub const HINT_ADDED_BY_BYTES_MAX: usize = 200;
/// Members of one list of a hint's scope; more are refused.
pub const HINT_SCOPE_ITEMS_MAX: usize = 32;
/// Bytes of one glob or text of a hint's scope; a longer one is refused.
pub const HINT_SCOPE_TEXT_BYTES_MAX: usize = 500;
/// The longest duration of a hint, in milliseconds; a longer one is refused. `forever` has no limit.
pub const HINT_TTL_MS_MAX: i64 = 36_500 * 86_400_000;
/// Hints that one query returns at most; a higher limit is reduced.
pub const HINT_QUERY_MAX: usize = 1_000;
/// Hints that a query returns unless it asks for another number.
pub const HINT_QUERY_DEFAULT: usize = 10;
/// Bytes of the regex of a query; a longer one is refused.
pub const HINT_REGEX_BYTES_MAX: usize = 1_000;
/// Bytes of a compiled regex; a larger one is refused.
pub const HINT_REGEX_COMPILED_BYTES_MAX: usize = 1024 * 1024;
/// Failed conditions that one answer lists; the others are left out.
pub const HINT_MISSES_TOLD: usize = 10;
/// Open files that the ranking of hints considers; further ones are ignored.
pub const HINT_OPEN_FILES_MAX: usize = 64;
/// Bytes of a template's data, as JSON; more are refused.
pub const HINT_RENDER_DATA_BYTES_MAX: usize = 64 * 1024;
/// Bytes of a rendered template, and of any intermediate text; above it, rendering fails.
pub const HINT_RENDER_OUTPUT_BYTES_MAX: usize = 256 * 1024;
/// Nesting depth of a template's blocks and brackets; a deeper template is refused.
pub const HINT_RENDER_NESTING_MAX: usize = 64;
/// Steps that rendering a template may take; after them, rendering fails.
pub const HINT_RENDER_STEPS_MAX: usize = 100_000;
/// Bytes read or written that count as one step.
pub const HINT_RENDER_BYTES_PER_STEP: usize = 64;
/// Characters of a template's word that an error quotes.
pub const HINT_RENDER_WORD_CHARS_TOLD: usize = 40;
/// Invalid members of an import that one answer lists; the others are counted.
pub const HINT_IMPORT_ERRORS_TOLD: usize = 50;
/// Tags and hints in the top lists of the statistics.
pub const HINT_STATS_TOP: usize = 10;

/// Names of environment variables that the daemon requests from clients, in order; further ones are ignored.
pub const ENV_NAMES_MAX: usize = 1_000;
/// Bytes of a variable's value; a longer one is omitted.
pub const ENV_VALUE_BYTES_MAX: usize = 4 * 1024;
/// How many times a client answers requests for variables during one call. After that, it sends the call without a
/// stamp, and the daemon runs it without asking.
pub const ENV_QUESTIONS_MAX: usize = 2;

/// First port to try.
pub const PORT_DEFAULT: u16 = 8765;
/// Ports to try, counting up from the first.
pub const PORT_TRIES: u16 = 20;
/// A longer socket path, in bytes, is replaced by a short one (the kernel allows 107).
pub const SOCKET_PATH_BYTES_MAX: usize = 100;

/// Size at which the daemon's log is rotated.
pub const LOG_BYTES_MAX: u64 = 5 * 1024 * 1024;
/// Buffered log lines are written once they have this many bytes.
pub const LOG_WAITING_BYTES_MAX: usize = 16 * 1024;
/// Rotated log files that are retained; the oldest one is deleted.
pub const LOG_FILES_KEPT: usize = 3;
/// Size at which the hook's log is truncated.
pub const HOOK_LOG_BYTES_MAX: u64 = 1024 * 1024;

/// How long a database that could only be opened read-only is used before a write tries to reopen it.
pub const READ_ONLY_RETRY: Duration = Duration::from_secs(1);

/// Size limit of a small file: settings, token, discovery, pauses. A longer file counts as unreadable.
pub const SMALL_FILE_BYTES_MAX: u64 = 1024 * 1024;

/// A stdio PRIMARY without a client and without hints exits after this time.
pub const IDLE_STDIO: Duration = Duration::from_secs(3);
/// A session without an event for this long no longer counts as a client.
pub const SESSION_QUIET: Duration = Duration::from_secs(30 * 60);

/// Bytes of our MCP server's instructions; a plugin's paragraph that would exceed them is left out.
pub const MCP_INSTRUCTIONS_BYTES_MAX: usize = 2_000;

// Timeouts between processes, and bounds of a single part.

/// How long to search for a daemon that is starting or stopping.
pub const FIND_PRIMARY: Duration = Duration::from_secs(10);
/// A PRIMARY that works on a forwarded line and sends nothing for this long counts as hanging.
pub const FORWARD_DEADLINE: Duration = Duration::from_secs(7);
/// Interval at which a PRIMARY that still works on a forwarded line sends a sign of life. Jobs take longer than
/// [`FORWARD_DEADLINE`].
pub const FORWARD_ALIVE: Duration = Duration::from_secs(2);
/// How long the daemon may take to drain and exit.
pub const STOP_PATIENCE: Duration = Duration::from_secs(6);
/// Bytes at the end of the log that are searched for its last lines.
pub const LOG_TAIL_BYTES_MAX: u64 = 1024 * 1024;
/// How long a starting daemon may take to accept connections.
pub const START_PATIENCE: Duration = Duration::from_secs(10);
/// How long a reply may take beyond the operation's own deadline.
pub const REPLY_SLACK: Duration = Duration::from_secs(2);
/// How long the daemon may take to answer `hello`.
pub const HELLO_DEADLINE: Duration = Duration::from_secs(3);
/// Jobs whose rows are retained and listed; older ones are deleted when a job is queued.
pub const JOBS_KEPT: usize = 50;
/// Jobs in the queue; a further one is refused as `unavailable`.
pub const JOBS_WAITING_MAX: usize = 16;
/// Time an operation on the whole store may take: check, backup, restore.
pub const CARE_DEADLINE: Duration = Duration::from_secs(600);
/// The longest time between two checks whether the daemon is still needed.
pub const IDLE_CHECK_INTERVAL: Duration = Duration::from_secs(4);
/// Delay of the check whether the daemon is still needed, after a client connected or disconnected.
pub const IDLE_CHECK_DEBOUNCE: Duration = Duration::from_millis(200);
/// How long a daemon may take to notice that its socket file is gone and to create it again.
pub const SOCKET_AGAIN: Duration = Duration::from_secs(5);
/// How long a read waits for a daemon that holds its lock but cannot be reached.
pub const BESIDE_PATIENCE: Duration = Duration::from_secs(2);
/// How long `doctor` waits for a daemon that holds its lock but cannot be reached.
pub const DOCTOR_PATIENCE: Duration = Duration::from_secs(1);
/// How long to wait for a stopping PRIMARY to release the database.
pub const DATABASE_LOCK_PATIENCE: Duration = Duration::from_secs(6);
/// Bytes of a refused body that are read and discarded, so that its sender can read the error.
pub const BODY_DISCARD_BYTES_MAX: usize = 4 * BODY_BYTES_MAX;
/// How long a refused body is read.
pub const BODY_DISCARD: Duration = Duration::from_millis(250);
/// Time for the peer to respond to a close frame.
pub const WS_CLOSE: Duration = Duration::from_secs(1);
/// How long a stopping daemon waits for each pending answer.
pub const SSE_LAST_ANSWER: Duration = Duration::from_millis(200);
/// Interval of the comments that keep an idle stream alive.
pub const SSE_KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Bytes of a request's head, and of one read of its body; a longer head is refused.
pub const HTTP_HEAD_BYTES_MAX: usize = 64 * 1024;
/// Pause after a failed `accept`, for example because no file descriptor is left.
pub const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// How long a one-time link is valid.
pub const LINK_LIFETIME: Duration = Duration::from_secs(600);
/// One-time links that are valid at the same time; the oldest is dropped first.
pub const LINKS_MAX: usize = 64;
/// Browsers that may use the page at the same time; the one unused for longest is dropped first.
pub const BROWSERS_MAX: usize = 20;
/// How long an unused browser stays authorised.
pub const BROWSER_LIFETIME: Duration = Duration::from_secs(30 * 24 * 3_600);
/// The shortest time between two writes of a browser's last use to disk.
pub const BROWSER_RENEWAL: Duration = Duration::from_secs(3_600);
/// How long the page may take to fetch its key after a link was opened.
pub const PAGE_KEY_PICKUP: Duration = Duration::from_secs(60);
/// Challenges per browser, one for each open tab; the oldest is dropped first, and its tab requests a new one.
pub const CHALLENGES_MAX: usize = 32;
/// Notices that the store retains; older ones are deleted.
pub const NOTICES_KEPT: u32 = 10;
/// How long a notice is listed, in milliseconds.
pub const NOTICES_SHOWN_MS: i64 = 30 * 24 * 3_600_000;
/// How long new sessions are informed of a notice, in milliseconds.
pub const NOTICES_TOLD_MS: i64 = 24 * 3_600_000;
/// Damaged rows of each table that `doctor` lists; the others are counted.
pub const DAMAGED_ROWS_SHOWN: usize = 5;
/// Lines of SQLite's integrity check that are reported.
pub const CHECK_FINDINGS_MAX: usize = 20;
/// How many times a read has the writer reopen a replaced database file before the read fails.
pub const STORE_LOOKS_MAX: usize = 3;
/// How many times a batch of writes is run before the writer gives up on a database file that keeps being replaced.
pub const WRITE_RUNS_MAX: usize = 3;
/// Milliseconds between two deletions of expired rows.
pub const PRUNE_EVERY_MS: i64 = 60_000;

// Text that is injected into an agent.

/// Characters of one injected text; rows that do not fit are left out. Claude Code accepts 10,000.
pub const INJECT_CHARS_MAX: usize = 9_000;
/// Tokens of one injected text; rows that do not fit are left out. Codex accepts 2,500.
pub const INJECT_TOKENS_MAX: usize = 2_400;
/// Lines of a briefing.
pub const BRIEFING_LINES_MAX: usize = 50;
/// Lines of a briefing after the agent compacted or cleared its context.
pub const BRIEFING_LINES_RECOVERY_MAX: usize = 70;
/// Tokens of the text that is added to a single tool call, and the lowest budget of the text at a prompt. A hint may
/// use a quarter of them.
pub const ASIDE_TOKENS_MAX: usize = 600;
/// One row may use this fraction (one in four) of the token budget; a longer one is cut.
pub const INJECT_ITEM_SHARE: usize = 4;
/// Tokens that a row may use under the smallest budget: a shorter cut would be unreadable.
pub const INJECT_ITEM_TOKENS_MIN: usize = 25;
/// Lines of the answer to a question. The caller chooses its token budget.
pub const QUESTION_LINES_MAX: usize = 400;
/// Characters of one cell of a row.
pub const INJECT_CELL_CHARS_MAX: usize = 600;
/// Characters that each part of a shortened row has at least; with less room, the row loses its least important part.
pub const INJECT_PART_CHARS_MIN: usize = 60;

/// Hints that a session gets automatically within [`JIT_WINDOW_MS`]; further ones are not shown.
pub const JIT_HINTS_PER_WINDOW: u64 = 3;
/// Hints that a session gets automatically altogether; further ones are not shown.
pub const JIT_HINTS_PER_SESSION: u64 = 10;
pub const JIT_WINDOW_MS: i64 = 10 * 60_000;
/// Characters of an automatic hint: 150 tokens.
pub const JIT_HINT_CHARS_MAX: usize = 600;

// Observations and related records.

/// Milliseconds within which repeated reads of a file, or repeated searches, are folded into one record. The setting
/// `observations.fold` overrides it.
pub const FOLD_MS: i64 = 300_000;
/// Equal records of a session that are stored one by one within [`REPEAT_MS`]; further ones are folded.
pub const REPEATS_KEPT: u64 = 20;
pub const REPEAT_MS: i64 = 600_000;
/// Bytes of a record type's name; a longer one cannot be registered.
pub const KIND_BYTES_MAX: usize = 24;
/// Observations that one call may ask for by id; more are refused.
pub const OBSERVATION_IDS_MAX: usize = 50;
/// Observations of one session that its summary is made from.
pub const SUMMARY_ROWS_MAX: usize = 2_000;
/// Observations of one session that a trace shows; a trace of this length is marked `partial`.
pub const TRACE_ROWS_MAX: usize = 5_000;
/// Lines of each list of a summary.
pub const SUMMARY_ITEMS_MAX: usize = 10;
/// Characters of each line of a summary.
pub const SUMMARY_LINE_CHARS_MAX: usize = 200;
/// Runs of a session that are read to find the failed ones.
pub const SUMMARY_RUNS_READ: usize = 30;
/// Characters of a summary's outcome.
pub const SUMMARY_OUTCOME_CHARS_MAX: usize = 240;
/// A prompt with at least this many words states an intent.
pub const SUMMARY_INTENT_WORDS_MIN: usize = 5;
/// The most rows that are read for `recent_context`.
pub const RECENT_ROWS_MAX: usize = 5_000;
/// Recorded paths that one path in a query may match; further ones are ignored.
pub const FILE_FORMS_MAX: usize = 20_000;
/// Recorded paths that are checked for links to one file.
pub const FILE_LINKS_MAX: usize = 100;
/// Minimum length of a literal text to purge by, in characters; a shorter one, which matches too much, is refused.
pub const LITERAL_CHARS_MIN: usize = 4;
/// Records that the dry run of a purge shows.
pub const PURGE_SAMPLES: usize = 5;
/// Time budget of one retention sweep.
pub const SWEEP_BUDGET: Duration = Duration::from_millis(20);
/// Milliseconds between two sweeps.
pub const SWEEP_EVERY_MS: i64 = 3_600_000;
/// Milliseconds until the next sweep after one that ran out of time.
pub const SWEEP_AGAIN_MS: i64 = 60_000;
/// Sweeps whose results are retained.
pub const SWEEPS_KEPT: u32 = 100;
/// Records that a sweep deletes between two checks of its time budget.
pub const SWEEP_BATCH: usize = 100;
/// Time after which an unbounded sweep yields to other writers.
pub const SWEEP_TURN: Duration = Duration::from_millis(250);
/// Sweeps that the statistics list.
pub const SWEEPS_TOLD: usize = 5;
/// Texts that a scrub checks before it yields to other writers.
pub const SCRUB_BATCH: usize = 500;
/// Characters of a mark; a longer one is refused.
pub const MARK_CHARS_MAX: usize = 2_000;
/// The longest pause that ends automatically, in milliseconds; a longer one is refused.
pub const PAUSE_MS_MAX: i64 = 366 * 86_400_000;
/// Characters of a project's name, which appears in the briefings of other projects; a longer name is cut.
pub const PROJECT_NAME_CHARS_MAX: usize = 60;
/// Bytes of an alias of a project: a name, remote or root. A longer one is refused.
pub const PROJECT_ALIAS_BYTES_MAX: usize = 4_096;
/// How long the ids of hook events are retained, in milliseconds. No event is sent again after that.
pub const HOOK_EVENTS_KEPT_MS: i64 = 30 * 86_400_000;
/// Hook events that are deleted in one batch.
pub const HOOK_EVENTS_PRUNED: u32 = 1_000;
/// How long a directory's project settings are cached.
pub const PLACE_CACHE_TTL: Duration = Duration::from_secs(5);
/// Characters of a record's branch, or of the path of its working tree; a longer one is cut.
pub const CHECKOUT_CHARS_MAX: usize = 200;
/// Directories whose project settings are cached; the cache is cleared when it is full.
pub const PLACES_MAX: usize = 256;
/// Bytes of a project's settings file. A longer one counts as broken: the rest, which is not read, may exclude
/// something.
pub const PROJECT_FILE_BYTES_MAX: u64 = 64 * 1024;
/// Globs in `exclude`; more count as broken. Every path of every event is matched against them.
pub const PROJECT_EXCLUDES_MAX: usize = 200;
/// Bytes of all globs in `exclude`; more count as broken.
pub const PROJECT_EXCLUDES_BYTES_MAX: usize = 8 * 1024;
/// Unknown keys of a project's settings file that a message lists.
pub const PROJECT_KEYS_SHOWN: usize = 5;
/// Bytes of an unknown key that a message quotes.
pub const PROJECT_KEY_BYTES_MAX: usize = 40;
/// Bytes of a path that is matched against `exclude`. A longer path counts as excluded: no file has one.
pub const EXCLUDED_PATH_BYTES_MAX: usize = 4_096;
/// Files of a project that are matched against its `exclude` to see whether any is left.
pub const EXCLUDE_FILES_CHECKED: usize = 1_000;
/// Directory entries that are read to find the files of a project without a git index.
pub const EXCLUDE_ENTRIES_WALKED: usize = 5_000;
/// `exclude` is reported if it leaves at most one file in this many, and at most [`EXCLUDE_KEPT_FILES`]: the
/// project's work is then probably excluded.
pub const EXCLUDE_KEPT_ONE_IN: usize = 20;
/// See [`EXCLUDE_KEPT_ONE_IN`].
pub const EXCLUDE_KEPT_FILES: usize = 10;

/// Receipts in a list: default and most.
pub const RECEIPTS_DEFAULT: usize = 50;
pub const RECEIPTS_MAX: usize = 1_000;

// Search.

/// Bytes of a query that are parsed; the rest is cut off, and the answer is marked `partial`.
pub const QUERY_BYTES_MAX: usize = text::query::BYTES_MAX;
/// Words of a query that are searched: the rarest ones.
pub const QUERY_WORDS_MAX: usize = text::query::WORDS_MAX;
/// Pairs of adjacent words of a query that are searched: the rarest ones.
pub const QUERY_PAIRS_MAX: usize = text::query::PAIRS_MAX;
/// Passages that the full-text index may return for a query; with more, the answer is partial. A pair of adjacent words
/// is only searched if its rarer word is in no more passages than this.
pub const SEARCH_ROWS_MAX: usize = 30_000;
/// Postings that a query with operators may combine, summed over its words.
pub const SEARCH_ENTRIES_MAX: usize = 5_000_000;
/// Up to this many documents in scope, the full-text index is restricted to them.
pub const SEARCH_SCOPE_DOCUMENTS: usize = 2_000;
/// Up to this many records about the requested file, a search reads only them.
pub const SEARCH_FILE_DOCUMENTS: usize = 20_000;
/// Up to this many failed records, a search for failures reads only them.
pub const SEARCH_FAILED_DOCUMENTS: usize = 50_000;
/// Documents that are ranked as candidates.
pub const SEARCH_CANDIDATES: usize = 200;
/// Candidates that are read to see whether they contain a name exactly as typed.
pub const SEARCH_EXACT_READ: usize = 500;
/// Characters of a text, from its start, that a search for similar records uses.
pub const SIMILAR_TEXT_CHARS: usize = 4_000;
/// Time limit for the parts of a query whose cost cannot be predicted. Adjacent words, exact names, operators and
/// prefixes have four fifths of it; filtering many records may take all of it.
pub const SEARCH_TIME: Duration = in_this_build(Duration::from_millis(50));
/// Milliseconds by which a record's time may move while repetitions are folded into it, with a margin.
pub const RECORD_MOVES_MS: i64 = 3_600_000;

// Limits of operations that read records; of page sizes the default and the maximum.

/// Minimum length of a commit hash prefix: a shorter one may match too many commits.
pub const COMMIT_HASH_CHARS_MIN: usize = 7;
/// Length of the longest commit hash (SHA-256).
pub const COMMIT_HASH_CHARS_MAX: usize = 64;
/// Hashes in a query that are looked up.
pub const QUERY_HASHES_MAX: usize = 8;
/// Hits of a search: default and most; a higher limit is reduced.
pub const SEARCH_DEFAULT: usize = 20;
pub const SEARCH_MAX: usize = 100;
/// Hits per session on the first page of a search.
pub const SEARCH_PER_SESSION: usize = 3;
/// Hits that are read to fill the first page after capping each session.
pub const SEARCH_SPREAD_MAX: usize = 2_000;
/// First hits of a search that are reordered by how their records relate: answers before questions, a newer decision
/// before the one it replaces.
pub const SEARCH_READ: usize = 40;
/// Different command lines with the query as a phrase that are ranked first; further ones are ranked by their words.
pub const SEARCH_COMMANDS_FIRST: usize = 10;
/// Passages with two adjacent words whose documents are listed. With more, texts are read to find a command line.
pub const SEARCH_ADJACENT_MAX: usize = 2_000;
/// First hits of a search for which a replacing record is searched.
pub const REPLACED_LOOKED_UP: usize = 20;
/// Latest passages of talk in a project among which a replacing record is searched.
pub const REPLACING_SCANNED: usize = 8_000;
/// Nearest newer records whose words are compared with a hit.
pub const REPLACING_COMPARED: usize = 24;
/// Newer prompts, answers and marks, this many of each type, that are read to find one that replaces a listed record.
pub const REPLACING_READ: usize = 300;
/// Latest runs of a project since a failed one, among which the first successful one is searched.
pub const LATER_RUNS_READ: usize = 60;
/// Trailing components of a path that are searched in commands to find the one that renamed the file or its directory.
pub const RENAMED_ABOVE: usize = 3;
/// Earlier names of a file that its history follows.
pub const FILE_NAMES_MAX: usize = 4;
/// Commands that are read to find the earlier name of a file, for each of its names.
pub const RENAMES_READ: usize = 20;
/// Hits that are shown if none is a likely match.
pub const SEARCH_SIMILAR_MAX: usize = 10;
/// The least cosine of a hit that has none of the question's words and is not among the first; below it the hit is left
/// out.
pub const SEARCH_LIKELY_MEANING: f64 = 0.4;
/// First hits of which one has to be a likely match.
pub const EVIDENCE_HITS: usize = 10;
/// Characters of each hit that are checked for the terms of the query; the rest is ignored.
pub const EVIDENCE_CHARS: usize = 20_000;
/// Hits whose texts are compared to fold equivalent ones; further hits are listed one by one.
pub const FOLDED_READ_MAX: usize = 64;
/// Cached verdicts about texts, half a megabyte; the cache is cleared when it is full.
pub const VERDICTS_MAX: usize = 14_000;
/// Cached statements of texts, as hashes, about a megabyte; the cache is cleared when it is full.
pub const STATEMENTS_MAX: usize = 2_000;
/// Results of a search for similar records: default and most; a higher limit is reduced.
pub const SIMILAR_DEFAULT: usize = 10;
pub const SIMILAR_MAX: usize = 100;
/// Observations of `recent_context`: default and most; a higher limit is reduced.
pub const RECENT_DEFAULT: usize = 30;
pub const RECENT_MAX: usize = 100;
/// Token budget of `recent_context` for a model that sets no limit, equal to a briefing's default; further records
/// are omitted.
pub const RECENT_TOKENS: usize = 800;
/// Observations on each side of a timeline's anchor: default and most; a higher number is reduced.
pub const TIMELINE_SIDE_DEFAULT: usize = 5;
pub const TIMELINE_SIDE_MAX: usize = 50;
/// Touches of a file: default and most; a higher limit is reduced.
pub const FILE_TOUCHES_DEFAULT: usize = 10;
pub const FILE_TOUCHES_MAX: usize = 50;
/// Summaries of sessions, and sessions in a list: default and most.
pub const SUMMARIES_DEFAULT: usize = 10;
pub const SUMMARIES_MAX: usize = 50;
pub const SESSIONS_DEFAULT: usize = 20;
pub const SESSIONS_MAX: usize = 100;
/// Records of each type in a list of entries.
pub const RECORDS_LISTED: usize = 50;
/// Characters of a record's text in a list.
pub const PREVIEW_CHARS: usize = 120;
/// Characters up to which a hit of a search shows the whole text: an excerpt could lack the answer.
pub const PREVIEW_WHOLE_CHARS: usize = 180;
/// Characters of an action that a preview shows before the error or commit message that matched.
pub const PREVIEW_ACTION_CHARS: usize = 40;
/// Characters of a failed command that a preview shows before the line that names the failure.
pub const PREVIEW_COMMAND_CHARS: usize = 80;
/// Characters of a recalled text in one line on the terminal.
pub const SHOWN_LINE_CHARS_MAX: usize = 120;
/// Sessions of today that `rekindle today` lists, and sessions that it lists if there are none today.
pub const TODAY_SESSIONS: usize = 20;
pub const TODAY_LAST_SESSIONS: usize = 3;
/// Projects whose open work `rekindle today` lists, if they were active within `TODAY_OPEN_SECONDS`.
pub const TODAY_PROJECTS: usize = 5;
pub const TODAY_OPEN_SECONDS: i64 = 7 * 86_400;
/// Open work of one project in `rekindle today`.
pub const TODAY_OPEN_ROWS: usize = 3;
/// Characters of a project's name in a table; a longer name ends with `…` to leave room for the text.
pub const SHOWN_PROJECT_CHARS: usize = 24;
/// Projects that an error about an unknown project lists.
pub const PROJECTS_TOLD: usize = 8;
/// Characters of an unknown project's name that the error quotes.
pub const PROJECT_NAME_CHARS_TOLD: usize = 100;

/// Related records that a prompt gets.
pub const RELATED_MAX: usize = 3;
/// How long a prompt waits for the index to be complete.
pub const RELATED_PATIENCE: Duration = in_this_build(Duration::from_millis(50));

/// Passages of a record that are compared with those of another one.
pub const COMPARED_PASSAGES_MAX: usize = 4;
/// Passages with a word that are read to count the projects that use it.
pub const SPREAD_PASSAGES_MAX: usize = 1_000;
/// Prompts of a session that are compared with a new prompt about it.
pub const RELATED_PROMPTS_READ: usize = 40;
/// Characters of a related turn's text in the block for a prompt.
pub const RELATED_CHARS: usize = 240;

/// Rows of each section of a briefing. A section keeps its `FLOOR` while another has more rows than that one's.
pub const BRIEFING_MARKS_MAX: usize = 8;
pub const BRIEFING_MARKS_FLOOR: usize = 4;
pub const BRIEFING_OPEN_MAX: usize = 6;
pub const BRIEFING_OPEN_FLOOR: usize = 4;
pub const BRIEFING_SESSIONS_MAX: usize = 5;
pub const BRIEFING_SESSIONS_FLOOR: usize = 3;
pub const BRIEFING_LEARNED_MAX: usize = 6;
pub const BRIEFING_LEARNED_FLOOR: usize = 3;
pub const BRIEFING_FILES_MAX: usize = 6;
pub const BRIEFING_FILES_FLOOR: usize = 3;
pub const BRIEFING_OTHERS_MAX: usize = 3;
/// Rows about other projects in a directory without a project, such as the home directory.
pub const BRIEFING_ALL_MAX: usize = 8;
/// Rows about the session itself after its context was compacted or cleared, their floor, and the answers among them.
pub const BRIEFING_OWN_MAX: usize = 18;
pub const BRIEFING_OWN_FLOOR: usize = 8;
pub const BRIEFING_OWN_ANSWERS: usize = 3;
/// Characters of a prompt, an answer, a mark or a decision in a briefing.
pub const BRIEFING_TEXT_CHARS: usize = 240;
/// Characters of a decision that is quoted alone because the cut would lose its end. A longer sentence is not taken
/// for a decision. Also the characters of the session's own answers in the briefing after a compaction.
pub const BRIEFING_DECISION_CHARS: usize = 420;
/// Characters of a file's last change, and of a commit's subject.
pub const BRIEFING_CHANGE_CHARS: usize = 90;
/// Commits of one session that a briefing lists.
pub const BRIEFING_COMMITS_TOLD: usize = 3;
/// Files that the line of a session lists.
pub const BRIEFING_SESSION_FILES: usize = 4;
/// Files that one row lists.
pub const BRIEFING_FILES_NAMED: usize = 8;
/// An unanswered prompt with fewer words is not open work.
pub const OPEN_PROMPT_WORDS_MIN: usize = 3;
/// A session with an event within this time may still be at work on its last prompt.
pub const AT_WORK_MS: i64 = 10 * 60_000;
/// Recently active sessions that are read to find the one that searches.
pub const AT_WORK_SESSIONS_READ: usize = 8;
/// Failed runs that a briefing lists.
pub const RED_RUNS_TOLD: usize = 3;
/// Characters of a failed run's command.
pub const RED_COMMAND_CHARS: usize = 100;
/// Characters of a failed run's error.
pub const RED_FINDING_CHARS: usize = 160;
/// Records that a briefing reads, newest first; older ones are ignored. `DISCARDS`: commands that may take edits back.
pub const BRIEFING_READ_SESSIONS: usize = 12;
pub const BRIEFING_READ_TURNS: usize = 16;
pub const BRIEFING_READ_RUNS: usize = 60;
pub const BRIEFING_READ_COMMITS: usize = 20;
pub const BRIEFING_READ_EDITS: usize = 80;
pub const BRIEFING_READ_COMMANDS: usize = 80;
pub const BRIEFING_READ_FAILURES: usize = 20;
pub const BRIEFING_READ_DISCARDS: usize = 300;
pub const BRIEFING_READ_TALK: usize = 40;
/// Prompts that are read for decisions: a decision that is still valid is often weeks old.
pub const BRIEFING_READ_PROMPTS: usize = 240;
/// Other projects that are read for a briefing, most recently active first.
pub const BRIEFING_READ_PROJECTS: usize = 8;
/// Records that are read of each other project.
pub const BRIEFING_READ_OF_OTHERS: usize = 5;
/// How long before the project's last event a run, a failure or an edit still matters.
pub const BRIEFING_WORK_MS: i64 = 21 * 86_400_000;
/// How long before the project's last event an edited file counts as in progress.
pub const BRIEFING_FILES_MS: i64 = 8 * 86_400_000;
/// How long before the project's last event decisions and commits still matter.
pub const BRIEFING_TALK_MS: i64 = 90 * 86_400_000;

/// Rows by section under the name `nmem`, and (`RECOVERY`) after the session's context was compacted or cleared. A
/// section keeps its `FLOOR` while another one has more rows than its own `FLOOR`.
pub const BRIEFING_INTENTS_MAX: usize = 10;
pub const BRIEFING_INTENTS_FLOOR: usize = 5;
pub const BRIEFING_LOCAL_MAX: usize = 20;
pub const BRIEFING_LOCAL_RECOVERY_MAX: usize = 30;
pub const BRIEFING_LOCAL_FLOOR: usize = 10;
pub const BRIEFING_CROSS_MAX: usize = 10;
pub const BRIEFING_CROSS_RECOVERY_MAX: usize = 15;
/// Characters of a prompt under the name `nmem`.
pub const BRIEFING_INTENT_CHARS: usize = 60;
/// Characters of a record under the name `nmem`, and of other projects' records in every briefing.
pub const BRIEFING_SUMMARY_CHARS: usize = 100;
