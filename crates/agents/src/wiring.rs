//! Where each agent keeps its configuration, and what has to stand there so that it calls us.
//!
//! Data alone: how a file is edited is not here. A further agent is a further row of [`WIRINGS`].

use std::time::Duration;

use crate::opencode;

/// How one agent is connected.
#[derive(Clone, Copy, Debug)]
pub struct Wiring {
    /// The name of the agent in the table of agents.
    pub agent: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// Its programs: one of them on the PATH means that it is installed.
    pub programs: &'static [&'static str],
    /// Its folder: if it is there, the agent was used here.
    pub folder: Place,
    pub files: &'static [Wired],
    /// Where it keeps its sessions: whatever is newest there says when it was last active.
    pub traces: &'static [Place],
    /// The member of its settings that names the plugins that are on, which may be ours.
    pub plugins: Option<&'static str>,
    /// The member of its settings that switches all hooks off.
    pub off: Option<&'static str>,
    /// What the user still has to do after an installation.
    pub remark: Option<&'static str>,
}

/// A place in the user's home, and its counterpart in a repository.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The variable that moves it, if it is set and not empty.
    pub var: Option<&'static str>,
    /// The path below what the variable says.
    pub moved: &'static str,
    /// The path below the home directory.
    pub home: &'static str,
    /// The path below the root of a repository; none if the agent has no such file there.
    pub project: Option<&'static str>,
}

/// One file that is edited, or made.
#[derive(Clone, Copy, Debug)]
pub struct Wired {
    pub place: Place,
    /// A further ending: the file with it is taken if it is there.
    pub or_ending: Option<&'static str>,
    pub format: Format,
    pub parts: &'static [Part],
}

/// What a file is written in.
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

/// What has to stand in a file.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    Hooks(Hooks),
    Server {
        /// The member, or the table, that holds the MCP servers by name.
        under: &'static str,
        shape: Server,
    },
    /// A number that the agent wants to find.
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

/// An event that is hooked, and how long the agent is to wait if its own default does not do.
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

/// What an agent counts time in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Seconds,
    Milliseconds,
}

/// Variables that decide where the memory and its daemon are. A server that does not see them looks for the
/// daemon in another place than the hooks do, and finds none.
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
    /// The same with `env_vars`: [`VARIABLES`], for an agent that hands no other variables on.
    Forwarding,
    /// The same with `type`: `stdio`.
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

/// The wiring of the agent of this name.
pub fn wiring(agent: &str) -> Option<&'static Wiring> {
    WIRINGS.iter().find(|wiring| wiring.agent == agent)
}

/// A place in the home directory that nothing moves, and the same one in a repository.
const fn fixed(path: &'static str) -> Place {
    Place { var: None, moved: path, home: path, project: Some(path) }
}

/// An event for which the agent's own patience does.
const fn on(event: &'static str) -> Hooked {
    Hooked { event, timeout: None }
}

/// An event for which the agent waits this many seconds.
const fn within(event: &'static str, seconds: u64) -> Hooked {
    Hooked { event, timeout: Some(Duration::from_secs(seconds)) }
}

const SERVERS: &str = "mcpServers";

