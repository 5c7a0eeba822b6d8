//! Lists the files of `web/`, so that a new file of the page is served without a change of code.

use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

const WEB: &str = "../../web";

/// Answers that `src/page.rs` chooses between. They have no address of their own.
const PAGES: [&str; 3] = ["/index.html", "/closed.html", "/missing.html"];

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout();
    writeln!(out, "cargo::rerun-if-changed=build.rs")?;
    writeln!(out, "cargo::rerun-if-changed={WEB}")?;
    let root = Path::new(WEB).canonicalize()?;
    let mut files = Vec::new();
    collect(&root, &mut files)?;
    files.sort();
    let mut table = String::from("&[\n");
    for file in &files {
        let inside = file.strip_prefix(&root)?.to_str().ok_or("a name that is not UTF-8")?;
        let path = format!("/{inside}");
        if PAGES.contains(&path.as_str()) {
            continue;
        }
        let media_type =
            media_type(file).ok_or_else(|| format!("web{path}: no media type for this name"))?;
        writeln!(
            table,
            "Asset {{ path: {path:?}, media_type: {media_type:?}, bytes: include_bytes!({file:?}) }},"
        )?;
    }
    table.push(']');
    let to = Path::new(&std::env::var("OUT_DIR")?).join("assets.rs");
    std::fs::write(to, table)?;
    Ok(())
}

/// The files below `dir`; hidden ones belong to editors and are skipped.
fn collect(dir: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        match entry.file_type()?.is_dir() {
            true => collect(&entry.path(), files)?,
            false => files.push(entry.path()),
        }
    }
    Ok(())
}

fn media_type(file: &Path) -> Option<&'static str> {
    Some(match file.extension()?.to_str()? {
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "svg" => "image/svg+xml",
        "txt" => "text/plain; charset=utf-8",
        _ => return None,
    })
}
