//! Every bound of the system, named once; the number stands in the error that it causes.

use std::time::Duration;

/// The time limit of work in this build. Without optimisation it is ten times as long: tests expect the whole answer, on a
/// machine that may be slow and shared.
pub const fn in_this_build(time: Duration) -> Duration {
    if cfg!(debug_assertions) { time.saturating_mul(10) } else { time }
}

/// Bytes of an HTTP body that are read at all (imports and hook events may use all of it).
pub const BODY_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes of a request that is neither an import nor a hook event.
pub const REQUEST_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Memory that the tree of a parsed request may take, in bytes; and the size of a request up to which it is not
/// estimated.
pub const JSON_TREE_BYTES_MAX: usize = 64 * 1024 * 1024;
pub const JSON_BYTES_LIGHT: usize = 256 * 1024;
/// Nesting depth that the JSON parser accepts.
pub const JSON_DEPTH_MAX: usize = 128;
/// Bytes of one WebSocket message.
pub const WS_MESSAGE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Bytes of one line on the unix socket or on stdin of `serve`.
pub const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Read buffer of a connection to the unix socket, in bytes.
pub const SOCKET_READ_AHEAD_BYTES: usize = 128 * 1024;
/// Members of one JSON-RPC batch.
pub const BATCH_MAX: usize = 1_000;

/// Open connections of all surfaces together; fewer if the system allows fewer open files.
pub const CONNECTIONS_MAX: usize = 512;
/// Connections that are served even if only few files may be open.
pub const CONNECTIONS_MIN: usize = 8;
/// Open file limit that the daemon requests at its start.
pub const OPEN_FILES_WANTED: u64 = 4_096;
/// Open files that are reserved for the rest of the daemon: database and WAL of the writer and each
/// reader, log, locks, spool, backups, and connections that were evicted and are not closed yet.
pub const OPEN_FILES_RESERVED: usize = 64;
/// Requests of one connection that are being worked on at the same time.
pub const IN_FLIGHT_MAX: usize = 64;
/// Hook events of one connection to the unix socket that are being recorded at the same time.
pub const EVENTS_PENDING_MAX: usize = 256;
/// Hook events of one connection that are recorded as one batch.
pub const EVENT_BATCH_MAX: usize = 64;
/// Time to receive a whole request, headers included.
pub const REQUEST_RECEIVE: Duration = Duration::from_secs(30);
/// Time an operation may take unless it declares its own deadline.
pub const OP_DEADLINE: Duration = Duration::from_secs(5);
/// Time for what is under way to finish once a stop was asked for. Together with
/// [`STORE_BUSY`], which the last write may wait, it stays under five seconds.
pub const DRAIN: Duration = Duration::from_millis(2_500);
/// Events waiting for one subscriber before it is dropped.
pub const SUBSCRIBER_QUEUE_MAX: usize = 1_024;
/// Subscriptions of one client at a time; a further one is refused.
pub const SUBSCRIPTIONS_PER_CLIENT_MAX: usize = 256;
/// Characters of an unknown feed's name in the error.
pub const FEED_NAME_CHARS_SHOWN: usize = 60;
/// Calls waiting for the worker pool.
pub const POOL_QUEUE_MAX: usize = 4_096;
/// Threads that run operations.
pub const POOL_THREADS: usize = 4;

