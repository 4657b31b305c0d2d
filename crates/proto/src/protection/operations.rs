//! Two ends that agree on keys, renew them and exchange packets, in any order and with anything in between, driven by bytes: the body of a fuzz
//! target and of a test.

use core::time::Duration;
use std::collections::VecDeque;
use std::sync::Arc;

use whimbrel_machine::Instant;
use whimbrel_wire::draft::{Dtls, PPID_KEY_CONTROL, PPID_TLS_RECORDS};
use whimbrel_wire::{ChecksumMode, CommonHeader, Packet, PacketWriter, PayloadProtocolId, StreamId};

use super::hello::PPID_HELLO;
use super::testing::ToyExchanges;
use super::{KeyContext, KeyExchanges, KeyRole, Protection, record};
use crate::interface::{Delivery, Part, Received};
use crate::script::Script;

/// Identifier and payload of a message, and whether it is sealed.
type Said = (PayloadProtocolId, Vec<u8>, bool);

struct Sealed {
    from: usize,
    packet: Vec<u8>,
    content: Vec<u8>,
    opened: bool,
}

struct Ends {
    ends: [Protection; 2],
    /// What each end has said and the other one has not heard: it arrives, in order.
    said: [VecDeque<Said>; 2],
    up: [bool; 2],
    /// Somebody on the way has said something, too.
    disturbed: bool,
    now: Instant,
    wire: Vec<Sealed>,
}

impl Ends {
    fn new() -> Self {
        let exchanges: Arc<dyn KeyExchanges> = Arc::new(ToyExchanges::default());
        let context = KeyContext { client: b"client".to_vec(), server: b"server".to_vec() };
        let end = |role| Protection::new(&exchanges, role, context.clone(), [7; 32]);
        Self {
            ends: [end(KeyRole::Client), end(KeyRole::Server)],
            said: Default::default(),
            up: [false; 2],
            disturbed: false,
            now: Instant::ZERO,
            wire: Vec::new(),
        }
    }

    /// Whether the association goes on.
    fn hear(&mut self, end: usize, (ppid, payload, sealed): Said) -> bool {
        if sealed {
            self.ends[end].note_opened();
        }
        let received = Received {
            stream: StreamId(0),
            ppid,
            delivery: Delivery::Ordered,
            part: Part::Whole,
            payload: payload.into(),
        };
        match self.ends[end].take(self.now, &received) {
            Ok(progress) => {
                assert!(!(progress.up && self.up[end]), "up twice");
                self.up[end] |= progress.up;
                assert_eq!(self.ends[end].is_pending(), !self.up[end]);
                true
            }
            Err(reason) => {
                assert!(self.disturbed, "the ends do not understand each other: {reason}");
                false
            }
        }
    }

    fn listen(&mut self) {
        for (end, said) in self.ends.iter_mut().zip(&mut self.said) {
            while let Some((ppid, payload)) = end.give() {
                said.push_back((ppid, payload, end.seals()));
            }
        }
    }

    fn seal(&mut self, from: usize, words: usize) {
        if !self.ends[from].seals() {
            return;
        }
        let content: Vec<u8> = (0..4 * words as u8).collect();
        let mut packet = Vec::new();
        let mut writer = PacketWriter::new(&mut packet, CommonHeader::default(), 2000);
        writer.append(&[0; record::BEFORE]);
        writer.append(&content);
        self.ends[from].seal(&mut writer);
        writer.finish(ChecksumMode::Crc32c);
        self.wire.push(Sealed { from, packet, content, opened: false });
    }

    /// The end that it is for takes it once, and only as it was sent.
    fn open(&mut self, index: usize, change: Option<(usize, u8)>) {
        let sealed = &mut self.wire[index];
        let mut bytes = sealed.packet.clone();
        if let Some((at, with)) = change {
            bytes[at] ^= with;
        }
        let packet = Packet::parse(&bytes).expect("a whole number of words");
        let Some(Ok(raw)) = packet.chunks().next_raw() else { return };
        let Some(dtls) = Dtls::read(&raw) else { return };
        if let Ok(opened) = self.ends[1 - sealed.from].open(self.now, &dtls) {
            assert_eq!(opened, sealed.content, "changed on the way, and taken");
            assert!(!core::mem::replace(&mut sealed.opened, true), "taken twice");
        }
    }
}

/// # Panics
/// If two ends that nobody disturbs do not agree, if a packet is taken twice or otherwise than it was sent, or if one that comes at once, while both
/// ends are up, is not.
pub(crate) fn run(bytes: &[u8]) {
    let mut script = Script::new(bytes, 2048);
    let mut ends = Ends::new();
    while !script.is_empty() {
        ends.listen();
        let operation = script.byte();
        let end = usize::from(operation >> 7);
        let goes_on = match operation & 15 {
            0..=5 => match ends.said[1 - end].pop_front() {
                Some(said) => ends.hear(end, said),
                None => true,
            },
            6..=8 => {
                ends.seal(end, 1 + script.below(40));
                let at_once = operation & 16 != 0 && ends.up == [true; 2] && !ends.disturbed;
                if at_once && let Some(last) = ends.wire.len().checked_sub(1) {
                    ends.open(last, None);
                    assert!(ends.wire[last].opened, "not taken");
                }
                true
            }
            9 | 10 if !ends.wire.is_empty() => {
                let index = script.below(ends.wire.len());
                let len = ends.wire[index].packet.len() - 12;
                let change = (operation & 32 != 0).then(|| (12 + script.u16() as usize % len, script.byte()));
                ends.open(index, change);
                true
            }
            11 => {
                ends.ends[end].renew();
                true
            }
            // As an association does: when the peer has acknowledged everything.
            12 if ends.said[end].is_empty() => {
                ends.ends[end].forget_old_keys();
                true
            }
            13 => {
                ends.now += Duration::from_millis(u64::from(script.u16()));
                true
            }
            14 if operation & 64 != 0 => {
                ends.disturbed = true;
                let ppid =
                    script.pick(&[PPID_TLS_RECORDS, PPID_KEY_CONTROL, PPID_HELLO, PayloadProtocolId(0)]);
                let count = script.below(40);
                ends.hear(end, (ppid, script.bytes(count).to_vec(), operation & 32 != 0))
            }
            _ => true,
        };
        if !goes_on {
            return;
        }
    }
}

#[cfg(test)]
#[path = "operations_tests.rs"]
mod tests;
