//! `delete_session`: deletes a session with its records, or without them; without `confirm` it only counts.

use contract::pretty::pretty;
use contract::{Access, CliShape, Cx, Example, Op, OpInfo, Pretty, RestMethod, RestRoute, listing};
use model::observation::ObsType;
use model::session::{Session, SessionState};
use model::{Code, OpError, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::purge::{self, PurgeFilter};
use store::{Rx, context, receipts, sessions};
use text::counted;

use crate::session::REST_PATH;
use crate::target::{self, BY_PEOPLE};

pub(crate) struct DeleteSession;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeleteSessionParams {
    /// The agent's own id; on the command line its first characters will do.
    session_id: String,
    /// Whether to delete it; otherwise its records are only counted.
    #[serde(default)]
    confirm: bool,
    /// Whether its prompts, answers and observations stay.
    #[serde(default)]
    keep_observations: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeleteSessionOutput {
    /// Whether it was deleted; otherwise the numbers say what would be.
    success: bool,
    /// The whole id of the session, unless it was deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    /// Whether its agent was at work.
    was_active: bool,
    prompts: usize,
    answers: usize,
    /// Observations besides the answers.
    observations: usize,
    /// Items of its context.
    items: usize,
    /// Texts that its agent got, as `receipts` lists them.
    receipts: usize,
}

impl Op for DeleteSession {
    const INFO: OpInfo = OpInfo {
        name: "delete_session",
        summary: "Delete a session and its records, or count what would be deleted",
        doc: "Deletes its prompts, answers, observations, context, receipts and name for good, as `purge` does. With \
              `keep_observations` the records stay searchable and the session disappears from the lists. A \
              new event in the session creates it again.",
        access: Access::Write { destructive: true, idempotent: false },
        tiers: BY_PEOPLE,
        toolset: "sessions",
        cli: CliShape {
            path: &["sessions", "delete"],
            positional: &["session_id"],
            flag_aliases: &[("confirm", "yes")],
            pretty: Some(pretty::<Self>),
            miss: Some(not_confirmed),
            ..CliShape::CALL_ONLY
        },
        rest: &[RestRoute::new(RestMethod::Delete, REST_PATH)
            .query(&[("keepObservations", "keep_observations")])
            .defaults(&[("confirm", "true")])
            .answer(
                |result| json!({ "success": result["success"], "wasActive": result["wasActive"] }),
            )],
        examples: &[Example {
            title: "A session and its records",
            before: &[(
                "set_relevant_context",
                r#"{"setName":"ports","items":["8080"],"session_id":"s-1"}"#,
            )],
            params: r#"{"session_id":"s-1","confirm":true}"#,
        }],
        deadline: limits::CARE_DEADLINE,
        ..OpInfo::BASE
    };
    type Params = DeleteSessionParams;
    type Output = DeleteSessionOutput;

    fn run(
        &self,
        cx: &Cx<'_>,
        params: DeleteSessionParams,
    ) -> Result<DeleteSessionOutput, OpError> {
        let DeleteSessionParams { session_id, confirm, keep_observations } = params;
        let form = cx.caller.session_id_form();
        if !confirm {
            return cx.store.read(|rx| {
                let session = target::find(rx, &session_id, form)?;
                let counted = counts(rx, &session, keep_observations)?;
                Ok(DeleteSessionOutput { session_id: Some(session.session_id), ..counted })
            });
        }
        let done = cx.store.write(move |tx| {
            let session = target::find(tx, &session_id, form)?;
            sessions::check_whole_id(&session_id, &session)?;
            let counted = counts(tx, &session, keep_observations)?;
            purge::session(tx, session.id, keep_observations)?;
            Ok(DeleteSessionOutput { success: true, ..counted })
        });
        match &done {
            Ok(_) => cx.store.leave_no_trace()?,
            // A repeat of a call whose first run may not have come this far.
            Err(error) if error.code == Code::Internal => drop(cx.store.leave_no_trace()),
            Err(_) => {}
        }
        done
    }
}

/// How much would be deleted.
fn counts(
    rx: &Rx<'_>,
    session: &Session,
    keep_observations: bool,
) -> Result<DeleteSessionOutput, OpError> {
    let of_session = PurgeFilter { session: Some(session.id), ..PurgeFilter::default() };
    let (mut records, mut answers) = (purge::Purged::default(), 0);
    if !keep_observations {
        records = purge::plan(rx, &of_session)?;
        let of_kind = PurgeFilter { kind: Some(ObsType::Answer.into()), ..of_session };
        answers = purge::matches(rx, &of_kind)?.len();
    }
    Ok(DeleteSessionOutput {
        success: false,
        session_id: None,
        was_active: session.state == SessionState::Active,
        prompts: records.count("prompts"),
        answers,
        observations: records.count("observations").saturating_sub(answers),
        items: context::of_session(rx, session.id)?.iter().map(|(_, items)| items.len()).sum(),
        receipts: receipts::count_texts(rx, session.id)?,
    })
}

/// Makes the command fail if it only counted.
fn not_confirmed(params: &Value, output: &Value) -> Option<OpError> {
    let params: DeleteSessionParams = serde_json::from_value(params.clone()).ok()?;
    let output: DeleteSessionOutput = serde_json::from_value(output.clone()).ok()?;
    let id = listing::line(output.session_id.as_ref().unwrap_or(&params.session_id));
    let counts = output.counts(params.keep_observations);
    let message = match params.keep_observations {
        true => format!("nothing was deleted; session {id} would lose {counts}; its records stay"),
        false => format!("nothing was deleted; session {id} has {counts}"),
    };
    let hint = format!("Add --yes to delete it, with its whole id: {id}.");
    (!output.success).then(|| OpError::invalid("confirm", message).hint(hint))
}

impl DeleteSessionOutput {
    /// The counts of a deletion, without the records if they stay.
    fn counts(&self, keeps_records: bool) -> String {
        let DeleteSessionOutput { prompts, answers, observations, items, receipts, .. } = self;
        let records = [
            counted(prompts, "prompt"),
            counted(answers, "answer"),
            counted(observations, "observation"),
        ];
        let own = [counted(items, "item"), counted(receipts, "receipt")];
        let counts = records.into_iter().filter(|_| !keeps_records).chain(own);
        counts.collect::<Vec<String>>().join(", ")
    }
}

impl Pretty for DeleteSession {
    fn pretty(params: &DeleteSessionParams, output: &DeleteSessionOutput, _: usize) -> String {
        let kept = if params.keep_observations { "; its records stay" } else { "" };
        let id = listing::line(&params.session_id);
        format!("✔ deleted session {id} with {}{kept}", output.counts(params.keep_observations))
    }
}
