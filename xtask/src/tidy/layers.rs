//! Dependencies between crates: the tables in ARCHITECTURE.md, against the dependencies that cargo reports.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::project::TextFile;
use crate::report::Problem;

const MAP: &str = "ARCHITECTURE.md";

/// The lines before the two tables. A table is the next fenced block; its rows are names, two spaces or more, and what
/// these may see.
const LAYERS_TITLE: &str =
    "The crates of ours that each crate may depend on, checked by `cargo xtask tidy`:";
const RESERVED_TITLE: &str = "Crates from outside that only some of ours may use:";

/// The tables of ARCHITECTURE.md.
#[derive(Debug, Default)]
pub(crate) struct Layers {
    /// Crates of ours and those of ours that they may depend on, without dependencies of tests.
    rows: Vec<LayerRow>,
    /// Crates from outside and those of ours that may use them.
    reserved: Vec<LayerRow>,
}

#[derive(Debug)]
struct LayerRow {
    line: usize,
    /// `plugin-*` means all crates whose names begin so.
    names: Vec<String>,
    seen: MaySee,
}

#[derive(Debug, PartialEq, Eq)]
enum MaySee {
    Only(Vec<String>),
    AllBut(Vec<String>),
}

impl Layers {
    /// Reads the tables; rows that cannot be read are problems.
    pub(crate) fn read(files: &[TextFile], problems: &mut Vec<Problem>) -> Layers {
        let text = files.iter().find(|file| file.path == MAP).map_or("", |file| file.text.as_str());
        let mut table = |title: &str| {
            let rows = fenced_after(text, title);
            if rows.is_empty() {
                let what = format!("no table after the line '{title}'; tidy reads it from here");
                problems.push(Problem::new(MAP, 1, what));
            }
            let mut found = Vec::new();
            for (line, text) in rows {
                match row(line, text) {
                    Some(row) => found.push(row),
                    None => {
                        let what = "not a row; write `NAME, NAME   NAME, NAME`, with two spaces or \
                                    more between, or `nothing of ours`, `all`, `all but NAME` on \
                                    the right";
                        problems.push(Problem::new(MAP, line, what));
                    }
                }
            }
            found
        };
        Layers { rows: table(LAYERS_TITLE), reserved: table(RESERVED_TITLE) }
    }

    /// Whether a crate of ours may use this crate from outside.
    pub(crate) fn may_use(&self, name: &str, foreign: &str) -> bool {
        self.users(foreign).is_none_or(|users| users.iter().any(|user| user == name))
    }

    /// The only crates of ours that may use this external crate; `None` if all may.
    fn users(&self, foreign: &str) -> Option<&[String]> {
        match &self.reserved.iter().find(|row| row.is_for(foreign))?.seen {
            MaySee::Only(users) => Some(users),
            MaySee::AllBut(_) => None,
        }
    }

    /// Whether `name` may see `seen`; `None` if the table does not have `name`.
    fn may_see(&self, name: &str, seen: &str) -> Option<bool> {
        let exact = self.rows.iter().find(|row| row.names.iter().any(|known| known == name));
        let row = exact.or_else(|| self.rows.iter().find(|row| row.is_for(name)))?;
        Some(match &row.seen {
            MaySee::Only(names) => names.iter().any(|allowed| stands_for(allowed, seen)),
            MaySee::AllBut(names) => !names.iter().any(|excluded| stands_for(excluded, seen)),
        })
    }
}

impl LayerRow {
    fn is_for(&self, name: &str) -> bool {
        self.names.iter().any(|known| stands_for(known, name))
    }

    /// Every name in the row.
    fn all_names(&self) -> impl Iterator<Item = &String> {
        let (MaySee::Only(seen) | MaySee::AllBut(seen)) = &self.seen;
        self.names.iter().chain(seen)
    }
}

/// Whether a name of the table is this one, or `plugin-*` and this one begins so.
fn stands_for(written: &str, name: &str) -> bool {
    match written.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => written == name,
    }
}

/// The lines of the fenced block that follows a title, with their numbers.
fn fenced_after<'a>(text: &'a str, title: &str) -> Vec<(usize, &'a str)> {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    let block = lines.skip_while(|(_, line)| *line != title).skip(1);
    let block = block.skip_while(|(_, line)| line.is_empty());
    let mut block = block.peekable();
    if block.next_if(|(_, line)| line.starts_with("```")).is_none() {
        return Vec::new();
    }
    block.take_while(|(_, line)| !line.starts_with("```")).collect()
}

