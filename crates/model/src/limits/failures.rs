//! Bounds of failures and their fixes, and of entries that no session uses.

/// An unused entry ranks half as high at hooks once this many sessions have got it.
pub const IGNORED_SESSIONS: u64 = 5;
/// Entries that no session used that `receipts --summary` lists.
pub const IGNORED_SHOWN: usize = 20;

/// Sessions whose unused learned entries are cached; a full cache is cleared and read again.
pub const SHOWN_SESSIONS_MAX: usize = 256;
/// Words of the shortest command outside of backticks that a learned text can name.
pub const NAMED_COMMAND_WORDS_MIN: usize = 2;
/// Characters of the shortest word of a learned text that is taken for a path or a file name.
pub const NAMED_FILE_CHARS_MIN: usize = 4;

/// Open failures of a kind of run that one passing run may fix; older ones stay open.
pub const OPEN_FAILURES_MAX: usize = 64;
/// The most runs after an imported failure that are searched for its fix, if they were imported before it.
pub const LATER_RUNS_MAX: usize = 64;
/// Known failures with a line in common with a new one that are compared with it; older ones are not recognised.
pub const ALIKE_FAILURES_MAX: usize = 64;
/// Occurrences of a failure that are counted: the latest ones.
pub const OCCURRENCES_MAX: usize = 1_000;
/// The most recent fixes of a failure, among which the newest fix that names a step is searched.
pub const FIXES_COMPARED: usize = 10;
/// Records between a failure and its fix that are read, the last ones.
pub const BETWEEN_MAX: usize = 200;
/// Files, and as many commands, between a failure and its fix that are named; the others are counted.
pub const BETWEEN_SHOWN: usize = 5;
/// Characters of a command in the text about a fix.
pub const FIX_COMMAND_CHARS: usize = 120;
/// Characters of a fix that a session gets: 150 tokens.
pub const FIX_CHARS_MAX: usize = 600;
/// Failures that `fixes` lists if the call sets no limit.
pub const FIXES_DEFAULT: usize = 10;
/// Failures that `fixes` lists at most.
pub const FIXES_MAX: usize = 100;
/// Characters of the error that `find_fix` compares; a longer one is refused.
pub const FIX_ERROR_CHARS_MAX: usize = 1_000_000;
/// Failures whose lines are searched for a given part, and the least characters of such a part.
pub const FIXES_LOOKED_AT: usize = 500;
pub const FIX_PART_CHARS_MIN: usize = 8;
