//! Pages of the list of sessions, for agents (`list_sessions`) and for viewers (`GET /api/sessions`).

use model::OpError;
use model::limits;
use model::session::{Session, SessionState, Summary};
use store::session_details::{self, SessionDetails, SessionStart};
use store::sessions::{self, ListPosition, SessionFilter};
use store::{Rx, prompts};

/// Which sessions a page lists.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionQuery {
    pub(crate) projects: Option<Vec<i64>>,
    /// Characters that the name, the intent or the directory contains in this order.
    pub(crate) text: Option<String>,
    pub(crate) state: Option<SessionState>,
    pub(crate) unobserved: bool,
    /// A time in milliseconds before which, and one after which, it was active.
    pub(crate) before: Option<i64>,
    pub(crate) after: Option<i64>,
    /// The cursor of the page before.
    pub(crate) cursor: Option<String>,
}

/// One page, the session that was active last first.
pub(crate) struct SessionPage {
    pub(crate) rows: Vec<SessionRow>,
    /// The cursor of the next page; none on the last one.
    pub(crate) next: Option<String>,
}

/// A session with its details.
pub(crate) struct SessionRow {
    pub(crate) session: Session,
    pub(crate) details: SessionDetails,
    pub(crate) start: SessionStart,
    /// The user's intent: the summary has it, and before the first turn ends the prompts do.
    intent: Option<String>,
}

impl SessionRow {
    pub(crate) fn read(rx: &Rx<'_>, session: Session) -> Result<SessionRow, OpError> {
        let details = session_details::of_session(rx, session.id)?;
        let start = session_details::last_start(rx, session.id)?;
        let summary = session.summary.as_ref();
        let told = summary.map(|summary| summary.intent.clone()).filter(|told| !told.is_empty());
        let intent = match told {
            None => prompts::intent(rx, session.id)?.map(|said| Summary::new(&said).intent),
            told => told,
        };
        Ok(SessionRow { session, details, start, intent })
    }

    /// The directory of its last start, or else the root of its project.
    pub(crate) fn cwd(&self) -> Option<&str> {
        self.start.cwd.as_deref().or(self.session.root.as_deref())
    }

    pub(crate) fn intent(&self) -> Option<&str> {
        self.intent.as_deref()
    }

    /// The user's last prompt, as one line.
    pub(crate) fn last_prompt(&self, rx: &Rx<'_>) -> Result<Option<String>, OpError> {
        let last = prompts::last(rx, self.session.id)?;
        Ok(last.map(|said| text::one_line(&said.content, limits::PREVIEW_CHARS)))
    }

    /// The agent's own id of the session that it was forked from.
    pub(crate) fn parent(&self, rx: &Rx<'_>) -> Result<Option<String>, OpError> {
        let parent = self.session.parent.map(|parent| sessions::by_id(rx, parent)).transpose()?;
        Ok(parent.flatten().map(|parent| parent.session_id))
    }

    fn matches(&self, wanted: &str) -> bool {
        [self.details.label.as_deref(), self.intent(), self.cwd()]
            .into_iter()
            .flatten()
            .any(|text| is_subsequence(wanted, text))
    }
}

impl SessionQuery {
    /// Up to `limit` sessions that match.
    pub(crate) fn page(&self, rx: &Rx<'_>, limit: usize) -> Result<SessionPage, OpError> {
        let wanted = self.text.as_deref().map(str::trim).filter(|text| !text.is_empty());
        let mut behind = self.cursor.as_deref().map(position).transpose()?;
        let mut rows: Vec<SessionRow> = Vec::new();
        loop {
            let filter = SessionFilter {
                projects: self.projects.as_deref(),
                started_before: self.before,
                after: self.after,
                behind,
                state: self.state,
                unobserved: self.unobserved,
                ..SessionFilter::default()
            };
            // One more than the page has says whether there is a next one.
            let read = if wanted.is_some() { limits::SESSIONS_MATCHED } else { limit + 1 };
            let found = sessions::list(rx, &filter, read)?;
            let is_last = found.len() < read;
            behind = found.last().map(ListPosition::of);
            for session in found {
                let row = SessionRow::read(rx, session)?;
                if wanted.is_none_or(|wanted| row.matches(wanted)) {
                    rows.push(row);
                }
            }
            if is_last || rows.len() > limit {
                break;
            }
        }
        let more = rows.len() > limit;
        rows.truncate(limit);
        let last = rows.last().filter(|_| more);
        let next = last.map(|row| cursor(ListPosition::of(&row.session)));
        Ok(SessionPage { rows, next })
    }
}

/// A position in the list as clients send it back.
fn cursor(ListPosition { last_at, id }: ListPosition) -> String {
    format!("{last_at}.{id}")
}

fn position(cursor: &str) -> Result<ListPosition, OpError> {
    let read = || {
        let (last_at, id) = cursor.split_once('.')?;
        Some(ListPosition { last_at: last_at.parse().ok()?, id: id.parse().ok()? })
    };
    read().ok_or_else(|| {
        OpError::invalid("cursor", "the cursor is not one that a list of sessions returned")
            .hint("Send back `next` of the page before, or leave it out for the first page.")
    })
}

/// Whether a text contains these characters in this order, with others between them, in any case.
fn is_subsequence(wanted: &str, text: &str) -> bool {
    let mut text = text.chars().flat_map(char::to_lowercase);
    let mut wanted = wanted.chars().filter(|letter| !letter.is_whitespace());
    wanted.all(|letter| letter.to_lowercase().all(|letter| text.any(|other| other == letter)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_match_in_their_order_and_in_any_case() {
        for (wanted, text) in
            [("crt", "Cart rounding"), ("CART", "the cart"), ("c r", "cart"), ("äb", "Ä.b")]
        {
            assert!(is_subsequence(wanted, text), "{wanted} in {text}");
        }
        for (wanted, text) in [("trc", "Cart"), ("cartt", "cart"), ("x", "")] {
            assert!(!is_subsequence(wanted, text), "{wanted} in {text}");
        }
    }

    #[test]
    fn a_cursor_leads_back_to_its_position() {
        let at = ListPosition { last_at: -7, id: 42 };
        assert_eq!(position(&cursor(at)).unwrap(), at);
        for wrong in ["", ".", "1", "1.x", "x.1", "99999999999999999999.1", "1.2.3"] {
            assert!(position(wrong).is_err(), "{wrong}");
        }
    }
}
