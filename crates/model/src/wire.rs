//! A call and its road: request, caller, reply, the envelope of the unix socket, build ids.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::OpError;
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
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
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
    let bytes = op.bytes().chain([0]).chain(text.bytes());
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
pub struct Envelope {
    pub call: CallId,
    #[serde(flatten)]
    pub caller: Caller,
    /// The database this client means; the daemon refuses a call that is not for its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub db: Option<String>,
    /// The MCP revision agreed with the client of a stdio server, once there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// The toolset that a stdio server lists for its client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<String>,
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
    fn a_build_is_newer_by_version_then_by_time() {
        let old = Build { version: (0, 1, 0), built: 900 };
        let new = Build { version: (0, 2, 0), built: 100 };
        assert!(new > old);
        assert_eq!(Build::parse(&old.to_string()), Some(old));
    }
}
