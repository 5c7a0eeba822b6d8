//! The context of a session: named sets of short texts, such as the files, endpoints and ports that matter to it. An agent
//! declares them; a resumed session gets them back.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::OpError;
use crate::limits;

/// The set of files, whose items are paths.
pub const FILES: &str = "files";
/// The set with the view that was open last: its name, then its parameters as `key=value`.
pub const APPLET: &str = "applet";
/// The names of sets that viewers know. Others are allowed.
pub const KNOWN_SETS: [&str; 4] = [FILES, APPLET, "endpoints", "ports"];

/// How items are added to a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContextMode {
    /// They replace the set; an empty list clears it.
    #[default]
    Replace,
    /// They are appended to the set.
    Merge,
}

/// The sets of a session, and the items of each, in the order in which they were written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContextSets(Vec<(String, Vec<String>)>);

impl ContextSets {
    pub fn new(sets: Vec<(String, Vec<String>)>) -> ContextSets {
        ContextSets(sets)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The items of a set; none if there is no such set.
    pub fn of(&self, name: &str) -> &[String] {
        let set = self.0.iter().find(|(known, _)| known == name);
        set.map_or(&[], |(_, items)| items)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.0.iter().map(|(name, items)| (name.as_str(), items.as_slice()))
    }

    /// The number of items in all sets.
    pub fn count(&self) -> usize {
        self.0.iter().map(|(_, items)| items.len()).sum()
    }

    /// Changes a set. Returns the items that did not fit. Equal items count once. A replaced set keeps its place among
    /// the sets. An error, which changes nothing, if there are too many items in all.
    pub fn change(
        &mut self,
        name: &str,
        items: Vec<String>,
        mode: ContextMode,
    ) -> Result<Vec<String>, OpError> {
        let before = self.clone();
        let mut kept = match mode {
            ContextMode::Replace => Vec::new(),
            ContextMode::Merge => self.of(name).to_vec(),
        };
        let mut dropped = Vec::new();
        for item in items {
            match kept.len() {
                _ if kept.contains(&item) || dropped.contains(&item) => {}
                full if full >= limits::CONTEXT_SET_ITEMS_MAX => dropped.push(item),
                _ => kept.push(item),
            }
        }
        let place = self.0.iter().position(|(known, _)| known == name);
        match (place, kept.is_empty()) {
            (Some(place), true) => drop(self.0.remove(place)),
            (Some(place), false) => {
                if let Some((_, items)) = self.0.get_mut(place) {
                    *items = kept;
                }
            }
            (None, true) => {}
            (None, false) => self.0.push((name.to_owned(), kept)),
        }
        let (total, max) = (self.count(), limits::CONTEXT_ITEMS_MAX);
        if total > max {
            *self = before;
            let message =
                format!("Context too large ({total} items, max {max}). Remove some items first.");
            return Err(OpError::invalid("items", message).with("max", max));
        }
        Ok(dropped)
    }
}

impl Serialize for ContextSets {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for ContextSets {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let sets = Map::<String, Value>::deserialize(deserializer)?;
        let read = |(name, items): (String, Value)| {
            let items: Result<Vec<String>, _> = serde_json::from_value(items);
            items.map(|items| (name, items)).map_err(serde::de::Error::custom)
        };
        sets.into_iter().map(read).collect::<Result<_, _>>().map(ContextSets)
    }
}

impl JsonSchema for ContextSets {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ContextSets".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        BTreeMap::<String, Vec<String>>::json_schema(generator)
    }
}

/// One line for a status line or a footer: five files by base name, the number of further ones, and the open view. Empty
/// if there is nothing to show.
pub fn footer(files: &[String], applet: &[String]) -> String {
    let shown = |text: &str| text::one_line(text, limits::FOOTER_NAME_CHARS_MAX);
    let name = |path: &String| {
        let inner = path.trim_end_matches(['/', '\\']);
        let name = inner.rsplit(['/', '\\']).next().filter(|name| !name.is_empty());
        // A root has no base name.
        shown(name.unwrap_or(path))
    };
    let mut parts: Vec<String> = files.iter().take(limits::FOOTER_FILES_MAX).map(name).collect();
    if let Some(more) = files.len().checked_sub(limits::FOOTER_FILES_MAX).filter(|more| *more > 0) {
        parts.push(format!("+{more} more"));
    }
    parts.extend(applet.first().map(|slug| format!("[{}]", shown(slug))));
    parts.join(" · ")
}

/// Checks the name of a set.
pub fn check_set_name(param: &str, name: &str) -> Result<(), OpError> {
    let max = limits::CONTEXT_SET_NAME_CHARS_MAX;
    let message = match name {
        blank if blank.trim().is_empty() => "the name of the set is empty".to_owned(),
        long if long.chars().nth(max).is_some() => {
            format!("the name of the set has more than {max} characters")
        }
        odd if odd.chars().any(char::is_control) => {
            "the name of the set has control characters".to_owned()
        }
        _ => return Ok(()),
    };
    let hint = format!("Use one of {}, or a name of your own.", KNOWN_SETS.join(", "));
    Err(OpError::invalid(param, message).with("max", max).hint(hint))
}

