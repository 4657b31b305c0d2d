use super::{Config, HeartbeatForm, LossDetection, RecoveryScope, RetransmissionPath};

impl Config {
    /// The same, with new data on all paths that work at once. What goes with it: losses are judged by time, for each path by itself, Fast Recovery
    /// is a state of each path that ends with it, lost data goes out again where it arrives first, and trains of HEARTBEATs find out what a path can carry. Metered networks
    /// ([`Endpoint::spare_addresses`](crate::Endpoint::spare_addresses), which a policy's host does by itself) take no part while another works.
    #[must_use]
    pub fn combining_paths(mut self) -> Self {
        self.multipath = MultipathConfig::on();
        self.retransmission.loss = LossDetection::Rack(3);
        self.retransmission.recovery = RecoveryScope::PathAlone;
        self.retransmission.path = RetransmissionPath::Soonest;
        if self.heartbeat.form == HeartbeatForm::Single {
            self.heartbeat.form = HeartbeatForm::TrainUntilKnown;
        }
        self
    }
}

/// Whether several paths carry new data at once (concurrent multipath transfer, CMT), and how.
///
/// [`Config::combining_paths`] also chooses what goes with it: losses and Fast Recovery of each path by itself.
#[derive(Clone, Debug)]
pub struct MultipathConfig {
    /// Which path carries new data.
    pub scheduler: PathScheduler,
    /// Which SACKs let the congestion window of a path grow.
    pub growth: WindowGrowth,
    /// What becomes of SACKs that another one has overtaken.
    pub overtaken: OvertakenSacks,
    /// How much of the buffers of both ends one path may fill.
    pub buffers: BufferSplit,
}

impl MultipathConfig {
    /// One path at a time, as RFC 9260 has it.
    pub(super) const fn off() -> Self {
        Self {
            scheduler: PathScheduler::PrimaryPath,
            growth: WindowGrowth::Acknowledged,
            overtaken: OvertakenSacks::Reneging,
            buffers: BufferSplit::None,
        }
    }

    /// All paths that work, each chunk on the one where it arrives first.
    pub(super) const fn on() -> Self {
        Self {
            scheduler: PathScheduler::EarliestCompletion,
            overtaken: OvertakenSacks::Ignored,
            ..Self::off()
        }
    }
}

/// Which path carries new data. But for the first, those take part that are active and that nothing speaks against, so that no data
/// goes to a potentially failed one while another works (RFC 7829 §3.2; CMT-PF), and of those that share both addresses with others as few as will do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum PathScheduler {
    /// The primary path, or the best other one while that has failed (RFC 9260 §6.4).
    #[default]
    PrimaryPath,
    /// Each in turn that has room in its window.
    RoundRobin,
    /// The one with the shortest round trip that has room.
    LowestRoundTrip,
    /// The one that has sent first what is in flight on it and the next packet, of those that have room: fastest path first, the least
    /// (O + P) / C (paper b08 section 4.3.2).
    FastestPathFirst,
    /// The one where the next packet arrives first, even if that means to wait for room there: what a slower path takes longer for would keep
    /// the receiver from delivering what comes after it, and fill the buffers of both ends.
    EarliestCompletion,
    /// As `EarliestCompletion`, and what was sent goes out as a copy on each other path that has room.
    Redundant,
}

impl PathScheduler {
    /// Whether several paths may carry new data at once.
    pub(crate) fn combines(self) -> bool {
        self != Self::PrimaryPath
    }

    /// Whether what one path keeps back goes out again by another that brings it sooner.
    pub(crate) fn moves_what_is_late(self) -> bool {
        matches!(self, Self::EarliestCompletion | Self::Redundant)
    }

    /// Whether what goes out on one path is also sent on the others.
    pub(crate) fn copies(self) -> bool {
        self == Self::Redundant
    }
}

/// Which SACKs let the congestion window of a path grow where several paths carry data, of those that acknowledge something on it. Controllers that
/// model the path heed all.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WindowGrowth {
    /// All (RFC 9260 §7.2.1).
    #[default]
    Acknowledged,
    /// Those that advance the Cumulative TSN Ack Point, as RFC 4960 §7.2.1 has it: with several paths that is seldom the case.
    CumulativePoint,
    /// The same, and also where one path at a time carries data, as senders did that followed RFC 4960 (paper d10 builds on one). The other rules are
    /// no matter there: all SACKs count.
    CumulativePointAlways,
    /// Those that advance the point of the path: that acknowledge the lowest TSN outstanding of those that were sent once and on this path (CUC, version 1).
    PathPoint,
    /// The same, or the lowest TSN of those that were sent again on it; what has moved to another path counts there alone (CUC, version 2).
    PathPoints,
}

/// What becomes of a SACK that tells less than is known: packets overtake one another, of two paths or of one, and SACKs have no room for all gaps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OvertakenSacks {
    /// What it does not report has been dropped by the receiver (RFC 9260 §6.2.1 D iii), and is in flight again.
    #[default]
    Reneging,
    /// Where it tells nothing new it is ignored (paper b08 section 4.3.2). A receiver that has dropped something will tell when the Cumulative TSN Ack Point advances: what comes next
    /// there is still missing, and goes out again in any case. One that tells something new drops nothing behind the last of its gap ack blocks, where it has
    /// sixteen or more: it may have had no room.
    Ignored,
}

/// How much of the buffers one path may fill, so that a slow one does not keep the others from sending.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum BufferSplit {
    /// All.
    #[default]
    None,
    /// An equal share of the send buffer, by what is outstanding on the path.
    Send,
    /// An equal share of the peer's window, by what is in flight.
    Receive,
    /// Both.
    Both,
}
