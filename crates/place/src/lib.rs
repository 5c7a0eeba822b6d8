//! Where a call or an event comes from: its directory, its project and its session, resolved once before any plugin
//! sees it, and what the user excludes there.
//!
//! Read in this order: `places` (the project of a directory, and the paths it excludes), `exclude` (excluded projects
//! and files), `captured` (an event with its project and session), `scope` (the projects a call is about), `file` (the
//! file a call is about), `checkout` (the directory and working tree of a command).

mod captured;
mod checkout;
mod exclude;
mod file;
mod gone;
mod places;
mod scope;

pub use captured::{Capturable, Captured, NamedSession, NotCaptured, agent_of_client, began_in};
pub use checkout::{command_directory, is_run_of, run_directory, run_place};
pub use exclude::{are_projects, changed_files, is_excluded, is_stored_excluded, listed, to_spool};
pub use file::FileQuestion;
pub use places::{Place, PlaceSource, Places, PlacesOfCall, straight};
pub use scope::{About, Question, Scope, Wanted, path, shown_path, unknown};