/// Writes waiting for the writer thread.
pub const WRITE_QUEUE_MAX: usize = 4_096;
/// Writes that may share one transaction, and how long after its beginning more are taken into it.
pub const WRITE_GROUP_MAX: usize = 512;
pub const WRITE_GROUP_PATIENCE: Duration = Duration::from_millis(20);
/// Documents that are put into the full-text index at a time, and how many wait before that is done as
/// soon as nobody writes; fewer are left until it has been quiet for a while.
pub const INDEX_BATCH: usize = 256;
/// Documents waiting for the index from which a job works on them.
pub const INDEX_JOB_DOCUMENTS: u64 = 2_000;
pub const INDEX_AT: usize = 64;
/// Documents that a check of the full-text index looks up: half of them spread evenly over it, the others picked at
/// random, so that repeated checks see more.
pub const INDEX_PROBES: i64 = 64;
/// Passages of such a document whose words are looked up: the check is to take no longer for long documents.
pub const INDEX_PROBE_PASSAGES: usize = 4;
/// The highest number of a passage or a record: searches keep them in 32 bits. Only damage leads to a higher one.
pub const RECORD_NUMBER_MAX: i64 = u32::MAX as i64;
/// The highest id of a record that new ids continue after, unless the counter of ids is higher. Such an id comes from
/// damage, and a repair replaces it: half of the numbers up to [`RECORD_NUMBER_MAX`] are left for new records.
pub const RECORD_ID_MAX: i64 = 1 << 31;
/// The highest value of the counter of record ids that is believed. A higher one comes from damage, because numbers up
/// to [`RECORD_NUMBER_MAX`] would soon be used up: ids then continue after the highest one of a record.
pub const RECORD_COUNTER_MAX: i64 = 3 << 30;
/// The latest time of a record, session or project, in milliseconds since 1970: the beginning of 2100. A later or a
/// negative one comes from damage. A time that is only ahead of the clock may also come from a wrong clock.
pub const RECORD_TIME_MAX_MS: i64 = 4_102_444_800_000;
/// The highest number of an event, which JavaScript clients still count exactly. Only damage leads to a higher one.
pub const EVENT_NUMBER_MAX: u64 = 1 << 53;
/// Consecutive numbers of passages that may be unused. The catalogue takes room for each of them, so a larger gap
/// counts as damage, and the index is rebuilt with new numbers.
pub const PASSAGE_GAP_MAX: i64 = 1 << 21;
/// How often one process rebuilds a damaged full-text index by itself. After that, a write that meets damage fails:
/// rebuilding did not help.
pub const INDEX_REBUILDS_MAX: usize = 3;
pub const INDEX_QUIET: Duration = Duration::from_secs(1);
/// How long nobody has to write for that; between two writes of many there is hardly any time.
pub const INDEX_PAUSE: Duration = Duration::from_millis(20);
/// Documents outside of the index, the newest, that a search looks through itself in any case if it cannot
/// wait for it; and with how many it goes on until its deadline.
pub const UNINDEXED_READ_MAX: usize = 5_000;
pub const UNINDEXED_MAX: usize = 100_000;
/// How long a search waits until the index knows everything.
pub const INDEX_PATIENCE: Duration = Duration::from_secs(2);
/// Pages of the write-ahead log from which on they are moved into the database beside the writer, and from
/// which on a COMMIT waits for it. Pages that are written often are moved once, however many times they
/// stand in the log.
pub const WAL_PAGES: u32 = 24_000;
pub const WAL_PAGES_MAX: u32 = 4 * WAL_PAGES;
/// After this time without a write the log is moved meanwhile, and what is left of its file then. While it
/// is written it is not shortened: the disk would find room for it again and again.
pub const WAL_QUIET: Duration = Duration::from_secs(3);
pub const WAL_BYTES_KEPT: u64 = 16 * 1024 * 1024;
pub const WAL_BYTES_IN_USE: u64 = 128 * 1024 * 1024;
/// Time between two attempts to empty the log of a deleted value while a reader needs the log.
pub const WAL_WIPE_RETRY: Duration = Duration::from_millis(50);
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

/// Time within which the hook leaves, with an answer or without.
pub const HOOK_DEADLINE: Duration = Duration::from_millis(1_000);
/// The same for events around a tool, and for a prompt.
pub const HOOK_TOOL_DEADLINE: Duration = Duration::from_millis(150);
pub const HOOK_PROMPT_DEADLINE: Duration = Duration::from_millis(300);
/// Time it waits for the daemon if no answer comes. The rest is for the spool and, at a session's start and at a prompt, for
/// a look into the store: Codex kills a hook of the session's end after 1 s. Around a tool it waits until it leaves.
pub const HOOK_PATIENCE: Duration = Duration::from_millis(750);
pub const HOOK_PROMPT_PATIENCE: Duration = Duration::from_millis(200);
/// Time until the first byte of an event.
pub const HOOK_STDIN_BEGIN: Duration = Duration::from_secs(5);
/// Silence of stdin after which an event that is not whole never will be, and the longest that one may take to
/// come: about as long as an agent waits for a hook.
pub const HOOK_STDIN_SILENCE: Duration = Duration::from_millis(1_000);
pub const HOOK_STDIN_MAX: Duration = Duration::from_secs(60);
/// Time for which the end of stdin is waited for once the event is whole: closing a pipe on somebody who still
/// writes would disturb them.
pub const HOOK_STDIN_END: Duration = Duration::from_millis(10);
/// Bytes of the name of an event, a session or a tool call.
pub const HOOK_NAME_BYTES_MAX: usize = 200;
/// Bytes of stdin above which an event is dropped with a line in the log.
pub const HOOK_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Least time between two attempts of hooks to start a daemon.
pub const HOOK_START_PAUSE: Duration = Duration::from_secs(30);
/// Age at which a half-written event in the spool is nobody's any more.
pub const SPOOL_PART_AGE: Duration = Duration::from_secs(3_600);
/// Age of the last change of the spool's folder from which on its time tells it from a later one.
pub const SPOOL_SETTLED: Duration = Duration::from_secs(1);
/// How long somebody who brings an event waits for who takes in the spool just then.
pub const SPOOL_TURN: Duration = Duration::from_millis(50);
/// How long a read waits until what happened before it is taken in from the spool.
pub const SPOOL_READ_PATIENCE: Duration = Duration::from_millis(200);
/// How long a store that did not take in what waits in the spool is left alone, except by a write.
pub const SPOOL_RETRY: Duration = Duration::from_secs(1);
/// How far the time of an event may be ahead of the clock, in milliseconds: one day. A later time is reduced to
/// this, so that no event stays the newest for ever.
pub const EVENT_AHEAD_MAX_MS: i64 = 24 * 3_600_000;
/// How long an event that could not be stored waits in the spool until the daemon retries it. The wait doubles
/// with each failure, up to the maximum.
pub const SPOOL_HELD_MIN: Duration = Duration::from_secs(2);
pub const SPOOL_HELD_MAX: Duration = Duration::from_secs(600);
/// Files of the spool that `doctor` names; the others are counted.
pub const SPOOL_NAMED_MAX: usize = 5;
/// Events in the spool, the newest, of which the doctor looks who sent them.
pub const SPOOL_HEARD_MAX: usize = 1_000;
/// Events that one opener ingests from the spool in one transaction.
pub const SPOOL_BATCH_MAX: usize = 500;
/// The same where an agent waits for it to end, and for how long it goes on then.
pub const SPOOL_BATCH_HURRIED: usize = 50;
pub const HOOK_SPOOL_PATIENCE: Duration = Duration::from_millis(400);

