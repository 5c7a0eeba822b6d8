//! The supported agents as rows of data: each agent's names for its events, tools and members, how
//! it is recognised, and the form of an answer to it.

use model::limits;
use text::HostLimits;

/// How many bytes a host counts as one token.
const BYTES_PER_TOKEN: usize = 4;

/// One agent.
#[derive(Clone, Copy, Debug)]
pub struct Agent {
    /// The name that `install` and the hook's command use.
    pub name: &'static str,
    pub events: &'static [Event],
    /// The agent's tools. A tool that is not listed is [`Tool::Mcp`] by its name's form, or [`Tool::Other`].
    pub tools: &'static [(&'static str, Tool)],
    pub fields: Fields,
    pub marks: Marks,
    /// How the agent names MCP tools.
    pub mcp: McpNames,
    /// Where the output of a command states its exit code, if the agent may report a failure without a
    /// separate event.
    pub exit_line: Option<ExitLine>,
    /// The most characters of injected text, counted as the host counts them: in UTF-16.
    pub chars_max: usize,
    /// The most tokens of injected text, where the host counts tokens: a quarter of its bytes.
    pub tokens_max: Option<usize>,
    /// The command that resumes a session, before its id; none if the agent has none.
    pub resume: Option<&'static str>,
}

/// An event of an agent.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    pub name: &'static str,
    pub kind: Kind,
    /// The form of an answer with text; `None` if the event is not answered.
    pub answer: Option<Form>,
    /// The tool, if the event reports the use of this tool only. The event's members are then the tool's input.
    pub stands_for: Option<&'static str>,
}

/// The kind of happening that an event reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    SessionStart,
    Prompt,
    ToolStart,
    ToolUse,
    ToolFailure,
    TurnEnd,
    /// The turn was cut short by an error.
    TurnFailure,
    /// A message of an agent whose end of the turn is a separate event.
    Message,
    SubagentEnd,
    Compacting,
    Compacted,
    CwdChange,
    SessionEnd,
    Other,
}

/// The form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `{"hookSpecificOutput":{"hookEventName":…,"additionalContext":…}}`.
    HookSpecificOutput,
    /// `{"additional_context":…}`.
    AdditionalContext,
}

/// The kind of a tool, independent of its name in an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    Read,
    Write,
    Edit,
    /// Several edits of one file.
    Edits,
    Notebook,
    /// Edits of several files as one patch.
    Patch,
    Shell,
    Grep,
    Glob,
    Spawn,
    WebFetch,
    WebSearch,
    Ask,
    Mcp,
    Other,
}

/// The form of the names that an agent gives to the tools of MCP servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct McpNames {
    /// If it is empty, a name that is not listed and contains the separator is an MCP tool.
    pub prefix: &'static str,
    /// Between server and tool.
    pub separator: &'static str,
}

/// Names of members that differ between agents. Of several names, the first with a value counts.
#[derive(Clone, Copy, Debug)]
pub struct Fields {
    pub session: &'static [&'static str],
    /// A list of folders, the first of which is the working directory if there is no `cwd`.
    pub roots: Option<&'static str>,
    pub prompt_id: &'static str,
    pub response: &'static [&'static str],
    /// Members with a tool's response that are JSON inside a text; they take precedence over `response`.
    pub response_json: &'static [&'static str],
    pub error: &'static str,
    /// The agent's final message, in the event that ends a turn.
    pub answer: &'static str,
    /// Whether a tool use may have several ids, one per line; the first is used.
    pub several_ids: bool,
    /// Whether the agent may wrap a prompt in quotation marks that the user did not type.
    pub quotes_prompts: bool,
}

/// Signs that identify an agent whose name was not given.
#[derive(Clone, Copy, Debug)]
pub struct Marks {
    /// A folder in the path of the transcript.
    pub folder: Option<&'static str>,
    /// A member that only this agent sends, if no agent above it in the table was recognised.
    pub member: Option<&'static str>,
    /// A member that identifies the agent even in another agent's hook, because it runs those hooks too.
    pub guest: Option<&'static str>,
}

