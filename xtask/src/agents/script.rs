//! The turns of the scripted model, independent of the agent's wire format.

use serde_json::{Value, json};

/// One answer of the model.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ModelTurn {
    /// A sentence, which ends the agent's work on a prompt.
    Say(String),
    /// A call of a tool, by the name under which the agent offered it. Arguments that are a text go to a
    /// tool without parameters.
    Call { tool: String, arguments: Value },
}

/// A turn as written in a script, before the agent's tool names are known.
#[derive(Clone, Debug)]
pub(crate) enum ScriptLine {
    /// Run a command.
    Shell(String),
    /// Write a new file of the repository with the agent's own tool: its absolute path and its only line.
    Write(String, &'static str),
    /// Call a tool of our MCP server.
    Ours(&'static str, Value),
    /// Load these tools of our MCP server, if the agent offers them only on request.
    Load(&'static [&'static str]),
    /// Have a further agent work on a prompt.
    Spawn(&'static str),
    Say(&'static str),
}

/// The model's lines in a conversation with this mark in a text of the user.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    pub(crate) mark: &'static str,
    pub(crate) lines: Vec<ScriptLine>,
}

/// The messages of an agent to the model, in any wire format.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Dialogue {
    /// Texts that are not the model's own.
    pub(crate) said: Vec<String>,
    /// The results of the tools, in order.
    pub(crate) results: Vec<String>,
    /// Names of the tools that were offered.
    pub(crate) tools: Vec<String>,
}

/// Names of the tools that run a command, and of the parameter that holds it.
const SHELLS: [(&str, &str); 5] = [
    ("Bash", "command"),
    ("exec_command", "cmd"),
    ("shell_command", "command"),
    ("run_shell_command", "command"),
    ("bash", "command"),
];
/// Names of the tools that write a file, and of the parameters that hold its path and its content.
const WRITERS: [(&str, &str, &str); 3] = [
    ("Write", "file_path", "content"),
    ("write_file", "file_path", "content"),
    ("write", "filePath", "content"),
];
/// The name of the tool that takes a patch as one text.
const PATCHER: &str = "apply_patch";
/// The name of the tool that loads other tools.
const LOADER: &str = "ToolSearch";
/// Names of the tools that start a further agent.
const SPAWNERS: [&str; 2] = ["Agent", "Task"];

/// Begins the text by which an agent tells the model that a further agent ended. It asks again for the last line.
const NOTIFICATION: &str = "<task-notification>";

/// The next turn: each result of a tool moves a conversation on by a line. The answer is one word in a conversation
/// without a script, in one that asks without tools, and after the last line of a script.
pub(crate) fn next(scripts: &[Script], dialogue: &Dialogue) -> ModelTurn {
    let marked = |script: &&Script| dialogue.said.iter().any(|said| said.contains(script.mark));
    let line = scripts
        .iter()
        .find(marked)
        .filter(|_| !dialogue.tools.is_empty())
        .and_then(|script| script.lines.get(dialogue.results.len()));
    let Some(line) = line else { return ModelTurn::Say("Noted.".to_owned()) };
    let is_notified = || dialogue.said.iter().any(|said| said.contains(NOTIFICATION));
    match line {
        ScriptLine::Say(text) if is_notified() => {
            ModelTurn::Say(format!("{text} The helper is done, too."))
        }
        ScriptLine::Say(text) => ModelTurn::Say((*text).to_owned()),
        ScriptLine::Shell(command) => shell(command, &dialogue.tools),
        ScriptLine::Write(path, content) => write(path, content, &dialogue.tools),
        ScriptLine::Ours(tool, arguments) => {
            let ours = |name: &&String| name.contains("rekindle") && name.ends_with(tool);
            call(dialogue.tools.iter().find(ours), tool, arguments.clone())
        }
        ScriptLine::Load(names) => load(names, &dialogue.tools),
        ScriptLine::Spawn(prompt) => {
            let spawner = |name: &&String| SPAWNERS.contains(&name.as_str());
            let arguments = json!({
                "description": "look around",
                "prompt": prompt,
                "subagent_type": "general-purpose",
            });
            call(dialogue.tools.iter().find(spawner), "further agent", arguments)
        }
    }
}

fn shell(command: &str, tools: &[String]) -> ModelTurn {
    let known = |name: &String| SHELLS.iter().find(|(known, _)| known == name);
    let arguments = |parameter: &str| {
        let mut arguments = json!({ "description": "work on the kiln" });
        arguments[parameter] = command.into();
        arguments
    };
    match tools.iter().find_map(known) {
        Some((name, parameter)) => {
            ModelTurn::Call { tool: (*name).to_owned(), arguments: arguments(parameter) }
        }
        None => missing("shell"),
    }
}

/// An agent that offers all tools at once runs a command instead: each line of a script needs a result.
fn load(names: &[&str], tools: &[String]) -> ModelTurn {
    if !tools.iter().any(|name| name == LOADER) {
        return shell("true", tools);
    }
    let names: Vec<String> = names.iter().map(|name| format!("mcp__rekindle__{name}")).collect();
    let arguments = json!({ "query": format!("select:{}", names.join(",")), "max_results": 5 });
    ModelTurn::Call { tool: LOADER.to_owned(), arguments }
}

fn write(path: &str, content: &str, tools: &[String]) -> ModelTurn {
    let known = |name: &String| WRITERS.iter().find(|(known, ..)| known == name);
    if let Some((name, path_parameter, content_parameter)) = tools.iter().find_map(known) {
        let arguments =
            json!({ *path_parameter: path, *content_parameter: format!("{content}\n") });
        return ModelTurn::Call { tool: (*name).to_owned(), arguments };
    }
    let patch = format!("*** Begin Patch\n*** Add File: {path}\n+{content}\n*** End Patch");
    call(tools.iter().find(|name| *name == PATCHER), "write", patch.into())
}

fn call(name: Option<&String>, wanted: &str, arguments: Value) -> ModelTurn {
    match name {
        Some(name) => ModelTurn::Call { tool: name.clone(), arguments },
        None => missing(wanted),
    }
}

/// A turn that ends the agent's work and names the missing tool.
fn missing(tool: &str) -> ModelTurn {
    ModelTurn::Say(format!("No tool for '{tool}' was offered."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scripts() -> [Script; 2] {
        let main = vec![
            ScriptLine::Shell("true".to_owned()),
            ScriptLine::Ours("search", json!({ "query": "kiln" })),
            ScriptLine::Say("Done."),
        ];
        [
            Script { mark: "MAIN", lines: main },
            Script { mark: "OTHER", lines: vec![ScriptLine::Say("Here.")] },
        ]
    }

    fn dialogue(said: &str, results: usize, tools: &[&str]) -> Dialogue {
        Dialogue {
            said: vec![said.to_owned()],
            results: vec![String::new(); results],
            tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
        }
    }

    #[test]
    fn each_result_moves_the_conversation_on_by_a_line() {
        let tools = ["exec_command", "mcp__rekindle__search"];
        let turn = |results| next(&scripts(), &dialogue("do MAIN", results, &tools));
        let arguments = json!({ "description": "work on the kiln", "cmd": "true" });
        assert_eq!(turn(0), ModelTurn::Call { tool: "exec_command".into(), arguments });
        let arguments = json!({ "query": "kiln" });
        assert_eq!(turn(1), ModelTurn::Call { tool: "mcp__rekindle__search".into(), arguments });
        assert_eq!(turn(2), ModelTurn::Say("Done.".into()));
        assert_eq!(turn(3), ModelTurn::Say("Noted.".into()));
    }

    #[test]
    fn a_file_is_written_by_a_tool_with_parameters_or_by_a_patch() {
        let script = [Script {
            mark: "MAIN",
            lines: vec![ScriptLine::Write("/pots/kiln.py".to_owned(), "CONE = 6")],
        }];
        let turn = |tool| next(&script, &dialogue("do MAIN", 0, &[tool]));
        let arguments = json!({ "filePath": "/pots/kiln.py", "content": "CONE = 6\n" });
        assert_eq!(turn("write"), ModelTurn::Call { tool: "write".into(), arguments });
        let patch = "*** Begin Patch\n*** Add File: /pots/kiln.py\n+CONE = 6\n*** End Patch".into();
        assert_eq!(
            turn("apply_patch"),
            ModelTurn::Call { tool: "apply_patch".into(), arguments: patch }
        );
        assert_eq!(turn("write_stdin"), ModelTurn::Say("No tool for 'write' was offered.".into()));
    }

    #[test]
    fn a_tool_that_was_not_offered_is_not_called() {
        let turn = next(&scripts(), &dialogue("do MAIN", 1, &["exec_command"]));
        assert_eq!(turn, ModelTurn::Say("No tool for 'search' was offered.".into()));
    }

    #[test]
    fn a_conversation_without_a_script_or_without_tools_gets_a_word() {
        assert_eq!(
            next(&scripts(), &dialogue("hello", 0, &["Bash"])),
            ModelTurn::Say("Noted.".into())
        );
        assert_eq!(next(&scripts(), &dialogue("do MAIN", 0, &[])), ModelTurn::Say("Noted.".into()));
        assert_eq!(
            next(&scripts(), &dialogue("OTHER", 0, &["Bash"])),
            ModelTurn::Say("Here.".into())
        );
    }
}
