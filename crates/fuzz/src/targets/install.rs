//! Agents' configuration files: edited and restored byte for byte, or refused and unchanged.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agents::wiring::{Format, WIRINGS};
use serde_json::Value;

use crate::arena::Arena;
use crate::dice::Dice;
use crate::grammar;
use crate::mutate::mutate;
use crate::target::{Checked, Flaw, Subject, Workbench, ensure};

/// The agent, then each of its files with its content.
pub(crate) fn generate(dice: &mut Dice) -> Vec<u8> {
    let wiring = dice.pick(WIRINGS);
    let mut case = serde_json::json!({ "agent": wiring.agent, "files": {} });
    for file in wiring.files {
        if dice.one_in(4) {
            continue;
        }
        let mut bytes = content(dice, file.format).into_bytes();
        if dice.one_in(2) {
            mutate(dice, &mut bytes, b"{\"hooks\":{\"Stop\":[]},\"mcpServers\":{\"rekindle\":{}}}");
        }
        let text = String::from_utf8_lossy(&grammar::without_secrets(&bytes)).into_owned();
        case["files"][file.place.home] = text.into();
    }
    case.to_string().into_bytes()
}

#[rustfmt::skip]
const JSON: &[&str] = &[
    "{}", "", "{\n}\n", "\u{feff}{}", "{\"hooks\":{}}", "{\"hooks\":[]}", "{\"hooks\":null}",
    "{\"mcpServers\":[]}", "{\"mcpServers\":{\"rekindle\":{\"command\":\"x\"}}}",
    "{\n\t// mine\n\t\"a\": 1,\n}", "{\"a\":1}{\"b\":2}", "[]", "null",
    "{\"hooks\":{\"PreToolUse\":[{\"matcher\":\"Bash\",\"hooks\":[{\"type\":\"command\",\"command\":\"x\"}]}]}}",
    "{\r\n  \"mcpServers\": {}\r\n}\r\n",
    "{\"hooks\":{\"SessionStart\":[{\"hooks\":[{\"command\":\"rekindle hook SessionStart\"}]}]}}",
    "{\"hooks\":{\"Stop\":\"x\"}}", "{ /* a */ \"disableAllHooks\": true /* b */ }", "{\"a\":\"\\ud800\"}",
    "{\"hooks\":{\"Stop\":[1,null]}}",
];
#[rustfmt::skip]
const TOML: &[&str] = &[
    "", "# mine\n", "model = \"o\" # fast\n\n[mcp_servers.files]\ncommand = \"f\"\n", "[mcp_servers]\n",
    "mcp_servers = 1\n", "mcp_servers = { files = { command = \"f\" } }\n", "[[mcp_servers]]\n",
    "[mcp_servers.rekindle]\ncommand = \"x\"\n", "a = 1\na = 2\n", "[features]\nhooks = false\n",
    "\u{feff}a = 1\r\n", "[mcp_servers.\"rekindle\"]", "mcp_servers.rekindle.command = \"x\"",
];

fn content(dice: &mut Dice, format: Format) -> String {
    let list = if format == Format::Toml { TOML } else { JSON };
    match dice.one_in(5) {
        true => grammar::value(dice, 4).to_string(),
        false => (*dice.pick(list)).to_owned(),
    }
}

pub(crate) fn open(bench: &Workbench) -> Box<dyn Subject> {
    // Run from the build directory, the program would copy itself into every home.
    let folder = std::env::temp_dir().join(format!("rekindle-bin-{}", std::process::id()));
    let binary = folder.join("rekindle");
    if let Some(built) = bench.binary.as_ref().filter(|_| !binary.exists()) {
        let copied = std::fs::create_dir_all(&folder).and_then(|()| std::fs::copy(built, &binary));
        copied.unwrap_or_else(|error| panic!("no copy of the program: {error}"));
    }
    Box::new(InstallSubject { bench: Workbench { binary: Some(binary) } })
}

struct InstallSubject {
    bench: Workbench,
}

impl Subject for InstallSubject {
    fn check(&mut self, input: &[u8]) -> Checked {
        let arena = Arena::new(&self.bench);
        let case: Value = serde_json::from_slice(input).unwrap_or_default();
        let agent = case["agent"].as_str().unwrap_or("claude-code");
        for (name, text) in case["files"].as_object().into_iter().flatten() {
            arena.home.write(name, text.as_str().unwrap_or_default());
        }
        let before = tree(&arena);
        let installed = arena.run(&["install", agent, "--json"], b"")?;
        parsed(&installed.stdout)?;
        if installed.code != 0 {
            return same(&before, &tree(&arena), "a refused install");
        }
        let connected = tree(&arena);
        let again = arena.run(&["install", agent, "--json"], b"")?;
        ensure(again.code == 0, || format!("a second install is refused: {}", again.stdout))?;
        same(&connected, &tree(&arena), "a second install")?;
        let listed = arena.run(&["agents", "--json"], b"")?;
        parsed(&listed.stdout)?;
        let undone = arena.run(&["uninstall", agent, "--json"], b"")?;
        ensure(undone.code == 0, || {
            format!("uninstall fails: {}{}", undone.stdout, undone.stderr)
        })?;
        same(&before, &tree(&arena), "uninstall")
    }
}

fn parsed(stdout: &str) -> Result<Value, Flaw> {
    serde_json::from_str(stdout).map_err(|error| Flaw::Wrong(format!("{error}: {stdout}")))
}

/// The agents' files: all files of the home except our own.
fn tree(arena: &Arena) -> BTreeMap<PathBuf, Vec<u8>> {
    let ours = ["data", "run", "daemon.stderr"].map(|name| arena.home.path(name));
    let is_ours = |path: &Path| ours.iter().any(|own| path.starts_with(own));
    arena.home.files().into_iter().filter(|(path, _)| !is_ours(path)).collect()
}

fn same(
    before: &BTreeMap<PathBuf, Vec<u8>>,
    after: &BTreeMap<PathBuf, Vec<u8>>,
    what: &str,
) -> Checked {
    let paths: Vec<&PathBuf> = before.keys().chain(after.keys()).collect();
    let differing = paths.into_iter().find(|path| before.get(*path) != after.get(*path));
    let Some(path) = differing else { return Ok(()) };
    let shown = |bytes: Option<&Vec<u8>>| {
        bytes.map(|bytes| text::one_line(&String::from_utf8_lossy(bytes), 300))
    };
    let (was, is) = (shown(before.get(path)), shown(after.get(path)));
    Err(Flaw::Wrong(format!("{what} changes {}: {was:?} became {is:?}", path.display())))
}
