//! `delete_memory`: deletes a memory. Those that it superseded are current again.

use contract::pretty::pretty;
use contract::{Access, CliShape, Cx, Example, Op, OpInfo, Pretty};
use model::event::Event;
use model::{OpError, memory};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::{memories as stored, purge};

use super::example::A_MEMORY;
use super::named;

pub(crate) struct DeleteMemory;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeleteMemoryParams {
    /// The UUID of the memory.
    memory_id: String,
    /// Accepted as by the other tools; the id decides alone.
    #[serde(default)]
    #[allow(dead_code, reason = "every memory tool takes it")]
    session_id: Option<String>,
    /// Accepted as by the other tools; the id decides alone.
    #[serde(default)]
    #[allow(dead_code, reason = "every memory tool takes it")]
    cwd: Option<String>,
}

#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct DeleteMemoryOutput {
    /// False if there is no such memory.
    deleted: bool,
    /// The memories that it superseded and that are current again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    restored: Vec<String>,
}

impl Op for DeleteMemory {
    const INFO: OpInfo = OpInfo {
        name: "delete_memory",
        summary: "Delete a memory",
        doc: "It leaves no trace in the database. The memories that it superseded are current again. To replace a memory, store the \
              new one with `supersedes` instead.",
        access: Access::Write { destructive: true, idempotent: true },
        toolset: "memory",
        typed_errors: true,
        cli: CliShape {
            path: &["memory", "delete"],
            positional: &["memory_id"],
            flag_aliases: &[("session_id", "session")],
            pretty: Some(pretty::<Self>),
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "A memory that is not there",
            before: &[A_MEMORY],
            params: r#"{"memory_id":"550e8400-e29b-41d4-a716-446655440000"}"#,
        }],
        deadline: model::limits::CARE_DEADLINE,
        ..OpInfo::BASE
    };
    type Params = DeleteMemoryParams;
    type Output = DeleteMemoryOutput;

    fn run(&self, cx: &Cx<'_>, params: DeleteMemoryParams) -> Result<DeleteMemoryOutput, OpError> {
        let id = named::whole_id(cx, "memory_id", &params.memory_id)?;
        let done = cx.store.write(move |tx| {
            let Some(old) = stored::by_uuid(tx, &id)? else {
                return Ok(DeleteMemoryOutput { deleted: false, restored: Vec::new() });
            };
            let mut restored = Vec::new();
            purge::one(tx, old.id, &mut || {
                restored = stored::delete(tx, old.id)?;
                Ok(())
            })?;
            let event = Event::new("memory/deleted", memory::path(&id));
            let event = event.with_data(json!({ "restored": restored }));
            tx.note(Event { project: Some(old.project), ..event })?;
            Ok(DeleteMemoryOutput { deleted: true, restored })
        })?;
        if done.deleted {
            cx.store.leave_no_trace()?;
        }
        Ok(done)
    }
}

impl Pretty for DeleteMemory {
    fn pretty(params: &DeleteMemoryParams, output: &DeleteMemoryOutput, _: usize) -> String {
        let id = text::one_line(&params.memory_id, model::limits::PREVIEW_CHARS);
        if !output.deleted {
            return format!("there is no memory {id}");
        }
        let mut lines = vec![format!("✔ deleted memory {id}")];
        lines.extend(output.restored.iter().map(|old| format!("  {old} is current again")));
        lines.join("\n")
    }
}
