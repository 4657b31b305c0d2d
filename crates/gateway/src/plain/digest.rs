//! Digest authentication of requests (RFC 3261 §22, RFC 8760, RFC 7616).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use md5::Md5;
use sha2::{Digest, Sha256};
use sip_types::header::typed::{
    Algorithm, AlgorithmValue, AuthChallenge, AuthResponse, DigestChallenge, DigestResponse, QopOption,
    Username,
};
use sip_types::print::AppendCtx;
use sip_types::{Headers, Name};
use whimbrel_ufa::sip::{Message, Token, response};

use crate::settings::DigestAlgorithm;

/// What a nonce may be answered with is no older than this.
const NONCE_LIVES: Duration = Duration::from_secs(300);

/// Nonces at most whose use is remembered. Only who knows a password makes any be remembered.
const REMEMBERED_MAX: usize = 4096;

impl DigestAlgorithm {
    fn name(self) -> Algorithm {
        Algorithm::AlgorithmValue(match self {
            Self::Sha256 => AlgorithmValue::SHA256,
            Self::Md5 => AlgorithmValue::MD5,
        })
    }

    /// In hexadecimal digits.
    pub(super) fn hash(self, text: &str) -> String {
        match self {
            Self::Sha256 => hexadecimal(&Sha256::digest(text)),
            Self::Md5 => hexadecimal(&Md5::digest(text)),
        }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// What a request proves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Proof {
    /// It is of this user.
    Of(String),
    /// Nothing yet. `stale` says that the nonce is too old, and nothing else amiss.
    Nothing { stale: bool },
    /// Somebody says that it is of this user, and does not know the password; or there is no such user.
    Wrong(String),
}

/// Which request has used a nonce last: one that comes again is the same one.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Use {
    count: u32,
    request: [String; 2],
    /// When the nonce was made.
    made: Duration,
}

/// Asks for passwords, and looks at the answers. Nothing is remembered of who has not answered.
pub(crate) struct Digests {
    realm: String,
    /// Those that are asked for, the preferred one first.
    algorithms: Vec<DigestAlgorithm>,
    secret: [u8; 32],
    /// How many nonces there were.
    nonces: u32,
    used: BTreeMap<String, Use>,
}

impl Digests {
    pub(crate) fn new(realm: String, algorithms: Vec<DigestAlgorithm>, secret: [u8; 32]) -> Self {
        Self { realm, algorithms, secret, nonces: 0, used: BTreeMap::new() }
    }

    /// Whether a request is of somebody whose password is known. `now` is on the same clock as all the time.
    pub(crate) fn prove(
        &mut self,
        now: Duration,
        request: &Message,
        password: impl Fn(&str) -> Option<String>,
    ) -> Proof {
        let Some((answer, algorithm)) = self.answer(request) else { return Proof::Nothing { stale: false } };
        let Username::Username(user) = &answer.username else { return Proof::Nothing { stale: false } };
        let Some(made) = self.made(&answer.nonce) else { return Proof::Nothing { stale: true } };
        let known = password(user);
        // Whoever guesses names learns nothing by the time that it takes.
        let expected = self.expected(&answer, algorithm, request, known.as_deref().unwrap_or_default());
        if !self.is_same(&expected, &answer.response) || known.is_none() {
            return Proof::Wrong(user.to_string());
        }
        if now.saturating_sub(made) > NONCE_LIVES || !self.is_new(now, made, &answer, request) {
            return Proof::Nothing { stale: true };
        }
        Proof::Of(user.to_string())
    }

    /// 401, with one challenge for each algorithm (RFC 8760 §2.3). `None` cannot happen with a request that was read.
    pub(crate) fn challenge(&mut self, now: Duration, request: &Message, stale: bool) -> Option<Message> {
        let mut answer = response(request, 401, &self.tag(request)).ok()?;
        // Those of two requests differ: what one agent proves must not be a repetition for another.
        self.nonces = self.nonces.wrapping_add(1);
        let nonce = self.nonce(now, self.nonces);
        for algorithm in &self.algorithms {
            let challenge = AuthChallenge::Digest(DigestChallenge {
                realm: self.realm.as_str().into(),
                domain: None,
                nonce: nonce.as_str().into(),
                opaque: None,
                stale,
                algorithm: algorithm.name(),
                qop: vec![QopOption::Auth],
                userhash: false,
                other: Vec::new(),
            });
            answer = answer.with("WWW-Authenticate", challenge.default_print_ctx());
        }
        Some(answer)
    }

    /// A refusal that leaves nothing behind here (RFC 3261 §8.2.7): the same request is always answered with the same tag.
    pub(crate) fn refuse(&self, request: &Message, status: u16) -> Option<Message> {
        response(request, status, &self.tag(request)).ok()
    }

