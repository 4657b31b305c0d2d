//! Digest authentication of requests (RFC 3261 §22, RFC 8760, RFC 7616).

use std::fmt::Write as _;
use std::net::{IpAddr, SocketAddr};
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

use super::uses::{NonceName, Uses};
use crate::plain_settings::DigestAlgorithm;

/// Lines with an answer that are looked at: an agent that has been asked in several ways may answer in each.
const ANSWERS_MAX: usize = 4;

/// Bits of the number in a nonce.
const NUMBER_BITS: u32 = 24;

impl DigestAlgorithm {
    fn algorithm(self) -> Algorithm {
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

/// A request as it has come.
#[derive(Clone, Copy)]
pub(crate) struct Come<'a> {
    pub(crate) from: SocketAddr,
    pub(crate) datagram: &'a [u8],
    pub(crate) request: &'a Message,
}

/// Asks for passwords, and looks at the answers. Nothing is remembered of who has not answered.
pub(crate) struct Digests {
    realm: String,
    /// Those that are asked for, the preferred one first.
    algorithms: Vec<DigestAlgorithm>,
    secret: [u8; 32],
    /// How many nonces there were.
    nonces: u32,
    used: Uses,
}

impl Digests {
    pub(crate) fn new(realm: String, algorithms: Vec<DigestAlgorithm>, secret: [u8; 32]) -> Self {
        Self { realm, algorithms, secret, nonces: 0, used: Uses::default() }
    }

    /// Whether a request is of somebody whose password is known. `now` is on the same clock as all the time.
    pub(crate) fn prove(
        &mut self,
        now: Duration,
        come: Come<'_>,
        password: impl Fn(&str) -> Option<String>,
    ) -> Proof {
        let mut best = Proof::Nothing { stale: false };
        for (answer, algorithm) in self.answers(come.request) {
            match self.proof(now, come, (&answer, algorithm), &password) {
                Proof::Of(user) => return Proof::Of(user),
                Proof::Nothing { stale: false } => {}
                proof if best == (Proof::Nothing { stale: false }) => best = proof,
                _ => {}
            }
        }
        best
    }

    /// What one answer proves.
    fn proof(
        &mut self,
        now: Duration,
        come: Come<'_>,
        (answer, algorithm): (&DigestResponse, DigestAlgorithm),
        password: impl Fn(&str) -> Option<String>,
    ) -> Proof {
        let Username::Username(user) = &answer.username else { return Proof::Nothing { stale: false } };
        // Who answers has been asked here, and hears what is sent to where it says that it is.
        let Some(nonce) = self.named(&answer.nonce, come.from.ip()) else {
            return Proof::Nothing { stale: true };
        };
        let known = password(user);
        // Whoever guesses names learns nothing by the time that it takes.
        let expected = self.expected(answer, algorithm, come.request, known.as_deref().unwrap_or_default());
        if !self.is_same(&expected, &answer.response) || known.is_none() {
            return Proof::Wrong(user.to_string());
        }
        let count = answer.qop_response.as_ref().map_or(0, |qop| qop.nc);
        // Digests cover neither headers nor bodies: all of it, and where it is from, is to be the same if it comes again.
        let print = self.mac(&[b"datagram", come.from.to_string().as_bytes(), come.datagram]);
        if !self.used.allow(now, user, nonce, count, print) {
            return Proof::Nothing { stale: true };
        }
        Proof::Of(user.to_string())
    }

