//! The sections of all texts for agents, in one table: their order in the text, the order in which their rows are
//! dropped, and their bounds. Plugins choose a slot for each candidate; they do not choose numbers.

use model::hook::{HINT_TITLES, SEEN_BEFORE_TITLE};
use model::limits;

/// A section of a text for an agent. The order of the variants is the order in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Slot {
    /// Lines before the title of the text, which say where a resumed session was.
    Resume,
    /// The context that a session declared, after its agent compacted or cleared the conversation.
    WorkingContext,
    /// The store was repaired, and records may be lost.
    Repaired,
    /// The settings of the project withhold all or nearly all of its paths, or have keys without effect.
    NotRecorded,
    /// The text is about several projects that share a name.
    SharedName,
    /// The active hypothesis of a session, every few tool calls.
    CheckIn,
    /// The outcome of a run for the active hypothesis, or the suggestion to state one.
    Outcome,
    /// The fix of a failure that was seen before.
    SeenBefore,
    HintsForCommand,
    HintsForProject,
    /// Earlier turns about the subject of a prompt.
    Related,
    ThisSession,
    Marked,
    Open,
    RecentSessions,
    Learned,
    Files,
    OtherProjects,
    /// The last work of every project, in a directory without a project.
    AllProjects,
    /// The user's last prompts, in the form of `nmem`.
    Intents,
    /// Records of the own project, in the form of `nmem`.
    ProjectRecords,
    /// Records of other projects, in the form of `nmem`.
    OtherRecords,
    /// The tasks of a session that another agent takes over; the next five slots belong to that text, too.
    HandoffIntent,
    HandoffDone,
    HandoffFailed,
    HandoffOpen,
    HandoffFiles,
    HandoffDecisions,
    /// Answers to a question; sources give their own title.
    Found,
}

/// If space is short, sections lose their rows in this order, each down to its floor.
pub const YIELD_ORDER: [Slot; 29] = [
    Slot::Found,
    Slot::HandoffDone,
    Slot::HandoffFiles,
    Slot::HandoffFailed,
    Slot::HandoffDecisions,
    Slot::HandoffOpen,
    Slot::HandoffIntent,
    Slot::HintsForProject,
    Slot::HintsForCommand,
    Slot::CheckIn,
    Slot::Outcome,
    Slot::SeenBefore,
    Slot::Related,
    Slot::OtherRecords,
    Slot::Intents,
    Slot::ProjectRecords,
    Slot::AllProjects,
    Slot::OtherProjects,
    Slot::Files,
    Slot::Learned,
    Slot::RecentSessions,
    Slot::Open,
    Slot::Marked,
    Slot::ThisSession,
    Slot::SharedName,
    Slot::NotRecorded,
    Slot::Repaired,
    Slot::WorkingContext,
    Slot::Resume,
];

/// The headings of a table of records.
const RECORD_HEADINGS: &[&str] = &["ID", "Time", "Type", "Summary"];

/// How the rows of a section look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `- text`
    Bullets,
    /// A Markdown table with these headings.
    Table(&'static [&'static str]),
    /// Lines without a mark, before the title of the text and without a heading.
    Verbatim,
}

/// One row of the table of slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotInfo {
    /// The title, unless a candidate brings one that depends on data.
    pub title: &'static str,
    pub form: Form,
    /// The rows that the section keeps while other sections can lose some.
    pub floor: usize,
    /// The most rows.
    pub rows_max: usize,
    /// The most rows after the agent lost its context.
    pub rows_recovery_max: usize,
}

impl Slot {
    /// The position of the slot in [`YIELD_ORDER`]: the lowest is dropped first.
    pub fn yields_at(self) -> usize {
        YIELD_ORDER.iter().position(|slot| *slot == self).unwrap_or(YIELD_ORDER.len())
    }

    /// The most rows of the section; `recovery` says that the agent lost its context.
    pub fn rows_max(self, recovery: bool) -> usize {
        let info = self.info();
        if recovery { info.rows_recovery_max } else { info.rows_max }
    }

    /// Whether its rows are what a session declared. They are shown whole, within the limits of the agents.
    pub fn is_declared(self) -> bool {
        matches!(self, Slot::Resume | Slot::WorkingContext)
    }

