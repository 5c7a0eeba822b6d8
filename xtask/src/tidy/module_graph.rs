//! Which files of a crate import from which others. Edges come from `use` and from qualified paths; a name that a module
//! re-exports counts for the file that defines it. Test code is left out.

use std::collections::{BTreeMap, BTreeSet};

use crate::project::TextFile;
use crate::rust_tokens::{RustToken, tokens};

/// How many re-exports are followed to the definition of a name.
const REEXPORTS_MAX: usize = 8;

/// Keywords before the name of an item.
const ITEM_WORDS: [&str; 8] = ["fn", "struct", "enum", "union", "trait", "type", "const", "static"];

/// For each file (an index into the files given) those it imports from.
pub(crate) type FileGraph = Vec<BTreeSet<usize>>;

/// The graph of the files of one crate, all of which are below `src`, for example `crates/store/src/`.
pub(crate) fn graph(files: &[&TextFile], src: &str) -> FileGraph {
    let mut crate_modules = CrateModules::default();
    for (index, file) in files.iter().enumerate() {
        if let Some(path) = module_path(&file.path, src) {
            let found = tokens(&file.path, &file.text);
            ModuleReader { file: index, tokens: &found, crate_modules: &mut crate_modules }
                .read(path);
        }
    }
    let mut edges = vec![BTreeSet::new(); files.len()];
    for module in crate_modules.modules.values() {
        for path in module.paths() {
            if let Some(PathTarget::Item(file)) = crate_modules.resolve(module, path, REEXPORTS_MAX)
                && file != module.file
            {
                edges[module.file].insert(file);
            }
        }
    }
    edges
}

/// The module in a file: `[]` for the root, `["a", "b"]` for `a/b.rs`; none for files that are not compiled from `src`.
fn module_path(path: &str, src: &str) -> Option<Vec<String>> {
    let inside = path.strip_prefix(src)?.strip_suffix(".rs")?;
    let mut parts: Vec<String> = inside.split('/').map(str::to_owned).collect();
    if parts.last().is_some_and(|last| last == "mod")
        || parts.len() == 1 && ["lib", "main"].contains(&parts[0].as_str())
    {
        parts.pop();
    }
    Some(parts)
}

#[derive(Default)]
struct CrateModules {
    modules: BTreeMap<Vec<String>, CodeModule>,
}

/// A module: a file, or a block inside of one.
#[derive(Default)]
struct CodeModule {
    path: Vec<String>,
    file: usize,
    imports: Vec<UseItem>,
    qualified: Vec<Vec<String>>,
    defined: BTreeSet<String>,
    /// Names that the code of the module has outside of imports.
    mentioned: BTreeSet<String>,
}

/// One name of a `use`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct UseItem {
    path: Vec<String>,
    /// The name that it gets here, `*` for all.
    name: String,
    public: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PathTarget {
    Module(Vec<String>),
    /// An item in this file.
    Item(usize),
}

impl CodeModule {
    /// The paths by which the module depends on others. A re-export that the module does not use itself is none.
    fn paths(&self) -> impl Iterator<Item = &[String]> {
        let used = |item: &&UseItem| !item.public || self.mentioned.contains(&item.name);
        let imported = self.imports.iter().filter(used).map(|item| item.path.as_slice());
        imported.chain(self.qualified.iter().map(Vec::as_slice))
    }
}

impl CrateModules {
    /// Resolves a path that is written in `module`; `None` if it is not of this crate.
    fn resolve(&self, module: &CodeModule, path: &[String], depth: usize) -> Option<PathTarget> {
        let mut here = module;
        for (at, name) in path.iter().enumerate() {
            here = match name.as_str() {
                "crate" => self.modules.get(&Vec::new())?,
                "self" => here,
                "super" => self.modules.get(here.path.split_last()?.1)?,
                "*" => return Some(PathTarget::Item(here.file)),
                _ => match self.step(here, name, at == 0, depth)? {
                    PathTarget::Module(path) => self.modules.get(&path)?,
                    item => return Some(item),
                },
            };
        }
        Some(PathTarget::Module(here.path.clone()))
    }

