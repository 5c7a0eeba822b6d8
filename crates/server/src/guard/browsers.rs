//! The browsers that may use the page: one-time links, cookies, and the keys that prove requests.
//!
//! A browser sends a cookie to every port of this host, even to a server of another user, so the cookie only
//! identifies the browser. Access is proved with a key that the page keeps in the storage of its origin. That
//! storage is bound to the port, and scripts cannot export the key.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hyper::header::{self, HeaderMap};
use hyper::http::request::Parts;
use model::limits;
use model::locations::Locations;
use serde::{Deserialize, Serialize};

use super::proof::{Challenges, ProvedBody, RequestProof, sha256};
use super::{same, secret};
use crate::platform;

/// All browsers of one daemon.
pub struct Browsers {
    /// The id of the database, eight hex digits.
    id: String,
    cookie: String,
    /// `None` if browsers are forgotten when the daemon ends.
    file: Option<PathBuf>,
    /// The address in links, such as `http://127.0.0.1:8765`, and its port.
    address: String,
    port: u16,
    state: Mutex<BrowsersState>,
}

#[derive(Default)]
struct BrowsersState {
    links: VecDeque<(String, Instant)>,
    /// Browsers that opened a link and have not fetched their key yet.
    opened: VecDeque<OpenedBrowser>,
    known: Vec<KnownBrowser>,
    /// By the hash of the cookie.
    challenges: HashMap<String, Challenges>,
}

struct OpenedBrowser {
    cookie_sha256: String,
    code: String,
    at: Instant,
}

/// An authorised browser as it is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct KnownBrowser {
    cookie_sha256: String,
    /// The HMAC key in hex.
    key: String,
    /// The port at which it opened its link. The key is valid only at this port: if the daemon moves to another
    /// port, a program that takes the old one could make the browser sign requests.
    port: u16,
    /// Milliseconds since 1970, UTC.
    used_at: i64,
}

/// The result of opening a one-time link.
pub(crate) struct OpenedPage {
    pub(crate) set_cookie: String,
    /// The code with which the page fetches its key, once.
    pub(crate) code: String,
}

/// The reply to `/challenge`: the data that the page signs its requests with.
#[derive(Serialize)]
pub(crate) struct PageChallenge {
    /// The id of the key in the origin's storage: another database may have been served at this port before.
    id: String,
    /// `None` if no proof is required.
    challenge: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
}

impl Browsers {
    /// Loads the authorised browsers of this database.
    pub fn open(locations: &Locations, address: &str, port: u16) -> Browsers {
        Browsers::new(locations.database_id(), Some(locations.browsers()), address, port)
    }

    pub(crate) fn new(id: String, file: Option<PathBuf>, address: &str, port: u16) -> Browsers {
        // Without a readable file no browser is authorised, and each needs a new link.
        let stored =
            file.as_ref().and_then(|file| regular::read(file, limits::SMALL_FILE_BYTES_MAX).ok());
        let known = stored.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let state = BrowsersState { known: known.unwrap_or_default(), ..BrowsersState::default() };
        Browsers {
            // The name has the port, because a browser keeps one cookie of each name for all ports of a host: a sign-in
            // at another port would replace the cookie of this port.
            cookie: format!("rekindle_{port}_{id}"),
            id,
            file,
            address: address.to_owned(),
            port,
            state: Mutex::new(state),
        }
    }

    /// The id of the database, which is no secret: it is a hash of the path of the file.
    pub(crate) fn database_id(&self) -> &str {
        &self.id
    }

    pub(super) fn make_link(&self, now: Instant) -> String {
        // Without a source of randomness the link is empty and opens nothing.
        let Some(link) = secret() else { return String::new() };
        push_bounded(&mut self.state().links, (link.clone(), now));
        link
    }

    /// Redeems a link; `None` if it is unknown or too old.
    pub(super) fn redeem(&self, link: &str, now: Instant) -> Option<OpenedPage> {
        let mut state = self.state();
        state.links.retain(|(_, made)| is_younger(*made, now, limits::LINK_LIFETIME));
        let place = state.links.iter().position(|(known, _)| same(known, link))?;
        state.links.remove(place);
        let (cookie, code) = (secret()?, secret()?);
        let cookie_sha256 = sha256(cookie.as_bytes());
        let opened = OpenedBrowser { cookie_sha256, code: code.clone(), at: now };
        push_bounded(&mut state.opened, opened);
        Some(OpenedPage { set_cookie: self.set_cookie(&cookie), code })
    }

