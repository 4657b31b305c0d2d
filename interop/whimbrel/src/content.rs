//! The content that peers send and check. The pattern: byte i of message n on stream s is (n·131 + s·17 + i) & 0xff, n counted per stream; the
//! payload protocol identifier is 0x57480000 + s. What is assorted is in `../common/assorted.rs`.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use whimbrel::{Delivery, Message, Part, PayloadProtocolId, Received, StreamId};

use crate::assorted;
use crate::options::Options;

const PPID_BASE: u32 = 0x5748_0000;

fn first_byte(n: u64, stream: u16) -> u8 {
    (n.wrapping_mul(131)).wrapping_add(u64::from(stream) * 17) as u8
}

/// Message number `n` on `stream`.
pub(crate) fn message(n: u64, stream: u16, options: &Options) -> Message {
    if !options.assorted {
        return pattern(n, stream, options.size, options.unordered);
    }
    let mut message = Message::new(StreamId(stream), assorted::payload(n, stream));
    message.ppid = PayloadProtocolId(assorted::ppid(stream));
    message.delivery = if assorted::is_unordered(stream) { Delivery::Unordered } else { Delivery::Ordered };
    message
}

fn pattern(n: u64, stream: u16, size: usize, unordered: bool) -> Message {
    let first = first_byte(n, stream);
    let payload: Vec<u8> = (0..size).map(|i| first.wrapping_add(i as u8)).collect();
    let mut message = Message::new(StreamId(stream), payload);
    message.ppid = PayloadProtocolId(PPID_BASE + u32::from(stream));
    message.delivery = if unordered { Delivery::Unordered } else { Delivery::Ordered };
    message
}

/// Puts messages together that the stack hands over in parts.
#[derive(Debug, Default)]
pub(crate) struct Joiner {
    begun: BTreeMap<(u16, bool), Vec<u8>>,
}

impl Joiner {
    /// The whole message, once its end is there.
    pub(crate) fn add(&mut self, mut received: Received) -> Option<Received> {
        let key = (received.stream.0, received.delivery == Delivery::Unordered);
        match received.part {
            Part::Whole => return Some(received),
            Part::First => {
                self.begun.insert(key, received.payload.to_vec());
                return None;
            }
            Part::Middle => {
                self.begun.entry(key).or_default().extend_from_slice(&received.payload);
                return None;
            }
            Part::Last => {}
        }
        let mut whole = self.begun.remove(&key).unwrap_or_default();
        whole.extend_from_slice(&received.payload);
        received.payload = whole.into();
        received.part = Part::Whole;
        Some(received)
    }
}

#[derive(Debug, Default, Clone)]
struct OfStream {
    messages: u64,
    bytes: u64,
    ppid: u32,
    other_ppids: u32,
    /// Unordered: how often each n mod 256 was seen.
    numbers: BTreeMap<u8, u64>,
}

/// What has arrived.
#[derive(Debug, Clone)]
pub(crate) enum Totals {
    Pattern(PatternTotals),
    Assorted { totals: assorted::Totals, other_delivery: u64 },
}

impl Totals {
    /// Nothing yet.
    pub(crate) fn of(options: &Options) -> Self {
        if options.assorted {
            Self::Assorted { totals: assorted::Totals::default(), other_delivery: 0 }
        } else {
            Self::Pattern(PatternTotals::default())
        }
    }

    pub(crate) fn add(&mut self, received: &Received) {
        match self {
            Self::Pattern(totals) => totals.add(received),
            Self::Assorted { totals, other_delivery } => {
                let stream = received.stream.0;
                let unordered = received.delivery == Delivery::Unordered;
                *other_delivery += u64::from(unordered != assorted::is_unordered(stream));
                totals.add(stream, received.ppid.0, &received.payload);
            }
        }
    }

    pub(crate) fn messages(&self) -> u64 {
        match self {
            Self::Pattern(totals) => totals.messages,
            Self::Assorted { totals, .. } => totals.messages,
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::Pattern(totals) => totals.bytes,
            Self::Assorted { totals, .. } => totals.bytes,
        }
    }

    pub(crate) fn ok(&self) -> bool {
        match self {
            Self::Pattern(totals) => totals.ok(),
            Self::Assorted { totals, other_delivery } => totals.ok() && *other_delivery == 0,
        }
    }

    pub(crate) fn report(&self, seconds: f64) -> Value {
        match self {
            Self::Pattern(totals) => totals.report(seconds),
            Self::Assorted { totals, other_delivery } => {
                json!({"messages": totals.messages, "bytes": totals.bytes, "bad": totals.bad, "other_delivery": other_delivery,
                    "ok": self.ok(), "seconds": seconds, "streams_seen": totals.streams_seen()})
            }
        }
    }
}

/// What has arrived of the pattern.
#[derive(Debug, Default, Clone)]
pub(crate) struct PatternTotals {
    messages: u64,
    bytes: u64,
    bad: u64,
    unordered: u64,
    streams: BTreeMap<u16, OfStream>,
}

impl PatternTotals {
    fn add(&mut self, received: &Received) {
        let stream = received.stream.0;
        let of = self.streams.entry(stream).or_default();
        let data = &received.payload;
        let first = data[0];
        let mut good = data.iter().enumerate().all(|(i, &byte)| byte == first.wrapping_add(i as u8));
        match received.delivery {
            Delivery::Unordered => {
                self.unordered += 1;
                // 43·131 = 1 (mod 256), so the first byte tells n mod 256.
                let number = first.wrapping_sub((u32::from(stream) * 17) as u8).wrapping_mul(43);
                *of.numbers.entry(number).or_default() += 1;
            }
            Delivery::Ordered => good &= first == first_byte(of.messages, stream),
        }
        if of.messages == 0 {
            of.ppid = received.ppid.0;
        } else if of.ppid != received.ppid.0 {
            of.other_ppids += 1;
        }
        good &= received.ppid.0 == PPID_BASE + u32::from(stream);
        of.messages += 1;
        of.bytes += data.len() as u64;
        self.messages += 1;
        self.bytes += data.len() as u64;
        self.bad += u64::from(!good);
    }

    fn ok(&self) -> bool {
        self.bad == 0
            && self.streams.values().filter(|of| !of.numbers.is_empty()).all(|of| {
                (0..=255_u8).all(|residue| {
                    let expected = of.messages / 256 + u64::from(u64::from(residue) < of.messages % 256);
                    of.numbers.get(&residue).copied().unwrap_or(0) == expected
                })
            })
    }

    fn report(&self, seconds: f64) -> Value {
        let streams: Vec<Value> = self
            .streams
            .iter()
            .take(16)
            .map(|(id, of)| {
                json!({"id": id, "messages": of.messages, "bytes": of.bytes, "ppid": of.ppid, "other_ppids": of.other_ppids})
            })
            .collect();
        json!({"messages": self.messages, "bytes": self.bytes, "bad": self.bad, "unordered": self.unordered,
            "ok": self.ok(), "seconds": seconds, "streams_seen": self.streams.len(), "streams": streams})
    }
}
