//! The address of a repository in its many spellings, and whether two of them mean the same one.

use std::path::{Component, Path, PathBuf};

/// Schemes and the port that goes without saying.
const DEFAULT_PORTS: [(&str, &str); 6] = [
    ("ssh", "22"),
    ("git+ssh", "22"),
    ("ssh+git", "22"),
    ("git", "9418"),
    ("http", "80"),
    ("https", "443"),
];

/// One spelling for all addresses of a repository: `host/org/repo`, or a local path. Credentials,
/// default ports, a trailing `/` and `.git` are dropped, the host is in lower case.
pub fn normal_remote(url: &str) -> String {
    let Address { host, path } = Address::parse(url);
    match host {
        Some(host) if path.is_empty() => host,
        Some(host) => format!("{host}/{path}"),
        None => path,
    }
}

/// `https://host/org/repo` for an address with a host, whatever way git takes to it; `file://` and the
/// path for a local one; nothing for an address without a path.
pub(crate) fn repo_name(url: &str) -> Option<String> {
    let Address { host, path } = Address::parse(url);
    let name = match host {
        Some(host) => format!("https://{host}/{path}"),
        None => format!("file://{path}"),
    };
    (!path.is_empty()).then_some(name)
}

/// The same address, if it is a relative path as seen from the top of the work tree.
pub(crate) fn absolute(url: &str, root: &Path) -> String {
    let relative = !url.contains("://") && is_local(url) && !is_absolute(url);
    if !relative || url.starts_with('~') {
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

/// A repository as a scope or a caller names it: `git:org/repo`, `host/org/repo`, any address, or
/// a path with or without `file://`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepoName {
    address: Address,
}

impl RepoName {
    pub fn parse(text: &str) -> RepoName {
        let text = text.trim();
        let address = match text.strip_prefix("git:").filter(|rest| !rest.starts_with("//")) {
            Some(path) => Address { host: None, path: tidy(path.trim_start_matches('/')) },
            None => Address::with_bare_host(text).unwrap_or_else(|| Address::parse(text)),
        };
        RepoName { address }
    }

    /// Whether both mean the same repository. Hosts are compared where both sides name one:
    /// `git:org/repo` stands for that repository on any host.
    pub fn is(&self, other: &RepoName) -> bool {
        let (ours, theirs) = (&self.address, &other.address);
        let hosts_differ = ours.host.is_some() && theirs.host.is_some() && ours.host != theirs.host;
        ours.path == theirs.path && !hosts_differ
    }
}

/// An address taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Address {
    /// In lower case, with its port if that is not the scheme's own. A local path has none.
    host: Option<String>,
    path: String,
}

impl Address {
    fn parse(url: &str) -> Address {
        let url = url.trim();
        match url.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("file") => Address::local(rest),
            Some((scheme, rest)) if is_scheme(scheme) => Address::with_scheme(scheme, rest),
            _ if is_local(url) => Address::local(url),
            _ => Address::like_scp(url),
        }
    }

    fn with_scheme(scheme: &str, rest: &str) -> Address {
        let scheme = scheme.to_ascii_lowercase();
        let split = |rest: &str| rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (mut authority, mut path) = rest.split_at(split(rest));
        // A password with a `/` in it, which is not allowed, but must not be kept either.
        if !authority.contains('@')
            && port(authority).is_some_and(|port| !is_number(port))
            && let Some((_, behind)) = rest.rsplit_once('@')
        {
            (authority, path) = behind.split_at(split(behind));
        }
        // Whatever is asked of a web server besides its path may be a token.
        let path = path.split(['?', '#']).next().unwrap_or_default();
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let usual = DEFAULT_PORTS.iter().find(|(known, _)| *known == scheme).map(|(_, port)| *port);
        let host = match port(host) {
            Some(port) if usual == Some(port) || !is_number(port) => {
                host.rsplit_once(':').map_or(host, |(host, _)| host)
            }
            _ => host,
        };
        Address::on(host, path)
    }

    /// `user@host:path`, without a scheme.
    fn like_scp(url: &str) -> Address {
        let slash = url.find('/').unwrap_or(url.len());
        let (head, rest) = url.split_at(slash);
        // Nobody may write a password here, but who does must not find it kept.
        let start = head.rfind('@').filter(|at| head[*at..].contains(':')).map_or(0, |at| at + 1);
        let head = &head[start..];
        // An address with colons of its own stands in brackets.
        let bracket = head.starts_with('[').then(|| head.find("]:")).flatten();
        let colon = bracket.map(|at| at + 1).or_else(|| head.find(':'));
        match colon.and_then(|at| head.split_at_checked(at)) {
            Some((host, path)) => {
                let path = path.trim_start_matches(':');
                Address::on(host, &format!("{path}{rest}"))
            }
            None => Address::local(url),
        }
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
        (looks && is_number(port) && path.contains('/')).then(|| Address::on(host, path))
    }

    fn on(host: &str, path: &str) -> Address {
        let path = tidy(path.trim_start_matches('/'));
        Address { host: Some(host.to_ascii_lowercase()), path }
    }

    fn local(path: &str) -> Address {
        // In an address a drive stands behind the third slash.
        let path = path.strip_prefix('/').filter(|rest| has_drive(rest)).unwrap_or(path);
        let tidied = tidy(path);
        let path = if tidied.is_empty() { path.to_owned() } else { tidied };
        Address { host: None, path }
    }
}

/// The port of `host:port`, where the host may be in brackets.
fn port(host: &str) -> Option<&str> {
    let (_, port) = host.rsplit_once(':')?;
    (!port.contains(']')).then_some(port)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_scheme(text: &str) -> bool {
    let sign = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    !text.is_empty() && text.bytes().all(sign)
}

/// Whether an address without a scheme is a path: it has no colon before its first slash, or that
/// colon belongs to a drive.
fn is_local(url: &str) -> bool {
    let head = url.split('/').next().unwrap_or_default();
    !head.contains(':') || has_drive(url)
}

fn is_absolute(path: &str) -> bool {
    path.starts_with(['/', '\\']) || has_drive(path)
}

fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic())
}

/// Without a trailing slash and without `.git`, which git adds by itself when it looks.
fn tidy(path: &str) -> String {
    let path = path.trim_end_matches(['/', '\\']);
    let path = path.strip_suffix(".git").unwrap_or(path);
    path.trim_end_matches(['/', '\\']).to_owned()
}
