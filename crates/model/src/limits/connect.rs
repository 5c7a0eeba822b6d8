//! Bounds of connecting agents.

use std::time::Duration;

/// Bytes of an agent's configuration file; a larger one is not edited.
pub const AGENT_FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Files and directories of an agent that are checked to find out when it was last active; further ones are ignored.
pub const TRACES_MAX: usize = 50_000;
/// Directory depth to which the files of an agent are checked for its last activity; deeper ones are ignored.
pub const TRACES_DEPTH_MAX: usize = 8;
/// `doctor` reports missing events if the files of an agent are this much newer than its last recorded event.
pub const CAPTURE_LAG: Duration = Duration::from_secs(600);
/// Latest events that are read to determine when each hook last fired.
pub const HOOK_EVENTS_LOOKED_AT: usize = 50_000;
/// How long a program may take to report its build; a slower one is killed.
pub const PROGRAM_ANSWER: Duration = Duration::from_secs(3);
/// Projects with several roots that `doctor` lists.
pub const DOCTOR_PROJECTS_SHOWN: usize = 20;
/// Projects without a directory that `doctor` compares with the current repository, those with the latest events first.
pub const DOCTOR_LOST_PROJECTS: usize = 20;
/// Newest records that `doctor` checks with the secret guard.
pub const SECRETS_SAMPLE: usize = 1_000;
/// Free disk space, in bytes, below which `doctor` warns.
pub const DISK_LOW_BYTES: u64 = 500 * 1024 * 1024;
/// Free disk space, in bytes, below which `doctor` reports a failure: capture is about to fail.
pub const DISK_FULL_BYTES: u64 = 20 * 1024 * 1024;
/// How far a stored time may be ahead of the clock before `doctor` warns.
pub const CLOCK_SLACK: Duration = Duration::from_secs(300);
/// How long an installation waits for another one to finish; after that, it fails.
pub const INSTALL_PATIENCE: Duration = Duration::from_secs(10);
