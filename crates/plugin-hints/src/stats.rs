//! `hint_stats`: the number of hints by type, the most used ones, and the remaining quotas.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use contract::pretty::pretty;
use contract::{CliShape, Cx, Example, Op, OpInfo, Pretty};
use model::hint::Ttl;
use model::{OpError, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::held::Held;
use crate::memory::Memory;
use crate::settings::HintSettings;

pub(crate) struct HintStats {
    pub(crate) memory: Arc<Memory>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HintStatsParams {}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct HintStatsOutput {
    /// All hints; one key may have several.
    hints: usize,
    /// Distinct names (component and key).
    keys: usize,
    components: usize,
    /// Hints that share their key with another and differ in scope.
    variants: usize,
    lifetimes: Lifetimes,
    /// Hints marked as secret.
    secrets: usize,
    /// Bumps of all hints together.
    uses: u64,
    /// The ten most frequent tags.
    top_tags: Vec<TagCount>,
    /// The ten most used hints.
    most_used: Vec<Used>,
    quotas: Quotas,
}

/// The lifetimes of the hints.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
struct Lifetimes {
    /// Until the daemon ends.
    session: usize,
    /// For a time after their last change.
    duration: usize,
    forever: usize,
}

/// A tag and how many hints have it.
#[derive(Serialize, Deserialize, JsonSchema)]
struct TagCount {
    tag: String,
    hints: usize,
}

/// A hint that was bumped.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Used {
    component: String,
    key: String,
    use_count: u64,
}

/// The quotas and what is left of them.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Quotas {
    hints: Quota,
    components: Quota,
    /// Of the component with the most hints.
    hints_of_component: Quota,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Quota {
    limit: usize,
    left: usize,
}

impl Quota {
    fn new(limit: usize, used: usize) -> Quota {
        Quota { limit, left: limit.saturating_sub(used) }
    }
}

impl Op for HintStats {
    const INFO: OpInfo = OpInfo {
        name: "hint_stats",
        summary: "Count the hints and say how much room is left",
        doc: "For people and programs that look after the hints: their number, their use, and the room that \
              the quotas leave.",
        toolset: "hints",
        brief: None,
        aliases: &["nudge.stats", "nudge_stats"],
        cli: CliShape {
            path: &["hint", "stats"],
            pretty: Some(pretty::<Self>),
            starts_daemon: true,
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "After a hint was set and used",
            before: &[
                (
                    "set_hint",
                    r#"{"component":"api","key":"test","value":"make test","meta":{"tags":["test"]}}"#,
                ),
                ("bump_hint", r#"{"component":"api","key":"test"}"#),
            ],
            params: "{}",
        }],
        ..OpInfo::BASE
    };
    type Params = HintStatsParams;
    type Output = HintStatsOutput;

    fn run(&self, cx: &Cx<'_>, _: HintStatsParams) -> Result<HintStatsOutput, OpError> {
        let settings = HintSettings::of(cx.config, cx.caller.tier);
        let index = self.memory.read();
        let mut counted = Counted::default();
        for held in index.all(cx.now) {
            counted.add(held);
        }
        Ok(counted.told(settings.max))
    }
}

/// The counts so far.
#[derive(Default)]
struct Counted<'i> {
    hints: usize,
    by_component: BTreeMap<&'i str, usize>,
    by_key: BTreeMap<(&'i str, &'i str), usize>,
    lifetimes: Lifetimes,
    secrets: usize,
    uses: u64,
    tags: BTreeMap<&'i str, usize>,
    used: Vec<&'i Held>,
}

impl<'i> Counted<'i> {
    fn add(&mut self, held: &'i Held) {
        let (name, meta) = (&held.stored.name, &held.stored.meta);
        self.hints += 1;
        *self.by_component.entry(&name.component).or_default() += 1;
        *self.by_key.entry((&name.component, &name.key)).or_default() += 1;
        match meta.lifetime() {
            Ttl::Session => self.lifetimes.session += 1,
            Ttl::For(_) => self.lifetimes.duration += 1,
            Ttl::Forever => self.lifetimes.forever += 1,
        }
        self.secrets += usize::from(meta.is_secret());
        // A repeated tag counts once. Tags of a secret hint do not count: they may be secret too.
        let told: &[String] = if meta.is_secret() { &[] } else { &meta.tags };
        for tag in told.iter().collect::<BTreeSet<_>>() {
            *self.tags.entry(tag).or_default() += 1;
        }
        self.uses = self.uses.saturating_add(held.stored.use_count);
        if held.stored.use_count > 0 {
            self.used.push(held);
        }
    }

    fn told(mut self, max: usize) -> HintStatsOutput {
        // Ties stay in the order of the names.
        let mut tags: Vec<(&str, usize)> = self.tags.into_iter().collect();
        tags.sort_by_key(|(_, hints)| std::cmp::Reverse(*hints));
        self.used.sort_by_key(|held| std::cmp::Reverse(held.stored.use_count));
        let used = self.used.into_iter().take(limits::HINT_STATS_TOP).map(|held| Used {
            component: held.stored.name.component.clone(),
            key: held.stored.name.key.clone(),
            use_count: held.stored.use_count,
        });
        let fullest = self.by_component.values().copied().max().unwrap_or_default();
        HintStatsOutput {
            hints: self.hints,
            keys: self.by_key.len(),
            components: self.by_component.len(),
            variants: self.by_key.values().filter(|hints| **hints > 1).sum(),
            lifetimes: self.lifetimes,
            secrets: self.secrets,
            uses: self.uses,
            top_tags: tags
                .into_iter()
                .take(limits::HINT_STATS_TOP)
                .map(|(tag, hints)| TagCount { tag: tag.to_owned(), hints })
                .collect(),
            most_used: used.collect(),
            quotas: Quotas {
                hints: Quota::new(max, self.hints),
                components: Quota::new(limits::HINT_COMPONENTS_MAX, self.by_component.len()),
                hints_of_component: Quota::new(limits::HINTS_PER_COMPONENT_MAX, fullest),
            },
        }
    }
}

impl Pretty for HintStats {
    fn pretty(_: &HintStatsParams, output: &HintStatsOutput, _: usize) -> String {
        let Lifetimes { session, duration, forever } = output.lifetimes;
        let mut lines = vec![
            format!(
                "hints:      {} under {} in {}, {} of them variants",
                output.hints,
                text::counted(output.keys, "key"),
                text::counted(output.components, "component"),
                output.variants
            ),
            format!(
                "lifetime:   {session} for the session, {duration} for a while, {forever} forever"
            ),
            format!("secrets:    {}", output.secrets),
            format!("uses:       {}", output.uses),
        ];
        let tags = output.top_tags.iter().map(|TagCount { tag, hints }| format!("{tag} ({hints})"));
        let used = output
            .most_used
            .iter()
            .map(|Used { component, key, use_count }| format!("{component}/{key} ({use_count})"));
        let tags: Vec<String> = tags.collect();
        for (label, items) in [("top tags:", tags), ("most used:", used.collect())] {
            if !items.is_empty() {
                lines.push(format!("{label:12}{}", items.join(", ")));
            }
        }
        let room = |quota: &Quota| format!("{} of {}", quota.left, quota.limit);
        lines.push(format!(
            "room left:  {} hints, {} components, {} hints in the fullest component",
            room(&output.quotas.hints),
            room(&output.quotas.components),
            room(&output.quotas.hints_of_component)
        ));
        lines.join("\n")
    }
}
