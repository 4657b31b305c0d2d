use whimbrel_machine::Instant;

/// A transmission of a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Transmission {
    /// Its number in the order of all transmissions of the connection: it breaks the ties of RFC 8985 §6.2, where several leave at once.
    pub(crate) order: u64,
    /// When it left.
    pub(crate) at: Instant,
    /// The segment had been sent before.
    pub(crate) again: bool,
}

/// The segments that one acknowledgement reports, cumulatively or by SACK blocks, and that none before it did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Arrivals {
    /// Their bytes: DeliveredData of RFC 9937.
    pub(crate) bytes: u64,
    /// The last transmission among those of segments that were sent once.
    pub(crate) last_once: Option<Transmission>,
    /// The last transmission among those of segments that were sent again.
    pub(crate) last_again: Option<Transmission>,
    /// The offset after the lowest segment that was sent once.
    pub(crate) lowest_once: Option<u64>,
    /// The offset after the highest segment.
    pub(crate) highest: u64,
}

impl Arrivals {
    /// A segment that ends at `end` has arrived.
    pub(crate) fn add(&mut self, end: u64, bytes: u64, transmission: Transmission) {
        self.bytes += bytes;
        self.highest = self.highest.max(end);
        let last = if transmission.again { &mut self.last_again } else { &mut self.last_once };
        if last.is_none_or(|last| last.order < transmission.order) {
            *last = Some(transmission);
        }
        if !transmission.again {
            self.lowest_once = Some(self.lowest_once.map_or(end, |lowest| lowest.min(end)));
        }
    }
}