    /// The address to redirect to if a link is opened at `localhost`. That name may also lead to a server of
    /// another user at `[::1]`, which could then make the browser sign requests. A tunnel has another port, and
    /// is not redirected.
    pub(crate) fn address_for(&self, host: Option<&str>) -> Option<&str> {
        let by_name = format!("localhost:{}", self.port);
        host.is_some_and(|host| host.eq_ignore_ascii_case(&by_name)).then_some(&*self.address)
    }

    /// Whether the cookie is one of ours. It alone gives no access to data.
    pub(super) fn knows(&self, headers: &HeaderMap) -> bool {
        let state = self.state();
        self.cookie_hashes(headers).any(|given| {
            let opened = state.opened.iter().any(|one| same(&one.cookie_sha256, &given));
            opened || self.valid(&state).any(|one| same(&one.cookie_sha256, &given))
        })
    }

    /// The `Set-Cookie` header that extends the lifetime of a valid cookie.
    pub(crate) fn renewed_cookie(&self, headers: &HeaderMap) -> Option<String> {
        let mut state = self.state();
        let cookie = self.cookies(headers).find(|given| {
            let given = sha256(given.as_bytes());
            self.valid(&state).any(|one| same(&one.cookie_sha256, &given))
        })?;
        self.note_use(&mut state, &sha256(cookie.as_bytes()));
        Some(self.set_cookie(cookie))
    }

    /// Issues a challenge for this browser. If the page sends the code that it got when the link was opened, the reply
    /// also has the browser's key, once.
    pub(super) fn challenge(
        &self,
        headers: &HeaderMap,
        code: Option<&str>,
    ) -> Option<PageChallenge> {
        let mut state = self.state();
        let mut key = None;
        let cookie_sha256 = match code {
            Some(code) => {
                let known = self.pick_up(&mut state, headers, code)?;
                key = Some(known.key);
                known.cookie_sha256
            }
            None => self
                .cookie_hashes(headers)
                .find(|given| self.valid(&state).any(|one| same(&one.cookie_sha256, given)))?,
        };
        self.note_use(&mut state, &cookie_sha256);
        let challenge = Some(state.challenges.entry(cookie_sha256).or_default().issue()?);
        Some(PageChallenge { id: self.id.clone(), challenge, key })
    }

    /// The reply of a daemon that requires no proof.
    pub(super) fn no_challenge(&self) -> PageChallenge {
        PageChallenge { id: self.id.clone(), challenge: None, key: None }
    }

    /// Issues the key of a browser, once.
    fn pick_up(
        &self,
        state: &mut BrowsersState,
        headers: &HeaderMap,
        code: &str,
    ) -> Option<KnownBrowser> {
        let now = Instant::now();
        state.opened.retain(|one| is_younger(one.at, now, limits::PAGE_KEY_PICKUP));
        let given: Vec<String> = self.cookie_hashes(headers).collect();
        let place = state.opened.iter().position(|one| {
            same(&one.code, code) && given.iter().any(|given| same(&one.cookie_sha256, given))
        })?;
        let cookie_sha256 = state.opened.remove(place)?.cookie_sha256;
        let used_at = client::clock::now_ms();
        let known = KnownBrowser { cookie_sha256, key: secret()?, port: self.port, used_at };
        state.known.push(known.clone());
        state.known.sort_by_key(|one| std::cmp::Reverse(one.used_at));
        state.known.truncate(limits::BROWSERS_MAX);
        let BrowsersState { known: all, challenges, .. } = &mut *state;
        challenges.retain(|cookie, _| all.iter().any(|one| one.cookie_sha256 == *cookie));
        self.store(state);
        Some(known)
    }

    /// Verifies the proof of a request. Returns the digest of the body that it is valid for; `None` if the proof is
    /// missing, wrong or was used before.
    pub(super) fn proved(&self, head: &Parts) -> Option<ProvedBody> {
        let proof = RequestProof::parse(proof_text(&head.headers)?)?;
        let target = head.uri.path_and_query().map_or("/", |target| target.as_str());
        let mut state = self.state();
        let given: Vec<String> = self.cookie_hashes(&head.headers).collect();
        let (cookie_sha256, body) = self
            .valid(&state)
            .filter(|one| given.iter().any(|given| same(&one.cookie_sha256, given)))
            .find_map(|one| {
                let challenges = state.challenges.get(&one.cookie_sha256)?;
                if !challenges.knows(proof.challenge) {
                    return None;
                }
                let body = proof.verify(&one.key, &head.method, target)?;
                Some((one.cookie_sha256.clone(), body))
            })?;
        let fresh = state
            .challenges
            .get_mut(&cookie_sha256)
            .is_some_and(|challenges| challenges.use_up(proof.challenge, proof.counter));
        fresh.then_some(body)
    }

