//! Whom a gateway knows: other gateways, each at its place, and hosts.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::mpsc;
use whimbrel::secure::{Keyring, PublicKey};
use whimbrel_ufa::sip::Transport;

use crate::connections::Peers;
use crate::news::GatewayNews;
use crate::order::OrderError;
use crate::plain::Passwords;
use crate::settings::Settings;

/// Gateways by name, with their addresses and keys.
type Gateways = BTreeMap<String, (SocketAddr, PublicKey)>;

/// What the file says of others; clones are of the same.
#[derive(Clone)]
pub(crate) struct Acquaintances {
    gateways: Arc<RwLock<Gateways>>,
    trusted: Keyring,
    passwords: Passwords,
    news: mpsc::UnboundedSender<GatewayNews>,
}

impl Acquaintances {
    pub(crate) fn new(settings: &Settings, news: mpsc::UnboundedSender<GatewayNews>) -> Self {
        let all = Self {
            gateways: Arc::default(),
            trusted: Keyring::default(),
            passwords: Passwords::default(),
            news,
        };
        all.learn(settings);
        all
    }

    /// These are known from now on, and nobody else.
    pub(crate) fn learn(&self, settings: &Settings) {
        let place = |address| SocketAddr::new(address, Transport::Tls.port());
        let gateways: Gateways = settings
            .gateways
            .iter()
            .map(|other| (other.name.clone(), (place(other.address), other.key)))
            .collect();
        let users = settings.plain_sip.iter().flat_map(|plain| &plain.users);
        self.passwords.replace(users.map(|user| (user.name.clone(), user.password.0.clone())));
        let hosts = settings.hosts.iter().map(|host| host.key);
        self.trusted.replace(hosts.chain(gateways.values().map(|(_, key)| *key)));
        *self.gateways.write().unwrap_or_else(PoisonError::into_inner) = gateways;
    }

    /// The passwords of those who have no keys.
    pub(crate) fn passwords(&self) -> Passwords {
        self.passwords.clone()
    }

    /// Everybody's keys.
    pub(crate) const fn trusted(&self) -> &Keyring {
        &self.trusted
    }

    fn with<T>(&self, ask: impl FnOnce(&Gateways) -> T) -> T {
        ask(&self.gateways.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether this is the key of a gateway.
    pub(crate) fn is_gateway(&self, key: &PublicKey) -> bool {
        self.with(|gateways| gateways.values().any(|(_, of)| of == key))
    }

    /// The name of the gateway there; where nobody is known, the address.
    pub(crate) fn name(&self, place: SocketAddr) -> String {
        self.with(|gateways| {
            let name = gateways.iter().find(|(_, (address, _))| *address == place);
            name.map_or_else(|| place.to_string(), |(name, _)| name.clone())
        })
    }

    /// Where gateways of these names are; all, if none is named.
    ///
    /// # Errors
    /// When there is no gateway of such a name.
    pub(crate) fn candidates(&self, names: &[String]) -> Result<Vec<SocketAddr>, OrderError> {
        self.with(|gateways| {
            if names.is_empty() {
                return Ok(gateways.values().map(|(address, _)| *address).collect());
            }
            let place = |name: &String| match gateways.get(name) {
                Some((address, _)) => Ok(*address),
                None => Err(OrderError::NoSuchGateway(name.clone())),
            };
            names.iter().map(place).collect()
        })
    }
}

impl Peers for Acquaintances {
    fn complain(&self, text: String) {
        // Whoever does not listen need not be told.
        let _ = self.news.send(GatewayNews::Trouble { text });
    }

    fn place(&self, from: SocketAddr, key: &PublicKey) -> SocketAddr {
        self.with(|gateways| {
            gateways.values().find(|(_, of)| of == key).map_or(from, |(address, _)| *address)
        })
    }

    fn may_answer(&self, at: SocketAddr, key: &PublicKey) -> bool {
        self.with(|gateways| gateways.values().all(|(address, of)| (address.ip() == at.ip()) == (of == key)))
    }
}

#[cfg(test)]
#[path = "acquaintances_tests.rs"]
mod tests;
