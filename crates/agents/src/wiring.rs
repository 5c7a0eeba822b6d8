//! Where each agent stores its configuration, and the entries there that make it call us.
//!
//! Only data: the code that edits the files is elsewhere. A new agent is a new row of [`WIRINGS`].

mod kinds;

use std::time::Duration;

use crate::opencode;

pub use kinds::{
    Call, Format, Hooked, Hooks, Off, Part, Place, Server, Switch, Unit, VARIABLES, Wired, Wiring,
};

/// The wiring of the agent of this name.
pub fn wiring(agent: &str) -> Option<&'static Wiring> {
    WIRINGS.iter().find(|wiring| wiring.agent == agent)
}

/// A path in the home directory that no variable moves, and the same path in a repository.
const fn fixed(path: &'static str) -> Place {
    Place { var: None, moved: path, home: path, project: Some(path) }
}

/// An event with the agent's default timeout.
const fn on(event: &'static str) -> Hooked {
    Hooked { event, timeout: None }
}

/// An event for which the agent waits this many seconds.
const fn within(event: &'static str, seconds: u64) -> Hooked {
    Hooked { event, timeout: Some(Duration::from_secs(seconds)) }
}

const fn switch(member: &'static [&'static str], off: Off) -> Switch {
    Switch { member, off }
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
                parts: &[Part::Hooks(CLAUDE_HOOKS), Part::StatusLine],
                switches: &[switch(&["disableAllHooks"], Off::Hooks(true))],
                local: Some(".claude/settings.local.json"),
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
                switches: &[],
                local: None,
            },
        ],
        traces: &[Place {
            var: Some("CLAUDE_CONFIG_DIR"),
            moved: "projects",
            home: ".claude/projects",
            project: None,
        }],
        plugins: Some("enabledPlugins"),
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
                switches: &[],
                local: None,
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
                switches: &[
                    switch(&["features", "hooks"], Off::Hooks(false)),
                    // The former name of this setting.
                    switch(&["features", "codex_hooks"], Off::Hooks(false)),
                    switch(&["hooks", "state"], Off::HooksKeyed),
                    switch(&["mcp_servers", "rekindle", "enabled"], Off::Server(false)),
                ],
                local: None,
            },
        ],
        traces: &[Place {
            var: Some("CODEX_HOME"),
            moved: "sessions",
            home: ".codex/sessions",
            project: None,
        }],
        plugins: None,
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
            switches: &[
                switch(&["hooksConfig", "enabled"], Off::Hooks(false)),
                switch(&["hooksConfig", "disabled"], Off::HooksListed),
                switch(&["mcp", "excluded"], Off::ServerListed),
            ],
            local: None,
        }],
        traces: &[Place {
            var: Some("GEMINI_CLI_HOME"),
            moved: ".gemini/tmp",
            home: ".gemini/tmp",
            project: None,
        }],
        plugins: None,
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
                            on("afterAgentResponse"),
                            on("stop"),
                            within("sessionEnd", 10),
                        ],
                    }),
                ],
                switches: &[],
                local: None,
            },
            Wired {
                place: fixed(".cursor/mcp.json"),
                or_ending: None,
                format: Format::Json,
                parts: &[Part::Server { under: SERVERS, shape: Server::Plain }],
                switches: &[],
                local: None,
            },
        ],
        traces: &[fixed(".cursor/chats")],
        plugins: None,
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
                switches: &[],
                local: None,
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
                switches: &[switch(&["mcp", "rekindle", "enabled"], Off::Server(false))],
                local: None,
            },
        ],
        // Its database also changes when a user only views a session; the snapshot before a turn does not.
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
        on("StopFailure"),
        on("SubagentStop"),
        on("PreCompact"),
        // If this hook has no timeout of its own, the agent kills it after a moment.
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
