//! The outcome of a tool: whether it failed, its exit code and its output.

use std::borrow::Cow;

use crate::json::Json;
use crate::table::ExitLine;
use crate::wire::Text;

/// Members of a response that hold text, the most telling first.
const TEXTS: &[&str] =
    &["error", "stderr", "stdout", "output", "llmContent", "content", "text", "message"];
/// How Gemini CLI begins its report about a command that it did not wait for, and about one that was stopped.
const BACKGROUND: &[&str] =
    &["Command moved to background (PID: ", "Command started in background"];
const CANCELLED: &[&str] = &[
    "Command was cancelled by user before it could complete.",
    "Command was automatically cancelled because it exceeded the timeout",
    "Command timed out",
];
/// How deep a response is searched for its texts.
const DEPTH_MAX: usize = 4;
/// Lines at the beginning of an output that may state the exit code; all later ones are the
/// command's own.
const FIRST_LINES: usize = 4;
/// Lines at the end of an output that may state the exit code; the host adds other lines there, too.
const LAST_LINES: usize = 20;

pub(super) struct Outcome<'a> {
    pub(super) failed: bool,
    /// As the agent reports it.
    pub(super) exit_code: Option<i64>,
    /// Whether the tool succeeded: the reported exit code is 0, or an agent that reports failures reported none.
    pub(super) succeeded: bool,
    pub(super) interrupted: bool,
    /// Whether the agent reports the output at all.
    pub(super) answered: bool,
    /// The command runs in the background: its result is not known.
    pub(super) background: bool,
    /// The output, piece by piece.
    pub(super) texts: Vec<&'a str>,
}

impl<'a> Outcome<'a> {
    /// The whole output as one text.
    pub(super) fn text(&self) -> Cow<'a, str> {
        match self.texts.as_slice() {
            [one] => Cow::Borrowed(one),
            texts => Cow::Owned(texts.join("\n")),
        }
    }
}

/// The outcome according to a response. The exit code is a member of it, else it is searched in the text at
/// `exit_line`.
pub(super) fn of<'a>(response: Option<&'a Json<'a>>, exit_line: Option<ExitLine>) -> Outcome<'a> {
    let mut texts = response.map(texts).unwrap_or_default();
    let told = response.and_then(exit_code);
    let exit_code = told.or_else(|| {
        let line = exit_line?;
        let is_text = response.is_some_and(|response| Text::of(response).is_some());
        let looked_at = if is_text || line != ExitLine::Opening { texts.as_slice() } else { &[] };
        looked_at.iter().find_map(|text| exit_code_in(text, line))
    });
    if exit_line == Some(ExitLine::Last) {
        texts = texts.into_iter().flat_map(unframed).filter(|text| !text.is_empty()).collect();
    }
    let failed = exit_code.is_some_and(|code| code != 0) || response.is_some_and(says_error);
    let reports = matches!(exit_line, Some(ExitLine::Opening | ExitLine::Last));
    let says = |member: &str| response.and_then(|response| response.get(member));
    let interrupted = says("interrupted").and_then(Json::as_bool).unwrap_or(false);
    let begins = |start: &str| texts.iter().any(|text| text.trim_start().starts_with(start));
    let says_so =
        |starts: &[&str]| exit_line == Some(ExitLine::Last) && starts.iter().any(|it| begins(it));
    let interrupted = interrupted || says_so(CANCELLED);
    let background =
        says("backgroundTaskId").is_some_and(|id| id.as_str().is_some()) || says_so(BACKGROUND);
    let answered = response.is_some();
    let succeeded = !failed && (exit_code == Some(0) || exit_code.is_none() && reports);
    Outcome { failed, exit_code, succeeded, interrupted, answered, background, texts }
}

/// The outcome of a tool that failed. Its output is the error; without one, the response.
pub(super) fn of_failure<'a>(
    error: Option<&'a str>,
    response: Option<&'a Json<'a>>,
    interrupted: bool,
) -> Outcome<'a> {
    let texts = match error.filter(|error| !error.trim().is_empty()) {
        Some(error) => vec![error],
        None => response.map(texts).unwrap_or_default(),
    };
    let told = response.and_then(exit_code);
    let in_text = || texts.iter().find_map(|text| exit_code_in(text, ExitLine::First));
    let exit_code = told.or_else(in_text);
    Outcome {
        failed: true,
        exit_code,
        succeeded: false,
        interrupted,
        answered: true,
        background: false,
        texts,
    }
}

