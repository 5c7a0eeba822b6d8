//! The use of a tool: the parts of its input and its outcome that are stored.

mod begin;
mod containers;
mod cut_off;
mod discard;
mod edit;
mod excerpt;
mod git;
mod no_tests;
mod outcome;
mod read_only;
mod result;
mod run;
mod runs;
mod verdict;

use std::borrow::Cow;

use model::hook::ToolUse;
use model::limits;
use model::observation::ObsType;
use serde_json::{Map, Value};
use text::fingerprint::Fingerprint;
use text::secrets::Redacted;

use crate::guard;
use crate::json::{self, Json};
use crate::shell::Simple;
use crate::table::{Agent, Event, McpNames, Tool};
use crate::wire::{Input, Wire};
use outcome::Outcome;
pub use read_only::is_read_only;
pub use runs::run_kind;

/// Members of a tool's input that may hold the path of a file.
const FILE: &[&str] = &[
    "file_path",
    "filePath",
    "absolute_path",
    "notebook_path",
    "target_notebook",
    "path",
    "paths",
    "include",
];
/// Members of a tool's input that may hold the folder to search.
const FOLDER: &[&str] = &["path", "dir_path", "target_directory"];

/// The name of our MCP server as `install` registers it, and the suffix of its name in a plugin.
const OUR_SERVER: &str = "rekindle";
const OUR_PLUGIN_SERVER: &str = "_rekindle";

/// A tool that is about to be used.
pub(crate) fn starting(call: &Call<'_>) -> ToolUse {
    call.draft().finish(call.safe_name(), None)
}

/// A tool that was used. Its response may still report a failure.
pub(crate) fn used(call: &Call<'_>) -> ToolUse {
    let draft = call.draft();
    let response = call.response();
    let exit_line = call.agent.exit_line.filter(|_| draft.is_command());
    let mut outcome = outcome::of(response.as_deref(), exit_line);
    outcome.failed |= call.wire.flag("is_error");
    outcome.background |= draft.is_command() && call.runs_in_background();
    draft.finish(call.safe_name(), Some(outcome))
}

/// A tool whose failure the agent reported.
pub(crate) fn failed(call: &Call<'_>) -> ToolUse {
    let error = call.wire.error(call.agent.fields.error);
    let interrupted = call.wire.flag("is_interrupt");
    let response = call.response();
    let outcome = outcome::of_failure(error.as_deref(), response.as_deref(), interrupted);
    call.draft().finish(call.safe_name(), Some(outcome))
}

/// A call of a tool: the event, the tool's input and the working directory.
pub(crate) struct Call<'a> {
    agent: &'a Agent,
    name: &'a str,
    tool: Tool,
    /// How the name of an MCP tool is read.
    mcp: McpNames,
    wire: Wire<'a>,
    input: Input<'a>,
    /// The tool's input if it is not an object but a text or a list.
    bare: Option<&'a Json<'a>>,
    cwd: Option<&'a str>,
}

/// An observation in the making. Its content went through the guard; path and metadata do so when
/// the draft is finished.
struct Draft {
    obs_type: ObsType,
    content: Redacted<String>,
    file_path: Option<String>,
    metadata: Map<String, Value>,
    command: Option<Redacted<String>>,
    /// The commands of the command line, if the tool runs one.
    commands: Vec<Simple>,
    /// Whether git made a commit before a later command of the line failed: the record stays a commit.
    has_commit: bool,
}

/// Maps the names of tools, and says how those of MCP tools are read.
type ToolNames<'a> = dyn Fn(&str) -> (Tool, McpNames) + 'a;

