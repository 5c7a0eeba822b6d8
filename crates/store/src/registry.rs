//! The list of the store's aggregates.

use crate::aggregate::{Aggregate, Registry};
use crate::{
    activity_counts, calls, check_ins, clusters, context, events, failures, ghaps, hints,
    hook_events, jobs, memories, notices, observations, origins, passages, paths, pauses, projects,
    prompts, receipts, record_ids, retention, session_details, sessions, values,
};

/// An aggregate comes before those that its rows refer to, except pauses and the passage index. Deferred work and
/// removals follow this order.
const AGGREGATES: &[&dyn Aggregate] = &[
    &activity_counts::ActivityCounts,
    &calls::Calls,
    &check_ins::CheckIns,
    &clusters::Clusters,
    &context::ContextItems,
    &session_details::SessionDetailRows,
    &events::Events,
    &failures::Failures,
    &ghaps::Ghaps,
    &hints::Hints,
    &hook_events::HookEvents,
    &jobs::Jobs,
    &values::LearnedValues,
    &notices::Notices,
    &origins::Origins,
    &receipts::Receipts,
    &memories::Memories,
    &observations::Observations,
    &prompts::Prompts,
    &sessions::Sessions,
    &paths::Paths,
    &projects::Projects,
    &record_ids::RecordIds,
    &pauses::PauseRows,
    &passages::PassageIndex,
    &retention::Sweeps,
];

/// The words for kinds of records that are no types of observations, in the order of the registry.
pub fn other_kinds(more: &[&'static dyn Aggregate]) -> Vec<&'static str> {
    let records = more.iter().chain(AGGREGATES).filter_map(|aggregate| aggregate.records());
    records.flat_map(|records| records.kinds()).copied().collect()
}

/// The kinds of records that agents and users declare, which never expire.
pub fn declared_kinds() -> impl Iterator<Item = &'static str> {
    let records = AGGREGATES.iter().filter_map(|aggregate| aggregate.records());
    records.filter(|records| records.is_declared()).flat_map(|records| records.kinds()).copied()
}

/// The registry of a store with these aggregates besides its own.
pub(crate) fn with(more: &[&'static dyn Aggregate]) -> Registry {
    Registry::new(more.iter().chain(AGGREGATES).copied().collect())
}
