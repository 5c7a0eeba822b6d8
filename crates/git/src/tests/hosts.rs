//! The host of a URL, compared with the host that git itself contacts.
//!
//! Git is run with a stub in place of ssh and of the proxy command for `git://`, and with a proxy for
//! `http` on this machine, so that it reports the host without connecting to it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv6Addr, TcpListener};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver};

use self::RemoteHost::{Nowhere, To, Unclear};
use super::Folder;
use crate::remote::host;

/// The expected host of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RemoteHost {
    /// This host, for git and for us.
    To(&'static str),
    /// None: git refuses the URL, and so do we.
    Nowhere,
    /// Git, ssh or curl may contact a host, perhaps depending on their version. We name none.
    Unclear,
}

const GITHUB: RemoteHost = To("github.com");
const EVIL: RemoteHost = To("evil.example");

#[rustfmt::skip]
const WEB: &[(&str, RemoteHost)] = &[
    ("https://github.com/acme/secret", GITHUB),
    ("https://GitHub.COM/acme/secret", GITHUB),
    ("http://github.com/acme/secret", GITHUB),
    // Credentials.
    ("https://user@github.com/acme/secret", GITHUB),
    ("https://user:word@github.com/acme/secret", GITHUB),
    ("https://@github.com/acme/secret", GITHUB),
    ("https://:word@github.com/acme/secret", GITHUB),
    ("https://github.com@evil.example/acme/secret", EVIL),
    ("https://github.com:word@evil.example/acme/secret", EVIL),
    ("https://evil.example:/@github.com/acme/secret", EVIL),
    ("https://evil.example/@github.com/acme/secret", EVIL),
    ("https://evil.example%2f@github.com/acme/secret", GITHUB),
    ("https://user@evil.example@github.com/acme/secret", Unclear),
    ("https://user:wo@rd@github.com/acme/secret", Unclear),
    ("https://user:wo/rd@github.com/acme/secret", Nowhere),
    ("https://user:wo#rd@github.com/acme/secret", Nowhere),
    ("https://user:wo?rd@github.com/acme/secret", Nowhere),
    ("https://user:443/rd@github.com/acme/secret", Unclear),
    // Ports.
    ("https://github.com:443/acme/secret", GITHUB),
    ("https://github.com:0443/acme/secret", GITHUB),
    ("https://github.com:/acme/secret", GITHUB),
    ("https://evil.example:8443/acme/secret", To("evil.example:8443")),
    ("http://github.com:443/acme/secret", To("github.com:443")),
    ("https://github.com:0/acme/secret", Unclear),
    ("https://github.com:65536/acme/secret", Nowhere),
    ("https://github.com:+443/acme/secret", Nowhere),
    ("https://github.com:443x/acme/secret", Nowhere),
    ("https://github.com:443:443/acme/secret", Nowhere),
    // Characters that end the host.
    ("https://evil.example?@github.com/acme/secret", Unclear),
    ("https://evil.example#@github.com/acme/secret", Unclear),
    ("https://evil.example/?@github.com/acme/secret", Unclear),
    ("https://evil.example/x?@github.com/acme/secret", Unclear),
    ("https://evil.example/x#@github.com/acme/secret", Unclear),
    ("https://evil.example\\@github.com/acme/secret", GITHUB),
    ("https://evil.example/x\\@github.com/acme/secret", Unclear),
    ("https://github.com\\.evil.example/acme/secret", Nowhere),
    ("https://evil.example\\/acme/secret", Nowhere),
    ("https:///github.com/acme/secret", Unclear),
    ("https:////github.com/acme/secret", Nowhere),
    ("https://", Unclear),
    // Other spellings of a host.
    ("https://github%2ecom/acme/secret", Unclear),
    ("https://evil.example%2fx/acme/secret", Nowhere),
    ("https://evil.example%40github.com/acme/secret", Nowhere),
    ("https://evil.example%00.github.com/acme/secret", Nowhere),
    ("https://github.com./acme/secret", To("github.com.")),
    ("https://github.com../acme/secret", Unclear),
    ("https://.github.com/acme/secret", Unclear),
    ("https://git_hub.com/acme/secret", To("git_hub.com")),
    ("https://ｇｉｔｈｕｂ.com/acme/secret", Unclear),
    ("https://127.0.0.1/acme/secret", To("127.0.0.1")),
    ("https://127.1/acme/secret", Unclear),
    ("https://0x7f.1/acme/secret", Unclear),
    ("https://2130706433/acme/secret", Unclear),
    ("https://[::1]/acme/secret", To("[::1]")),
    ("https://user@[::1]:8443/acme/secret", To("[::1]:8443")),
    ("https://[::1]:/acme/secret", To("[::1]")),
    ("https://[0:0::1]/acme/secret", To("[::1]")),
    ("https://[::1/acme/secret", Nowhere),
    ("https://[::1]x/acme/secret", Nowhere),
    ("https://[github.com]/acme/secret", Nowhere),
    ("https://::1/acme/secret", Nowhere),
    ("https://[fe80::1%25eth0]/acme/secret", Unclear),
    ("https://-x.com/acme/secret", Unclear),
    ("https://-oProxyCommand=x/acme/secret", Nowhere),
    ("https://a|b/acme/secret", Unclear),
    // Blanks and control characters.
    (" https://github.com/acme/secret", Nowhere),
    ("https://git hub.com/acme/secret", Nowhere),
    ("https://github.com/acme/se cret", Nowhere),
    ("https://github.com\t/acme/secret", Nowhere),
    ("https://github.com\n.evil.example/acme/secret", Nowhere),
    ("https://user\n@github.com/acme/secret", Nowhere),
    ("https://github.com/acme\u{7f}/secret", Unclear),
    // Schemes and helpers.
    ("HTTPS://github.com/acme/secret", Unclear),
    ("ftp://github.com/acme/secret", Unclear),
    ("https::https://github.com/acme/secret", Unclear),
    ("https:///", Unclear),
];

