//! The house rules, checked: each broken one is a line `file:line: what is wrong and what to do`.

mod docs;
mod layers;
mod licences;
mod manifests;
mod source;
mod words;

use anyhow::Result;

use crate::project::Project;
use crate::report::{Problem, conclude};

pub(crate) fn run(project: &Project) -> Result<()> {
    let problems = check(project)?;
    conclude("tidy", problems)
}

fn check(project: &Project) -> Result<Vec<Problem>> {
    let files = project.text_files()?;
    let members = project.members()?;
    let packages = project.all_packages()?;
    let mut problems = Vec::new();
    for file in &files {
        if is_our_rust(&file.path) {
            source::check(file, &mut problems);
        }
        words::check(file, &mut problems);
    }
    layers::check(&members, &mut problems);
    manifests::check(&files, &members, &mut problems);
    licences::check(&packages, &mut problems);
    docs::check(&files, &|path| project.root.join(path).exists(), &mut problems);
    Ok(problems)
}

fn is_our_rust(path: &str) -> bool {
    path.ends_with(".rs") && (path.starts_with("crates/") || path.starts_with("xtask/"))
}
