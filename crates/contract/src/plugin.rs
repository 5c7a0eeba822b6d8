//! A plugin: a compiled-in crate of operations and schemes. It never sees another plugin.

use std::sync::Arc;

use model::OpError;
use store::{Opened, Tx};

use crate::config::ConfigKey;
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

    /// Called in a transaction when the daemon ends.
    fn ended(&self, _tx: &Tx<'_>, _end: End) -> Result<(), OpError> {
        Ok(())
    }

    /// How many things the plugin holds that would be cleared by a clean end. A daemon that holds
    /// some stays much longer after its last client.
    fn held(&self) -> usize {
        0
    }
}