impl<'a> Call<'a> {
    /// Reads a call of `agent`. `None` if the tool has no name.
    pub(crate) fn read(
        (agent, kind_of): (&'a Agent, &ToolNames<'_>),
        event: &Event,
        wire: Wire<'a>,
        cwd: Option<&'a str>,
    ) -> Option<Self> {
        let call = |name, (tool, mcp), input, bare| Call {
            agent,
            name,
            tool,
            mcp,
            wire,
            input,
            bare,
            cwd,
        };
        let named = wire.telling("tool_name");
        let Some(tool) = event.stands_for else {
            let name = named?;
            let bare = wire.value("tool_input").filter(|input| input.as_object().is_none());
            return Some(call(name, kind_of(name), wire.object("tool_input"), bare));
        };
        Some(call(named.unwrap_or(tool), kind_of(tool), wire.as_input(), None))
    }

    /// The tool's response, parsed if the agent sends it as JSON inside a text.
    fn response(&self) -> Option<Cow<'a, Json<'a>>> {
        let fields = &self.agent.fields;
        let value = |members: &[&str]| members.iter().find_map(|member| self.wire.value(member));
        if let Some(response) = value(fields.response_json) {
            let inside = response.as_str().and_then(json::inside);
            return Some(inside.map_or(Cow::Borrowed(response), Cow::Owned));
        }
        value(fields.response).map(Cow::Borrowed)
    }

    /// Whether the agent asked for a command in the background: the response comes before its end.
    fn runs_in_background(&self) -> bool {
        ["run_in_background", "is_background"]
            .iter()
            .any(|member| self.input.value(member).and_then(Json::as_bool) == Some(true))
    }

    /// The tool's name in a form that may be stored. A name in the table cannot contain a secret.
    fn safe_name(&self) -> String {
        if self.agent.tools.iter().any(|(known, _)| *known == self.name) {
            return self.name.to_owned();
        }
        text::one_line(&guard::name(self.name), limits::HOOK_NAME_BYTES_MAX)
    }

    fn draft(&self) -> Draft {
        match self.tool {
            Tool::Read => self.file("Read", ObsType::FileRead),
            Tool::Write => self.write(),
            Tool::Edit | Tool::Edits | Tool::Notebook => edit::of_file(self),
            Tool::Patch => edit::of_patch_tool(self),
            Tool::Shell => run::of(self),
            Tool::Grep => self.search(true),
            Tool::Glob => self.search(false),
            Tool::Spawn => self.spawn(),
            Tool::WebFetch => self.plain(ObsType::WebFetch, &["url", "prompt"]),
            Tool::WebSearch => self.plain(ObsType::WebSearch, &["query", "search_term"]),
            Tool::Ask => self.question(),
            Tool::Mcp => self.mcp(),
            Tool::Other => self.plain(ObsType::ToolOther, &[]),
        }
    }

    /// A draft whose content is the first of these members that is not blank, else the tool's name.
    fn plain(&self, obs_type: ObsType, members: &[&str]) -> Draft {
        let said = members.iter().filter_map(|member| Some(self.input.text(&[member])?.head()));
        let bare = self.bare.filter(|_| !members.is_empty()).and_then(Json::as_str);
        let text = said.chain(bare).find(|text| !text.trim().is_empty()).unwrap_or(self.name);
        Draft::new(obs_type, guard::line(text, limits::OBSERVED_CHARS_MAX))
    }

    fn file(&self, verb: &str, obs_type: ObsType) -> Draft {
        let Some(path) = self.path(FILE) else { return self.plain(obs_type, &[]) };
        let content = format!("{verb} {}", self.shown(path));
        let content = guard::line(&content, limits::OBSERVED_CHARS_MAX);
        Draft { file_path: Some(self.absolute(path)), ..Draft::new(obs_type, content) }
    }

    /// The written text is not stored, only its size and its hash: they show whether two texts are equal.
    fn write(&self) -> Draft {
        let mut draft = self.file("Write", ObsType::FileWrite);
        if let Some(content) = self.input.text(&["content", "contents"]) {
            draft.metadata.insert("bytes".into(), content.bytes().into());
            if let Some(hash) = content.fingerprint() {
                draft.metadata.insert("hash".into(), hash.into());
            }
        }
        draft
    }

