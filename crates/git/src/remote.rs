//! Remote URLs: the host that git would contact, and one normal form for all spellings.
//!
//! The host decides which memory a repository gets, so a URL is parsed exactly as git, ssh and curl parse it. A
//! URL that git refuses, or whose host is ambiguous, has no normal form: its repository is then identified by its
//! root directory.

use std::borrow::Cow;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::{Component, Path, PathBuf};

/// Longest URL in bytes; a longer one has no normal form.
pub const REMOTE_BYTES_MAX: usize = 2048;

/// Logins that serve the repositories of all users. They have no home directory of a person.
const SERVICE_LOGINS: [&str; 8] =
    ["git", "gitea", "forgejo", "gogs", "gitlab", "gitolite", "gitolite3", "gerrit"];
/// Hosts where no login has a home directory, and several logins lead to one repository.
const FORGES: [&str; 4] = ["github.com", "gitlab.com", "bitbucket.org", "codeberg.org"];

/// The protocols that git supports itself or through its bundled helper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    Ssh,
    Git,
    Http,
    Https,
    File,
}

impl Protocol {
    /// The protocol of this name. Names are case-sensitive: for `HTTPS` git needs a helper that does not exist.
    fn named(scheme: &str) -> Option<Protocol> {
        match scheme {
            "ssh" | "git+ssh" | "ssh+git" => Some(Protocol::Ssh),
            "git" => Some(Protocol::Git),
            "http" => Some(Protocol::Http),
            "https" => Some(Protocol::Https),
            "file" => Some(Protocol::File),
            _ => None,
        }
    }

    fn default_port(self) -> Option<u16> {
        match self {
            Protocol::Ssh => Some(22),
            Protocol::Git => Some(9418),
            Protocol::Http => Some(80),
            Protocol::Https => Some(443),
            Protocol::File => None,
        }
    }
}

/// The normal form of all URLs of a repository: `host/org/repo`, or an absolute path. Credentials, default ports,
/// a trailing `/` and `.git` are dropped, and the host is in lower case. A path in the home directory of a login
/// begins with `~login`. `None` if git would refuse the URL, or if its host or the end of its credentials is
/// ambiguous.
pub fn normal_remote(url: &str) -> Option<String> {
    let Address { host, path } = Address::parse(url)?;
    Some(match host {
        Some(host) => format!("{host}/{path}"),
        None => path,
    })
}

/// The host that git would contact, with its port unless that is the default.
#[cfg(test)]
pub(crate) fn host(url: &str) -> Option<String> {
    Address::parse(url)?.host
}

/// `https://host/org/repo` for a URL with a host, whatever its protocol; `file://` and the path for a local one.
pub(crate) fn repo_name(url: &str) -> Option<String> {
    let Address { host, path } = Address::parse(url)?;
    Some(match host {
        // Port 443 would be dropped as the default of `https`, but here it is not the default.
        Some(host) if host.ends_with(":443") => format!("ssh://{host}/{path}"),
        Some(host) => format!("https://{host}/{path}"),
        None => format!("file://{path}"),
    })
}

/// Makes a relative path absolute, relative to the top of the working tree.
pub(crate) fn absolute(url: &str, root: &Path) -> String {
    if !is_local(url) || url.starts_with(['/', '~']) {
        return url.to_owned();
    }
    let mut path = PathBuf::new();
    for step in root.join(url).components() {
        match step {
            Component::CurDir => {}
            Component::ParentDir => {
                path.pop();
            }
            step => path.push(step),
        }
    }
    path.to_string_lossy().into_owned()
}

/// A repository as a scope or a caller names it: `git:org/repo`, `host/org/repo`, any URL, or a path with or without
/// `file://`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepoName {
    address: Address,
}

