//! What a network shows to whoever listens: read from the relay's own capture while it is written.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::{Arc, Mutex, PoisonError};

use whimbrel_wire::Packet;
use whimbrel_wire::draft::CHUNK_DTLS;

const ENHANCED_PACKET: u32 = 6;
const OPTION_COMMENT: u16 = 1;
const OPTION_FLAGS: u16 = 2;
const OUTBOUND: u32 = 2;
const UDP_HEADER: usize = 8;

/// How much of a packet is kept to be shown.
const SAMPLE: usize = 64;
/// A packet of which so much is sealed carries content.
const LARGE: usize = 1000;

/// A packet on its way from the client to the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Sighting {
    /// Nanoseconds since 1970.
    pub(super) at: u64,
    /// Of the SCTP packet.
    pub(super) bytes: u32,
    /// The network did not carry it.
    pub(super) dropped: bool,
}

/// All that somebody has of a network's packets who has no keys.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(super) struct Overheard {
    /// Those from the client to the server, in order of time.
    pub(super) sightings: Vec<Sighting>,
    /// Packets in both directions.
    pub(super) packets: u64,
    /// Those of them that are sealed.
    pub(super) sealed: u64,
    /// Those in which something was found that is nobody else's business.
    pub(super) revealing: u64,
    /// The beginning of a sealed packet.
    pub(super) sample: Vec<u8>,
}

/// Takes pcapng, listens, and passes it on to a file if there is one.
pub(super) struct CaptureSink {
    pending: Vec<u8>,
    overheard: Arc<Mutex<Overheard>>,
    /// What is looked for in each packet.
    secrets: Vec<Vec<u8>>,
    file: Option<BufWriter<File>>,
}

impl CaptureSink {
    pub(super) fn new(overheard: Arc<Mutex<Overheard>>, secrets: Vec<Vec<u8>>, file: Option<File>) -> Self {
        Self { pending: Vec::new(), overheard, secrets, file: file.map(BufWriter::new) }
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
            let mut overheard = self.overheard.lock().unwrap_or_else(PoisonError::into_inner);
            // A block that is no packet, or none of ours, is of no interest.
            let _ = note(block, &self.secrets, &mut overheard);
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

/// Listens to a packet.
fn note(block: &[u8], secrets: &[Vec<u8>], overheard: &mut Overheard) -> Option<()> {
    if word(block, 0)? != ENHANCED_PACKET {
        return None;
    }
    let at = (u64::from(word(block, 12)?) << 32) | u64::from(word(block, 16)?);
    let length = word(block, 20)? as usize;
    let packet = block.get(28..28 + length)?;
    let options = block.get(28 + length.next_multiple_of(4)..block.len() - 4)?;
    let (outbound, dropped) = read_options(options)?;
    let ip_header = match packet.first()? >> 4 {
        4 => usize::from(packet[0] & 0x0f) * 4,
        6 => 40,
        _ => return None,
    };
    let bytes = packet.get(ip_header + UDP_HEADER..)?;
    let sctp = Packet::parse(bytes).ok()?;
    let sealed = sctp.chunks().next_raw()?.ok()?.chunk_type() == CHUNK_DTLS;
    overheard.packets += 1;
    overheard.sealed += u64::from(sealed);
    let shows = |secret: &Vec<u8>| bytes.windows(secret.len()).any(|window| window == secret);
    overheard.revealing += u64::from(secrets.iter().any(shows));
    if sealed && bytes.len() >= LARGE && overheard.sample.is_empty() {
        overheard.sample = bytes[..SAMPLE].to_vec();
    }
    if outbound {
        overheard.sightings.push(Sighting { at, bytes: bytes.len() as u32, dropped });
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
