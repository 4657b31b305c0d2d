//! What messages are made of.

use bytes::Bytes;
use whimbrel_proto::{Message, StreamId};

/// Set in the payload protocol identifier of every [`numbered`] message, for which no such identifier is assigned: analysers of captures
/// would take a message for one of theirs.
pub const NUMBERED: u32 = 0x8000_0000;

static CONTENT: [u8; 65_536] = [0; 65_536];

/// Message number `n` of `bytes` bytes: content that tells which it is.
pub fn message(stream: u16, n: usize, bytes: usize) -> Message {
    let payload: Vec<u8> = (0..bytes).map(|i| (n.wrapping_mul(131) + i.wrapping_mul(7)) as u8).collect();
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