/// Checks the items of one call.
pub fn check_items(param: &str, items: &[String]) -> Result<(), OpError> {
    let (most, long) = (limits::CONTEXT_SET_ITEMS_MAX, limits::CONTEXT_ITEM_CHARS_MAX);
    if items.len() > most {
        let message = format!("{} items are more than the {most} of a set", items.len());
        return Err(OpError::invalid(param, message)
            .with("max", most)
            .hint("Name those that matter most."));
    }
    for (place, item) in items.iter().enumerate() {
        let number = place + 1;
        let message = match item.as_str() {
            blank if blank.trim().is_empty() => format!("item {number} is empty"),
            text if text.chars().nth(long).is_some() => {
                format!("item {number} has more than {long} characters")
            }
            _ => continue,
        };
        return Err(OpError::invalid(param, message).with("max", long));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// @statusline
    #[test]
    fn the_footer_names_five_files_counts_the_rest_and_ends_with_the_view() {
        let list = |items: &[&str]| items.iter().map(|item| (*item).to_owned()).collect::<Vec<_>>();
        assert_eq!(footer(&[], &[]), "");
        let files = list(&["/a/spec.md", r"C:\x\notes.md", "/a/e\u{1b}[31m.rs", "/d/"]);
        let applet = list(&["git-diff", "path=x"]);
        assert_eq!(footer(&files, &applet), "spec.md · notes.md · e␛[31m.rs · d · [git-diff]");
        let seven = list(&["/1", "/2", "/3", "/4", "/5", "/6", "/7"]);
        assert_eq!(footer(&seven, &[]), "1 · 2 · 3 · 4 · 5 · +2 more");
        assert_eq!(footer(&list(&["/", "/a"]), &[]), "/ · a");
    }

    fn texts(items: &[&str]) -> Vec<String> {
        items.iter().map(|item| (*item).to_owned()).collect()
    }

    fn numbers(range: std::ops::Range<usize>) -> Vec<String> {
        range.map(|number| number.to_string()).collect()
    }

    #[test]
    fn replacing_keeps_the_place_of_a_set_and_clearing_gives_it_up() {
        let mut sets = ContextSets::default();
        for name in ["files", "ports"] {
            sets.change(name, texts(&["1", "1", "2"]), ContextMode::Replace).unwrap();
        }
        sets.change("files", texts(&["3"]), ContextMode::Replace).unwrap();
        assert_eq!(serde_json::to_string(&sets).unwrap(), r#"{"files":["3"],"ports":["1","2"]}"#);
        sets.change("files", Vec::new(), ContextMode::Replace).unwrap();
        sets.change("files", texts(&["4"]), ContextMode::Replace).unwrap();
        assert_eq!(serde_json::to_string(&sets).unwrap(), r#"{"ports":["1","2"],"files":["4"]}"#);
    }

    #[test]
    fn merging_adds_items_behind_the_others_and_reports_those_that_do_not_fit() {
        let mut sets = ContextSets::default();
        sets.change("ports", numbers(0..9), ContextMode::Merge).unwrap();
        let more = texts(&["3", "a", "b", "b"]);
        assert_eq!(sets.change("ports", more, ContextMode::Merge).unwrap(), ["b"]);
        assert_eq!(sets.of("ports").last().map(String::as_str), Some("a"));
        let before = sets.clone();
        sets.change("ports", Vec::new(), ContextMode::Merge).unwrap();
        assert_eq!(sets, before);
    }

    #[test]
    fn more_than_fifty_items_change_nothing() {
        let mut sets = ContextSets::default();
        for set in 0..5 {
            sets.change(&format!("s{set}"), numbers(0..10), ContextMode::Replace).unwrap();
        }
        let before = sets.clone();
        let error = sets.change("one", texts(&["more"]), ContextMode::Replace).unwrap_err();
        assert_eq!(error.message, "Context too large (51 items, max 50). Remove some items first.");
        assert_eq!(sets, before);
    }

    #[test]
    fn names_and_items_are_checked() {
        for name in ["", "a\nb", &"x".repeat(65)] {
            assert!(check_set_name("setName", name).is_err(), "{name:?}");
        }
        for name in ["files", "__proto__", &"ä".repeat(64)] {
            assert!(check_set_name("setName", name).is_ok(), "{name:?}");
        }
        assert!(check_items("items", &texts(&["a", ""])).is_err());
        assert!(check_items("items", &[String::from("x").repeat(1_025)]).is_err());
        assert!(check_items("items", &numbers(0..11)).is_err());
        assert!(check_items("items", &[String::from("ä\n").repeat(512)]).is_ok());
    }

    #[test]
    fn sets_survive_json() {
        let text = r#"{"z":["1"],"a":["2","3"]}"#;
        let sets: ContextSets = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&sets).unwrap(), text);
        assert!(serde_json::from_str::<ContextSets>(r#"{"z":"1"}"#).is_err());
    }
}
