//! TLS 1.3 as a [`KeyExchange`]: a whole handshake in user messages, of which nothing is kept but keys (the key draft, sections 3, 5 and 6).

use core::fmt;
use std::io::Read;
use std::sync::{Arc, OnceLock};

use rustls::client::AlwaysResolvesClientRawPublicKeys;
use rustls::crypto::{CryptoProvider, ring as provider};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::server::AlwaysResolvesServerRawPublicKeys;
use rustls::sign::CertifiedKey;
use rustls::{
    AlertDescription, CipherSuite, ClientConfig, ClientConnection, Connection, ServerConfig, ServerConnection,
};
use whimbrel_proto::{
    KeyContext, KeyExchange, KeyExchangeError, KeyExchanges, KeyRole, Keys, PeerKey, RecordCipher, Security,
};
use zeroize::Zeroizing;

use self::verifier::Verifier;
use crate::cipher::{IV_LEN, Suite};
use crate::{Identity, PublicKey, Trust};

pub(crate) mod stream;
mod verifier;

/// The key draft's method (section 9.1).
const METHOD: u8 = 192;

/// Names the revision of all that two Whimbrels say to each other: who has another one finds out in the handshake.
const ALPN: &[u8] = b"whimbrel/1";

/// The key draft, section 5.3.
const LABEL: &[u8] = b"EXPORTER_TLS_FOR_DTLS_IN_SCTP";

/// Key role of the exporter context: keys for traffic. Those for a restart are not made (section 5.2).
const TRAFFIC: u8 = 0;

/// Key types of the exporter context (section 5.2).
const KEY: u8 = 0;
const NUMBER_KEY: u8 = 1;
const IV: u8 = 2;

/// No whole handshake of TLS is longer than this here; a peer that says more is not listened to.
const LONGEST_HANDSHAKE: usize = 64 * 1024;

/// Protection with this identity, for peers that `trust` accepts.
///
/// Associations are encrypted with AES-128-GCM or ChaCha20-Poly1305 by keys that TLS 1.3 has agreed on, X25519 and Ed25519 inside, renewed each hour; both
/// ends know each other's keys.
#[must_use]
pub fn required(identity: &Identity, trust: Trust) -> Security {
    Security::Required(Arc::new(TlsExchanges::new(identity, trust)))
}

/// Makes one TLS connection after the other.
struct TlsExchanges {
    provider: Arc<CryptoProvider>,
    certified: Arc<CertifiedKey>,
    own: PublicKey,
    trust: Arc<Trust>,
}

impl TlsExchanges {
    fn new(identity: &Identity, trust: Trust) -> Self {
        let wanted = |suite: &rustls::SupportedCipherSuite| Suite::of(suite.suite()).is_some();
        let provider = CryptoProvider {
            cipher_suites: preferred().into_iter().filter(wanted).collect(),
            kx_groups: vec![provider::kx_group::X25519],
            ..provider::default_provider()
        };
        Self {
            provider: Arc::new(provider),
            certified: certified(identity),
            own: identity.public_key(),
            trust: Arc::new(trust),
        }
    }

    fn connection(&self, role: KeyRole, verifier: Arc<Verifier>) -> Result<Connection, rustls::Error> {
        let (provider, certified) = (Arc::clone(&self.provider), Arc::clone(&self.certified));
        match role {
            KeyRole::Client => {
                let config = client(provider, certified, verifier, ALPN)?;
                ClientConnection::new(Arc::new(config), name()).map(Connection::Client)
            }
            KeyRole::Server => {
                let config = server(provider, certified, verifier, ALPN)?;
                ServerConnection::new(Arc::new(config)).map(Connection::Server)
            }
        }
    }
}

/// A host's key as TLS wants certificates.
fn certified(identity: &Identity) -> Arc<CertifiedKey> {
    let key = identity.signing_key();
    let spki = key.public_key().expect("it is known with the private one");
    let certificate = CertificateDer::from(spki.as_ref().to_vec());
    Arc::new(CertifiedKey::new(vec![certificate], Arc::clone(key)))
}

/// What a client asks for. The verifier looks at keys, and names mean nothing.
pub(crate) fn name() -> ServerName<'static> {
    ServerName::try_from("whimbrel.invalid").expect("a name")
}

/// A client that shows its key and looks at the server's.
fn client(
    provider: Arc<CryptoProvider>,
    certified: Arc<CertifiedKey>,
    verifier: Arc<Verifier>,
    protocol: &[u8],
) -> Result<ClientConfig, rustls::Error> {
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_client_cert_resolver(Arc::new(AlwaysResolvesClientRawPublicKeys::new(certified)));
    config.alpn_protocols = vec![protocol.to_vec()];
    config.enable_sni = false;
    config.resumption = rustls::client::Resumption::disabled();
    Ok(config)
}

/// A server that shows its key and looks at the client's.
fn server(
    provider: Arc<CryptoProvider>,
    certified: Arc<CertifiedKey>,
    verifier: Arc<Verifier>,
    protocol: &[u8],
) -> Result<ServerConfig, rustls::Error> {
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_client_cert_verifier(verifier)
        .with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(certified)));
    config.alpn_protocols = vec![protocol.to_vec()];
    config.send_tls13_tickets = 0;
    Ok(config)
}

/// AES first where the processor has instructions for it.
fn preferred() -> Vec<rustls::SupportedCipherSuite> {
    let mut suites = vec![
        provider::cipher_suite::TLS13_AES_128_GCM_SHA256,
        provider::cipher_suite::TLS13_CHACHA20_POLY1305_SHA256,
    ];
    #[cfg(target_arch = "x86_64")]
    let has_aes = std::arch::is_x86_feature_detected!("aes");
    #[cfg(target_arch = "aarch64")]
    let has_aes = std::arch::is_aarch64_feature_detected!("aes");
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let has_aes = false;
    if !has_aes {
        suites.reverse();
    }
    suites
}

