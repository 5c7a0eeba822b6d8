//! The rules of the project, checked: each violation is a line `file:line: problem; fix`.

mod commits;
mod cycles;
mod docs;
mod layers;
mod licences;
mod manifests;
mod module_graph;
pub(crate) mod prose;
mod source;
mod type_names;
mod web;
mod words;

use anyhow::Result;

use crate::project::{Project, TextFile};
use crate::report::{Problem, conclude};
use layers::Layers;

pub(crate) fn run(project: &Project) -> Result<()> {
    let files = project.text_files()?;
    if let Some(note) = type_names::note(files.iter().filter(|file| is_our_rust(&file.path))) {
        println!("tidy: {note}");
    }
    for note in commits::notes(&project.root) {
        println!("tidy: {note}");
    }
    conclude("tidy", check(project, &files)?)
}

fn check(project: &Project, files: &[TextFile]) -> Result<Vec<Problem>> {
    let members = project.members()?;
    let packages = project.all_packages()?;
    let mut problems = Vec::new();
    let layers = Layers::read(files, &mut problems);
    for file in files {
        if is_our_rust(&file.path) {
            source::check(file, &layers, &mut problems);
        }
        words::check(file, &mut problems);
        web::check(file, &mut problems);
    }
    layers::check(&layers, &members, &mut problems);
    cycles::check(files, &mut problems);
    manifests::check(files, &members, &mut problems);
    licences::check(&packages, &mut problems);
    docs::check(files, &|path| project.root.join(path).exists(), &mut problems);
    for note in prose::check(files, &mut problems) {
        println!("tidy: {note}");
    }
    Ok(problems)
}

fn is_our_rust(path: &str) -> bool {
    path.ends_with(".rs") && (path.starts_with("crates/") || path.starts_with("xtask/"))
}