/// Every agent that can be connected, in the order in which they are shown.
pub const WIRINGS: &[Wiring] = &[
    Wiring {
        agent: "claude-code",
        title: "Claude Code",
        programs: &["claude"],
        folder: Place {
            var: Some("CLAUDE_CONFIG_DIR"),
            moved: "",
            home: ".claude",
            project: Some(".claude"),
        },
        files: &[
            Wired {
                place: Place {
                    var: Some("CLAUDE_CONFIG_DIR"),
                    moved: "settings.json",
                    home: ".claude/settings.json",
                    project: Some(".claude/settings.json"),
                },
                or_ending: None,
                format: Format::Json,
                parts: &[Part::Hooks(CLAUDE_HOOKS)],
            },
            Wired {
                place: Place {
                    var: Some("CLAUDE_CONFIG_DIR"),
                    moved: ".claude.json",
                    home: ".claude.json",
                    project: Some(".mcp.json"),
                },
                or_ending: None,
                format: Format::Json,
                parts: &[Part::Server { under: SERVERS, shape: Server::Typed }],
            },
        ],
        traces: &[Place {
            var: Some("CLAUDE_CONFIG_DIR"),
            moved: "projects",
            home: ".claude/projects",
            project: None,
        }],
        plugins: Some("enabledPlugins"),
        off: Some("disableAllHooks"),
        remark: None,
    },
    Wiring {
        agent: "codex",
        title: "Codex",
        programs: &["codex"],
        folder: Place {
            var: Some("CODEX_HOME"),
            moved: "",
            home: ".codex",
            project: Some(".codex"),
        },
        files: &[
            Wired {
                place: Place {
                    var: Some("CODEX_HOME"),
                    moved: "hooks.json",
                    home: ".codex/hooks.json",
                    project: Some(".codex/hooks.json"),
                },
                or_ending: None,
                format: Format::Json,
                parts: &[Part::Hooks(Hooks {
                    grouped: true,
                    typed: true,
                    call: Call::Line,
                    unit: Unit::Seconds,
                    events: &[
                        on("SessionStart"),
                        on("UserPromptSubmit"),
                        on("PreToolUse"),
                        on("PostToolUse"),
                        on("SubagentStop"),
                        on("PreCompact"),
                        on("Stop"),
                        // The longest that this agent allows.
                        within("SessionEnd", 3),
                    ],
                })],
            },
            Wired {
                place: Place {
                    var: Some("CODEX_HOME"),
                    moved: "config.toml",
                    home: ".codex/config.toml",
                    project: Some(".codex/config.toml"),
                },
                or_ending: None,
                format: Format::Toml,
                parts: &[Part::Server { under: "mcp_servers", shape: Server::Forwarding }],
            },
        ],
        traces: &[Place {
            var: Some("CODEX_HOME"),
            moved: "sessions",
            home: ".codex/sessions",
            project: None,
        }],
        plugins: None,
        off: None,
        remark: Some(
            "Codex runs hooks only after you have trusted them: start it once and say yes when it \
             asks about the new hooks (or open /hooks).",
        ),
    },
    Wiring {
        agent: "gemini-cli",
        title: "Gemini CLI",
        programs: &["gemini"],
        folder: Place {
            var: Some("GEMINI_CLI_HOME"),
            moved: ".gemini",
            home: ".gemini",
            project: Some(".gemini"),
        },
        files: &[Wired {
            place: Place {
                var: Some("GEMINI_CLI_HOME"),
                moved: ".gemini/settings.json",
                home: ".gemini/settings.json",
                project: Some(".gemini/settings.json"),
            },
            or_ending: None,
            format: Format::JsonWithComments,
            parts: &[
                Part::Hooks(Hooks {
                    grouped: true,
                    typed: true,
                    call: Call::Line,
                    unit: Unit::Milliseconds,
                    events: &[
                        on("SessionStart"),
                        on("BeforeAgent"),
                        on("BeforeTool"),
                        on("AfterTool"),
                        on("AfterAgent"),
                        on("PreCompress"),
                        within("SessionEnd", 10),
                    ],
                }),
                Part::Server { under: SERVERS, shape: Server::Plain },
            ],
        }],
        traces: &[Place {
            var: Some("GEMINI_CLI_HOME"),
            moved: ".gemini/tmp",
            home: ".gemini/tmp",
            project: None,
        }],
        plugins: None,
        off: None,
        remark: Some(
            "Gemini CLI starts MCP servers only in folders that you trust: say yes when it asks.",
        ),
    },
    Wiring {
        agent: "cursor",
        title: "Cursor",
        programs: &["cursor", "cursor-agent"],
        folder: fixed(".cursor"),
        files: &[
            Wired {
                place: fixed(".cursor/hooks.json"),
                or_ending: None,
                format: Format::Json,
                parts: &[
                    Part::Number { name: "version", number: 1 },
                    Part::Hooks(Hooks {
                        grouped: false,
                        typed: false,
                        call: Call::Line,
                        unit: Unit::Seconds,
                        events: &[
                            on("sessionStart"),
                            on("beforeSubmitPrompt"),
                            on("preToolUse"),
                            on("postToolUse"),
                            on("postToolUseFailure"),
                            on("subagentStop"),
                            on("preCompact"),
                            on("stop"),
                            within("sessionEnd", 10),
                        ],
                    }),
                ],
            },
            Wired {
                place: fixed(".cursor/mcp.json"),
                or_ending: None,
                format: Format::Json,
                parts: &[Part::Server { under: SERVERS, shape: Server::Plain }],
            },
        ],
        traces: &[fixed(".cursor/chats")],
        plugins: None,
        off: None,
        remark: None,
    },
    Wiring {
        agent: "opencode",
        title: "OpenCode",
        programs: &["opencode"],
        folder: Place {
            var: Some("XDG_CONFIG_HOME"),
            moved: "opencode",
            home: ".config/opencode",
            project: Some(".opencode"),
        },
        files: &[
            Wired {
                place: Place {
                    var: Some("XDG_CONFIG_HOME"),
                    moved: "opencode/plugins/rekindle.js",
                    home: ".config/opencode/plugins/rekindle.js",
                    project: Some(".opencode/plugins/rekindle.js"),
                },
                or_ending: None,
                format: Format::Text,
                parts: &[Part::Text(opencode::plugin)],
            },
            Wired {
                place: Place {
                    var: Some("XDG_CONFIG_HOME"),
                    moved: "opencode/opencode.json",
                    home: ".config/opencode/opencode.json",
                    project: Some("opencode.json"),
                },
                or_ending: Some("jsonc"),
                format: Format::Jsonc,
                parts: &[Part::Server { under: "mcp", shape: Server::Listed }],
            },
        ],
        // Its database also changes when somebody only looks; what it takes before a turn does not.
        traces: &[
            Place {
                var: Some("XDG_DATA_HOME"),
                moved: "opencode/snapshot",
                home: ".local/share/opencode/snapshot",
                project: None,
            },
            Place {
                var: Some("XDG_DATA_HOME"),
                moved: "opencode/storage",
                home: ".local/share/opencode/storage",
                project: None,
            },
        ],
        plugins: None,
        off: None,
        remark: None,
    },
];

