//! A runtime in the test's own process, over a database in a temporary directory.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use contract::{Config, Plugin};
use model::locations::{Locations, Surroundings};
use runtime::log::Log;
use runtime::{Kit, Runtime, RuntimeSetup};

static COUNT: AtomicU32 = AtomicU32::new(0);

/// A temporary directory for one database; removed when dropped.
pub struct Folder {
    pub path: PathBuf,
}

impl Folder {
    pub fn new() -> Folder {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("rekindle-local-{}-{number}", std::process::id());
        Folder { path: std::env::temp_dir().join(name) }
    }

    /// Opens a runtime with these plugins and settings over the directory's database.
    pub fn open(&self, plugins: Vec<Arc<dyn Plugin>>, settings: &[(&str, &str)]) -> Runtime {
        self.open_kit(Kit::new(plugins), settings)
    }

    fn open_kit(&self, kit: Kit, settings: &[(&str, &str)]) -> Runtime {
        let mut config = Config::defaults(kit.table.config_keys());
        for (name, value) in settings {
            let key = kit.table.config_keys().iter().find(|key| key.key == *name);
            config.set(key.expect("a declared setting"), value).expect("a valid value");
        }
        let around = Surroundings {
            var: &|name| (name == "REKINDLE_HOME").then(|| OsString::from(&self.path)),
            uid: 0,
            cwd: Path::new("/"),
            mac: false,
            canonical: &|path| path.to_path_buf(),
        };
        let locations = Locations::resolve(&around, None);
        let setup = RuntimeSetup { kit, locations, config, one_shot: false, log: Log::none() };
        Runtime::open(setup).expect("a runtime")
    }
}

impl Default for Folder {
    fn default() -> Folder {
        Folder::new()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A directory that cannot be removed is left to the system; it does not fail the test.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// A runtime over an empty database of its own. Closed and removed when dropped.
pub struct Local {
    pub runtime: Runtime,
    pub folder: Folder,
}

impl Local {
    pub fn new(plugins: Vec<Arc<dyn Plugin>>, settings: &[(&str, &str)]) -> Local {
        let folder = Folder::new();
        Local { runtime: folder.open(plugins, settings), folder }
    }

    /// A runtime for a user with this home directory.
    pub fn at_home(home: &str, plugins: Vec<Arc<dyn Plugin>>, settings: &[(&str, &str)]) -> Local {
        let folder = Folder::new();
        let kit = Kit::new(plugins).with_home(Some(home.into()));
        Local { runtime: folder.open_kit(kit, settings), folder }
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        self.runtime.close();
    }
}
