//! The operators between the commands of a list. They determine which commands decide the exit code of the whole list,
//! and which commands have their output hidden.

use std::ops::Range;

use model::limits;

use super::Simple;
use super::reader::Word;

/// An operator between two commands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    And,
    Or,
    Pipe,
    Background,
    /// `;`.
    Then,
    /// The end of a line. It is ignored after another operator.
    Line,
    /// `;;`, the end of a branch of `case`.
    Branch,
}

impl Joint {
    /// The operator at the beginning of a text, and how long it is.
    pub(super) fn at(text: &str) -> (Joint, usize) {
        const OPERATORS: &[(&str, Joint)] = &[
            ("&&", Joint::And),
            ("||", Joint::Or),
            ("|&", Joint::Pipe),
            (";;", Joint::Branch),
            ("|", Joint::Pipe),
            ("&", Joint::Background),
        ];
        let found = OPERATORS.iter().find(|(operator, _)| text.starts_with(operator));
        found.map_or((Joint::Then, 1), |(operator, joint)| (*joint, operator.len()))
    }
}

/// The shell options that make more failures reach the exit code: `set -e`, `set -o pipefail`.
#[derive(Clone, Copy, Default)]
pub(super) struct Strict {
    errexit: bool,
    pipefail: bool,
}

impl Strict {
    /// Reads one argument of `set` or of a shell.
    pub(super) fn read(&mut self, arg: &str) {
        let (sign, letters) = arg.split_at(arg.ceil_char_boundary(1));
        match arg {
            "pipefail" => self.pipefail = true,
            "errexit" => self.errexit = true,
            _ if sign == "-" && !letters.starts_with('-') => self.errexit |= letters.contains('e'),
            _ if sign == "+" => *self = Strict::default(),
            _ => {}
        }
    }
}

enum FlowPart {
    /// The commands found for one command of the list: several for `bash -c`.
    Command(Range<usize>),
    Joint(Joint),
    Not,
    Open,
    Close,
    /// The command or group before this one sends its output to a file.
    Redirected,
}

/// The parts of a list in their order.
#[derive(Default)]
pub(super) struct Flow {
    parts: Vec<FlowPart>,
    /// Whether there are branches or loops, so that the exit code says nothing about a single command.
    branches: bool,
}

impl Flow {
    pub(super) fn command(&mut self, range: Range<usize>, redirected: bool) {
        self.parts.push(FlowPart::Command(range));
        if redirected {
            self.parts.push(FlowPart::Redirected);
        }
    }

    pub(super) fn join(&mut self, joint: Joint) {
        match (joint, self.parts.last()) {
            (Joint::Branch, _) => self.branches = true,
            (Joint::Line, None | Some(FlowPart::Joint(_) | FlowPart::Open)) => {}
            _ => self.parts.push(FlowPart::Joint(joint)),
        }
    }

    pub(super) fn open(&mut self) {
        self.parts.push(FlowPart::Open);
    }

    pub(super) fn close(&mut self) {
        self.parts.push(FlowPart::Close);
    }

    pub(super) fn branch(&mut self) {
        self.branches = true;
    }

    /// Handles a keyword of the shell in front of a command.
    pub(super) fn keyword(&mut self, word: &Word) {
        match word.text.as_str() {
            "{" => self.open(),
            "}" => self.close(),
            "!" => self.parts.push(FlowPart::Not),
            _ => self.branches = true,
        }
    }

    /// Marks the group that was just closed as redirected to a file. Returns whether there was one.
    pub(super) fn redirect_group(&mut self) -> bool {
        let closed = matches!(self.parts.last(), Some(FlowPart::Close));
        if closed {
            self.parts.push(FlowPart::Redirected);
        }
        closed
    }

    /// Sets `decides`, `hidden`, `piped`, `background` and `is_alternative` of all commands in the list.
    pub(super) fn settle(&self, found: &mut [Simple], mut strict: Strict) {
        let mut marks = FateMarks { found };
        marks.list(
            &self.parts,
            Fate { decides: !self.branches, ..Fate::default() },
            &mut strict,
            0,
        );
    }
}

/// Whether commands at a position decide the exit code, whether their output is hidden, whether it is
/// hidden by a pipe only, whether the shell does not wait for them, and whether they are behind `||`.
#[derive(Clone, Copy, Default)]
struct Fate {
    decides: bool,
    hidden: bool,
    piped: bool,
    background: bool,
    is_alternative: bool,
}

struct FateMarks<'a> {
    found: &'a mut [Simple],
}