/// Bytes of an event above which it is shortened while it is read.
pub const EVENT_BYTES_WHOLE: usize = 1024 * 1024;
/// Bytes of a text in such an event above which only head and tail are kept, and the bytes of each.
pub const EVENT_TEXT_BYTES_MAX: usize = 64 * 1024;
pub const EVENT_TEXT_HEAD_BYTES: usize = 4 * 1024;
/// Size of a shortened event in bytes. Members that extraction reads may take as much again.
pub const EVENT_SHORT_BYTES: usize = 768 * 1024;
/// Items of one list or members of one object, and values in all, that a shortened event keeps.
pub const EVENT_ITEMS_MAX: usize = 1_000;
pub const EVENT_VALUES_MAX: usize = 20_000;
/// Bytes of a member name or a number; a longer one is omitted from a shortened event.
pub const EVENT_NAME_BYTES_MAX: usize = 1_000;
/// Nesting depth of a shortened event. The call around it adds levels, and parsers refuse more than 128.
pub const EVENT_DEPTH_MAX: usize = 64;
/// Bytes of one captured text that are looked at.
pub const CAPTURED_BYTES_MAX: usize = 64 * 1024;
/// Bytes of an event that are searched for secret values after one was found, to redact their repetitions. Texts
/// past this bound are still redacted one by one.
pub const KNOWN_VALUES_BYTES_MAX: usize = 256 * 1024;
/// Characters of a prompt that are kept.
pub const PROMPT_CHARS_MAX: usize = 2_000;
/// Characters of an agent's answer that are stored: its beginning and its end. The middle of a longer answer is
/// omitted.
pub const ANSWER_HEAD_CHARS: usize = 3_000;
pub const ANSWER_TAIL_CHARS: usize = 1_000;
/// Lines of fenced code in an answer above which only their number is stored.
pub const ANSWER_CODE_LINES_MAX: usize = 10;
/// Characters of what an observation shows: a command, a query, an address, a path.
pub const OBSERVED_CHARS_MAX: usize = 500;
/// Characters of an edit's preview, path included.
pub const OBSERVED_EDIT_CHARS_MAX: usize = 240;
/// Changed lines of an edit that are kept.
pub const OBSERVED_EDIT_LINES: usize = 3;
/// Characters of a task that was given to a subagent.
pub const OBSERVED_TASK_CHARS_MAX: usize = 200;
/// Characters of an error's text.
pub const OBSERVED_ERROR_CHARS_MAX: usize = 2_000;
/// Characters of a command line that is handed on beside what is shown of it.
pub const COMMAND_CHARS_MAX: usize = 4_000;
/// Characters of a path.
pub const PATH_CHARS_MAX: usize = 4_096;
/// Files that one observation names.
pub const OBSERVED_FILES_MAX: usize = 50;
/// Bytes of a command line that is split into commands.
pub const SHELL_LINE_BYTES_MAX: usize = 64 * 1024;
/// How deep commands in commands are looked into.
pub const SHELL_DEPTH_MAX: usize = 16;

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
/// Bytes of the values that a template is rendered with, as JSON.
pub const HINT_RENDER_DATA_BYTES_MAX: usize = 64 * 1024;
/// Bytes of a rendered template, and of any text made on the way there.
pub const HINT_RENDER_OUTPUT_BYTES_MAX: usize = 256 * 1024;
/// Blocks and brackets of a template inside one another.
pub const HINT_RENDER_NESTING_MAX: usize = 64;
/// Steps that rendering a template may take; so many bytes that are looked at or made are one.
pub const HINT_RENDER_STEPS_MAX: usize = 100_000;
pub const HINT_RENDER_BYTES_PER_STEP: usize = 64;
/// Characters of a word of a template, as far as a refusal tells them.
pub const HINT_RENDER_WORD_CHARS_TOLD: usize = 40;
/// Bad members of an import, as far as one answer tells them.
pub const HINT_IMPORT_ERRORS_TOLD: usize = 50;
/// Tags and hints that stand at the top of the statistics.
pub const HINT_STATS_TOP: usize = 10;

