//! What one host's user has to say: sizes, streams, content. Messages are known by number, carried in the PPID.

use core::time::Duration;
use std::sync::OnceLock;

use bytes::Bytes;
use whimbrel_machine::Seed;
use whimbrel_proto::{Acknowledge, Delivery, Message, PayloadProtocolId, StreamId, Urgency};

use crate::draw::Draw;

/// The largest message.
pub(crate) const LARGEST: usize = 1 << 20;
/// Random bytes that all contents are cut from.
const POOL: usize = 3 << 20;

/// One message of a plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Planned {
    pub(crate) bytes: usize,
    /// Taken modulo the number of streams there are.
    stream: u16,
    ordered: bool,
    immediate: bool,
    /// The user waits this long before it.
    pub(crate) pause: Duration,
}

/// All messages of one direction, the same for each association that tries to carry them.
#[derive(Clone, Debug)]
pub(crate) struct Traffic {
    /// Tells the directions' contents apart.
    direction: u64,
    pub(crate) messages: Vec<Planned>,
}

/// Messages of which size, and how many.
#[derive(Clone, Copy)]
enum Kind {
    Nothing,
    Tiny,
    Mixed,
    Large,
}

impl Traffic {
    /// `most` bytes at most, or a single message.
    pub(crate) fn draw(draw: &mut Draw, direction: u64, most: u64) -> Self {
        let kind = match draw.between(0, 99) {
            0..10 => Kind::Nothing,
            10..40 => Kind::Tiny,
            40..80 => Kind::Mixed,
            _ => Kind::Large,
        };
        let budget = draw.magnitude(1_000, most.max(1_001)) as usize;
        let count = match kind {
            Kind::Nothing => 0,
            Kind::Tiny => draw.magnitude(10, 3000),
            Kind::Mixed => draw.magnitude(3, 500),
            Kind::Large => draw.magnitude(1, 8),
        };
        let streams = draw.one_of(&[1, 1, 2, 7, 64, 4000]);
        let unordered = draw.one_of(&[0.0, 0.0, 0.2, 1.0]);
        let immediate = draw.one_of(&[0.0, 0.0, 0.1]);
        let pause = draw.one_of(&[0.0, 0.0, 0.02]);
        let mut messages = Vec::new();
        let mut total = 0;
        for _ in 0..count {
            let bytes = match kind {
                Kind::Nothing | Kind::Tiny => draw.magnitude(1, 100),
                Kind::Mixed => draw.magnitude(1, LARGEST as u64),
                Kind::Large => draw.between(1 << 16, LARGEST as u64),
            };
            let bytes = (bytes as usize).min(budget);
            total += bytes;
            messages.push(Planned {
                bytes,
                stream: draw.between(0, streams - 1) as u16,
                ordered: !draw.chance(unordered),
                immediate: draw.chance(immediate),
                pause: if draw.chance(pause) { draw.millis(1, 6000) } else { Duration::ZERO },
            });
            if total > budget {
                break;
            }
        }
        Self { direction, messages }
    }

    /// Has the user take his time, so that there is something to send through most of `span`.
    pub(crate) fn spread(&mut self, draw: &mut Draw, span: Duration) {
        let count = self.messages.len().min(40);
        let each = span.as_millis() as u64 * 3 / 2 / count.max(1) as u64;
        for _ in 0..count {
            let at = draw.between(0, self.messages.len() as u64 - 1) as usize;
            self.messages[at].pause = draw.millis(0, each.min(6_000));
        }
    }

    /// Has the user take his time, so that now and then there is something to send until `span` is over.
    pub(crate) fn last(&mut self, draw: &mut Draw, span: Duration) {
        let count = self.messages.len().min(200);
        let each = span.as_millis() as u64 * 2 / count.max(1) as u64;
        for _ in 0..count {
            let at = draw.between(0, self.messages.len() as u64 - 1) as usize;
            self.messages[at].pause = draw.millis(0, each);
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.messages.iter().map(|message| message.bytes as u64).sum()
    }

    pub(crate) fn largest(&self) -> usize {
        self.messages.iter().map(|message| message.bytes).max().unwrap_or(0)
    }

    /// Message `number` as the user of incarnation `incarnation` sends it.
    pub(crate) fn message(&self, incarnation: u8, number: u32, streams: u16) -> Message {
        let planned = self.messages[number as usize];
        Message {
            stream: self.stream(number, streams),
            ppid: PayloadProtocolId(u32::from(incarnation) << 24 | number),
            delivery: self.delivery(number),
            acknowledge: if planned.immediate { Acknowledge::Immediately } else { Acknowledge::Delayed },
            // Where several paths carry data.
            urgency: if planned.immediate { Urgency::Urgent } else { Urgency::Usual },
            payload: self.content(incarnation, number),
        }
    }

    pub(crate) fn stream(&self, number: u32, streams: u16) -> StreamId {
        StreamId(self.messages[number as usize].stream % streams.max(1))
    }

    pub(crate) fn delivery(&self, number: u32) -> Delivery {
        if self.messages[number as usize].ordered { Delivery::Ordered } else { Delivery::Unordered }
    }

    /// What message `number` must contain: a piece of a pool of random bytes, another one for each message.
    pub(crate) fn content(&self, incarnation: u8, number: u32) -> Bytes {
        let name = self.direction << 40 | u64::from(incarnation) << 32 | u64::from(number);
        let start = name.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        let start = (start % (POOL - LARGEST) as u64) as usize;
        pool().slice(start..start + self.messages[number as usize].bytes)
    }
}

fn pool() -> &'static Bytes {
    static BYTES: OnceLock<Bytes> = OnceLock::new();
    BYTES.get_or_init(|| {
        let mut bytes = vec![0; POOL];
        Seed::from_u64(0).stream("content", 0).fill(&mut bytes);
        Bytes::from(bytes)
    })
}
