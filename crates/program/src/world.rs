//! What every command needs to know: places, settings, build, and where to print.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use cli::Output;
use contract::{Config, ConfigKey, Table};
use model::OpError;
use model::locations::Locations;
use model::wire::Build;
use runtime::log::{Level, Log};
use runtime::{Runtime, RuntimeSetup};

use crate::kit::kit;

/// The surroundings of one command.
pub(crate) struct World {
    pub(crate) out: Output,
    pub(crate) table: Arc<Table>,
    pub(crate) locations: Locations,
    /// The `--db` flag, for processes this one starts.
    pub(crate) db: Option<PathBuf>,
    /// Settings that the line gives, for this process alone.
    pub(crate) settings: Vec<(ConfigKey, String)>,
    pub(crate) build: Build,
}

impl World {
    /// The settings in force.
    pub(crate) fn config(&self) -> Result<Config, OpError> {
        let mut config = config(&self.table, &self.locations)?;
        for (key, value) in &self.settings {
            config.set(key, value).map_err(|why| OpError::invalid(key.key, why))?;
        }
        Ok(config)
    }

    /// Says that the settings are broken, where the command can do its work without them.
    pub(crate) fn note_broken_settings(&mut self) {
        if let Err(error) = self.config() {
            self.out.note(&format!("warning: {}", error.message));
        }
    }

    /// Opens the store in this process. The caller holds the lock.
    pub(crate) fn open(&self, one_shot: bool) -> Result<Runtime, OpError> {
        open(&self.locations, self.config()?, one_shot)
    }
}

/// The settings of the file and of the environment.
pub(crate) fn config(table: &Table, locations: &Locations) -> Result<Config, OpError> {
    runtime::config::load(table, &locations.config_file, &var)
}

/// What this process's environment says; a name that is set to nothing says nothing.
pub(crate) fn var(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Opens a runtime with a fresh kit: a process may become PRIMARY more than once.
pub(crate) fn open(
    locations: &Locations,
    config: Config,
    one_shot: bool,
) -> Result<Runtime, OpError> {
    open_within(locations, config, one_shot, None)
}

/// The same for an agent that does not wait longer than this for what the spool holds.
pub(crate) fn open_within(
    locations: &Locations,
    config: Config,
    one_shot: bool,
    until: Option<Instant>,
) -> Result<Runtime, OpError> {
    Runtime::open_within(setup(locations, config, one_shot)?, until)
}

/// Opens what is there for reading alone, whoever holds the lock.
pub(crate) fn look(locations: &Locations, config: Config) -> Result<Runtime, OpError> {
    Runtime::open_read_only(setup(locations, config, true)?)
}

fn setup(locations: &Locations, config: Config, one_shot: bool) -> Result<RuntimeSetup, OpError> {
    let level = Level::parse(config.text("log.level")).ok_or_else(|| {
        OpError::invalid("log.level", "the log level is none of error, warn, info, debug")
    })?;
    server::platform::survive_file_limits()
        .map_err(|error| OpError::internal(format!("no signal handlers: {error}")))?;
    let log = if one_shot { Log::none() } else { Log::to_file(&locations.daemon_log(), level) };
    Ok(RuntimeSetup { kit: kit(), locations: locations.clone(), config, one_shot, log })
}
