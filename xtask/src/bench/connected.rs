//! The hooks as registered in the agents' configuration: the installed command line of each, with all its work, in a
//! large store, compared with `/bin/true` and a start of Python.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::figures::{Amount, Programs, Row, p95};
use super::hook::{FLOOR, WARM_UP, committed};
use super::observations::{Made, SIZE_INGEST};
use crate::daemon::Daemon;
use crate::home::Home;
use crate::process;
use crate::project::Project;

/// An agent's hooks: the file, and the agent's names of events.
struct AgentHooks {
    agent: &'static str,
    /// The configuration file; a plugin of ours has none and calls the command itself.
    file: Option<&'static str>,
    session: &'static str,
    tool: &'static str,
    /// Before a command, and after one.
    around: [&'static str; 2],
    prompt: &'static str,
    start: &'static str,
}

const CLAUDE: AgentHooks = AgentHooks {
    agent: "claude-code",
    file: Some(".claude/settings.json"),
    session: "session_id",
    tool: "Bash",
    around: ["PreToolUse", "PostToolUse"],
    prompt: "UserPromptSubmit",
    start: "SessionStart",
};

const ALL: [AgentHooks; 5] = [
    CLAUDE,
    AgentHooks { agent: "codex", file: Some(".codex/hooks.json"), ..CLAUDE },
    AgentHooks {
        agent: "gemini-cli",
        file: Some(".gemini/settings.json"),
        tool: "run_shell_command",
        around: ["BeforeTool", "AfterTool"],
        prompt: "BeforeAgent",
        ..CLAUDE
    },
    AgentHooks {
        agent: "cursor",
        file: Some(".cursor/hooks.json"),
        session: "conversation_id",
        tool: "Shell",
        around: ["preToolUse", "postToolUse"],
        prompt: "beforeSubmitPrompt",
        start: "sessionStart",
    },
    AgentHooks {
        agent: "opencode",
        file: None,
        tool: "bash",
        around: ["tool.execute.before", "tool.execute.after"],
        prompt: "chat.message",
        start: "session.created",
        ..CLAUDE
    },
];

/// Milliseconds that 19 of 20 hooks stay below.
const TOOL_MAX: f64 = 5.0;
const PROMPT_MAX: f64 = 20.0;
const START_MAX: f64 = 15.0;

pub(crate) fn rows(project: &Project, programs: &Programs, amount: &Amount) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let python = python()?;
    for hooks in &ALL {
        let home = Made::get(project, programs, SIZE_INGEST)?.home(&programs.rekindle)?;
        let _daemon = Daemon::start(&home, &[])?;
        let mut install = home.rekindle(&["install", hooks.agent, "--yes"]);
        process::run_ok(&mut install, Duration::from_secs(30))?;
        let kinds: [(&str, &[&str], f64); 3] = [
            ("tool hooks", &hooks.around, TOOL_MAX),
            ("prompt hook", &[hooks.prompt], PROMPT_MAX),
            ("session start", &[hooks.start], START_MAX),
        ];
        for (what, events, max) in kinds {
            let run = AgentRun { home: &home, hooks, python: &python, spawns: amount.spawns / 3 };
            rows.push(run.measure(what, events, max)?);
        }
    }
    Ok(rows)
}

/// The interpreter itself: `python3` may be a wrapper script.
fn python() -> Result<String> {
    let mut command = Command::new("python3");
    command.args(["-c", "import sys; print(sys.executable)"]);
    let finished = process::run_ok(&mut command, Duration::from_secs(30))?;
    Ok(finished.stdout.trim().to_owned())
}

/// The measurement of one agent, and its number of runs.
struct AgentRun<'a> {
    home: &'a Home,
    hooks: &'a AgentHooks,
    python: &'a str,
    spawns: usize,
}

