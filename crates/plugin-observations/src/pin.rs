//! `pin_observation` and `unpin_observation`: a pinned record is exempt from retention and comes first in
//! its section of a briefing.

use contract::pretty::pretty;
use contract::{Access, CliShape, Cx, Example, Op, OpInfo, Pretty};
use model::OpError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Rx, observations};

use crate::{examples, record_id};

pub(crate) struct PinObservation;
pub(crate) struct UnpinObservation;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PinParams {
    /// Id of a record: an observation, a prompt or a summary.
    #[serde(deserialize_with = "record_id::one")]
    id: i64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct PinOutput {
    id: i64,
    is_pinned: bool,
    /// Whether the call changed anything; false if the record was pinned, or unpinned, before.
    changed: bool,
}

impl Op for PinObservation {
    const INFO: OpInfo = OpInfo {
        name: "pin_observation",
        summary: "Keep a record for good and show it first",
        doc: "A pinned record never expires and comes first in its section of a briefing. A purge deletes it all the same. \
              Pinning twice changes nothing.",
        access: Access::Write { destructive: false, idempotent: true },
        toolset: "memory",
        cli: CliShape {
            path: &["pin"],
            positional: &["id"],
            pretty: Some(pretty::<Self>),
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "Keep an edit",
            before: examples::A_SESSION,
            params: r#"{"id":3}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = PinParams;
    type Output = PinOutput;

    fn run(&self, cx: &Cx<'_>, params: PinParams) -> Result<PinOutput, OpError> {
        set(cx, params.id, true)
    }
}

impl Op for UnpinObservation {
    const INFO: OpInfo = OpInfo {
        name: "unpin_observation",
        summary: "Undo the pin of a record, so that it can expire",
        doc: "The opposite of pin_observation. Unpinning twice changes nothing.",
        access: Access::Write { destructive: false, idempotent: true },
        toolset: "memory",
        cli: CliShape {
            path: &["unpin"],
            positional: &["id"],
            pretty: Some(pretty::<Self>),
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "An edit that is settled",
            before: examples::A_SESSION,
            params: r#"{"id":3}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = PinParams;
    type Output = PinOutput;

    fn run(&self, cx: &Cx<'_>, params: PinParams) -> Result<PinOutput, OpError> {
        set(cx, params.id, false)
    }
}

fn set(cx: &Cx<'_>, id: i64, is_pinned: bool) -> Result<PinOutput, OpError> {
    cx.store.write(move |tx| {
        let Some(changed) = observations::pin(tx, id, is_pinned)? else {
            return Err(cannot_pin(tx, id)?);
        };
        Ok(PinOutput { id, is_pinned, changed })
    })
}

/// The error for the id of a record without a pin, or of no record.
fn cannot_pin(rx: &Rx<'_>, id: i64) -> Result<OpError, OpError> {
    let other = observations::one(rx, id)?.map(|record| record.obs_type);
    let error = match other {
        Some(kind) => OpError::invalid("id", format!("#{id} is of the type {} and has no pin", kind.word()))
            .hint("Only captured records, prompts, answers, marks and summaries are pinned; memories, experiences and values never expire."),
        None => OpError::not_found(format!("there is no #{id}"))
            .hint("`rekindle search` and `rekindle recent` show the ids of records."),
    };
    Ok(error.with("param", "id"))
}

impl Pretty for PinObservation {
    fn pretty(_: &PinParams, output: &PinOutput, _: usize) -> String {
        output.told()
    }
}

impl Pretty for UnpinObservation {
    fn pretty(_: &PinParams, output: &PinOutput, _: usize) -> String {
        output.told()
    }
}

impl PinOutput {
    fn told(&self) -> String {
        let id = self.id;
        match (self.is_pinned, self.changed) {
            (true, true) => format!("✔ pinned #{id}"),
            (false, true) => format!("✔ unpinned #{id}"),
            (true, false) => format!("#{id} was pinned already"),
            (false, false) => format!("#{id} was not pinned"),
        }
    }
}