#[rustfmt::skip]
const NATIVE: &[(&str, RemoteHost)] = &[
    // The short form.
    ("git@github.com:acme/secret.git", GITHUB),
    ("github.com:acme/secret", GITHUB),
    ("github.com:/acme/secret", GITHUB),
    ("git@GitHub.com:acme/secret", GITHUB),
    ("git@github.com.:acme/secret", To("github.com.")),
    ("git@evil.example:@github.com:acme/secret", EVIL),
    ("git@evil.example:/@github.com:acme/secret", EVIL),
    ("git@evil.example:x:@github.com/acme", Unclear),
    ("git@evil.example@github.com:acme/secret", GITHUB),
    ("git@github.com@evil.example:acme/secret", Unclear),
    ("git@evil.example:@[github.com]:acme/secret", GITHUB),
    ("user:word@github.com:acme/secret", Unclear),
    ("@github.com:acme/secret", Unclear),
    ("git@:acme/secret", Unclear),
    (":acme/secret", Unclear),
    ("git@github.com:", Unclear),
    ("git@github.com:-x", Nowhere),
    ("-oProxyCommand=x:acme/secret", Nowhere),
    ("-oProxyCommand=x@github.com:acme/secret", Nowhere),
    ("-x@github.com:acme/secret", Nowhere),
    ("git@-oProxyCommand=x:acme/secret", Unclear),
    ("[::1]:acme/secret", To("[::1]")),
    ("git@[::1]:acme/secret", To("[::1]")),
    ("[git@::1]:acme/secret", To("[::1]")),
    ("[::1]:22:acme/secret", To("[::1]")),
    ("[fe80::1%eth0]:acme/secret", Unclear),
    ("[github.com]:acme/secret", GITHUB),
    ("[github.com:22]:acme/secret", GITHUB),
    ("[git@github.com:2222]:acme/secret", To("github.com:2222")),
    ("git@[github.com:2222]:acme/secret", To("github.com:2222")),
    ("[github.com:]:acme/secret", Unclear),
    ("[github.com:x]:acme/secret", Unclear),
    ("[github.com:22", Unclear),
    ("[evil.example]@github.com:acme/secret", EVIL),
    ("[evil.example]github.com:acme/secret", EVIL),
    ("evil.example\\:acme/secret", Unclear),
    ("evil.example\\@github.com:acme/secret", GITHUB),
    ("git@ho st:acme/secret", Unclear),
    (" github.com:acme/secret", Unclear),
    ("git@%67ithub.com:acme/secret", Unclear),
    ("git@github.com%2f:acme/secret", Unclear),
    ("c:/code/repo", To("c")),
    ("https:/github.com/acme/secret", To("https")),
    ("ssh:github.com/acme/secret", To("ssh")),
    // With a scheme: everything is decoded first.
    ("ssh://git@github.com/acme/secret", GITHUB),
    ("ssh://github.com/acme/secret", GITHUB),
    ("git+ssh://git@github.com/acme/secret", GITHUB),
    ("ssh+git://git@github.com/acme/secret", GITHUB),
    ("ssh://GitHub.com/acme/secret", GITHUB),
    ("ssh://github.com:22/acme/secret", GITHUB),
    ("ssh://github.com:022/acme/secret", GITHUB),
    ("ssh://github.com:/acme/secret", GITHUB),
    ("ssh://github.com:2222/acme/secret", To("github.com:2222")),
    ("ssh://github.com:0/acme/secret", Unclear),
    ("ssh://github.com:+22/acme/secret", Unclear),
    ("ssh://github.com:x/acme/secret", Unclear),
    ("ssh://github.com:22:22/acme/secret", Unclear),
    ("ssh://github.com:65536/acme/secret", Unclear),
    ("ssh://user:word@github.com/acme/secret", GITHUB),
    ("ssh://user:22@github.com/acme/secret", GITHUB),
    ("ssh://user:22@github.com:33/acme/secret", Unclear),
    ("ssh://@github.com/acme/secret", Unclear),
    ("ssh://evil.example:/@github.com/acme/secret", EVIL),
    ("ssh://evil.example@github.com/acme/secret", GITHUB),
    ("ssh://a@evil.example@github.com/acme/secret", GITHUB),
    ("ssh://evil.example/@[github.com]/acme/secret", GITHUB),
    ("ssh://git@github.com%2f@evil.example/acme", GITHUB),
    ("ssh://git@evil.example%40github.com/acme", GITHUB),
    ("ssh://git%40github.com/acme/secret", GITHUB),
    ("ssh://github.com%3a2222/acme/secret", To("github.com:2222")),
    ("ssh://%67ithub.com/acme%2fsecret", GITHUB),
    ("ssh://github.com%00x/acme/secret", Unclear),
    ("ssh://github.com%0a/acme/secret", Unclear),
    ("ssh://github.com?@evil.example/acme/secret", EVIL),
    ("ssh://github.com#@evil.example/acme/secret", EVIL),
    ("ssh://github.com#x/acme/secret", Unclear),
    ("ssh://github.com\\@evil.example/acme/secret", EVIL),
    ("ssh://[::1]/acme/secret", To("[::1]")),
    ("ssh://git@[::1]:2222/acme/secret", To("[::1]:2222")),
    ("ssh://::1/acme/secret", To("[::1]")),
    ("ssh://[::1/acme/secret", Unclear),
    ("ssh://[github.com:2222]/acme/secret", To("github.com:2222")),
    ("ssh://[github.com:2222]:33/acme/secret", Unclear),
    ("ssh:///acme/secret", Unclear),
    ("ssh://", Nowhere),
    ("ssh://github.com", Nowhere),
    ("ssh://github.com/", Unclear),
    ("ssh://-oProxyCommand=x/acme/secret", Nowhere),
    ("ssh://-oProxyCommand=x@github.com/acme/secret", Nowhere),
    ("ssh://git@-oProxyCommand=x/acme/secret", Unclear),
    ("ssh://ssh:%2f%2fevil.example@github.com/acme", Unclear),
    ("SSH://github.com/acme/secret", Nowhere),
    // The protocol `git://`, which has no user.
    ("git://github.com/acme/secret", GITHUB),
    ("git://github.com:9418/acme/secret", GITHUB),
    ("git://github.com:/acme/secret", GITHUB),
    ("git://github.com:1234/acme/secret", To("github.com:1234")),
    ("git://%67ithub.com/acme/secret", GITHUB),
    ("git://[::1]:99/acme/secret", To("[::1]:99")),
    ("git://evil.example:/@github.com/acme/secret", EVIL),
    ("git://evil.example/@[github.com]/acme/secret", Unclear),
    ("git://user@github.com/acme/secret", Unclear),
    ("git://github.com%0a/acme/secret", Nowhere),
    ("git://github.com:99999/acme/secret", Unclear),
    ("git://-x/acme/secret", Nowhere),
    ("git://github.com", Nowhere),
    // Helper programs, and unknown schemes.
    ("ext::sh -c echo% github.com/acme/secret", Nowhere),
    ("github.com::acme/secret", Nowhere),
    ("helper::https://github.com/acme/secret", Nowhere),
    ("foo://github.com/acme/secret", Nowhere),
    ("foo_bar://github.com/acme/secret", Nowhere),
    ("rsync://github.com/acme/secret", Nowhere),
    ("git@github.com:acme://secret", Nowhere),
    // Paths.
    ("file://github.com/acme/secret", Nowhere),
    ("github.com/acme/secret", Nowhere),
    ("./github.com:acme/secret", Nowhere),
    ("git@github.com/x:acme/secret", Nowhere),
    ("/srv/x://github.com/acme", Nowhere),
];