    fn search(&self, names_folder: bool) -> Draft {
        let draft = self.plain(ObsType::Search, &["pattern", "glob_pattern", "query"]);
        let Some(folder) = self.path(FOLDER) else { return draft };
        let file_path = Some(self.absolute(folder));
        if !names_folder {
            return Draft { file_path, ..draft };
        }
        let content = format!("{} in {}", *draft.content, self.shown(folder));
        Draft { content: guard::line(&content, limits::OBSERVED_CHARS_MAX), file_path, ..draft }
    }

    fn spawn(&self) -> Draft {
        let members = ["description", "prompt", "message", "objective"];
        let mut draft = self.plain(ObsType::TaskSpawn, &members);
        draft.content = draft.content.line(limits::OBSERVED_TASK_CHARS_MAX);
        if let Some(kind) = self.input.text(&["subagent_type", "agent_type", "agent_name"]) {
            let kind = guard::line(kind.head(), limits::OBSERVED_EDIT_CHARS_MAX);
            draft.metadata.insert("subagent_type".into(), kind.into_inner().into());
        }
        draft
    }

    fn question(&self) -> Draft {
        let mut draft = self.plain(ObsType::ToolOther, &["question"]);
        let first = self.input.objects("questions").next();
        if let Some(question) = first.and_then(|question| question.text(&["question"])) {
            draft.content = guard::line(question.head(), limits::OBSERVED_CHARS_MAX);
        }
        draft
    }

    /// Whether one of our own MCP tools is called, or a command line that only reads or deletes our records.
    pub(crate) fn is_ours(&self) -> bool {
        let is_server = |name: &str| name == OUR_SERVER || name.ends_with(OUR_PLUGIN_SERVER);
        match self.tool {
            Tool::Mcp => is_server(self.server_and_tool().0),
            Tool::Shell => run::only_reads_records(self),
            _ => false,
        }
    }

    /// The server of an MCP tool and the tool's name there. An unknown part is empty.
    fn server_and_tool(&self) -> (&'a str, &'a str) {
        let told = |object: &str, member: &str| {
            self.wire.value(object)?.get(member).and_then(Json::as_str)
        };
        let McpNames { prefix, separator: between } = self.mcp;
        let rest = self.name.strip_prefix(prefix).unwrap_or(self.name);
        let server = told("mcp_server", "name").or_else(|| told("mcp_context", "server_name"));
        let (before, behind) = rest.split_once(between).unwrap_or(("", rest));
        let tool = server.and_then(|server| rest.strip_prefix(server)?.strip_prefix(between));
        (server.unwrap_or(before), tool.unwrap_or(behind))
    }

    /// A call of an MCP tool: its server and name. The arguments are not stored.
    fn mcp(&self) -> Draft {
        let mut draft = self.plain(ObsType::McpCall, &[]);
        let (server, tool) = self.server_and_tool();
        let named = [("server", server), ("tool", tool)];
        for (member, name) in named.into_iter().filter(|(_, name)| !name.is_empty()) {
            let name = guard::line(name, limits::OBSERVED_EDIT_CHARS_MAX);
            draft.metadata.insert(member.into(), name.into_inner().into());
        }
        draft
    }

    fn path(&self, members: &[&str]) -> Option<&'a str> {
        let path = self.input.text_or_first(members)?.head();
        (!path.is_empty()).then_some(path)
    }

    /// The path as it is shown: relative to the working directory if it is inside.
    fn shown<'p>(&self, path: &'p str) -> &'p str {
        let inside = self.cwd.and_then(|cwd| path.strip_prefix(cwd.trim_end_matches('/')));
        let inside = inside.and_then(|path| path.strip_prefix('/'));
        inside.filter(|path| !path.is_empty()).unwrap_or(path)
    }

    /// The path as it is stored: a relative path is appended to the working directory. Superfluous slashes and
    /// `.` are removed, so that one file is not stored under several paths.
    fn absolute(&self, path: &str) -> String {
        let path = match self.cwd.filter(|cwd| cwd.starts_with('/')) {
            Some(cwd) if !path.starts_with(['/', '~']) && !path.contains(':') => {
                let path = path.strip_prefix("./").unwrap_or(path);
                let cwd = cwd.trim_end_matches('/');
                if path == "." { cwd.to_owned() } else { format!("{cwd}/{path}") }
            }
            _ => path.to_owned(),
        };
        let is_odd = ["//", "/./"].iter().any(|odd| path.contains(odd)) || path.ends_with('/');
        if !is_odd || !path.starts_with('/') {
            return path;
        }
        let parts = path.split('/').filter(|part| !part.is_empty() && *part != ".");
        format!("/{}", parts.collect::<Vec<_>>().join("/"))
    }
}

