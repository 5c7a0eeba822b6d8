//! The agents to run, as rows of data: installation, start of a headless session, hooks that must fire, and files
//! that the agent itself leaves in the home directory.

use std::process::Command;

use anyhow::{Result, bail};
use serde_json::Value;

use super::stage::Stage;
use super::twins::ExpectedDifference;
use crate::clients::install::Node;

pub(crate) struct RealAgent {
    /// As `rekindle install` has it.
    pub(crate) name: &'static str,
    pub(crate) package: &'static str,
    pub(crate) program: &'static str,
    /// Whether it is installed and done within seconds, and so part of `ci`.
    pub(crate) quick: bool,
    /// The user's own configuration before we install, which must be restored afterwards.
    pub(crate) files: fn(&Stage, &str) -> Result<()>,
    /// Arguments and environment of a headless session for a prompt.
    pub(crate) session: fn(&mut Command, &str, &str),
    /// Events that have to come in from the sessions.
    pub(crate) hooks: &'static [&'static str],
    /// Texts of the hints that the model has to get about the failing command.
    pub(crate) hints: &'static [&'static str],
    /// Arguments that compact the last session, for agents that can and start further agents, too.
    pub(crate) compact: Option<&'static [&'static str]>,
    /// Arguments and environment that resume the last session with a prompt, for agents that report it.
    pub(crate) resumed: Option<fn(&mut Command, &str, &str)>,
    /// Further ways to continue a session, which has this id: their names, and their arguments and environment.
    pub(crate) continued: &'static [(&'static str, ContinuedSession)],
    /// Whether its sessions state hypotheses, and its hooks take texts at prompts and after tools.
    pub(crate) learns: bool,
    /// Differences between the records of its hooks and those of its transcripts.
    pub(crate) differs: &'static [ExpectedDifference],
    /// The folder of its transcripts, if the last answer of a session is known only when the session is over.
    pub(crate) late_answers: Option<&'static str>,
    /// Checks the output of a session for failed hooks.
    pub(crate) judge: fn(&str) -> Result<()>,
    /// Files that the agent itself writes in the user's home directory.
    pub(crate) own: &'static [&'static str],
    /// Files among these that we also edit, and the text of ours that must not remain there.
    pub(crate) shared: &'static [(&'static str, &'static str)],
}

/// Arguments and environment of a session that continues another one: the URL of the model, the prompt, and the id.
pub(crate) type ContinuedSession = fn(&mut Command, &str, &str, &str);

impl RealAgent {
    /// The agent's program in its home; `arguments` adds those of a session.
    pub(crate) fn command(
        &self,
        stage: &Stage,
        node: &Node,
        arguments: impl FnOnce(&mut Command),
    ) -> Command {
        let mut command = Command::new(node.command(self.program));
        stage.enclose(&mut command);
        command.env("PATH", node.path());
        arguments(&mut command);
        command
    }
}

/// A hint that names a word of the failing command, and one for any failure.
pub(crate) const HINT: &str = "Open the vent first.";
pub(crate) const FIX: &str = "Ask Ada at the bench.";