    /// Forgets all browsers and links. Returns how many browsers there were.
    pub fn forget(&self) -> usize {
        let mut state = self.state();
        let count = state.known.len();
        *state = BrowsersState::default();
        self.store(&state);
        count
    }

    fn state(&self) -> MutexGuard<'_, BrowsersState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The browsers that were authorised at this port and have not expired.
    fn valid<'s>(&self, state: &'s BrowsersState) -> impl Iterator<Item = &'s KnownBrowser> {
        let oldest = client::clock::now_ms() - millis(limits::BROWSER_LIFETIME);
        let port = self.port;
        state.known.iter().filter(move |one| one.port == port && one.used_at > oldest)
    }

    /// Stores the time of use of a browser, at most once per renewal interval.
    fn note_use(&self, state: &mut BrowsersState, cookie_sha256: &str) {
        let now = client::clock::now_ms();
        let stale = now - millis(limits::BROWSER_RENEWAL);
        let found = state.known.iter_mut().find(|one| one.cookie_sha256 == cookie_sha256);
        if let Some(browser) = found.filter(|one| one.used_at < stale) {
            browser.used_at = now;
            self.store(state);
        }
    }

    fn store(&self, state: &BrowsersState) {
        let Some(file) = &self.file else { return };
        if let Ok(text) = serde_json::to_string(&state.known) {
            // If this fails, browsers stay authorised until the daemon ends.
            let _ = platform::write_private(file, &text);
        }
    }

    fn set_cookie(&self, cookie: &str) -> String {
        let (name, age) = (&self.cookie, limits::BROWSER_LIFETIME.as_secs());
        format!("{name}={cookie}; HttpOnly; SameSite=Strict; Path=/; Max-Age={age}")
    }

    /// The values of our cookie.
    fn cookies<'h>(&self, headers: &'h HeaderMap) -> impl Iterator<Item = &'h str> {
        headers
            .get_all(header::COOKIE)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|line| line.split(';'))
            .filter_map(|pair| pair.trim().strip_prefix(&*self.cookie)?.strip_prefix('='))
    }

    fn cookie_hashes(&self, headers: &HeaderMap) -> impl Iterator<Item = String> {
        self.cookies(headers).map(|cookie| sha256(cookie.as_bytes()))
    }
}

/// Removes the stored browsers of a database while no daemon serves it. Returns how many there were.
pub fn forget_stored(locations: &Locations) -> std::io::Result<usize> {
    let file = locations.browsers();
    let count = match regular::read(&file, limits::SMALL_FILE_BYTES_MAX) {
        Ok(bytes) => serde_json::from_slice::<Vec<KnownBrowser>>(&bytes).map_or(0, |all| all.len()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
        // A file that cannot be read is removed too.
        Err(_) => 0,
    };
    std::fs::remove_file(&file)?;
    Ok(count)
}

/// Whether a request has a proof, as those of the page do. It may be wrong.
pub(crate) fn has_proof(headers: &HeaderMap) -> bool {
    proof_text(headers).is_some()
}

/// The proof of a request: in a header, or among the sub-protocols of a WebSocket, because a page cannot set
/// headers on one.
fn proof_text(headers: &HeaderMap) -> Option<&str> {
    if let Some(text) = super::only(headers, &super::PROOF) {
        return Some(text);
    }
    let offered = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter();
    let mut offered = offered.filter_map(|value| value.to_str().ok()).flat_map(|v| v.split(','));
    offered.find_map(|protocol| protocol.trim().strip_prefix("proof."))
}

fn is_younger(made: Instant, now: Instant, age: Duration) -> bool {
    now.saturating_duration_since(made) < age
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

fn push_bounded<T>(queue: &mut VecDeque<T>, item: T) {
    if queue.len() >= limits::LINKS_MAX {
        queue.pop_front();
    }
    queue.push_back(item);
}
