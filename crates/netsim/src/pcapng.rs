//! The pcapng file format (draft-ietf-opsawg-pcapng): one section, one interface block per link, one enhanced packet
//! block per packet.
//!
//! Written by hand because the published crate that writes it stamps nanoseconds without saying so, and the
//! format is four block types.
use std::io::{self, Write};

use whimbrel_machine::{Ecn, Instant, IpProtocol, Route};

use crate::headers::write_ip_packet;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
/// LINKTYPE_RAW: the packet begins with its IPv4 or IPv6 header.
const LINKTYPE_RAW: u16 = 101;

const OPTION_END: u16 = 0;
const OPTION_COMMENT: u16 = 1;
const OPTION_IF_NAME: u16 = 2;
const OPTION_EPB_FLAGS: u16 = 2;
const OPTION_SHB_APPLICATION: u16 = 4;
const OPTION_IF_TIMESTAMP_RESOLUTION: u16 = 9;

/// A packet as a capture shows it.
#[derive(Clone, Copy, Debug)]
pub struct Captured<'a> {
    /// From where (`local`) to where (`remote`), seen by its sender.
    pub route: Route,
    /// ECN bits.
    pub ecn: Ecn,
    /// The datagram's payload.
    pub payload: &'a [u8],
    /// It came in at the end the capture is taken at.
    pub inbound: bool,
    /// A remark shown next to the packet.
    pub comment: Option<&'a str>,
}

/// Writes a capture that Wireshark opens. The packets are IP packets: IP and UDP headers are made up from the
/// routes, with correct lengths and checksums.
#[derive(Debug)]
pub struct Pcapng<W> {
    out: W,
    epoch_nanos: u64,
    interfaces: u32,
    block: Vec<u8>,
    packet: Vec<u8>,
}

impl<W: Write> Pcapng<W> {
    /// Begins a capture in which [`Instant::ZERO`] is `epoch_nanos` nanoseconds after 1970.
    ///
    /// # Errors
    /// What the writer says.
    pub fn new(out: W, epoch_nanos: u64) -> io::Result<Self> {
        let mut this = Self { out, epoch_nanos, interfaces: 0, block: Vec::new(), packet: Vec::new() };
        this.begin(SECTION_HEADER);
        this.block.extend_from_slice(&BYTE_ORDER_MAGIC.to_le_bytes());
        this.block.extend_from_slice(&[1, 0, 0, 0]);
        this.block.extend_from_slice(&u64::MAX.to_le_bytes());
        this.option(OPTION_SHB_APPLICATION, b"whimbrel");
        this.option(OPTION_END, &[]);
        this.finish()?;
        Ok(this)
    }

    /// Adds an interface called `name`, and returns its number.
    ///
    /// # Errors
    /// What the writer says.
    pub fn add_interface(&mut self, name: &str) -> io::Result<u32> {
        self.begin(INTERFACE_DESCRIPTION);
        self.block.extend_from_slice(&LINKTYPE_RAW.to_le_bytes());
        self.block.extend_from_slice(&[0; 2]);
        self.block.extend_from_slice(&0_u32.to_le_bytes());
        self.option(OPTION_IF_NAME, name.as_bytes());
        self.option(OPTION_IF_TIMESTAMP_RESOLUTION, &[9]);
        self.option(OPTION_END, &[]);
        self.finish()?;
        self.interfaces += 1;
        Ok(self.interfaces - 1)
    }

    /// Writes one packet seen on `interface` at time `at`: SCTP, or whatever has UDP ports. A packet that IP cannot carry is
    /// left out.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write(&mut self, interface: u32, at: Instant, captured: &Captured<'_>) -> io::Result<()> {
        self.write_as(interface, at, IpProtocol::Sctp, captured)
    }

    /// Writes one packet of any protocol, with what is to be remarked about that.
    pub(crate) fn write_as(
        &mut self,
        interface: u32,
        at: Instant,
        protocol: IpProtocol,
        captured: &Captured<'_>,
    ) -> io::Result<()> {
        self.packet.clear();
        let Captured { route: Route { local, remote }, ecn, payload, .. } = *captured;
        write_ip_packet(&mut self.packet, local, remote, ecn, protocol, payload);
        if self.packet.is_empty() {
            return Ok(());
        }
        let at = self.epoch_nanos.saturating_add(at.as_nanos());
        let length = self.packet.len() as u32;
        self.begin(ENHANCED_PACKET);
        for field in [interface, (at >> 32) as u32, at as u32, length, length] {
            self.block.extend_from_slice(&field.to_le_bytes());
        }
        self.block.append(&mut self.packet);
        self.pad();
        let direction: u32 = if captured.inbound { 1 } else { 2 };
        self.option(OPTION_EPB_FLAGS, &direction.to_le_bytes());
        for comment in [captured.comment, protocol.remark()].into_iter().flatten() {
            self.option(OPTION_COMMENT, comment.as_bytes());
        }
        self.option(OPTION_END, &[]);
        self.finish()
    }

    /// Flushes the writer.
    ///
    /// # Errors
    /// What the writer says.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// The writer.
    pub fn into_inner(self) -> W {
        self.out
    }

    fn begin(&mut self, kind: u32) {
        self.block.clear();
        self.block.extend_from_slice(&kind.to_le_bytes());
        self.block.extend_from_slice(&[0; 4]);
    }

    fn pad(&mut self) {
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        let value = &value[..value.len().min(usize::from(u16::MAX))];
        self.block.extend_from_slice(&code.to_le_bytes());
        self.block.extend_from_slice(&(value.len() as u16).to_le_bytes());
        self.block.extend_from_slice(value);
        self.pad();
    }

    /// A block has its length at both ends.
    fn finish(&mut self) -> io::Result<()> {
        let length = (self.block.len() as u32 + 4).to_le_bytes();
        self.block[4..8].copy_from_slice(&length);
        self.block.extend_from_slice(&length);
        self.out.write_all(&self.block)
    }
}

#[cfg(test)]
#[path = "pcapng_tests.rs"]
mod tests;