/// The agents, in the order in which they are run.
pub(crate) const AGENTS: [RealAgent; 4] = [
    RealAgent {
        name: "claude-code",
        package: "@anthropic-ai/claude-code",
        program: "claude",
        quick: true,
        files: claude_files,
        session: claude_session,
        hooks: &[
            "SessionStart",
            "UserPromptSubmit",
            "PreToolUse",
            "PostToolUse",
            "PostToolUseFailure",
            "Stop",
            "SubagentStop",
            "PreCompact",
            "SessionEnd",
        ],
        hints: &[HINT, FIX],
        compact: Some(&["--continue"]),
        resumed: Some(claude_resumed),
        continued: &[("a forked session", claude_forked)],
        learns: true,
        differs: &[],
        late_answers: None,
        judge: claude_judge,
        own: &[
            ".cache",
            ".claude.json",
            ".claude/.last-cleanup",
            ".claude/backups",
            ".claude/plugins",
            ".claude/projects",
            ".claude/session-env",
            ".claude/sessions",
            ".claude/shell-snapshots",
        ],
        shared: &[(".claude.json", "\"rekindle\"")],
    },
    RealAgent {
        name: "codex",
        package: "@openai/codex",
        program: "codex",
        quick: true,
        files: codex_files,
        session: codex_session,
        hooks: &[
            "SessionStart",
            "UserPromptSubmit",
            "PreToolUse",
            "PostToolUse",
            "Stop",
            "SessionEnd",
        ],
        // Its hook gets the output of a command, but not the fact that it failed.
        hints: &[HINT],
        compact: None,
        resumed: Some(codex_resumed),
        continued: &[("a forked session", codex_forked)],
        learns: true,
        // Its hook does not tell the exit code of a command, which its transcript has.
        differs: &[("type", "ls kiln/missing"), ("failure", "ls kiln/missing")],
        late_answers: None,
        judge: |_| Ok(()),
        own: &[
            ".codex/.sandbox_migration",
            ".codex/.tmp",
            // It writes down there that the repository is trusted.
            ".codex/config.toml",
            ".codex/goals_1.sqlite*",
            ".codex/installation_id",
            ".codex/logs_2.sqlite*",
            ".codex/memories_1.sqlite*",
            ".codex/queue_1.sqlite*",
            ".codex/sessions",
            ".codex/shell_snapshots",
            ".codex/skills",
            ".codex/state_5.sqlite*",
            ".codex/thread-writer-locks",
            ".codex/thread_history_1.sqlite*",
        ],
        shared: &[(".codex/config.toml", "mcp_servers")],
    },
    RealAgent {
        name: "gemini-cli",
        package: "@google/gemini-cli",
        program: "gemini",
        quick: true,
        files: gemini_files,
        session: gemini_session,
        hooks: &[
            "SessionStart",
            "BeforeAgent",
            "BeforeTool",
            "AfterTool",
            "AfterAgent",
            "SessionEnd",
        ],
        hints: &[HINT, FIX],
        compact: None,
        resumed: None,
        continued: &[("a resumed session", gemini_resumed)],
        learns: false,
        differs: &[],
        late_answers: Some(".gemini"),
        judge: |_| Ok(()),
        own: &[".gemini/history", ".gemini/projects.json", ".gemini/tmp"],
        shared: &[],
    },
    RealAgent {
        name: "opencode",
        package: "opencode-ai",
        program: "opencode",
        quick: false,
        files: opencode_files,
        session: opencode_session,
        hooks: &[
            "session.created",
            "chat.message",
            "tool.execute.before",
            "tool.execute.after",
            "session.idle",
        ],
        hints: &[HINT, FIX],
        compact: None,
        resumed: None,
        continued: &[
            ("a resumed session", opencode_resumed),
            ("a forked session", opencode_forked),
        ],
        learns: false,
        differs: &[],
        late_answers: None,
        judge: |_| Ok(()),
        own: &[
            ".cache",
            ".config/opencode/.gitignore",
            ".config/opencode/node_modules",
            ".config/opencode/package-lock.json",
            ".config/opencode/package.json",
            ".local/share/opencode",
            ".local/state",
            ".npm",
        ],
        shared: &[],
    },
];

fn claude_files(stage: &Stage, _url: &str) -> Result<()> {
    stage.write(".claude/settings.json", "{\n   \"cleanupPeriodDays\": 30\n}")
}

fn claude_session(command: &mut Command, url: &str, prompt: &str) {
    command.args(["-p", prompt, "--allowedTools", "Bash,Write,Agent,Task,mcp__rekindle"]);
    command.args(["--output-format", "stream-json", "--verbose", "--include-hook-events"]);
    command.env("ANTHROPIC_BASE_URL", url).env("ANTHROPIC_API_KEY", "sk-ant-scripted");
    command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1").env("DISABLE_AUTOUPDATER", "1");
}

fn claude_resumed(command: &mut Command, url: &str, prompt: &str) {
    claude_session(command, url, prompt);
    command.arg("--continue");
}

fn claude_forked(command: &mut Command, url: &str, prompt: &str, session: &str) {
    claude_session(command, url, prompt);
    command.args(["--resume", session, "--fork-session"]);
}

/// Every hook is reported with its exit code, except for those that run after the last line of output.
fn claude_judge(stdout: &str) -> Result<()> {
    let lines = stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let hooks: Vec<Value> = lines.filter(|line| line["subtype"] == "hook_response").collect();
    let failed = |hook: &&Value| hook["exit_code"] != 0 || hook["outcome"] != "success";
    match hooks.iter().find(failed) {
        Some(hook) => bail!("a hook failed: {hook}"),
        None if hooks.is_empty() => bail!("no hook is told of"),
        None => Ok(()),
    }
}

