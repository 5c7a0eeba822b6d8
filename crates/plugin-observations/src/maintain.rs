//! `maintain`: deletes expired records, repairs damaged rows, and compacts the index and the file.

use std::borrow::Cow;
use std::collections::BTreeMap;

use contract::pretty::pretty;
use contract::{Access, CliShape, Cx, Example, Op, OpInfo, Pretty, Tier};
use model::{OpError, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::retention::{self, Swept};
use store::{Tx, Write, Written, damaged, index_health, passages};

use crate::examples;
use crate::settings;

pub(crate) struct Maintain;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MaintainParams {
    /// First delete all expired records; without it none are deleted.
    #[serde(default)]
    sweep: bool,
    /// Rebuild the full-text index from the records.
    #[serde(default)]
    rebuild_index: bool,
    /// Only repair damaged rows and a damaged full-text index, and leave everything else as it is.
    #[serde(default)]
    repair: bool,
}

#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct MaintainOutput {
    /// The number of records that the sweep deleted, by type; left out without a sweep.
    #[serde(skip_serializing_if = "Option::is_none")]
    swept: Option<BTreeMap<String, u64>>,
    /// Damaged rows that were repaired; left out if there were none. Damaged records are kept until they are purged.
    #[serde(skip_serializing_if = "Option::is_none")]
    repaired: Option<u64>,
    /// `rebuilt`, `optimised`, or with `repair` also `sound`. A damaged index is always rebuilt.
    index: Cow<'static, str>,
    /// Whether the file was rewritten without gaps.
    compacted: bool,
}

impl Op for Maintain {
    const INFO: OpInfo = OpInfo {
        name: "maintain",
        summary: "Repair rows, optimise the index, reclaim disk space; with sweep delete expired records",
        doc: "It is seldom needed: expired records are deleted automatically, a batch at a time, while sessions are recorded. \
              With `sweep` all of them are deleted at once, for example after a setting of retention was changed; a daemon \
              that was running then keeps the old setting until it is stopped. \
              Pinned records stay. Events that arrive meanwhile are not lost.",
        access: Access::Write { destructive: true, idempotent: true },
        tiers: &[Tier::Person, Tier::Client],
        toolset: "memory",
        cli: CliShape {
            path: &["maintain"],
            flag_aliases: &[("rebuild_index", "rebuild-fts")],
            pretty: Some(pretty::<Self>),
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "All of it",
            before: examples::A_SESSION,
            params: r#"{"sweep":true,"rebuild_index":true}"#,
        }],
        job: true,
        deadline: limits::CARE_DEADLINE,
        ..OpInfo::BASE
    };
    type Params = MaintainParams;
    type Output = MaintainOutput;

    fn run(&self, cx: &Cx<'_>, params: MaintainParams) -> Result<MaintainOutput, OpError> {
        let swept = match params.sweep {
            true => Some(by_type(&sweep_all(cx)?)),
            false => None,
        };
        if params.repair {
            return repair(cx).map(|output| MaintainOutput { swept, ..output });
        }
        let rebuild = params.rebuild_index;
        if rebuild {
            turn(cx, passages::rebuild)?;
            let progress = |done, all| cx.store.progress("rebuilding the index", done, Some(all));
            cx.store.whole().index_all(&progress)?;
        }
        cx.store.progress("optimising the index", 0, None)?;
        let index = if rebuild { "rebuilt" } else { "optimised" };
        let index = Cow::Borrowed(index);
        let output = MaintainOutput { swept, repaired: None, index, compacted: true };
        let output = cx.store.write(move |tx| {
            let repaired = Some(damaged::mend(tx)?).filter(|count| *count > 0);
            let mut output = MaintainOutput { repaired, ..output.clone() };
            if passages::optimize(tx)? {
                output.index = "rebuilt".into();
            }
            Ok(output)
        })?;
        cx.store.progress("compacting the file", 0, None)?;
        cx.store.whole().compact()?;
        Ok(output)
    }
}

/// Repairs damaged rows and a damaged index, for `doctor --fix`.
fn repair(cx: &Cx<'_>) -> Result<MaintainOutput, OpError> {
    cx.store.write(|tx| {
        let repaired = Some(damaged::mend(tx)?).filter(|count| *count > 0);
        let index = if index_health::mend(tx)?.is_some() { "rebuilt" } else { "sound" };
        Ok(MaintainOutput { swept: None, repaired, index: index.into(), compacted: false })
    })
}

/// Deletes all expired records, in several transactions, so that other writers run in between.
fn sweep_all(cx: &Cx<'_>) -> Result<Swept, OpError> {
    let (rules, now) = (settings::rules(cx.config), cx.now);
    let mut swept = Swept::default();
    while !swept.finished {
        let rules = rules.clone();
        let done: u64 = swept.by_kind.iter().map(|(_, count)| count).sum();
        cx.store.progress("deleting expired records", done, None)?;
        swept.add(turn(cx, move |tx| retention::sweep(tx, &rules, now, limits::SWEEP_TURN))?);
    }
    Ok(swept)
}

fn by_type(swept: &Swept) -> BTreeMap<String, u64> {
    swept.by_kind.iter().map(|(kind, count)| ((*kind).to_owned(), *count)).collect()
}

/// Runs one of several transactions, so that other writers can write in between. The value of `f` is not
/// the stored answer of the call: that is the value of the last `cx.store.write`.
pub(crate) fn turn<T: Serialize + Send + 'static>(
    cx: &Cx<'_>,
    f: impl FnMut(&Tx<'_>) -> Result<T, OpError> + Send + 'static,
) -> Result<T, OpError> {
    match cx.store.whole().write(Write { at: cx.now, ..Write::default() }, f)? {
        Written::Done(value) => Ok(value),
        Written::Repeated(_) => {
            Err(OpError::internal("a write without a call id was answered before"))
        }
    }
}

impl Pretty for Maintain {
    fn pretty(_: &MaintainParams, output: &MaintainOutput, _: usize) -> String {
        let mut lines = Vec::new();
        if let Some(swept) = &output.swept {
            let kinds: Vec<String> =
                swept.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
            lines.push(match swept.values().sum::<u64>() {
                0 => "✔ no record has expired".to_owned(),
                total => {
                    format!(
                        "✔ removed {}: {}",
                        text::counted(total, "old record"),
                        kinds.join(", ")
                    )
                }
            });
        }
        if let Some(count) = output.repaired {
            lines.push(format!("✔ repaired {}", text::counted(count, "damaged row")));
        }
        let compacted = if output.compacted { ", file compacted" } else { "" };
        lines.push(format!("✔ index {}{compacted}", output.index));
        lines.join("\n")
    }
}
