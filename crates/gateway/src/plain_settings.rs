//! The part of a gateway's file that is about SIP in clear.

use std::fmt;
use std::net::IpAddr;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use whimbrel_ufa::ClearSip;
use whimbrel_ufa::sip::is_user;

use crate::settings::twice;

/// What the machines call themselves where nobody has a name, so that no user may be called so: terminals and correspondents with keys, gateways among
/// themselves.
const RESERVED: [&str; 4] = ["terminal", "correspondent", "source", "target"];

/// SIP over UDP and TCP on port 5060, without TLS.
#[derive(Deserialize, Clone, PartialEq, Eq, Debug)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PlainSipSettings {
    /// How passwords are proved, the preferred way first.
    #[serde(default = "digests")]
    pub digests: Vec<DigestAlgorithm>,
    /// Who may have sessions as a terminal.
    #[serde(default)]
    pub users: Vec<UserSettings>,
    /// What the gateway's domain is called, where users can say that they are (REGISTER); its address always is.
    #[serde(default)]
    pub domain: Option<String>,
    /// Proxies that are believed when they say from whom they have a request.
    #[serde(default)]
    pub proxies: Vec<IpAddr>,
}

fn digests() -> Vec<DigestAlgorithm> {
    vec![DigestAlgorithm::Sha256]
}

impl PlainSipSettings {
    /// As the machine wants it.
    pub(crate) fn machine(&self) -> ClearSip {
        ClearSip { proxies: self.proxies.clone(), domain: self.domain.clone() }
    }

    /// All that is wrong with it, in sentences. `gateways` are called so in the same file.
    pub(crate) fn faults(&self, gateways: &[&str]) -> Vec<String> {
        let mut faults = Vec::new();
        if self.digests.is_empty() {
            faults.push("plain-sip.digests: nobody could prove a password".to_owned());
        }
        if self.users.is_empty() {
            faults.push("plain-sip.users: there is none, so that nobody could speak".to_owned());
        }
        let is_host = |name: &str| {
            !name.is_empty()
                && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-.".contains(letter))
        };
        if let Some(domain) = self.domain.as_ref().filter(|domain| !is_host(domain)) {
            faults.push(format!("plain-sip.domain: {domain:?} is no name of a domain"));
        }
        for UserSettings { name, password } in &self.users {
            if !is_user(name) {
                faults.push(format!("plain-sip.users: {name:?} is no name of a SIP user"));
            }
            if RESERVED.contains(&name.as_str()) || gateways.contains(&name.as_str()) {
                faults.push(format!(
                    "plain-sip.users: no user can be called {name}, as hosts with keys or a gateway are"
                ));
            }
            if password.0.is_empty() {
                faults.push(format!("plain-sip.users: {name} has an empty password"));
            }
        }
        let names = twice(self.users.iter().map(|user| &user.name));
        faults.extend(names.into_iter().map(|name| format!("plain-sip.users: two are called {name}")));
        let digests = twice(self.digests.iter().map(|digest| digest.name()));
        faults.extend(digests.into_iter().map(|name| format!("plain-sip.digests: {name} is there twice")));
        faults
    }
}

/// How a password is proved.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
pub enum DigestAlgorithm {
    /// SHA-256 (RFC 8760).
    #[serde(rename = "SHA-256")]
    Sha256,
    /// MD5, for agents that know nothing else: who has seen an answer finds a short password soon.
    #[serde(rename = "MD5")]
    Md5,
}

impl DigestAlgorithm {
    const fn name(self) -> &'static str {
        match self {
            Self::Sha256 => "SHA-256",
            Self::Md5 => "MD5",
        }
    }
}

/// A terminal that is known by a password.
#[derive(Deserialize, Clone, PartialEq, Eq, Debug)]
#[serde(deny_unknown_fields)]
pub struct UserSettings {
    /// Whom its SIP names in From.
    pub name: String,
    /// What it knows.
    pub password: Password,
}

/// A password, which no message shows.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(pub String);

/// What is none is not shown either: a number, for instance, that somebody has forgotten to put in quotes.
impl<'de> Deserialize<'de> for Password {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer);
        text.map(Self).map_err(|_| D::Error::custom("a password is a text in quotes"))
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(a password)")
    }
}