#[test]
fn the_host_of_an_address_is_the_one_that_git_contacts() {
    let git = Contacts::listen();
    for (url, leads) in NATIVE.iter().chain(WEB) {
        let ours = host(url);
        let expected = match leads {
            To(host) => Some((*host).to_owned()),
            Nowhere | Unclear => None,
        };
        assert_eq!(ours, expected, "{url:?}");
        let Some(contacted) = git.as_ref().and_then(|git| git.contacted(url)) else { continue };
        match leads {
            To(_) => assert_eq!(contacted, expected, "git and {url:?}"),
            Nowhere => assert_eq!(contacted, None, "git and {url:?}"),
            Unclear => {}
        }
    }
}

/// Pieces of URLs in any order. If we name a host, it is the one that git contacts.
#[test]
fn no_mixture_of_url_pieces_gives_another_host_than_git_contacts() {
    const PIECES: [&str; 26] = [
        "ssh://",
        "https://",
        "git://",
        "http://",
        "@",
        "@",
        ":",
        ":",
        "/",
        "/",
        "[",
        "]",
        "@[",
        "]:",
        "github.com",
        "evil.example",
        "::1",
        "22",
        "443",
        "%40",
        "%2f",
        "%3a",
        "\\",
        "?",
        "~",
        "a/b",
    ];
    let Some(git) = Contacts::listen() else { return };
    // A fixed sequence of pseudo-random numbers (Knuth's MMIX constants).
    let mut state = 17_u64;
    let mut next = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    let (mut named, mut asked) = (0, 0);
    while named < 60 && asked < 60_000 {
        asked += 1;
        let count = 2 + next(8);
        let url: String = (0..count).map(|_| PIECES[next(PIECES.len())]).collect();
        let Some(ours) = host(&url) else { continue };
        named += 1;
        if let Some(contacted) = git.contacted(&url) {
            assert_eq!(contacted, Some(ours), "{url:?}");
        }
    }
    assert_eq!(named, 60);
}