/// Names of environment variables that clients are asked for; the first ones in order count.
pub const ENV_NAMES_MAX: usize = 1_000;
/// Bytes of a variable's value; a longer one is left out.
pub const ENV_VALUE_BYTES_MAX: usize = 4 * 1024;
/// Times a client answers the question for variables before it sends its call as it is.
pub const ENV_QUESTIONS_MAX: usize = 2;

/// First port tried.
pub const PORT_DEFAULT: u16 = 8765;
/// Ports tried, counting up from the first.
pub const PORT_TRIES: u16 = 20;
/// Bytes of a socket path above which a short one is used (the kernel allows 107).
pub const SOCKET_PATH_BYTES_MAX: usize = 100;

/// Size at which the daemon's log is rotated, and how many old ones are kept.
pub const LOG_BYTES_MAX: u64 = 5 * 1024 * 1024;
/// Bytes of lines that wait to be written together.
pub const LOG_WAITING_BYTES_MAX: usize = 16 * 1024;
pub const LOG_FILES_KEPT: usize = 3;
/// Size at which the hook's log starts anew.
pub const HOOK_LOG_BYTES_MAX: u64 = 1024 * 1024;

/// How long a database that could only be opened for reading is used before a write reopens it.
pub const READ_ONLY_RETRY: Duration = Duration::from_secs(1);

/// Size limit of a small file: settings, token, discovery, pauses. A longer file is ignored.
pub const SMALL_FILE_BYTES_MAX: u64 = 1024 * 1024;

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
/// Jobs whose rows are kept and listed; older ones are removed when a job starts.
pub const JOBS_KEPT: usize = 50;
/// Jobs that wait for the one that runs; a further one is `unavailable`.
pub const JOBS_WAITING_MAX: usize = 16;
/// Time an operation on the whole store may take: check, backup, restore.
pub const CARE_DEADLINE: Duration = Duration::from_secs(600);
/// How often the daemon checks whether it is idle if no event wakes it.
pub const IDLE_CHECK_INTERVAL: Duration = Duration::from_secs(4);
/// How long the daemon waits after a client connected or left until it checks whether it is idle.
pub const IDLE_CHECK_DEBOUNCE: Duration = Duration::from_millis(200);
/// How long a daemon may take until it has noticed that its socket is gone and made it anew.
pub const SOCKET_AGAIN: Duration = Duration::from_secs(5);
/// How long somebody who only reads waits for a daemon that holds its lock and cannot be reached.
pub const BESIDE_PATIENCE: Duration = Duration::from_secs(2);
/// How long the doctor waits for a daemon that holds its lock and cannot be reached.
pub const DOCTOR_PATIENCE: Duration = Duration::from_secs(1);
/// How long to wait for a PRIMARY that is leaving to let go of the database.
pub const DATABASE_LOCK_PATIENCE: Duration = Duration::from_secs(6);
/// Bytes of a refused body that are read and discarded, so that its sender can read the refusal, and how long
/// that may take.
pub const BODY_DISCARD_BYTES_MAX: usize = 4 * BODY_BYTES_MAX;
pub const BODY_DISCARD: Duration = Duration::from_millis(250);
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
/// One-time links that are remembered; the oldest is dropped first.
pub const LINKS_MAX: usize = 64;
/// Browsers that may use the page at the same time; the one unused for longest is dropped first.
pub const BROWSERS_MAX: usize = 20;
/// How long an unused browser stays authorised, and how often its last use is stored.
pub const BROWSER_LIFETIME: Duration = Duration::from_secs(30 * 24 * 3_600);
pub const BROWSER_RENEWAL: Duration = Duration::from_secs(3_600);
/// How long the page may take to fetch its key after a link was opened.
pub const PAGE_KEY_PICKUP: Duration = Duration::from_secs(60);
/// Challenges per browser, one for each open tab; the oldest is dropped first, and its tab requests a new one.
pub const CHALLENGES_MAX: usize = 32;
/// Notices that are kept.
pub const NOTICES_KEPT: u32 = 10;
/// Milliseconds for which a notice is of interest.
pub const NOTICES_SHOWN_MS: i64 = 30 * 24 * 3_600_000;
/// Milliseconds for which sessions that start are told of a notice.
pub const NOTICES_TOLD_MS: i64 = 24 * 3_600_000;
/// Damaged rows of each table that `doctor` names; the others are counted.
pub const DAMAGED_ROWS_SHOWN: usize = 5;
/// Lines of SQLite's check that are kept.
pub const CHECK_FINDINGS_MAX: usize = 20;
/// Times a reader asks the writer for the file that stands at the path.
pub const STORE_LOOKS_MAX: usize = 3;
/// Times a group is run before the writer gives up on a file that does not stay.
pub const WRITE_RUNS_MAX: usize = 3;
/// Milliseconds between two removals of what is too old.
pub const PRUNE_EVERY_MS: i64 = 60_000;

// What is injected into an agent.

