/// How lost DATA is noticed and repaired (RFC 9260 §6.3.3, §6.4, §7.2.4).
#[derive(Clone, Debug)]
pub struct RetransmissionConfig {
    /// What a SACK shows to be lost.
    pub loss: LossDetection,
    /// What Fast Recovery is a state of.
    pub recovery: RecoveryScope,
    /// How what is in flight comes down to a window that a loss has reduced.
    pub reduction: WindowReduction,
    /// What follows when nothing was lost after all.
    pub spurious: SpuriousLoss,
    /// Where lost DATA goes.
    pub path: RetransmissionPath,
    /// Whether new data may pass lost data.
    pub order: RetransmissionOrder,
    /// How it is noticed that the last packets sent are lost.
    pub tail: TailLoss,
}

impl RetransmissionConfig {
    /// What RFC 9260 has.
    pub(super) const fn rfc() -> Self {
        Self {
            loss: LossDetection::MissIndications(3),
            recovery: RecoveryScope::Association,
            reduction: WindowReduction::AtOnce,
            spurious: SpuriousLoss::Ignored,
            path: RetransmissionPath::Alternate,
            order: RetransmissionOrder::PerPath,
            tail: TailLoss::Timeout,
        }
    }
}

/// How it is noticed that the last packets sent on a path are lost: no SACK tells, as nothing comes after them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TailLoss {
    /// By T3-rtx, RTO.Min after they were sent at least (RFC 9260 §6.3.3).
    #[default]
    Timeout,
    /// By a probe after two round trips, as in RFC 8985 §7: the chunk that has waited longest goes out once more, on the path and on
    /// another active one. When it is acknowledged and what was sent before it is not, that is lost, and new data avoids
    /// the path until it has answered a heartbeat. T3-rtx of a path that has failed is not backed off (RFC 9260 §6.3.3 E2) from when another
    /// path works, by which what is lost goes out again; a path that begins to work takes over at once what silent ones have in flight.
    Probe,
}

/// How a SACK shows that DATA is lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LossDetection {
    /// By this many miss indications, counted below the highest TSN newly acknowledged on whatever path (RFC 9260 §7.2.4: 3;
    /// RFC 2960 had 4); at least 1.
    MissIndications(u8),
    /// The same for each path by itself: what was sent on a path is missing only below the highest TSN newly acknowledged of those that were
    /// sent there (Split Fast Retransmit).
    SplitMissIndications(u8),
    /// By time, as RACK has it (RFC 8985 §6): what was sent on a path before something that has arrived there is lost once packets have had
    /// time to be out of order, a quarter of the least round trip at first and more where that was too short. Where nothing has been seen out
    /// of order, this many packets that have arrived by the path are enough (DupThresh, 3); at least 1. Retransmissions are judged alike.
    Rack(u8),
}

/// What Fast Recovery is a state of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RecoveryScope {
    /// Of the association: while losses of one path are repaired, the windows of all paths rest (RFC 9260 §7.2.4).
    #[default]
    Association,
    /// Of each path.
    Path,
    /// Of each path, and over as soon as what was outstanding on it has been acknowledged or has moved to another path, whatever slower paths
    /// have still to bring.
    PathAlone,
}

/// How what is in flight comes down to a window that a loss has reduced.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WindowReduction {
    /// Nothing leaves until it has, but for the first retransmission (RFC 9260 §7.2.4).
    #[default]
    AtOnce,
    /// Some leaves for whatever is delivered, so that it has after a round trip (Proportional Rate Reduction, RFC 9937). Paths that are paced
    /// are left to their pace.
    Proportional,
}

/// What follows when what was called lost has been late, and nothing was lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SpuriousLoss {
    /// Nothing (RFC 9260).
    #[default]
    Ignored,
    /// The window is again what it was, T3-rtx is no longer backed off, and what has not been sent again yet is in flight. SACKs tell: they
    /// acknowledge what was sent once, or sent again too shortly before (F-RTO, RFC 5682), and report duplicates.
    Undone,
}

/// The path that lost DATA goes out on again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RetransmissionPath {
    /// After T3-rtx another active path (RFC 9260 §6.4); what SACKs show to be missing goes out on the same path again, unless
    /// new data has left that.
    #[default]
    Alternate,
    /// That of new data (paper c04 section 2.2).
    Primary,
    /// Where it was lost, as long as that path is active (RTX-SAME).
    Same,
    /// Any path that has room now: where it was lost, or the one with the shortest round trip (RTX-ASAP).
    WithRoom,
    /// The path with the largest congestion window (RTX-CWND).
    LargestWindow,
    /// The path with the largest slow-start threshold (RTX-SSTHRESH).
    LargestThreshold,
    /// The path that loses the smallest share of its packets (RTX-LOSSRATE).
    LeastLoss,
    /// The path where it arrives first: the one with the shortest round trip. What a timer calls lost takes another path than before if there is one.
    Soonest,
}

/// Whether new data may pass lost data that waits for the congestion window of another path (RFC 9260 §6.1 C: marked chunks
/// first, "limited by the current cwnd").
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RetransmissionOrder {
    /// Each path's window limits what belongs on that path: lost data waits for its path, and new data leaves where there
    /// is room.
    #[default]
    PerPath,
    /// No new data leaves, on any path, before all lost data has. After a timeout the window that was in flight must first
    /// drain over the alternate path (paper b08 section 4.1; ns-2).
    LostFirst,
}
