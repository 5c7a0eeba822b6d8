//! Our entries in an agent's configuration: how they are written, and how they are recognised with any path.

use std::path::Path;

use agents::wiring::{CLAUDE_HOOKS, Call, Hooked, Hooks, Server, VARIABLES};
use serde_json::{Map, Value, json};

use crate::place::read_unedited;

/// The name of our MCP server.
pub(crate) const SERVER: &str = "rekindle";
/// The member of an agent's settings with its status line.
pub(crate) const STATUS_LINE: &str = "statusLine";
/// The name of our program.
const PROGRAM: &str = "rekindle";

/// The agent that calls, and the program that it calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ours<'a> {
    pub(crate) agent: &'a str,
    /// The absolute path of our program, which is the same for all versions.
    pub(crate) binary: &'a str,
    /// Whether the user wants our status line.
    pub(crate) status_line: bool,
}

impl Ours<'_> {
    /// The members of a hook that identify it as ours.
    fn call(&self, hooks: &Hooks, event: &str) -> Map<String, Value> {
        let args = ["hook", event, "--agent", self.agent];
        let mut members = Map::new();
        match hooks.call {
            Call::Exec => {
                members.insert("command".into(), self.binary.into());
                members.insert("args".into(), json!(args));
            }
            Call::Line => {
                let line = format!("{} {}", quoted(self.binary), args.join(" "));
                members.insert("command".into(), line.into());
            }
        }
        members
    }

    /// A complete hook.
    pub(crate) fn hook(&self, hooks: &Hooks, hooked: &Hooked) -> Map<String, Value> {
        let mut hook = Map::new();
        if hooks.typed {
            hook.insert("type".into(), "command".into());
        }
        hook.extend(self.call(hooks, hooked.event));
        if let Some(timeout) = hooked.timeout {
            hook.insert("timeout".into(), hooks.unit.of(timeout).into());
        }
        hook
    }

    /// The setting of the status line.
    pub(crate) fn status_line(&self) -> Value {
        let line = format!("{} statusline --agent {}", quoted(self.binary), self.agent);
        json!({ "type": "command", "command": line })
    }

    /// The entry of our MCP server.
    pub(crate) fn server(&self, shape: Server) -> Value {
        match shape {
            Server::Plain => json!({ "command": self.binary, "args": ["serve"] }),
            Server::Forwarding => {
                json!({ "command": self.binary, "args": ["serve"], "env_vars": VARIABLES })
            }
            Server::Typed => {
                json!({ "type": "stdio", "command": self.binary, "args": ["serve"] })
            }
            Server::Listed => {
                json!({ "type": "local", "command": [self.binary, "serve"], "enabled": true })
            }
        }
    }
}

/// The program that a hook starts and its arguments, in any form.
fn call(hook: &Value) -> Option<(String, Vec<&str>)> {
    let command = hook["command"].as_str()?;
    Some(match hook["args"].as_array() {
        Some(args) => (command.to_owned(), args.iter().filter_map(Value::as_str).collect()),
        None => {
            let (program, rest) = split(command);
            (program, rest.split_whitespace().collect())
        }
    })
}

/// Whether a hook calls us, with any path and in any form.
pub(crate) fn is_our_hook(hook: &Value) -> bool {
    call(hook).is_some_and(|(program, args)| calls_us(&program, &args))
}

/// Whether a hook of ours reports this event, and for this agent if it names one.
pub(crate) fn tells_of(hook: &Value, event: &str, agent: &str) -> bool {
    let Some((_, args)) = call(hook) else { return false };
    let said = args.iter().position(|arg| *arg == "--agent").and_then(|at| args.get(at + 1));
    args.get(1) == Some(&event) && said.is_none_or(|said| *said == agent)
}

fn calls_us(program: &str, args: &[&str]) -> bool {
    let named = program.rsplit('/').next() == Some(PROGRAM);
    match args {
        ["hook", _] => named,
        // Such a line can only be ours, whatever name our program has in it.
        ["hook", _, "--agent", agent] => named || agents::wiring::wiring(agent).is_some(),
        ["hook", ..] => named,
        _ => false,
    }
}

/// Whether a status line is ours, with any path. Other programs have a command `statusline`, too.
pub(crate) fn is_our_status_line(entry: &Value) -> bool {
    let Some((program, args)) = call(entry) else { return false };
    match args.as_slice() {
        ["statusline"] => program.rsplit('/').next() == Some(PROGRAM),
        ["statusline", "--agent", agent] => agents::wiring::wiring(agent).is_some(),
        _ => false,
    }
}

/// Whether an entry of an MCP server starts us, with any path.
pub(crate) fn is_our_server(entry: &Value) -> bool {
    let args = match &entry["command"] {
        Value::Array(command) => command.get(1..).unwrap_or_default(),
        Value::String(_) => entry["args"].as_array().map_or(&[][..], Vec::as_slice),
        _ => return false,
    };
    args.first().is_some_and(|first| first == "serve")
}

