//! The text form of a zone (POSIX `TZ`): `CET-1CEST,M3.5.0,M10.5.0/3`.

use model::time::{civil, days_of};

use crate::DAY;

const HOUR: i64 = 3_600;
/// The most hours of an offset or a time of change, so that no sum overflows.
const HOURS_MAX: i64 = 167;

/// Standard time, and summer time if there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ZoneRule {
    /// Seconds ahead of UTC.
    standard: i64,
    summer: Option<Summer>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Summer {
    /// Seconds ahead of UTC.
    offset: i64,
    begins: YearlyChange,
    ends: YearlyChange,
}

/// A day of every year, and the seconds after its midnight in the local time before the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct YearlyChange {
    day: YearDay,
    second: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum YearDay {
    /// From 1 to 365; 29 February is never counted.
    WithoutLeapDay(i64),
    /// From 0 to 365.
    Counted(i64),
    /// Month, week (5 is the last) and weekday from Sunday on.
    Weekday(i64, i64, i64),
}

impl ZoneRule {
    pub(crate) fn parse(text: &str) -> Option<ZoneRule> {
        let mut text = RuleParser(text);
        text.name()?;
        // East is negative here: `CET-1` is an hour ahead.
        let standard = -text.time()?;
        if text.0.is_empty() {
            return Some(ZoneRule { standard, summer: None });
        }
        text.name()?;
        let offset = match text.0.starts_with(',') || text.0.is_empty() {
            true => standard + HOUR,
            false => -text.time()?,
        };
        // Without dates, the rule of the United States is the convention.
        let (begins, ends) = match text.0 {
            "" => (RuleParser("M3.2.0").change()?, RuleParser("M11.1.0").change()?),
            _ => {
                text.sign(',')?;
                let begins = text.change()?;
                text.sign(',')?;
                (begins, text.change()?)
            }
        };
        text.0
            .is_empty()
            .then_some(ZoneRule { standard, summer: Some(Summer { offset, begins, ends }) })
    }

    pub(crate) fn offset_at(&self, seconds: i64) -> i64 {
        let Some(summer) = &self.summer else { return self.standard };
        let (year, ..) = civil(seconds.saturating_add(self.standard).div_euclid(DAY));
        let begins = summer.begins.seconds(year).saturating_sub(self.standard);
        let ends = summer.ends.seconds(year).saturating_sub(summer.offset);
        let is_summer = match begins <= ends {
            true => (begins..ends).contains(&seconds),
            // In the southern hemisphere summer time spans the new year.
            false => !(ends..begins).contains(&seconds),
        };
        if is_summer { summer.offset } else { self.standard }
    }
}

impl YearlyChange {
    /// Seconds from 1970 to the change in this year, on the local clocks.
    fn seconds(self, year: i64) -> i64 {
        let first = days_of(year, 1, 1).unwrap_or_default();
        let days = match self.day {
            YearDay::Counted(day) => first + day,
            YearDay::WithoutLeapDay(day) => {
                let leaps = days_of(year, 2, 29).is_some() && day >= 60;
                first + day - 1 + i64::from(leaps)
            }
            YearDay::Weekday(month, week, weekday) => {
                let month_begins = days_of(year, month, 1).unwrap_or_default();
                // 1970-01-01 was a Thursday, the fourth day after a Sunday.
                let to_weekday = (weekday - (month_begins + 4).rem_euclid(7)).rem_euclid(7);
                let mut day = month_begins + to_weekday + 7 * (week - 1);
                while civil(day).1 != month {
                    day -= 7;
                }
                day
            }
        };
        days.saturating_mul(DAY).saturating_add(self.second)
    }
}

/// The rest of a text.
struct RuleParser<'t>(&'t str);

impl RuleParser<'_> {
    fn sign(&mut self, sign: char) -> Option<()> {
        self.0 = self.0.strip_prefix(sign)?;
        Some(())
    }

    /// A name of three letters or more, or anything between `<` and `>`.
    fn name(&mut self) -> Option<()> {
        if let Some(quoted) = self.0.strip_prefix('<') {
            self.0 = quoted.split_once('>')?.1;
            return Some(());
        }
        let end = self.0.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(self.0.len());
        self.0 = self.0.get(end..).filter(|_| end >= 3)?;
        Some(())
    }

    fn number(&mut self, max: i64) -> Option<i64> {
        let end = self.0.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.0.len());
        let (digits, rest) = self.0.split_at(end);
        self.0 = rest;
        digits.parse().ok().filter(|number| *number <= max)
    }

    /// `[+-]hh[:mm[:ss]]` in seconds.
    fn time(&mut self) -> Option<i64> {
        let west = self.sign('-').is_some();
        if !west {
            let _plus = self.sign('+');
        }
        let mut seconds = self.number(HOURS_MAX)? * HOUR;
        for unit in [60, 1] {
            if self.sign(':').is_none() {
                break;
            }
            seconds += self.number(59)? * unit;
        }
        Some(if west { -seconds } else { seconds })
    }

    fn change(&mut self) -> Option<YearlyChange> {
        let day = if self.sign('M').is_some() {
            let month = self.number(12).filter(|month| *month > 0)?;
            self.sign('.')?;
            let week = self.number(5).filter(|week| *week > 0)?;
            self.sign('.')?;
            YearDay::Weekday(month, week, self.number(6)?)
        } else if self.sign('J').is_some() {
            YearDay::WithoutLeapDay(self.number(365).filter(|day| *day > 0)?)
        } else {
            YearDay::Counted(self.number(365)?)
        };
        let second = if self.sign('/').is_some() { self.time()? } else { 2 * HOUR };
        Some(YearlyChange { day, second })
    }
}
