//! The claims about every agent: one command connects it, it gets our text, its events arrive, our tools answer, the
//! next session has the memory of the last one, and nothing is left after disconnecting.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::endpoint::{Endpoint, Received};
use super::script::{Script, ScriptLine};
use super::stage::{MEMORY, Stage};
use super::table::{ContinuedSession, FIX, HINT, RealAgent};
use super::{learned, remembered, twins};
use crate::clients::install::Node;
use crate::process;
use crate::report::{StepLog, StepOutcome};

const SESSION_DEADLINE: Duration = Duration::from_secs(120);

pub(crate) const PROMPT: &str = "Get the kiln ready.";
const PROMPT_FURTHER: &str = "Look behind the shelf.";
/// The prompt of a session that continues after a compaction.
const PROMPT_ON: &str = "Go on.";
/// The commands, one that succeeds and one that fails, and the output of the first one.
const SUCCEEDS: &str = "echo clay is soft";
const FAILS: &str = "ls kiln/missing";
/// The last sentence of the first session, which states its finding.
pub(crate) const END: &str = "The kiln is ready: the thermocouple was wired the wrong way round, \
                              so that it read 200 degrees low.";

/// The paths that the sessions change in the repository.
const WORK: [&str; 4] = [
    "work/pottery/glaze.py",
    "work/pottery/kiln.py",
    "work/pottery/__pycache__",
    "work/pottery/.git",
];

/// An agent in its home, and the model it talks to.
pub(crate) struct Proof<'a> {
    pub(crate) agent: &'a RealAgent,
    pub(crate) node: &'a Node,
    pub(crate) stage: Stage,
    pub(crate) endpoint: Endpoint,
}

