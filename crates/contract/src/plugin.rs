//! A plugin: a compiled-in crate of operations and schemes. It never sees another plugin.

use std::sync::Arc;

use model::OpError;
use model::hook::HookEvent;
use model::situation::Situation;
use model::wire::EnvNames;
use store::{Opened, Rx, Tx};

use crate::candidate::{Candidate, Moment, Occasion};
use crate::config::{Config, ConfigKey};
use crate::op::Operation;
use crate::scheme::Scheme;

/// How the daemon ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// For good: what lives for one boot is cleared.
    Clean,
    /// Other clients are attached: the next PRIMARY carries on with everything.
    HandOver,
}

/// A crate of operations and schemes, and its part in the life of the daemon.
pub trait Plugin: Send + Sync {
    fn name(&self) -> &'static str;

    fn operations(&self) -> Vec<Operation>;

    fn schemes(&self) -> Vec<Arc<dyn Scheme>> {
        Vec::new()
    }

    /// What the groups of its commands are about: the first word and a line, without a full stop.
    fn command_groups(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// The settings this plugin reads.
    fn config(&self) -> &'static [ConfigKey] {
        &[]
    }

    /// Called in a transaction whenever a database was opened: at the start, and again when the
    /// file vanished or was replaced while running.
    fn opened(&self, _tx: &Tx<'_>, _how: Opened) -> Result<(), OpError> {
        Ok(())
    }

    /// Called before the transaction that records an event: who has to look at files does it here,
    /// so that no disk but the store's holds up the writer.
    fn expect(&self, _event: &HookEvent) {}

    /// Keeps what it wants of an agent's event, in the transaction that records the event. The
    /// writer may run it more than once; only the last run counts.
    fn observe(&self, _event: &HookEvent, _tx: &Tx<'_>, _config: &Config) -> Result<(), OpError> {
        Ok(())
    }

    /// Whether it may have something to tell on such an occasion. It is asked with every event and on
    /// the writer's thread, so the answer has to be at hand: whoever has to look says yes.
    fn may_tell(&self, _occasion: &Occasion<'_>, _config: &Config) -> bool {
        true
    }

    /// What it would tell the agent now. It is asked after the event was committed.
    fn candidates(&self, _moment: &Moment<'_>) -> Result<Vec<Candidate>, OpError> {
        Ok(Vec::new())
    }

    /// Whether the user asked for silence at this moment: then nobody tells the agent anything.
    fn is_silent(&self, _moment: &Moment<'_>) -> Result<bool, OpError> {
        Ok(false)
    }

    /// What somebody who stands there and asks for the status should know of it, one line each.
    fn notes(
        &self,
        _rx: &Rx<'_>,
        _now: i64,
        _situation: &Situation,
    ) -> Result<Vec<String>, OpError> {
        Ok(Vec::new())
    }

    /// Called in a transaction when the daemon ends.
    fn ended(&self, _tx: &Tx<'_>, _end: End) -> Result<(), OpError> {
        Ok(())
    }

    /// The environment variables that its scopes ask for: with a call, clients send these and no
    /// others. It is asked with every call, so the list has to be at hand.
    fn asks_env(&self) -> Arc<EnvNames> {
        Arc::default()
    }

    /// Whether something of it has outlived its time and is to be removed. It is asked every few
    /// seconds, so the answer has to be at hand.
    fn has_expired(&self, _now: i64) -> bool {
        false
    }

    /// Removes what has outlived its time.
    fn sweep(&self, _tx: &Tx<'_>, _now: i64) -> Result<(), OpError> {
        Ok(())
    }

    /// How many things the plugin holds that would be cleared by a clean end. A daemon that holds
    /// some stays much longer after its last client.
    fn held(&self) -> usize {
        0
    }
}