/// Characters of one injected text: Claude Code keeps 10,000, and we stay below.
pub const INJECT_CHARS_MAX: usize = 9_000;
/// Tokens of one injected text: Codex keeps 2,500, and we stay below.
pub const INJECT_TOKENS_MAX: usize = 2_400;
/// Lines of a briefing, and of one after the host has dropped what the session knew.
pub const BRIEFING_LINES_MAX: usize = 50;
pub const BRIEFING_LINES_RECOVERY_MAX: usize = 70;
/// Tokens of the text that is added to a single tool call or prompt. A quarter of them is the longest hint.
pub const ASIDE_TOKENS_MAX: usize = 600;
/// One row has at most this part of the tokens of its text; a longer one is cut.
pub const INJECT_ITEM_SHARE: usize = 4;
/// Tokens that a row may have in the smallest text: cut shorter it says nothing.
pub const INJECT_ITEM_TOKENS_MIN: usize = 25;
/// Lines of the answer to a question; its tokens are the caller's choice, up to [`INJECT_TOKENS_MAX`].
pub const QUESTION_LINES_MAX: usize = 70;
/// Characters of one cell of a row.
pub const INJECT_CELL_CHARS_MAX: usize = 600;

/// Hints that a session is told by themselves within [`JIT_WINDOW_MS`], and in all.
pub const JIT_HINTS_PER_WINDOW: u64 = 3;
pub const JIT_HINTS_PER_SESSION: u64 = 10;
pub const JIT_WINDOW_MS: i64 = 10 * 60_000;
/// Characters of one such hint: 150 tokens.
pub const JIT_HINT_CHARS_MAX: usize = 600;

// Observations and what is around them.

/// Milliseconds within which the same file read or the same search is one, unless the setting
/// `observations.fold` says otherwise.
pub const FOLD_MS: i64 = 300_000;
/// Equal records of a session that are kept one by one within [`REPEAT_MS`]; what follows folds.
pub const REPEATS_KEPT: u64 = 20;
pub const REPEAT_MS: i64 = 600_000;
/// Bytes of the word for a kind of record; a longer one cannot be registered.
pub const KIND_BYTES_MAX: usize = 24;
/// Observations that one call may ask for by id.
pub const OBSERVATION_IDS_MAX: usize = 50;
/// Observations of one session that are looked at for its summary, and that a trace shows.
pub const SUMMARY_ROWS_MAX: usize = 2_000;
pub const TRACE_ROWS_MAX: usize = 5_000;
/// Lines of each list of a summary, and characters of each line.
pub const SUMMARY_ITEMS_MAX: usize = 10;
pub const SUMMARY_LINE_CHARS_MAX: usize = 200;
/// Runs since a session began that are read to find its red ones.
pub const SUMMARY_RUNS_READ: usize = 30;
/// Characters of a summary's outcome.
pub const SUMMARY_OUTCOME_CHARS_MAX: usize = 240;
/// Words from which on a prompt says what is wanted.
pub const SUMMARY_INTENT_WORDS_MIN: usize = 5;
/// Rows that are looked at for the best of what is recent.
pub const RECENT_ROWS_MAX: usize = 5_000;
/// Files that one path may stand for, and paths of which it is looked whether they lead to the same file.
pub const FILE_FORMS_MAX: usize = 20_000;
pub const FILE_LINKS_MAX: usize = 100;
/// Minimum length of a literal text to purge records by, in characters: a shorter one matches almost everything.
pub const LITERAL_CHARS_MIN: usize = 4;
/// Records that a dry run of a purge shows.
pub const PURGE_SAMPLES: usize = 5;
/// Time that one sweep of retention may take, and time between two.
pub const SWEEP_BUDGET: Duration = Duration::from_millis(20);
pub const SWEEP_EVERY_MS: i64 = 3_600_000;
/// The same after one that could not finish.
pub const SWEEP_AGAIN_MS: i64 = 60_000;
/// Sweeps that are remembered.
pub const SWEEPS_KEPT: u32 = 100;
/// Records that a sweep removes between two looks at the clock.
pub const SWEEP_BATCH: usize = 100;
/// Time after which a sweep of everything lets others write before it goes on.
pub const SWEEP_TURN: Duration = Duration::from_millis(250);
/// Sweeps that statistics tell of.
pub const SWEEPS_TOLD: usize = 5;
/// Texts that a scrub looks at before it lets others write.
pub const SCRUB_BATCH: usize = 500;
/// Characters of a mark.
pub const MARK_CHARS_MAX: usize = 2_000;
/// Milliseconds of the longest pause that ends by itself.
pub const PAUSE_MS_MAX: i64 = 366 * 86_400_000;
/// Characters of a project's name, which appears in the briefings of other projects; the rest is cut off.
pub const PROJECT_NAME_CHARS_MAX: usize = 60;
/// Bytes of a name, remote or root that is to lead to a project.
pub const PROJECT_ALIAS_BYTES_MAX: usize = 4_096;
/// Milliseconds after which nobody sends a hook event again.
pub const HOOK_EVENTS_KEPT_MS: i64 = 30 * 86_400_000;
/// Hook events that are removed at a time.
pub const HOOK_EVENTS_PRUNED: u32 = 1_000;
/// Time for which what the files of a place say is believed.
pub const PLACE_BELIEVED: Duration = Duration::from_secs(5);
/// Characters of a branch's name, or of a work tree's path, that a record keeps.
pub const CHECKOUT_CHARS_MAX: usize = 200;
/// Places that are remembered.
pub const PLACES_MAX: usize = 256;
/// Bytes of a project's own settings file. A longer one counts as broken: the part that is not read may
/// exclude something.
pub const PROJECT_FILE_BYTES_MAX: u64 = 64 * 1024;
/// Globs in `exclude`, and their bytes together; more count as broken. Every path of every event is
/// compared with them.
pub const PROJECT_EXCLUDES_MAX: usize = 200;
pub const PROJECT_EXCLUDES_BYTES_MAX: usize = 8 * 1024;
/// Unknown keys of a project's settings file that a message names, and the longest name in bytes that it shows.
pub const PROJECT_KEYS_SHOWN: usize = 5;
pub const PROJECT_KEY_BYTES_MAX: usize = 40;
/// Bytes of a path that is matched against them. No file has a longer path, so a longer one counts as excluded.
pub const EXCLUDED_PATH_BYTES_MAX: usize = 4_096;
/// Files of a project that are compared with its `exclude` to see whether it leaves any, and directory entries
/// that are read to find files in a project without a git index. Further ones are not counted.
pub const EXCLUDE_FILES_CHECKED: usize = 1_000;
pub const EXCLUDE_ENTRIES_WALKED: usize = 5_000;
/// `exclude` is reported if it leaves at most one file in so many, and at most so many files: few enough that no
/// work is likely to be in them.
pub const EXCLUDE_KEPT_ONE_IN: usize = 20;
pub const EXCLUDE_KEPT_FILES: usize = 10;

