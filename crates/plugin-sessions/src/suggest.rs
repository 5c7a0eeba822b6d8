//! `suggest_context`: the files that a session used most and has not declared.

use std::path::{Component, Path};

use contract::pretty::pretty;
use contract::{CliShape, Cx, Example, Op, OpInfo, Pretty};
use model::{OpError, context as sets, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{context, history};

use crate::target;

/// Directories of generated files, wherever they are.
const GENERATED: [&str; 7] =
    ["node_modules", "__pycache__", ".git", ".venv", ".next", ".cache", ".tox"];
/// Directories for the output of builds, if they are below the project's root.
const OUTPUT_BELOW: [&str; 4] = ["target", "dist", "coverage", "venv"];
/// Directories for the output of builds, if they are directly in the project's root. Elsewhere they may have sources.
const OUTPUT_AT_TOP: [&str; 3] = ["build", "out", "_build"];
/// Lock files of package managers whose names do not end in `.lock`.
const LOCK_FILES: [&str; 5] =
    ["package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "go.sum", "bun.lockb"];

pub(crate) struct SuggestContext;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SuggestContextParams {
    /// The session; yours if left out.
    #[serde(default)]
    session_id: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SuggestContextOutput {
    session_id: String,
    /// At most 10, the most used first.
    files: Vec<SuggestedFile>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SuggestedFile {
    path: String,
    /// How many times the session read or changed it.
    count: u64,
    /// How many of these times it changed the file.
    edits: u64,
}

impl Op for SuggestContext {
    const INFO: OpInfo = OpInfo {
        name: "suggest_context",
        summary: "List the files a session used most and has not declared",
        doc: "At most 10, with counts, for `set_relevant_context`. Deleted files, lock files and build output are left out.",
        toolset: "sessions",
        cli: CliShape {
            path: &["context", "suggest"],
            flag_aliases: &[("session_id", "session")],
            pretty: Some(pretty::<Self>),
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "A session that read nothing yet",
            before: &[(
                "set_relevant_context",
                r#"{"setName":"ports","items":["8080"],"session_id":"s-1"}"#,
            )],
            params: r#"{"session_id":"s-1"}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = SuggestContextParams;
    type Output = SuggestContextOutput;

    fn run(
        &self,
        cx: &Cx<'_>,
        params: SuggestContextParams,
    ) -> Result<SuggestContextOutput, OpError> {
        let session = target::known(cx, params.session_id)?;
        let (used, declared) = cx.store.read(|rx| {
            let used = history::files_of_session(rx, session.id)?;
            Ok((used, context::of_session(rx, session.id)?))
        })?;
        let root = session.root.as_deref().map(Path::new);
        let is_wanted = |path: &String| {
            !declared.of(sets::FILES).contains(path)
                && !is_generated(Path::new(path), root)
                // Checked last, because it reads the disk.
                && Path::new(path).is_file()
        };
        let files = used.into_iter().filter(|used| is_wanted(&used.path));
        let files = files.take(limits::CONTEXT_SET_ITEMS_MAX).map(|used| SuggestedFile {
            path: used.path,
            count: used.count,
            edits: used.edits,
        });
        Ok(SuggestContextOutput { session_id: session.session_id, files: files.collect() })
    }
}

/// Whether a file is a lock file or the output of a tool.
fn is_generated(path: &Path, root: Option<&Path>) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if name.ends_with(".lock") || LOCK_FILES.contains(&name) {
        return true;
    }
    let folders = |path: &Path| -> Vec<String> {
        let parts = path.parent().into_iter().flat_map(Path::components);
        let names = parts.filter(|part| matches!(part, Component::Normal(_)));
        names.map(|part| part.as_os_str().to_string_lossy().into_owned()).collect()
    };
    let has = |folders: &[String], names: &[&str]| {
        folders.iter().any(|folder| names.contains(&folder.as_str()))
    };
    let below = root.and_then(|root| path.strip_prefix(root).ok()).map(folders).unwrap_or_default();
    has(&folders(path), &GENERATED)
        || has(&below, &OUTPUT_BELOW)
        || has(below.get(..1).unwrap_or_default(), &OUTPUT_AT_TOP)
}

impl Pretty for SuggestContext {
    fn pretty(params: &SuggestContextParams, output: &SuggestContextOutput, _: usize) -> String {
        if output.files.is_empty() {
            let session = target::guessed(params.session_id.as_deref(), &output.session_id);
            return format!(
                "Nothing to suggest: the session used no other files that still exist, apart from lock files and build output{session}."
            );
        }
        let width = output.files.iter().map(|file| file.count.to_string().len()).max();
        let width = width.unwrap_or_default();
        let line = |file: &SuggestedFile| {
            let edits = match file.edits {
                0 => String::new(),
                edits => format!("  ({})", text::counted(edits, "edit")),
            };
            let path = text::one_line(&file.path, limits::CONTEXT_ITEM_CHARS_MAX);
            format!("{:>width$}×  {path}{edits}", file.count)
        };
        let mut lines: Vec<String> = output.files.iter().map(line).collect();
        let id = text::one_line(&output.session_id, limits::PREVIEW_CHARS);
        lines.push(format!(
            "Add one of these files with `rekindle context set files PATH --merge --session {id}`."
        ));
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// @context_suggest
    #[test]
    fn lock_files_and_build_output_are_generated_and_sources_are_not() {
        let root = Some(Path::new("/srv/target/shop"));
        for path in [
            "/srv/target/shop/Cargo.lock",
            "/srv/target/shop/web/package-lock.json",
            "/srv/target/shop/target/debug/build.rs",
            "/srv/target/shop/web/dist/app.js",
            "/srv/target/shop/build/app.js",
            "/home/me/.cargo/x/node_modules/y.js",
        ] {
            assert!(is_generated(Path::new(path), root), "{path}");
        }
        for path in [
            "/srv/target/shop/src/build/mod.rs",
            "/srv/target/shop/src/target.rs",
            "/srv/build/notes.md",
            "/srv/target/shop/lock.rs",
        ] {
            assert!(!is_generated(Path::new(path), root), "{path}");
        }
    }
}
