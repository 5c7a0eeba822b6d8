//! What a plugin would tell an agent at a moment. Plugins contribute candidates; they do not print:
//! the assembler of the runtime scores, fits and renders what all of them bring.

use model::hook::{Source, ToolUse};
use model::situation::Situation;
use schemars::JsonSchema;
use serde::Deserialize;
use store::Store;

use crate::config::Config;

/// When an agent can be told something, and what is known of that moment.
pub struct Moment<'a> {
    pub occasion: Occasion<'a>,
    /// The agent's conversation, where there is one.
    pub session: Option<&'a str>,
    /// The project that is asked about, where it is not the one of the situation.
    pub project: Option<&'a str>,
    pub form: BriefingForm,
    /// Where the agent stands.
    pub situation: &'a Situation,
    /// Milliseconds since 1970, UTC.
    pub now: i64,
    pub config: &'a Config,
    pub store: &'a Store,
}

/// The form of a briefing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BriefingForm {
    /// Open work, the last sessions, lessons, files in progress.
    #[default]
    Sections,
    /// Intents and tables of records, as the specification of `nmem` says.
    Nmem,
}

/// What just happened, as far as an answer depends on it.
#[derive(Clone, Copy, Debug)]
pub enum Occasion<'a> {
    SessionStart(Source),
    Prompt(&'a str),
    BeforeTool(&'a ToolUse),
    AfterFailure(&'a ToolUse),
}

/// One thing worth telling.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The entry it comes from; within a session it is told once.
    pub path: String,
    /// Changes when what it says changes: then it may be told again.
    pub stamp: i64,
    pub section: Section,
    /// From 0 to 1.
    pub score: f64,
    /// Why it is told, for the receipt and for `--explain`.
    pub reasons: Vec<String>,
    /// What is shown: one text, or the cells of a row. It is data, and made harmless when rendered.
    pub cells: Vec<String>,
    /// Of several with the same text here only the best is told.
    pub same_as: Option<String>,
    /// Leads its section and is cut last.
    pub pinned: bool,
}

/// A part of the text, with the order in which it gives way when there is not enough room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Place in the text.
    pub order: u8,
    pub title: String,
    pub form: Form,
    /// Sections give way in this order, down to `floor` rows each, before single rows do.
    pub gives_way: u8,
    pub floor: usize,
    /// Rows it never goes beyond.
    pub rows_max: usize,
}

/// How the rows of a section look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `- text`
    Bullets,
    /// A Markdown table with these headings.
    Table(&'static [&'static str]),
}