/// Receipts that are listed.
pub const RECEIPTS_DEFAULT: usize = 50;
pub const RECEIPTS_MAX: usize = 1_000;

// Search.

/// Bytes of a query that are read, and words and pairs of adjacent words that are looked for: the
/// rarest ones.
pub const QUERY_BYTES_MAX: usize = text::query::BYTES_MAX;
pub const QUERY_WORDS_MAX: usize = text::query::WORDS_MAX;
pub const QUERY_PAIRS_MAX: usize = text::query::PAIRS_MAX;
/// Passages that the full-text index may give for a query, and passages with the rarer of two adjacent
/// words up to which it is asked for both.
pub const SEARCH_ROWS_MAX: usize = 30_000;
/// Passages that the words of a query with operators stand in, each word counted for itself, that are put
/// together to documents.
pub const SEARCH_ENTRIES_MAX: usize = 5_000_000;
/// Documents of a scope up to which the full-text index looks only at them.
pub const SEARCH_SCOPE_DOCUMENTS: usize = 2_000;
/// Records about a file up to which only they are looked at where it is asked for.
pub const SEARCH_FILE_DOCUMENTS: usize = 20_000;
/// Records of what failed up to which only they are looked at where it is asked for.
pub const SEARCH_FAILED_DOCUMENTS: usize = 50_000;
/// Documents that are candidates for an answer.
pub const SEARCH_CANDIDATES: usize = 200;
/// Records that are read to see whether they contain a name just as it was typed.
pub const SEARCH_EXACT_READ: usize = 500;
/// Characters of a text, from its beginning, by which records that are like it are found.
pub const SIMILAR_TEXT_CHARS: usize = 4_000;
/// Time that a query may take for all whose cost nobody can foresee: adjacent words, exact names, operators and beginnings of
/// words have four fifths of it, and which of many records a filter lets through is asked until its end.
pub const SEARCH_TIME: Duration = in_this_build(Duration::from_millis(50));
/// Milliseconds by which the time of a record may grow while it is repeated, and some more.
pub const RECORD_MOVES_MS: i64 = 3_600_000;

// What reads records answers with, by default and at most.

