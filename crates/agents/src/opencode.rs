//! The plugin by which OpenCode talks to us, as a text: its hooks are functions, not commands.

const TEXT: &str = include_str!("opencode.js");

/// The plugin that calls the command at this path.
pub fn plugin(command: &str) -> String {
    let quoted = serde_json::Value::from(command).to_string();
    TEXT.replacen(r#"const COMMAND = "rekindle""#, &format!("const COMMAND = {quoted}"), 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::agent;

    /// @capture_opencode_plugin
    #[test]
    fn the_plugin_sends_each_event_of_its_row_and_no_other() {
        let row = agent("opencode").unwrap();
        for event in row.events {
            assert!(TEXT.contains(&format!("send(\"{}\"", event.name)), "{}", event.name);
        }
        let mut sent = TEXT
            .match_indices("send(\"")
            .map(|(at, sign)| TEXT[at + sign.len()..].split('"').next().unwrap());
        assert!(sent.all(|name| row.event(name).is_some()));
    }

    /// @capture_opencode_plugin
    #[test]
    fn the_plugin_calls_the_command_at_the_path_it_is_given() {
        let text = plugin(r#"/home/jo"n/.local/bin/rekindle"#);
        assert!(
            text.contains("\nconst COMMAND = \"/home/jo\\\"n/.local/bin/rekindle\"\n"),
            "{text}"
        );
        assert_eq!(text.lines().count(), TEXT.lines().count());
        assert_eq!(text.matches("COMMAND = ").count(), 1);
    }
}
