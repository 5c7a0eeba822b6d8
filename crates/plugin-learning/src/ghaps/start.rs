//! `start_ghap`: states a goal, a hypothesis, the action that tests it and the result that it predicts.

use contract::pretty::pretty;
use contract::{Access, CliShape, Cx, Example, Op, OpInfo, Pretty, listing};
use model::event::Event;
use model::ghap::{GhapDomain, GhapStrategy, check_text, poor_warning};
use model::{OpError, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::check_ins;
use store::ghaps::{self, NewGhap};

use super::place::{TOOLSET, WritePlace, target};
use crate::declared::refuse_secrets;

pub(crate) struct StartGhap;

/// The parameters of an example, which other examples start with.
pub(super) const EXAMPLE: &str = r#"{"domain":"debugging","strategy":"root-cause-analysis","goal":"Find why the login test is flaky","hypothesis":"The clock of the test host runs ahead","action":"Freeze the clock in the login tests","prediction":"The login tests pass with a frozen clock","session_id":"s-1"}"#;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StartGhapParams {
    domain: GhapDomain,
    strategy: GhapStrategy,
    goal: String,
    hypothesis: String,
    /// The step that tests it.
    action: String,
    /// The result if it is true.
    prediction: String,
    /// Yours if left out.
    #[serde(default)]
    session_id: Option<String>,
    /// The directory of the work.
    #[serde(default)]
    cwd: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct StartGhapOutput {
    ok: bool,
    id: String,
    session_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
}

impl Op for StartGhap {
    const INFO: OpInfo = OpInfo {
        name: "start_ghap",
        summary: "State a goal, a hypothesis, an action and a prediction",
        doc: "Call it before you debug or try something uncertain. Later test and build runs are its evidence.",
        access: Access::Write { destructive: false, idempotent: false },
        toolset: TOOLSET,
        core: true,
        upfront: true,
        advanced: &["session_id", "cwd"],
        typed_errors: true,
        cli: CliShape {
            path: &["ghap", "start"],
            flag_aliases: &[("session_id", "session")],
            help: &[
                ("goal", "The aim of the work"),
                ("hypothesis", "The belief to test, in a sentence that can be false"),
            ],
            pretty: Some(pretty::<Self>),
            ..CliShape::CALL_ONLY
        },
        examples: &[Example { title: "Before debugging", before: &[], params: EXAMPLE }],
        ..OpInfo::BASE
    };
    type Params = StartGhapParams;
    type Output = StartGhapOutput;

    fn run(&self, cx: &Cx<'_>, params: StartGhapParams) -> Result<StartGhapOutput, OpError> {
        let texts = [
            ("goal", params.goal.as_str()),
            ("hypothesis", params.hypothesis.as_str()),
            ("action", params.action.as_str()),
            ("prediction", params.prediction.as_str()),
        ];
        let max = limits::GHAP_TEXT_CHARS_MAX;
        texts.iter().try_for_each(|(param, text)| check_text(param, text, max))?;
        refuse_secrets(&texts)?;
        let target = target(cx, params.session_id.as_deref(), params.cwd.as_deref())?;
        let now = cx.now;
        cx.store.write(move |tx| {
            let place = WritePlace::of(&target, tx)?;
            if let Some(active) = ghaps::active(tx, place.session, place.project)? {
                return Err(active_exists(&active.name));
            }
            let id = ghaps::start(
                tx,
                &NewGhap {
                    owner: place.session,
                    project: place.project,
                    root: place.root.as_deref(),
                    at: now,
                    domain: params.domain,
                    strategy: params.strategy,
                    goal: &params.goal,
                    hypothesis: &params.hypothesis,
                    action: &params.action,
                    prediction: &params.prediction,
                },
            )?;
            check_ins::begin(tx, place.session, place.project)?;
            place.acted_on(tx, ghaps::SUGGESTION)?;
            let subject = format!("{}://{id}", ghaps::SCHEME);
            tx.note(Event { project: Some(place.project), ..Event::new("ghap/started", subject) })?;
            let warning = poor_warning(&params.goal, &params.hypothesis, &params.prediction);
            Ok(StartGhapOutput { ok: true, id, session_id: place.session_id, warning })
        })
    }
}

/// The error of a session that already has an active ghap.
pub(super) fn active_exists(name: &str) -> OpError {
    OpError::not_ready("active_ghap_exists", format!("{name} is active in this session"))
        .with("ghap_id", name)
        .hint("`update_ghap` changes it; `resolve_ghap` ends it.")
}

/// A line for people, with the warning of the answer below it.
pub(super) fn with_warning(line: String, warning: Option<&str>) -> String {
    // The warning is of the answer, which names operations.
    let warning = warning.map(|text| text.replace("update_ghap", "`rekindle ghap update`"));
    warning.map_or_else(|| line.clone(), |warning| format!("{line}\n  {warning}"))
}

impl Pretty for StartGhap {
    fn pretty(params: &StartGhapParams, output: &StartGhapOutput, _: usize) -> String {
        let session = match params.session_id {
            Some(_) => String::new(),
            None => format!(" in session {}", listing::line(&output.session_id)),
        };
        with_warning(format!("✔ started {}{session}", output.id), output.warning.as_deref())
    }
}
