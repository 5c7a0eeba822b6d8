//! What a group of writes has found out so far. Nobody else can write before its COMMIT, so that the next
//! write of the group need not look it up again; whoever changes one of these things forgets it here.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use model::project::{Project, ProjectFacts};

use crate::catalogue::Catalogue;
use crate::keeper::Shared;
use crate::prompts::Newest;
use crate::sessions::Alive;

#[derive(Default)]
pub(crate) struct Memo {
    pub(crate) catalogue: Arc<Catalogue>,
    /// The file of the database.
    pub(crate) database: PathBuf,
    /// Whether it is worked out what passages mean.
    pub(crate) meaning: bool,
    /// How often this process replaced a damaged full-text index.
    pub(crate) index_rebuilds: Arc<AtomicUsize>,
    /// The last id that was given out; it is written down at the end of the group.
    pub(crate) last_id: Cell<Option<i64>>,
    /// Whether there is any pause at all.
    pub(crate) paused: Cell<Option<bool>>,
    pub(crate) projects: RefCell<HashMap<ProjectFacts, Project>>,
    /// Sessions that are active, by name.
    pub(crate) sessions: RefCell<HashMap<String, Alive>>,
    /// The user's newest prompt of a session, if there is one.
    pub(crate) prompts: RefCell<HashMap<i64, Option<Newest>>>,
    pub(crate) paths: RefCell<HashMap<String, i64>>,
}

impl Memo {
    pub(crate) fn new(shared: &Shared) -> Memo {
        let (catalogue, meaning) = (shared.catalogue.clone(), shared.options.meaning);
        let (database, index_rebuilds) = (shared.path().to_owned(), shared.index_rebuilds.clone());
        Memo { catalogue, meaning, database, index_rebuilds, ..Memo::default() }
    }

    /// Forgets what a write found out that is not kept. Ids are not given out twice all the same.
    pub(crate) fn forget(&self) {
        self.paused.set(None);
        self.projects.borrow_mut().clear();
        self.sessions.borrow_mut().clear();
        self.prompts.borrow_mut().clear();
        self.paths.borrow_mut().clear();
    }
}
