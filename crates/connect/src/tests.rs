//! Texts before and after: our entries are added and removed, and everything else stays.

use std::path::Path;

use agents::wiring::{Wired, wiring};
use expect_test::{Expect, expect};

use crate::edit;
use crate::ours::Ours;

const BINARY: &str = "/home/me/.local/bin/rekindle";

/// The file of an agent, by its index in the table.
fn file(agent: &str, at: usize) -> &'static Wired {
    &wiring(agent).unwrap().files[at]
}

fn wire(agent: &'static str, at: usize, text: &str) -> Result<String, String> {
    let ours = Ours { agent, binary: BINARY, status_line: false };
    let edited = edit::wire(Path::new("FILE"), Some(text), file(agent, at), &ours);
    edited.map_err(|error| error.message)
}

fn unwire(agent: &str, at: usize, text: &str, before: Option<&str>) -> String {
    edit::unwire(Path::new("FILE"), text, file(agent, at), before).unwrap().unwrap()
}

/// Adds our entries, checks that a second run changes nothing and that removing them restores the text.
fn wired_and_unwired(agent: &'static str, at: usize, text: &str) -> String {
    let wired = wire(agent, at, text).unwrap();
    assert_eq!(wire(agent, at, &wired).unwrap(), wired, "twice");
    assert_eq!(unwire(agent, at, &wired, Some(text)), text, "and back");
    wired
}

fn refused(agent: &'static str, at: usize, text: &str, expected: Expect) {
    expected.assert_eq(&wire(agent, at, text).unwrap_err());
}

