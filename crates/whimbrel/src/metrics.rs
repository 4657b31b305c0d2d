//! What an endpoint has done so far, in numbers.

mod moves;
#[cfg(feature = "prometheus")]
mod prometheus;
mod text;

pub use self::text::PrometheusText;
use whimbrel_node::Node;
use whimbrel_proto::{
    AssociationState, CloseReason, DurationHistogram, EndpointStats, Event, Totals as AssociationTotals,
};

use crate::endpoint::HandOvers;
pub(crate) use moves::Moves;

/// The numbers of an endpoint, all its shards and associations together, those that are gone included: what
/// [`Endpoint::metrics`](crate::Endpoint::metrics) yields.
///
/// But for [`Self::associations`] and what is queued, no number ever falls as long as the endpoint lives.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Metrics {
    /// Packets given to the sockets.
    pub packets_sent: u64,
    /// Bytes of these, from the SCTP header on.
    pub bytes_sent: u64,
    /// Packets that came from the sockets, whoever sent them.
    pub packets_received: u64,
    /// Bytes of these, from the SCTP header on.
    pub bytes_received: u64,
    /// What became of packets that are about no association, and of wrong ones.
    pub endpoint: EndpointStats,
    /// What associations have sent, sent again and received, and their round trips.
    pub totals: AssociationTotals,
    /// Associations that have come up, whoever set them up.
    pub established: u64,
    /// Attempts to connect that failed.
    pub connects_failed: u64,
    /// Associations that were up and have ended.
    pub ended: Ended,
    /// How often new data took another path than before.
    pub handovers: u64,
    /// How long nothing was acknowledged of what was on its way around a handover: the longest time from an acknowledgement, or from the first
    /// data after there was none, to the next, between a second before new data is known to take another path and the first acknowledgement after.
    /// Handovers without data in that time are not among these.
    pub handover_gaps: DurationHistogram,
    /// What shards have received for each other.
    pub hand_overs: HandOvers,
    pub(crate) states: [u64; STATES.len()],
}

/// The states of associations that exist.
const STATES: [AssociationState; 7] = [
    AssociationState::CookieWait,
    AssociationState::CookieEchoed,
    AssociationState::Established,
    AssociationState::ShutdownPending,
    AssociationState::ShutdownSent,
    AssociationState::ShutdownReceived,
    AssociationState::ShutdownAckSent,
];

/// How associations have ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Ended {
    /// By graceful shutdown.
    pub shutdown: u64,
    /// Aborted on this side, for whatever reason.
    pub aborted: u64,
    /// Aborted by the peer.
    pub aborted_by_peer: u64,
    /// The peer could not be reached any more.
    pub unreachable: u64,
}

impl Ended {
    fn count(&mut self, reason: &CloseReason) {
        *match reason {
            CloseReason::Shutdown => &mut self.shutdown,
            CloseReason::AbortedByPeer { .. } => &mut self.aborted_by_peer,
            CloseReason::Unreachable | CloseReason::NoSctp => &mut self.unreachable,
            CloseReason::Aborted
            | CloseReason::ProtocolViolation(_)
            | CloseReason::OutOfResource
            | CloseReason::PeerUnprotected
            | CloseReason::KeyExchange(_)
            | CloseReason::Tampered
            | CloseReason::MessageTooLarge { .. }
            | CloseReason::Refused(_) => &mut self.aborted,
        } += 1;
    }
}

impl Metrics {
    /// How many associations there are now in each state (RFC 9260 §4).
    pub fn associations(&self) -> impl Iterator<Item = (AssociationState, u64)> + '_ {
        STATES.into_iter().zip(self.states)
    }

    /// A train of packets goes to a socket.
    pub(crate) fn sent(&mut self, bytes: usize, segment: usize) {
        self.packets_sent += packets(bytes, segment);
        self.bytes_sent += bytes as u64;
    }

    /// A train of packets has come from a socket.
    pub(crate) fn received(&mut self, bytes: usize, segment: usize) {
        self.packets_received += packets(bytes, segment);
        self.bytes_received += bytes as u64;
    }

    /// Counts what makes and ends associations.
    pub(crate) fn count(&mut self, event: &Event) {
        match event {
            Event::Up { .. } => self.established += 1,
            Event::ConnectFailed { .. } => self.connects_failed += 1,
            Event::Closed { reason, .. } => self.ended.count(reason),
            _ => {}
        }
    }

    /// What this shard has counted, with what is known of its associations now.
    pub(crate) fn of(&self, node: &Node) -> Self {
        let mut all = self.clone();
        (all.endpoint, all.totals) = (node.endpoint_stats(), node.totals());
        for (_, state) in node.associations() {
            if let Some(nth) = STATES.iter().position(|one| *one == state) {
                all.states[nth] += 1;
            }
        }
        all
    }

    /// Adds those of another shard.
    pub(crate) fn add(&mut self, other: &Self) {
        self.packets_sent += other.packets_sent;
        self.bytes_sent += other.bytes_sent;
        self.packets_received += other.packets_received;
        self.bytes_received += other.bytes_received;
        self.endpoint.add(&other.endpoint);
        self.totals.add(&other.totals);
        self.established += other.established;
        self.connects_failed += other.connects_failed;
        self.ended.shutdown += other.ended.shutdown;
        self.ended.aborted += other.ended.aborted;
        self.ended.aborted_by_peer += other.ended.aborted_by_peer;
        self.ended.unreachable += other.ended.unreachable;
        self.handovers += other.handovers;
        self.handover_gaps.add(&other.handover_gaps);
        for (count, more) in self.states.iter_mut().zip(other.states) {
            *count += more;
        }
    }
}

/// How many packets a train has.
fn packets(bytes: usize, segment: usize) -> u64 {
    bytes.div_ceil(segment.max(1)) as u64
}

#[cfg(test)]
#[path = "metrics_tests.rs"]
mod tests;
