//! A call and its road: request, caller, reply, the envelope of the unix socket, build ids.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::OpError;
use crate::limits;
use crate::situation::Situation;

/// The 128-bit id of a call or hook event, minted where it starts. A repeated id is a repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(pub [u8; 16]);

impl CallId {
    /// Reads 32 hexadecimal digits.
    pub fn parse(text: &str) -> Option<CallId> {
        let text = text.as_bytes();
        if text.len() != 32 {
            return None;
        }
        let mut bytes = [0; 16];
        for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
            let high = char::from(pair[0]).to_digit(16)?;
            let low = char::from(pair[1]).to_digit(16)?;
            *byte = u8::try_from(high * 16 + low).ok()?;
        }
        Some(CallId(bytes))
    }
}

impl CallId {
    /// The id of a member of a batch: its own, and the same one when the batch is sent again.
    #[must_use]
    pub fn member(self, index: usize) -> CallId {
        let CallId(mut bytes) = self;
        for (byte, bits) in bytes.iter_mut().rev().zip(index.to_le_bytes()) {
            *byte ^= bits;
        }
        CallId(bytes)
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let mut text = [0; 32];
        for (place, digit) in text.iter_mut().zip(digits) {
            *place = if digit < 10 { b'0' + digit } else { b'a' + digit - 10 };
        }
        f.write_str(std::str::from_utf8(&text).unwrap_or_default())
    }
}

impl Serialize for CallId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CallId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        CallId::parse(&text).ok_or_else(|| serde::de::Error::custom("a call id is 32 hex digits"))
    }
}

/// Who calls, by the road they came on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// A person at the command line.
    Person,
    /// An agent through MCP.
    Agent,
    /// A program through JSON-RPC: the web page, an editor, a script.
    #[default]
    Client,
    /// An agent's hook.
    Hook,
}

/// Who calls and where they stand.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Caller {
    pub tier: Tier,
    /// The agent's conversation, where the surface knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(skip_serializing_if = "Situation::is_empty")]
    pub situation: Situation,
}

/// One call of one operation.
#[derive(Clone, Debug)]
pub struct Request {
    pub call: CallId,
    /// The operation's name or one of its aliases.
    pub op: String,
    /// Parameters by name; `Null` means none.
    pub params: Value,
    pub caller: Caller,
}

/// Tells calls apart: the same operation with the same parameters has the same number, in every
/// build. FNV-1a, which nobody has to trust: an id that is used for two calls is a mistake.
pub fn fingerprint(op: &str, params: &Value) -> i64 {
    let text = params.to_string();
    fnv1a(op.bytes().chain([0]).chain(text.bytes()))
}

fn fnv1a(bytes: impl Iterator<Item = u8>) -> i64 {
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    i64::from_ne_bytes(hash.to_ne_bytes())
}

/// What a call comes back with.
pub type Reply = Result<Value, OpError>;

/// A way to the handlers: over the socket (`client`) or in this process (`runtime`).
pub trait Road {
    fn call(&self, request: Request) -> Reply;
}

/// What our own clients put beside a JSON-RPC request on the unix socket, as its member `rekindle`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "FlatEnvelope")]
pub struct Envelope {
    pub call: CallId,
    #[serde(flatten)]
    pub caller: Caller,
    /// The database this client means; the daemon refuses a call that is not for its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub db: Option<String>,
    /// The MCP revision agreed with the client of a stdio server, once there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// The toolset that a stdio server lists for its client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<String>,
    /// The stamp of the [`EnvNames`] this client knows. If the daemon's are others it answers with
    /// them ([`Answer::AsksEnv`]) and does nothing; the client fills in the variables and sends the
    /// call again. Who leaves it out is not asked: hooks, and builds that do not know of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env_stamp: Option<i64>,
}

/// An [`Envelope`] as it is read: with the members of its caller among its own, which is much faster than
/// to collect what is left over for it.
#[derive(Deserialize)]
struct FlatEnvelope {
    call: CallId,
    #[serde(default)]
    tier: Tier,
    session: Option<String>,
    #[serde(default)]
    situation: Situation,
    db: Option<String>,
    revision: Option<String>,
    tools: Option<String>,
    env_stamp: Option<i64>,
}

impl From<FlatEnvelope> for Envelope {
    fn from(flat: FlatEnvelope) -> Envelope {
        let FlatEnvelope { call, tier, session, situation, db, revision, tools, env_stamp } = flat;
        let caller = Caller { tier, session, situation };
        Envelope { call, caller, db, revision, tools, env_stamp }
    }
}

/// The environment variables that stored scopes ask for. No other leaves a client's process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvNames {
    /// Tells lists apart, in every build; 0 is the empty one.
    pub stamp: i64,
    pub names: Vec<String>,
}

impl EnvNames {
    /// The list of these names, each once and in order, cut at [`limits::ENV_NAMES_MAX`].
    pub fn new<'n>(names: impl IntoIterator<Item = &'n String>) -> EnvNames {
        let names: BTreeSet<&String> = names.into_iter().collect();
        let names: Vec<String> = names.into_iter().take(limits::ENV_NAMES_MAX).cloned().collect();
        let stamp = match names.as_slice() {
            [] => 0,
            names => fnv1a(names.iter().flat_map(|name| name.bytes().chain([0]))),
        };
        EnvNames { stamp, names }
    }
}

/// What comes back over the unix socket: a reply, or a question in its place. The question is the
/// member `rekindle` of a frame that has neither result nor error.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    Reply(Reply),
    AsksEnv(EnvNames),
}