impl FateMarks<'_> {
    fn list(&mut self, parts: &[FlowPart], fate: Fate, strict: &mut Strict, depth: usize) {
        let ends = |joint| matches!(joint, Joint::Then | Joint::Line | Joint::Background);
        let mut chains = split(parts, ends);
        chains.retain(|(chain, _)| !chain.is_empty());
        // `exit $?` returns the exit code of the command before it.
        let handed = chains.last().and_then(|(chain, _)| self.hands_on(chain));
        if let Some(whole_pipe) = handed {
            chains.pop();
            strict.pipefail |= whole_pipe;
        }
        let count = chains.len();
        for (place, (chain, joint)) in chains.into_iter().enumerate() {
            let background = joint == Some(Joint::Background);
            let counts = place + 1 == count || strict.errexit;
            let fate = Fate {
                decides: fate.decides && counts && !background,
                hidden: fate.hidden || background,
                piped: fate.piped && !background,
                background: fate.background || background,
                ..fate
            };
            self.chain(chain, fate, strict, depth);
        }
    }

    /// Pipelines with `&&` and `||` between them.
    fn chain(&mut self, chain: &[FlowPart], fate: Fate, strict: &mut Strict, depth: usize) {
        let pipelines = split(chain, |joint| matches!(joint, Joint::And | Joint::Or));
        let behind_or = pipelines.windows(2).filter(|pair| pair[0].1 == Some(Joint::Or));
        // `|| exit 1` still fails; any other alternative may hide the failure.
        let hides = behind_or.map(|pair| pair[1].0).any(|pipeline| !self.always_fails(pipeline));
        let fate = Fate { decides: fate.decides && !hides, ..fate };
        let mut is_alternative = fate.is_alternative;
        for (pipeline, joint) in pipelines {
            let fate = Fate { is_alternative, ..fate };
            is_alternative |= joint == Some(Joint::Or);
            let negated = matches!(pipeline.first(), Some(FlowPart::Not));
            let stages = split(pipeline, |joint| joint == Joint::Pipe);
            let last = stages.len() - 1;
            let is_shown = stages.last().is_some_and(|(stage, _)| !is_redirected(stage))
                && (fate.piped || !fate.hidden);
            for (place, (stage, _)) in stages.into_iter().enumerate() {
                let fate = Fate {
                    decides: fate.decides && !negated && (place == last || strict.pipefail),
                    hidden: fate.hidden || place < last,
                    piped: is_shown && (fate.piped || place < last),
                    ..fate
                };
                self.stage(stage, fate, strict, depth);
            }
            self.set(pipeline, strict);
        }
    }

    fn stage(&mut self, stage: &[FlowPart], fate: Fate, strict: &mut Strict, depth: usize) {
        let redirected = is_redirected(stage);
        let hidden = fate.hidden || redirected;
        let fate = Fate { hidden, piped: fate.piped && !redirected, ..fate };
        let open = stage.iter().position(|part| matches!(part, FlowPart::Open));
        let close = stage.iter().rposition(|part| matches!(part, FlowPart::Close));
        match (open, close) {
            (Some(open), Some(close)) if open < close && depth < limits::SHELL_DEPTH_MAX => {
                self.list(&stage[open + 1..close], fate, strict, depth + 1);
            }
            (Some(_), _) => self.mark(stage, Fate { decides: false, ..fate }),
            _ => self.mark(stage, fate),
        }
    }

    fn mark(&mut self, parts: &[FlowPart], fate: Fate) {
        for part in parts {
            let FlowPart::Command(range) = part else { continue };
            for command in &mut self.found[range.clone()] {
                command.decides &= fate.decides;
                command.piped = match command.hidden {
                    true => command.piped && (fate.piped || !fate.hidden),
                    false => fate.piped,
                };
                command.hidden |= fate.hidden;
                command.background |= fate.background;
                command.is_alternative |= fate.is_alternative;
            }
        }
    }

    /// Applies `set -e` and `set -o pipefail` to the commands after them.
    fn set(&self, pipeline: &[FlowPart], strict: &mut Strict) {
        for command in pipeline.iter().filter_map(|part| self.only(part)) {
            if command.program == "set" {
                command.args.iter().for_each(|arg| strict.read(arg));
            }
        }
    }

    /// `Some(false)` for `exit $?`, and `Some(true)` for `exit ${PIPESTATUS[0]}`; `return` counts like `exit`.
    fn hands_on(&self, chain: &[FlowPart]) -> Option<bool> {
        let [part] = chain else { return None };
        let command = self.only(part)?;
        let [code] = command.args.as_slice() else { return None };
        let leaves = matches!(command.program.as_str(), "exit" | "return");
        match code.as_str() {
            "$?" if leaves => Some(false),
            "${PIPESTATUS[0]}" if leaves => Some(true),
            _ => None,
        }
    }

    fn always_fails(&self, pipeline: &[FlowPart]) -> bool {
        let [part] = pipeline else { return false };
        let Some(command) = self.only(part) else { return false };
        match command.program.as_str() {
            "false" => true,
            "exit" | "return" => {
                command.args.first().is_none_or(|code| !matches!(code.as_str(), "0" | "00"))
            }
            _ => false,
        }
    }

    fn only(&self, part: &FlowPart) -> Option<&Simple> {
        match part {
            FlowPart::Command(range) if range.len() == 1 => self.found.get(range.start),
            _ => None,
        }
    }
}

fn is_redirected(stage: &[FlowPart]) -> bool {
    stage.iter().any(|part| matches!(part, FlowPart::Redirected))
}

/// Splits at the operators that `ends` accepts, outside of groups; each piece comes with the operator after it.
fn split(parts: &[FlowPart], ends: impl Fn(Joint) -> bool) -> Vec<(&[FlowPart], Option<Joint>)> {
    let mut pieces = Vec::new();
    let (mut from, mut depth) = (0, 0usize);
    for (at, part) in parts.iter().enumerate() {
        match part {
            FlowPart::Open => depth += 1,
            FlowPart::Close => depth = depth.saturating_sub(1),
            FlowPart::Joint(joint) if depth == 0 && ends(*joint) => {
                pieces.push((&parts[from..at], Some(*joint)));
                from = at + 1;
            }
            _ => {}
        }
    }
    pieces.push((&parts[from..], None));
    pieces
}
