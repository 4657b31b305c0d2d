use whimbrel_machine::Instant;

use super::Traffic;

/// A message of a file is so long unless told otherwise: a few packets, so that what is delivered keeps up with what arrives.
const MESSAGE: u64 = 8 << 10;

/// A file of given size, there from the start.
#[derive(Clone, Debug)]
pub struct File {
    left: u64,
    message: u64,
    backlog: u64,
    queued: u64,
}

impl File {
    /// A file of `size` bytes, of which up to `backlog` bytes are with the transport, acknowledged ones not counted. That must
    /// exceed what can be in flight.
    pub const fn new(size: u64, backlog: u64) -> Self {
        Self::in_messages(size, MESSAGE, backlog)
    }

    /// The same, in messages of so many bytes.
    pub const fn in_messages(size: u64, message: u64, backlog: u64) -> Self {
        Self { left: size, message, backlog, queued: 0 }
    }
}

impl Traffic for File {
    fn offer(&mut self, _now: Instant, acknowledged: usize, send: &mut dyn FnMut(usize)) -> Option<Instant> {
        self.queued = self.queued.saturating_sub(acknowledged as u64);
        while self.left > 0 && self.queued < self.backlog {
            let size = self.left.min(self.message);
            send(size as usize);
            self.left -= size;
            self.queued += size;
        }
        None
    }
}
