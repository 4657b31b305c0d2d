use whimbrel_machine::Transmit;

/// Packets that go out as one train although they were written one by one: heartbeats, acknowledgements and set-ups
/// of many associations with the same peer. A system call costs many times what the copy does.
#[derive(Default, Debug)]
pub(super) struct Gathered {
    transmit: Option<Transmit>,
    bytes: Vec<u8>,
}

impl Gathered {
    /// Appends a packet if it is of the same kind as those before and the train stays within `limit` bytes.
    pub(super) fn add(&mut self, transmit: &Transmit, packet: &[u8], limit: usize) -> bool {
        let alike = |train: &Transmit| {
            train.route == transmit.route && train.ecn == transmit.ecn && train.segment == packet.len()
        };
        let fits = self.transmit.as_ref().is_some_and(alike) && self.bytes.len() + packet.len() <= limit;
        if fits {
            self.bytes.extend_from_slice(packet);
        }
        fits
    }

    /// Begins a train with a packet; there must be none.
    pub(super) fn start(&mut self, transmit: &Transmit, packet: &[u8]) {
        debug_assert!(self.transmit.is_none() && self.bytes.is_empty());
        self.transmit = Some(Transmit { segment: packet.len(), ..*transmit });
        self.bytes.extend_from_slice(packet);
    }

    /// The train, if there is one.
    pub(super) fn take(&mut self) -> Option<(Transmit, Vec<u8>)> {
        let transmit = self.transmit.take()?;
        Some((transmit, core::mem::take(&mut self.bytes)))
    }

    /// Keeps an empty buffer for the next train.
    pub(super) fn reuse(&mut self, buffer: Vec<u8>) {
        self.bytes = buffer;
    }
}
