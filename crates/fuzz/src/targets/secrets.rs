//! The secret guard: planted secrets are redacted, and a second redaction changes nothing.

use serde_json::Value;
use text::secrets::{Finding, Profile, find, first, redact, redact_json};

use crate::corpus::SECRET_LINES;
use crate::dice::Dice;
use crate::grammar;
use crate::mutate::mutate;
use crate::target::{Checked, Flaw, ensure};

pub(crate) fn generate(dice: &mut Dice) -> Vec<u8> {
    let mut text = String::new();
    for _ in 0..=dice.few(6) {
        match dice.below(3) {
            0 => text.push_str(dice.pick::<String>(&SECRET_LINES)),
            _ => text.push_str(&grammar::text(dice)),
        }
    }
    let mut bytes = text.into_bytes();
    if dice.one_in(2) {
        let other = dice.pick(&SECRET_LINES);
        mutate(dice, &mut bytes, other.as_bytes());
    }
    // Planted after the mutation, because the guard need not recognise a mutated secret.
    if dice.one_in(2) {
        let ends = [" ", "\n", "\"", "'", ",", ";", ")", "\t"];
        let piece = format!(
            "{}{}{}",
            dice.pick(&[" ", "\n", "\t"]),
            grammar::secret(dice),
            dice.pick(&ends)
        );
        let lossy = String::from_utf8_lossy(&bytes).into_owned();
        let at = lossy.floor_char_boundary(dice.below(lossy.len() + 1));
        bytes = format!("{}{piece}{}", &lossy[..at], &lossy[at..]).into_bytes();
    }
    bytes
}

pub(crate) fn check(input: &[u8]) -> Checked {
    let text = String::from_utf8_lossy(input);
    for profile in [Profile::Strict, Profile::Declared] {
        let mut end = 0;
        let found = find(&text, profile);
        for Finding { rule, range } in &found {
            ensure(range.start >= end && range.start < range.end, || format!("{rule}: {range:?}"))?;
            ensure(text.get(range.clone()).is_some(), || format!("{rule}: cuts a character"))?;
            end = range.end;
        }
        let one = first(&text, profile);
        ensure(one.is_some() != found.is_empty(), || format!("first {one:?}, all {found:?}"))?;
        let safe = redact(&text, profile).into_inner();
        if let Some(secret) = grammar::leaked(&safe) {
            return Err(Flaw::Wrong(format!("{profile:?}: a planted secret is left: {secret:?}")));
        }
        let again = redact(&safe, profile).into_inner();
        ensure(safe == again, || format!("{profile:?}: {safe:?} becomes {again:?}"))?;
    }
    let value = serde_json::json!({ "command": &*text, "list": [&*text] });
    let safe = redact_json(value, Profile::Strict).into_inner();
    let again = redact_json(safe.clone(), Profile::Strict).into_inner();
    ensure(safe == again, || format!("JSON: {safe} becomes {again}"))?;
    let strings = [&safe["command"], &safe["list"][0]].map(Value::as_str);
    ensure(!strings.into_iter().flatten().any(|text| grammar::leaked(text).is_some()), || {
        format!("JSON: a planted secret is left: {safe}")
    })
}