fn row(line: usize, text: &str) -> Option<LayerRow> {
    let (names, seen) = text.split_once("  ")?;
    let seen = match seen.trim() {
        "nothing of ours" => MaySee::Only(Vec::new()),
        "all" => MaySee::AllBut(Vec::new()),
        seen => match seen.strip_prefix("all but ") {
            Some(excluded) => MaySee::AllBut(names_of(excluded)?),
            None => MaySee::Only(names_of(seen)?),
        },
    };
    Some(LayerRow { line, names: names_of(names)?, seen })
}

/// Names separated by commas; `None` if one of them has a character that is invalid in a crate's name.
fn names_of(text: &str) -> Option<Vec<String>> {
    let is_name = |name: &str| {
        !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '*'))
    };
    text.split(',')
        .map(|name| Some(name.trim()).filter(|name| is_name(name)).map(str::to_owned))
        .collect()
}

pub(crate) fn check(layers: &Layers, members: &Value, problems: &mut Vec<Problem>) {
    for (manifest, name, seen) in arrows(members, false) {
        if !layers.may_use(&name, &seen) {
            let users = layers.users(&seen).unwrap_or_default().join(", ");
            let what = format!("`{seen}` is for {users} only; go through them");
            problems.push(Problem::new(&manifest, 1, what));
        }
    }
    for (manifest, name, seen) in arrows(members, true) {
        if layers.may_see(&name, &seen) == Some(false) {
            let what = format!(
                "`{name}` may not depend on `{seen}`; go through what it may see, or change the \
                 table in {MAP}"
            );
            problems.push(Problem::new(&manifest, 1, what));
        }
    }
    check_rows(layers, members, problems);
}

/// Each crate has its row, and each name in a row its crate.
fn check_rows(layers: &Layers, members: &Value, problems: &mut Vec<Problem>) {
    let packages: BTreeSet<(String, String)> = packages(members).collect();
    for (manifest, name) in &packages {
        if !layers.rows.iter().any(|row| row.is_for(name)) {
            let what =
                format!("`{name}` has no row in {MAP}'s table of permitted dependencies; add it");
            problems.push(Problem::new(manifest, 1, what));
        }
    }
    let is_there = |written: &str| packages.iter().any(|(_, name)| stands_for(written, name));
    for row in &layers.rows {
        for name in row.all_names().filter(|name| !is_there(name)) {
            let what = format!("no crate is called `{name}`; remove it from the table");
            problems.push(Problem::new(MAP, row.line, what));
        }
    }
}

/// The manifest and the name of each crate of ours.
fn packages(members: &Value) -> impl Iterator<Item = (String, String)> {
    let root = members["workspace_root"].as_str().unwrap_or_default();
    members["packages"].as_array().into_iter().flatten().map(move |package| {
        let manifest = package["manifest_path"].as_str().unwrap_or_default();
        let manifest = manifest.strip_prefix(root).unwrap_or(manifest).trim_start_matches('/');
        (manifest.to_owned(), package["name"].as_str().unwrap_or_default().to_owned())
    })
}

