//! The state of a process that answers calls: table, store, settings, bus, log.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Instant;

use contract::{Config, End, Plugin, Table};
use model::hook::HookEvent;
use model::locations::Locations;
use model::wire::EnvNames;
use model::{Code, OpError, limits};
use place::Places;
use store::{OnOpen, Options, Publish, Store, StoreError, Write, hook_events};

use crate::builtin::Builtin;
use crate::bus::Bus;
use crate::capture::Recorder;
use crate::clock;
use crate::commits::Commits;
use crate::config::LoadedFile;
use crate::doctor::MachineChecks;
use crate::host::Host;
use crate::jobs::Jobs;
use crate::log::Log;
use crate::plugin_events::PluginEvents;
use crate::pool::Pool;

/// The plugins of this build and their table. Cheap to create; opens no file.
pub struct Kit {
    pub table: Arc<Table>,
    plugins: Vec<Arc<dyn Plugin>>,
    builtin: Arc<Builtin>,
    home: Option<PathBuf>,
    machine: Option<MachineChecks>,
}

impl Kit {
    pub fn new(mut plugins: Vec<Arc<dyn Plugin>>) -> Kit {
        let builtin = Arc::new(Builtin::default());
        plugins.push(builtin.clone());
        Kit { table: Arc::new(Table::new(&plugins)), plugins, builtin, home: None, machine: None }
    }

    /// Sets the user's home directory, which is not a project.
    #[must_use]
    pub fn with_home(self, home: Option<PathBuf>) -> Kit {
        Kit { home, ..self }
    }

    /// Sets the program's checks of this machine, which `doctor` adds to its own.
    #[must_use]
    pub fn with_machine_checks(self, machine: MachineChecks) -> Kit {
        Kit { machine: Some(machine), ..self }
    }
}

/// The parts that a runtime is opened with.
pub struct RuntimeSetup {
    pub kit: Kit,
    pub locations: Locations,
    pub config: Config,
    /// A command that opens the store itself, runs one operation and exits.
    pub one_shot: bool,
    pub log: Log,
}

/// Refuses a path that has another kind of file, or where no database can be created, before anything is created.
pub fn check_database(locations: &Locations) -> Result<(), OpError> {
    let checked = store::check_file(&locations.database, &locations.records());
    checked.map_err(|error| {
        let refused = matches!(
            error,
            StoreError::Refused { .. } | StoreError::LostId { .. } | StoreError::Occupied { .. }
        );
        let error = OpError::from(error);
        // A wrong path is the caller's mistake. Other errors of the store may pass with a retry; this one cannot.
        if refused { OpError { code: Code::Invalid, ..error }.with("param", "db") } else { error }
    })
}

/// Everything needed to answer calls. Cheap to clone.
#[derive(Clone)]
pub struct Runtime {
    pub(crate) inner: Arc<RuntimeInner>,
}

pub(crate) struct RuntimeInner {
    pub(crate) table: Arc<Table>,
    pub(crate) plugins: Arc<Vec<Arc<dyn Plugin>>>,
    pub(crate) builtin: Arc<Builtin>,
    pub(crate) machine: Option<MachineChecks>,
    pub(crate) places: Arc<Places>,
    pub(crate) store: Store,
    pub(crate) config: Arc<Config>,
    pub(crate) settings: LoadedFile,
    pub(crate) locations: Locations,
    pub(crate) bus: Arc<Bus>,
    pub(crate) commits: Commits,
    pub(crate) log: Log,
    pub(crate) pool: Pool,
    pub(crate) plugin_events: PluginEvents,
    pub(crate) clock: fn() -> i64,
    pub(crate) host: OnceLock<Arc<dyn Host>>,
    pub(crate) spool: crate::spool::Spool,
    pub(crate) behind_spool: crate::behind_spool::BehindSpool,
    pub(crate) session_locks: crate::tell::SessionLocks,
    pub(crate) tool_calls: crate::tool_calls::ToolCalls,
    pub(crate) jobs: Arc<Jobs>,
    /// The process runs one operation and exits.
    pub(crate) one_shot: bool,
}

