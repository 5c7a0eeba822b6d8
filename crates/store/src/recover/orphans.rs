//! Rows on leaf pages that are unreachable because an interior page, a root or the schema is lost. This program
//! knows its schema: a page belongs to the table whose columns fit its rows.

use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, Statement};

use super::image::Image;
use super::page::{self, LeafRow};
use crate::aggregate::Registry;
use crate::cells::Cells as _;
use crate::damaged::{self, TableShape};
use crate::table_info::TableRole;

/// A table of the new database, and the statement that inserts a row into it.
struct Adopter<'c> {
    shape: TableShape,
    insert: Statement<'c>,
    rows: u64,
}

/// Inserts the rows of all leaf pages of the damaged database that the new one lacks, and counts them by table.
/// Free pages are skipped, because their rows were deleted. So are pages that fit several tables, or none.
pub(super) fn adopt(
    path: &Path,
    new: &Connection,
    registry: &Registry,
) -> rusqlite::Result<Vec<(String, u64)>> {
    let usual = new.pragma_query_value(None, "page_size", |row| row.cell::<usize>(0))?;
    let Some(image) = Image::open(path, usual) else { return Ok(Vec::new()) };
    let mut adopters = Vec::new();
    for shape in damaged::shapes(new, registry)? {
        let insert = new.prepare(&shape.insert())?;
        adopters.push(Adopter { shape, insert, rows: 0 });
    }
    let free = image.free_pages();
    for number in 1..=image.pages() {
        if free.contains(&number) {
            continue;
        }
        let Some(page) = image.page(number).filter(|page| page::is_leaf(page)) else { continue };
        let mut next = |number: u32| match free.contains(&number) {
            true => None,
            false => image.page(number),
        };
        let rows = page::rows(&page, &mut next);
        let Some(adopter) = owner(&mut adopters, &rows) else { continue };
        for row in rows {
            adopter.add(row)?;
        }
    }
    let found = adopters.into_iter().filter(|one| one.rows > 0);
    Ok(found.map(|one| (one.shape.name, one.rows)).collect())
}

/// The table that a page belongs to: the one that most of its rows fit. If all rows fit several tables, it is the one
/// with the most checks, because other rows do not pass them all by chance. None if it stays ambiguous.
fn owner<'a, 'c>(adopters: &'a mut [Adopter<'c>], rows: &[LeafRow]) -> Option<&'a mut Adopter<'c>> {
    let weigh = |one: &Adopter<'_>| {
        let fitting = rows.iter().filter(|row| one.fits(row)).count();
        let is_whole = fitting == rows.len();
        (fitting, if is_whole { one.shape.checks() } else { 0 })
    };
    let weights: Vec<(usize, usize)> = adopters.iter().map(weigh).collect();
    let most = *weights.iter().max().filter(|(fitting, _)| *fitting > 0)?;
    let mut best = adopters.iter_mut().zip(weights).filter(|(_, weight)| *weight == most);
    match (best.next(), best.next()) {
        (Some((owner, _)), None) => Some(owner),
        _ => None,
    }
}

impl Adopter<'_> {
    /// Whether a row has the columns of the table.
    fn fits(&self, row: &LeafRow) -> bool {
        let columns = &self.shape.columns;
        row.cells.len() == columns.len()
            && columns.iter().zip(&row.cells).all(|(column, cell)| match column.is_row_id {
                true => *cell == Value::Null,
                false => column.admits(cell.into()),
            })
            && self.shape.agrees.is_none_or(|agrees| agrees(&row.cells))
    }

    /// Inserts a row unless it exists: a row that SQLite could read is as new or newer.
    fn add(&mut self, row: LeafRow) -> rusqlite::Result<()> {
        if self.shape.role == TableRole::Derived || !self.fits(&row) {
            return Ok(());
        }
        let id = Value::Integer(row.id);
        let columns = self.shape.columns.iter();
        let cells = columns.zip(row.cells).map(|(column, cell)| match column.is_row_id {
            true => id.clone(),
            false => cell,
        });
        self.rows += super::insert(&mut self.insert, cells.collect())?;
        Ok(())
    }
}
