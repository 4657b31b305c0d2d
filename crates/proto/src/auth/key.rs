//! Association keys (RFC 4895 §6.1) and the HMAC made with them (§6.2).

use hmac::{Hmac, KeyInit, Mac as _};
use sha1::Sha1;
use sha2::Sha256;
use zeroize::Zeroizing;

use super::config::HmacAlgorithm;
use super::shared_keys::SharedSecret;

/// The longest HMAC.
pub(crate) const MAX_MAC_LEN: usize = 32;

/// The key vectors of both sides, the numerically smaller one first (RFC 4895 §6.1).
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct KeyVectors(Box<[u8]>);

impl KeyVectors {
    /// Puts two vectors in order: as big-endian numbers, and if these are equal, the shorter one first.
    pub(crate) fn new(one: &[u8], other: &[u8]) -> Self {
        fn number(vector: &[u8]) -> (usize, &[u8], usize) {
            let zeros = vector.iter().take_while(|&&byte| byte == 0).count();
            (vector.len() - zeros, &vector[zeros..], vector.len())
        }
        let (smaller, larger) = if number(one) <= number(other) { (one, other) } else { (other, one) };
        Self([smaller, larger].concat().into())
    }

    /// The association key that belongs to a shared key: that key, the smaller vector, the larger one.
    pub(crate) fn association_key(&self, shared: &SharedSecret) -> Zeroizing<Vec<u8>> {
        Zeroizing::new([shared.bytes(), &self.0].concat())
    }
}

/// An HMAC whose key has been absorbed already.
#[derive(Clone)]
pub(crate) enum Mac {
    Sha1(Hmac<Sha1>),
    Sha256(Hmac<Sha256>),
}

impl Mac {
    pub(crate) fn new(algorithm: HmacAlgorithm, key: &[u8]) -> Self {
        let takes_any = "HMAC takes keys of any length";
        match algorithm {
            HmacAlgorithm::Sha1 => Self::Sha1(Hmac::new_from_slice(key).expect(takes_any)),
            HmacAlgorithm::Sha256 => Self::Sha256(Hmac::new_from_slice(key).expect(takes_any)),
        }
    }

    pub(crate) const fn algorithm(&self) -> HmacAlgorithm {
        match self {
            Self::Sha1(_) => HmacAlgorithm::Sha1,
            Self::Sha256(_) => HmacAlgorithm::Sha256,
        }
    }

    /// Writes the HMAC of `covered` into it: `covered` begins with an AUTH chunk, whose HMAC field, `field`, holds
    /// zeros.
    pub(crate) fn sign(&self, covered: &mut [u8], field: core::ops::Range<usize>) {
        match self {
            Self::Sha1(mac) => {
                let tag = mac.clone().chain_update(&*covered).finalize().into_bytes();
                covered[field].copy_from_slice(&tag);
            }
            Self::Sha256(mac) => {
                let tag = mac.clone().chain_update(&*covered).finalize().into_bytes();
                covered[field].copy_from_slice(&tag);
            }
        }
    }

    /// Whether `tag` is the HMAC of `head`, zeros in its place, and `tail`. Takes the same time wherever they
    /// differ.
    pub(crate) fn verify(&self, head: &[u8], tag: &[u8], tail: &[u8]) -> bool {
        let zeros = &[0; MAX_MAC_LEN][..self.algorithm().mac_len()];
        if tag.len() != zeros.len() {
            return false;
        }
        match self {
            Self::Sha1(mac) => {
                let mac = mac.clone().chain_update(head).chain_update(zeros).chain_update(tail);
                mac.verify_slice(tag).is_ok()
            }
            Self::Sha256(mac) => {
                let mac = mac.clone().chain_update(head).chain_update(zeros).chain_update(tail);
                mac.verify_slice(tag).is_ok()
            }
        }
    }
}

impl core::fmt::Debug for Mac {
    /// Does not show the key.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Mac({:?}, ..)", self.algorithm())
    }
}

#[cfg(test)]
#[path = "key_tests.rs"]
mod tests;
