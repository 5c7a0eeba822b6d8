//! The one table of operations: found by name, grouped in toolsets, described as data.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::observation::ObsType;
use model::{Code, OpError, Tier, limits};
use serde_json::{Value, json};

use crate::asset::Asset;
use crate::config::ConfigKey;
use crate::feed::Feed;
use crate::op::{Access, Operation};
use crate::plugin::Plugin;
use crate::rest::RestRoute;
use crate::scheme::Scheme;
use crate::tool_form::ToolForm;

/// Toolsets that are selections, not groups.
const CORE: &str = "core";
const ALL: &str = "all";

/// Every operation and scheme of the plugins in this build.
pub struct Table {
    operations: Vec<Operation>,
    by_name: BTreeMap<&'static str, usize>,
    schemes: BTreeMap<&'static str, Arc<dyn Scheme>>,
    feeds: BTreeMap<&'static str, Arc<dyn Feed>>,
    config: Vec<ConfigKey>,
    groups: BTreeMap<&'static str, &'static str>,
    assets: Vec<Asset>,
    instructions: BTreeMap<&'static str, &'static str>,
    other_kinds: Arc<[&'static str]>,
}

impl Table {
    /// Collects the plugins' operations, sorted by name. Two operations of one name are a defect
    /// of the build, which a test finds; the first one wins.
    pub fn new(plugins: &[Arc<dyn Plugin>]) -> Table {
        let mut operations: Vec<Operation> =
            plugins.iter().flat_map(|plugin| plugin.operations()).collect();
        operations.sort_by_key(|op| op.info.name);
        let aggregates: Vec<_> =
            plugins.iter().flat_map(|plugin| plugin.aggregates()).copied().collect();
        let other_kinds: Arc<[&str]> = store::other_kinds(&aggregates).into();
        for op in &mut operations {
            op.other_kinds = other_kinds.clone();
        }
        let mut by_name = BTreeMap::new();
        for (index, op) in operations.iter().enumerate() {
            for name in std::iter::once(&op.info.name).chain(op.info.aliases) {
                by_name.entry(*name).or_insert(index);
            }
        }
        let schemes = plugins
            .iter()
            .flat_map(|plugin| plugin.schemes())
            .map(|scheme| (scheme.name(), scheme))
            .collect();
        let feeds = plugins.iter().flat_map(|plugin| plugin.feeds());
        let feeds = feeds.map(|feed| (feed.name(), feed)).collect();
        let config = plugins.iter().flat_map(|plugin| plugin.config()).copied().collect();
        let groups = plugins.iter().flat_map(|plugin| plugin.command_groups()).copied().collect();
        let assets = plugins.iter().flat_map(|plugin| plugin.assets()).copied().collect();
        let instructions = plugins
            .iter()
            .map(|plugin| (plugin.name(), plugin.instructions()))
            .filter(|(_, text)| !text.is_empty())
            .collect();
        Table {
            operations,
            by_name,
            schemes,
            feeds,
            config,
            groups,
            assets,
            instructions,
            other_kinds,
        }
    }

    /// The words for all types of records: those of observations, and the kinds that plugins bring.
    pub fn record_types(&self) -> impl Iterator<Item = &'static str> {
        ObsType::ALL.iter().map(|kind| kind.word()).chain(self.other_kinds.iter().copied())
    }

    /// The operation of this name or alias.
    pub fn find(&self, name: &str) -> Option<&Operation> {
        self.by_name.get(name).map(|index| &self.operations[*index])
    }

    /// The operation of this name, or the error every surface gives for an unknown one.
    pub fn get(&self, name: &str) -> Result<&Operation, OpError> {
        self.find(name).ok_or_else(|| {
            OpError::new(Code::UnknownMethod, format!("no operation is called '{name}'"))
                .hint("`rekindle ops` lists them all.")
        })
    }

    /// `too_large` for a call that took more bytes on the wire than its operation may use.
    pub fn check_size(&self, name: &str, bytes: usize) -> Result<(), OpError> {
        let max = limits::REQUEST_BYTES_MAX;
        if bytes <= max || self.find(name).is_some_and(|op| op.info.large) {
            return Ok(());
        }
        let message = format!("the call has {bytes} bytes, but at most {max} are accepted");
        Err(OpError::new(Code::TooLarge, message).with("max", max))
    }

