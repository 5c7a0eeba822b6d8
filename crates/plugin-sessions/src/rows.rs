//! Pages of the list of sessions, for agents (`list_sessions`) and for viewers (`GET /api/sessions`).

use std::cmp::Reverse;

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
    /// Times in milliseconds: the session started before the first, and its last event is after the second.
    pub(crate) before: Option<i64>,
    pub(crate) after: Option<i64>,
    /// The cursor of the page before.
    pub(crate) cursor: Option<String>,
}

/// One page of the list.
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

    /// How well the name, the intent or the directory matches; none if none of them does. A directory is shared by the
    /// sessions of a project, so it says less than the words of one session.
    fn fit(&self, wanted: &str) -> Option<Fit> {
        let own = [self.details.label.as_deref(), self.intent()].into_iter().flatten();
        let own = own.filter_map(|text| Fit::of(wanted, text));
        let place = self.cwd().and_then(|cwd| Fit::of(wanted, cwd)).map(|fit| match fit {
            Fit::Letters | Fit::PlaceLetters => Fit::PlaceLetters,
            _ => Fit::Place,
        });
        own.chain(place).min()
    }
}

/// How well a session matches a query, best first. Its text is its name or its intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// Its text contains the query, from the beginning of a word on.
    Words,
    /// Its text contains the query.
    Part,
    /// Its text contains each word of the query.
    EachWord,
    /// Its directory contains the query.
    Place,
    /// Its text contains the characters of the query in this order.
    Letters,
    /// Its directory contains the characters of the query in this order.
    PlaceLetters,
}

impl Fit {
    const ALL: [Fit; 6] =
        [Fit::Words, Fit::Part, Fit::EachWord, Fit::Place, Fit::Letters, Fit::PlaceLetters];

    fn of(wanted: &str, text: &str) -> Option<Fit> {
        if !is_subsequence(wanted, text) {
            return None;
        }
        let (wanted, text) = (wanted.to_lowercase(), text.to_lowercase());
        let begins = |at: usize| {
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            before.is_none_or(|letter| !letter.is_alphanumeric())
        };
        let has = |word: &str| text.contains(word);
        Some(match has(&wanted) {
            true if text.match_indices(&wanted).any(|(at, _)| begins(at)) => Fit::Words,
            true => Fit::Part,
            false if wanted.split_whitespace().all(has) => Fit::EachWord,
            false => Fit::Letters,
        })
    }
}

impl SessionQuery {
    /// Up to `limit` sessions that match: with a text the best match first, otherwise and among equal ones the session
    /// that was active last.
    pub(crate) fn page(&self, rx: &Rx<'_>, limit: usize) -> Result<SessionPage, OpError> {
        let wanted = self.text.as_deref().map(str::trim).filter(|text| !text.is_empty());
        match wanted {
            Some(wanted) => self.best(rx, wanted, limit),
            None => self.latest(rx, limit),
        }
    }

