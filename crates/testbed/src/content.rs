//! What messages are made of.

use bytes::Bytes;
use whimbrel_proto::{Message, StreamId};

/// Set in the payload protocol identifier of every [`numbered`] message, for which no such identifier is assigned: analysers of captures
/// would take a message for one of theirs.
pub const NUMBERED: u32 = 0x8000_0000;

static CONTENT: [u8; 65_536] = [0; 65_536];

/// Steps by 7, until they come again.
static STEPS: [u8; 256] = {
    let mut steps = [0; 256];
    let mut at = 0;
    while at < steps.len() {
        steps[at] = (at as u8).wrapping_mul(7);
        at += 1;
    }
    steps
};

/// Message number `n` of `bytes` bytes: content that tells which it is. Simulations make many: byte by byte it took a tenth
/// of their time.
pub fn message(stream: u16, n: usize, bytes: usize) -> Message {
    let first = n.wrapping_mul(131) as u8;
    let mut payload = vec![0; bytes];
    for block in payload.chunks_mut(STEPS.len()) {
        block.iter_mut().zip(&STEPS).for_each(|(byte, step)| *byte = first.wrapping_add(*step));
    }
    Message::new(StreamId(stream), payload)
}

/// Zeros, of which no copy is made, 65,536 at most.
pub fn blank(_number: u32, bytes: usize) -> Message {
    Message::new(StreamId(0), Bytes::from_static(&CONTENT[..bytes.min(CONTENT.len())]))
}

/// The same. The payload protocol identifier is [`NUMBERED`] and the message's number, so that whoever looks at packets can tell new data
/// from old.
pub fn numbered(number: u32, bytes: usize) -> Message {
    let mut message = blank(number, bytes);
    message.ppid.0 = NUMBERED | number;
    message
}
