//! TCP segments on the wire (RFC 9293 §3.1), with the options that the machine uses.

/// Bytes of a header without options.
pub(crate) const HEADER_BYTES: usize = 20;
/// SACK blocks in one segment, at most (RFC 2018 §3, no other options beside).
pub(crate) const SACK_BLOCKS_MAX: usize = 4;

const KIND_END: u8 = 0;
const KIND_NO_OPERATION: u8 = 1;
const KIND_MSS: u8 = 2;
const KIND_WINDOW_SCALE: u8 = 3;
const KIND_SACK_PERMITTED: u8 = 4;
const KIND_SACK: u8 = 5;

/// The control bits that are used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Flags(u8);

impl Flags {
    pub(crate) const SYN: Self = Self(0x02);
    pub(crate) const ACK: Self = Self(0x10);
    pub(crate) const SYN_ACK: Self = Self(0x12);

    pub(crate) const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// SACK blocks, the first edge of each included and the second not (RFC 2018 §3).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct SackBlocks {
    edges: [(u32, u32); SACK_BLOCKS_MAX],
    count: usize,
}

impl SackBlocks {
    /// Adds a block; what is too many is left out.
    pub(crate) fn push(&mut self, left: u32, right: u32) {
        if let Some(edge) = self.edges.get_mut(self.count) {
            *edge = (left, right);
            self.count += 1;
        }
    }

    /// The same behind a block that tells of data that has come twice (RFC 2883 §4).
    pub(crate) fn behind(&self, (left, right): (u32, u32)) -> Self {
        let mut blocks = Self::default();
        blocks.push(left, right);
        self.as_slice().iter().for_each(|&(left, right)| blocks.push(left, right));
        blocks
    }

    pub(crate) fn as_slice(&self) -> &[(u32, u32)] {
        &self.edges[..self.count]
    }
}

/// A segment, its payload borrowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Segment<'a> {
    pub(crate) source_port: u16,
    pub(crate) destination_port: u16,
    pub(crate) sequence: u32,
    pub(crate) acknowledgement: u32,
    pub(crate) flags: Flags,
    pub(crate) window: u16,
    pub(crate) mss: Option<u16>,
    pub(crate) window_scale: Option<u8>,
    pub(crate) sack_permitted: bool,
    pub(crate) sack: SackBlocks,
    pub(crate) payload: &'a [u8],
}

impl<'a> Segment<'a> {
    /// Appends the segment to `out`, with its checksum.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&self.source_port.to_be_bytes());
        out.extend_from_slice(&self.destination_port.to_be_bytes());
        out.extend_from_slice(&self.sequence.to_be_bytes());
        out.extend_from_slice(&self.acknowledgement.to_be_bytes());
        out.extend_from_slice(&[0, self.flags.0]);
        out.extend_from_slice(&self.window.to_be_bytes());
        out.extend_from_slice(&[0; 4]);
        self.write_options(out);
        while !(out.len() - start).is_multiple_of(4) {
            out.push(KIND_NO_OPERATION);
        }
        out[start + 12] = (((out.len() - start) / 4) as u8) << 4;
        out.extend_from_slice(self.payload);
        let checksum = !sum(&out[start..]);
        out[start + 16..start + 18].copy_from_slice(&checksum.to_be_bytes());
    }

    fn write_options(&self, out: &mut Vec<u8>) {
        if let Some(mss) = self.mss {
            out.extend_from_slice(&[KIND_MSS, 4]);
            out.extend_from_slice(&mss.to_be_bytes());
        }
        if let Some(shift) = self.window_scale {
            out.extend_from_slice(&[KIND_WINDOW_SCALE, 3, shift]);
        }
        if self.sack_permitted {
            out.extend_from_slice(&[KIND_SACK_PERMITTED, 2]);
        }
        let blocks = self.sack.as_slice();
        if !blocks.is_empty() {
            out.extend_from_slice(&[KIND_SACK, 2 + 8 * blocks.len() as u8]);
            for (left, right) in blocks {
                out.extend_from_slice(&left.to_be_bytes());
                out.extend_from_slice(&right.to_be_bytes());
            }
        }
    }

    /// Reads a segment; `None` if it is malformed or its checksum is wrong. Unknown options are skipped.
    pub(crate) fn read(bytes: &'a [u8]) -> Option<Self> {
        let (header, rest) = bytes.split_first_chunk::<HEADER_BYTES>()?;
        let options_bytes = usize::from(header[12] >> 4).checked_mul(4)?.checked_sub(HEADER_BYTES)?;
        let (options, payload) = rest.split_at_checked(options_bytes)?;
        if sum(bytes) != u16::MAX {
            return None;
        }
        let u16_at = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
        let u32_at =
            |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let mut segment = Self {
            source_port: u16_at(0),
            destination_port: u16_at(2),
            sequence: u32_at(4),
            acknowledgement: u32_at(8),
            flags: Flags(header[13]),
            window: u16_at(14),
            payload,
            ..Self::default()
        };
        segment.read_options(options)?;
        Some(segment)
    }

    fn read_options(&mut self, mut options: &[u8]) -> Option<()> {
        while let [kind, rest @ ..] = options {
            match *kind {
                KIND_END => break,
                KIND_NO_OPERATION => options = rest,
                kind => {
                    let length = usize::from(*rest.first()?);
                    let (option, next) = options.split_at_checked(length.max(2))?;
                    self.read_option(kind, &option[2..]);
                    options = next;
                }
            }
        }
        Some(())
    }

    fn read_option(&mut self, kind: u8, value: &[u8]) {
        match (kind, value) {
            (KIND_MSS, &[high, low]) => self.mss = Some(u16::from_be_bytes([high, low])),
            (KIND_WINDOW_SCALE, &[shift]) => self.window_scale = Some(shift.min(14)),
            (KIND_SACK_PERMITTED, &[]) => self.sack_permitted = true,
            (KIND_SACK, blocks) => {
                for block in blocks.chunks_exact(8) {
                    let edge = |at: usize| {
                        u32::from_be_bytes([block[at], block[at + 1], block[at + 2], block[at + 3]])
                    };
                    self.sack.push(edge(0), edge(4));
                }
            }
            _ => {}
        }
    }
}

/// The ones' complement sum of RFC 1071. The pseudo-header with the addresses is left to the network interface, which no
/// machine sees: captures have it ([`IpProtocol::Tcp`](whimbrel_machine::IpProtocol::Tcp)).
fn sum(bytes: &[u8]) -> u16 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    // A column of 16 bits weighs the same wherever it stands in a word, since 2¹⁶ is 1 in ones' complement.
    let halves = |word: [u8; 8]| {
        let word = u64::from_be_bytes(word);
        (word >> 32) + (word & 0xffff_ffff)
    };
    let mut total: u64 = words.iter().map(|&word| halves(word)).sum::<u64>() + halves(last);
    while total > 0xffff {
        total = (total & 0xffff) + (total >> 16);
    }
    total as u16
}

#[cfg(test)]
#[path = "segment_tests.rs"]
mod tests;
