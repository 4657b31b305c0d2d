//! Which DATA chunks passed a network, and when: read from the relay's own capture while it is written.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::{Arc, Mutex, PoisonError};

use whimbrel_wire::{Chunk, Packet};

const ENHANCED_PACKET: u32 = 6;
const OPTION_COMMENT: u16 = 1;
const OPTION_FLAGS: u16 = 2;
const OUTBOUND: u32 = 2;
const UDP_HEADER: usize = 8;

/// One DATA chunk on its way from the client to the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Segment {
    /// Nanoseconds since 1970.
    pub(super) at: u64,
    pub(super) tsn: u32,
    /// User data.
    pub(super) bytes: u32,
    /// The network did not carry it.
    pub(super) dropped: bool,
}

/// Takes pcapng, notes the DATA chunks, and passes it on to a file if there is one.
pub(super) struct CaptureSink {
    pending: Vec<u8>,
    segments: Arc<Mutex<Vec<Segment>>>,
    file: Option<BufWriter<File>>,
}

impl CaptureSink {
    pub(super) fn new(segments: Arc<Mutex<Vec<Segment>>>, file: Option<File>) -> Self {
        Self { pending: Vec::new(), segments, file: file.map(BufWriter::new) }
    }
}

impl Write for CaptureSink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(file) = &mut self.file {
            file.write_all(bytes)?;
        }
        self.pending.extend_from_slice(bytes);
        let mut taken = 0;
        while let Some(block) = first_block(&self.pending[taken..]) {
            taken += block.len();
            let mut segments = self.segments.lock().unwrap_or_else(PoisonError::into_inner);
            // A block that is no packet, or none of ours, is of no interest.
            let _ = note(block, &mut segments);
        }
        self.pending.drain(..taken);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), Write::flush)
    }
}

fn first_block(bytes: &[u8]) -> Option<&[u8]> {
    let length = word(bytes, 4)? as usize;
    bytes.get(..length.max(12))
}

/// Appends the DATA chunks of an outbound packet.
fn note(block: &[u8], segments: &mut Vec<Segment>) -> Option<()> {
    if word(block, 0)? != ENHANCED_PACKET {
        return None;
    }
    let at = (u64::from(word(block, 12)?) << 32) | u64::from(word(block, 16)?);
    let length = word(block, 20)? as usize;
    let packet = block.get(28..28 + length)?;
    let options = block.get(28 + length.next_multiple_of(4)..block.len() - 4)?;
    let (outbound, dropped) = read_options(options)?;
    if !outbound {
        return None;
    }
    let ip_header = match packet.first()? >> 4 {
        4 => usize::from(packet[0] & 0x0f) * 4,
        6 => 40,
        _ => return None,
    };
    let sctp = Packet::parse(packet.get(ip_header + UDP_HEADER..)?).ok()?;
    for chunk in sctp.chunks() {
        if let Ok(Chunk::Data(data)) = chunk {
            segments.push(Segment { at, tsn: data.tsn.0, bytes: data.payload.len() as u32, dropped });
        }
    }
    Some(())
}

/// Whether the packet left the client, and whether the relay remarked that it dropped it.
fn read_options(mut options: &[u8]) -> Option<(bool, bool)> {
    let (mut outbound, mut dropped) = (false, false);
    while options.len() >= 4 {
        let code = u16::from_le_bytes([options[0], options[1]]);
        let length = usize::from(u16::from_le_bytes([options[2], options[3]]));
        let value = options.get(4..4 + length)?;
        match code {
            OPTION_FLAGS => outbound = word(value, 0)? & 3 == OUTBOUND,
            OPTION_COMMENT => dropped |= value.starts_with(b"dropped"),
            _ => {}
        }
        options = options.get(4 + length.next_multiple_of(4)..)?;
    }
    Some((outbound, dropped))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
#[path = "capture_tests.rs"]
mod tests;