/// The line that states the exit code of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitLine {
    /// The first line of a response that is a text. In an object, the first line is output of the command.
    Opening,
    /// One of the first lines of the output.
    First,
    /// The last line that states an exit code.
    Last,
}

/// The agent of this name.
pub fn agent(name: &str) -> Option<&'static Agent> {
    AGENTS.iter().chain(WITHOUT_HOOKS).find(|agent| agent.name == name)
}

/// The agent that an MCP client belongs to, by the name with which it introduces itself: `codex-mcp-client`.
pub fn of_client(name: &str) -> Option<&'static Agent> {
    let name = name.to_lowercase();
    let begins =
        |agent: &&Agent| agent.name.split('-').next().is_some_and(|word| name.contains(word));
    AGENTS.iter().find(begins)
}

/// The kind of the event of this name, in the first agent that has it.
pub fn kind(event: &str) -> Kind {
    AGENTS.iter().find_map(|agent| agent.event(event)).map_or(Kind::Other, |event| event.kind)
}

/// The kind of the tool of this name, in the first agent that lists it or has its prefix of MCP tools; and how the
/// names of MCP tools are read.
pub(crate) fn any_tool(name: &str) -> (Tool, Option<McpNames>) {
    let mut tools = AGENTS.iter().flat_map(|agent| agent.tools);
    let listed = tools.find(|(known, _)| *known == name).map(|(_, tool)| *tool);
    // Agents without a prefix are left out: each name with their separator would count, even that of another agent's
    // own tool. The longest prefix wins: `mcp__` before `mcp_`.
    let prefixed = AGENTS.iter().map(|agent| agent.mcp).filter(|names| !names.prefix.is_empty());
    let names =
        prefixed.filter(|names| names.includes(name)).max_by_key(|names| names.prefix.len());
    match (listed, names) {
        (Some(tool), names) => (tool, names),
        (None, Some(names)) => (Tool::Mcp, Some(names)),
        (None, None) => (Tool::Other, None),
    }
}

impl McpNames {
    fn includes(self, name: &str) -> bool {
        match self.prefix {
            "" => name.contains(self.separator),
            prefix => name.starts_with(prefix),
        }
    }
}

impl Agent {
    /// The limits of a text that its host hands on to the model.
    pub fn host_limits(&self) -> HostLimits {
        let bytes = self.tokens_max.map_or(usize::MAX, |tokens| tokens * BYTES_PER_TOKEN);
        HostLimits { units: self.chars_max, bytes }
    }

    /// The command line that resumes a session, if its id needs no quotes.
    pub fn resume_command(&self, session: &str) -> Option<String> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let is_word = session.bytes().all(is_plain) && !session.starts_with('-');
        self.resume.filter(|_| is_word).map(|command| format!("{command} {session}"))
    }

    pub fn event(&self, name: &str) -> Option<&'static Event> {
        self.events.iter().find(|event| event.name == name)
    }

    pub fn tool(&self, name: &str) -> Tool {
        match self.tools.iter().find(|(known, _)| *known == name) {
            Some((_, tool)) => *tool,
            None if self.mcp.includes(name) => Tool::Mcp,
            None => Tool::Other,
        }
    }

    /// This agent's event of the given kind, for a payload that another agent's hook delivered.
    pub(crate) fn event_of_kind(&self, kind: Kind) -> Option<&'static Event> {
        self.events.iter().find(|event| event.kind == kind && kind != Kind::Other)
    }
}

/// An event whose answer the model reads, as [`Form::HookSpecificOutput`].
const fn answered(name: &'static str, kind: Kind) -> Event {
    Event { name, kind, answer: Some(Form::HookSpecificOutput), stands_for: None }
}

/// An event whose answer the model reads, as [`Form::AdditionalContext`].
const fn told(name: &'static str, kind: Kind) -> Event {
    Event { name, kind, answer: Some(Form::AdditionalContext), stands_for: None }
}