/// After `insteadOf`, the host is that of the rewritten URL.
#[test]
fn a_rewritten_address_leads_to_the_host_that_git_contacts() {
    let folder = Folder::with_repository();
    let Some(git) = Contacts::listen() else { return };
    let rows = [
        ("url.ssh://git@evil.example/.insteadOf", "https://github.com/", EVIL),
        ("url.ssh://git@evil.example/.pushInsteadOf", "https://github.com/", GITHUB),
        ("url.git://evil.example:.insteadOf", "https://github.com", EVIL),
        ("url.foo::.insteadOf", "https://", Nowhere),
    ];
    for (key, beginning, leads) in rows {
        folder.git("repo", &["config", "remote.origin.url", "https://github.com/acme/secret"]);
        folder.git("repo", &["config", key, beginning]);
        let remote = folder.facts("repo").remote.unwrap();
        let expected = if let To(host) = leads { Some(host.to_owned()) } else { None };
        assert_eq!(host(&remote), expected, "{key}");
        if let Some(contacted) = git
            .contacted_by(&["-c", &format!("{key}={beginning}")], "https://github.com/acme/secret")
        {
            assert_eq!(contacted, expected, "git and {key}");
        }
        folder.git("repo", &["config", "--unset", key]);
    }
}

/// Git with stubs in place of everything that would open a connection.
struct Contacts {
    folder: Folder,
    proxy: String,
    requests: Receiver<String>,
    has_web_helper: bool,
}

