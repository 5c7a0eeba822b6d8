//! `get_observations`: whole records by their ids, in the order of the ids.

use contract::pretty::{miss, pretty};
use contract::{CliShape, Cx, Example, Listed, Op, OpInfo, Pretty};
use model::observation::{ObsType, Observation};
use model::{OpError, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Map;
use store::{observations, prompts};

use crate::replaced::{self, MarkedRecord};
use crate::show;
use crate::{examples, record_id};

pub(crate) struct GetObservations;

/// Records in a member `results`; this operation fetches them whole.
pub(crate) const LISTED_RECORDS: Listed = listed_records("results");

/// How the command line prints the list of records in `member` of the result: as ids, or as whole records with
/// `--full`.
pub(crate) const fn listed_records(member: &'static str) -> Listed {
    Listed {
        member,
        id: "id",
        asked: None,
        whole: Some((&GetObservations::INFO, limits::OBSERVATION_IDS_MAX)),
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetObservationsParams {
    /// From 1 to 50.
    #[serde(deserialize_with = "record_id::many")]
    ids: Vec<i64>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct GetObservationsOutput {
    /// In the order of the ids, each once; a record that is gone is left out.
    results: Vec<MarkedRecord>,
    /// When this was answered, RFC 3339: ages count from here.
    #[serde(with = "model::time::seconds_as_rfc3339")]
    #[schemars(with = "String")]
    answered_at: i64,
}

impl Op for GetObservations {
    const INFO: OpInfo = OpInfo {
        name: "get_observations",
        summary: "Fetch whole records by id",
        doc: "For ids that search, timeline or a briefing gave you.",
        toolset: "memory",
        core: true,
        upfront: true,
        cli: CliShape {
            path: &["show"],
            positional: &["ids"],
            pretty: Some(pretty::<Self>),
            verbatim: true,
            miss: Some(miss::<Self>),
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "Read two records",
            before: examples::A_SESSION,
            params: r#"{"ids":[3,4]}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = GetObservationsParams;
    type Output = GetObservationsOutput;

    fn run(
        &self,
        cx: &Cx<'_>,
        params: GetObservationsParams,
    ) -> Result<GetObservationsOutput, OpError> {
        let max = limits::OBSERVATION_IDS_MAX;
        let ids = params.ids;
        if ids.is_empty() {
            return Err(OpError::invalid("ids", "ids array must not be empty")
                .hint("`search` gives the ids of records."));
        }
        if ids.len() > max {
            let message = format!("ids array must not exceed {max} elements");
            return Err(OpError::invalid("ids", message)
                .with("max", max)
                .hint("Ask for the others in a second call."));
        }
        let results = cx.store.read(|rx| {
            let mut records = observations::get(rx, &ids)?;
            for prompt in records.iter_mut().filter(|one| one.obs_type == ObsType::UserPrompt) {
                let Some(checkout) = prompts::checkout(rx, prompt.id)? else { continue };
                let metadata = prompt.metadata.get_or_insert_with(|| Map::new().into());
                metadata
                    .as_object_mut()
                    .into_iter()
                    .for_each(|known| known.extend(checkout.clone()));
            }
            replaced::linked(rx, records)
        })?;
        for record in &results {
            let own = format!("{}://{}", "obs", record.id);
            for path in std::iter::once(own).chain(learned_path(record)) {
                cx.note_read(cx.caller.session.as_deref(), &path);
            }
        }
        Ok(GetObservationsOutput { results, answered_at: cx.now.div_euclid(1000) })
    }
}

/// The path of a learned item's entry. Reading the item counts as use by a session that got it at a hook.
fn learned_path(record: &Observation) -> Option<String> {
    let (scheme, member) = match record.obs_type.word() {
        "experience" => ("ghap", "ghap"),
        "memory" => ("memory", "memory_id"),
        "value" => ("value", "value"),
        _ => return None,
    };
    let name = record.metadata.as_ref()?.get(member)?.as_str()?;
    Some(format!("{scheme}://{name}"))
}

impl Pretty for GetObservations {
    fn pretty(params: &GetObservationsParams, output: &GetObservationsOutput, _: usize) -> String {
        let GetObservationsOutput { results, answered_at } = output;
        let mut blocks: Vec<String> = results
            .iter()
            .map(|record| show::record(record, record.note(), *answered_at))
            .collect();
        let found = |id: &i64| results.iter().any(|record| record.id == *id);
        let missing = params.ids.iter().filter(|id| !found(id));
        blocks.extend(missing.map(|id| format!("There is no #{id}.")));
        blocks.join("\n\n")
    }

    /// On the command line an answer without a record is an error.
    fn miss(params: &GetObservationsParams, output: &GetObservationsOutput) -> Option<OpError> {
        if !output.results.is_empty() {
            return None;
        }
        let ids: Vec<String> = params.ids.iter().map(|id| format!("#{id}")).collect();
        Some(
            OpError::not_found(format!("there is no {}", ids.join(", ")))
                .hint("`rekindle search` and `rekindle recent` show the ids of records."),
        )
    }
}
