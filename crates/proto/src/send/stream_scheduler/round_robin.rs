use std::collections::VecDeque;

use super::{KEPT_WHEN_EMPTY, StreamScheduler};

/// SCTP_SS_RR (RFC 8260 §3.2): one message from each stream that has any, in turn. A stream that was empty joins at
/// the end of the round.
#[derive(Clone, Debug, Default)]
pub struct RoundRobin {
    /// Streams with messages, each once, the next one first.
    round: VecDeque<u16>,
    /// Messages queued per stream, up to the highest stream ever used.
    queued: Vec<u32>,
}

impl RoundRobin {
    /// With all queues empty.
    pub fn new() -> Self {
        Self::default()
    }

    /// As [`RoundRobin::new`], in the shape a configuration wants.
    pub fn boxed() -> Box<dyn StreamScheduler> {
        Box::new(Self::new())
    }
}

impl StreamScheduler for RoundRobin {
    fn enqueue(&mut self, stream: u16) {
        let index = usize::from(stream);
        if index >= self.queued.len() {
            self.queued.resize(index + 1, 0);
        }
        if self.queued[index] == 0 {
            self.round.push_back(stream);
        }
        self.queued[index] += 1;
    }

    fn next(&mut self) -> Option<u16> {
        let stream = self.round.pop_front()?;
        let queued = &mut self.queued[usize::from(stream)];
        *queued -= 1;
        if *queued > 0 {
            self.round.push_back(stream);
        } else if self.round.is_empty() && self.round.capacity() > KEPT_WHEN_EMPTY {
            self.round = VecDeque::new();
        }
        Some(stream)
    }
}