/// The limit of the database's size in pages, if there is one.
fn page_count_max(config: &Config) -> Option<u32> {
    u32::try_from(config.integer("store.max_pages")).ok().filter(|pages| *pages > 0)
}

impl Runtime {
    /// Opens the store, hands it to the plugins and ingests the spool. The caller holds the daemon's lock, so no
    /// other process writes to this database.
    pub fn open(setup: RuntimeSetup) -> Result<Runtime, OpError> {
        Runtime::open_within(setup, None)
    }

    /// Opens the runtime for an agent that waits for its answer: events that are not ingested by the deadline stay in
    /// the spool for the next process.
    pub fn open_within(setup: RuntimeSetup, until: Option<Instant>) -> Result<Runtime, OpError> {
        Runtime::open_by(Store::open, setup, until)
    }

    /// Opens the store read-only, even if another process holds the daemon's lock: nothing is written, created,
    /// repaired or ingested.
    pub fn open_read_only(setup: RuntimeSetup) -> Result<Runtime, OpError> {
        Runtime::open_by(Store::open_to_read, setup, None)
    }

    fn open_by(
        open: fn(Options, OnOpen, Publish) -> Result<Store, StoreError>,
        setup: RuntimeSetup,
        until: Option<Instant>,
    ) -> Result<Runtime, OpError> {
        let RuntimeSetup { kit, locations, config, one_shot, log } = setup;
        let plugins = Arc::new(kit.plugins);
        let bus = Arc::new(Bus::default());
        let options = Options {
            path: locations.database.clone(),
            one_shot,
            backups: locations.backups(),
            spools: locations.spools().to_vec(),
            records: locations.records(),
            identity_locks: Some(locations.identity_locks()),
            meaning: config.boolean("search.meaning"),
            more: plugins.iter().flat_map(|plugin| plugin.aggregates()).copied().collect(),
            page_count_max: page_count_max(&config),
            clock: clock::now_ms,
        };
        let (opened, publisher) = (plugins.clone(), bus.clone());
        let bound: Arc<OnceLock<Weak<RuntimeInner>>> = Arc::default();
        let has_listeners = plugins.iter().any(|plugin| !plugin.listens_to().is_empty());
        let listening = bound.clone();
        let store = open(
            options,
            Box::new(move |tx, how| opened.iter().try_for_each(|plugin| plugin.opened(tx, how))),
            Box::new(move |events| {
                if has_listeners && let Some(inner) = listening.get().and_then(Weak::upgrade) {
                    inner.hand_to_plugins(&events);
                }
                publisher.publish(events);
            }),
        )?;
        let inner = Arc::new(RuntimeInner {
            spool: crate::spool::Spool::new(locations.spools(), locations.uid()),
            session_locks: crate::tell::SessionLocks::default(),
            tool_calls: crate::tool_calls::ToolCalls::default(),
            jobs: Arc::default(),
            one_shot,
            behind_spool: crate::behind_spool::BehindSpool::default(),
            table: kit.table,
            plugins,
            builtin: kit.builtin,
            machine: kit.machine,
            places: Arc::new(Places::new(kit.home)),
            commits: Commits::of(&store),
            store,
            config: Arc::new(config),
            settings: LoadedFile::from(&locations.config_file),
            locations,
            bus,
            log,
            pool: Pool::new(),
            plugin_events: PluginEvents::default(),
            clock: clock::now_ms,
            host: OnceLock::new(),
        });
        inner.builtin.bind(Arc::downgrade(&inner));
        // Set once, here.
        let _ = bound.set(Arc::downgrade(&inner));
        let since = clock::now_ms() - millis(limits::SESSION_QUIET);
        // Restores the live sessions that an earlier daemon saw.
        for record in inner.store.read(|rx| hook_events::since(rx, since))? {
            inner.builtin.saw(&record);
        }
        if !inner.store.only_reads() {
            inner.spool.sweep();
            inner.fail_interrupted_jobs();
            inner.index_as_job();
        }
        inner.ingest_spool(until);
        for notice in inner.store.notices() {
            inner.log.warn("store", format_args!("{notice}"));
        }
        Ok(Runtime { inner })
    }

