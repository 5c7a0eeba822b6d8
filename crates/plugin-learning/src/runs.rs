//! Test runs and builds of an agent, read from the metadata of its tool uses.

use model::ghap::RunResult;
use model::hook::ToolUse;
use serde_json::Value;

/// A test run or a build that ended.
pub(crate) struct FinishedRun<'t> {
    pub(crate) program: &'t str,
    pub(crate) subcommand: &'t str,
    /// None if the result is hidden or not reported, or if no test ran.
    pub(crate) result: Option<RunResult>,
    /// The command line.
    pub(crate) line: &'t str,
    /// Whether the command line failed, perhaps before the run began.
    failed: bool,
    /// The counts in the output, and the result.
    run: &'t Value,
}

impl<'t> FinishedRun<'t> {
    /// None for other tools, and for a run that was interrupted or continues in the background.
    pub(crate) fn of(tool: &'t ToolUse) -> Option<FinishedRun<'t>> {
        let metadata: &Value = &tool.metadata;
        let run = metadata.get("run")?;
        let is = |name: &str| metadata.get(name).and_then(Value::as_bool) == Some(true);
        if is("is_interrupt") || is("background") {
            return None;
        }
        let word = |name: &str| metadata.get(name).and_then(Value::as_str).unwrap_or_default();
        Some(FinishedRun {
            program: Some(word("program")).filter(|program| !program.is_empty())?,
            subcommand: word("subcommand"),
            result: run.get("result").and_then(Value::as_str).and_then(RunResult::parse),
            failed: tool.failed,
            line: tool.command.as_ref().unwrap_or(&tool.content),
            run,
        })
    }

    /// A run that answers a hypothesis; a linter does not.
    pub(crate) fn of_ghap(tool: &'t ToolUse) -> Option<FinishedRun<'t>> {
        FinishedRun::of(tool).filter(|run| !model::run::is_lint(run.program, run.subcommand))
    }

    /// Whether a pipe, `;` or `||` hides the result.
    pub(crate) fn is_hidden(&self) -> bool {
        let is = |name: &str| self.run.get(name).and_then(Value::as_bool) == Some(true);
        self.result.is_none() && !is("own_exit") && !is(model::run::NO_TESTS)
    }

    /// Whether nothing says how the run ended: the agent reports no exit code, and the output has no summary.
    pub(crate) fn is_unreported(&self) -> bool {
        let is = |name: &str| self.run.get(name).and_then(Value::as_bool) == Some(true);
        self.result.is_none() && is("own_exit") && !self.failed && !is(model::run::NO_TESTS)
    }

    /// A number in the summary of the output: `passed`, `failed`, `errors`.
    pub(crate) fn count(&self, word: &str) -> Option<u64> {
        self.run.get(word).and_then(Value::as_u64)
    }
}
