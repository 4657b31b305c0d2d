use whimbrel_machine::Instant;

use super::Traffic;

/// Always has more to send than the network takes.
#[derive(Clone, Debug)]
pub struct Greedy {
    size: usize,
    backlog: usize,
    queued: usize,
}

impl Greedy {
    /// Messages of `size` bytes, of which `backlog` bytes are always with the transport, acknowledged ones not counted. It
    /// must exceed what can be in flight.
    pub const fn new(size: usize, backlog: usize) -> Self {
        Self { size, backlog, queued: 0 }
    }
}

impl Traffic for Greedy {
    fn offer(&mut self, _now: Instant, acknowledged: usize, send: &mut dyn FnMut(usize)) -> Option<Instant> {
        self.queued = self.queued.saturating_sub(acknowledged);
        while self.queued < self.backlog {
            send(self.size);
            self.queued += self.size;
        }
        None
    }
}