    pub fn table(&self) -> &Table {
        &self.inner.table
    }

    pub fn config(&self) -> &Config {
        &self.inner.config
    }

    pub fn locations(&self) -> &Locations {
        &self.inner.locations
    }

    pub fn log(&self) -> &Log {
        &self.inner.log
    }

    /// Records these events, all or none, without a reply to an agent.
    pub fn ingest(&self, events: Vec<HookEvent>) -> Result<(), OpError> {
        self.inner.ingest_events(events)
    }

    /// Sets the daemon that hosts this runtime.
    pub fn attach_host(&self, host: Arc<dyn Host>) {
        // A process hosts at most one daemon; a second call would be a defect and is ignored.
        let _ = self.inner.host.set(host);
    }

    /// Checks the whole database and repairs it if it is damaged; slow on a large one.
    pub fn mend(&self) {
        match self.inner.store.mend() {
            Ok(health) => {
                self.inner.log.info("store", format_args!("checked: {:?}", health.integrity))
            }
            Err(error) => {
                self.inner.log.error("store", format_args!("not mended: {}", error.message))
            }
        }
    }

    /// The environment variables that stored scopes need.
    pub fn asks_env(&self) -> Arc<EnvNames> {
        let mut lists: Vec<Arc<EnvNames>> =
            self.inner.plugins.iter().map(|plugin| plugin.asks_env()).collect();
        lists.retain(|list| !list.names.is_empty());
        match lists.as_slice() {
            [] => Arc::default(),
            [one] => one.clone(),
            several => Arc::new(EnvNames::new(several.iter().flat_map(|list| &list.names))),
        }
    }

    /// Starts to ingest the spool, if it has events, and lets the plugins remove expired entries. Does not wait for
    /// it.
    pub fn sweep(&self) {
        self.inner.ingest_in_background();
        let now = (self.inner.clock)();
        if !self.inner.plugins.iter().any(|plugin| plugin.has_expired(now)) {
            return;
        }
        let inner = self.inner.clone();
        self.inner.pool.run(Box::new(move |admitted| {
            if admitted.is_err() {
                return;
            }
            let plugins = inner.plugins.clone();
            let write = Write { at: now, ..Write::default() };
            let swept = inner.store.write(write, move |tx| {
                plugins.iter().try_for_each(|plugin| plugin.sweep(tx, now))
            });
            if let Err(error) = swept {
                inner.log.warn("sweep", format_args!("not swept: {}", error.code.row().word));
            }
        }));
    }

    /// The number of entries that a clean end would clear.
    pub fn held(&self) -> usize {
        self.inner.plugins.iter().map(|plugin| plugin.held()).sum()
    }

    /// Agent sessions that started, did not end, and sent an event lately.
    pub fn live_sessions(&self) -> usize {
        self.inner.builtin.live_sessions((self.inner.clock)() - millis(limits::SESSION_QUIET))
    }

    /// The session in which an agent called one of our tools, by the agent's id of the call, if its hook reported it.
    pub fn session_of_tool_call(&self, id: &str) -> Option<String> {
        self.inner.tool_calls.session(id)
    }

    /// Ends the plugins, then closes the store.
    pub fn end(&self, end: End) -> Result<(), OpError> {
        let plugins = self.inner.plugins.clone();
        let write = Write { at: (self.inner.clock)(), ..Write::default() };
        let ended = self
            .inner
            .store
            .write(write, move |tx| plugins.iter().try_for_each(|plugin| plugin.ended(tx, end)));
        self.inner.store.close();
        ended.map(drop)
    }

    /// Closes the store without ending the plugins: a one-shot command is done.
    pub fn close(&self) {
        self.inner.store.close();
    }
}

impl RuntimeInner {
    pub(crate) fn recorder(&self) -> Recorder {
        Recorder {
            plugins: self.plugins.clone(),
            config: self.config.clone(),
            places: self.places.clone(),
        }
    }
}

fn millis(duration: std::time::Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