    /// A word for a row of a section that ends with the number of rows that were left out. Such a section has more rows
    /// than `rows_max` if nothing else needs the room.
    pub fn counted_as(self) -> Option<&'static str> {
        match self {
            Slot::HandoffDone => Some("earlier task"),
            Slot::HandoffFailed => Some("failure"),
            Slot::HandoffOpen => Some("open end"),
            Slot::HandoffFiles => Some("file"),
            Slot::HandoffDecisions => Some("decision"),
            _ => None,
        }
    }

    /// Whether its rows say what the text is about: they are dropped after all others.
    pub fn is_essential(self) -> bool {
        self.is_declared() || self == Slot::HandoffIntent
    }

    pub fn info(self) -> SlotInfo {
        let table = |title, floor, rows_max, rows_recovery_max| {
            let form = Form::Table(RECORD_HEADINGS);
            SlotInfo { title, form, floor, rows_max, rows_recovery_max }
        };
        match self {
            Slot::Resume => SlotInfo { form: Form::Verbatim, ..bullets("", 1, 1) },
            Slot::WorkingContext => bullets("Working context", 1, limits::CONTEXT_ITEMS_MAX),
            Slot::Repaired => bullets("Memory was repaired", 1, 1),
            Slot::NotRecorded => bullets("Not recorded", 1, 1),
            Slot::SharedName => bullets("Several projects", 1, 1),
            Slot::CheckIn => bullets("Your hypothesis", 1, 1),
            Slot::Outcome => bullets("Outcome", 1, 1),
            Slot::SeenBefore => bullets(SEEN_BEFORE_TITLE, 0, 1),
            // The plugin bounds the number of hints by time and session.
            Slot::HintsForCommand => bullets(HINT_TITLES[0], 0, usize::MAX),
            Slot::HintsForProject => bullets(HINT_TITLES[1], 0, usize::MAX),
            Slot::Related => {
                table("Earlier, about this", 1, limits::RELATED_MAX, limits::RELATED_MAX)
            }
            Slot::ThisSession => {
                bullets("This session", limits::BRIEFING_OWN_FLOOR, limits::BRIEFING_OWN_MAX)
            }
            Slot::Marked => {
                bullets("Marked", limits::BRIEFING_MARKS_FLOOR, limits::BRIEFING_MARKS_MAX)
            }
            Slot::Open => bullets("Open", limits::BRIEFING_OPEN_FLOOR, limits::BRIEFING_OPEN_MAX),
            Slot::RecentSessions => bullets(
                "Recent sessions",
                limits::BRIEFING_SESSIONS_FLOOR,
                limits::BRIEFING_SESSIONS_MAX,
            ),
            Slot::Learned => {
                bullets("Learned", limits::BRIEFING_LEARNED_FLOOR, limits::BRIEFING_LEARNED_MAX)
            }
            Slot::Files => bullets(
                "Files in progress",
                limits::BRIEFING_FILES_FLOOR,
                limits::BRIEFING_FILES_MAX,
            ),
            Slot::OtherProjects => bullets("Other projects", 0, limits::BRIEFING_OTHERS_MAX),
            Slot::AllProjects => bullets("Other projects", 0, limits::BRIEFING_ALL_MAX),
            Slot::Intents => bullets(
                "Recent Intents",
                limits::BRIEFING_INTENTS_FLOOR,
                limits::BRIEFING_INTENTS_MAX,
            ),
            Slot::ProjectRecords => table(
                "This project",
                limits::BRIEFING_LOCAL_FLOOR,
                limits::BRIEFING_LOCAL_MAX,
                limits::BRIEFING_LOCAL_RECOVERY_MAX,
            ),
            Slot::OtherRecords => table(
                "Other projects",
                0,
                limits::BRIEFING_CROSS_MAX,
                limits::BRIEFING_CROSS_RECOVERY_MAX,
            ),
            Slot::HandoffIntent => bullets("Intent", 2, 2),
            Slot::HandoffDone => bullets("Done", 3, limits::HANDOFF_DONE_MAX),
            Slot::HandoffFailed => bullets("Failed", 2, limits::HANDOFF_FAILED_MAX),
            Slot::HandoffOpen => bullets("Open ends", 3, limits::HANDOFF_OPEN_MAX),
            Slot::HandoffFiles => bullets("Files and context", 4, limits::HANDOFF_FILES_MAX),
            Slot::HandoffDecisions => bullets("Decisions", 2, limits::HANDOFF_DECISIONS_MAX),
            // The question says how many.
            Slot::Found => bullets("Found", 1, usize::MAX),
        }
    }
}

fn bullets(title: &'static str, floor: usize, rows_max: usize) -> SlotInfo {
    SlotInfo { title, form: Form::Bullets, floor, rows_max, rows_recovery_max: rows_max }
}

#[cfg(test)]
mod tests {
    use model::hook::SECTION_TITLES;

    use super::*;

    #[test]
    fn every_slot_is_dropped_at_one_place_and_keeps_no_more_rows_than_it_may_have() {
        for (place, slot) in YIELD_ORDER.into_iter().enumerate() {
            assert_eq!(slot.yields_at(), place, "{slot:?} is listed once");
            let info = slot.info();
            assert!(info.floor <= info.rows_max, "{slot:?}");
            assert!(info.rows_max <= info.rows_recovery_max, "{slot:?}");
            assert_eq!(info.title.is_empty(), info.form == Form::Verbatim, "{slot:?}");
        }
    }

    /// Otherwise a prompt that repeats the section is stored with its heading.
    #[test]
    fn every_title_is_known_to_the_capture_of_prompts() {
        for slot in YIELD_ORDER {
            let title = slot.info().title;
            let is_known = SECTION_TITLES.contains(&title) || HINT_TITLES.contains(&title);
            assert!(title.is_empty() || is_known, "{title}");
        }
    }

    #[test]
    fn a_briefing_drops_its_last_section_first() {
        let briefing = [
            Slot::Repaired,
            Slot::ThisSession,
            Slot::Marked,
            Slot::Open,
            Slot::RecentSessions,
            Slot::Learned,
            Slot::Files,
            Slot::OtherProjects,
        ];
        assert!(briefing.is_sorted());
        assert!(briefing.is_sorted_by_key(|slot| std::cmp::Reverse(slot.yields_at())));
    }

    #[test]
    fn only_tables_of_records_grow_after_the_agent_lost_its_context() {
        assert_eq!(
            (Slot::ProjectRecords.rows_max(false), Slot::ProjectRecords.rows_max(true)),
            (20, 30)
        );
        assert_eq!(
            (Slot::OtherRecords.rows_max(false), Slot::OtherRecords.rows_max(true)),
            (10, 15)
        );
        assert_eq!((Slot::Open.rows_max(false), Slot::Open.rows_max(true)), (6, 6));
    }
}