/// The model's entry in Codex's catalogue. Without one it offers a model no tool that edits files; the
/// entries of its own models hide the tools of MCP servers behind a search for tools.
const CODEX_MODEL: &str = r#"{ "models": [{
  "slug": "scripted", "display_name": "scripted", "base_instructions": "Work on the kiln.",
  "apply_patch_tool_type": "freeform", "shell_type": "unified_exec",
  "supported_reasoning_levels": [], "visibility": "list", "supported_in_api": true,
  "priority": 1, "support_verbosity": false, "experimental_supported_tools": [],
  "truncation_policy": { "mode": "tokens", "limit": 10000 }
}] }"#;

fn codex_files(stage: &Stage, url: &str) -> Result<()> {
    stage.write(".codex/models.json", CODEX_MODEL)?;
    let text = format!(
        "# Whose model is asked.\nmodel = \"scripted\"\nmodel_provider = \"scripted\"\n\
         model_catalog_json = \"models.json\"\n\n\
         [model_providers.scripted]\nname = \"scripted\" # A name to show.\n\
         base_url = \"{url}/v1\"\nwire_api = \"responses\"\n"
    );
    stage.write(".codex/config.toml", &text)
}

/// Codex silently skips hooks that are not trusted, and a headless session cannot ask for trust.
fn codex_session(command: &mut Command, _url: &str, prompt: &str) {
    command.args(["exec", "--dangerously-bypass-hook-trust", "-s", "danger-full-access"]);
    command.args(["--json", prompt]);
}

fn codex_resumed(command: &mut Command, _url: &str, prompt: &str) {
    command.args(["exec", "--dangerously-bypass-hook-trust", "-s", "danger-full-access"]);
    command.args(["--json", "resume", "--last", prompt]);
}

fn codex_forked(command: &mut Command, _url: &str, prompt: &str, session: &str) {
    command.args(["exec", "--dangerously-bypass-hook-trust", "-s", "danger-full-access"]);
    command.args(["--json", "fork", session, prompt]);
}

fn gemini_files(stage: &Stage, _url: &str) -> Result<()> {
    let text = "{\n    \"security\": { \"auth\": { \"selectedType\": \"gemini-api-key\" } },\n    \
                \"privacy\": { \"usageStatisticsEnabled\": false }\n}\n";
    stage.write(".gemini/settings.json", text)
}

/// Without a model's name it asks a model which model to ask.
fn gemini_session(command: &mut Command, url: &str, prompt: &str) {
    command.args(["-m", "gemini-2.5-pro", "--approval-mode", "yolo", "-o", "json", "-p", prompt]);
    command.env("GOOGLE_GEMINI_BASE_URL", url).env("GEMINI_API_KEY", "scripted");
    command.env("GEMINI_CLI_TRUST_WORKSPACE", "true");
}

fn gemini_resumed(command: &mut Command, url: &str, prompt: &str, _session: &str) {
    gemini_session(command, url, prompt);
    command.args(["--resume", "latest"]);
}

fn opencode_files(stage: &Stage, url: &str) -> Result<()> {
    let text = format!(
        "{{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"autoupdate\": false,\n  \
         \"model\": \"scripted/scripted\",\n  \"provider\": {{ \"scripted\": {{\n    \
         \"npm\": \"@ai-sdk/openai-compatible\",\n    \
         \"options\": {{ \"baseURL\": \"{url}/v1\", \"apiKey\": \"scripted\" }},\n    \
         \"models\": {{ \"scripted\": {{}} }}\n  }} }}\n}}\n"
    );
    stage.write(".config/opencode/opencode.json", &text)
}

fn opencode_session(command: &mut Command, _url: &str, prompt: &str) {
    command.args(["run", "--model", "scripted/scripted", prompt]);
}

fn opencode_resumed(command: &mut Command, url: &str, prompt: &str, session: &str) {
    opencode_session(command, url, prompt);
    command.args(["--session", session]);
}

fn opencode_forked(command: &mut Command, url: &str, prompt: &str, session: &str) {
    opencode_resumed(command, url, prompt, session);
    command.arg("--fork");
}