    fn tag(&self, request: &Message) -> Token {
        Token::of(&self.mac(&["tag", request.branch(), request.call_id()]))
    }

    fn mac(&self, words: &[&str]) -> [u8; 32] {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.secret).expect("HMAC takes keys of any length");
        for word in words {
            mac.update(&(word.len() as u64).to_be_bytes());
            mac.update(word.as_bytes());
        }
        mac.finalize().into_bytes().into()
    }

    /// When it was made, which one it is, and that it was made here.
    fn nonce(&self, now: Duration, number: u32) -> String {
        let made = format!("{:016x}{number:08x}", now.as_millis() as u64);
        let mac = self.mac(&["nonce", &made]);
        made + &hexadecimal(&mac[..16])
    }

    /// When a nonce was made; `None` if it was not made here.
    fn made(&self, nonce: &str) -> Option<Duration> {
        let number = |range| u64::from_str_radix(nonce.get(range)?, 16).ok();
        let (made, which) = (Duration::from_millis(number(0..16)?), number(16..24)?);
        self.is_same(&self.nonce(made, u32::try_from(which).ok()?), nonce).then_some(made)
    }

    /// Without telling by the time that it takes where they differ.
    fn is_same(&self, one: &str, other: &str) -> bool {
        self.mac(&["same", one]) == self.mac(&["same", other])
    }

    /// The answer to one of our challenges that a request has with it.
    fn answer(&self, request: &Message) -> Option<(DigestResponse, DigestAlgorithm)> {
        let lines = request.headers().get_raw(&Name::AUTHORIZATION);
        lines.into_iter().find_map(|line| {
            let mut alone = Headers::new();
            alone.insert(Name::AUTHORIZATION, line.clone());
            let Ok(AuthResponse::Digest(answer)) = alone.get(Name::AUTHORIZATION) else { return None };
            let algorithm = *self.algorithms.iter().find(|known| known.name() == answer.algorithm)?;
            (answer.realm == *self.realm && !answer.userhash && is_for(&answer, request))
                .then_some((answer, algorithm))
        })
    }

    /// RFC 7616 §3.4.1.
    fn expected(
        &self,
        answer: &DigestResponse,
        algorithm: DigestAlgorithm,
        request: &Message,
        password: &str,
    ) -> String {
        let hash = |words: &[&str]| algorithm.hash(&words.join(":"));
        let (Username::Username(user) | Username::UsernameNonASCII(user)) = &answer.username;
        let who = hash(&[user.as_str(), &self.realm, password]);
        let what = hash(&[&request.method().to_string(), &answer.uri]);
        match &answer.qop_response {
            Some(qop) => {
                let count = format!("{:08x}", qop.nc);
                hash(&[&who, &answer.nonce, &count, &qop.cnonce, &qop.qop.to_string(), &what])
            }
            None => hash(&[&who, &answer.nonce, &what]),
        }
    }

    /// Whether a nonce is used for the first time with this count (RFC 7616 §3.3), or comes again with the same request.
    fn is_new(&mut self, now: Duration, made: Duration, answer: &DigestResponse, request: &Message) -> bool {
        let count = answer.qop_response.as_ref().map_or(0, |qop| qop.nc);
        let this = Use { count, request: [request.branch().to_owned(), request.call_id().to_owned()], made };
        if self.used.len() >= REMEMBERED_MAX {
            self.used.retain(|_, used| now.saturating_sub(used.made) <= NONCE_LIVES);
        }
        let full = self.used.len() >= REMEMBERED_MAX;
        let is_new = match self.used.get(answer.nonce.as_str()) {
            Some(before) if *before == this => return true,
            Some(before) => before.count < count,
            None => !full,
        };
        if is_new {
            self.used.insert(answer.nonce.to_string(), this);
        }
        is_new
    }
}

/// Whether an answer is for this request. Agents name the host that they ask by the Request-URI or by its address alone.
fn is_for(answer: &DigestResponse, request: &Message) -> bool {
    let qop = answer.qop_response.as_ref().is_none_or(|qop| qop.qop == QopOption::Auth);
    let host = request.uri().map(|uri| uri.host_port.default_print_ctx().to_string());
    let named = answer.uri.as_str().strip_prefix("sip:").unwrap_or_default();
    let named = named.rsplit_once('@').map_or(named, |(_, host)| host);
    let named = named.split([';', '?']).next().unwrap_or_default();
    qop && host.is_some_and(|host| host == named)
}

#[cfg(test)]
#[path = "digest_tests.rs"]
mod tests;
