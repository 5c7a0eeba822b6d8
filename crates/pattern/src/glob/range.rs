//! Ranges in braces: `{1..3}`, `{01..10}`, `{a..e}`, and a step as in `{0..10..5}`.

/// The bounds of a range and the distance of its members.
pub(super) struct Range {
    first: i64,
    last: i64,
    step: u64,
    form: RangeForm,
}

enum RangeForm {
    /// Numbers, padded with zeros to this width.
    Number {
        width: usize,
    },
    Letter,
}

/// Parses the text between two braces as a range.
pub(super) fn parse(inside: &str) -> Option<Range> {
    let mut parts = inside.split("..");
    let (first, last, step) = (parts.next()?, parts.next()?, parts.next());
    if parts.next().is_some() {
        return None;
    }
    let step = match step {
        Some(step) => number(step)?.unsigned_abs().max(1),
        None => 1,
    };
    if let (Some(low), Some(high)) = (number(first), number(last)) {
        let filled = [first, last].iter().any(|text| {
            let digits = text.trim_start_matches('-');
            digits.len() > 1 && digits.starts_with('0')
        });
        let width = if filled { first.len().max(last.len()) } else { 0 };
        return Some(Range { first: low, last: high, step, form: RangeForm::Number { width } });
    }
    let (first, last) = (letter(first)?, letter(last)?);
    Some(Range { first, last, step, form: RangeForm::Letter })
}

impl Range {
    /// The number of its members.
    pub(super) fn len(&self) -> usize {
        usize::try_from(self.first.abs_diff(self.last) / self.step)
            .map_or(usize::MAX, |n| n.saturating_add(1))
    }

    /// Its members as text. Check the length first.
    pub(super) fn items(&self) -> Vec<String> {
        let (first, last) = (self.first, self.last);
        let step = usize::try_from(self.step).unwrap_or(usize::MAX);
        if first <= last {
            (first..=last).step_by(step).map(|value| self.item(value)).collect()
        } else {
            (last..=first).rev().step_by(step).map(|value| self.item(value)).collect()
        }
    }

    fn item(&self, value: i64) -> String {
        match self.form {
            RangeForm::Number { width } => format!("{value:0width$}"),
            RangeForm::Letter => u8::try_from(value).map(char::from).into_iter().collect(),
        }
    }
}

/// A whole number of a range; `None` if it is too large.
fn number(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

fn letter(text: &str) -> Option<i64> {
    match text.as_bytes() {
        [byte] if byte.is_ascii_alphabetic() => Some(i64::from(*byte)),
        _ => None,
    }
}
