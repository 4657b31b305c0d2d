//! What protection needs of others: keys that two ends agree on, and ciphers. Whoever implements these knows nothing of SCTP.

use core::fmt::Debug;
use core::time::Duration;

use bytes::Bytes;

/// The tag of a record in bytes, which all ciphers that may be used have (RFC 9147 §4.2.3, RFC 5116).
pub(crate) const TAG_LEN: usize = 16;

/// Which part an end takes in an exchange of keys; the same for as long as the association lives (key draft §6.2.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyRole {
    /// It begins.
    Client,
    /// It answers.
    Server,
}

/// What INIT and INIT ACK have said of keys, in bytes as sent and without padding. Keys depend on it, so that two ends of which one has read
/// something else than the other has written do not get the same keys (key draft §5.2).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyContext {
    /// The DTLS Key Management parameter of the client.
    pub client: Vec<u8>,
    /// The DTLS Key Management parameter of the server.
    pub server: Vec<u8>,
}

/// Who a peer has proved to be, in a form that only the implementation of [`KeyExchanges`] reads: a public key or the hash of a certificate.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct PeerKey(pub Bytes);

impl Debug for PeerKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("PeerKey(")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(")")
    }
}

/// Begins exchanges of keys.
pub trait KeyExchanges: Send + Sync + Debug {
    /// Identifiers of methods, the preferred one first (chunk draft §4.1); at least one.
    fn methods(&self) -> &[u8];

    /// Begins one. With a `peer` it must be that one again, as for new keys of an association that is up (key draft §3.3).
    fn begin(&self, role: KeyRole, context: &KeyContext, peer: Option<&PeerKey>) -> Box<dyn KeyExchange>;
}

/// One exchange of keys, which ends with an equal set of keys at both ends or with an error.
pub trait KeyExchange: Send + Debug {
    /// Takes the next message of the peer's, which may be anything.
    ///
    /// # Errors
    /// [`KeyExchangeError`] if there will be no keys.
    fn take(&mut self, message: &[u8]) -> Result<(), KeyExchangeError>;

    /// The next message to the peer, `None` if there is nothing to say now.
    fn give(&mut self) -> Option<Vec<u8>>;

    /// The keys, once, as soon as this end knows who the peer is and has said all that the peer needs for the same keys.
    fn finish(&mut self) -> Option<Keys>;
}

/// What an exchange has led to.
#[derive(Debug)]
pub struct Keys {
    /// For what is sent.
    pub send: Box<dyn RecordCipher>,
    /// For what is received.
    pub receive: Box<dyn RecordCipher>,
    /// Who the peer is.
    pub peer: PeerKey,
}

/// The keys of one direction: AEAD, and the mask of record numbers (RFC 9147 §4.2.3).
pub trait RecordCipher: Send + Sync + Debug {
    /// Encrypts `content` in place and returns the tag. `number` makes the nonce and is never used twice; `header` is authenticated, too.
    fn seal(&self, number: u64, header: &[u8], content: &mut [u8]) -> [u8; 16];

    /// Decrypts `sealed` in place, whose last 16 bytes are the tag; false, with `sealed` holding anything, if it is not genuine.
    #[must_use]
    fn open(&self, number: u64, header: &[u8], sealed: &mut [u8]) -> bool;

    /// What the number in a record header is XORed with, by the first 16 bytes of the ciphertext.
    fn mask(&self, sample: &[u8; 16]) -> [u8; 2];
}

/// The longest time that an exchange of keys may take: an association that is set up and has no keys by then is given up
/// ([`KeyExchangeError::Late`]).
pub const KEY_EXCHANGE: Duration = Duration::from_secs(15);

/// Why there are no keys.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum KeyExchangeError {
    /// The peer has proved to have a key that is not among those we trust.
    #[error("{}", Self::UNKNOWN_PEER)]
    UnknownPeer(PeerKey),
    /// The peer does not trust us: not its key is wrong, but ours is not among those that it knows.
    #[error("the peer does not trust our key")]
    Refused,
    /// None were agreed on within [`KEY_EXCHANGE`]: packets are lost, or an end is away. Sooner at the end that connects, if the path of the
    /// handshake is gone, or silent while there is another: no other path can be used before there are keys, and a new attempt tries all.
    #[error("no keys were agreed on in time")]
    Late,
    /// Anything else.
    #[error("{0}")]
    Failed(String),
}

impl KeyExchangeError {
    /// What is said of a peer that is not trusted. It is told the same, and knows by these words what it means.
    pub(crate) const UNKNOWN_PEER: &str = "the peer's key is not one that is trusted";
}
