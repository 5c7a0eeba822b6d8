//! Prefixes of ids, by which users name sessions and memories.

use std::collections::BTreeSet;

use model::{OpError, limits};

use crate::cells::Cells as _;
use crate::tx::Rx;

/// How many first characters distinguish each of these names from its neighbours in alphabetical order; none if the
/// usual number is enough. The query finds the names before and after its parameter.
pub(crate) fn chars_apart<'n>(
    rx: &Rx<'_>,
    names: impl Iterator<Item = &'n str>,
    neighbours_of: &str,
) -> Result<Option<usize>, OpError> {
    let names: BTreeSet<&str> = names.filter(|name| !name.is_empty()).collect();
    let mut needed = 0;
    for name in names {
        let neighbours: [Option<String>; 2] = rx.sql(|db| {
            let mut select = db.prepare_cached(neighbours_of)?;
            select.query_row([name], |row| Ok([row.cell(0)?, row.cell(1)?]))
        })?;
        let shared =
            |other: String| name.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
        let most = neighbours.into_iter().flatten().map(shared).max().unwrap_or_default();
        needed = needed.max(most + 1);
    }
    Ok(Some(needed).filter(|needed| *needed > limits::SESSION_ID_CHARS_SHOWN))
}
