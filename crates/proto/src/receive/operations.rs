//! Random operations on [`Receive`], driven by bytes: the body of a fuzz target and of a test.

use std::collections::{BTreeMap, BTreeSet};

use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_wire::{Data, PayloadProtocolId, Ssn, StreamId, Tsn};

use super::acknowledgement::MAX_DUPLICATES;
use super::buffers::Buffers;
use super::{DataOutcome, Receive};
use crate::config::{BufferSizing, Config, LimitConfig, SackConfig};
use crate::interface::{Delivery, Part, Received};
use crate::path::testing::route;

const CHUNK_SIZES: [usize; 4] = [1, 20, 200, 1400];
const NOW: Instant = Instant::ZERO;
const PAYLOAD: [u8; 2048] = pattern();

/// Operations on one receiver; what is not asserted by its own invariants is compared with a naive model.
pub(crate) fn run(bytes: &[u8]) {
    let mut input = Input(bytes);
    if input.byte() % 4 == 0 {
        hostile(&mut input);
    } else {
        Honest::new(&mut input).run(&mut input);
    }
}

const fn pattern() -> [u8; 2048] {
    let mut bytes = [0; 2048];
    let mut i = 0;
    while i < bytes.len() {
        bytes[i] = (i * 31 % 251) as u8;
        i += 1;
    }
    bytes
}

struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::from(self.byte()) % bound.max(1)
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn receiver(input: &mut Input<'_>, streams: u16) -> (Receive, Tsn, usize) {
    let initial = [Tsn(1), Tsn(u32::MAX - 20), Tsn(0x7fff_fff0), Tsn(0)][input.below(4)];
    let buffer = [4096, 10_000, 1 << 20][input.below(3)];
    let sizing = [BufferSizing::Whole, BufferSizing::Measured { least: 4096 }][input.below(2)];
    let limits = LimitConfig { receive_buffer: buffer, sizing, ..Config::rfc().limits };
    let sack = SackConfig { delay: Duration::from_millis(20), ..Config::rfc().sack };
    let receive = Receive::new(initial, streams, &limits, Buffers::default(), &sack, route(1));
    (receive, initial, buffer)
}

/// Chunks made of anything: nothing may panic, loop or grow.
fn hostile(input: &mut Input<'_>) {
    const STREAMS: u16 = 3;
    let (mut receive, initial, buffer) = receiver(input, STREAMS);
    let mut accepted = BTreeSet::new();
    let mut owed = 0;
    while !input.is_empty() {
        let (choice, offset, flags) = (input.byte(), input.byte(), input.byte());
        match choice % 8 {
            6 => {
                while let Some(received) = receive.pop() {
                    owed += received.payload.len();
                }
            }
            7 => {
                let bytes = usize::from(offset) * usize::from(flags);
                receive.release(NOW, bytes, || None);
                owed -= bytes.min(owed);
            }
            _ => {
                let ahead = if choice > 250 { u32::from(offset) << 9 } else { u32::from(offset % 32) };
                let tsn = receive.cumulative_tsn().plus(ahead);
                let data = Data {
                    immediate: flags & 1 != 0,
                    unordered: flags & 2 != 0,
                    beginning: flags & 4 != 0,
                    ending: flags & 8 != 0,
                    tsn,
                    stream: StreamId(u16::from(flags >> 4 & 3)),
                    ssn: Ssn(u16::from(choice >> 4 & 3)),
                    ppid: PayloadProtocolId(0),
                    payload: &PAYLOAD[..CHUNK_SIZES[usize::from(flags >> 6)]],
                };
                match receive.on_data(&data) {
                    DataOutcome::New => drop(accepted.insert(tsn.distance_from(initial))),
                    DataOutcome::InvalidStream => {
                        assert!(data.stream.0 >= STREAMS);
                        accepted.insert(tsn.distance_from(initial));
                    }
                    DataOutcome::Violation(_) => break,
                    DataOutcome::Duplicate => {
                        assert!(accepted.contains(&tsn.distance_from(initial)) || ahead == 0)
                    }
                    DataOutcome::NoRoom | DataOutcome::OutsideWindow | DataOutcome::TooLarge { .. } => {}
                }
            }
        }
        receive.invariants();
        assert!(receive.buffered() <= buffer);
        for tsn in acknowledged(&mut receive, usize::from(choice)) {
            assert!(accepted.contains(&tsn.distance_from(initial)), "acknowledged what was not accepted");
        }
    }
    while let Some(received) = receive.pop() {
        receive.release(NOW, received.payload.len(), || None);
    }
    receive.release(NOW, owed, || None);
}