impl fmt::Debug for TlsExchanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsExchanges")
            .field("own", &self.own)
            .field("trust", &self.trust)
            .finish_non_exhaustive()
    }
}

impl KeyExchanges for TlsExchanges {
    fn methods(&self) -> &[u8] {
        &[METHOD]
    }

    fn begin(&self, role: KeyRole, context: &KeyContext, peer: Option<&PeerKey>) -> Box<dyn KeyExchange> {
        let wanted = peer.and_then(|peer| PublicKey::try_from(peer).ok());
        let refused = Arc::new(OnceLock::new());
        let verifier = Verifier::new(&self.provider, Arc::clone(&self.trust), wanted, Arc::clone(&refused));
        let connection = self.connection(role, Arc::new(verifier)).map_err(|error| error.to_string());
        Box::new(TlsExchange {
            role,
            context: context.clone(),
            connection,
            refused,
            taken: 0,
            finished: false,
        })
    }
}

struct TlsExchange {
    role: KeyRole,
    context: KeyContext,
    connection: Result<Connection, String>,
    /// The key that the verifier has refused.
    refused: Arc<OnceLock<PublicKey>>,
    taken: usize,
    finished: bool,
}

impl fmt::Debug for TlsExchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsExchange").field("role", &self.role).finish_non_exhaustive()
    }
}

impl TlsExchange {
    fn error(&self, error: &rustls::Error) -> KeyExchangeError {
        if let Some(key) = self.refused.get() {
            return KeyExchangeError::UnknownPeer(key.to_peer_key());
        }
        match error {
            rustls::Error::AlertReceived(
                AlertDescription::BadCertificate
                | AlertDescription::UnknownCA
                | AlertDescription::CertificateUnknown
                | AlertDescription::AccessDenied
                | AlertDescription::CertificateRequired,
            ) => KeyExchangeError::Refused,
            rustls::Error::AlertReceived(AlertDescription::NoApplicationProtocol)
            | rustls::Error::NoApplicationProtocol => {
                KeyExchangeError::Failed("the peer implements another revision of this encryption".to_owned())
            }
            other => KeyExchangeError::Failed(format!("no keys were agreed on: {other}")),
        }
    }

    /// The keys of one direction (section 5.2): 0 from the client to the server, 1 back.
    fn records(&self, connection: &Connection, direction: u8) -> Option<Box<dyn RecordCipher>> {
        let suite: CipherSuite = connection.negotiated_cipher_suite()?.suite();
        let suite = Suite::of(suite)?;
        let export = |kind: u8, length: usize| {
            let context =
                [&[direction, TRAFFIC, kind], &self.context.client[..], &self.context.server].concat();
            let output = Zeroizing::new(vec![0; length]);
            Exported(output).fill(connection, &context)
        };
        let (key, number_key) = (export(KEY, suite.key_len())?, export(NUMBER_KEY, suite.key_len())?);
        let iv = *export(IV, IV_LEN)?.first_chunk()?;
        Some(Box::new(suite.cipher(&key, &number_key, iv)?))
    }
}

/// Key material that is zeroed when it is not needed any more.
struct Exported(Zeroizing<Vec<u8>>);

impl Exported {
    fn fill(mut self, connection: &Connection, context: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        connection.export_keying_material(&mut self.0[..], LABEL, Some(context)).ok()?;
        Some(self.0)
    }
}

impl KeyExchange for TlsExchange {
    fn take(&mut self, message: &[u8]) -> Result<(), KeyExchangeError> {
        self.taken += message.len();
        if self.finished || self.taken > LONGEST_HANDSHAKE {
            return Err(KeyExchangeError::Failed("the peer says too much about keys".to_owned()));
        }
        let connection = self.connection.as_mut().map_err(|error| KeyExchangeError::Failed(error.clone()))?;
        let mut records = message;
        while !records.is_empty() {
            let read = connection.read_tls(&mut records);
            let read = read.map_err(|error| KeyExchangeError::Failed(error.to_string()))?;
            if let Err(error) = connection.process_new_packets() {
                return Err(self.error(&error));
            }
            if read == 0 {
                return Err(KeyExchangeError::Failed("the peer has ended TLS".to_owned()));
            }
        }
        // Section 2.1: no data goes through TLS itself.
        match connection.reader().read(&mut [0]) {
            Ok(read) if read > 0 => Err(KeyExchangeError::Failed("data inside of TLS".to_owned())),
            _ => Ok(()),
        }
    }

    fn give(&mut self) -> Option<Vec<u8>> {
        let connection = self.connection.as_mut().ok()?;
        let mut records = Vec::new();
        while connection.wants_write() {
            connection.write_tls(&mut records).ok()?;
        }
        (!records.is_empty()).then_some(records)
    }

    fn finish(&mut self) -> Option<Keys> {
        let connection = self.connection.as_ref().ok()?;
        let says_whimbrel = connection.alpn_protocol() == Some(ALPN);
        if self.finished || connection.is_handshaking() || connection.wants_write() || !says_whimbrel {
            return None;
        }
        let key = connection.peer_certificates()?.first()?;
        let peer = PublicKey::from_spki(key)?.to_peer_key();
        let (to_server, to_client) = (self.records(connection, 0)?, self.records(connection, 1)?);
        self.finished = true;
        Some(match self.role {
            KeyRole::Client => Keys { send: to_server, receive: to_client, peer },
            KeyRole::Server => Keys { send: to_client, receive: to_server, peer },
        })
    }
}

#[cfg(test)]
#[path = "tls_tests.rs"]
mod tests;
