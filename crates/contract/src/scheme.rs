//! A scheme owns a part of the address space: it lists and reads the entries under its name.

use model::OpError;
use model::entry::{Entry, EntryLine, EntryPath};

use crate::cx::Cx;

/// The owner of `name://…`.
pub trait Scheme: Send + Sync {
    /// The word before `://`.
    fn name(&self) -> &'static str;

    /// RFC 6570 template of its paths, for example `hint://{component}/{key}`.
    fn template(&self) -> &'static str;

    /// One line that says what its entries are.
    fn summary(&self) -> &'static str;

    /// All entries, in a fixed order.
    fn list(&self, cx: &Cx<'_>) -> Result<Vec<EntryLine>, OpError>;

    /// The entry at this path.
    fn read(&self, cx: &Cx<'_>, path: &EntryPath) -> Result<Entry, OpError>;
}
