//! Output of a command: results for people or as JSON, errors with a hint, notes.
//!
//! Recalled text cannot control the terminal: text is made printable, JSON is escaped. A reader that closes the pipe
//! early is not a failure; any other write error on stdout is.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::ops::Range;

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use model::{Code, OpError};
use serde_json::{Value, json};

use crate::name::ProgramName;
use crate::{EXIT_USAGE, pager, render};

/// Where a command prints, and how.
pub struct Output {
    /// Whether results and errors are JSON on stdout. [`crate::parse`] sets it.
    pub json: bool,
    /// The name that messages use for commands.
    name: &'static ProgramName,
    out: OutputStream,
    err: OutputStream,
    /// Whether stdout is a terminal.
    terminal: bool,
    /// Columns of the terminal; no limit elsewhere.
    width: usize,
    /// Columns of stderr.
    note_width: usize,
    /// Lines of the terminal if longer text is shown in a pager.
    page: Option<usize>,
    /// Whether stdout can still be written to.
    stdout: StdoutState,
}

/// Whether stdout can still be written to, and if not, why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StdoutState {
    Open,
    /// The reader closed the pipe, as `head` does. That is not an error.
    ReaderLeft,
    /// A write failed, for example because the disk is full.
    Failed,
}

struct OutputStream {
    to: Box<dyn Write>,
    coloured: bool,
}

impl Output {
    /// The process's own streams, coloured if they are terminals.
    pub fn standard(name: &'static ProgramName) -> Output {
        let (out, err) = (io::stdout(), io::stderr());
        let screen = out.is_terminal().then(client::platform::screen);
        let note_screen = err.is_terminal().then(client::platform::screen);
        Output {
            json: false,
            name,
            terminal: out.is_terminal(),
            width: screen.map_or(usize::MAX, |screen| screen.columns),
            note_width: note_screen.map_or(usize::MAX, |screen| screen.columns),
            page: screen.map(|screen| screen.lines),
            stdout: StdoutState::Open,
            out: OutputStream {
                coloured: AutoStream::choice(&out) != ColorChoice::Never,
                to: Box::new(out),
            },
            err: OutputStream {
                coloured: AutoStream::choice(&err) != ColorChoice::Never,
                to: Box::new(err),
            },
        }
    }

    /// Another handle to the same streams, with the same settings.
    pub fn again(&self) -> Output {
        Output { json: self.json, page: self.page, ..Output::standard(self.name) }
    }

    /// Other streams; `terminal` says whether they are terminals, with colours.
    pub fn new(
        name: &'static ProgramName,
        out: Box<dyn Write>,
        err: Box<dyn Write>,
        terminal: bool,
    ) -> Output {
        Output {
            json: false,
            name,
            out: OutputStream { to: out, coloured: terminal },
            err: OutputStream { to: err, coloured: terminal },
            terminal,
            width: usize::MAX,
            note_width: usize::MAX,
            page: None,
            stdout: StdoutState::Open,
        }
    }

    /// Prints a result: as it is with `--json`, else by `pretty`, else in a readable general form.
    pub fn result(&mut self, result: &Value, pretty: Option<&dyn Fn(&Value) -> String>) -> u8 {
        if self.json {
            return self.json_line(result);
        }
        let text = match pretty {
            Some(pretty) => text::table::fitted(&text::printable(&pretty(result)), self.width),
            None => render::readable(result),
        };
        self.text(&text)
    }

    /// Prints the part of the result that is a JSON document. On a terminal, `mask` is applied first.
    pub(crate) fn document(
        &mut self,
        mut document: Value,
        mask: fn(&mut Value) -> Option<String>,
    ) -> u8 {
        let masked = if self.terminal { mask(&mut document) } else { None };
        let exit = self.text(&escaped(&format!("{document:#}")));
        if let Some(note) = masked {
            self.note(&note);
        }
        exit
    }

    /// Prints text for people with these ranges highlighted.
    pub(crate) fn accented(&mut self, text: &str, places: &[Range<usize>]) -> u8 {
        let accent = self.accent();
        let (mut shown, mut end) = (String::with_capacity(text.len()), 0);
        for place in places {
            let (Some(before), Some(word)) = (text.get(end..place.start), text.get(place.clone()))
            else {
                continue;
            };
            shown.push_str(&format!("{before}{accent}{word}{accent:#}"));
            end = place.end;
        }
        shown.push_str(text.get(end..).unwrap_or_default());
        self.text(&shown)
    }

    /// Prints a list as JSON.
    pub(crate) fn list(&mut self, items: Vec<Value>) -> u8 {
        self.json_line(&Value::Array(items))
    }

    /// Prints the id of each item, one per line.
    pub(crate) fn ids(&mut self, items: &[Value], id: &str) -> u8 {
        let line = |item: &Value| match &item[id] {
            Value::String(text) => format!("{}\n", text::one_line(text, usize::MAX)),
            other => format!("{other}\n"),
        };
        let lines: String = items.iter().map(line).collect();
        self.text(&lines)
    }

    /// Reports that the result lacks what was asked for. With `--json` and `prints_result` the result gets a member
    /// `error`. Under another program name the result is printed as it is, because programs that use that name expect
    /// this.
    pub(crate) fn miss(&mut self, mut result: Value, miss: &OpError, prints_result: bool) -> u8 {
        let is_full = self.name.is_full();
        if !self.json || (is_full && !prints_result) {
            return self.error(miss);
        }
        if let (true, Value::Object(members)) = (is_full, &mut result) {
            members.insert("error".to_owned(), miss.to_wire());
        }
        self.json_line(&result);
        miss.code.row().exit
    }

