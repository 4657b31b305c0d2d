//! TLS over byte streams, for what hosts say to each other beside SCTP.

use std::sync::{Arc, OnceLock};

use rustls::crypto::{CryptoProvider, ring as provider};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, CommonState, ServerConfig};

use super::verifier::Verifier;
use super::{certified, client, name, server};
use crate::{Identity, PublicKey, Trust};

/// TLS 1.3 over a byte stream, by which both ends know each other's keys (RFC 7250): for protocols such as SIP that run beside associations.
///
/// Each end shows the key of its [`Identity`]; there are no certificates and no names. `protocol` is the name of what is spoken inside (ALPN, RFC 7301), and
/// both ends must say the same.
#[derive(Debug)]
pub struct StreamTls {
    provider: Arc<CryptoProvider>,
    certified: Arc<rustls::sign::CertifiedKey>,
    protocol: Vec<u8>,
}

impl StreamTls {
    /// For a host with this identity.
    #[must_use]
    pub fn new(identity: &Identity, protocol: &[u8]) -> Self {
        Self {
            provider: Arc::new(provider::default_provider()),
            certified: certified(identity),
            protocol: protocol.to_vec(),
        }
    }

    /// The client's side, for servers that `trust` accepts.
    ///
    /// # Errors
    /// None that a valid identity could cause.
    pub fn client(&self, trust: Trust) -> Result<Arc<ClientConfig>, rustls::Error> {
        let (provider, certified) = (Arc::clone(&self.provider), Arc::clone(&self.certified));
        client(provider, certified, self.verifier(trust), &self.protocol).map(Arc::new)
    }

    /// The server's side, for clients that `trust` accepts.
    ///
    /// # Errors
    /// None that a valid identity could cause.
    pub fn server(&self, trust: Trust) -> Result<Arc<ServerConfig>, rustls::Error> {
        let (provider, certified) = (Arc::clone(&self.provider), Arc::clone(&self.certified));
        server(provider, certified, self.verifier(trust), &self.protocol).map(Arc::new)
    }

    fn verifier(&self, trust: Trust) -> Arc<Verifier> {
        Arc::new(Verifier::new(&self.provider, Arc::new(trust), None, Arc::new(OnceLock::new())))
    }

    /// The name that a client must ask for; it says nothing.
    #[must_use]
    pub fn server_name() -> ServerName<'static> {
        name()
    }

    /// Whose key the other end has shown, once the handshake is over.
    pub fn peer(connection: &CommonState) -> Option<PublicKey> {
        PublicKey::from_spki(connection.peer_certificates()?.first()?)
    }
}