/// An event that we do not answer, because the host ignores an answer or because an answer would
/// keep the agent from stopping.
const fn silent(name: &'static str, kind: Kind) -> Event {
    Event { name, kind, answer: None, stands_for: None }
}

/// An unanswered event that reports the use of this tool only.
const fn of_tool(name: &'static str, kind: Kind, tool: &'static str) -> Event {
    Event { name, kind, answer: None, stands_for: Some(tool) }
}

const COMMON_FIELDS: Fields = Fields {
    session: &["session_id"],
    roots: None,
    prompt_id: "prompt_id",
    response: &["tool_response"],
    response_json: &[],
    error: "error",
    answer: "last_assistant_message",
    several_ids: false,
    quotes_prompts: false,
};

const NO_MARKS: Marks = Marks { folder: None, member: None, guest: None };

/// The supported agents. If nothing identifies the agent of a payload, the first one with its event is assumed.
pub const AGENTS: &[Agent] = &[
    Agent {
        name: "claude-code",
        resume: Some("claude --resume"),
        events: &[
            answered("SessionStart", Kind::SessionStart),
            answered("UserPromptSubmit", Kind::Prompt),
            answered("PreToolUse", Kind::ToolStart),
            answered("PostToolUse", Kind::ToolUse),
            answered("PostToolUseFailure", Kind::ToolFailure),
            answered("PostToolBatch", Kind::Other),
            answered("SubagentStart", Kind::Other),
            silent("Stop", Kind::TurnEnd),
            silent("StopFailure", Kind::TurnFailure),
            silent("SubagentStop", Kind::SubagentEnd),
            silent("PreCompact", Kind::Compacting),
            silent("PostCompact", Kind::Compacted),
            silent("CwdChanged", Kind::CwdChange),
            silent("SessionEnd", Kind::SessionEnd),
        ],
        tools: &[
            ("Read", Tool::Read),
            ("NotebookRead", Tool::Read),
            ("Write", Tool::Write),
            ("Edit", Tool::Edit),
            ("MultiEdit", Tool::Edits),
            ("NotebookEdit", Tool::Notebook),
            ("Bash", Tool::Shell),
            ("PowerShell", Tool::Shell),
            ("Grep", Tool::Grep),
            ("Glob", Tool::Glob),
            ("Task", Tool::Spawn),
            ("Agent", Tool::Spawn),
            ("WebFetch", Tool::WebFetch),
            ("WebSearch", Tool::WebSearch),
            ("AskUserQuestion", Tool::Ask),
        ],
        fields: COMMON_FIELDS,
        marks: Marks { folder: Some("/.claude/"), member: Some("prompt_id"), ..NO_MARKS },
        mcp: McpNames { prefix: "mcp__", separator: "__" },
        exit_line: Some(ExitLine::Opening),
        chars_max: limits::INJECT_CHARS_MAX,
        tokens_max: None,
    },
    Agent {
        name: "codex",
        resume: Some("codex resume"),
        events: &[
            answered("SessionStart", Kind::SessionStart),
            answered("UserPromptSubmit", Kind::Prompt),
            answered("PreToolUse", Kind::ToolStart),
            answered("PostToolUse", Kind::ToolUse),
            answered("SubagentStart", Kind::Other),
            silent("Stop", Kind::TurnEnd),
            silent("SubagentStop", Kind::SubagentEnd),
            silent("PreCompact", Kind::Compacting),
            silent("PostCompact", Kind::Compacted),
            silent("SessionEnd", Kind::SessionEnd),
        ],
        tools: &[
            ("Bash", Tool::Shell),
            ("shell", Tool::Shell),
            ("local_shell", Tool::Shell),
            ("shell_command", Tool::Shell),
            ("exec_command", Tool::Shell),
            ("apply_patch", Tool::Patch),
            ("view_image", Tool::Read),
            ("spawn_agent", Tool::Spawn),
            ("web_search", Tool::WebSearch),
        ],
        fields: Fields { prompt_id: "turn_id", ..COMMON_FIELDS },
        marks: Marks { folder: Some("/.codex/"), member: Some("turn_id"), ..NO_MARKS },
        mcp: McpNames { prefix: "mcp__", separator: "__" },
        exit_line: Some(ExitLine::First),
        chars_max: limits::INJECT_CHARS_MAX,
        tokens_max: Some(limits::INJECT_TOKENS_MAX),
    },
    Agent {
        name: "gemini-cli",
        resume: None,
        events: &[
            answered("SessionStart", Kind::SessionStart),
            answered("BeforeAgent", Kind::Prompt),
            silent("BeforeTool", Kind::ToolStart),
            answered("AfterTool", Kind::ToolUse),
            silent("AfterAgent", Kind::TurnEnd),
            silent("BeforeModel", Kind::Other),
            silent("AfterModel", Kind::Other),
            silent("BeforeToolSelection", Kind::Other),
            silent("PreCompress", Kind::Compacting),
            silent("SessionEnd", Kind::SessionEnd),
        ],
        tools: &[
            ("read_file", Tool::Read),
            ("read_many_files", Tool::Read),
            ("write_file", Tool::Write),
            ("replace", Tool::Edit),
            ("run_shell_command", Tool::Shell),
            ("search_file_content", Tool::Grep),
            ("grep_search", Tool::Grep),
            ("glob", Tool::Glob),
            ("delegate_to_agent", Tool::Spawn),
            ("codebase_investigator", Tool::Spawn),
            ("web_fetch", Tool::WebFetch),
            ("google_web_search", Tool::WebSearch),
            ("ask_user", Tool::Ask),
        ],
        fields: Fields { answer: "prompt_response", ..COMMON_FIELDS },
        marks: Marks { folder: Some("/.gemini/"), member: Some("timestamp"), ..NO_MARKS },
        mcp: McpNames { prefix: "mcp_", separator: "_" },
        exit_line: Some(ExitLine::Last),
        chars_max: limits::INJECT_CHARS_MAX,
        tokens_max: None,
    },
    Agent {
        name: "cursor",
        resume: None,
        events: &[
            told("sessionStart", Kind::SessionStart),
            silent("beforeSubmitPrompt", Kind::Prompt),
            // Cursor reads any answer to this event as a permission.
            silent("preToolUse", Kind::ToolStart),
            told("postToolUse", Kind::ToolUse),
            told("postToolUseFailure", Kind::ToolFailure),
            silent("stop", Kind::TurnEnd),
            silent("subagentStop", Kind::SubagentEnd),
            silent("preCompact", Kind::Compacting),
            silent("sessionEnd", Kind::SessionEnd),
            // Older releases report these events per tool: only one of the two sets is to be registered.
            of_tool("beforeShellExecution", Kind::ToolStart, "Shell"),
            of_tool("afterShellExecution", Kind::ToolUse, "Shell"),
            of_tool("beforeMCPExecution", Kind::ToolStart, "MCP"),
            of_tool("afterMCPExecution", Kind::ToolUse, "MCP"),
            of_tool("beforeReadFile", Kind::ToolStart, "Read"),
            of_tool("afterFileEdit", Kind::ToolUse, "MultiEdit"),
            silent("subagentStart", Kind::Other),
            silent("afterAgentResponse", Kind::Message),
            silent("afterAgentThought", Kind::Other),
            silent("beforeTabFileRead", Kind::Other),
            silent("afterTabFileEdit", Kind::Other),
            silent("workspaceOpen", Kind::Other),
        ],
        tools: &[
            ("Read", Tool::Read),
            ("Write", Tool::Write),
            ("Edit", Tool::Edit),
            ("StrReplace", Tool::Edit),
            ("MultiEdit", Tool::Edits),
            ("Delete", Tool::Edit),
            ("EditNotebook", Tool::Notebook),
            ("ApplyPatch", Tool::Patch),
            ("Shell", Tool::Shell),
            ("Bash", Tool::Shell),
            ("Grep", Tool::Grep),
            ("SemanticSearch", Tool::Grep),
            ("Glob", Tool::Glob),
            ("Task", Tool::Spawn),
            ("WebFetch", Tool::WebFetch),
            ("WebSearch", Tool::WebSearch),
            ("AskQuestion", Tool::Ask),
            ("MCP", Tool::Mcp),
        ],
        fields: Fields {
            session: &["conversation_id", "session_id"],
            roots: Some("workspace_roots"),
            prompt_id: "generation_id",
            response: &["output", "tool_response"],
            response_json: &["tool_output", "result_json"],
            error: "error_message",
            answer: "text",
            several_ids: true,
            quotes_prompts: false,
        },
        marks: Marks {
            folder: Some("/.cursor/"),
            member: Some("conversation_id"),
            guest: Some("cursor_version"),
        },
        mcp: McpNames { prefix: "MCP:", separator: ":" },
        exit_line: None,
        chars_max: limits::INJECT_CHARS_MAX,
        tokens_max: None,
    },
    // The payloads are sent by our own plugin, see `opencode.js`.
    Agent {
        name: "opencode",
        resume: Some("opencode --session"),
        events: &[
            told("session.created", Kind::SessionStart),
            told("session.compacted", Kind::SessionStart),
            told("chat.message", Kind::Prompt),
            told("tool.execute.before", Kind::ToolStart),
            told("tool.execute.after", Kind::ToolUse),
            told("message.part.updated", Kind::ToolFailure),
            silent("session.idle", Kind::TurnEnd),
            silent("experimental.session.compacting", Kind::Compacting),
            silent("session.deleted", Kind::SessionEnd),
        ],
        tools: &[
            ("read", Tool::Read),
            ("write", Tool::Write),
            ("edit", Tool::Edit),
            ("multiedit", Tool::Edits),
            ("patch", Tool::Patch),
            ("apply_patch", Tool::Patch),
            ("bash", Tool::Shell),
            ("grep", Tool::Grep),
            ("codesearch", Tool::Grep),
            ("glob", Tool::Glob),
            ("list", Tool::Glob),
            ("task", Tool::Spawn),
            ("webfetch", Tool::WebFetch),
            ("websearch", Tool::WebSearch),
            ("question", Tool::Ask),
            ("plan_enter", Tool::Other),
            ("plan_exit", Tool::Other),
        ],
        fields: Fields { quotes_prompts: true, ..COMMON_FIELDS },
        marks: NO_MARKS,
        mcp: McpNames { prefix: "", separator: "_" },
        exit_line: None,
        chars_max: limits::INJECT_CHARS_MAX,
        tokens_max: None,
    },
];

