//! Every bound of the system, named once; the number stands in the error that it causes.

use std::time::Duration;

/// Bytes of an HTTP body that are read at all (imports and hook events may use all of it).
pub const BODY_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes of a request that is neither an import nor a hook event.
pub const REQUEST_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Bytes of one WebSocket message.
pub const WS_MESSAGE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Bytes of one line on the unix socket or on stdin of `serve`.
pub const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Members of one JSON-RPC batch.
pub const BATCH_MAX: usize = 1_000;

/// Open connections, all surfaces together.
pub const CONNECTIONS_MAX: usize = 512;
/// Requests of one connection that are being worked on at the same time.
pub const IN_FLIGHT_MAX: usize = 64;
/// Time to receive a whole request, headers included.
pub const REQUEST_RECEIVE: Duration = Duration::from_secs(30);
/// Time an operation may take unless it declares its own deadline.
pub const OP_DEADLINE: Duration = Duration::from_secs(5);
/// Time for what is under way to finish once a stop was asked for. Together with
/// [`STORE_BUSY`], which the last write may wait, it stays under five seconds.
pub const DRAIN: Duration = Duration::from_millis(2_500);
/// Events waiting for one subscriber before it is dropped.
pub const SUBSCRIBER_QUEUE_MAX: usize = 1_024;
/// Calls waiting for the worker pool.
pub const POOL_QUEUE_MAX: usize = 4_096;
/// Threads that run operations.
pub const POOL_THREADS: usize = 4;

/// Writes waiting for the writer thread.
pub const WRITE_QUEUE_MAX: usize = 4_096;
/// Writes that may share one transaction.
pub const WRITE_GROUP_MAX: usize = 128;
/// Time to wait for another process that holds the database's write lock.
pub const STORE_BUSY: Duration = Duration::from_secs(2);
/// Read connections the daemon keeps.
pub const READ_CONNECTIONS_MAX: usize = 4;
/// How long a stored answer serves repeats of its call.
pub const CALL_MEMORY: Duration = Duration::from_secs(600);
/// Events kept in the store.
pub const EVENTS_KEPT: u64 = 10_000;
/// Bytes of a write-ahead log that a one-shot command leaves behind before it checkpoints.
pub const ONE_SHOT_WAL_BYTES_MAX: u64 = 512 * 1024;

/// Time the hook waits for the daemon before it spools the event.
pub const HOOK_DEADLINE: Duration = Duration::from_millis(1_000);
/// Bytes of the name of an event, a session or a tool call.
pub const HOOK_NAME_BYTES_MAX: usize = 200;
/// Bytes of stdin above which an event is dropped with a line in the log.
pub const HOOK_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Least time between two attempts of hooks to start a daemon.
pub const HOOK_START_PAUSE: Duration = Duration::from_secs(30);
/// Age at which a half-written event in the spool is nobody's any more.
pub const SPOOL_PART_AGE: Duration = Duration::from_secs(3_600);
/// Events that one opener ingests from the spool in one transaction.
pub const SPOOL_BATCH_MAX: usize = 500;

/// Bytes of a component or key name.
pub const HINT_NAME_BYTES_MAX: usize = 200;
/// Bytes of a hint's value as JSON.
pub const HINT_VALUE_BYTES_MAX: usize = 64 * 1024;
/// Bytes of a hint's reason.
pub const HINT_REASON_BYTES_MAX: usize = 2_000;
/// Tags of one hint.
pub const HINT_TAGS_MAX: usize = 32;
/// Bytes of one tag.
pub const HINT_TAG_BYTES_MAX: usize = 100;
/// Components with hints.
pub const HINT_COMPONENTS_MAX: usize = 500;
/// Hints of one component.
pub const HINTS_PER_COMPONENT_MAX: usize = 200;
/// Hints in all, unless the setting `hints.max` says otherwise.
pub const HINTS_MAX: usize = 5_000;
/// Bytes of who added a hint.
pub const HINT_ADDED_BY_BYTES_MAX: usize = 200;
/// Members of one list of a hint's scope.
pub const HINT_SCOPE_ITEMS_MAX: usize = 32;
/// Bytes of one glob or text of a hint's scope.
pub const HINT_SCOPE_TEXT_BYTES_MAX: usize = 500;
/// Milliseconds of the longest duration a hint may live; who means longer says `forever`.
pub const HINT_TTL_MS_MAX: i64 = 36_500 * 86_400_000;
/// Hints that one query answers with, at most and by default.
pub const HINT_QUERY_MAX: usize = 1_000;
pub const HINT_QUERY_DEFAULT: usize = 10;
/// Bytes of the regex of a query, and of what it compiles to.
pub const HINT_REGEX_BYTES_MAX: usize = 1_000;
pub const HINT_REGEX_COMPILED_BYTES_MAX: usize = 1024 * 1024;
/// Conditions that failed, as far as one answer tells them.
pub const HINT_MISSES_TOLD: usize = 10;
/// Open files that are looked at when hints are ranked.
pub const HINT_OPEN_FILES_MAX: usize = 64;
/// Bad members of an import, as far as one answer tells them.
pub const HINT_IMPORT_ERRORS_TOLD: usize = 50;

