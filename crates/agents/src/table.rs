//! The agents there are, as rows of data: what each calls its events, its tools and its members, how
//! it is recognised, and what it takes as an answer.

use model::limits;

/// One agent.
#[derive(Clone, Copy, Debug)]
pub struct Agent {
    /// The name that `install` and the hook's command use.
    pub name: &'static str,
    pub events: &'static [Event],
    /// The agent's tools; what is not listed is [`Tool::Mcp`] by its prefix, or [`Tool::Other`].
    pub tools: &'static [(&'static str, Tool)],
    pub fields: Fields,
    pub marks: Marks,
    /// What the name of a tool of an MCP server begins with, and what stands between the two names.
    pub mcp: (&'static str, &'static str),
    /// Where the output of a command tells its exit code, if a failure is no event of its own.
    pub exit_line: Option<ExitLine>,
    /// The most characters of injected text, counted as the host counts them: in UTF-16.
    pub chars_max: usize,
    /// The most tokens of injected text, where the host counts tokens: a quarter of its bytes.
    pub tokens_max: Option<usize>,
}

/// An event of an agent.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    pub name: &'static str,
    pub kind: Kind,
    /// How the host takes text as an answer to it; none if it takes none.
    pub answer: Option<Form>,
}

/// What kind of happening an event tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    SessionStart,
    Prompt,
    ToolStart,
    ToolUse,
    ToolFailure,
    TurnEnd,
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
}

/// What a tool does, whatever its agent calls it.
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

/// Names of members that are not the same with every agent.
#[derive(Clone, Copy, Debug)]
pub struct Fields {
    pub session: &'static str,
    pub prompt_id: &'static str,
    pub response: &'static str,
}

/// What gives an agent away that did not say its name.
#[derive(Clone, Copy, Debug)]
pub struct Marks {
    /// A folder in the path of the transcript.
    pub folder: &'static str,
    /// A member that only this agent sends, if no agent above it in the table was recognised.
    pub member: &'static str,
}

/// Which line tells the exit code of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitLine {
    /// One of the first lines.
    First,
    /// The last line that does.
    Last,
}

/// The agent of this name.
pub fn agent(name: &str) -> Option<&'static Agent> {
    AGENTS.iter().find(|agent| agent.name == name)
}

impl Agent {
    /// What the table says about the event of this name.
    pub fn event(&self, name: &str) -> Option<&'static Event> {
        self.events.iter().find(|event| event.name == name)
    }

    /// What the tool of this name does.
    pub fn tool(&self, name: &str) -> Tool {
        match self.tools.iter().find(|(known, _)| *known == name) {
            Some((_, tool)) => *tool,
            None if name.starts_with(self.mcp.0) => Tool::Mcp,
            None => Tool::Other,
        }
    }
}

/// An event after which the model reads what we say.
const fn answered(name: &'static str, kind: Kind) -> Event {
    Event { name, kind, answer: Some(Form::HookSpecificOutput) }
}

/// An event to which we say nothing, either because the host takes nothing or because an answer
/// would keep the agent from stopping.
const fn silent(name: &'static str, kind: Kind) -> Event {
    Event { name, kind, answer: None }
}

const COMMON_FIELDS: Fields =
    Fields { session: "session_id", prompt_id: "prompt_id", response: "tool_response" };

/// Every agent that is known by name. The first stands for whoever gives no sign of being another.
pub const AGENTS: &[Agent] = &[
    Agent {
        name: "claude-code",
        events: &[
            answered("SessionStart", Kind::SessionStart),
            answered("UserPromptSubmit", Kind::Prompt),
            answered("PreToolUse", Kind::ToolStart),
            answered("PostToolUse", Kind::ToolUse),
            answered("PostToolUseFailure", Kind::ToolFailure),
            answered("PostToolBatch", Kind::Other),
            answered("SubagentStart", Kind::Other),
            silent("Stop", Kind::TurnEnd),
            silent("StopFailure", Kind::TurnEnd),
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
        marks: Marks { folder: "/.claude/", member: "prompt_id" },
        mcp: ("mcp__", "__"),
        exit_line: None,
        chars_max: limits::INJECT_CHARS_MAX,
        tokens_max: None,
    },
    Agent {
        name: "codex",
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
        marks: Marks { folder: "/.codex/", member: "turn_id" },
        mcp: ("mcp__", "__"),
        exit_line: Some(ExitLine::First),
        chars_max: limits::INJECT_CHARS_MAX,
        tokens_max: Some(limits::INJECT_TOKENS_MAX),
    },
    Agent {
        name: "gemini-cli",
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
        fields: COMMON_FIELDS,
        marks: Marks { folder: "/.gemini/", member: "timestamp" },
        mcp: ("mcp_", "_"),
        exit_line: Some(ExitLine::Last),
        chars_max: limits::INJECT_CHARS_MAX,
        tokens_max: None,
    },
];

/// Tags by which hosts mark text in a prompt that no user wrote; a `-` or `_` at the end of a name
/// stands for all names that begin so.
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

/// Values of a prompt's `source` that say it was not the user who spoke.
pub(crate) const SYNTHETIC_SOURCES: &[&str] =
    &["system", "loop_wakeup", "schedule_wakeup", "poll_event"];