fn texts<'a>(value: &'a Json<'a>) -> Vec<&'a str> {
    let mut found = Vec::new();
    collect(value, DEPTH_MAX, &mut found);
    found
}

fn collect<'a>(value: &'a Json<'a>, depth: usize, found: &mut Vec<&'a str>) {
    if let Some(text) = Text::of(value) {
        found.extend(text.pieces().map(without_wrapping));
        return;
    }
    if depth == 0 {
        return;
    }
    match value {
        Json::List(items) => items.iter().for_each(|item| collect(item, depth - 1, found)),
        Json::Object(members) => {
            let values = TEXTS.iter().filter_map(|member| members.get(member));
            values.for_each(|value| collect(value, depth - 1, found));
        }
        _ => {}
    }
}

/// The text without what Gemini CLI puts around the output of a tool: a tag, and the processes at its end.
fn without_wrapping(text: &str) -> &str {
    let inside = text.trim().strip_prefix("<untrusted_context>");
    let inside = inside.map(|text| text.strip_suffix("</untrusted_context>").unwrap_or(text));
    let mut rest = inside.map_or(text, str::trim);
    while let Some((before, last)) = rest.trim_end().rsplit_once('\n')
        && ["Process Group PGID: ", "Background PIDs: "].iter().any(|it| last.starts_with(it))
    {
        rest = before;
    }
    rest
}

/// The output of a command without the frame that Gemini CLI puts around it: `Output: ` before the first line, after the
/// last one the exit code, the signal and the processes. Older releases also name the command and its directory,
/// and list the error output by itself; it comes first in the result.
fn unframed(text: &str) -> [&str; 2] {
    const BEHIND: &[&str] =
        &["Exit Code: ", "Signal: ", "Background PIDs: ", "Process Group PGID: "];
    let mut rest = text;
    while let Some((before, last)) = rest.trim_end().rsplit_once('\n')
        && (BEHIND.iter().any(|start| last.starts_with(start))
            || matches!(last, "Error: (none)" | "Stderr: (empty)"))
    {
        rest = before;
    }
    let inside =
        match rest.strip_prefix("Command: ").and_then(|rest| rest.split_once("\nDirectory: ")) {
            Some((_, behind)) => behind.split_once('\n').map_or("", |(_, output)| output),
            None => rest,
        };
    let said = |output| if output == "(empty)" { "" } else { output };
    if let Some(output) = inside.strip_prefix("Output: ") {
        return ["", said(output)];
    }
    match inside.strip_prefix("Stdout: ").map(|output| output.split_once("\nStderr: ")) {
        Some(Some((output, errors))) => [errors, said(output)],
        Some(None) => ["", said(&inside["Stdout: ".len()..])],
        None => ["", inside],
    }
}

/// The exit code as a member of the response.
fn exit_code(response: &Json<'_>) -> Option<i64> {
    let places = [Some(response), response.get("metadata")];
    places.into_iter().flatten().find_map(|place| {
        ["exit_code", "exitCode", "exit"]
            .iter()
            .find_map(|member| place.get(member)?.as_number()?.as_i64())
    })
}

/// Whether the response says of itself that it is an error.
fn says_error(response: &Json<'_>) -> bool {
    let flagged = ["isError", "is_error"]
        .iter()
        .any(|member| response.get(member).and_then(Json::as_bool) == Some(true));
    let told = match response.get("error") {
        Some(Json::Text(error)) => !error.is_empty(),
        Some(Json::Object(_)) => true,
        _ => false,
    };
    let unsuccessful = response.get("success").and_then(Json::as_bool) == Some(false);
    flagged || told || unsuccessful
}

fn exit_code_in(text: &str, line: ExitLine) -> Option<i64> {
    match line {
        ExitLine::Opening => text.lines().next().and_then(exit_code_of_line),
        ExitLine::First => text.lines().take(FIRST_LINES).find_map(exit_code_of_line),
        ExitLine::Last => text.lines().rev().take(LAST_LINES).find_map(exit_code_of_line),
    }
}