/// The TSNs that a SACK of `room` bytes reports beyond the cumulative one.
fn acknowledged(receive: &mut Receive, room: usize) -> Vec<Tsn> {
    let a_rwnd = receive.a_rwnd();
    let sack = receive.write_sack(room);
    assert_eq!(sack.a_rwnd, a_rwnd);
    assert!(sack.duplicate_tsns.len() <= MAX_DUPLICATES);
    let entries = sack.gap_ack_blocks.len() + sack.duplicate_tsns.len();
    assert!(16 + 4 * entries <= room.max(16));
    let mut end = 1;
    for block in sack.gap_ack_blocks {
        assert!(block.start > end && block.end >= block.start, "blocks must be ascending and isolated");
        end = block.end;
    }
    let cumulative = sack.cumulative_tsn_ack;
    let tsns = |start: u16, end: u16| (start..=end).map(move |offset| cumulative.plus(u32::from(offset)));
    sack.gap_ack_blocks.iter().flat_map(|block| tsns(block.start, block.end)).collect()
}

/// A message of the model's correct sender. Its number is its PPID.
struct Sent {
    stream: StreamId,
    delivery: Delivery,
    /// Its chunks.
    first: usize,
    last: usize,
    content: Vec<u8>,
}

/// A chunk of the model's correct sender; chunk n has the n-th TSN.
struct Chunk {
    message: usize,
    ssn: Ssn,
    range: core::ops::Range<usize>,
}

/// A correct sender behind a network that loses, reorders and repeats.
struct Honest {
    receive: Receive,
    initial: Tsn,
    buffer: usize,
    now: Instant,
    messages: Vec<Sent>,
    chunks: Vec<Chunk>,
    /// Chunks that the receiver has.
    accepted: BTreeSet<usize>,
    /// Per message: what has been delivered of it, and whether that is all.
    delivered: Vec<(Vec<u8>, bool)>,
    /// The message of which a part was delivered last, by stream and delivery.
    partial: BTreeMap<(StreamId, bool), usize>,
    /// The last ordered message of each stream.
    last_ordered: BTreeMap<StreamId, usize>,
    unreleased: usize,
    /// Since the last end of a packet.
    packet_needs_ack: bool,
}

impl Honest {
    fn new(input: &mut Input<'_>) -> Self {
        let streams = 1 + input.below(4) as u16;
        let (receive, initial, buffer) = receiver(input, streams);
        let (mut messages, mut chunks) = (Vec::new(), Vec::new());
        let mut next_ssn = vec![Ssn(0); usize::from(streams)];
        for number in 0..4 + input.below(60) {
            let (kind, size) = (input.byte(), CHUNK_SIZES[input.below(4)]);
            let stream = u16::from(kind) % streams;
            let delivery = if kind & 0x40 == 0 { Delivery::Ordered } else { Delivery::Unordered };
            let fragments = if kind & 0x80 == 0 { 1 } else { 1 + input.below(24) };
            let content: Vec<u8> = (0..fragments * size).map(|i| PAYLOAD[i % 2003] ^ number as u8).collect();
            let ssn = next_ssn[usize::from(stream)];
            if delivery == Delivery::Ordered {
                next_ssn[usize::from(stream)] = ssn.next();
            }
            let first = chunks.len();
            chunks.extend((0..fragments).map(|i| Chunk {
                message: number,
                ssn,
                range: i * size..(i + 1) * size,
            }));
            let stream = StreamId(stream);
            messages.push(Sent { stream, delivery, first, last: chunks.len() - 1, content });
        }
        Self {
            receive,
            initial,
            buffer,
            now: Instant::ZERO,
            delivered: messages.iter().map(|_| (Vec::new(), false)).collect(),
            messages,
            chunks,
            accepted: BTreeSet::new(),
            partial: BTreeMap::new(),
            last_ordered: BTreeMap::new(),
            unreleased: 0,
            packet_needs_ack: false,
        }
    }

    fn run(&mut self, input: &mut Input<'_>) {
        while !input.is_empty() {
            let choice = input.byte();
            match choice % 16 {
                0..9 => {
                    let index = self.cumulative() + input.below(1 << (choice >> 5));
                    self.deliver(index.min(self.chunks.len() - 1));
                }
                9 | 10 => self.packet_done(),
                11 | 12 => self.pop_all(),
                13 => self.release(input.below(256) * 64),
                14 => self.sack(16 + input.below(64) * 4),
                _ => self.now += Duration::from_millis(7),
            }
            self.check();
        }
        self.finish();
    }

    /// How many chunks the cumulative TSN covers.
    fn cumulative(&self) -> usize {
        self.receive.cumulative_tsn().distance_from(self.initial.prev()) as usize
    }

    fn deliver(&mut self, index: usize) -> DataOutcome {
        let chunk = &self.chunks[index];
        let message = &self.messages[chunk.message];
        let data = Data {
            immediate: false,
            unordered: message.delivery == Delivery::Unordered,
            beginning: index == message.first,
            ending: index == message.last,
            tsn: self.initial.plus(index as u32),
            stream: message.stream,
            ssn: chunk.ssn,
            ppid: PayloadProtocolId(chunk.message as u32),
            payload: &message.content[chunk.range.clone()],
        };
        let outcome = self.receive.on_data(&data);
        self.packet_needs_ack |= outcome != DataOutcome::New;
        match outcome {
            DataOutcome::New => assert!(self.accepted.insert(index)),
            DataOutcome::Duplicate => assert!(self.accepted.contains(&index)),
            DataOutcome::NoRoom => assert!(!self.accepted.contains(&index)),
            other => panic!("{other:?} for a correct sender"),
        }
        self.notice_dropped(index);
        outcome
    }

