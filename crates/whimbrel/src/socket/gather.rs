use whimbrel_machine::Transmit;

/// Trains that grow at a time, at most: so many peers' addresses, or ways to them, can take turns.
const TRAINS: usize = 8;

/// Packets that go out as trains although they were written one by one: heartbeats, acknowledgements and set-ups
/// of many associations with the same peer. A system call costs many times what the copy does.
///
/// Packets of one route keep their order. Packets of different routes have none: they take different ways.
#[derive(Default, Debug)]
pub(super) struct Gathered {
    growing: Vec<Train>,
    /// Buffers for the next trains.
    spare: Vec<Vec<u8>>,
}

/// Packets of equal length that go the same way.
#[derive(Debug)]
pub(super) struct Train {
    pub(super) transmit: Transmit,
    pub(super) bytes: Vec<u8>,
}

impl Gathered {
    /// Appends a packet to the train of its route, or begins one. Returns a train that must be sent first: one that
    /// has become too long (more than `limit` bytes) or is of another kind, or one that has to make room.
    #[must_use]
    pub(super) fn add(&mut self, transmit: &Transmit, packet: &[u8], limit: usize) -> Option<Train> {
        let found = self.growing.iter_mut().position(|train| train.transmit.route == transmit.route);
        if let Some(train) = found.map(|index| &mut self.growing[index])
            && train.transmit.ecn == transmit.ecn
            && train.transmit.segment == packet.len()
            && train.bytes.len() + packet.len() <= limit
        {
            train.bytes.extend_from_slice(packet);
            return None;
        }
        let index = found.or((self.growing.len() == TRAINS).then_some(0));
        let leaving = index.map(|index| self.growing.remove(index));
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.extend_from_slice(packet);
        self.growing.push(Train { transmit: Transmit { segment: packet.len(), ..*transmit }, bytes });
        leaving
    }

    /// The train that packets of this route wait in.
    pub(super) fn take_like(&mut self, transmit: &Transmit) -> Option<Train> {
        let index = self.growing.iter().position(|train| train.transmit.route == transmit.route)?;
        Some(self.growing.remove(index))
    }

    /// A train, the oldest first.
    pub(super) fn take(&mut self) -> Option<Train> {
        (!self.growing.is_empty()).then(|| self.growing.remove(0))
    }

    /// Keeps the buffer of a train that has left.
    pub(super) fn reuse(&mut self, train: Train) {
        let mut bytes = train.bytes;
        bytes.clear();
        self.spare.push(bytes);
    }
}

#[cfg(test)]
#[path = "gather_tests.rs"]
mod tests;
