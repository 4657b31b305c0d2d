use core::fmt;
use core::str::FromStr;

use bytes::Bytes;
use whimbrel_proto::PeerKey;

use crate::base32;

/// What begins the text of a public key.
const PREFIX: &str = "whk1";

/// What comes before the 32 bytes of an Ed25519 key in its SubjectPublicKeyInfo (RFC 8410 section 4).
const SPKI: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// Who a host is: an Ed25519 public key. As text `whk1` and 52 letters and digits, which is what people give to each other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicKey([u8; 32]);

impl PublicKey {
    /// The key with these bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// As TLS carries it (RFC 7250); `None` if that is no Ed25519 key.
    pub(crate) fn from_spki(spki: &[u8]) -> Option<Self> {
        let (head, key) = spki.split_first_chunk::<12>()?;
        (*head == SPKI).then(|| key.try_into().ok().map(Self))?
    }

    /// As the protocol tells of it.
    pub(crate) fn to_peer_key(self) -> PeerKey {
        PeerKey(Bytes::copy_from_slice(&self.0))
    }
}

impl TryFrom<&PeerKey> for PublicKey {
    type Error = PublicKeyError;

    /// The key of a peer with which an association is up.
    fn try_from(key: &PeerKey) -> Result<Self, PublicKeyError> {
        key.0[..].try_into().map(Self).map_err(|_| PublicKeyError)
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", base32::encode(&self.0))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for PublicKey {
    type Err = PublicKeyError;

    fn from_str(text: &str) -> Result<Self, PublicKeyError> {
        let bytes = text.strip_prefix(PREFIX).and_then(base32::decode).ok_or(PublicKeyError)?;
        bytes.try_into().map(Self).map_err(|_| PublicKeyError)
    }
}

/// Not a public key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("not a key: one begins with whk1 and has 52 letters and digits after that")]
pub struct PublicKeyError;

#[cfg(test)]
#[path = "public_key_tests.rs"]
mod tests;
