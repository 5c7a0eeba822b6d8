//! Descriptions of an aggregate's tables and texts, for the parts of the store that walk the registry.

use rusqlite::types::Value;

/// Facts about a table for repair and salvage.
pub struct TableInfo {
    pub name: &'static str,
    pub role: TableRole,
    /// Whether the search index is derived from it.
    pub is_indexed: bool,
    /// Columns that contain JSON.
    pub json: &'static [&'static str],
    pub words: &'static [WordColumn],
    /// Columns with the id of a row in another table, in order of their names. Rows have an `id`, by which a repair
    /// changes them.
    pub references: &'static [Reference],
    /// Columns with the id of a row in another table, and that table. These ids are not checked.
    pub links: &'static [(&'static str, &'static str)],
    /// The column with the first time of the row, in milliseconds since 1970.
    pub at: Option<&'static str>,
    /// The column with the root directory where a row in no session was written, by which a split of its project moves it.
    pub root: Option<&'static str>,
    /// Columns with a time in milliseconds since 1970 that is damaged if it is out of range.
    pub times: &'static [&'static str],
    /// Whether the cells of a row agree with each other, for salvage: the columns of another table have the same types.
    pub agrees: Option<fn(&[Value]) -> bool>,
}

impl TableInfo {
    /// A table without anything special.
    pub const PLAIN: TableInfo = TableInfo {
        name: "",
        role: TableRole::Plain,
        is_indexed: false,
        json: &[],
        words: &[],
        references: &[],
        links: &[],
        at: None,
        root: None,
        times: &[],
        agrees: None,
    };

    /// Whether its rows have a [`Reference`] to the table `target`. Links do not count.
    pub(crate) fn refers_to(&self, target: &str) -> bool {
        self.references.iter().any(|reference| reference.target == target)
    }
}

/// How a repair treats a row with a damaged cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableRole {
    /// It is deleted if it is useless without the cell.
    Plain,
    /// It stays until a user purges it by its id.
    Record,
    /// Others refer to it: it gets a fallback value and is never deleted.
    Referred,
    /// It is rebuilt from other tables, or only temporary. Salvage adds no rows to it from unreachable pages.
    Derived,
}

/// A column with one of a few words.
pub struct WordColumn {
    pub name: &'static str,
    pub knows: fn(&str) -> bool,
    /// The word for a damaged cell of a row that must not be deleted.
    pub fallback: &'static str,
}

/// A column with the id of a row in another table.
pub struct Reference {
    pub column: &'static str,
    pub target: &'static str,
    /// Whether the row is of use without the other row: then a repair sets a dangling reference to NULL.
    pub is_optional: bool,
}

impl Reference {
    pub const fn needed(column: &'static str, target: &'static str) -> Reference {
        Reference { column, target, is_optional: false }
    }

    pub const fn optional(column: &'static str, target: &'static str) -> Reference {
        Reference { column, target, is_optional: true }
    }
}

/// The columns that contain a user's or an agent's words, for a purge by literal text.
pub struct TextColumns {
    /// The table or join.
    pub from: &'static str,
    /// The expression for the id of the record.
    pub id: &'static str,
    /// Columns that are searched for the plain text, and for the text as a string in JSON.
    pub plain: &'static [&'static str],
    pub json: &'static [&'static str],
    /// Columns whose words search finds.
    pub indexed: &'static [&'static str],
    /// Further columns with words, which search does not find.
    pub unindexed: &'static [&'static str],
}