impl Answer {
    /// The frame of a question to the call with this id.
    pub fn asks_env(id: &Value, asked: &EnvNames) -> Value {
        json!({ "jsonrpc": "2.0", "id": id, "rekindle": { "asks_env": asked } })
    }

    /// Takes a frame apart.
    pub fn read(mut frame: Value) -> Answer {
        if let Some(error) = frame.get("error") {
            return Answer::Reply(Err(OpError::from_wire(error)));
        }
        let asked = frame.get_mut("rekindle").and_then(|own| own.get_mut("asks_env"));
        match asked.map(|asked| serde_json::from_value(asked.take())) {
            Some(Ok(asked)) => Answer::AsksEnv(asked),
            Some(Err(_)) => Answer::Reply(Err(not_understood())),
            None => {
                let result = frame.get_mut("result").map(Value::take);
                Answer::Reply(Ok(result.unwrap_or_default()))
            }
        }
    }

    /// The reply, where no question was to be expected.
    pub fn reply(self) -> Reply {
        match self {
            Answer::Reply(reply) => reply,
            Answer::AsksEnv(_) => Err(not_understood()),
        }
    }
}

fn not_understood() -> OpError {
    OpError::internal("the daemon asks what this client does not understand")
        .hint("They may be of different builds: `rekindle stop` lets the next one be new.")
}

/// Which build a process is. Newer is by version, then by build time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Build {
    /// Three numbers of the version.
    pub version: (u32, u32, u32),
    /// Seconds since 1970 at which the binary was built.
    pub built: u64,
}

impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor, patch) = self.version;
        write!(f, "{major}.{minor}.{patch}+{}", self.built)
    }
}

impl Build {
    /// Whether this build is newer than the one that a daemon's hello names.
    pub fn is_newer_than(&self, daemon: &str) -> bool {
        Build::parse(daemon).is_some_and(|daemon| *self > daemon)
    }

    /// Reads what `Display` writes.
    pub fn parse(text: &str) -> Option<Build> {
        let (version, built) = text.split_once('+')?;
        let mut numbers = version.split('.').map(str::parse::<u32>);
        let mut next = || numbers.next()?.ok();
        Some(Build { version: (next()?, next()?, next()?), built: built.parse().ok()? })
    }
}

/// What the daemon says of itself when a client says hello.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Hello {
    pub server: String,
    pub version: String,
    pub build: String,
    pub pid: u32,
    pub port: u16,
    /// Where HTTP is answered, for example `http://127.0.0.1:8765`. Builds may differ: whatever is
    /// added to a hello has a default.
    #[serde(default)]
    pub address: String,
    pub db: String,
    /// Set if another program uses the requested port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_port: Option<TakenPort>,
}

/// The requested port of a daemon, if another program listens on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakenPort {
    pub port: u16,
    /// The process, if it is known to be another daemon of this user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daemon: Option<u32>,
    /// The last of the ports that are tried, if all of them are taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<u16>,
}

impl TakenPort {
    /// A warning for the user: at the usual address there may be the page of another program.
    pub fn note(&self, used: u16) -> String {
        let port = self.port;
        if let Some(last) = self.last {
            return format!(
                "ports {port} to {last} are used by other programs, so the daemon uses {used}, which was free; \
                 a page at one of these ports is not Rekindle's"
            );
        }
        match self.daemon {
            Some(pid) => format!(
                "port {port} is used by another Rekindle daemon (pid {pid}); this one uses {used}"
            ),
            None => format!(
                "port {port} is used by another program, so the daemon uses {used}; \
                 a page at port {port} is not Rekindle's"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_id_survives_its_text() {
        let id = CallId([0xa5; 16]);
        assert_eq!(CallId::parse(&id.to_string()), Some(id));
        assert_eq!(CallId::parse("xyz"), None);
        assert_eq!(CallId::parse(&"é".repeat(16)), None);
    }

    #[test]
    fn a_list_of_names_has_one_stamp_whatever_its_order() {
        let list = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            EnvNames::new(&names)
        };
        assert_eq!(list(&["B", "A", "B"]), list(&["A", "B"]));
        assert_ne!(list(&["AB"]).stamp, list(&["A", "B"]).stamp);
        assert_eq!(list(&[]), EnvNames::default());
        let many: Vec<String> = (0..2_000).map(|number| format!("V{number}")).collect();
        assert_eq!(EnvNames::new(&many).names.len(), limits::ENV_NAMES_MAX);
    }

    #[test]
    fn a_question_is_told_from_a_reply() {
        let asked = EnvNames::new(&["A".to_owned()]);
        let question = Answer::read(Answer::asks_env(&json!(1), &asked));
        assert_eq!(question, Answer::AsksEnv(asked));
        assert_eq!(question.reply().unwrap_err().code, crate::Code::Internal);
        let reply = |frame: Value| Answer::read(frame).reply();
        assert_eq!(reply(json!({ "result": { "rekindle": 1 } })), Ok(json!({ "rekindle": 1 })));
        assert_eq!(reply(json!({ "id": 1 })), Ok(Value::Null));
        assert!(reply(json!({ "rekindle": { "asks_env": 1 } })).is_err());
        let error = OpError::invalid("a", "b");
        assert_eq!(reply(json!({ "error": error.to_wire() })).unwrap_err().code, error.code);
    }

    #[test]
    fn a_build_is_newer_by_version_then_by_time() {
        let old = Build { version: (0, 1, 0), built: 900 };
        let new = Build { version: (0, 2, 0), built: 100 };
        assert!(new > old);
        assert_eq!(Build::parse(&old.to_string()), Some(old));
    }
}
