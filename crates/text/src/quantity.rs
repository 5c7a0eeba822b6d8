//! The quantities of a sentence: numbers with their units.

use crate::clause_parts::stems;
use crate::clauses::{Token, tokens};
use crate::subject::{self, WordHash};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Duration,
    Size,
    Percent,
    Clock,
    Version,
    /// The stem of the counted things.
    Of(WordHash),
    Unknown,
}

/// A number with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quantity {
    amount: WordHash,
    pub(crate) unit: Unit,
    /// The length, if this is a duration.
    millis: Option<u64>,
}

impl Quantity {
    fn new(amount: &str, unit: Unit, unit_word: &str) -> Quantity {
        let per_unit = (unit == Unit::Duration).then(|| millis_of(unit_word)).flatten();
        let count: Option<f64> = amount.parse().ok();
        let millis = count.zip(per_unit).map(|(count, per_unit)| (count * per_unit) as u64);
        Quantity { amount: subject::hash(amount), unit, millis }
    }

    /// Whether both are the same amount. An hour is 60 minutes, and not a day.
    pub(crate) fn is_equal(&self, other: &Quantity) -> bool {
        match (self.millis, other.millis) {
            (Some(own), Some(other)) => own == other,
            _ => self.amount == other.amount,
        }
    }

    /// Whether it may be a part of a name: "Python 3.12", "RFC 3339".
    pub(crate) fn is_name(&self) -> bool {
        matches!(self.unit, Unit::Version | Unit::Unknown | Unit::Of(_))
    }

    /// Whether it may replace an older quantity. A size does not replace a number without a unit, such as a version.
    pub(crate) fn is_comparable(&self, older: &Quantity) -> bool {
        match (&self.unit, &older.unit) {
            (Unit::Unknown, other) => *other != Unit::Clock,
            (Unit::Of(_) | Unit::Version, Unit::Unknown) => true,
            (own, other) => own == other,
        }
    }
}

const NUMBER_WORDS: &[(&str, &str)] = &[
    ("two", "2"),
    ("three", "3"),
    ("four", "4"),
    ("five", "5"),
    ("six", "6"),
    ("seven", "7"),
    ("eight", "8"),
    ("nine", "9"),
    ("ten", "10"),
    ("twelve", "12"),
    ("fifteen", "15"),
    ("twenty", "20"),
    ("thirty", "30"),
    ("sixty", "60"),
    ("ninety", "90"),
    ("hundred", "100"),
    ("twice", "2"),
    ("once", "1"),
];

/// The amount of a token and the letters behind it.
pub(crate) fn number<'a>(token: &'a Token<'_>) -> Option<(&'a str, &'a str)> {
    let word = &*token.word;
    if let Some((_, amount)) = NUMBER_WORDS.iter().find(|(name, _)| *name == word) {
        return Some((amount, ""));
    }
    if !word.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let end = word.find(|c: char| !c.is_ascii_digit() && !".:,_".contains(c)).unwrap_or(word.len());
    Some(word.split_at(end))
}

pub(crate) fn is_number(token: &Token<'_>) -> bool {
    number(token).is_some()
}

fn unit_of(word: &str) -> Option<Unit> {
    Some(match word {
        "ms" | "millisecond" | "milliseconds" | "s" | "sec" | "secs" | "second" | "seconds"
        | "min" | "mins" | "minute" | "minutes" | "h" | "hour" | "hours" | "d" | "day" | "days"
        | "week" | "weeks" | "month" | "months" | "year" | "years" | "sekunde" | "sekunden"
        | "minuten" | "stunde" | "stunden" | "tag" | "tage" | "tagen" | "woche" | "wochen"
        | "monate" => Unit::Duration,
        "b" | "byte" | "bytes" | "kb" | "mb" | "gb" | "tb" | "kib" | "mib" | "gib" => Unit::Size,
        "%" | "percent" => Unit::Percent,
        "am" | "pm" | "o'clock" => Unit::Clock,
        _ => return None,
    })
}

/// The milliseconds of a unit of time.
fn millis_of(word: &str) -> Option<f64> {
    const HOUR: f64 = 3_600_000.0;
    Some(match word {
        "ms" | "millisecond" | "milliseconds" => 1.0,
        "s" | "sec" | "secs" | "second" | "seconds" | "sekunde" | "sekunden" => 1000.0,
        "min" | "mins" | "minute" | "minutes" | "minuten" => HOUR / 60.0,
        "h" | "hour" | "hours" | "stunde" | "stunden" => HOUR,
        "d" | "day" | "days" | "tag" | "tage" | "tagen" => 24.0 * HOUR,
        "week" | "weeks" | "woche" | "wochen" => 7.0 * 24.0 * HOUR,
        "month" | "months" | "monate" => 30.0 * 24.0 * HOUR,
        "year" | "years" => 365.0 * 24.0 * HOUR,
        _ => return None,
    })
}

/// The number of quantities in a sentence.
pub(crate) fn values(sentence: &str) -> usize {
    quantities(&tokens(sentence)).len()
}

/// The quantities among these tokens.
pub(crate) fn quantities(tokens: &[Token<'_>]) -> Vec<Quantity> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let next = (!token.ends_clause).then(|| tokens.get(at + 1)).flatten();
        let next_word = next.map_or("", |next| &*next.word);
        if matches!(&*token.word, "a" | "an" | "one") {
            let unit = unit_of(next_word).filter(|unit| *unit == Unit::Duration);
            found.extend(unit.map(|unit| Quantity::new("1", unit, next_word)));
            continue;
        }
        let Some((amount, suffix)) = number(token) else { continue };
        let unit = if amount.contains(':') {
            Unit::Clock
        } else if let Some(unit) = unit_of(suffix).or_else(|| unit_of(next_word)) {
            unit
        } else {
            let counted = stems(next);
            let is_version = amount.contains('.')
                || at.checked_sub(1).is_some_and(|before| tokens[before].word == "version");
            match is_version {
                true => Unit::Version,
                false => counted.first().copied().map_or(Unit::Unknown, Unit::Of),
            }
        };
        let unit_word = if unit_of(suffix).is_some() { suffix } else { next_word };
        found.push(Quantity::new(amount, unit, unit_word));
    }
    found
}