/// The hooks of Claude Code, in its settings and in a plugin.
pub const CLAUDE_HOOKS: Hooks = Hooks {
    grouped: true,
    typed: true,
    call: Call::Exec,
    unit: Unit::Seconds,
    events: &[
        on("SessionStart"),
        on("UserPromptSubmit"),
        on("PreToolUse"),
        on("PostToolUse"),
        on("PostToolUseFailure"),
        on("Stop"),
        on("SubagentStop"),
        on("PreCompact"),
        // Without a time of its own it is cut off after a moment.
        within("SessionEnd", 10),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AGENTS, agent};

    #[test]
    fn every_agent_of_the_table_can_be_connected() {
        let names: Vec<&str> = WIRINGS.iter().map(|wiring| wiring.agent).collect();
        assert_eq!(names, AGENTS.iter().map(|agent| agent.name).collect::<Vec<_>>());
    }

    #[test]
    fn every_hooked_event_is_in_the_table_of_its_agent() {
        for wiring in WIRINGS {
            let agent = agent(wiring.agent).unwrap();
            let parts = wiring.files.iter().flat_map(|file| file.parts);
            for part in parts {
                let Part::Hooks(hooks) = part else { continue };
                for hooked in hooks.events {
                    assert!(agent.event(hooked.event).is_some(), "{}: {hooked:?}", agent.name);
                }
            }
        }
    }

    #[test]
    fn a_time_is_written_in_the_unit_of_the_agent() {
        let ten = Duration::from_secs(10);
        assert_eq!((Unit::Seconds.of(ten), Unit::Milliseconds.of(ten)), (10, 10_000));
    }
}