    fn filter(&self, behind: Option<ListPosition>) -> SessionFilter<'_> {
        SessionFilter {
            projects: self.projects.as_deref(),
            started_before: self.before,
            after: self.after,
            behind,
            state: self.state,
            unobserved: self.unobserved,
            ..SessionFilter::default()
        }
    }

    fn latest(&self, rx: &Rx<'_>, limit: usize) -> Result<SessionPage, OpError> {
        let behind = self.cursor.as_deref().map(position).transpose()?;
        // One more than the page has says whether there is a next one.
        let mut found = sessions::list(rx, &self.filter(behind), limit + 1)?;
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| more).map(|last| cursor(ListPosition::of(last)));
        let rows = found.into_iter().map(|session| SessionRow::read(rx, session));
        Ok(SessionPage { rows: rows.collect::<Result<_, _>>()?, next })
    }

    fn best(&self, rx: &Rx<'_>, wanted: &str, limit: usize) -> Result<SessionPage, OpError> {
        let after = self.cursor.as_deref().map(match_position).transpose()?;
        let mut rows: Vec<(MatchPosition, SessionRow)> = Vec::new();
        let mut behind = None;
        loop {
            let found = sessions::list(rx, &self.filter(behind), limits::SESSIONS_MATCHED)?;
            let is_last = found.len() < limits::SESSIONS_MATCHED;
            behind = found.last().map(ListPosition::of);
            for session in found {
                let row = SessionRow::read(rx, session)?;
                let Some(fit) = row.fit(wanted) else { continue };
                let at = (fit, Reverse(ListPosition::of(&row.session)));
                if after.is_none_or(|after| at > after) {
                    rows.push((at, row));
                }
            }
            rows.sort_by_key(|(at, _)| *at);
            // One more than the page has says whether there is a next one.
            rows.truncate(limit + 1);
            // The rest of the list is older, so a page that has only the best kind of match is complete.
            let best = after.map_or(Fit::Words, |(fit, _)| fit);
            let is_full = rows.len() > limit && rows.last().is_some_and(|(at, _)| at.0 == best);
            if is_last || is_full {
                break;
            }
        }
        let more = rows.len() > limit;
        rows.truncate(limit);
        let next = rows.last().filter(|_| more).map(|(at, _)| match_cursor(*at));
        Ok(SessionPage { rows: rows.into_iter().map(|(_, row)| row).collect(), next })
    }
}

/// The position of a session among those that match a query.
type MatchPosition = (Fit, Reverse<ListPosition>);

/// A position in the list as clients send it back.
fn cursor(ListPosition { last_at, id }: ListPosition) -> String {
    format!("{last_at}.{id}")
}

fn position(cursor: &str) -> Result<ListPosition, OpError> {
    read_position(cursor).ok_or_else(no_cursor)
}

fn read_position(cursor: &str) -> Option<ListPosition> {
    let (last_at, id) = cursor.split_once('.')?;
    Some(ListPosition { last_at: last_at.parse().ok()?, id: id.parse().ok()? })
}

/// A position among the matches of a query as clients send it back.
fn match_cursor((fit, Reverse(at)): MatchPosition) -> String {
    format!("{}.{}", fit as usize, cursor(at))
}

fn match_position(cursor: &str) -> Result<MatchPosition, OpError> {
    let read = || {
        let (fit, at) = cursor.split_once('.')?;
        Some((*Fit::ALL.get(fit.parse::<usize>().ok()?)?, Reverse(read_position(at)?)))
    };
    read().ok_or_else(no_cursor)
}

fn no_cursor() -> OpError {
    OpError::invalid("cursor", "the cursor is not one that this list of sessions returned")
        .hint("Send the `next` of the page before, with the same query; for the first page, send no cursor.")
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
    fn the_query_itself_is_a_better_match_than_its_letters() {
        let fits = [
            ("cart total", "Fix the Cart Total", Fit::Words),
            ("art", "the cart", Fit::Part),
            ("cart total", "the cart and its total", Fit::EachWord),
            ("crt", "the cart", Fit::Letters),
        ];
        for (wanted, text, fit) in fits {
            assert_eq!(Fit::of(wanted, text), Some(fit), "{wanted} in {text}");
        }
        assert_eq!(Fit::of("cart", "the car"), None);
        assert!(Fit::ALL.is_sorted());
    }

    #[test]
    fn a_cursor_leads_back_to_its_position() {
        let at = ListPosition { last_at: -7, id: 42 };
        assert_eq!(position(&cursor(at)).unwrap(), at);
        for fit in Fit::ALL {
            let at = (fit, Reverse(at));
            assert_eq!(match_position(&match_cursor(at)).unwrap(), at);
        }
        assert!(match_position(&cursor(at)).is_err(), "a cursor of another list");
        assert!(match_position("6.1.2").is_err());
        for wrong in ["", ".", "1", "1.x", "x.1", "99999999999999999999.1", "1.2.3"] {
            assert!(position(wrong).is_err(), "{wrong}");
        }
    }
}
