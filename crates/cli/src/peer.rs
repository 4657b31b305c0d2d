//! Whom to connect to.

use std::net::SocketAddr;

use serde_json::json;
use whimbrel::{Association, CloseReason, ConnectError, Endpoint};

use crate::addresses::{self, Address, Resolved};
use crate::news::News;

/// Addresses of this host to try, where one of them is meant.
const HERE_MAX: usize = 8;

/// The other host, or this one by another name.
#[derive(Debug)]
pub(crate) struct Peer {
    /// The addresses that were named; names resolved to all theirs.
    pub(crate) named: Vec<SocketAddr>,
    /// Where only loopback was named (127.0.0.1, `localhost`, often the host's own name): the others of this host. Who
    /// listens on `any` address leaves loopback out.
    here: Vec<SocketAddr>,
    /// Why some of the names have no address.
    unknown: Vec<anyhow::Error>,
}

impl Peer {
    /// Whom these addresses mean.
    ///
    /// # Errors
    /// None of the names can be resolved.
    pub(crate) async fn resolve(addresses: &[Address]) -> anyhow::Result<Self> {
        let Resolved { addresses: named, unknown } = addresses::resolve(addresses).await?;
        let port = named.first().map_or(0, SocketAddr::port);
        let mut here = Vec::new();
        if named.iter().all(|address| address.ip().is_loopback()) {
            let ours = addresses::of_this_host()?.into_iter().filter(|ip| !ip.is_loopback());
            here.extend(ours.take(HERE_MAX).map(|ip| SocketAddr::new(ip, port)));
        }
        Ok(Self { named, here, unknown })
    }

    /// Tells of names that have no address: one address that works is enough, but it may be missed later.
    pub(crate) fn doubt(&self, news: &impl News) {
        for error in &self.unknown {
            let text = format!("{error:#}; the other addresses are used");
            news.event("unknown-host", json!({ "text": text }));
            news.warn(&text);
        }
    }

    /// All of them.
    pub(crate) fn all(&self) -> Vec<SocketAddr> {
        [self.named.as_slice(), &self.here].concat()
    }

    /// Connects to what was named, and where nobody listens on that to this host's other addresses.
    ///
    /// # Errors
    /// Those of connecting to what was named.
    pub(crate) async fn connect(
        &self,
        endpoint: &Endpoint,
        sctp_port: u16,
    ) -> Result<Association, ConnectError> {
        match endpoint.connect(&self.named, sctp_port).await {
            Err(ConnectError::Failed(CloseReason::NoSctp)) if !self.here.is_empty() => {
                match endpoint.connect(&self.here, sctp_port).await {
                    // What was named is what the user wants to hear of.
                    Err(ConnectError::Failed(CloseReason::Unreachable)) => {
                        Err(ConnectError::Failed(CloseReason::NoSctp))
                    }
                    outcome => outcome,
                }
            }
            outcome => outcome,
        }
    }
}

#[cfg(test)]
#[path = "peer_tests.rs"]
mod tests;
