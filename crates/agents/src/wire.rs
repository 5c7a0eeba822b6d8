//! The raw event of an agent: a JSON object whose members are read by name. A member of an unexpected type
//! is converted if possible, else it counts as missing: an agent's mistake must not lose the event. Other
//! modules interpret the members.

use std::borrow::Cow;

use model::OpError;

use crate::json::{Json, Members};

/// Bytes at the cut of a shortened text that may be part of a word, and so part of a secret.
const TORN_BYTES: usize = 512;

/// The members of an event.
#[derive(Clone, Copy)]
pub(crate) struct Wire<'a>(&'a Members<'a>);

impl<'a> Wire<'a> {
    pub(crate) fn read(payload: &'a Json<'a>) -> Result<Self, OpError> {
        let not_one = || {
            OpError::invalid("", "the event is not a JSON object")
                .hint("Send the event as the agent has it.")
        };
        payload.as_object().map(Wire).ok_or_else(not_one)
    }

    /// A member, unless it is missing or null.
    pub(crate) fn value(self, member: &str) -> Option<&'a Json<'a>> {
        self.0.get(member).filter(|value| **value != Json::Null)
    }

    pub(crate) fn has(self, member: &str) -> bool {
        self.value(member).is_some()
    }

    /// A text that may be missing.
    pub(crate) fn text(self, member: &str) -> Option<&'a str> {
        Some(Text::of(self.value(member)?)?.head())
    }

    /// A text that is neither missing nor blank.
    pub(crate) fn telling(self, member: &str) -> Option<&'a str> {
        self.text(member).filter(|text| !text.trim().is_empty())
    }

    /// An id, which may also be a number.
    pub(crate) fn id(self, member: &str) -> Option<Cow<'a, str>> {
        let id = match self.value(member)? {
            Json::Number(number) => number.to_string().into(),
            value => Cow::Borrowed(Text::of(value)?.head()),
        };
        (!id.trim().is_empty()).then_some(id)
    }

    /// The text of a member: the member itself, or the texts of its blocks.
    pub(crate) fn said(self, member: &str) -> Option<Cow<'a, str>> {
        said(self.value(member)?, Extent::Head)
    }

    /// Like [`Wire::said`], with the end of a text that was shortened.
    pub(crate) fn said_to_its_end(self, member: &str) -> Option<Cow<'a, str>> {
        said(self.value(member)?, Extent::HeadAndTail)
    }

    /// The text of an error. An object or list without a text is returned as JSON.
    pub(crate) fn error(self, member: &str) -> Option<Cow<'a, str>> {
        let value = self.value(member)?;
        // The end of an error shows the result.
        said(value, Extent::HeadAndTail).or_else(|| {
            let built = matches!(value, Json::Object(_) | Json::List(_));
            built.then(|| serde_json::to_string(value).unwrap_or_default().into())
        })
    }

    /// Refuses an event that lacks this member.
    pub(crate) fn lacks(self, member: &str) -> OpError {
        let what = match self.value(member) {
            None => "is missing",
            Some(Json::Text(_)) => "is empty",
            Some(_) => "is not a text",
        };
        OpError::invalid(member, format!("{member} {what}"))
            .hint("Send the event as the agent has it.")
    }

    /// All members, as the input of a tool.
    pub(crate) fn as_input(self) -> Input<'a> {
        Input(Some(self.0))
    }

    /// An object; without members if it is missing.
    pub(crate) fn object(self, member: &str) -> Input<'a> {
        Input(self.value(member).and_then(Json::as_object))
    }

    pub(crate) fn flag(self, member: &str) -> bool {
        self.value(member) == Some(&Json::Bool(true))
    }
}

/// Which parts of a shortened text are read.
#[derive(Clone, Copy)]
enum Extent {
    Head,
    HeadAndTail,
}

