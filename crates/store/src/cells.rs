//! Reads the cells of a row tolerantly: one damaged cell must not fail a listing of many rows.
//!
//! A flipped bit leaves text that is not UTF-8, a blob where text was, NULL where none is allowed or a
//! number out of range. SQLite returns all of these without an error. Every aggregate therefore reads
//! through [`Cells`], which returns a fallback value for a damaged cell: lossy text, zero, an empty string.
//! [`Watched`] also records that a fallback was used, so that the record can be shown as damaged.

use std::borrow::Cow;
use std::cell::Cell;

use model::limits;
use model::observation::DAMAGED_MARK;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Row, ToSql};

/// A type that a column is read as.
pub(crate) trait CellValue: Sized {
    /// The value; `Err` with a fallback value if the cell is not of this type.
    fn of(cell: ValueRef<'_>) -> Result<Self, Self>;
}

/// The cells of a row.
pub(crate) trait Cells {
    /// A cell, or its fallback value if it is damaged. Fails only if the statement has no such column.
    fn cell<T: CellValue>(&self, column: usize) -> rusqlite::Result<T>;

    /// A text, borrowed if it is not damaged.
    fn text(&self, column: usize) -> rusqlite::Result<Cow<'_, str>>;

    /// A text that may be NULL, borrowed if it is not damaged.
    fn text_or_null(&self, column: usize) -> rusqlite::Result<Option<Cow<'_, str>>>;

    /// A blob; empty if the cell is not one.
    fn blob(&self, column: usize) -> rusqlite::Result<&[u8]>;
}

impl Cells for Row<'_> {
    fn cell<T: CellValue>(&self, column: usize) -> rusqlite::Result<T> {
        self.get_ref(column).map(|cell| T::of(cell).unwrap_or_else(|stand_in| stand_in))
    }

    fn text(&self, column: usize) -> rusqlite::Result<Cow<'_, str>> {
        self.get_ref(column).map(|cell| text(cell).unwrap_or_else(|stand_in| stand_in))
    }

    fn text_or_null(&self, column: usize) -> rusqlite::Result<Option<Cow<'_, str>>> {
        let found = self.get_ref(column)?;
        let is_null = found == ValueRef::Null;
        Ok((!is_null).then(|| text(found).unwrap_or_else(|stand_in| stand_in)))
    }

    fn blob(&self, column: usize) -> rusqlite::Result<&[u8]> {
        self.get_ref(column).map(|cell| cell.as_blob().unwrap_or_default())
    }
}

/// A row that records whether any cell read so far is damaged.
pub(crate) struct Watched<'r, 's> {
    row: &'r Row<'s>,
    damaged: Cell<bool>,
}

impl<'r, 's> Watched<'r, 's> {
    pub(crate) fn new(row: &'r Row<'s>) -> Watched<'r, 's> {
        Watched { row, damaged: Cell::new(false) }
    }

    /// Records damage that only the caller can detect, such as an unknown keyword or invalid JSON.
    pub(crate) fn note_damage(&self) {
        self.damaged.set(true);
    }

    pub(crate) fn is_damaged(&self) -> bool {
        self.damaged.get()
    }

    /// A time in milliseconds since 1970. A time out of range is damaged.
    pub(crate) fn time(&self, column: usize) -> rusqlite::Result<i64> {
        let at = self.cell(column)?;
        if !is_time(at) {
            self.note_damage();
        }
        Ok(at)
    }

    /// A time that may be NULL.
    pub(crate) fn time_or_null(&self, column: usize) -> rusqlite::Result<Option<i64>> {
        let at: Option<i64> = self.cell(column)?;
        if at.is_some_and(|at| !is_time(at)) {
            self.note_damage();
        }
        Ok(at)
    }

    /// The text of the record, with a mark if any cell read so far is damaged.
    pub(crate) fn marked(&self, content: String) -> String {
        match self.is_damaged() {
            true if content.is_empty() => DAMAGED_MARK.to_owned(),
            true => format!("{DAMAGED_MARK} {content}"),
            false => content,
        }
    }

    fn note<T>(&self, read: Result<T, T>) -> T {
        read.unwrap_or_else(|stand_in| {
            self.note_damage();
            stand_in
        })
    }
}

impl Cells for Watched<'_, '_> {
    fn cell<T: CellValue>(&self, column: usize) -> rusqlite::Result<T> {
        self.row.get_ref(column).map(|cell| self.note(T::of(cell)))
    }

    fn text(&self, column: usize) -> rusqlite::Result<Cow<'_, str>> {
        self.row.get_ref(column).map(|cell| self.note(text(cell)))
    }

    fn text_or_null(&self, column: usize) -> rusqlite::Result<Option<Cow<'_, str>>> {
        let found = self.row.get_ref(column)?;
        let is_null = found == ValueRef::Null;
        Ok((!is_null).then(|| self.note(text(found))))
    }

    fn blob(&self, column: usize) -> rusqlite::Result<&[u8]> {
        self.row.get_ref(column).map(|cell| self.note(cell.as_blob().map_err(|_| &[][..])))
    }
}