    /// All operations by name.
    pub fn iter(&self) -> impl Iterator<Item = &Operation> {
        self.operations.iter()
    }

    pub fn scheme(&self, name: &str) -> Option<&Arc<dyn Scheme>> {
        self.schemes.get(name)
    }

    pub fn schemes(&self) -> impl Iterator<Item = &Arc<dyn Scheme>> {
        self.schemes.values()
    }

    /// All feeds, by name.
    pub fn feeds(&self) -> impl Iterator<Item = &Arc<dyn Feed>> {
        self.feeds.values()
    }

    /// The feed of this name.
    pub fn feed(&self, name: &str) -> Result<&Arc<dyn Feed>, OpError> {
        self.feeds.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.feeds.keys().copied().collect();
            let name: String = name.chars().take(limits::FEED_NAME_CHARS_SHOWN).collect();
            OpError::invalid("feed", format!("no feed is called '{name}'"))
                .hint(format!("Choose from: {}.", known.join(", ")))
        })
    }

    /// The description of a group of commands.
    pub fn command_group(&self, word: &str) -> Option<&'static str> {
        self.groups.get(word).copied()
    }

    /// The settings that the plugins declare.
    pub fn config_keys(&self) -> &[ConfigKey] {
        &self.config
    }

    /// The files of the page that the plugins bring along.
    pub fn assets(&self) -> &[Asset] {
        &self.assets
    }

    /// The plugins' parts of the MCP server's instructions, in the order of the plugins' names.
    pub fn instructions(&self) -> impl Iterator<Item = &'static str> {
        self.instructions.values().copied()
    }

    /// Names that `toolset` accepts: the selections and every group that has a tool.
    pub fn toolsets(&self) -> Vec<&'static str> {
        let groups: BTreeSet<&str> = self.tools().map(|op| op.info.toolset).collect();
        [CORE, ALL].into_iter().chain(groups).collect()
    }

    /// The operations that a comma-separated list of toolsets shows to an agent, by name, and how much of each.
    pub fn toolset(&self, list: &str) -> Result<Vec<(&Operation, ToolForm)>, OpError> {
        let names: Vec<&str> = list.split(',').map(str::trim).filter(|n| !n.is_empty()).collect();
        let known = self.toolsets();
        if let Some(unknown) = names.iter().find(|name| !known.contains(name)) {
            return Err(OpError::invalid("tools", format!("no toolset is called '{unknown}'"))
                .hint(format!("Choose from: {}.", known.join(", "))));
        }
        let has = |wanted: &str| names.contains(&wanted);
        let form = |op: &Operation| match () {
            () if has(ALL) || has(op.info.toolset) => Some(ToolForm::Whole),
            () if has(CORE) && op.info.core => Some(ToolForm::Short),
            () => None,
        };
        Ok(self.tools().filter_map(|op| Some((op, form(op)?))).collect())
    }

    /// The operations that an agent may call.
    fn tools(&self) -> impl Iterator<Item = &Operation> {
        self.operations.iter().filter(|op| op.info.tiers.contains(&Tier::Agent))
    }
}

impl Operation {
    /// The operation as data, for `rekindle ops NAME --json` and the reference.
    pub fn describe(&self) -> Value {
        let info = self.info;
        let (access, destructive, idempotent) = match info.access {
            Access::Read => ("read", false, true),
            Access::Write { destructive, idempotent } => ("write", destructive, idempotent),
        };
        let examples: Vec<Value> = info
            .examples
            .iter()
            .map(|example| {
                let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
                let first =
                    |(op, params): &(&str, &str)| json!({ "op": op, "params": read(params) });
                let before: Vec<Value> = example.before.iter().map(first).collect();
                json!({ "title": example.title, "before": before, "params": read(example.params) })
            })
            .collect();
        json!({
            "name": info.name,
            "aliases": info.aliases,
            "summary": info.summary,
            "doc": info.doc,
            "access": access,
            "destructive": destructive,
            "idempotent": idempotent,
            "tiers": info.tiers,
            "toolset": info.toolset,
            "core": info.core,
            "advanced": info.advanced,
            "cli": info.cli.path,
            "rest": info.rest.iter().map(RestRoute::describe).collect::<Vec<_>>(),
            "params_schema": self.params_schema(),
            "output_schema": self.output_schema(),
            "examples": examples,
        })
    }
}