    /// Chunks beyond `index` may have been dropped in its favour.
    fn notice_dropped(&mut self, index: usize) {
        let cumulative = self.cumulative();
        let (tsns, delivered, chunks) = (&self.receive.tsns, &self.delivered, &self.chunks);
        let mut dropped = false;
        self.accepted.retain(|&held| {
            let kept = held < cumulative || tsns.contains(held as u64 + 1);
            assert!(
                kept || (held > index && !delivered[chunks[held].message].1),
                "dropped what was delivered"
            );
            dropped |= !kept;
            kept
        });
        self.packet_needs_ack |= dropped;
    }

    fn packet_done(&mut self) {
        self.receive.packet_done(self.now);
        // RFC 9260 §6.2, §6.7.
        assert!(!self.packet_needs_ack || self.receive.ack_due(self.now));
        self.packet_needs_ack = false;
    }

    fn pop_all(&mut self) {
        while let Some(received) = self.receive.pop() {
            self.take(&received);
        }
        if self.buffer == 1 << 20 {
            self.check_promptness();
        }
    }

    fn take(&mut self, received: &Received) {
        let number = received.ppid.0 as usize;
        let message = &self.messages[number];
        assert_eq!((received.stream, received.delivery), (message.stream, message.delivery));
        let slot = (received.stream, received.delivery == Delivery::Ordered);
        let begins = matches!(received.part, Part::Whole | Part::First);
        let ends = matches!(received.part, Part::Whole | Part::Last);
        let open = if ends { self.partial.remove(&slot) } else { self.partial.insert(slot, number) };
        assert_eq!(open, (!begins).then_some(number), "parts of a message are torn apart");
        if begins && received.delivery == Delivery::Ordered {
            let before = self.last_ordered.insert(received.stream, number);
            assert!(before.is_none_or(|before| before < number), "out of order");
        }
        let (content, done) = &mut self.delivered[number];
        assert!(!*done, "delivered twice");
        content.extend_from_slice(&received.payload);
        *done = ends;
        assert!(message.content.starts_with(content) && (!ends || content.len() == message.content.len()));
        self.unreleased += received.payload.len();
    }

    /// With room for everything, a message is delivered as soon as it is whole and, if ordered, all before it are.
    fn check_promptness(&self) {
        let mut blocked = BTreeSet::new();
        for (number, message) in self.messages.iter().enumerate() {
            let whole = (message.first..=message.last).all(|index| self.accepted.contains(&index));
            let ordered = message.delivery == Delivery::Ordered;
            let turn = !ordered || !blocked.contains(&message.stream);
            assert_eq!(self.delivered[number].1, whole && turn, "message {number}");
            if ordered && !whole {
                blocked.insert(message.stream);
            }
        }
    }

    fn release(&mut self, bytes: usize) {
        let offered = self.receive.window.offered();
        let before = self.receive.acknowledgement.is_pending();
        self.receive.release(NOW, bytes, || None);
        self.unreleased -= bytes.min(self.unreleased);
        // RFC 9260 §6.2: no window updates for small change.
        let opened = (self.receive.a_rwnd() as usize).saturating_sub(offered);
        assert!(before || !self.receive.acknowledgement.is_pending() || opened >= self.buffer.min(4096) / 4);
    }

    fn sack(&mut self, room: usize) {
        let cumulative = self.cumulative();
        let all: Vec<Tsn> =
            self.accepted.range(cumulative..).map(|&index| self.initial.plus(index as u32)).collect();
        let reported = acknowledged(&mut self.receive, room);
        // RFC 9260 §6.7: the lowest, as many as fit.
        assert!(all.starts_with(&reported));
        assert!(!self.receive.ack_due(self.now) && !self.receive.ack_pending());
        if room >= 16 + 4 * all.len() {
            assert_eq!(all, reported);
        }
    }

    fn check(&self) {
        self.receive.invariants();
        assert!(self.receive.buffered() <= self.buffer);
        assert!((0..self.cumulative()).all(|index| self.accepted.contains(&index)));
        assert_eq!(self.receive.has_gaps(), self.accepted.len() > self.cumulative());
    }

    /// With a user that takes everything, the lowest missing chunk always gets in, and all is delivered in the end.
    fn finish(&mut self) {
        while self.cumulative() < self.chunks.len() {
            self.pop_all();
            self.release(usize::MAX);
            let outcome = self.deliver(self.cumulative());
            assert_eq!(outcome, DataOutcome::New, "stuck at {} of {}", self.cumulative(), self.chunks.len());
            self.check();
        }
        self.pop_all();
        self.release(usize::MAX);
        assert!(self.delivered.iter().all(|(_, done)| *done));
        assert_eq!(self.receive.messages(), self.messages.len() as u64);
        assert_eq!(self.receive.buffered(), 0);
        assert_eq!(self.unreleased, 0);
        assert!(!self.receive.has_gaps());
    }
}

#[cfg(test)]
#[path = "operations_tests.rs"]
mod tests;
