//! Proofs: a browser signs each request with its key; the signature covers a challenge of this daemon and a counter.
//!
//! The key is sent once, when the page fetches it. Challenges are random and kept in memory, so a program that
//! makes the browser sign something while the daemon is down cannot use the signature later.

use std::collections::VecDeque;

use hyper::Method;
use model::limits;
use sha2::{Digest as _, Sha256};

use super::{same, secret};

/// The first line of the signed text, so that a signature for another purpose is not valid here.
const PURPOSE: &str = "rekindle-proof-1";
/// Block size of SHA-256 in bytes.
const BLOCK: usize = 64;

/// The SHA-256 of the body that a proof is valid for, in hex. `http::message` compares it with the received body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProvedBody(String);

impl ProvedBody {
    pub(crate) fn is(&self, body: &[u8]) -> bool {
        same(&self.0, &sha256(body))
    }
}

/// A proof as it is sent: `CHALLENGE.COUNTER.SHA256-OF-BODY.SIGNATURE`.
pub(super) struct RequestProof<'t> {
    pub(super) challenge: &'t str,
    pub(super) counter: u64,
    body: &'t str,
    signature: &'t str,
}

impl<'t> RequestProof<'t> {
    pub(super) fn parse(text: &'t str) -> Option<RequestProof<'t>> {
        let mut parts = text.split('.');
        let proof = RequestProof {
            challenge: parts.next()?,
            counter: parts.next()?.parse().ok()?,
            body: parts.next()?,
            signature: parts.next()?,
        };
        parts.next().is_none().then_some(proof)
    }

    /// Returns the digest of the proved body, if this key signed it for this method and target.
    pub(super) fn verify(&self, key: &str, method: &Method, target: &str) -> Option<ProvedBody> {
        let RequestProof { challenge, counter, body, signature } = self;
        let text = format!("{PURPOSE}\n{challenge}\n{counter}\n{method}\n{target}\n{body}");
        let right = hmac_sha256(&bytes_of(key)?, text.as_bytes());
        same(&right, signature).then(|| ProvedBody((*body).to_owned()))
    }
}

/// The challenges of one browser, each with its used counters.
#[derive(Default)]
pub(super) struct Challenges(VecDeque<(String, ReplayWindow)>);

impl Challenges {
    /// Issues a new challenge; `None` without a source of randomness.
    pub(super) fn issue(&mut self) -> Option<String> {
        let challenge = secret()?;
        if self.0.len() >= limits::CHALLENGES_MAX {
            self.0.pop_front();
        }
        self.0.push_back((challenge.clone(), ReplayWindow::default()));
        Some(challenge)
    }

    pub(super) fn knows(&self, challenge: &str) -> bool {
        self.0.iter().any(|(known, _)| same(known, challenge))
    }

    /// Marks a counter of a challenge as used; false if it was used before.
    pub(super) fn use_up(&mut self, challenge: &str, counter: u64) -> bool {
        let known = self.0.iter_mut().find(|(known, _)| same(known, challenge));
        known.is_some_and(|(_, window)| window.accept(counter))
    }
}

/// The used counters. Requests of one tab may arrive out of order, so the last 64 are tracked individually; all
/// lower ones count as used.
#[derive(Default)]
struct ReplayWindow {
    highest: u64,
    /// Bit n is set if `highest - n` was used.
    used: u64,
}

impl ReplayWindow {
    fn accept(&mut self, counter: u64) -> bool {
        if counter == 0 {
            return false;
        }
        if counter > self.highest {
            let step = u32::try_from(counter - self.highest).unwrap_or(u32::MAX);
            self.used = self.used.checked_shl(step).unwrap_or(0) | 1;
            self.highest = counter;
            return true;
        }
        let Some(bit) =
            u32::try_from(self.highest - counter).ok().and_then(|n| 1u64.checked_shl(n))
        else {
            return false;
        };
        let fresh = self.used & bit == 0;
        self.used |= bit;
        fresh
    }
}

/// SHA-256 in hex.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// HMAC-SHA-256 (RFC 2104) in hex, for keys of at most one block.
fn hmac_sha256(key: &[u8], text: &[u8]) -> String {
    debug_assert!(key.len() <= BLOCK, "a longer key would have to be hashed first");
    let padded = |pad: u8| {
        let mut block = [pad; BLOCK];
        for (byte, key) in block.iter_mut().zip(key) {
            *byte ^= key;
        }
        block
    };
    let inner = Sha256::new().chain_update(padded(0x36)).chain_update(text).finalize();
    hex(&Sha256::new().chain_update(padded(0x5c)).chain_update(inner).finalize())
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes_of(hex: &str) -> Option<Vec<u8>> {
    let pairs = hex.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hmac_matches_the_test_vectors_of_rfc_4231() {
        assert_eq!(
            hmac_sha256(&[0x0b; 20], b"Hi There"),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        );
        assert_eq!(
            hmac_sha256(b"Jefe", b"what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }

    #[test]
    fn each_counter_is_accepted_once_in_any_order() {
        let mut window = ReplayWindow::default();
        for counter in [1, 3, 2, 64, 10] {
            assert!(window.accept(counter), "{counter}");
            assert!(!window.accept(counter), "{counter} again");
        }
        assert!(!window.accept(0));
        assert!(window.accept(u64::MAX));
        assert!(!window.accept(65), "below the window");
        assert!(window.accept(u64::MAX - 63) && !window.accept(u64::MAX - 64));
    }

    #[test]
    fn a_proof_has_exactly_four_parts() {
        assert!(RequestProof::parse("a.1.b.c").is_some());
        for bad in ["", "a", "a.1.b", "a.1.b.c.d", "a.x.b.c", "a.-1.b.c"] {
            assert!(RequestProof::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn a_proof_holds_for_its_key_method_target_and_text_only() {
        let body = sha256(b"{}");
        let text = format!("{PURPOSE}\nc\n1\nPOST\n/rpc\n{body}");
        let signature = hmac_sha256(&[7; 32], text.as_bytes());
        let sent = format!("c.1.{body}.{signature}");
        let proof = RequestProof::parse(&sent).unwrap();
        let key = hex(&[7; 32]);
        assert!(proof.verify(&key, &Method::POST, "/rpc").unwrap().is(b"{}"));
        assert!(!proof.verify(&key, &Method::POST, "/rpc").unwrap().is(b"[]"));
        assert_eq!(proof.verify(&hex(&[8; 32]), &Method::POST, "/rpc"), None);
        assert_eq!(proof.verify(&key, &Method::GET, "/rpc"), None);
        assert_eq!(proof.verify(&key, &Method::POST, "/mcp"), None);
        let other = format!("c.2.{body}.{signature}");
        assert_eq!(RequestProof::parse(&other).unwrap().verify(&key, &Method::POST, "/rpc"), None);
    }

    #[test]
    fn challenges_are_bounded_and_the_oldest_is_dropped() {
        let mut challenges = Challenges::default();
        let first = challenges.issue().unwrap();
        assert!(challenges.use_up(&first, 1) && !challenges.use_up(&first, 1));
        for _ in 0..limits::CHALLENGES_MAX {
            challenges.issue();
        }
        assert!(!challenges.knows(&first) && !challenges.use_up(&first, 2));
    }
}
