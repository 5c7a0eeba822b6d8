//! A browser that has opened a one-time link: its cookie, its key, and the proofs for its requests.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::http::{Http, Response};

/// The credentials that a browser has after it opened a one-time link.
#[derive(Clone)]
pub struct Browser {
    pub port: u16,
    /// `NAME=VALUE`, as it is sent back.
    pub cookie: String,
    /// The HMAC key in hex.
    pub key: String,
    pub challenge: String,
    pub counter: u64,
}

impl Browser {
    /// Opens a link (`/?link=…`) and fetches the key, as the page's script does.
    pub fn open(port: u16, link: &str) -> Browser {
        let opened = Http::new(port).get(link);
        assert_eq!(opened.status, 303, "{}", opened.text());
        let cookie = opened.header("Set-Cookie").expect("a cookie");
        let cookie = cookie.split(';').next().expect("a pair").to_owned();
        let location = opened.header("Location").expect("an address");
        let code = location.split_once("#open=").expect("a code").1.to_owned();
        let mut browser =
            Browser { port, cookie, key: String::new(), challenge: String::new(), counter: 0 };
        let given = browser.ask_challenge(&json!({ "code": code }));
        assert_eq!(given.status, 200, "{}", given.text());
        browser.take(&given.json());
        browser
    }

    /// Returns this browser, connected to another port, as after a restart of the daemon.
    pub fn at(&self, port: u16) -> Browser {
        Browser { port, ..self.clone() }
    }

    /// Asks for a new challenge, as a page does when it is loaded.
    pub fn renew(&mut self) -> u16 {
        let given = self.ask_challenge(&json!({}));
        if given.status == 200 {
            self.take(&given.json());
        }
        given.status
    }

    pub fn ask_challenge(&self, body: &Value) -> Response {
        self.http().post("/challenge", body.to_string().as_bytes())
    }

    fn take(&mut self, given: &Value) {
        if let Some(key) = given["key"].as_str() {
            key.clone_into(&mut self.key);
        }
        self.challenge = given["challenge"].as_str().expect("a challenge").to_owned();
        self.counter = 0;
    }

    /// A client with this browser's cookie and the page's origin, and no proof.
    pub fn http(&self) -> Http {
        let origin = format!("http://127.0.0.1:{}", self.port);
        Http::new(self.port).with("Cookie", &self.cookie).with("Origin", &origin)
    }

    /// The next proof.
    pub fn proof(&mut self, method: &str, target: &str, body: &[u8]) -> String {
        self.counter += 1;
        sign(&self.key, &self.challenge, self.counter, (method, target), body)
    }

    /// The headers of a WebSocket. A page sends its proof as a sub-protocol.
    pub fn of_socket(&mut self, port: u16) -> [(&'static str, String); 3] {
        let proof = self.proof("GET", "/ws", b"");
        [
            ("Cookie", self.cookie.clone()),
            ("Origin", format!("http://127.0.0.1:{port}")),
            ("Sec-WebSocket-Protocol", format!("rekindle, proof.{proof}")),
        ]
    }

    /// Posts a body with a fresh proof.
    pub fn post(&mut self, target: &str, body: &[u8]) -> Response {
        let proof = self.proof("POST", target, body);
        self.http().with("Rekindle-Proof", &proof).post(target, body)
    }
}

/// Computes the proof of a request with this key.
pub fn sign(
    key: &str,
    challenge: &str,
    counter: u64,
    (method, target): (&str, &str),
    body: &[u8],
) -> String {
    let digest = hex(&Sha256::digest(body));
    let text = format!("rekindle-proof-1\n{challenge}\n{counter}\n{method}\n{target}\n{digest}");
    let mut padded = [0; 64];
    for (place, pair) in padded.iter_mut().zip(key.as_bytes().chunks(2)) {
        let pair = std::str::from_utf8(pair).expect("hex digits");
        *place = u8::from_str_radix(pair, 16).expect("hex digits");
    }
    let inner = Sha256::new().chain_update(padded.map(|byte| byte ^ 0x36)).chain_update(text);
    let outer = Sha256::new().chain_update(padded.map(|byte| byte ^ 0x5c));
    let signature = outer.chain_update(inner.finalize()).finalize();
    format!("{challenge}.{counter}.{digest}.{}", hex(&signature))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