fn exit_code_of_line(line: &str) -> Option<i64> {
    let line = line.trim();
    let behind = |prefix: &str| {
        let head = line.get(..prefix.len())?;
        head.eq_ignore_ascii_case(prefix).then(|| &line[prefix.len()..])
    };
    let said = ["exit code", "process exited with code", "command failed with exit code"];
    let rest = said.into_iter().find_map(behind)?;
    rest.trim_start_matches(':').trim().trim_end_matches('.').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// @capture_host_text
    #[test]
    fn the_text_that_a_host_wraps_around_output_is_removed() {
        let table = [
            ("plain\n", "plain\n"),
            ("<untrusted_context>\nno such host\n</untrusted_context>", "no such host"),
            ("no\nExit Code: 3\nBackground PIDs: 7\nProcess Group PGID: 1", "no\nExit Code: 3"),
            ("the Process Group PGID: 1\nis mine", "the Process Group PGID: 1\nis mine"),
        ];
        for (text, expected) in table {
            assert_eq!(without_wrapping(text), expected);
        }
    }

    /// @capture_host_text
    #[test]
    fn the_frame_of_gemini_around_the_output_of_a_command_is_removed() {
        let table = [
            ("Output: make: *** No rule\nProcess Group PGID: 4", vec!["make: *** No rule"]),
            ("Output: a\nb\n\nExit Code: 2\nSignal: 9\nBackground PIDs: 1, 2", vec!["a\nb\n"]),
            ("Output: (empty)\nProcess Group PGID: 4", vec![]),
            ("Output: a\nError: spawn failed\nExit Code: 1", vec!["a\nError: spawn failed"]),
            ("Output: the Output: is\nOutput: twice", vec!["the Output: is\nOutput: twice"]),
            (
                "Command: git push\nDirectory: (root)\nOutput: fatal: no\nError: (none)\nExit Code: 128\nSignal: (none)",
                vec!["fatal: no"],
            ),
            (
                "Command: x\nDirectory: /srv\nStdout: a\nb\nStderr: c\nError: (none)\nExit Code: 0",
                vec!["c", "a\nb"],
            ),
            ("Command: x\nDirectory: /srv\nStdout: (empty)\nStderr: (empty)\nExit Code: 0", vec![]),
            ("no\nExit Code: 3", vec!["no"]),
            ("plain\n", vec!["plain\n"]),
        ];
        for (text, expected) in table {
            let response = json!({ "llmContent": [{ "text": text }] });
            let json = Json::from(&response);
            assert_eq!(of(Some(&json), Some(ExitLine::Last)).texts, expected, "{text}");
        }
    }

    /// @capture_failure_forms
    #[test]
    fn a_failure_is_recognised_in_the_form_of_each_agent() {
        let first = Some(ExitLine::First);
        let last = Some(ExitLine::Last);
        let opening = Some(ExitLine::Opening);
        let table = [
            (json!("hi\n"), first, (false, None)),
            (json!("Exit code: 1\nWall time: 0.1 seconds\nOutput:\nno"), first, (true, Some(1))),
            (json!("Exit code: 0\nOutput:\nyes"), first, (false, Some(0))),
            (json!("Process exited with code 101\nOutput:\n"), first, (true, Some(101))),
            (json!("1\n2\n3\n4\nExit code: 1"), first, (false, None)),
            (json!("Exit code: 1"), None, (false, None)),
            (json!("the exit code: 1"), first, (false, None)),
            (json!("Exit code 2\nboom"), opening, (true, Some(2))),
            (json!("Exit code 0\nok"), opening, (false, Some(0))),
            (json!("boom\nExit code 2"), opening, (false, None)),
            (json!({"stdout": "Exit code 2\nboom"}), opening, (false, None)),
            (json!({"success": false, "message": "no"}), None, (true, None)),
            (json!({"success": true, "message": "yes"}), None, (false, None)),
            (json!({"is_error": true}), None, (true, None)),
            (json!({"output": "no", "metadata": {"exit_code": 2}}), None, (true, Some(2))),
            (json!({"stdout": "", "exit_code": 0}), None, (false, Some(0))),
            (
                json!({"content": [{"type": "text", "text": "no"}], "isError": true}),
                None,
                (true, None),
            ),
            (json!({"llmContent": "Output: x\nExit Code: 7\nPIDs: none"}), last, (true, Some(7))),
            (json!({"error": {"message": "no such file"}, "llmContent": "x"}), last, (true, None)),
            (json!({"error": null, "llmContent": "x"}), last, (false, None)),
            (json!(5), first, (false, None)),
        ];
        for (response, line, expected) in table {
            let json = Json::from(&response);
            let outcome = of(Some(&json), line);
            assert_eq!((outcome.failed, outcome.exit_code), expected, "{response}");
        }
    }
}
