//! The context of every command: locations, settings, build, and output.

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

/// The context of one command.
pub(crate) struct World {
    pub(crate) out: Output,
    pub(crate) table: Arc<Table>,
    pub(crate) locations: Locations,
    /// The `--db` flag, for processes that this one starts.
    pub(crate) db: Option<PathBuf>,
    /// Settings given on the line, for this process only.
    pub(crate) settings: Vec<(ConfigKey, String)>,
    pub(crate) build: Build,
}

impl World {
    /// The effective settings.
    pub(crate) fn config(&self) -> Result<Config, OpError> {
        let mut config = config(&self.table, &self.locations)?;
        for (key, value) in &self.settings {
            config.set(key, value).map_err(|why| OpError::invalid(key.key, why))?;
        }
        Ok(config)
    }

    /// Notes that the settings are invalid, for commands that work without them.
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

/// The settings from the file and the environment.
pub(crate) fn config(table: &Table, locations: &Locations) -> Result<Config, OpError> {
    runtime::config::load(table, &locations.config_file, &var)
}

/// An environment variable; an empty one counts as unset.
pub(crate) fn var(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Opens a runtime with new plugins: a process may become PRIMARY more than once.
pub(crate) fn open(
    locations: &Locations,
    config: Config,
    one_shot: bool,
) -> Result<Runtime, OpError> {
    open_within(locations, config, one_shot, None)
}

/// Opens a runtime for an agent: the spool is drained until this time at most.
pub(crate) fn open_within(
    locations: &Locations,
    config: Config,
    one_shot: bool,
    until: Option<Instant>,
) -> Result<Runtime, OpError> {
    Runtime::open_within(setup(locations, config, one_shot)?, until)
}

/// Opens the store read-only, whichever process holds the lock.
pub(crate) fn look(locations: &Locations, config: Config) -> Result<Runtime, OpError> {
    Runtime::open_read_only(setup(locations, config, true)?)
}

fn setup(locations: &Locations, config: Config, one_shot: bool) -> Result<RuntimeSetup, OpError> {
    let level = Level::parse(config.text("log.level")).ok_or_else(|| {
        OpError::invalid("log.level", "the log level must be error, warn, info or debug")
    })?;
    server::platform::survive_file_limits()
        .map_err(|error| OpError::internal(format!("no signal handlers: {error}")))?;
    let log = if one_shot { Log::none() } else { Log::to_file(&locations.daemon_log(), level) };
    Ok(RuntimeSetup { kit: kit(), locations: locations.clone(), config, one_shot, log })
}