impl Proof<'_> {
    /// The steps in order; a step that depends on a failed one is skipped.
    pub(crate) fn run(&self, log: &mut StepLog) -> Result<()> {
        (self.agent.files)(&self.stage, &self.endpoint.url())?;
        let before = self.stage.snapshot()?;
        let mut step = |what: &str, action: &dyn Fn() -> Result<String>| {
            log.step(&format!("{}, {what}", self.agent.name), || action().map(StepOutcome::Ok))
        };
        let connected = step("connected and disconnected again", &|| {
            self.connect()?;
            if before.differences(&self.stage.snapshot()?, &[MEMORY]).is_empty() {
                bail!("`rekindle install` changed nothing");
            }
            self.disconnect()?;
            before.expect_same(&self.stage.snapshot()?, &[MEMORY])?;
            Ok("the home is as it was, byte for byte".to_owned())
        });
        let held = connected
            && step("a session", &|| {
                self.connect()?;
                self.first_session()
            });
        if held {
            let received = self.endpoint.received();
            step("hints", &|| self.told_hints(&received));
            step("MCP tools", &|| tools_answer(&received));
            step("a red test in a pipe", &|| remembered::red_run(&self.stage));
            if let Some(arguments) = self.agent.resumed {
                step("a resumed session", &|| self.resumed(arguments));
            }
            if let Some(arguments) = self.agent.compact {
                step("after compaction", &|| self.compacted(arguments));
            }
            if step("the next session", &|| self.next_session()) {
                let received = self.endpoint.received();
                step("a question in other words", &|| remembered::finding(&received));
                step("commits", &|| remembered::commits(&self.stage));
            }
            if self.agent.learns && step("a hypothesis", &|| self.learning_session()) {
                step("the lesson", &|| self.warned_session());
            }
            for (what, arguments) in self.agent.continued {
                step(what, &|| self.continued(what, *arguments));
            }
            step("hooks", &|| self.hooks_fired());
            step("transcripts beside hooks", &|| twins::adds_nothing(&self.stage, self.agent.name));
            step("transcripts without hooks", &|| twins::same_records(&self.stage, self.agent));
        }
        if connected {
            step("disconnected after its work", &|| {
                self.disconnect()?;
                let own = [self.agent.own, &[MEMORY], &WORK].concat();
                before.expect_same(&self.stage.snapshot()?, &own)?;
                for (path, ours) in self.agent.shared {
                    self.stage.expect_without(path, ours)?;
                }
                Ok(format!("as before but for {}", self.agent.own.join(", ")))
            });
        }
        Ok(())
    }

    fn connect(&self) -> Result<()> {
        self.stage.rekindle(&["install", self.agent.name, "--yes"]).map(drop)
    }

    fn disconnect(&self) -> Result<()> {
        self.stage.rekindle(&["uninstall", self.agent.name, "--yes"]).map(drop)
    }

    /// Runs one headless session to its end and returns its output.
    fn session(&self, prompt: &str, further: &[&str]) -> Result<String> {
        let url = self.endpoint.url();
        let arguments = |command: &mut Command| {
            (self.agent.session)(command, &url, prompt);
            command.args(further);
        };
        self.run_session(arguments)
    }

    fn run_session(&self, arguments: impl FnOnce(&mut Command)) -> Result<String> {
        let mut command = self.agent.command(&self.stage, self.node, arguments);
        let finished = process::run_ok(&mut command, SESSION_DEADLINE)?;
        (self.agent.judge)(&finished.stdout)?;
        Ok(finished.stdout)
    }

    fn first_session(&self) -> Result<String> {
        let hints = [("kiln", "light", HINT, "vent"), ("glaze", "mend", FIX, "fix")];
        for (component, key, value, tag) in hints {
            let args = ["hint", "set", component, key, value, "--tags", tag, "--ttl", "forever"];
            self.stage.rekindle(&args)?;
        }
        self.endpoint.play(self.scripts());
        let said = self.session(PROMPT, &[])?;
        if !said.contains(END) {
            bail!("the session did not come to its end\n{said}");
        }
        Ok(format!("{} questions to the model", self.endpoint.received().len()))
    }

    /// The model's lines in the first session, and those of a subagent in it.
    fn scripts(&self) -> Vec<Script> {
        let mut lines = vec![
            ScriptLine::Shell(SUCCEEDS.to_owned()),
            ScriptLine::Shell(FAILS.to_owned()),
            ScriptLine::Ours("search", json!({ "query": "clay" })),
            remembered::declared(),
        ];
        lines.extend(remembered::work(&self.stage));
        lines.extend(self.agent.compact.map(|_| ScriptLine::Spawn(PROMPT_FURTHER)));
        lines.push(ScriptLine::Say(END));
        let other = vec![ScriptLine::Shell("echo dust".to_owned()), ScriptLine::Say("Only dust.")];
        vec![Script { mark: PROMPT, lines }, Script { mark: PROMPT_FURTHER, lines: other }]
    }

    /// Checks that each hint is in a request to the model, but not in the first one, which precedes every command.
    fn told_hints(&self, received: &[Received]) -> Result<String> {
        for hint in self.agent.hints {
            let told = received.iter().position(|request| request.text.contains(hint));
            let told = told.with_context(|| format!("the model was not told '{hint}'"))?;
            if told == 0 {
                bail!("the model was told '{hint}' before anything was run");
            }
        }
        Ok(format!("{} reached the model", self.agent.hints.len()))
    }

    /// The model of a resumed session gets the context that the session declared.
    fn resumed(&self, arguments: fn(&mut Command, &str, &str)) -> Result<String> {
        self.endpoint.play(Vec::new());
        let url = self.endpoint.url();
        self.run_session(|command| arguments(command, &url, PROMPT_ON))?;
        remembered::resumed(&self.endpoint.received(), &self.stage)
    }

    /// The session that was active last is continued. Its transcript may repeat records of the one before.
    fn continued(&self, what: &str, arguments: ContinuedSession) -> Result<String> {
        let listed: Value = serde_json::from_str(&self.stage.rekindle(&["sessions", "--json"])?)?;
        let session = listed["sessions"][0]["session_id"].as_str().context("no session")?;
        self.endpoint.play(Vec::new());
        let url = self.endpoint.url();
        let prompt = format!("Go on as {what}.");
        self.run_session(|command| arguments(command, &url, &prompt, session))?;
        let asked = self.endpoint.received();
        if !asked.iter().any(|request| request.dialogue.said.len() > 1) {
            bail!("the model did not get the earlier session: {asked:?}");
        }
        Ok(format!("{} questions to the model", asked.len()))
    }

    /// The briefing after a compaction lists the session's own work.
    fn compacted(&self, arguments: &[&str]) -> Result<String> {
        self.endpoint.play(Vec::new());
        self.session("/compact", arguments)?;
        self.endpoint.play(Vec::new());
        self.session(PROMPT_ON, arguments)?;
        remembered::briefed_again(&self.endpoint.received())
    }

    /// The briefing of a second session lists the first one.
    fn next_session(&self) -> Result<String> {
        self.endpoint.play(vec![remembered::next_script()]);
        self.session(remembered::PROMPT_NEXT, &[])?;
        remembered::briefed(&self.endpoint.received())
    }

    /// The runs of a session answer its hypotheses.
    fn learning_session(&self) -> Result<String> {
        self.endpoint.play(vec![learned::script(&self.stage)]);
        self.session(learned::PROMPT, &[])?;
        learned::outcomes(&self.endpoint.received(), &self.stage)
    }

    /// A later session gets the warning at its prompt, and the fix after its failed run.
    fn warned_session(&self) -> Result<String> {
        self.endpoint.play(vec![learned::next_script(&self.stage)]);
        self.session(learned::PROMPT_NEXT, &[])?;
        learned::warned(&self.endpoint.received(), &self.stage)
    }

    /// Checks that every hook fired, and that none logged an error.
    fn hooks_fired(&self) -> Result<String> {
        let events = self.stage.events()?;
        let missing: Vec<&&str> =
            self.agent.hooks.iter().filter(|name| !events.contains_key(**name)).collect();
        if !missing.is_empty() {
            bail!("no event of {missing:?} came in, but {events:?}");
        }
        match self.stage.trouble() {
            trouble if trouble.is_empty() => {}
            trouble => bail!("hooks complained\n{trouble}"),
        }
        let counts: Vec<String> =
            events.iter().map(|(name, count)| format!("{name} {count}")).collect();
        Ok(counts.join(", "))
    }
}

/// Checks that our tools are offered to the model, and that the called one found the earlier work.
fn tools_answer(received: &[Received]) -> Result<String> {
    let offered = received.iter().map(|request| {
        request.dialogue.tools.iter().filter(|name| name.contains("rekindle")).count()
    });
    let offered = offered.max().unwrap_or_default();
    if offered == 0 {
        bail!("no tool of ours was offered to the model");
    }
    let answers = || received.iter().flat_map(|request| &request.dialogue.results);
    let found = |answer: &&String| answer.contains("query_form") && answer.contains(SUCCEEDS);
    if !answers().any(|answer| found(&answer)) {
        let all: Vec<&String> = answers().collect();
        bail!("the search did not find the command: {all:?}");
    }
    Ok(format!("{offered} offered, `search` found the command"))
}
