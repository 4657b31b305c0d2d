//! Keys that follow from a secret of the test, and a cipher in pure Rust: what is protected by them is the same in every run.

use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use aes_gcm::aead::inout::InOutBuf;
use aes_gcm::aes::Aes128;
use aes_gcm::aes::cipher::BlockCipherEncrypt;
use aes_gcm::{AeadInOut, Aes128Gcm, KeyInit};
use bytes::Bytes;
use hmac::{Hmac, Mac};
use sha2::Sha256;
use whimbrel_proto::{
    Config, KeyContext, KeyExchange, KeyExchangeError, KeyExchanges, KeyRole, Keys, PeerKey, RecordCipher,
    Security,
};

/// AES-128-GCM with the keys of one direction (RFC 9147 §4.2.3).
pub struct Aes128GcmRecords {
    aead: Aes128Gcm,
    mask: Aes128,
    iv: [u8; 12],
}

impl Aes128GcmRecords {
    /// From a record key, a key for the numbers of records, and an initialization vector.
    pub fn new(key: &[u8; 16], number_key: &[u8; 16], iv: [u8; 12]) -> Self {
        Self { aead: Aes128Gcm::new(key.into()), mask: Aes128::new(number_key.into()), iv }
    }

    /// The initialization vector XORed with the number of the record (RFC 8446 §5.3).
    fn nonce(&self, number: u64) -> [u8; 12] {
        let mut nonce = self.iv;
        nonce[4..].iter_mut().zip(number.to_be_bytes()).for_each(|(byte, of_number)| *byte ^= of_number);
        nonce
    }
}

impl fmt::Debug for Aes128GcmRecords {
    /// Does not show the keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Aes128GcmRecords").finish_non_exhaustive()
    }
}

impl RecordCipher for Aes128GcmRecords {
    fn seal(&self, number: u64, header: &[u8], content: &mut [u8]) -> [u8; 16] {
        let nonce = self.nonce(number);
        let tag = self.aead.encrypt_inout_detached(&nonce.into(), header, InOutBuf::from(content));
        tag.expect("a record is short enough").into()
    }

    fn open(&self, number: u64, header: &[u8], sealed: &mut [u8]) -> bool {
        let Some((content, tag)) = sealed.split_last_chunk_mut::<16>() else { return false };
        let (nonce, tag) = (self.nonce(number), (*tag).into());
        self.aead.decrypt_inout_detached(&nonce.into(), header, InOutBuf::from(content), &tag).is_ok()
    }

    fn mask(&self, sample: &[u8; 16]) -> [u8; 2] {
        let mut block = (*sample).into();
        self.mask.encrypt_block(&mut block);
        [block[0], block[1]]
    }
}

/// Exchanges of keys between ends that share a secret. Each end says its name; who has another secret gets other keys, and is not heard any more.
#[derive(Debug)]
pub struct SeededExchanges {
    secret: u64,
    name: &'static [u8],
    begun: AtomicU64,
}

impl SeededExchanges {
    /// Those of an end with this name.
    pub fn new(secret: u64, name: &'static [u8]) -> Self {
        Self { secret, name, begun: AtomicU64::new(0) }
    }

    /// `config` with protection by these keys.
    #[must_use]
    pub fn protect(self, config: Config) -> Config {
        Config { security: Security::Required(Arc::new(self)), ..config }
    }
}

impl KeyExchanges for SeededExchanges {
    /// Keys that were agreed on beforehand (chunk draft §9.1).
    fn methods(&self) -> &[u8] {
        &[0]
    }

    fn begin(&self, role: KeyRole, context: &KeyContext, peer: Option<&PeerKey>) -> Box<dyn KeyExchange> {
        let number = self.begun.fetch_add(1, Ordering::Relaxed);
        let first = [&number.to_be_bytes()[..], self.name].concat();
        Box::new(SeededExchange {
            secret: self.secret,
            role,
            context: context.clone(),
            wanted: peer.cloned(),
            number,
            to_say: (role == KeyRole::Client).then_some(first),
            answer: self.name,
            peer: None,
            finished: false,
        })
    }
}

#[derive(Debug)]
struct SeededExchange {
    secret: u64,
    role: KeyRole,
    context: KeyContext,
    wanted: Option<PeerKey>,
    /// The client's, which makes the keys of each exchange others.
    number: u64,
    to_say: Option<Vec<u8>>,
    answer: &'static [u8],
    peer: Option<PeerKey>,
    finished: bool,
}

impl SeededExchange {
    fn records(&self, label: &[u8]) -> Box<dyn RecordCipher> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.secret.to_be_bytes())
            .expect("HMAC takes keys of any length");
        let parts = [label, &self.number.to_be_bytes(), &self.context.client, &self.context.server];
        parts.iter().for_each(|part| mac.update(part));
        let first: [u8; 32] = mac.clone().finalize().into_bytes().into();
        mac.update(b"iv");
        let second: [u8; 32] = mac.finalize().into_bytes().into();
        let (key, number_key) = first.split_at(16);
        let halves = (key.first_chunk().expect("16 bytes"), number_key.first_chunk().expect("16 bytes"));
        Box::new(Aes128GcmRecords::new(halves.0, halves.1, *second.first_chunk().expect("12 bytes")))
    }
}

impl KeyExchange for SeededExchange {
    fn take(&mut self, message: &[u8]) -> Result<(), KeyExchangeError> {
        let failed = |what: &str| KeyExchangeError::Failed(what.to_owned());
        let Some((&number, name)) = message.split_first_chunk() else { return Err(failed("too short")) };
        if self.peer.is_some() {
            return Err(failed("a message too many"));
        }
        let peer = PeerKey(Bytes::copy_from_slice(name));
        if self.wanted.as_ref().is_some_and(|wanted| *wanted != peer) {
            return Err(KeyExchangeError::UnknownPeer(peer));
        }
        if self.role == KeyRole::Server {
            self.number = u64::from_be_bytes(number);
            self.to_say = Some([&number[..], self.answer].concat());
        }
        self.peer = Some(peer);
        Ok(())
    }

    fn give(&mut self) -> Option<Vec<u8>> {
        self.to_say.take()
    }

    fn finish(&mut self) -> Option<Keys> {
        let peer = self.peer.clone().filter(|_| self.to_say.is_none() && !self.finished)?;
        self.finished = true;
        let (to_server, to_client) = (self.records(b"to the server"), self.records(b"to the client"));
        Some(match self.role {
            KeyRole::Client => Keys { send: to_server, receive: to_client, peer },
            KeyRole::Server => Keys { send: to_client, receive: to_server, peer },
        })
    }
}