/// Whether a record, session or project can have this time.
pub(crate) fn is_time(at: i64) -> bool {
    (0..=limits::RECORD_TIME_MAX_MS).contains(&at)
}

/// The text of a cell. One flipped bit in a row's header turns text into a blob with the same bytes.
fn text(cell: ValueRef<'_>) -> Result<Cow<'_, str>, Cow<'_, str>> {
    match cell {
        ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Cow::Borrowed(text)),
            Err(_) => Err(String::from_utf8_lossy(bytes)),
        },
        ValueRef::Blob(bytes) => Err(String::from_utf8_lossy(bytes)),
        ValueRef::Integer(number) => Err(number.to_string().into()),
        ValueRef::Real(number) => Err(number.to_string().into()),
        ValueRef::Null => Err(Cow::Borrowed("")),
    }
}

impl CellValue for String {
    fn of(cell: ValueRef<'_>) -> Result<String, String> {
        text(cell).map(Cow::into_owned).map_err(Cow::into_owned)
    }
}

/// A text as raw bytes, UTF-8 or not, so that a row with a damaged key is found by the same bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RawText(pub(crate) Vec<u8>);

impl From<&str> for RawText {
    fn from(text: &str) -> RawText {
        RawText(text.as_bytes().to_vec())
    }
}

impl CellValue for RawText {
    fn of(cell: ValueRef<'_>) -> Result<RawText, RawText> {
        match cell {
            ValueRef::Text(bytes) => Ok(RawText(bytes.to_vec())),
            _ => Err(RawText::default()),
        }
    }
}

impl ToSql for RawText {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Text(&self.0)))
    }
}

impl CellValue for i64 {
    fn of(cell: ValueRef<'_>) -> Result<i64, i64> {
        match cell {
            ValueRef::Integer(number) => Ok(number),
            _ => Err(0),
        }
    }
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl CellValue for $number {
            fn of(cell: ValueRef<'_>) -> Result<$number, $number> {
                i64::of(cell).ok().and_then(|number| number.try_into().ok()).ok_or(0)
            }
        }
    )*};
}

numbers! { u16 u32 u64 usize }

impl CellValue for bool {
    fn of(cell: ValueRef<'_>) -> Result<bool, bool> {
        i64::of(cell).map(|number| number != 0).map_err(|_| false)
    }
}

impl CellValue for f64 {
    fn of(cell: ValueRef<'_>) -> Result<f64, f64> {
        match cell {
            ValueRef::Real(number) => Ok(number),
            ValueRef::Integer(number) => Ok(number as f64),
            _ => Err(0.0),
        }
    }
}

impl CellValue for Vec<u8> {
    fn of(cell: ValueRef<'_>) -> Result<Vec<u8>, Vec<u8>> {
        match cell {
            ValueRef::Blob(bytes) => Ok(bytes.to_vec()),
            _ => Err(Vec::new()),
        }
    }
}

impl<const N: usize> CellValue for [u8; N] {
    fn of(cell: ValueRef<'_>) -> Result<[u8; N], [u8; N]> {
        let bytes = cell.as_blob().ok().and_then(|bytes| bytes.try_into().ok());
        bytes.ok_or([0; N])
    }
}

impl<T: CellValue> CellValue for Option<T> {
    fn of(cell: ValueRef<'_>) -> Result<Option<T>, Option<T>> {
        match cell {
            ValueRef::Null => Ok(None),
            cell => T::of(cell).map(Some).map_err(Some),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_cell_is_read_as_a_fallback_value() {
        let bad = b"caf\xff";
        assert_eq!(String::of(ValueRef::Text(b"cafe")), Ok("cafe".into()));
        assert_eq!(String::of(ValueRef::Text(bad)), Err("caf\u{fffd}".into()));
        assert_eq!(String::of(ValueRef::Blob(b"cafe")), Err("cafe".into()));
        assert_eq!(String::of(ValueRef::Null), Err(String::new()));
        assert_eq!(i64::of(ValueRef::Text(b"7")), Err(0));
        assert_eq!(u64::of(ValueRef::Integer(-1)), Err(0));
        assert_eq!(u16::of(ValueRef::Integer(70_000)), Err(0));
        assert_eq!(bool::of(ValueRef::Integer(1)), Ok(true));
        assert_eq!(<[u8; 4]>::of(ValueRef::Blob(b"cafe")), Ok(*b"cafe"));
        assert_eq!(<[u8; 4]>::of(ValueRef::Blob(b"caf")), Err([0; 4]));
        assert_eq!(Option::<i64>::of(ValueRef::Null), Ok(None));
        assert_eq!(Option::<String>::of(ValueRef::Text(bad)), Err(Some("caf\u{fffd}".into())));
    }
}