/// Characters of a commit's hash: fewer may mean too many commits, and more has none.
pub const COMMIT_HASH_CHARS_MIN: usize = 7;
pub const COMMIT_HASH_CHARS_MAX: usize = 64;
/// Hashes in a query that are looked up.
pub const QUERY_HASHES_MAX: usize = 8;
/// Hits of a search, and those of one session on its first page.
pub const SEARCH_DEFAULT: usize = 20;
pub const SEARCH_MAX: usize = 100;
pub const SEARCH_PER_SESSION: usize = 3;
/// Hits that are looked through for those of other sessions.
pub const SEARCH_SPREAD_MAX: usize = 2_000;
/// Hits of a search, from the first on, that are put in order by what their records say of each other:
/// answers before questions, a newer decision before the one it replaces.
pub const SEARCH_READ: usize = 40;
/// First hits of a search for which a record is looked up that replaces them.
pub const REPLACED_LOOKED_UP: usize = 20;
/// Passages of a project, the last ones, among which a record is looked up that replaces a hit.
pub const REPLACING_SCANNED: usize = 20_000;
/// Newer records, the nearest ones, that are compared with a hit by their words.
pub const REPLACING_COMPARED: usize = 24;
/// Newer prompts, answers and marks, of each kind, that are read to see whether one replaces a listed record.
pub const REPLACING_READ: usize = 300;
/// Runs of a project since a failed one, the newest ones, among which the run that worked is looked up.
pub const LATER_RUNS_READ: usize = 60;
/// Parts at the end of a path by whose names the command that renamed it, or a directory above it, is looked up.
pub const RENAMED_ABOVE: usize = 3;
/// Earlier names of a file that its history follows, and commands that are read for each of them.
pub const FILE_NAMES_MAX: usize = 4;
pub const RENAMES_READ: usize = 20;
/// Hits that are shown where none is likely to be what was asked for.
pub const SEARCH_SIMILAR_MAX: usize = 10;
/// First hits of which one has to be likely what was asked for, and characters of each that are read.
pub const EVIDENCE_HITS: usize = 10;
pub const EVIDENCE_CHARS: usize = 20_000;
/// Hits whose texts are read to see which say the same; further ones are listed one by one.
pub const FOLDED_READ_MAX: usize = 64;
/// Answers to questions about texts that are kept in memory, half a megabyte; beyond it all are forgotten.
pub const VERDICTS_MAX: usize = 14_000;
/// Statements of texts that are kept in memory as hashes, about a megabyte; beyond it all are forgotten.
pub const STATEMENTS_MAX: usize = 2_000;
/// Records that are like a text.
pub const SIMILAR_DEFAULT: usize = 10;
pub const SIMILAR_MAX: usize = 100;
/// Observations of `recent_context`.
pub const RECENT_DEFAULT: usize = 30;
pub const RECENT_MAX: usize = 100;
/// Tokens of `recent_context` for a model that names no limit, as many as a briefing has by default; further
/// records are left out.
pub const RECENT_TOKENS: usize = 800;
/// Observations on each side of a timeline's anchor.
pub const TIMELINE_SIDE_DEFAULT: usize = 5;
pub const TIMELINE_SIDE_MAX: usize = 50;
/// Touches of a file.
pub const FILE_TOUCHES_DEFAULT: usize = 10;
pub const FILE_TOUCHES_MAX: usize = 50;
/// Summaries of sessions, and sessions in a list.
pub const SUMMARIES_DEFAULT: usize = 10;
pub const SUMMARIES_MAX: usize = 50;
pub const SESSIONS_DEFAULT: usize = 20;
pub const SESSIONS_MAX: usize = 100;
/// Records of each kind that a list of entries has.
pub const RECORDS_LISTED: usize = 50;
/// Characters of a record's text that lists show, and of a line for people.
pub const PREVIEW_CHARS: usize = 120;
/// Characters of an action that a preview shows before the error or commit message that matched.
pub const PREVIEW_ACTION_CHARS: usize = 40;
pub const SHOWN_LINE_CHARS_MAX: usize = 120;
/// Characters of a project's name in a table; a longer name ends with `…`, so that the text keeps its room.
pub const SHOWN_PROJECT_CHARS: usize = 24;
/// Projects that a refusal names, and characters of the name that it refuses.
pub const PROJECTS_TOLD: usize = 8;
pub const PROJECT_NAME_CHARS_TOLD: usize = 100;

/// Records that a prompt is answered with.
pub const RELATED_MAX: usize = 3;
/// Time that a prompt gives the index to come up to date before it is asked.
pub const RELATED_PATIENCE: Duration = in_this_build(Duration::from_millis(50));

/// Passages of a record that are compared with those of another one.
pub const COMPARED_PASSAGES_MAX: usize = 4;
/// Passages with a word that are read to count the projects that use it.
pub const SPREAD_PASSAGES_MAX: usize = 1_000;
/// Prompts of a session that are compared with a prompt that is about it.
pub const RELATED_PROMPTS_READ: usize = 40;
/// Characters of a related turn's text in the block for a prompt.
pub const RELATED_CHARS: usize = 240;