impl RepoName {
    pub fn parse(text: &str) -> RepoName {
        let text = text.trim();
        let address = match text.strip_prefix("git:").filter(|rest| !rest.starts_with("//")) {
            Some(path) => Address { host: None, path: tidy(path.trim_start_matches('/')) },
            None => Address::with_bare_host(text).unwrap_or_else(|| Address::typed(text)),
        };
        RepoName { address }
    }

    /// Whether both mean the same repository. Hosts are compared if both sides name one: `git:org/repo` matches that
    /// repository on any host.
    pub fn is(&self, other: &RepoName) -> bool {
        let (ours, theirs) = (&self.address, &other.address);
        let hosts_differ = ours.host.is_some() && theirs.host.is_some() && ours.host != theirs.host;
        ours.path == theirs.path && !hosts_differ
    }
}

/// A parsed URL.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Address {
    /// In lower case, with its port unless that is the default; `None` for a local path.
    host: Option<String>,
    path: String,
}

impl Address {
    /// Parses a URL; `None` if git would refuse it or the host is ambiguous.
    fn parse(url: &str) -> Option<Address> {
        if url.len() > REMOTE_BYTES_MAX || url.contains(char::is_control) || names_a_helper(url) {
            return None;
        }
        let Some((scheme, rest)) = url.split_once("://") else {
            return if is_local(url) { Address::local(url) } else { Address::on_ssh(url, ':') };
        };
        match Protocol::named(scheme)? {
            Protocol::Ssh => Address::on_ssh(&decoded(rest)?, '/'),
            Protocol::Git => Address::on_git(&decoded(rest)?),
            protocol @ (Protocol::Http | Protocol::Https) => Address::on_web(protocol, rest),
            Protocol::File => {
                // Git ignores a host here.
                let rest = decoded(rest)?;
                Address::local(&rest[rest.find('/')?..])
            }
        }
    }

    /// Parses a remote that a user typed: the scheme is case-insensitive, and text that is not a URL is compared
    /// as it is.
    fn typed(text: &str) -> Address {
        let lower = text.split_once("://").map(|(scheme, rest)| {
            let scheme = scheme.to_ascii_lowercase();
            format!("{scheme}://{rest}")
        });
        let parsed = Address::parse(lower.as_deref().unwrap_or(text));
        parsed.unwrap_or_else(|| Address { host: None, path: tidy(text) })
    }

    /// `[user@]host[:port]` and a path after the separator: `/` in a URL with a scheme, `:` in the scp-like
    /// form.
    fn on_ssh(text: &str, separator: char) -> Option<Address> {
        let (authority, path) = split_authority(text, separator)?;
        let (destination, port) = split_port(authority)?;
        // Ssh would take it for an option, whatever follows the `@`, and git refuses it.
        if destination.starts_with('-') {
            return None;
        }
        // The host follows the last `@`. Ssh refuses an empty user.
        let (login, host) = match destination.rsplit_once('@') {
            Some(("", _)) => return None,
            Some((login, host)) => (Some(login), host),
            None => (None, destination.as_str()),
        };
        let path = if separator == ':' { &path[1..] } else { path };
        let path = at_home(path, login, host)?;
        Address::native(Protocol::Ssh, host, port, &path)
    }

    fn on_git(text: &str) -> Option<Address> {
        let (authority, path) = split_authority(text, '/')?;
        let (host, port) = split_port(authority)?;
        Address::native(Protocol::Git, &host, port, path)
    }

    /// A URL of a protocol that git implements itself.
    fn native(protocol: Protocol, host: &str, port: Option<u16>, path: &str) -> Option<Address> {
        // A home directory (`/~user`): git drops the first character, whatever it is.
        let path = path.get(1..).filter(|rest| rest.starts_with('~')).unwrap_or(path);
        // Git refuses a path that looks like an option; the other characters would end the path of an `https://` URL.
        if path.starts_with('-') || path.contains(['?', '#']) {
            return None;
        }
        Address::on(protocol, host_name(host)?, port, path)
    }