/// Every dependency outside of tests on our own crates or on foreign ones: manifest, from, to.
fn arrows(members: &Value, on_ours: bool) -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    let all = members["packages"].as_array().into_iter().flatten();
    for (package, (manifest, name)) in all.zip(packages(members)) {
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let ours = dependency["path"].is_string();
            if ours == on_ours && dependency["kind"] != "dev" {
                let seen = dependency["name"].as_str().unwrap_or_default();
                found.push((manifest.clone(), name.clone(), seen.to_owned()));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const PAGE: &str = "\
# Map

The crates of ours that each crate may depend on, checked by `cargo xtask tidy`:

```
model, text          nothing of ours
store                model
plugin-*             model, store
plugin-agent         model, llm
server, llm          store
app                  all
testkit              all but app, server
```

Crates from outside that only some of ours may use:

```
tokio      server
```
";

    fn layers(page: &str) -> (Layers, Vec<String>) {
        let mut problems = Vec::new();
        let files = [TextFile { path: MAP.into(), text: page.into() }];
        let layers = Layers::read(&files, &mut problems);
        let problems = problems.iter().map(|it| format!("{}:{} {}", it.path, it.line, it.what));
        (layers, problems.collect())
    }

    /// The problems of one package among all crates that the table names.
    fn found(name: &str, dependencies: Value) -> Vec<String> {
        let mut names =
            vec!["model", "text", "store", "plugin-agent", "server", "llm", "app", "testkit"];
        names.retain(|known| *known != name);
        let package = |name: &str, dependencies: Value| {
            json!({
                "name": name,
                "manifest_path": format!("/r/crates/{name}/Cargo.toml"),
                "dependencies": dependencies,
            })
        };
        let mut packages = vec![package(name, dependencies)];
        packages.extend(names.into_iter().map(|name| package(name, json!([]))));
        let mut problems = Vec::new();
        let (layers, unread) = layers(PAGE);
        assert_eq!(unread, [""; 0]);
        check(&layers, &json!({ "workspace_root": "/r", "packages": packages }), &mut problems);
        problems.into_iter().map(|problem| format!("{} {}", problem.path, problem.what)).collect()
    }

    fn ours(name: &str, kind: Value) -> Value {
        json!({ "name": name, "path": format!("/r/crates/{name}"), "kind": kind })
    }

    #[test]
    fn an_arrow_against_the_table_is_reported() {
        let found = found("model", json!([ours("store", Value::Null)]));
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("crates/model/Cargo.toml `model` may not depend on `store`"));
    }

    #[test]
    fn allowed_arrows_tests_and_foreign_crates_are_left_alone() {
        assert!(found("store", json!([ours("model", Value::Null)])).is_empty());
        assert!(found("model", json!([ours("testkit", json!("dev"))])).is_empty());
        let serde = json!({ "name": "serde", "kind": null });
        assert!(found("model", json!([serde])).is_empty());
    }

    #[test]
    fn a_reserved_crate_in_the_wrong_place_is_reported() {
        let tokio = |kind: Value| json!([{ "name": "tokio", "kind": kind }]);
        assert!(found("store", tokio(Value::Null))[0].contains("`tokio` is for server only"));
        assert!(found("store", tokio(json!("dev"))).is_empty());
        assert!(found("server", tokio(Value::Null)).is_empty());
    }

    #[test]
    fn a_row_of_its_own_goes_before_the_one_for_all_plugins() {
        let (layers, _) = layers(PAGE);
        assert_eq!(layers.may_see("plugin-hints", "store"), Some(true));
        assert_eq!(layers.may_see("plugin-hints", "plugin-agent"), Some(false));
        assert_eq!(layers.may_see("plugin-hints", "llm"), Some(false));
        assert_eq!(layers.may_see("plugin-agent", "llm"), Some(true));
        assert_eq!(layers.may_see("plugin-agent", "store"), Some(false));
    }

    #[test]
    fn all_is_all_but_what_is_named() {
        let (layers, _) = layers(PAGE);
        assert_eq!(layers.may_see("app", "plugin-hints"), Some(true));
        assert_eq!(layers.may_see("testkit", "store"), Some(true));
        assert_eq!(layers.may_see("testkit", "app"), Some(false));
        assert_eq!(layers.may_see("testkit", "server"), Some(false));
        assert_eq!(layers.may_see("newcomer", "model"), None);
    }

    #[test]
    fn a_crate_without_a_row_is_reported_even_if_it_sees_nothing() {
        let found = found("newcomer", json!([]));
        assert!(found[0].contains("`newcomer` has no row in ARCHITECTURE.md"), "{found:?}");
    }

    #[test]
    fn a_row_for_a_crate_that_is_gone_is_reported() {
        let (layers, _) = layers(PAGE);
        let mut problems = Vec::new();
        check(&layers, &json!({ "packages": [] }), &mut problems);
        let text = problems.iter().find(|it| it.what.contains("`text`")).expect("a problem");
        assert!(text.path == MAP && text.line == 6, "{text:?}");
    }

    #[test]
    fn a_row_that_cannot_be_read_is_reported_at_its_line() {
        let page = PAGE.replace("plugin-*             model, store", "plugin-*   model  never SQL");
        let (_, problems) = layers(&page);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].starts_with("ARCHITECTURE.md:8 not a row"), "{problems:?}");
    }

    #[test]
    fn a_page_without_the_tables_is_reported() {
        assert_eq!(layers("# Map\n").1.len(), 2);
    }
}
