use std::collections::VecDeque;

use super::{KEPT_WHEN_EMPTY, StreamScheduler};

/// SCTP_SS_FCFS (RFC 8260 §3.1): messages leave in the order in which the user gave them, whatever their stream.
#[derive(Clone, Debug, Default)]
pub struct FirstComeFirstServed {
    order: VecDeque<u16>,
}

impl FirstComeFirstServed {
    /// With all queues empty.
    pub fn new() -> Self {
        Self::default()
    }

    /// As [`FirstComeFirstServed::new`], in the shape a configuration wants.
    pub fn boxed() -> Box<dyn StreamScheduler> {
        Box::new(Self::new())
    }
}

impl StreamScheduler for FirstComeFirstServed {
    fn enqueue(&mut self, stream: u16) {
        self.order.push_back(stream);
    }

    fn next(&mut self) -> Option<u16> {
        let stream = self.order.pop_front();
        if self.order.is_empty() && self.order.capacity() > KEPT_WHEN_EMPTY {
            self.order = VecDeque::new();
        }
        stream
    }
}
