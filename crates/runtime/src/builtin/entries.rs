//! `get` and `list_resources`: entries of all plugins by path.

use std::sync::Arc;

use contract::pretty::pretty;
use contract::{CliShape, Cx, Example, Op, OpInfo, Pretty};
use model::OpError;
use model::entry::{Entry, EntryLine, EntryPath};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BuiltinState, NoParams};

pub(super) struct Get(pub(super) Arc<BuiltinState>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetParams {
    /// Path of the entry, for example `hint://http-proxy/build`; of a record its id is enough.
    path: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(super) struct GetOutput {
    ok: bool,
    entry: Entry,
}

impl Pretty for Get {
    fn pretty(_: &GetParams, output: &GetOutput, _: usize) -> String {
        output.entry.body.clone()
    }
}

impl Op for Get {
    const INFO: OpInfo = OpInfo {
        name: "get",
        summary: "Read the entry at a path",
        doc: "Every entry has a path such as hint://http-proxy/build. It works on every surface.",
        toolset: "entries",
        cli: CliShape {
            path: &["get"],
            positional: &["path"],
            pretty: Some(pretty::<Self>),
            verbatim: true,
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "Read a hint",
            before: &[(
                "set_hint",
                r#"{"component":"http-proxy","key":"build","value":"make router"}"#,
            )],
            params: r#"{"path":"hint://http-proxy/build"}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = GetParams;
    type Output = GetOutput;

    fn run(&self, cx: &Cx<'_>, params: GetParams) -> Result<GetOutput, OpError> {
        let path = EntryPath::parse_or_id(params.path.trim())?;
        let inner = self.0.inner()?;
        let scheme = inner.table.scheme(&path.scheme).ok_or_else(|| {
            let known: Vec<&str> = inner.table.schemes().map(|scheme| scheme.name()).collect();
            let meant = text::suggest::closest(&path.scheme, known.iter().copied());
            let meant: Vec<String> = meant.iter().map(|name| format!("{name}://")).collect();
            let known: Vec<String> = known.iter().map(|name| format!("{name}://")).collect();
            let meant = text::suggest::offer(&meant).map(|meant| format!("{meant} "));
            let hint =
                format!("{}Paths begin with {}.", meant.unwrap_or_default(), known.join(", "));
            OpError::invalid("path", format!("no entries are called {}://", path.scheme)).hint(hint)
        })?;
        let entry = scheme.read(cx, &path)?;
        cx.note_read(cx.caller.session.as_deref(), &entry.path);
        Ok(GetOutput { ok: true, entry })
    }
}

pub(super) struct ListResources(pub(super) Arc<BuiltinState>);

#[derive(Serialize, JsonSchema)]
pub(super) struct Resources {
    resources: Vec<EntryLine>,
    templates: Vec<PathTemplate>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct PathTemplate {
    /// RFC 6570 template of the paths.
    template: String,
    summary: String,
}

impl Op for ListResources {
    const INFO: OpInfo = OpInfo {
        name: "list_resources",
        summary: "List the entries that can be read by path",
        doc: "The hints that apply here, the newest records and sessions of your project and the last projects, each with a line that says what it is; and the templates of all paths.",
        toolset: "entries",
        examples: &[Example {
            title: "All entries",
            before: &[(
                "set_hint",
                r#"{"component":"http-proxy","key":"build","value":"make router"}"#,
            )],
            params: "{}",
        }],
        ..OpInfo::BASE
    };
    type Params = NoParams;
    type Output = Resources;

    fn run(&self, cx: &Cx<'_>, _: NoParams) -> Result<Resources, OpError> {
        let inner = self.0.inner()?;
        let mut out = Resources { resources: Vec::new(), templates: Vec::new() };
        for scheme in inner.table.schemes() {
            out.resources.extend(scheme.list(cx)?);
            out.templates.push(PathTemplate {
                template: scheme.template().to_owned(),
                summary: scheme.summary().to_owned(),
            });
        }
        Ok(out)
    }
}
