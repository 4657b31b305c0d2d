//! Random packets between two sides that authenticate, driven by bytes: the body of a fuzz target and of a test.

use std::sync::Arc;

use whimbrel_wire::{ChecksumMode, CommonHeader, EmitChunk, Packet};

use super::gate::{Admission, Gate};
use super::offer::{Offer, RANDOM_LEN};
use super::session::Auth;
use super::{AuthConfig, AuthKeyChange, SharedKeys, SharedSecret};
use crate::auth::chunk_writer::ChunkWriter;
use crate::config::Config;
use crate::script::Script;

/// A chunk of any type but AUTH, with a body of zeros.
struct AnyChunk {
    chunk_type: u8,
    body: usize,
}

impl EmitChunk for AnyChunk {
    fn wire_len(&self) -> usize {
        (4 + self.body).next_multiple_of(4)
    }

    fn emit(&self, out: &mut Vec<u8>) {
        let end = out.len() + self.wire_len();
        out.extend_from_slice(&[self.chunk_type, 0]);
        out.extend_from_slice(&(4 + self.body as u16).to_be_bytes());
        out.resize(end, 0);
    }
}

/// What the receiver requires: every third type, as far as that is possible.
fn required() -> Vec<u8> {
    (0..=255).filter(|t| t % 3 == 0 && super::chunk_types::can_be_required(*t)).collect()
}

fn sides() -> [Auth; 2] {
    let config = Config { auth: AuthConfig::offered(), ..Config::rfc() };
    let randoms = [[1; RANDOM_LEN], [2; RANDOM_LEN]];
    // The second side requires what no configuration may list in full.
    let mut offers = randoms.map(|random| Offer::own(&config, random).expect("it is on"));
    offers[1].chunks = Some(required().into());
    let keys = Arc::new(SharedKeys::default());
    let mut sides = [
        Auth::with_offers(&config, &keys, &offers[0], &offers[1]),
        Auth::with_offers(&config, &keys, &offers[1], &offers[0]),
    ];
    sides.iter_mut().for_each(|side| side.set_keys(&keys));
    sides
}

/// Packets that are written, changed on the way or not, and judged; keys that change on one side or both.
///
/// # Panics
/// If a chunk that must be authenticated gets in otherwise, or a genuine one does not.
pub(crate) fn run(bytes: &[u8]) {
    let mut script = Script::new(bytes, 2048);
    let [mut sender, mut receiver] = sides();
    let (mut keys, mut theirs) = (SharedKeys::default(), SharedKeys::default());
    while !script.is_empty() {
        let operation = script.byte();
        if operation & 7 == 7 {
            let id = u16::from(script.byte() & 3);
            let change = match script.byte() & 3 {
                0 => AuthKeyChange::Activate(id),
                1 => AuthKeyChange::Delete(id),
                _ => AuthKeyChange::Set(id, SharedSecret::new([script.byte() & 1; 8])),
            };
            let _ = keys.apply(&change);
            sender.set_keys(&Arc::new(keys.clone()));
            if operation & 8 != 0 {
                theirs = keys.clone();
                receiver.set_keys(&Arc::new(theirs.clone()));
            }
            continue;
        }
        let same_key = keys.get(keys.active()) == theirs.get(keys.active());
        exchange(&mut script, operation, &sender, &mut receiver, same_key);
    }
}

fn exchange(script: &mut Script<'_>, operation: u8, sender: &Auth, receiver: &mut Auth, same_key: bool) {
    let limit = 64 + usize::from(script.byte());
    let mut bytes = Vec::new();
    let mut writer = ChunkWriter::new(sender, &mut bytes, CommonHeader::default(), limit);
    let mut written = 0;
    for _ in 0..1 + (operation >> 6) {
        let chunk_type = script.byte();
        if chunk_type != whimbrel_wire::chunk_type::AUTH {
            let chunk = AnyChunk { chunk_type, body: usize::from(script.byte() & 31) };
            written += usize::from(writer.push(sender, &chunk));
        }
    }
    writer.finish(sender, ChecksumMode::Crc32c);
    assert!(bytes.len() <= limit);
    let original = bytes.clone();
    if operation & 16 != 0 && bytes.len() > 12 {
        let at = 12 + script.below(bytes.len() - 12);
        bytes[at] ^= script.byte();
    }
    let genuine = bytes == original && same_key;
    let packet = Packet::parse(&bytes).expect("a whole number of words");
    let (mut gate, mut admitted, mut behind_auth) = (Gate::default(), 0, false);
    let mut chunks = packet.chunks();
    while let Some(Ok(raw)) = chunks.next_raw() {
        match gate.admit(receiver, &packet, &raw) {
            Admission::Admit => {
                admitted += 1;
                let needed = receiver.we_require(raw.chunk_type());
                assert!(!needed || gate == Gate::Authenticated, "{raw:?} got in");
            }
            Admission::Skip => behind_auth |= raw.chunk_type() == whimbrel_wire::chunk_type::AUTH,
            Admission::Stop | Admission::StopUnsupported(_) => break,
        }
    }
    assert_eq!(gate == Gate::Authenticated, behind_auth);
    if genuine {
        assert_eq!(admitted, written, "a genuine chunk was not let in");
    }
    let _ = receiver.take_news();
}

#[cfg(test)]
#[path = "operations_tests.rs"]
mod tests;