/// The program that a hook or server entry of ours starts.
pub(crate) fn program(entry: &Value) -> Option<String> {
    match &entry["command"] {
        Value::Array(command) => command.first()?.as_str().map(str::to_owned),
        Value::String(command) if entry["args"].is_array() => Some(command.clone()),
        Value::String(command) => Some(split(command).0),
        _ => None,
    }
}

/// A path quoted for a shell.
pub fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%:,".contains(c);
    if !path.is_empty() && path.chars().all(plain) {
        return path.to_owned();
    }
    format!("'{}'", path.replace('\'', "'\\''"))
}

/// The first word of a shell command, unquoted, and the rest.
fn split(line: &str) -> (String, &str) {
    let line = line.trim_start();
    let mut word = String::new();
    let mut chars = line.char_indices();
    let mut quote = None;
    while let Some((at, c)) = chars.next() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => word.push(c),
            None if c == '\'' || c == '"' => quote = Some(c),
            None if c == '\\' => word.extend(chars.next().map(|(_, next)| next)),
            None if c.is_whitespace() => return (word, line.get(at..).unwrap_or_default()),
            None => word.push(c),
        }
    }
    (word, "")
}

const README: &str = "# Rekindle

A local memory for Claude Code. Its hooks record what happens in a session (prompts, edits, commands, errors) in one file on
your machine, and tell a session that starts what was wanted and done lately. Its MCP server lets the model search all of it.
No model is called and no outbound connection is opened.

The plugin needs the `rekindle` program, whose path is in `hooks/hooks.json` and `.mcp.json`; `rekindle plugin DIR` rewrites
this folder when the program has moved. `rekindle doctor` says what is wrong.
";

/// The path of a plugin's hooks within its directory.
const PLUGIN_HOOKS: &str = "hooks/hooks.json";
/// The MCP server of a plugin, in its directory.
const PLUGIN_SERVER: &str = ".mcp.json";

/// The programs that our plugin in this directory starts; none if it was removed.
pub(crate) fn plugin_programs(folder: &Path) -> Vec<String> {
    let file = |name: &str| -> Value {
        let text = read_unedited(&folder.join(name)).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    };
    let (hooks, server) = (file(PLUGIN_HOOKS), file(PLUGIN_SERVER));
    let events = hooks["hooks"].as_object().into_iter().flatten();
    let groups = events.flat_map(|(_, groups)| groups.as_array().into_iter().flatten());
    let hooks = groups.flat_map(|group| group["hooks"].as_array().into_iter().flatten());
    hooks.chain([&server["mcpServers"][SERVER]]).filter_map(program).collect()
}

/// The files of the Claude Code plugin that starts this program: their paths in its directory, and their texts.
pub fn claude_plugin(binary: &str, version: &str) -> Vec<(&'static str, String)> {
    let ours = Ours { agent: "claude-code", binary, status_line: false };
    let mut events = Map::new();
    for hooked in CLAUDE_HOOKS.events {
        let group = json!([{ "hooks": [ours.hook(&CLAUDE_HOOKS, hooked)] }]);
        events.insert(hooked.event.into(), group);
    }
    let mut servers = Map::new();
    servers.insert(SERVER.into(), ours.server(Server::Typed));
    let about = "Memory for coding agents: records what they do and gives them back what matters";
    let plugin = json!({
        "name": "rekindle",
        "version": version,
        "description": about,
        "author": { "name": "Rekindle" },
        "license": env!("CARGO_PKG_LICENSE"),
    });
    let text = |value: Value| format!("{value:#}\n");
    vec![
        (".claude-plugin/plugin.json", text(plugin)),
        (PLUGIN_HOOKS, text(json!({ "description": about, "hooks": events }))),
        (PLUGIN_SERVER, text(json!({ "mcpServers": servers }))),
        ("README.md", README.to_owned()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_ours_is_recognised_whatever_its_path() {
        let line = |command: &str| is_our_hook(&json!({ "command": command }));
        assert!(line("/old/place/rekindle hook Stop --agent codex"));
        assert!(line("'/with space/it'\\''s/rekindle' hook Stop --agent codex"));
        assert!(line("rekindle hook Stop"));
        assert!(line("/opt/rk hook Stop --agent codex"));
        assert!(!line("/opt/other hook Stop"));
        assert!(!line("echo rekindle hook Stop"));
        assert!(!line(""));
        let exec = json!({ "command": "/a/rekindle", "args": ["hook", "Stop"] });
        assert!(is_our_hook(&exec));
        assert!(!is_our_hook(&json!({ "command": "/a/rekindle", "args": ["status"] })));
    }

    #[test]
    fn a_quoted_path_is_read_back() {
        for path in ["/a/rekindle", "/a b/rekindle", "/it's/rekindle", "/ü/rekindle"] {
            let line = format!("{} hook Stop --agent codex", quoted(path));
            assert_eq!(program(&json!({ "command": line })).as_deref(), Some(path));
        }
    }
}
