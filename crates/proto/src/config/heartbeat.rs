use core::time::Duration;

/// Heartbeat parameters (RFC 9260 §8.3).
#[derive(Clone, Debug)]
pub struct HeartbeatConfig {
    /// HB.interval: added to the path's RTO between heartbeats on an idle path. `None` switches heartbeats off,
    /// except those that confirm a path (RFC 9260 §5.4) or find out whether one works whose link has come back.
    pub interval: Option<Duration>,
    /// HB.Max.Burst: how many paths may be probed for confirmation in one RTO (RFC 9260 §5.4).
    pub max_burst: u32,
    /// The most that the backing off of its RTO may add to each wait in the supervision of a path that carries no data,
    /// so that a standby path that has come back is noticed soon. `None`: up to RTO.Max, as RFC 9260 §8.3 has it.
    pub standby_back_off: Option<Duration>,
    /// How often paths that do not answer are probed at least while nothing comes from the peer on any path. `None`: as their
    /// RTO has it, which backs off up to RTO.Max (RFC 9260 §8.3).
    pub silent_peer: Option<ProbeSpacing>,
    /// What a heartbeat means that has not been answered within the RTO.
    pub unanswered: Unanswered,
    /// What leaves when a heartbeat is due on a path that works.
    pub form: HeartbeatForm,
    /// Whether paths are compared, so that one that is far worse than another may be left.
    pub comparison: Comparison,
}

/// What leaves when a heartbeat is due on a path that works.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HeartbeatForm {
    /// One HEARTBEAT, where nothing else has measured the path meanwhile (RFC 9260 §8.3).
    Single,
    /// Six of them, one behind the other, of which the third and the fourth are padded to the size of the path's packets (RFC 4820), on each active path, whether or
    /// not it is idle: a train that measures its capacity (paper b08, section 4.2.2.1). The first is the HEARTBEAT that supervises the path; nothing but the capacity
    /// hangs on the others. Until the first train was valid the next ones follow without HB.interval, three at most. [`PathEstimates`](crate::Event::PathEstimates) tells what was found.
    ///
    /// Any peer answers it. One that drops padded packets leaves the capacity unknown. No heartbeat goes with an answer to the peer's on paths that are confirmed, for it would
    /// come between the answers to the peer's train.
    Train,
    /// Such trains, three at most, until the capacity of a path is known, and single ones from then on: of several paths that carry data together a long one can be told from
    /// a thin one before it has carried any.
    TrainUntilKnown,
}

/// Whether anybody compares paths: then changes of their quality are told ([`Event::PathQuality`](crate::Event::PathQuality)), and those on
/// standby are asked how they are, besides when their time has come (RFC 9260 §8.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    /// Nobody does.
    Never,
    /// A HEARTBEAT goes out on each that has not been measured for a quarter of a second when the path in use loses much, or takes longer
    /// than one of them did.
    WhenWorse,
}

/// How far apart two HEARTBEATs are at most on each path to a peer that is silent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProbeSpacing {
    /// Once nothing has come from the peer for this long.
    pub soon: Duration,
    /// How long nothing has come from the peer, on any path, when that ends.
    pub soon_for: Duration,
    /// After that.
    pub later: Duration,
}

/// What a heartbeat means that has not been answered within the RTO.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unanswered {
    /// An error of its path (RFC 9260 §8.3).
    Error,
    /// An error, unless packets have come by the path meanwhile: then it is sent once more, and only if that is not answered
    /// either it is an error.
    ///
    /// Who receives much and sends little knows the round trip of an empty queue. A download fills the queue, its acknowledgements
    /// measure nothing here, and the next heartbeat is late or lost although the path was never busier.
    RepeatIfHeard,
}
