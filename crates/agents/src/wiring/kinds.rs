//! The types of the table's rows: places, files and their parts, hooks, servers, and settings that switch them off.

use std::time::Duration;

/// How one agent is connected.
#[derive(Clone, Copy, Debug)]
pub struct Wiring {
    /// The name of the agent in the table of agents.
    pub agent: &'static str,
    /// The agent's name as it is shown to users.
    pub title: &'static str,
    /// Its programs: one of them on the PATH means that the agent is installed.
    pub programs: &'static [&'static str],
    /// Its folder: if it exists, the agent was used here.
    pub folder: Place,
    pub files: &'static [Wired],
    /// Where it stores its sessions: the newest file there shows when it was last active.
    pub traces: &'static [Place],
    /// The member of its settings that names the plugins that are on, which may be ours.
    pub plugins: Option<&'static str>,
    /// A step that is left to the user after an installation.
    pub remark: Option<&'static str>,
}

/// A place in the user's home, and its counterpart in a repository.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The variable that moves it, if it is set and not empty.
    pub var: Option<&'static str>,
    /// The path below the value of the variable.
    pub moved: &'static str,
    /// The path below the home directory.
    pub home: &'static str,
    /// The path below the root of a repository; none if the agent has no such file there.
    pub project: Option<&'static str>,
}

/// One file that is edited or created.
#[derive(Clone, Copy, Debug)]
pub struct Wired {
    pub place: Place,
    /// Another extension: if a file with it exists, that file is used.
    pub or_ending: Option<&'static str>,
    pub format: Format,
    pub parts: &'static [Part],
    /// The settings in this file by which a user switches off hooks or our server.
    pub switches: &'static [Switch],
    /// A private settings file in a repository, which is not committed; it is read for `switches` and never edited.
    pub local: Option<&'static str>,
}

/// A setting that switches something off. The repository's file takes precedence over the user's.
#[derive(Clone, Copy, Debug)]
pub struct Switch {
    /// The names that lead to it, from the outermost.
    pub member: &'static [&'static str],
    pub off: Off,
}

/// The effect of a setting: whether it switches off hooks or our server, and by which value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Off {
    /// All hooks, if it has this value.
    Hooks(bool),
    /// The hooks in this list, by their `name` or else by their command.
    HooksListed,
    /// The hooks whose member, named `FILE:EVENT:GROUP:HOOK`, has `enabled = false`.
    HooksKeyed,
    /// Our MCP server, if it has this value.
    Server(bool),
    /// Our MCP server, if this list contains it.
    ServerListed,
}

/// The syntax of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Json,
    /// JSON in which the agent allows comments, but no comma at the end of a list.
    JsonWithComments,
    /// JSON with comments and with commas at the end of a list.
    Jsonc,
    Toml,
    /// A whole file of ours.
    Text,
}

/// An entry of ours in a file.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    Hooks(Hooks),
    Server {
        /// The member, or the table, that holds the MCP servers by name.
        under: &'static str,
        shape: Server,
    },
    /// The command of the agent's status line, if the user wants it and has none.
    StatusLine,
    /// A number that the agent requires.
    Number {
        name: &'static str,
        number: u32,
    },
    /// The text of a whole file that starts the command at this path.
    Text(fn(&str) -> String),
}

/// Hooks under the member `hooks`, by the name of the event.
#[derive(Clone, Copy, Debug)]
pub struct Hooks {
    /// Whether an event holds groups with a list `hooks` each, or the hooks themselves.
    pub grouped: bool,
    /// Whether a hook has a member `type`.
    pub typed: bool,
    pub call: Call,
    pub unit: Unit,
    pub events: &'static [Hooked],
}

/// An event with a hook, and a timeout if the agent's default does not fit.
#[derive(Clone, Copy, Debug)]
pub struct Hooked {
    pub event: &'static str,
    pub timeout: Option<Duration>,
}

/// How an agent starts a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// `command` and `args`, without a shell.
    Exec,
    /// `command` as one line for a shell: all that the agent offers.
    Line,
}

/// The unit of an agent's timeouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Seconds,
    Milliseconds,
}

/// Environment variables that set the directories of the memory and its daemon. An MCP server without them
/// searches for the daemon in another directory than the hooks do, and finds none.
pub const VARIABLES: [&str; 6] = [
    "REKINDLE_HOME",
    "REKINDLE_RUNTIME_DIR",
    "REKINDLE_CONFIG",
    "XDG_RUNTIME_DIR",
    "XDG_DATA_HOME",
    "XDG_CONFIG_HOME",
];

/// How an MCP server is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    /// `command` and `args`.
    Plain,
    /// `command`, `args` and `env_vars`: [`VARIABLES`], for an agent that passes on only the variables listed there.
    Forwarding,
    /// `command`, `args` and `type`: `stdio`.
    Typed,
    /// `type`: `local`, and `command` as a list with the arguments.
    Listed,
}

impl Unit {
    /// A time as the agent writes it.
    pub fn of(self, time: Duration) -> u64 {
        match self {
            Unit::Seconds => time.as_secs(),
            Unit::Milliseconds => u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
        }
    }
}