impl Contacts {
    /// Sets up the stubs; `None` if git is not installed.
    fn listen() -> Option<Contacts> {
        let said = Command::new("git").arg("--exec-path").output().ok()?;
        let helpers = String::from_utf8_lossy(&said.stdout).trim().to_owned();
        let has_web_helper = std::path::Path::new(&helpers).join("git-remote-https").exists();
        let folder = Folder::with_repository();
        // Arguments are separated by a control character that no URL here contains.
        let stub = "#!/bin/sh\nfor word in \"$@\"; do printf '%s\\037' \"$word\"; done > \"$SEEN\"\nexit 1\n";
        folder.write("stub", stub);
        let path = folder.join("stub");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = format!("http://{}", listener.local_addr().unwrap());
        let (tell, requests) = mpsc::channel();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut line = String::new();
                let mut reader = BufReader::new(&stream);
                let _ = reader.read_line(&mut line);
                // Read the whole head, or closing would reset the connection.
                let mut rest = String::new();
                while reader.read_line(&mut rest).is_ok_and(|read| read > 2) {
                    rest.clear();
                }
                // Reported before the answer, because git may exit right after it.
                if tell.send(line).is_err() {
                    return;
                }
                let _ = (&stream).write_all(
                    b"HTTP/1.1 403 no\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                );
            }
        });
        Some(Contacts { folder, proxy, requests, has_web_helper })
    }

    fn contacted(&self, url: &str) -> Option<Option<String>> {
        self.contacted_by(&[], url)
    }

    /// The host that git tries to contact: `Some(None)` if it refuses the URL, `None` if this git has no HTTP
    /// support.
    fn contacted_by(&self, settings: &[&str], url: &str) -> Option<Option<String>> {
        if !self.has_web_helper && url.to_ascii_lowercase().contains("http") {
            return None;
        }
        let seen = self.folder.join("seen");
        let stub = self.folder.join("stub");
        let _ = std::fs::remove_file(&seen);
        let run = Command::new("git")
            .args(["-c", &format!("remote.origin.url={url}")])
            .args(settings)
            .args(["ls-remote", "origin"])
            .current_dir(self.folder.join("repo"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.join(""))
            .env("SEEN", &seen)
            .env("GIT_SSH", &stub)
            .env("GIT_PROXY_COMMAND", &stub)
            .envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")])
            .envs([
                ("GIT_SSH_VARIANT", "ssh"),
                ("GIT_TERMINAL_PROMPT", "0"),
                ("GIT_ASKPASS", "false"),
            ])
            .envs(["http_proxy", "https_proxy", "ftp_proxy"].map(|name| (name, &self.proxy)))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(!run.status.success(), "{url:?} must not lead anywhere");
        let request = self.requests.try_iter().last();
        Some(match std::fs::read_to_string(&seen) {
            Ok(words) => destination(&words),
            Err(_) => request.map(|line| web_host(&line)),
        })
    }
}

/// The host in the arguments of ssh, `[-o OPTION] [-p PORT] [user@]host command`, or of the proxy for
/// `git://`, `host port`.
fn destination(words: &str) -> Option<String> {
    let words: Vec<&str> = words.split_terminator('\u{1f}').collect();
    let (host, port, usual) = match words.as_slice() {
        [host, port] if !host.starts_with("-o") => (*host, *port, "9418"),
        [.., "-p", port, host, _] => (*host, *port, "22"),
        [.., host, _] => (*host, "22", "22"),
        _ => return None,
    };
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host).to_ascii_lowercase();
    let host = if host.parse::<Ipv6Addr>().is_ok() { format!("[{host}]") } else { host };
    let port = port.trim_start_matches('0');
    Some(if port == usual { host } else { format!("{host}:{port}") })
}

/// The host in `CONNECT host:port HTTP/1.1` or `GET http://host[:port]/path HTTP/1.1`.
fn web_host(line: &str) -> String {
    let target = line.split(' ').nth(1).unwrap_or_default().to_ascii_lowercase();
    let host = match target.split_once("://") {
        Some((_, rest)) => rest.split('/').next().unwrap_or_default(),
        None => target.strip_suffix(":443").unwrap_or(&target),
    };
    // Only some versions of curl spell an address in the usual way.
    let address = host.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    match address.and_then(|(address, port)| Some((address.parse::<Ipv6Addr>().ok()?, port))) {
        Some((address, port)) => format!("[{address}]{port}"),
        None => host.to_owned(),
    }
}