impl Draft {
    fn new(obs_type: ObsType, content: Redacted<String>) -> Draft {
        Draft {
            obs_type,
            content,
            file_path: None,
            metadata: Map::new(),
            command: None,
            commands: Vec::new(),
            has_commit: false,
        }
    }

    /// Whether a shell ran it: only a command line has one of these types.
    fn is_command(&self) -> bool {
        use ObsType as O;
        matches!(self.obs_type, O::Command | O::GitCommit | O::GitPush | O::Github)
    }

    fn finish(mut self, tool: String, mut outcome: Option<Outcome<'_>>) -> ToolUse {
        if let Some(outcome) = outcome.as_mut().filter(|_| self.is_command()) {
            result::settle(&mut self, outcome);
        }
        let failed = outcome.as_ref().is_some_and(|outcome| outcome.failed);
        match outcome {
            Some(outcome) if failed => {
                discard::forget(&mut self.metadata);
                self.fail(&outcome);
            }
            Some(outcome) => {
                self.left_open(&outcome);
                discard::settle(&outcome.texts, &mut self.metadata);
                git::add(self.obs_type, &outcome.texts, &mut self.metadata);
            }
            None => {}
        }
        let path = self.file_path.as_deref();
        guard::with_rules(ToolUse {
            tool,
            obs_type: self.obs_type,
            content: self.content,
            file_path: path.map(guard::place),
            metadata: guard::members(self.metadata),
            command: self.command,
            failed,
        })
    }

    /// Notes that a command did not run to its end.
    fn left_open(&mut self, outcome: &Outcome<'_>) {
        for (member, holds) in
            [("is_interrupt", outcome.interrupted), ("background", outcome.background)]
        {
            if holds {
                self.metadata.insert(member.into(), true.into());
            }
        }
    }

    fn fail(&mut self, outcome: &Outcome<'_>) {
        let is_command = self.is_command();
        match self.has_commit {
            true => git::add(ObsType::GitCommit, &outcome.texts, &mut self.metadata),
            false => git::forget(&mut self.metadata),
        }
        let mut set = |member: &str, value: Value| self.metadata.insert(member.into(), value);
        if is_command {
            if !self.has_commit {
                self.obs_type = ObsType::CommandError;
            }
            set("command", self.content.as_str().into());
        }
        set("failed", true.into());
        if outcome.interrupted {
            set("is_interrupt", true.into());
        }
        self.add_error(outcome);
    }

    fn add_error(&mut self, outcome: &Outcome<'_>) {
        let mut set = |member: &str, value: Value| self.metadata.insert(member.into(), value);
        if let Some(code) = outcome.exit_code {
            set("exit_code", code.into());
        }
        let error = outcome.text();
        if error.trim().is_empty() {
            return;
        }
        set("error", excerpt::of(&error, limits::OBSERVED_ERROR_CHARS_MAX).into());
        // The stored error of a long output lacks lines by which the same failure is recognised.
        let is_long = error.chars().nth(limits::OBSERVED_ERROR_CHARS_MAX).is_some();
        if is_long && let Some(run) = self.metadata.get_mut("run") {
            run[model::run::FINGERPRINT] = Fingerprint::of(&error).hashes().into();
        }
    }
}
