//! `update_ghap`: changes the active ghap. A new hypothesis, action or prediction is a new iteration.

use contract::pretty::pretty;
use contract::{Access, CliShape, Cx, Example, Op, OpInfo, Pretty};
use model::event::Event;
use model::ghap::{EarlierVersion, Ghap, GhapNote, GhapStrategy, check_text, poor_warning};
use model::{OpError, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::ghaps;

use super::place::{TOOLSET, WritePlace, target_to_read};
use super::start;
use crate::declared::refuse_secrets;

pub(crate) struct UpdateGhap;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UpdateGhapParams {
    #[serde(default)]
    hypothesis: Option<String>,
    #[serde(default)]
    action: Option<String>,
    #[serde(default)]
    prediction: Option<String>,
    #[serde(default)]
    strategy: Option<GhapStrategy>,
    #[serde(default)]
    note: Option<String>,
    /// Yours if left out.
    #[serde(default)]
    session_id: Option<String>,
    /// The directory of the work.
    #[serde(default)]
    cwd: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct UpdateGhapOutput {
    success: bool,
    id: String,
    iteration_count: u64,
    session_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
}

impl UpdateGhapParams {
    fn check(&self) -> Result<(), OpError> {
        let short = limits::GHAP_TEXT_CHARS_MAX;
        let texts: Vec<(&str, &str)> = [
            ("hypothesis", &self.hypothesis),
            ("action", &self.action),
            ("prediction", &self.prediction),
            ("note", &self.note),
        ]
        .into_iter()
        .filter_map(|(param, text)| Some((param, text.as_deref()?)))
        .collect();
        if texts.is_empty() && self.strategy.is_none() {
            return Err(OpError::invalid("", "no field is given").hint(
                "Give at least one of `hypothesis`, `action`, `prediction`, `strategy` and `note`.",
            ));
        }
        for (param, text) in &texts {
            let max = if *param == "note" { limits::GHAP_LONG_CHARS_MAX } else { short };
            check_text(param, text, max)?;
        }
        refuse_secrets(&texts)
    }

    /// Changes the ghap at this time. The former version goes into the history if it differs.
    fn apply(&self, ghap: &mut Ghap, now: i64) {
        let new = |given: &Option<String>, old: &str| given.clone().unwrap_or_else(|| old.into());
        let hypothesis = new(&self.hypothesis, &ghap.hypothesis);
        let action = new(&self.action, &ghap.action);
        let prediction = new(&self.prediction, &ghap.prediction);
        let is_new = (&hypothesis, &action, &prediction)
            != (&ghap.hypothesis, &ghap.action, &ghap.prediction);
        if is_new {
            ghap.history.push(EarlierVersion {
                at: now,
                hypothesis: std::mem::replace(&mut ghap.hypothesis, hypothesis),
                action: std::mem::replace(&mut ghap.action, action),
                prediction: std::mem::replace(&mut ghap.prediction, prediction),
            });
            ghap.iteration += 1;
            ghap.changed_at = now;
        }
        ghap.strategy = self.strategy.unwrap_or(ghap.strategy);
        ghap.notes.extend(self.note.clone().map(|text| GhapNote { at: now, text }));
    }
}

impl Op for UpdateGhap {
    const INFO: OpInfo = OpInfo {
        name: "update_ghap",
        summary: "Change the active ghap, or add a note",
        doc: "Only later runs are evidence of a new hypothesis, action or prediction.",
        access: Access::Write { destructive: false, idempotent: false },
        toolset: TOOLSET,
        core: true,
        advanced: &["strategy", "session_id", "cwd"],
        typed_errors: true,
        cli: CliShape {
            path: &["ghap", "update"],
            flag_aliases: &[("session_id", "session")],
            help: &[
                ("hypothesis", "The new belief, in a sentence that can be false"),
                ("action", "The step that tests it"),
                ("prediction", "The result if it is true"),
                ("note", "A note; the ghap stays as it is"),
            ],
            pretty: Some(pretty::<Self>),
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "Another hypothesis",
            before: &[("start_ghap", start::EXAMPLE)],
            params: r#"{"hypothesis":"Two tests share one user","prediction":"The login tests pass in any order","session_id":"s-1"}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = UpdateGhapParams;
    type Output = UpdateGhapOutput;

    fn run(&self, cx: &Cx<'_>, params: UpdateGhapParams) -> Result<UpdateGhapOutput, OpError> {
        params.check()?;
        let target = target_to_read(cx, params.session_id.as_deref(), params.cwd.as_deref())?;
        let now = cx.now;
        cx.store.write(move |tx| {
            let place = WritePlace::of(&target, tx)?;
            let mut ghap = place.active(tx)?;
            params.apply(&mut ghap, now);
            ghaps::update(tx, &ghap)?;
            let subject = format!("{}://{}", ghaps::SCHEME, ghap.name);
            place.acted_on(tx, &subject)?;
            tx.note(Event { project: Some(place.project), ..Event::new("ghap/updated", subject) })?;
            let warning = poor_warning(&ghap.goal, &ghap.hypothesis, &ghap.prediction);
            Ok(UpdateGhapOutput {
                warning,
                success: true,
                id: ghap.name,
                iteration_count: ghap.iteration,
                session_id: place.session_id,
            })
        })
    }
}

impl Pretty for UpdateGhap {
    fn pretty(_: &UpdateGhapParams, output: &UpdateGhapOutput, _: usize) -> String {
        let line = format!("✔ updated {}, iteration {}", output.id, output.iteration_count);
        start::with_warning(line, output.warning.as_deref())
    }
}
