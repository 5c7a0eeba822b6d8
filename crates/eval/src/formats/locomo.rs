//! LoCoMo: conversations of two people over months. A conversation is a scope, a turn a document, and
//! the evidence of a question names turns.

use std::collections::HashMap;

use model::OpError;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{DocumentLine, OutputLines, QuestionLine, rfc3339};

/// The meanings of the category numbers, from 1 on.
const CATEGORIES: [&str; 5] = ["multi-hop", "temporal", "open-domain", "single-hop", "adversarial"];
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

#[derive(Deserialize)]
pub(super) struct LocomoSample {
    #[serde(default)]
    sample_id: Option<String>,
    /// `session_1`, `session_1_date_time`, `session_2` and so on, among other members.
    conversation: Map<String, Value>,
    qa: Vec<LocomoQuestion>,
}

#[derive(Deserialize)]
struct LocomoTurn {
    speaker: String,
    dia_id: String,
    #[serde(default)]
    text: String,
    /// The caption of a picture.
    #[serde(default)]
    blip_caption: Option<String>,
}

#[derive(Deserialize)]
struct LocomoQuestion {
    question: String,
    #[serde(default)]
    evidence: Vec<String>,
    #[serde(default)]
    category: Option<usize>,
}

pub(super) fn write(
    number: usize,
    sample: &LocomoSample,
    lines: &mut OutputLines,
) -> Result<(), OpError> {
    let scope = sample.sample_id.clone().unwrap_or_else(|| format!("sample-{}", number + 1));
    // The session of each turn.
    let mut turns: HashMap<String, String> = HashMap::new();
    for session_number in sample.session_numbers() {
        let key = format!("session_{session_number}");
        let session = format!("{scope}/{key}");
        let date = sample.conversation.get(&format!("{key}_date_time")).and_then(Value::as_str);
        let time = date.and_then(date_time);
        for (pos, turn) in sample.turns(&scope, &key)?.into_iter().enumerate() {
            lines.document(&DocumentLine {
                id: &format!("{scope}/{}", turn.dia_id),
                scope: &scope,
                session: &session,
                pos,
                role: &turn.speaker,
                time: time.as_deref(),
                text: &turn.shown(),
            })?;
            turns.insert(turn.dia_id, session.clone());
        }
    }
    for (place, question) in sample.qa.iter().enumerate() {
        let (mut gold, mut gold_sessions) = (Vec::new(), Vec::new());
        for name in named(&question.evidence) {
            let Some(session) = turns.get(&name) else {
                lines.left_out.evidence += 1;
                continue;
            };
            gold.push(format!("{scope}/{name}"));
            if !gold_sessions.contains(session) {
                gold_sessions.push(session.clone());
            }
        }
        // A question without known evidence cannot be evaluated.
        if gold.is_empty() {
            lines.left_out.questions += 1;
            continue;
        }
        let category = question.category.and_then(|number| CATEGORIES.get(number.checked_sub(1)?));
        lines.question(&QuestionLine {
            id: &format!("{scope}/q{}", place + 1),
            scope: &scope,
            r#type: category.copied().unwrap_or_default(),
            text: &question.question,
            gold: &gold,
            gold_sessions: &gold_sessions,
        })?;
    }
    Ok(())
}

impl LocomoSample {
    /// The numbers of its sessions, in order.
    fn session_numbers(&self) -> Vec<u32> {
        let lists = self.conversation.iter().filter(|(_, value)| value.is_array());
        let mut numbers: Vec<u32> =
            lists.filter_map(|(key, _)| key.strip_prefix("session_")?.parse().ok()).collect();
        numbers.sort_unstable();
        numbers
    }

    fn turns(&self, scope: &str, key: &str) -> Result<Vec<LocomoTurn>, OpError> {
        let turns = self.conversation.get(key).cloned().unwrap_or_default();
        serde_json::from_value(turns).map_err(|error| {
            let message = format!("{key} of {scope} is not a list of turns: {error}");
            OpError::invalid("docs", message).hint("Give the file as it was published.")
        })
    }
}

impl LocomoTurn {
    /// Its text with the speaker, and the caption of its picture.
    fn shown(&self) -> String {
        let said = format!("{}: {}", self.speaker, self.text);
        match self.blip_caption.as_deref().filter(|caption| !caption.is_empty()) {
            Some(caption) => format!("{} [image: {caption}]", said.trim_end()),
            None => said,
        }
    }
}

/// The ids of turns in the evidence. Some items of the published lists contain several, and some are spelled
/// differently than the turns: `D:11:26`, `D30:05`, `(D2:1)`.
fn named(evidence: &[String]) -> impl Iterator<Item = String> {
    let parts = evidence
        .iter()
        .flat_map(|one| one.split(|c: char| c == ';' || c == ',' || c.is_whitespace()))
        .filter(|part| !part.is_empty());
    parts.map(|part| {
        let numbers = part.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
        let numbers: Vec<u32> = numbers.filter_map(|digits| digits.parse().ok()).collect();
        match numbers[..] {
            [session, turn] => format!("D{session}:{turn}"),
            _ => part.to_owned(),
        }
    })
}

/// `1:56 pm on 8 May, 2023` as RFC 3339.
fn date_time(text: &str) -> Option<String> {
    let (clock, date) = text.split_once(" on ")?;
    let (time, half) = clock.trim().split_once(' ')?;
    let (hour, minute) = time.split_once(':')?;
    let (hour, minute): (u32, u32) = (hour.parse().ok()?, minute.parse().ok()?);
    let afternoon = match half.trim().to_ascii_lowercase().as_str() {
        "am" => 0,
        "pm" => 12,
        _ => return None,
    };
    let mut parts = date.split([' ', ',']).filter(|part| !part.is_empty());
    let day = parts.next()?.parse().ok()?;
    let month = parts.next()?.to_ascii_lowercase();
    let month = MONTHS.iter().position(|name| *name == month)?;
    let year = parts.next()?.parse().ok()?;
    rfc3339((year, u32::try_from(month + 1).ok()?, day), (hour % 12 + afternoon, minute))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_they_are_written_there() {
        let read = |text| date_time(text).unwrap_or_default();
        assert_eq!(read("1:56 pm on 8 May, 2023"), "2023-05-08T13:56:00Z");
        assert_eq!(read("12:09 am on 13 September, 2023"), "2023-09-13T00:09:00Z");
        assert_eq!(read("12:30 pm on 1 January, 2024"), "2024-01-01T12:30:00Z");
        assert_eq!(read("1:56 pm on 31 June, 2023"), "");
        assert_eq!(read("some day"), "");
    }

    #[test]
    fn evidence_that_holds_several_turns_is_split() {
        let evidence = ["D8:6; D9:17", "D1:2", "D4:4 D4:6", "", "D:11:26", "D30:05", "(D2:1)", "x"];
        let names: Vec<String> = named(&evidence.map(str::to_owned)).collect();
        let expected = ["D8:6", "D9:17", "D1:2", "D4:4", "D4:6", "D11:26", "D30:5", "D2:1", "x"];
        assert_eq!(names, expected);
    }
}
