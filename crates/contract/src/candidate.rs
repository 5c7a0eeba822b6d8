//! Rows that a plugin offers to an agent at a moment. Plugins contribute candidates with their scores and do not
//! print: the assembler of the runtime de-duplicates, fits and renders the candidates of all plugins.

use model::hook::{Source, ToolUse};
use model::situation::Situation;
use place::{Place, Question, Wanted};
use schemars::JsonSchema;
use serde::Deserialize;
use store::Store;
use text::HostLimits;

use crate::caller::EXCLUDED_PROJECTS;
use crate::config::Config;
use crate::slot::Slot;

/// A moment at which an agent can get text, and its context.
pub struct Moment<'a> {
    pub occasion: Occasion<'a>,
    /// The agent's session, if there is one.
    pub session: Option<&'a str>,
    /// The requested project, if it is not that of the situation.
    pub project: Option<&'a str>,
    pub form: BriefingForm,
    /// How much text the agent's host hands on.
    pub host: HostLimits,
    pub situation: &'a Situation,
    /// The place of the agent's directory.
    pub place: &'a Place,
    /// The place where a test run or a build ran; else `place`.
    pub ran_in: &'a Place,
    /// Milliseconds since 1970, UTC.
    pub now: i64,
    pub config: &'a Config,
    pub store: &'a Store,
}

impl Moment<'_> {
    /// Whether the user excludes the project of the agent's directory.
    pub fn is_excluded(&self) -> bool {
        place::is_excluded(self.config.text(EXCLUDED_PROJECTS.key), &self.place.facts)
    }

    /// The projects that the text is about.
    pub fn projects(&self) -> Question {
        let wanted = match self.project {
            None => Wanted::Here,
            Some("*") => Wanted::All,
            Some(name) => Wanted::Named(name.to_owned()),
        };
        Question::new(self.situation.cwd.is_some().then_some(self.place), wanted)
    }
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

/// The event or question that a text is made for.
#[derive(Clone, Copy, Debug)]
pub enum Occasion<'a> {
    SessionStart(Source),
    Prompt(&'a str),
    BeforeTool(&'a ToolUse),
    /// A tool was used, and the user did not interrupt it.
    AfterTool {
        tool: &'a ToolUse,
        failed: bool,
    },
    /// Another agent takes over the work of a session.
    Handoff {
        /// The agent that takes it over, if it is known.
        to: Option<&'a str>,
        /// The budget of the text.
        tokens: usize,
    },
    /// A question about a subject.
    Question {
        query: &'a str,
        /// The kinds of records that are asked for, by name; empty for all.
        sources: &'a [String],
        /// The most rows of each section.
        limit: usize,
        /// The budget of the answer.
        tokens: usize,
    },
}

impl Occasion<'_> {
    /// Whether this is a question to a source of this name.
    pub fn asks(&self, source: &str) -> bool {
        match self {
            Occasion::Question { sources, .. } => {
                sources.is_empty() || sources.iter().any(|asked| asked == source)
            }
            _ => false,
        }
    }
}

/// How a row that is too long is shortened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RowCut {
    /// Its end is missing.
    #[default]
    AtEnd,
    /// Each long cell loses its end. These cells are left out, in this order, while the others have no room for a few
    /// words each.
    EachCell(Vec<usize>),
}

/// One row that may be useful to the agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The entry that it comes from. A session gets each entry once.
    pub path: String,
    /// Changes with the row's content; the session may then get it again.
    pub stamp: i64,
    /// The section it belongs to.
    pub slot: Slot,
    /// The title of its section if that depends on data; otherwise the slot has one.
    pub title: Option<String>,
    /// Higher ones come first in their section. Usually from 0 to 1; rows that have to lead a section have more.
    pub score: f64,
    /// Reasons for including it, for the receipt and for `--explain`.
    pub reasons: Vec<String>,
    /// Shown text, or the cells of a row. It is data, and neutralised when it is rendered.
    pub cells: Vec<String>,
    /// How many of the first cells only identify the row, as its id and age do. The others are its statement, which is
    /// compared with those of other rows.
    pub labels: usize,
    /// How the row is shortened if it is too long.
    pub cut: RowCut,
    /// The most tokens of the row, if its source has a smaller budget than the text.
    pub tokens_max: Option<usize>,
    /// Further lines, indented below the first; in a table they belong to the last cell.
    pub more: Vec<String>,
    /// Of several candidates with an equal text here, only the best is included.
    pub same_as: Option<String>,
    /// Leads its section and is cut last.
    pub pinned: bool,
    /// Its section's part of the budget among the answers to a question, relative to the other sections.
    pub share: usize,
    /// The place of its section among those of its slot; equal ones are in the order of their titles.
    pub section: usize,
}

impl Candidate {
    /// A candidate without text, with the lowest score. Its fields are filled in with `..Candidate::new(slot)`.
    pub fn new(slot: Slot) -> Candidate {
        Candidate {
            path: String::new(),
            stamp: 0,
            slot,
            title: None,
            score: 0.0,
            reasons: Vec::new(),
            cells: Vec::new(),
            labels: 0,
            cut: RowCut::AtEnd,
            tokens_max: None,
            more: Vec::new(),
            same_as: None,
            pinned: false,
            share: 1,
            section: 0,
        }
    }

    /// Its text without the labels.
    pub fn statement(&self) -> String {
        let cells = self.cells.iter().skip(self.labels);
        cells.chain(&self.more).map(String::as_str).collect::<Vec<_>>().join(" ")
    }

    /// The title of its section.
    pub fn section_title(&self) -> &str {
        self.title.as_deref().unwrap_or(self.slot.info().title)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_for_the_sources_that_it_names_and_without_names_for_all() {
        let asks = |sources: &[&str], source: &str| {
            let sources: Vec<String> = sources.iter().map(|&name| name.to_owned()).collect();
            let occasion =
                Occasion::Question { query: "x", sources: &sources, limit: 1, tokens: 100 };
            occasion.asks(source)
        };
        assert!(asks(&[], "hints"));
        assert!(asks(&["prompts", "hints"], "hints"));
        assert!(!asks(&["prompts"], "hints"));
        assert!(!Occasion::Prompt("x").asks("hints"), "an event is no question");
    }

    #[test]
    fn a_statement_is_the_text_without_the_labels() {
        let row = Candidate {
            cells: ["#7", "2 h", "bug", "it leaks"].map(str::to_owned).to_vec(),
            labels: 2,
            more: vec!["since May".to_owned()],
            ..Candidate::new(Slot::ProjectRecords)
        };
        assert_eq!(row.statement(), "bug it leaks since May");
        assert_eq!(Candidate::new(Slot::Open).statement(), "");
    }

    #[test]
    fn a_candidates_own_title_replaces_the_slots() {
        let plain = Candidate::new(Slot::Open);
        assert_eq!(plain.section_title(), "Open");
        let titled = Candidate { title: Some("Hints for npm".to_owned()), ..plain };
        assert_eq!(titled.section_title(), "Hints for npm");
    }
}