/// First port tried.
pub const PORT_DEFAULT: u16 = 8765;
/// Ports tried, counting up from the first.
pub const PORT_TRIES: u16 = 20;
/// Bytes of a socket path above which a short one is used (the kernel allows 107).
pub const SOCKET_PATH_BYTES_MAX: usize = 100;

/// Size at which the daemon's log is rotated, and how many old ones are kept.
pub const LOG_BYTES_MAX: u64 = 5 * 1024 * 1024;
pub const LOG_FILES_KEPT: usize = 3;
/// Size at which the hook's log starts anew.
pub const HOOK_LOG_BYTES_MAX: u64 = 1024 * 1024;

/// Time after which a stdio PRIMARY leaves whose own client left and that holds nothing.
pub const IDLE_STDIO: Duration = Duration::from_secs(3);
/// An agent session without an event for this long is no client any more.
pub const SESSION_QUIET: Duration = Duration::from_secs(30 * 60);

/// Bytes of the instructions an MCP server may send.
pub const MCP_INSTRUCTIONS_BYTES_MAX: usize = 2_000;

// Patience between processes, and bounds of one part only.

/// How long to look for a daemon that is starting or leaving.
pub const FIND_PRIMARY: Duration = Duration::from_secs(10);
/// How long one line may take at the PRIMARY before it counts as hanging.
pub const FORWARD_DEADLINE: Duration = Duration::from_secs(7);
/// How long the daemon may take to drain and leave.
pub const STOP_PATIENCE: Duration = Duration::from_secs(6);
/// Bytes of the log that are looked at for its last lines.
pub const LOG_TAIL_BYTES_MAX: u64 = 1024 * 1024;
/// How long a daemon may take until it accepts connections.
pub const START_PATIENCE: Duration = Duration::from_secs(10);
/// How long a reply may take beyond the operation's own deadline.
pub const REPLY_SLACK: Duration = Duration::from_secs(2);
/// How long the daemon may take to say who it is.
pub const HELLO_DEADLINE: Duration = Duration::from_secs(3);
/// Time an operation on the whole store may take: check, backup, restore.
pub const CARE_DEADLINE: Duration = Duration::from_secs(600);
/// How often the daemon looks around where nothing wakes it.
pub const IDLE_LOOK: Duration = Duration::from_secs(4);
/// How long to wait for a PRIMARY that is leaving to let go of the database.
pub const DATABASE_LOCK_PATIENCE: Duration = Duration::from_secs(6);
/// Bytes of a body that are read and thrown away, so that its sender gets to read the refusal.
pub const BODY_DISCARD_BYTES_MAX: usize = 4 * BODY_BYTES_MAX;
/// Time for the peer to take notice of a close.
pub const WS_CLOSE: Duration = Duration::from_secs(1);
/// How long a stopping daemon waits for each answer that is still under way.
pub const SSE_LAST_ANSWER: Duration = Duration::from_millis(200);
/// Pause after which a comment tells that the stream is alive.
pub const SSE_KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Bytes of a request's head, and of what is read of a body at a time.
pub const HTTP_HEAD_BYTES_MAX: usize = 64 * 1024;
/// Pause after a connection could not be accepted, for example because no file is left to open.
pub const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// How long a one-time link can be used.
pub const LINK_LIFETIME: Duration = Duration::from_secs(600);
/// One-time links and browser sessions that are remembered; the oldest goes first.
pub const LINKS_MAX: usize = 64;
/// Notices that are kept.
pub const NOTICES_KEPT: u32 = 10;
/// Milliseconds for which a notice is of interest.
pub const NOTICES_SHOWN_MS: i64 = 30 * 24 * 3_600_000;
/// Lines of SQLite's check that are kept.
pub const CHECK_FINDINGS_MAX: u32 = 20;
/// Times a reader asks the writer for the file that stands at the path.
pub const STORE_LOOKS_MAX: usize = 3;
/// Times a group is run before the writer gives up on a file that does not stay.
pub const WRITE_RUNS_MAX: usize = 3;
/// Milliseconds between two removals of what is too old.
pub const PRUNE_EVERY_MS: i64 = 60_000;