    /// Whether stdout is a terminal and the program was started by its own name.
    pub fn is_own_terminal(&self) -> bool {
        self.terminal && self.name.is_full()
    }

    /// Prints everything directly from now on, however long it is.
    pub fn without_pager(&mut self) {
        self.page = None;
    }

    /// The columns of the terminal. A program that reads the output gets lines of any length.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The name under which the program was started.
    pub fn name(&self) -> &'static ProgramName {
        self.name
    }

    /// Prints our own text, which may contain the styles of [`Output::accent`] and [`Output::dim`], and a newline.
    pub fn text(&mut self, text: &str) -> u8 {
        let newline = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        self.put(&format!("{text}{newline}"))
    }

    /// Prints an error and returns its exit code.
    pub fn error(&mut self, error: &OpError) -> u8 {
        if self.json {
            self.json_line(&json!({ "error": error.to_wire() }));
        } else {
            self.complain(error);
        }
        error.code.row().exit
    }

    /// Prints an error about a command line that could not be parsed, and returns its exit code.
    pub fn usage(&mut self, error: &OpError) -> u8 {
        let exit = self.error(error);
        if error.code == Code::Invalid { EXIT_USAGE } else { exit }
    }

    /// Prints a note on stderr.
    pub fn note(&mut self, note: &str) {
        self.remark(&self.name.said(note));
    }

    /// Prints text without command names on stderr, each line with the program name's prefix.
    pub(crate) fn remark(&mut self, text: &str) {
        let text = text::printable(text);
        for line in text::table::fitted(text.trim_end(), self.note_width).lines() {
            self.say(&format!("{}{line}\n", self.name.prefix));
        }
    }

    /// The style of the most important text on stdout.
    pub fn accent(&self) -> Style {
        if self.out.coloured { Style::new().bold() } else { Style::new() }
    }

    /// The style of the least important text on stdout.
    pub fn dim(&self) -> Style {
        if self.out.coloured { Style::new().dimmed() } else { Style::new() }
    }

    /// Prints clap's text on stdout.
    pub(crate) fn styled(&mut self, text: &clap::builder::StyledStr) -> u8 {
        let text = if self.out.coloured { text.ansi().to_string() } else { text.to_string() };
        self.text(&text)
    }

    /// Prints clap's text on stderr.
    pub(crate) fn styled_note(&mut self, text: &clap::builder::StyledStr) {
        let text = if self.err.coloured { text.ansi().to_string() } else { text.to_string() };
        self.say(&text);
    }

    fn json_line(&mut self, value: &Value) -> u8 {
        let text = if self.terminal { format!("{value:#}") } else { value.to_string() };
        self.put(&format!("{}\n", escaped(&text)))
    }

    fn complain(&mut self, error: &OpError) {
        let (red, bold) = match self.err.coloured {
            true => (AnsiColor::Red.on_default().bold(), Style::new().bold()),
            false => (Style::new(), Style::new()),
        };
        let message = self.labelled("error:", red, &error.message);
        let hint = error.hint.as_ref().map(|hint| self.labelled("hint:", bold, hint));
        self.say(&(message + &hint.unwrap_or_default()));
    }

    /// One line of text behind a label, wrapped on a terminal.
    fn labelled(&self, label: &str, style: Style, text: &str) -> String {
        let text = text::one_line(&self.name.said(text), usize::MAX);
        let line = format!("{}{label} {text}", self.name.prefix);
        let line = text::table::fitted(&line, self.note_width);
        line.replacen(label, &format!("{style}{label}{style:#}"), 1) + "\n"
    }

    /// Whether nothing more can be printed, because the reader closed the pipe or a write failed.
    pub fn is_closed(&self) -> bool {
        self.stdout != StdoutState::Open
    }

    /// The exit code: a command that succeeded still fails if its output could not be written.
    pub fn exit(&self, exit: u8) -> u8 {
        if exit == 0 && self.stdout == StdoutState::Failed { 1 } else { exit }
    }

    /// Writes to stdout and returns the exit code: 1 if the write failed, except for a closed pipe. A failure
    /// is reported once.
    fn put(&mut self, text: &str) -> u8 {
        let is_long = |height| pager::is_long(text, self.width, height);
        if !self.json && self.page.is_some_and(is_long) && pager::shown(text) {
            return self.exit(0);
        }
        let written = self.out.to.write_all(text.as_bytes()).and_then(|()| self.out.to.flush());
        match written {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.stdout = StdoutState::ReaderLeft;
            }
            Err(error) => {
                if self.stdout != StdoutState::Failed {
                    self.say(&format!("error: cannot write to stdout: {error}\n"));
                }
                self.stdout = StdoutState::Failed;
            }
        }
        self.exit(0)
    }

    fn say(&mut self, text: &str) {
        // A failure of stderr itself cannot be reported anywhere.
        let _ = self.err.to.write_all(text.as_bytes()).and_then(|()| self.err.to.flush());
    }
}

/// Escapes control characters in JSON: controls (JSON itself escapes those below 32), line separators, and characters
/// that change the direction of the text.
fn escaped(json: &str) -> String {
    let turns = |c: char| matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let acts = |c: char| c >= '\u{7f}' && (c.is_control() || turns(c));
    if !json.contains(acts) {
        return json.to_owned();
    }
    json.chars()
        .map(|c| if acts(c) { format!("\\u{:04x}", u32::from(c)) } else { c.into() })
        .collect()
}
