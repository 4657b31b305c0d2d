//! A cipher that hides nothing and an exchange that agrees on it, for tests of what is around them.

use core::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;

use super::exchange::{
    KeyContext, KeyExchange, KeyExchangeError, KeyExchanges, KeyRole, Keys, PeerKey, RecordCipher,
};

/// Not a cipher: XOR with the key, and a sum as tag.
#[derive(Debug)]
pub(crate) struct Toy(pub(crate) u64);

impl Toy {
    fn tag(&self, number: u64, header: &[u8], clear: &[u8]) -> [u8; 16] {
        let mut state = 0xcbf2_9ce4_8422_2325 ^ self.0;
        for &byte in number.to_be_bytes().iter().chain(header).chain(clear) {
            state = (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        let mut tag = [0; 16];
        tag[..8].copy_from_slice(&state.to_be_bytes());
        tag[8..].copy_from_slice(&state.rotate_left(17).to_be_bytes());
        tag
    }

    fn turn(&self, bytes: &mut [u8]) {
        bytes.iter_mut().for_each(|byte| *byte ^= self.0 as u8);
    }
}

impl RecordCipher for Toy {
    fn seal(&self, number: u64, header: &[u8], content: &mut [u8]) -> [u8; 16] {
        let tag = self.tag(number, header, content);
        self.turn(content);
        tag
    }

    fn open(&self, number: u64, header: &[u8], sealed: &mut [u8]) -> bool {
        let Some(end) = sealed.len().checked_sub(16) else { return false };
        let (content, tag) = sealed.split_at_mut(end);
        self.turn(content);
        self.tag(number, header, content)[..] == *tag
    }

    fn mask(&self, sample: &[u8; 16]) -> [u8; 2] {
        [sample[0] ^ self.0 as u8, sample[15] ^ self.0 as u8]
    }
}

/// Exchanges that trust everybody: each side says one word. Both ends share it, and the n-th exchange of each has the n-th keys.
#[derive(Debug, Default)]
pub(crate) struct ToyExchanges {
    begun: [AtomicU64; 2],
}

#[derive(Debug)]
struct ToyExchange {
    role: KeyRole,
    key: u64,
    to_say: Option<Vec<u8>>,
    heard: bool,
    done: bool,
}

impl KeyExchanges for ToyExchanges {
    fn methods(&self) -> &[u8] {
        &[0]
    }

    fn begin(&self, role: KeyRole, context: &KeyContext, _peer: Option<&PeerKey>) -> Box<dyn KeyExchange> {
        let count = self.begun[usize::from(role == KeyRole::Client)].fetch_add(1, Ordering::Relaxed);
        let said = context.client.iter().chain(&context.server);
        let key = said.fold(2 * count, |key: u64, byte| key.wrapping_mul(31) ^ u64::from(*byte));
        let to_say = (role == KeyRole::Client).then(|| b"hello".to_vec());
        Box::new(ToyExchange { role, key, to_say, heard: false, done: false })
    }
}

impl KeyExchange for ToyExchange {
    fn take(&mut self, message: &[u8]) -> Result<(), KeyExchangeError> {
        let (expected, answer): (&[u8], _) = match self.role {
            KeyRole::Client => (b"welcome", None),
            KeyRole::Server => (b"hello", Some(b"welcome".to_vec())),
        };
        if self.heard || message != expected {
            return Err(KeyExchangeError::Failed("not what was expected".to_owned()));
        }
        (self.heard, self.to_say) = (true, answer);
        Ok(())
    }

    fn give(&mut self) -> Option<Vec<u8>> {
        self.to_say.take()
    }

    fn finish(&mut self) -> Option<Keys> {
        if !self.heard || self.to_say.is_some() || core::mem::replace(&mut self.done, true) {
            return None;
        }
        let (to_server, to_client) = (Box::new(Toy(self.key)), Box::new(Toy(self.key.wrapping_add(1))));
        let peer = PeerKey(Bytes::from_static(b"toy"));
        Some(match self.role {
            KeyRole::Client => Keys { send: to_server, receive: to_client, peer },
            KeyRole::Server => Keys { send: to_client, receive: to_server, peer },
        })
    }
}
