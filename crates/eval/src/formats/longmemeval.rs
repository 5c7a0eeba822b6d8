//! LongMemEval: each question has its own sessions, which are its scope. A turn is a document, and the evidence is
//! marked turns and answering sessions.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use model::OpError;
use serde::Deserialize;

use super::{DocumentLine, OutputLines, QuestionLine, rfc3339};

#[derive(Deserialize)]
pub(super) struct LongMemQuestion {
    question_id: String,
    #[serde(default)]
    question_type: String,
    question: String,
    haystack_session_ids: Vec<String>,
    #[serde(default)]
    haystack_dates: Vec<String>,
    haystack_sessions: Vec<Vec<LongMemTurn>>,
    #[serde(default)]
    answer_session_ids: Vec<String>,
}

#[derive(Deserialize)]
struct LongMemTurn {
    role: String,
    content: String,
    /// Whether it contains the answer.
    #[serde(default)]
    has_answer: Option<bool>,
}

/// The names of sessions, which questions share: a name means the same turns everywhere, so that all questions can
/// also be asked over all sessions.
#[derive(Default)]
pub(super) struct SessionNames {
    turns: HashMap<String, u64>,
}

impl SessionNames {
    /// The name of these turns in the scope of a question.
    fn name(
        &mut self,
        given: &str,
        scope: &str,
        turns: &[LongMemTurn],
        taken: &HashSet<String>,
    ) -> String {
        let mut hash = DefaultHasher::new();
        for turn in turns {
            (&turn.role, &turn.content).hash(&mut hash);
        }
        let hash = hash.finish();
        let mut name = given.to_owned();
        let mut tries = 1;
        while taken.contains(&name) || self.turns.get(&name).is_some_and(|other| *other != hash) {
            tries += 1;
            name = format!("{given}@{scope}#{tries}");
        }
        self.turns.insert(name.clone(), hash);
        name
    }
}

pub(super) fn write(
    question: &LongMemQuestion,
    sessions: &mut SessionNames,
    lines: &mut OutputLines,
) -> Result<(), OpError> {
    let scope = &question.question_id;
    if question.haystack_session_ids.len() != question.haystack_sessions.len() {
        let message = format!("{scope} does not have as many session ids as sessions");
        return Err(OpError::invalid("docs", message).hint("Give the file as it was published."));
    }
    let (mut gold, mut gold_sessions) = (Vec::new(), Vec::new());
    let mut taken = HashSet::new();
    let all = question.haystack_session_ids.iter().zip(&question.haystack_sessions);
    for (place, (given, turns)) in all.enumerate() {
        let session = sessions.name(given, scope, turns, &taken);
        let time = question.haystack_dates.get(place).and_then(|date| date_time(date));
        for (pos, turn) in turns.iter().enumerate() {
            let id = format!("{session}/{}", pos + 1);
            lines.document(&DocumentLine {
                id: &id,
                scope,
                session: &session,
                pos,
                role: &turn.role,
                time: time.as_deref(),
                text: &turn.content,
            })?;
            if turn.has_answer == Some(true) {
                gold.push(id);
            }
        }
        // A session without turns does not count.
        if question.answer_session_ids.contains(given) && !turns.is_empty() {
            gold_sessions.push(session.clone());
        }
        taken.insert(session);
    }
    lines.question(&QuestionLine {
        id: scope,
        scope,
        r#type: &question.question_type,
        text: &question.question,
        gold: &gold,
        gold_sessions: &gold_sessions,
    })
}

/// `2023/05/20 (Sat) 02:21` as RFC 3339.
fn date_time(text: &str) -> Option<String> {
    let (date, rest) = text.trim().split_once(' ')?;
    let (_, time) = rest.rsplit_once(' ')?;
    let numbers = |text: &str, at: char| -> Option<Vec<u32>> {
        text.split(at).map(|part| part.parse().ok()).collect()
    };
    let (date, time) = (numbers(date, '/')?, numbers(time, ':')?);
    let ([year, month, day], [hour, minute]) = (date.as_slice(), time.as_slice()) else {
        return None;
    };
    rfc3339((*year, *month, *day), (*hour, *minute))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_they_are_written_there() {
        let read = |text| date_time(text).unwrap_or_default();
        assert_eq!(read("2023/05/20 (Sat) 02:21"), "2023-05-20T02:21:00Z");
        assert_eq!(read("2023/02/30 (Sat) 02:21"), "");
        assert_eq!(read("2023-05-20"), "");
    }
}
