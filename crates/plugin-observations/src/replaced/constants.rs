//! Edits that give a constant another value: the newer of two in one file replaces the older one.

use std::collections::HashMap;

use model::OpError;
use model::observation::ObsType;
use store::Rx;
use store::search::Hit;

use super::Replacements;
use crate::records_read::RecordsRead;

/// The fewest characters of the name of a constant. A shorter one in capitals may be a type parameter.
const NAME_CHARS_MIN: usize = 3;

/// Identifies a constant: its project, its file and its name.
type Constant = (i64, Option<String>, String);

impl Replacements {
    /// Finds the edits among the hits that give a constant a value which a newer hit changes.
    pub(super) fn look_up_constants(
        &mut self,
        rx: &Rx<'_>,
        hits: &[Hit],
        records: &mut RecordsRead,
    ) -> Result<(), OpError> {
        let mut given: HashMap<Constant, Vec<(i64, i64, String)>> = HashMap::new();
        for hit in hits.iter().filter(|hit| hit.kind == ObsType::FileEdit) {
            let Some(edit) = records.read_hit(rx, *hit)? else { continue };
            if let Some((name, value)) = constant(&edit.content) {
                let of = (hit.project, edit.file_path.clone(), name.to_owned());
                given.entry(of).or_default().push((hit.at, hit.id, value));
            }
        }
        for edits in given.values() {
            let Some((_, newest, value)) = edits.iter().max() else { continue };
            for (_, id, _) in edits.iter().filter(|(_, _, old)| old != value) {
                self.by.insert(*id, Some(*newest));
            }
        }
        Ok(())
    }
}

/// The name and the value of the constant that an edit of one line sets: "Edit limits.rb: FREE_UNTIL = 48.hours".
fn constant(edit: &str) -> Option<(&str, String)> {
    let (_, line) = edit.split_once(": ")?;
    let (left, value) =
        line.split_once('=').filter(|_| !line.contains('⏎') && !line.starts_with("- "))?;
    let left = left.split_once(':').map_or(left, |(name, _)| name);
    let name = left.split_whitespace().next_back()?;
    let is_constant = name.len() >= NAME_CHARS_MIN
        && name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    let value = value.trim_start_matches('=').split_whitespace().collect::<Vec<_>>().join(" ");
    // `A == B` compares.
    (is_constant && !line.contains("==") && !value.is_empty()).then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_of_one_line_may_set_a_constant() {
        for (edit, expected) in [
            ("Edit limits.rb: FREE_UNTIL = 48.hours", Some(("FREE_UNTIL", "48.hours"))),
            ("Edit a.rs: pub const MAX_BOATS: u8 = 4;", Some(("MAX_BOATS", "4;"))),
            ("Edit a.rs: let timeout = 4;", None),
            ("Edit a.rs: if MAX_BOATS == 4", None),
            ("Edit a.rs: MAX = 4 ⏎ MIN = 2", None),
            ("Edit a.rs: - MAX_BOATS = 4", None),
            ("Edit a.rs", None),
        ] {
            let expected = expected.map(|(name, value)| (name, value.to_owned()));
            assert_eq!(constant(edit), expected, "{edit}");
        }
    }
}
