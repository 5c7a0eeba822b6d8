//! `unalias_project`: takes an alias of a project back.

use contract::pretty::pretty;
use contract::{Access, CliShape, Cx, Example, Op, OpInfo, Pretty};
use model::OpError;
use schemars::JsonSchema;
use serde::Deserialize;
use store::projects;

use super::{BY_PEOPLE, IN_WEB, ListedProject, ProjectOutput, normal, one};
use crate::show;

pub(crate) struct UnaliasProject;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UnaliasProjectParams {
    /// The project: name, key, root or `project://KEY`.
    project: String,
    /// The alias: a directory, a remote, or a name.
    alias: String,
}

impl Op for UnaliasProject {
    const INFO: OpInfo = OpInfo {
        name: "unalias_project",
        summary: "Remove an alias of a project",
        doc: "Undoes `alias_project`, and removes remotes and names that a merge brought. Records stay in their project. A directory in \
              which sessions began is taken out only by `split_project`.",
        access: Access::Write { destructive: false, idempotent: false },
        tiers: BY_PEOPLE,
        toolset: "memory",
        cli: CliShape {
            path: &["project", "unalias"],
            positional: &["project", "alias"],
            pretty: Some(pretty::<Self>),
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "A directory no longer leads to a project",
            before: &[
                IN_WEB,
                ("alias_project", r#"{"project":"web","alias":"/home/you/web-assets"}"#),
            ],
            params: r#"{"project":"web","alias":"/home/you/web-assets"}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = UnaliasProjectParams;
    type Output = ProjectOutput;

    fn run(&self, cx: &Cx<'_>, params: UnaliasProjectParams) -> Result<ProjectOutput, OpError> {
        let alias = normal("alias", &params.alias)?;
        cx.store.write(move |tx| {
            let project = one(tx, "project", &params.project)?;
            // An alias is stored in its own spelling, which `normal` may change: a directory that is a link today.
            let given = params.alias.trim();
            let stored = projects::aliases(tx, project.id)?.into_iter().find(|one| one == given);
            projects::unalias(tx, project.id, stored.as_deref().unwrap_or(&alias))?;
            Ok(ProjectOutput { project: ListedProject::of(tx, project.id)? })
        })
    }
}

impl Pretty for UnaliasProject {
    fn pretty(
        params: &UnaliasProjectParams,
        ProjectOutput { project }: &ProjectOutput,
        _: usize,
    ) -> String {
        let (alias, name) = (show::line(&params.alias), show::line(&project.name));
        format!("✔ {alias} no longer leads to {name}")
    }
}