    /// 401, with one challenge for each algorithm (RFC 8760 §2.3). `None` cannot happen with a request that was read.
    pub(crate) fn challenge(
        &mut self,
        now: Duration,
        asked: IpAddr,
        request: &Message,
        stale: bool,
    ) -> Option<Message> {
        let mut answer = response(request, 401, &self.tag(request)).ok()?;
        // Those of two requests differ: what one agent proves must not be a repetition for another.
        self.nonces = (self.nonces + 1) % (1 << NUMBER_BITS);
        let nonce = self.nonce(NonceName { made: now, number: self.nonces }, asked);
        for algorithm in &self.algorithms {
            let challenge = AuthChallenge::Digest(DigestChallenge {
                realm: self.realm.as_str().into(),
                domain: None,
                nonce: nonce.as_str().into(),
                opaque: None,
                stale,
                algorithm: algorithm.algorithm(),
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
        Token::of(&self.mac(&[b"tag", request.branch().as_bytes(), request.call_id().as_bytes()]))
    }

    /// The tag with which something is refused that is no message.
    pub(crate) fn tag_of(&self, datagram: &[u8]) -> Token {
        Token::of(&self.mac(&[b"bad", datagram]))
    }

    /// What stands for a source, and is told to nobody.
    pub(crate) fn secret_of(&self, source: IpAddr) -> [u8; 32] {
        self.mac(&[b"source", source.to_string().as_bytes()])
    }

    fn mac(&self, words: &[&[u8]]) -> [u8; 32] {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.secret).expect("HMAC takes keys of any length");
        for word in words {
            mac.update(&(word.len() as u64).to_be_bytes());
            mac.update(word);
        }
        mac.finalize().into_bytes().into()
    }

    /// When it was made, which one it is, and that it was made here for somebody at this address. It is short: whoever forges where a request comes from
    /// has it sent there.
    fn nonce(&self, name: NonceName, asked: IpAddr) -> String {
        let made = format!("{:010x}{:06x}", name.made.as_millis() as u64, name.number);
        let mac = self.mac(&[b"nonce", made.as_bytes(), asked.to_string().as_bytes()]);
        made + &hexadecimal(&mac[..12])
    }

    /// What names a nonce; `None` if it was not made here for this address.
    fn named(&self, nonce: &str, asked: IpAddr) -> Option<NonceName> {
        let number = |range| u64::from_str_radix(nonce.get(range)?, 16).ok();
        let made = Duration::from_millis(number(0..10)?);
        let name = NonceName { made, number: u32::try_from(number(10..16)?).ok()? };
        self.is_same(&self.nonce(name, asked), nonce).then_some(name)
    }

    /// Without telling by the time that it takes where they differ.
    fn is_same(&self, one: &str, other: &str) -> bool {
        self.mac(&[b"same", one.as_bytes()]) == self.mac(&[b"same", other.as_bytes()])
    }

    /// The answers to our challenges that a request has with it, in its order.
    fn answers(&self, request: &Message) -> Vec<(DigestResponse, DigestAlgorithm)> {
        let lines = request.headers().get_raw(&Name::AUTHORIZATION).take(ANSWERS_MAX);
        let known = lines.filter_map(|line| {
            let mut alone = Headers::new();
            alone.insert(Name::AUTHORIZATION, usual_scheme(line.as_str()));
            let Ok(AuthResponse::Digest(answer)) = alone.get(Name::AUTHORIZATION) else { return None };
            let algorithm = *self.algorithms.iter().find(|known| known.algorithm() == answer.algorithm)?;
            (answer.realm == *self.realm && !answer.userhash && is_for(&answer, request))
                .then_some((answer, algorithm))
        });
        known.collect()
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
}

/// The scheme is a word without regard to case (RFC 7235 §2.1), which whoever reads it here does not know.
fn usual_scheme(line: &str) -> String {
    match line.trim_start().split_at_checked(6) {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("Digest") => format!("Digest{rest}"),
        _ => line.to_owned(),
    }
}

/// Whether an answer is for this request. Agents name the host that they ask by the Request-URI or by its address alone. Schemes and names of hosts are
/// words without regard to case (RFC 3261 §19.1.4).
fn is_for(answer: &DigestResponse, request: &Message) -> bool {
    let qop = answer.qop_response.as_ref().is_none_or(|qop| qop.qop == QopOption::Auth);
    let host = request.uri().map(|uri| uri.host_port.default_print_ctx().to_string());
    let named = match answer.uri.as_str().split_once(':') {
        Some((scheme, named)) if ["sip", "sips"].iter().any(|sip| scheme.eq_ignore_ascii_case(sip)) => named,
        _ => "",
    };
    let named = named.rsplit_once('@').map_or(named, |(_, host)| host);
    let named = named.split([';', '?']).next().unwrap_or_default();
    qop && host.is_some_and(|host| host.eq_ignore_ascii_case(named))
}

#[cfg(test)]
#[path = "digest_tests.rs"]
mod tests;