#[test]
fn a_missing_or_empty_file_is_created() {
    let made = wire("claude-code", 1, "").unwrap();
    assert_eq!(wire("claude-code", 1, " \n").unwrap(), made);
    expect![[r#"
        {
          "mcpServers": {
            "rekindle": {
              "type": "stdio",
              "command": "/home/me/.local/bin/rekindle",
              "args": ["serve"]
            }
          }
        }
    "#]]
    .assert_eq(&made);
    expect![[r#"
        [mcp_servers.rekindle]
        command = "/home/me/.local/bin/rekindle"
        args = ["serve"]
        env_vars = ["REKINDLE_HOME", "REKINDLE_RUNTIME_DIR", "REKINDLE_CONFIG", "XDG_RUNTIME_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME"]
    "#]]
    .assert_eq(&wire("codex", 1, "").unwrap());
}

#[test]
fn indentation_order_and_line_ends_are_kept() {
    let tabs = "{\r\n\t\"z\": 1,\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {\"command\":\"x\"}\r\n\t},\r\n\t\"b\": 2.50\r\n}";
    let wired = wired_and_unwired("claude-code", 1, tabs);
    assert!(!wired.replace("\r\n", "").contains('\n'), "{wired:?}");
    expect![[r#"
        {
        	"z": 1,
        	"mcpServers": {
        		"a": {"command":"x"},
        		"rekindle": {
        			"type": "stdio",
        			"command": "/home/me/.local/bin/rekindle",
        			"args": ["serve"]
        		}
        	},
        	"b": 2.50
        }"#]]
    .assert_eq(&wired.replace("\r\n", "\n"));
}

#[test]
fn a_byte_order_mark_is_kept() {
    let wired = wired_and_unwired("claude-code", 1, "\u{feff}{\n  \"a\": 1\n}\n");
    assert!(wired.starts_with("\u{feff}{\n  \"a\": 1,\n"));
}

#[test]
fn a_one_line_file_stays_valid_and_is_restored() {
    for text in ["{}", "{ }", r#"{"a":1}"#, r#"{"hooks":{}}"#, r#"{"hooks":{"Stop":[]}}"#] {
        let wired = wire("claude-code", 0, text).unwrap();
        serde_json::from_str::<serde_json::Value>(&wired).unwrap();
        assert_eq!(wire("claude-code", 0, &wired).unwrap(), wired);
        let back: serde_json::Value =
            serde_json::from_str(&unwire("claude-code", 0, &wired, Some(text))).unwrap();
        assert_eq!(back, serde_json::from_str::<serde_json::Value>(text).unwrap());
    }
}

#[test]
fn comments_are_kept_where_the_agent_reads_them() {
    let jsonc = "{\n  // mine\n  \"theme\": \"x\", /* too */\n  \"mcp\": {\n    \"a\": {}, // last\n  },\n}\n";
    expect![[r#"
        {
          // mine
          "theme": "x", /* too */
          "mcp": {
            "a": {}, // last
            "rekindle": {
              "type": "local",
              "command": ["/home/me/.local/bin/rekindle", "serve"],
              "enabled": true,
            },
          },
        }
    "#]]
    .assert_eq(&wired_and_unwired("opencode", 1, jsonc));
    let toml =
        "# mine\nmodel = \"x\" # too\n\n[mcp_servers.a] # third\ncommand = \"a\"\n\n[tui]\nx = 1\n";
    expect![[r##"
        # mine
        model = "x" # too

        [mcp_servers.a] # third
        command = "a"

        [mcp_servers.rekindle]
        command = "/home/me/.local/bin/rekindle"
        args = ["serve"]
        env_vars = ["REKINDLE_HOME", "REKINDLE_RUNTIME_DIR", "REKINDLE_CONFIG", "XDG_RUNTIME_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME"]

        [tui]
        x = 1
    "##]]
    .assert_eq(&wired_and_unwired("codex", 1, toml));
    wired_and_unwired("gemini-cli", 0, "{\n  // mine\n  \"ui\": {}\n}\n");
    wired_and_unwired("codex", 1, "model = \"x\"\r\n");
}

#[test]
fn comments_are_refused_where_the_agent_does_not_read_them() {
    let text = "{\n  \"a\": 1, // no\n  \"b\": 2\n}\n";
    refused(
        "claude-code",
        0,
        text,
        expect!["FILE line 2 column 11: not valid JSON: comments are not allowed"],
    );
    let comma = "{\n  // fine\n  \"a\": [1,]\n}\n";
    refused(
        "gemini-cli",
        0,
        comma,
        expect!["FILE line 3 column 10: not valid JSON: trailing commas are not allowed"],
    );
}

#[test]
fn invalid_files_are_refused_with_line_and_column() {
    refused(
        "claude-code",
        0,
        "{\n  \"a\": }\n",
        expect!["FILE line 2 column 8: not valid JSON: unexpected close brace"],
    );
    refused(
        "claude-code",
        0,
        "hello",
        expect!["FILE line 1 column 1: not valid JSON: unexpected word"],
    );
    refused("claude-code", 0, "[1]", expect!["FILE line 1 column 1: the file is not an object"]);
    refused(
        "claude-code",
        0,
        "{} {}",
        expect![
            "FILE line 1 column 4: not valid JSON: text cannot contain more than one JSON value"
        ],
    );
    refused(
        "claude-code",
        0,
        "{\n  \"hooks\": []\n}",
        expect!["FILE line 2 column 12: `hooks` is not an object"],
    );
    refused(
        "claude-code",
        0,
        "{\"hooks\": {\n  \"Stop\": {}}}",
        expect!["FILE line 2 column 11: `hooks.Stop` is not a list"],
    );
    refused(
        "claude-code",
        0,
        "{\"hooks\": {},\n \"hooks\": {}}",
        expect!["FILE line 2 column 2: `hooks` is there twice"],
    );
    refused(
        "claude-code",
        1,
        "{\"mcpServers\": {\"rekindle\": {\"url\": \"x\"}}}",
        expect!["FILE line 1 column 29: `mcpServers.rekindle` already exists and is not ours"],
    );
    refused(
        "codex",
        1,
        "a = 1\nb =\n",
        expect![
            "FILE line 2 column 4: not valid TOML: string values must be quoted, expected literal string"
        ],
    );
    refused(
        "codex",
        1,
        "a = 1\nmcp_servers = 3\n",
        expect!["FILE line 2 column 15: `mcp_servers` is not a table"],
    );
    refused(
        "codex",
        1,
        "[mcp_servers.rekindle]\nurl = \"x\"\n",
        expect!["FILE line 1 column 1: `mcp_servers.rekindle` already exists and is not ours"],
    );
}

#[test]
fn missing_hooks_are_added_and_old_paths_replaced() {
    let old = r#"{
  "hooks": {
    "SessionStart": [
      {
        "matcher": "startup",
        "hooks": [
          { "type": "command", "command": "echo hello" },
          { "type": "command", "command": "/old/rekindle", "args": ["hook", "SessionStart"], "timeout": 7 }
        ]
      }
    ],
    "Stop": [
      { "hooks": [{ "type": "command", "command": "/old/rekindle hook Stop" }] },
      { "hooks": [{ "type": "command", "command": "/older/rekindle hook Stop" }] }
    ]
  }
}
"#;
    let wired = wire("claude-code", 0, old).unwrap();
    assert_eq!(wire("claude-code", 0, &wired).unwrap(), wired);
    assert!(!wired.contains("old"), "{wired}");
    expect![[r#"
        {
          "hooks": {
            "SessionStart": [
              {
                "matcher": "startup",
                "hooks": [
                  { "type": "command", "command": "echo hello" }
                ]
              },
              {
                "hooks": [
                  {
                    "type": "command",
                    "command": "/home/me/.local/bin/rekindle",
                    "args": ["hook", "SessionStart", "--agent", "claude-code"]
                  }
                ]
              }
            ],
            "Stop": [
              { "hooks": [{
                    "type": "command",
                    "command": "/home/me/.local/bin/rekindle",
                    "args": ["hook", "Stop", "--agent", "claude-code"]
                  }] }
            ],
    "#]]
    .assert_eq(wired.split("    \"UserPromptSubmit\"").next().unwrap());
    for event in ["SessionStart", "Stop", "SessionEnd"] {
        assert_eq!(wired.matches(&format!("[\"hook\", \"{event}\"")).count(), 1, "{wired}");
    }
    // The foreign hook in the same group stays, and so does the group.
    expect![[r#"
        {
          "hooks": {
            "SessionStart": [
              {
                "matcher": "startup",
                "hooks": [
                  { "type": "command", "command": "echo hello" }
                ]
              }
            ]
          }
        }
    "#]]
    .assert_eq(&unwire("claude-code", 0, &wired, None));
}

/// The names of our complete entries in a text.
fn whole(agent: &str, at: usize, text: &str) -> Vec<String> {
    let pieces = edit::wired(text, file(agent, at), agent).into_iter();
    pieces.filter(|piece| piece.whole).map(|piece| piece.name).collect()
}

/// @connect_narrowed
#[test]
fn a_narrowed_hook_is_reported_and_restored() {
    let wired = wire("claude-code", 0, "{}").unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&wired).unwrap();
    let hooks = &mut value["hooks"];
    hooks["PreToolUse"][0]["matcher"] = "Edit".into();
    hooks["PostToolUse"][0]["matcher"] = "".into();
    hooks["Stop"][0]["hooks"][0]["timeout"] = 1.into();
    hooks["UserPromptSubmit"][0]["hooks"][0]["if"] = "Bash(git *)".into();
    hooks["SessionEnd"][0]["hooks"][0]["timeout"] = 1.into();
    let whole_ones = whole("claude-code", 0, &value.to_string());
    let untouched =
        ["SessionStart", "PostToolUseFailure", "StopFailure", "SubagentStop", "PreCompact"];
    assert_eq!(whole_ones, untouched);
    let mended = wire("claude-code", 0, &value.to_string()).unwrap();
    let plain: serde_json::Value = serde_json::from_str(&wired).unwrap();
    assert_eq!(serde_json::from_str::<serde_json::Value>(&mended).unwrap(), plain);
    assert_eq!(whole("claude-code", 0, &mended).len(), 10);
    // Without groups, the matcher is in the hook.
    let narrow = r#"{"hooks":{"stop":[{"command":"/a/rekindle hook stop","matcher":"x"}]}}"#;
    assert!(whole("cursor", 0, narrow).is_empty());
    assert!(!wire("cursor", 0, narrow).unwrap().contains("matcher"));
}

/// @connect_narrowed
#[test]
fn an_altered_hook_is_reported_and_restored() {
    let wired = wire("codex", 0, "{}").unwrap();
    let plain: serde_json::Value = serde_json::from_str(&wired).unwrap();
    let line = "/other/rekindle hook Stop --agent codex";
    for (member, other) in [
        ("type", "prompt".into()),
        ("command", "/other/rekindle hook PreToolUse --agent codex".into()),
        ("command", "/other/rekindle hook Stop --agent cursor".into()),
        ("async", true.into()),
        ("once", true.into()),
    ] {
        let mut value = plain.clone();
        let hook = &mut value["hooks"]["Stop"][0]["hooks"][0];
        hook["command"] = line.into();
        let moved = whole("codex", 0, &value.to_string());
        assert!(moved.contains(&"Stop".to_owned()), "the path alone does not matter");
        value["hooks"]["Stop"][0]["hooks"][0][member] = other;
        let names = whole("codex", 0, &value.to_string());
        assert!(!names.contains(&"Stop".to_owned()), "{member}: {value}");
        let mended = wire("codex", 0, &value.to_string()).unwrap();
        assert_eq!(serde_json::from_str::<serde_json::Value>(&mended).unwrap(), plain, "{member}");
    }
    // A hook written by hand counts too, and so do members with their default values.
    let by_hand = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"rekindle","args":["hook","Stop"]}]}]}}"#;
    assert_eq!(whole("claude-code", 0, by_hand), ["Stop"]);
    let typed = r#"{"version":1,"hooks":{"stop":[{"command":"/a/rekindle hook stop --agent cursor","type":"command"}]}}"#;
    assert_eq!(whole("cursor", 0, typed), ["stop"]);
    assert!(wire("cursor", 0, typed).unwrap().contains(r#""type":"command""#));
}

/// @connect_narrowed
#[test]
fn a_server_of_another_type_is_reported_and_restored() {
    let wired = wire("opencode", 1, "{}").unwrap();
    for other in
        [wired.replace("\"local\"", "\"remote\""), wired.replace("\"type\": \"local\",", "")]
    {
        assert!(whole("opencode", 1, &other).is_empty(), "{other}");
        let mended = wire("opencode", 1, &other).unwrap();
        assert_eq!(whole("opencode", 1, &mended), ["rekindle"], "{mended}");
    }
    let http = wire("claude-code", 1, "{}").unwrap().replace("stdio", "http");
    assert!(whole("claude-code", 1, &http).is_empty());
    assert_eq!(wire("claude-code", 1, &http).unwrap(), http.replace("http", "stdio"));
}

/// @connect_narrowed
#[test]
fn an_incomplete_or_edited_plugin_is_reported_and_restored() {
    let wired = wire("opencode", 0, "").unwrap();
    assert_eq!(whole("opencode", 0, &wired), ["plugin"]);
    for end in [3, 200, wired.len() / 2, wired.len() - 1] {
        let cut = &wired[..end];
        assert!(whole("opencode", 0, cut).is_empty(), "{end}");
        assert_eq!(wire("opencode", 0, cut).unwrap(), wired, "{end}");
    }
    let edited = wired.replacen("spawn(", "void(", 1);
    assert!(edited != wired && whole("opencode", 0, &edited).is_empty());
    assert_eq!(wire("opencode", 0, &edited).unwrap(), wired);
}

#[test]
fn user_additions_to_our_server_entry_are_kept() {
    let text = r#"{
  "mcpServers": {
    "rekindle": { "command": "/old/rekindle", "args": ["serve", "--tools", "all"], "env": { "A": "b" } }
  }
}
"#;
    let wired = wire("cursor", 1, text).unwrap();
    assert_eq!(wired, text.replace("/old/rekindle", BINARY));
    let toml = "[mcp_servers.rekindle]\ncommand = \"/old/rekindle\" # here\nargs = [\"serve\"]\nenv_vars = [\"MINE\"]\n";
    assert_eq!(wire("codex", 1, toml).unwrap(), toml.replace("/old/rekindle", BINARY));
    let older = toml.replace("env_vars = [\"MINE\"]\n", "enabled = false\n");
    let wired = wire("codex", 1, &older).unwrap();
    assert!(wired.contains("enabled = false") && wired.contains("\"XDG_RUNTIME_DIR\""), "{wired}");
}

#[test]
fn install_and_uninstall_restore_the_file_of_every_agent() {
    let jsons = [("claude-code", 0), ("claude-code", 1), ("codex", 0), ("gemini-cli", 0)];
    for (agent, at) in jsons.into_iter().chain([("cursor", 0), ("cursor", 1), ("opencode", 1)]) {
        wired_and_unwired(agent, at, "{\n    \"other\": {\n        \"a\": [1, 2]\n    }\n}\n");
    }
}

#[test]
fn a_file_of_another_user_is_refused() {
    let path = std::env::temp_dir().join(format!("rekindle-owner-{}", std::process::id()));
    std::fs::write(&path, "{}").unwrap();
    let uid = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(&path).unwrap());
    assert_eq!(crate::place::read(&path, uid).unwrap().text.as_deref(), Some("{}"));
    let error = crate::place::read(&path, uid + 1).unwrap_err();
    assert!(error.message.ends_with("belongs to another user"), "{error}");
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn a_diff_shows_changed_lines_with_context() {
    let before: String = (1..=20).map(|n| format!("{n}\n")).collect();
    let after = before.replace("5\n", "five\n").replacen("17\n", "17\n17b\n", 1) + "end";
    expect![[r#"
        --- F
        +++ F
        @@ -2,7 +2,7 @@
         2
         3
         4
        -5
        +five
         6
         7
         8
        @@ -12,9 +12,11 @@
         12
         13
         14
        -15
        +1five
         16
         17
        +17b
         18
         19
         20
        +end
        \ No newline at end of file
    "#]]
    .assert_eq(&crate::unified("F", Some(&before), Some(&after)));
    assert_eq!(crate::unified("F", Some("a\n"), Some("a\n")), "");
}