    /// The target of one name in a module. A path's first name may be of another crate; the following ones cannot.
    fn step(
        &self,
        here: &CodeModule,
        name: &str,
        is_first: bool,
        depth: usize,
    ) -> Option<PathTarget> {
        let mut child = here.path.clone();
        child.push(name.to_owned());
        if self.modules.contains_key(&child) {
            return Some(PathTarget::Module(child));
        }
        if depth == 0 || here.defined.contains(name) {
            return Some(PathTarget::Item(here.file));
        }
        if let Some(import) = here.imports.iter().find(|import| import.name == name) {
            // `use regex::Regex` in a module: not of this crate.
            let is_itself = import.path.len() == 1 && import.path[0] == name;
            return if is_itself { None } else { self.resolve(here, &import.path, depth - 1) };
        }
        for glob in here.imports.iter().filter(|import| import.name == "*") {
            let (_, source) = glob.path.split_last()?;
            if let Some(PathTarget::Module(path)) = self.resolve(here, source, depth - 1)
                && let Some(source) = self.modules.get(&path)
                && (source.defined.contains(name) || source.imports.iter().any(|i| i.name == name))
            {
                return self.step(source, name, false, depth - 1);
            }
        }
        (!is_first).then_some(PathTarget::Item(here.file))
    }
}

/// Reads the modules of one file.
struct ModuleReader<'a> {
    file: usize,
    tokens: &'a [RustToken<'a>],
    crate_modules: &'a mut CrateModules,
}