/// Agents that have no hooks. Their events come from their transcripts, under names of our own.
pub const WITHOUT_HOOKS: &[Agent] = &[Agent {
    name: "aider",
    resume: None,
    events: &[
        silent("prompt", Kind::Prompt),
        silent("tool", Kind::ToolUse),
        silent("answer", Kind::TurnEnd),
    ],
    tools: &[("edit", Tool::Edit), ("run", Tool::Shell)],
    fields: COMMON_FIELDS,
    marks: NO_MARKS,
    mcp: McpNames { prefix: "mcp__", separator: "__" },
    exit_line: None,
    chars_max: limits::INJECT_CHARS_MAX,
    tokens_max: None,
}];

/// Tags by which hosts mark text in a prompt that no user wrote. A name that ends with `-` or `_` is a
/// prefix: it matches all tags that begin with it.
pub(crate) const HOST_TAGS: &[&str] = &[
    "system-reminder",
    "task-notification",
    "local-command-",
    "command-name",
    "command-message",
    "command-args",
    "command-contents",
    "bash-input",
    "bash-stdout",
    "bash-stderr",
    "user-prompt-submit-hook",
    "ide_",
    "session_context",
    "hook_context",
    "environment_context",
    "user_instructions",
    "subagent_notification",
    "turn_aborted",
];

/// Values of a prompt's `source` that mean that the user did not write it.
pub(crate) const SYNTHETIC_SOURCES: &[&str] =
    &["system", "loop_wakeup", "schedule_wakeup", "poll_event"];