    /// A URL that curl parses.
    fn on_web(protocol: Protocol, rest: &str) -> Option<Address> {
        if rest.contains(' ') {
            return None;
        }
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        // Git sends the query with the request, so another query may lead to another repository. It may also hold a
        // token, which must not be stored.
        if path.contains(['?', '#']) {
            return None;
        }
        let host = match authority.split_once('@') {
            Some((_, host)) if host.contains('@') => return None,
            Some((_, host)) => host,
            None => authority,
        };
        let (host, port) = match host.strip_prefix('[') {
            Some(rest) => {
                let (address, port) = rest.split_once(']')?;
                let address: Ipv6Addr = address.parse().ok()?;
                (format!("[{address}]"), port)
            }
            None => {
                let (host, port) = host.split_at(host.find(':').unwrap_or(host.len()));
                (host_name(host)?, port)
            }
        };
        let port = match port.strip_prefix(':') {
            None if port.is_empty() => None,
            Some("") => None,
            Some(port) => Some(port_number(port)?),
            None => return None,
        };
        Address::on(protocol, host, port, path)
    }

    fn on(protocol: Protocol, host: String, port: Option<u16>, path: &str) -> Option<Address> {
        if port == Some(0) {
            return None;
        }
        let path = tidy(path.trim_start_matches('/'));
        // A password with a `/` continues in the path, and must not be kept.
        let mut parts = path.split('/');
        if path.is_empty() || parts.any(|part| part.find('@').is_some_and(|at| at > 0)) {
            return None;
        }
        let host = match port.filter(|port| protocol.default_port() != Some(*port)) {
            Some(port) => format!("{host}:{port}"),
            None => host,
        };
        Some(Address { host: Some(host), path })
    }

    /// An absolute path. One with `@[` in it is refused, because git itself drops its beginning.
    fn local(path: &str) -> Option<Address> {
        if !path.starts_with('/') || path.contains("@[") {
            return None;
        }
        let tidied = tidy(path);
        Some(Address { host: None, path: if tidied.is_empty() { "/".to_owned() } else { tidied } })
    }

    /// `host/org/repo`, as people copy it from a browser: three parts or more of which the first
    /// looks like a host.
    fn with_bare_host(text: &str) -> Option<Address> {
        if text.contains("://") || text.contains('@') {
            return None;
        }
        let (host, path) = text.split_once('/')?;
        let (name, port) = host.split_once(':').unwrap_or((host, "0"));
        let looks = name == "localhost" || (name.contains('.') && !name.starts_with('.'));
        let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        let path = Some(path).filter(|path| looks && is_port && path.contains('/'))?;
        let host = Some(host.to_ascii_lowercase());
        Some(Address { host, path: tidy(path.trim_start_matches('/')) })
    }
}

/// The path of a URL for ssh. If it starts in the home directory of the login, which is `~login` for everybody
/// else, the login is part of the path: `alice@host:x` and `mallory@host:x` are two repositories. `None` if the
/// login is not a plain name.
fn at_home<'a>(path: &'a str, login: Option<&str>, host: &str) -> Option<Cow<'a, str>> {
    let below = match path.strip_prefix('/').unwrap_or(path).strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => rest.trim_start_matches('/'),
        None if !path.starts_with('/') => path,
        // An absolute path, or a home directory by its name.
        _ => return Some(path.into()),
    };
    let is_forge = FORGES.iter().any(|forge| forge.eq_ignore_ascii_case(host));
    let Some(login) = login.filter(|login| !is_forge && !SERVICE_LOGINS.contains(login)) else {
        return Some(path.into());
    };
    let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    login.bytes().all(is_sign).then(|| format!("~{login}/{below}").into())
}

/// Whether the URL has the form `transport::address`: git passes it to a helper program of that name, which may
/// contact any host.
fn names_a_helper(url: &str) -> bool {
    let end = url.find(|sign: char| !(sign.is_ascii_alphanumeric() || "+-.".contains(sign)));
    end.and_then(|end| url.get(end..)).is_some_and(|rest| rest.starts_with("::"))
}

