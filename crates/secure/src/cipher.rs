//! The AEADs of TLS 1.3 for records (RFC 9147 section 4.2.3, RFC 8446 section 5.3).

use core::fmt;

use ring::aead::{AES_128_GCM, Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey, quic};
use rustls::CipherSuite;
use whimbrel_proto::RecordCipher;

/// Bytes of an initialization vector.
pub(crate) const IV_LEN: usize = 12;

const TAG_LEN: usize = 16;

/// What a cipher suite of TLS 1.3 does with records here.
#[derive(Clone, Copy)]
pub(crate) struct Suite {
    aead: &'static ring::aead::Algorithm,
    mask: &'static quic::Algorithm,
}

impl Suite {
    /// `None` for a suite that is not in use.
    pub(crate) const fn of(suite: CipherSuite) -> Option<Self> {
        match suite {
            CipherSuite::TLS13_AES_128_GCM_SHA256 => Some(Self { aead: &AES_128_GCM, mask: &quic::AES_128 }),
            CipherSuite::TLS13_CHACHA20_POLY1305_SHA256 => {
                Some(Self { aead: &CHACHA20_POLY1305, mask: &quic::CHACHA20 })
            }
            _ => None,
        }
    }

    /// Bytes of the key for content and of the one for record numbers.
    pub(crate) fn key_len(self) -> usize {
        self.aead.key_len()
    }

    /// The cipher with these keys, which have [`Self::key_len`] bytes each.
    pub(crate) fn cipher(self, key: &[u8], number_key: &[u8], iv: [u8; IV_LEN]) -> Option<Records> {
        let key = LessSafeKey::new(UnboundKey::new(self.aead, key).ok()?);
        let mask = quic::HeaderProtectionKey::new(self.mask, number_key).ok()?;
        Some(Records { key, mask, iv })
    }
}

/// The keys of one direction.
pub(crate) struct Records {
    key: LessSafeKey,
    mask: quic::HeaderProtectionKey,
    iv: [u8; IV_LEN],
}

impl Records {
    /// The initialization vector XORed with the number of the record, which is never used twice.
    fn nonce(&self, number: u64) -> Nonce {
        let mut nonce = self.iv;
        nonce[IV_LEN - 8..]
            .iter_mut()
            .zip(number.to_be_bytes())
            .for_each(|(byte, of_number)| *byte ^= of_number);
        Nonce::assume_unique_for_key(nonce)
    }
}

impl fmt::Debug for Records {
    /// Does not show the keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Records").finish_non_exhaustive()
    }
}

impl RecordCipher for Records {
    fn seal(&self, number: u64, header: &[u8], content: &mut [u8]) -> [u8; TAG_LEN] {
        let tag = self.key.seal_in_place_separate_tag(self.nonce(number), Aad::from(header), content);
        let tag = tag.expect("a record is shorter than what the AEAD allows");
        tag.as_ref().try_into().expect("both AEADs have tags of 16 bytes")
    }

    fn open(&self, number: u64, header: &[u8], sealed: &mut [u8]) -> bool {
        self.key.open_in_place(self.nonce(number), Aad::from(header), sealed).is_ok()
    }

    fn mask(&self, sample: &[u8; 16]) -> [u8; 2] {
        let [m0, m1, ..] = self.mask.new_mask(sample).expect("a sample of 16 bytes is what both take");
        [m0, m1]
    }
}

#[cfg(test)]
#[path = "cipher_tests.rs"]
mod tests;