/// Rows of each section of a briefing, and the rows that a section keeps while others still have more than
/// their minimum.
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
/// Rows about the session itself after its context was compacted or cleared, their minimum, and the answers
/// among them.
pub const BRIEFING_OWN_MAX: usize = 18;
pub const BRIEFING_OWN_FLOOR: usize = 8;
pub const BRIEFING_OWN_ANSWERS: usize = 3;
/// Characters of a prompt, an answer, a mark or a decision in a briefing.
pub const BRIEFING_TEXT_CHARS: usize = 240;
/// Characters of a decision that is quoted alone, because its end would be cut off. Longer sentences state none.
pub const BRIEFING_DECISION_CHARS: usize = 420;
/// Characters of a file's last change, and of a commit's subject.
pub const BRIEFING_CHANGE_CHARS: usize = 90;
/// Commits of one session that a briefing names.
pub const BRIEFING_COMMITS_TOLD: usize = 3;
/// Files that the line of a session names.
pub const BRIEFING_SESSION_FILES: usize = 4;
/// Files that one row names.
pub const BRIEFING_FILES_NAMED: usize = 8;
/// An unanswered prompt with fewer words is not open work.
pub const OPEN_PROMPT_WORDS_MIN: usize = 3;
/// A session with an event within this time may still be at work on its last prompt.
pub const AT_WORK_MS: i64 = 10 * 60_000;
/// Sessions with an event within that time that are read to find the one that searches.
pub const AT_WORK_SESSIONS_READ: usize = 8;
/// Red runs that a briefing lists, and the characters of their command and of the failure.
pub const RED_RUNS_TOLD: usize = 3;
pub const RED_COMMAND_CHARS: usize = 100;
pub const RED_FINDING_CHARS: usize = 160;
/// Records that are read for a briefing, newest first: sessions, runs, commits, edits, commands, failures,
/// prompts and answers. Older ones are ignored.
pub const BRIEFING_READ_SESSIONS: usize = 12;
pub const BRIEFING_READ_TURNS: usize = 16;
pub const BRIEFING_READ_RUNS: usize = 60;
pub const BRIEFING_READ_COMMITS: usize = 20;
pub const BRIEFING_READ_EDITS: usize = 80;
pub const BRIEFING_READ_COMMANDS: usize = 80;
pub const BRIEFING_READ_FAILURES: usize = 20;
pub const BRIEFING_READ_TALK: usize = 40;
/// Other projects that are read, those with the latest events first, and records of each.
pub const BRIEFING_READ_PROJECTS: usize = 8;
pub const BRIEFING_READ_OF_OTHERS: usize = 5;
/// How long before the project's last event a run, a failure or an edit still matters.
pub const BRIEFING_WORK_MS: i64 = 21 * 86_400_000;
/// How long before the project's last event an edited file counts as in progress.
pub const BRIEFING_FILES_MS: i64 = 8 * 86_400_000;
/// How long before the project's last event decisions and commits still matter.
pub const BRIEFING_TALK_MS: i64 = 90 * 86_400_000;

/// Rows by section under the name `nmem`, and (`RECOVERY`) after the session's context was compacted or
/// cleared. A section keeps its `FLOOR` while others still have more than theirs.
pub const BRIEFING_INTENTS_MAX: usize = 10;
pub const BRIEFING_INTENTS_FLOOR: usize = 5;
pub const BRIEFING_LOCAL_MAX: usize = 20;
pub const BRIEFING_LOCAL_RECOVERY_MAX: usize = 30;
pub const BRIEFING_LOCAL_FLOOR: usize = 10;
pub const BRIEFING_CROSS_MAX: usize = 10;
pub const BRIEFING_CROSS_RECOVERY_MAX: usize = 15;
/// Characters of a prompt and of a record there; those of other projects have as many in every form.
pub const BRIEFING_INTENT_CHARS: usize = 60;
pub const BRIEFING_SUMMARY_CHARS: usize = 100;

// Measuring search.

/// Hits of a question that are looked at: as many as search itself looks at.
pub const EVAL_HITS: usize = SEARCH_CANDIDATES;
/// Documents that are written at a time, and bytes of their texts from which on they are enough.
pub const EVAL_BATCH_DOCUMENTS: usize = 4_000;
pub const EVAL_BATCH_BYTES: usize = 8 * 1024 * 1024;
/// How often the questions are drawn anew for an interval.
pub const EVAL_RESAMPLES: usize = 1_000;

// Connecting agents.

/// Bytes of an agent's file that is edited.
pub const AGENT_FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Files and folders of an agent that are looked at to tell when it was last active, and how deep.
pub const TRACES_MAX: usize = 50_000;
pub const TRACES_DEPTH_MAX: usize = 8;
/// How much later than its last event an agent may have been active.
pub const CAPTURE_LAG: Duration = Duration::from_secs(600);
/// The latest events that tell when each hook was last heard of.
pub const HOOK_EVENTS_LOOKED_AT: usize = 50_000;
/// How long a program may take to say which build it is.
pub const PROGRAM_ANSWER: Duration = Duration::from_secs(3);
/// Projects with several roots that the doctor lists.
pub const DOCTOR_PROJECTS_SHOWN: usize = 20;
/// The newest records that the doctor has the secret guard look at.
pub const SECRETS_SAMPLE: usize = 1_000;
/// Bytes left on the disk under which there is a warning, and under which capture is about to fail.
pub const DISK_LOW_BYTES: u64 = 500 * 1024 * 1024;
pub const DISK_FULL_BYTES: u64 = 20 * 1024 * 1024;
/// How far ahead of the clock a time may be.
pub const CLOCK_SLACK: Duration = Duration::from_secs(300);
/// How long an installation waits for another one.
pub const INSTALL_PATIENCE: Duration = Duration::from_secs(10);