impl AgentRun<'_> {
    /// Runs the hooks of these events and the two baselines in turn.
    fn measure(&self, what: &str, events: &[&str], max: f64) -> Result<Row> {
        let (home, hooks) = (self.home, self.hooks);
        let before = committed(home)?;
        let (mut ours, mut floor, mut python) = (Vec::new(), Vec::new(), Vec::new());
        for number in 0..self.spawns + WARM_UP {
            for event in events {
                let payload = payload(home, hooks, event, number).to_string();
                let (took, said) = timed(&mut hooks.command(home, event)?, &payload)?;
                if *event == hooks.start && !said.contains("rekindle context") {
                    bail!("{}: a session that started was told nothing but '{said}'", hooks.agent);
                }
                ours.push(took);
            }
            floor.push(timed(Command::new(FLOOR).env_clear(), "")?.0);
            python.push(timed(Command::new(self.python).args(["-c", "pass"]).env_clear(), "")?.0);
        }
        let (sent, kept) = (ours.len(), committed(home)? - before);
        if sent != kept {
            bail!("{}, {what}: {kept} of {sent} events are in the store", hooks.agent);
        }
        let warm = WARM_UP * events.len();
        let (ours, floor) = (p95(&mut ours[warm..]), p95(&mut floor[WARM_UP..]));
        let python = p95(&mut python[WARM_UP..]);
        let measure = format!("{}: {what} as installed, p95 wall", hooks.agent);
        let target = format!("< {max} ms");
        let row = Row::figure(&measure, format!("{ours:.2} ms"), &target, ours < max);
        Ok(row.against(format!("{floor:.2} ms {FLOOR}, {python:.1} ms python3"), ours / floor))
    }
}

impl AgentHooks {
    /// The command as the agent starts it: a program with arguments, or a line for a shell.
    fn command(&self, home: &Home, event: &str) -> Result<Command> {
        let Some(file) = self.file else {
            return Ok(home.rekindle(&["hook", event, "--agent", self.agent]));
        };
        let text = fs::read_to_string(home.file("home").join(file))?;
        let settings: Value = serde_json::from_str(&text)?;
        let entry = &settings["hooks"][event][0];
        let hook = if entry["hooks"].is_array() { &entry["hooks"][0] } else { entry };
        let program = hook["command"].as_str();
        let program = program.with_context(|| format!("no hook of {event} in {file}"))?;
        let mut command = match hook["args"].as_array() {
            Some(args) => {
                let mut command = Command::new(program);
                command.args(args.iter().filter_map(Value::as_str));
                command
            }
            None => {
                let mut command = Command::new("sh");
                command.args(["-c", program]);
                command
            }
        };
        home.enclose(&mut command);
        Ok(command)
    }
}

/// Milliseconds from spawn to exit, and the output.
fn timed(command: &mut Command, stdin: &str) -> Result<(f64, String)> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let started = Instant::now();
    let mut child = command.spawn()?;
    if let Some(mut pipe) = child.stdin.take() {
        // One that ends without reading is judged by its exit code.
        let _ = pipe.write_all(stdin.as_bytes());
    }
    let output = child.wait_with_output()?;
    let took = started.elapsed();
    if !output.status.success() {
        bail!("{} ended with {}", command.get_program().to_string_lossy(), output.status);
    }
    Ok((took.as_secs_f64() * 1e3, String::from_utf8_lossy(&output.stdout).into_owned()))
}

/// The agent's payload; every number is another session.
fn payload(home: &Home, hooks: &AgentHooks, event: &str, number: usize) -> Value {
    let mut payload = json!({
        "cwd": home.file("home"),
        "hook_event_name": event,
        "source": "startup",
        "prompt": format!("Why does session_{number} end after an hour?"),
        "tool_name": hooks.tool,
        "tool_input": { "command": format!("cargo test --package api session_{number}") },
        "tool_response": { "stdout": "test result: ok. 3 passed; 0 failed", "stderr": "" },
        "tool_use_id": format!("toolu_{event}_{number:024}"),
    });
    payload[hooks.session] = format!("00000000-0000-4000-8000-{number:012}").into();
    payload
}