/// Whether a URL is a path: it has no scheme, and no colon before its first slash.
fn is_local(url: &str) -> bool {
    let head = url.split('/').next().unwrap_or_default();
    !url.contains("://") && !head.contains(':')
}

/// Splits before the first separator. Git searches for the separator after a host in brackets, and for these
/// brackets after the first `@[` anywhere.
fn split_authority(text: &str, separator: char) -> Option<(&str, &str)> {
    let behind = brackets(text).map_or(0, |(_, end)| end);
    let at = behind + text.get(behind..)?.find(separator)?;
    Some(text.split_at(at))
}

/// The positions of the brackets around a host.
fn brackets(text: &str) -> Option<(usize, usize)> {
    let open = text.find("@[").map_or(0, |at| at + 1);
    let inside = text.get(open..)?.strip_prefix('[')?;
    Some((open, open + 1 + inside.find(']')?))
}

/// Splits the port off `[user@]host[:port]`, where the host, or all of it, may be in brackets. Text after the
/// brackets is dropped, except for a port.
fn split_port(authority: &str) -> Option<(String, Option<u16>)> {
    let (mut host, rest) = match brackets(authority) {
        Some((open, close)) => {
            let (before, inside) = (&authority[..open], &authority[open + 1..close]);
            (format!("{before}{inside}"), Some(&authority[close + 1..]))
        }
        None => (authority.to_owned(), None),
    };
    if let Some((_, port)) = rest.and_then(|rest| rest.split_once(':')) {
        return match port {
            "" => Some((host, None)),
            port => Some((host, Some(port_number(port)?))),
        };
    }
    let Some((name, port)) = host.split_once(':') else { return Some((host, None)) };
    // Outside of brackets the port after the colon may be empty.
    let port =
        if port.is_empty() && rest.is_none() { Some(None) } else { port_number(port).map(Some) };
    if let Some(port) = port {
        host = name.to_owned();
        return Some((host, port));
    }
    Some((host, None))
}

fn port_number(text: &str) -> Option<u16> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

/// A host name in lower case, or an IP address. `None` for anything that git, ssh, curl and the resolver might read
/// differently: characters that no name has, unusual spellings of numbers, text that looks like an option.
fn host_name(text: &str) -> Option<String> {
    if let Ok(address) = text.parse::<Ipv6Addr>() {
        return Some(format!("[{address}]"));
    }
    let sign = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    if text.is_empty()
        || !text.bytes().all(sign)
        || text.starts_with(['-', '.'])
        || text.contains("..")
    {
        return None;
    }
    let last = text.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
    let is_number = last.starts_with(|sign: char| sign.is_ascii_digit())
        && (last.bytes().all(|byte| byte.is_ascii_digit())
            || last.to_ascii_lowercase().starts_with("0x"));
    if is_number && text.parse::<Ipv4Addr>().is_err() {
        return None;
    }
    Some(text.to_ascii_lowercase())
}

/// Decodes `%xx`, as git does before it parses a URL; `%00` stays.
fn decoded(text: &str) -> Option<String> {
    let hex = |at: Option<&u8>| at.and_then(|byte| char::from(*byte).to_digit(16));
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let value = match (byte, hex(bytes.get(at + 1)), hex(bytes.get(at + 2))) {
            (b'%', Some(high), Some(low)) => u8::try_from(high * 16 + low).unwrap_or_default(),
            _ => 0,
        };
        plain.push(if value > 0 { value } else { *byte });
        at += if value > 0 { 3 } else { 1 };
    }
    String::from_utf8(plain).ok().filter(|text| !text.contains(char::is_control))
}

/// Removes a trailing slash and `.git`, which git itself adds.
fn tidy(path: &str) -> String {
    let path = path.trim_end_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    path.trim_end_matches('/').to_owned()
}