impl ModuleReader<'_> {
    fn read(&mut self, path: Vec<String>) {
        // The blocks that are modules, innermost last, each with the depth of its braces.
        let mut open = vec![(path.clone(), 0)];
        self.module(&path);
        let mut depth = 0_usize;
        let mut at = 0;
        while at < self.tokens.len() {
            let here = open.last().map(|(path, _)| path.clone()).unwrap_or_default();
            match self.text(at) {
                "{" => depth += 1,
                "}" => {
                    depth = depth.saturating_sub(1);
                    if open.len() > 1 && open.last().is_some_and(|(_, outer)| *outer == depth) {
                        open.pop();
                    }
                }
                "mod" if self.text(at + 2) == "{" => {
                    let mut inner = here;
                    inner.push(self.text(at + 1).to_owned());
                    self.module(&inner);
                    open.push((inner, depth));
                    at += 1;
                }
                "use" if !self.is_after(at, &[">", ":", "+", "("]) => {
                    let public = self.is_after(at, &["pub", ")"]);
                    let (items, end) = self.use_items(at + 1);
                    let items = items.into_iter().map(|item| UseItem { public, ..item });
                    self.module(&here).imports.extend(items);
                    at = end;
                }
                "pub" if self.text(at + 1) == "(" => {
                    at = (at..self.tokens.len()).find(|at| self.text(*at) == ")").unwrap_or(at);
                }
                _ if self.tokens[at].is_name() => at = self.name(at, &here),
                _ => {}
            }
            at += 1;
        }
    }

    fn text(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.text)
    }

    fn is_after(&self, at: usize, words: &[&str]) -> bool {
        at > 0 && words.contains(&self.text(at - 1))
    }

    fn module(&mut self, path: &[String]) -> &mut CodeModule {
        let file = self.file;
        let new = || CodeModule { path: path.to_vec(), file, ..CodeModule::default() };
        self.crate_modules.modules.entry(path.to_vec()).or_insert_with(new)
    }

    /// Reads a name, or the path that begins with it, and returns its last token.
    fn name(&mut self, at: usize, here: &[String]) -> usize {
        let mut path = vec![self.text(at).to_owned()];
        let mut end = at;
        // `Vec::<T>` and `a::{b}` end here, too.
        while self.text(end + 1) == "::" && self.tokens.get(end + 2).is_some_and(RustToken::is_name)
        {
            end += 2;
            path.push(self.text(end).to_owned());
        }
        let declares = ITEM_WORDS.iter().any(|word| self.is_after(at, &[word]));
        let continues = self.is_after(at, &["::", "."]);
        let module = self.module(here);
        if declares {
            module.defined.insert(path[0].clone());
        } else if !continues {
            module.mentioned.insert(path[0].clone());
            if path.len() > 1 {
                module.qualified.push(path);
            }
        }
        end
    }

    /// The items of a `use` from its first token, and the place of its semicolon.
    fn use_items(&self, start: usize) -> (Vec<UseItem>, usize) {
        let end = (start..self.tokens.len()).find(|at| self.text(*at) == ";");
        let end = end.unwrap_or(self.tokens.len());
        let mut items = Vec::new();
        self.use_tree(start, end, &[], &mut items);
        (items, end)
    }

    /// Reads one tree of a `use` up to a comma, brace or `end`; returns the place behind it.
    fn use_tree(
        &self,
        start: usize,
        end: usize,
        prefix: &[String],
        items: &mut Vec<UseItem>,
    ) -> usize {
        let mut path = prefix.to_vec();
        let mut name = None;
        let mut at = start;
        while at < end {
            match self.text(at) {
                "{" => {
                    at += 1;
                    while at < end && self.text(at) != "}" {
                        at = self.use_tree(at, end, &path, items);
                        at += usize::from(self.text(at) == ",");
                    }
                    return at + 1;
                }
                "," | "}" => break,
                "::" => {}
                "as" => {
                    name = Some(self.text(at + 1).to_owned());
                    at += 1;
                }
                // `use a::{self}` imports `a`.
                "self" if !path.is_empty() => {}
                text => path.push(text.to_owned()),
            }
            at += 1;
        }
        if let Some(last) = path.last() {
            let name = name.unwrap_or_else(|| last.clone());
            items.push(UseItem { path, name, public: false });
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The edges between made-up files of a crate, as `from -> to`.
    fn edges(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<TextFile> = files
            .iter()
            .map(|(name, text)| TextFile {
                path: format!("crates/x/src/{name}.rs"),
                text: (*text).into(),
            })
            .collect();
        let files: Vec<&TextFile> = files.iter().collect();
        let graph = graph(&files, "crates/x/src/");
        let name = |index: usize| {
            let path = files[index].path.strip_prefix("crates/x/src/").expect("a prefix");
            path.strip_suffix(".rs").expect("a suffix").to_owned()
        };
        let edges = graph.iter().enumerate().flat_map(|(from, to)| {
            to.iter().map(move |to| (from, *to)).map(|(from, to)| (name(from), name(to)))
        });
        edges.map(|(from, to)| format!("{from} -> {to}")).collect()
    }

    #[test]
    fn imports_and_qualified_paths_are_edges() {
        let files = [
            ("lib", "mod a;\nmod b;\nmod c;\nfn f() { a::go() }"),
            ("a", "use crate::b::{B, other::Thing};\nfn go() { crate::c::run() }"),
            ("b", "struct B;"),
            ("c", "use super::b::B as Other;\nuse std::fs;\nfn run() { fs::read() }"),
        ];
        assert_eq!(edges(&files), ["lib -> a", "a -> b", "a -> c", "c -> b"]);
    }

    #[test]
    fn a_declared_module_and_an_unused_reexport_are_no_edges() {
        let files = [
            ("lib", "mod a;\nmod b;\npub use a::A;\npub use b::B;\nfn f(b: B) {}"),
            ("a", "pub struct A;"),
            ("b", "pub struct B;"),
        ];
        assert_eq!(edges(&files), ["lib -> b"]);
    }

    #[test]
    fn a_reexported_name_counts_for_the_file_that_defines_it() {
        let files = [
            ("lib", "mod a;\nmod b;\nmod c;\npub use a::A;"),
            ("a", "pub struct A;"),
            ("b", "use crate::A;"),
            ("c", "pub(crate) use crate::b::*;\nuse crate::b;\nfn f() { b::A::new() }"),
        ];
        assert_eq!(edges(&files), ["b -> a", "c -> a"]);
    }

    #[test]
    fn children_see_the_private_imports_of_their_parent() {
        let files = [
            ("lib", "mod a;\nmod b;"),
            ("a", "use crate::b::B;\nmod inner;"),
            ("a/inner", "use super::B;\nuse super::Own;"),
            ("b", "pub struct B;"),
        ];
        assert_eq!(edges(&files), ["a -> b", "a/inner -> a", "a/inner -> b"]);
    }

    #[test]
    fn modules_in_blocks_belong_to_their_file_and_test_code_to_none() {
        let files = [
            ("lib", "mod a;\nmod b;\nmod block {\n    use super::a::A;\n}\nuse block::A;"),
            ("a", "pub struct A;\n#[cfg(test)]\nmod tests {\n    use crate::b::B;\n}"),
            ("b", "pub(in crate::a) struct B;"),
        ];
        assert_eq!(edges(&files), ["lib -> a"]);
    }

    #[test]
    fn names_of_other_crates_are_no_edges() {
        let files = [
            ("lib", "mod a;\nuse serde_json::Value;"),
            ("a", "use crate::Value;\nuse model::limits;\nfn f() { limits::MAX; String::new() }"),
        ];
        assert_eq!(edges(&files), [""; 0]);
    }
}
