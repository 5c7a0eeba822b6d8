//! A count that a caller asks for: most operations accept any number and clamp it to their bounds.

use std::fmt;
use std::ops::RangeInclusive;

use model::{Caller, OpError, Tier};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// Any whole number. One below zero counts as zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Count(usize);

impl Count {
    pub const fn new(count: usize) -> Count {
        Count(count)
    }

    pub fn get(self) -> usize {
        self.0
    }

    /// The number within these bounds that is nearest.
    pub fn within(self, bounds: RangeInclusive<usize>) -> usize {
        self.0.max(*bounds.start()).min(*bounds.end())
    }

    /// The number as this caller asked for it. Outside of the bounds, the number of a user is replaced by the nearest
    /// bound, which the output notes, and the number of a program is refused.
    pub fn of_caller(
        self,
        caller: &Caller,
        param: &str,
        bounds: RangeInclusive<usize>,
    ) -> Result<usize, OpError> {
        match caller.tier {
            Tier::Person => Ok(self.within(bounds)),
            _ => self.checked(param, bounds),
        }
    }

    /// The number, for an operation that refuses one outside its bounds.
    pub fn checked(self, param: &str, bounds: RangeInclusive<usize>) -> Result<usize, OpError> {
        if bounds.contains(&self.0) {
            return Ok(self.0);
        }
        let (min, max) = (*bounds.start(), *bounds.end());
        let message = format!("`{param}` is not between {min} and {max}");
        Err(OpError::invalid(param, message).with("min", min).with("max", max))
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Count, D::Error> {
        from.deserialize_any(OfCount)
    }
}

struct OfCount;

impl Visitor<'_> for OfCount {
    type Value = Count;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number")
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Count, E> {
        Ok(Count(usize::try_from(number.max(0)).unwrap_or(usize::MAX)))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Count, E> {
        Ok(Count(usize::try_from(number).unwrap_or(usize::MAX)))
    }
}

impl JsonSchema for Count {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Count".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer" })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn every_whole_number_is_held_within_its_bounds() {
        let read = |value: Value| serde_json::from_value::<Count>(value).ok();
        for (value, held) in [
            (json!(-1), 1),
            (json!(i64::MIN), 1),
            (json!(0), 1),
            (json!(20), 20),
            (json!(1000), 100),
            (json!(u64::MAX), 100),
        ] {
            assert_eq!(
                read(value.clone()).map(|count| count.within(1..=100)),
                Some(held),
                "{value}"
            );
        }
        for value in [json!(1.5), json!("20"), json!([]), json!(null), json!(true)] {
            assert_eq!(read(value.clone()), None, "{value}");
        }
    }
}
