//! What all associations of an endpoint have done together.

use super::{AssociationStats, DurationHistogram, PathCounters};

/// What associations have done together, those that are gone included. No number ever falls, but those of what is queued.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Totals {
    /// The sum of their totals.
    pub stats: AssociationStats,
    /// Their round trips, as measured for the RTO (RFC 9260 §6.3.1): one a round trip and path at most.
    pub round_trips: DurationHistogram,
}

impl Totals {
    /// Adds what others have done.
    pub fn add(&mut self, other: &Self) {
        self.stats = self.stats.plus(&other.stats);
        self.round_trips.add(&other.round_trips);
    }

    /// They are gone: nothing of theirs is queued any more.
    pub(crate) const fn gone(mut self) -> Self {
        (self.stats.send_queued, self.stats.receive_queued) = (0, 0);
        self
    }
}

impl AssociationStats {
    fn plus(mut self, other: &Self) -> Self {
        let Self {
            messages_sent,
            bytes_sent,
            data_sent,
            data_retransmitted,
            timeouts,
            tail_probes,
            fast_retransmits,
            undone,
            messages_received,
            bytes_received,
            duplicates_received,
            packets_dropped,
            send_queued,
            receive_queued,
        } = other;
        self.messages_sent += messages_sent;
        self.bytes_sent += bytes_sent;
        self.data_sent += data_sent;
        self.data_retransmitted += data_retransmitted;
        self.timeouts += timeouts;
        self.tail_probes += tail_probes;
        self.fast_retransmits += fast_retransmits;
        self.undone += undone;
        self.messages_received += messages_received;
        self.bytes_received += bytes_received;
        self.duplicates_received += duplicates_received;
        self.packets_dropped += packets_dropped;
        self.send_queued += send_queued;
        self.receive_queued += receive_queued;
        self
    }
}

impl PathCounters {
    /// Both paths' totals together.
    pub(crate) const fn plus(self, other: &Self) -> Self {
        Self {
            packets_sent: self.packets_sent + other.packets_sent,
            bytes_sent: self.bytes_sent + other.bytes_sent,
            packets_received: self.packets_received + other.packets_received,
            bytes_received: self.bytes_received + other.bytes_received,
            data_sent: self.data_sent + other.data_sent,
            data_retransmitted: self.data_retransmitted + other.data_retransmitted,
            timeouts: self.timeouts + other.timeouts,
            tail_probes: self.tail_probes + other.tail_probes,
            fast_retransmits: self.fast_retransmits + other.fast_retransmits,
            undone: self.undone + other.undone,
        }
    }
}
