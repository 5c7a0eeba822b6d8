//! A scheme owns a part of the address space: it lists and reads the entries under its name.

use model::OpError;
use model::entry::{Entry, EntryLine, EntryPath};
use model::event::{EventFilter, Published};

use crate::cx::Cx;

/// The owner of `name://…`.
pub trait Scheme: Send + Sync {
    /// The word before `://`.
    fn name(&self) -> &'static str;

    /// RFC 6570 template of its paths, for example `hint://{component}/{key}`.
    fn template(&self) -> &'static str;

    /// One line that says what its entries are.
    fn summary(&self) -> &'static str;

    /// Its entries, in a fixed order; only the newest ones of a scheme with very many.
    fn list(&self, cx: &Cx<'_>) -> Result<Vec<EntryLine>, OpError>;

    /// The entry at this path.
    fn read(&self, cx: &Cx<'_>, path: &EntryPath) -> Result<Entry, OpError>;

    /// The events after which the entry at this path may read differently, so that clients can subscribe to it. The
    /// entry need not exist yet. None if entries of this scheme cannot be subscribed to.
    fn updated_by(&self, _path: &EntryPath) -> Result<Option<EventFilter>, OpError> {
        Ok(None)
    }

    /// Whether an event that [`Scheme::updated_by`] admits concerns the entry at this path.
    fn concerns(&self, _path: &EntryPath, _event: &Published) -> bool {
        true
    }
}
