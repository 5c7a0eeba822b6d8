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
/// Hints in all.
pub const HINTS_MAX: usize = 5_000;

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

/// Time after the last client at which a daemon that holds nothing leaves.
pub const IDLE_EMPTY: Duration = Duration::from_secs(60);
/// Time after the last client at which a daemon that holds session hints leaves.
pub const IDLE_HOLDING: Duration = Duration::from_secs(12 * 3600);
/// The same for a stdio PRIMARY whose own client left and that holds nothing.
pub const IDLE_STDIO: Duration = Duration::from_secs(3);
/// An agent session without an event for this long is no client any more.
pub const SESSION_QUIET: Duration = Duration::from_secs(30 * 60);

/// Bytes of the instructions an MCP server may send.
pub const MCP_INSTRUCTIONS_BYTES_MAX: usize = 2_000;