fn said<'a>(value: &'a Json<'a>, extent: Extent) -> Option<Cow<'a, str>> {
    if let Some(text) = Text::of(value) {
        return Some(match (text, extent) {
            (Text::Shortened { .. }, Extent::HeadAndTail) => {
                text.pieces().collect::<Vec<_>>().join("\n…\n").into()
            }
            _ => text.head().into(),
        });
    }
    match value {
        Json::List(blocks) => {
            let texts: Vec<_> = blocks.iter().filter_map(|block| said(block, extent)).collect();
            (!texts.is_empty()).then(|| texts.join("\n").into())
        }
        Json::Object(members) => {
            let named = ["text", "message", "content"];
            named.iter().find_map(|member| said(members.get(member)?, extent))
        }
        _ => None,
    }
}

/// The input of a tool. A model wrote it, and a call with a wrong member is worth storing because it fails;
/// so a member of the wrong type counts as missing.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a>(Option<&'a Members<'a>>);

impl<'a> Input<'a> {
    pub(crate) fn value(self, member: &str) -> Option<&'a Json<'a>> {
        self.0?.get(member)
    }

    /// The first of these members that is a text.
    pub(crate) fn text(self, members: &[&str]) -> Option<Text<'a>> {
        members.iter().find_map(|member| Text::of(self.value(member)?))
    }

    /// The first text in these members, each a text or a list with texts.
    pub(crate) fn text_or_first(self, members: &[&str]) -> Option<Text<'a>> {
        members.iter().find_map(|member| match self.value(member)? {
            Json::List(items) => items.iter().find_map(Text::of),
            value => Text::of(value),
        })
    }

    /// The objects in a list.
    pub(crate) fn objects(self, member: &str) -> impl Iterator<Item = Input<'a>> {
        let items = self.value(member).and_then(Json::as_list);
        items.into_iter().flatten().filter_map(Json::as_object).map(|object| Input(Some(object)))
    }
}

/// A text of an event, whole or as a [`Shortener`](crate::shortener) leaves it.
#[derive(Clone, Copy)]
pub(crate) enum Text<'a> {
    Whole(&'a str),
    Shortened { bytes: u64, sha256: &'a str, head: &'a str, tail: &'a str },
}

impl<'a> Text<'a> {
    pub(crate) fn of(value: &'a Json<'a>) -> Option<Self> {
        match value {
            Json::Text(text) => Some(Text::Whole(text)),
            // A hook of an older build sends no tail.
            Json::Object(members) if matches!(members.len(), 3 | 4) => Some(Text::Shortened {
                bytes: members.get("bytes")?.as_number()?.as_u64()?,
                sha256: members.get("sha256")?.as_str()?,
                head: members.get("head")?.as_str()?,
                tail: members.get("tail").and_then(Json::as_str).unwrap_or_default(),
            }),
            _ => None,
        }
    }

    /// The available parts of the text: all of it, or its head and tail.
    pub(crate) fn pieces(self) -> impl Iterator<Item = &'a str> {
        [self.head(), self.tail()].into_iter().filter(|piece| !piece.trim().is_empty())
    }

    /// The tail of a shortened text, without a word that may have been cut in two.
    fn tail(self) -> &'a str {
        let Text::Shortened { tail, .. } = self else { return "" };
        let torn = tail.ceil_char_boundary(TORN_BYTES.min(tail.len()));
        let space = tail[..torn].find(char::is_whitespace);
        &tail[space.unwrap_or(torn)..]
    }

    /// The head of the text, without a word that may have been cut in two.
    pub(crate) fn head(self) -> &'a str {
        match self {
            Text::Whole(text) => text,
            Text::Shortened { head, .. } => {
                let torn = head.floor_char_boundary(head.len().saturating_sub(TORN_BYTES));
                let space = head[torn..].rfind(char::is_whitespace);
                &head[..space.map_or(torn, |at| torn + at)]
            }
        }
    }

    pub(crate) fn bytes(self) -> u64 {
        match self {
            Text::Whole(text) => text.len() as u64,
            Text::Shortened { bytes, .. } => bytes,
        }
    }

    /// The beginning of the digest of the whole text; `None` if there was no time for one.
    pub(crate) fn fingerprint(self) -> Option<Cow<'a, str>> {
        match self {
            Text::Whole(text) => Some(crate::digest::fingerprint(text.as_bytes()).into()),
            Text::Shortened { sha256: "", .. } => None,
            Text::Shortened { sha256, .. } => Some(crate::guard::cut(sha256, 16).into()),
        }
    }
}
