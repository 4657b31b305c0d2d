use core::time::Duration;

use crate::Loss;

/// How much may wait in front of a bottleneck. The packet being sent is not counted: it has left the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueueLimit {
    /// At most this many packets wait.
    pub packets: u32,
    /// At most this many bytes wait (as on the link, headers included).
    pub bytes: u64,
}

impl QueueLimit {
    /// A limit in packets alone.
    pub const fn packets(packets: u32) -> Self {
        Self { packets, bytes: u64::MAX }
    }

    /// A limit in bytes alone.
    pub const fn bytes(bytes: u64) -> Self {
        Self { packets: u32::MAX, bytes }
    }
}

/// How packets wait in front of a bottleneck.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Queueing {
    /// In one queue; who comes when it is full is dropped.
    #[default]
    DropTail,
    /// In a queue per flow (source and destination address, and ports where there are any), each with the limit for itself,
    /// served in turn and fairly by bytes, as some access points do. At most 1024 flows wait at a time.
    PerFlow,
}

/// Packets that take a detour and are overtaken by others.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Reorder {
    /// Probability that a packet takes the detour.
    pub probability: f64,
    /// How much longer the detour takes.
    pub extra: Duration,
}

/// What becomes of a packet that is longer than the MTU.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Oversize {
    /// It is fragmented if it may be, else dropped without a word.
    #[default]
    Dropped,
    /// It is fragmented if it may be, else dropped, and the sender is told (ICMP packet too big) after as much time as the packet
    /// took to get here.
    Reported,
    /// It is dropped without a word, even if it may be fragmented, as by a bridge or a tunnel that does not route.
    Swallowed,
}

/// One direction of a link: a bottleneck, then a wire. The default is a perfect wire without delay.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LinkConfig {
    /// Bit/s of the bottleneck; `None` sends at once, `Some(0)` counts as 1 bit/s.
    pub rate_bps: Option<u64>,
    /// The queue in front of the bottleneck, or the queue of each flow. Nothing ever waits without a rate.
    pub queue: QueueLimit,
    /// Whether flows share a queue.
    pub queueing: Queueing,
    /// Bytes the link adds to each IP packet (Ethernet with preamble and gap: 38).
    pub frame_overhead: u32,
    /// The longest IP packet in bytes, IP header included.
    pub mtu: u32,
    /// What becomes of longer ones.
    pub oversize: Oversize,
    /// Time on the wire.
    pub delay: Duration,
    /// Each packet takes up to this much longer, uniformly.
    pub jitter: Duration,
    /// Jitter and changes of delay never let a packet overtake an earlier one: it waits behind it.
    pub keep_order: bool,
    /// What the wire loses.
    pub loss: Loss,
    /// Probability that bits of a packet flip. They flip in the payload and reach the machine: the UDP checksum, which
    /// would catch most of them first, is not looked at, so that the machine's own checksum is put to the test.
    pub corrupt: f64,
    /// Probability that a packet arrives twice.
    pub duplicate: f64,
    /// Packets sent on a detour, in spite of `keep_order`.
    pub reorder: Reorder,
}

impl Default for LinkConfig {
    fn default() -> Self {
        Self {
            rate_bps: None,
            queue: QueueLimit::packets(1000),
            queueing: Queueing::DropTail,
            frame_overhead: 0,
            mtu: 1500,
            oversize: Oversize::Dropped,
            delay: Duration::ZERO,
            jitter: Duration::ZERO,
            keep_order: true,
            loss: Loss::None,
            corrupt: 0.0,
            duplicate: 0.0,
            reorder: Reorder::default(),
        }
    }
}

/// What becomes of the packets on a link that goes down.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum InFlight {
    /// Everything in the queue and on the wire is lost.
    #[default]
    Lost,
    /// Only new packets are refused; those that are on their way arrive.
    Delivered,
}

/// A change of one direction of a link while it runs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Change {
    /// The link carries packets again.
    Up,
    /// The link carries nothing until [`Change::Up`].
    Down(InFlight),
    /// A new rate. Packets in the queue leave at the new rate, the rest of the one being sent included.
    Rate(Option<u64>),
    /// A new delay, for packets sent from now on.
    Delay(Duration),
    /// A new jitter.
    Jitter(Duration),
    /// A new loss model.
    Loss(Loss),
    /// A new probability of corruption.
    Corrupt(f64),
    /// A new probability of duplication.
    Duplicate(f64),
    /// A new detour.
    Reorder(Reorder),
    /// A new limit for packets that come from now on; those that wait already stay.
    Queue(QueueLimit),
    /// A new MTU in bytes.
    Mtu(u32),
    /// What becomes of longer packets from now on.
    Oversize(Oversize),
    /// Everything anew. Whether the link is up does not change, nor whether flows share a queue.
    Config(LinkConfig),
}

impl Change {
    /// The change's name in traces.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down(_) => "down",
            Self::Rate(_) => "rate",
            Self::Delay(_) => "delay",
            Self::Jitter(_) => "jitter",
            Self::Loss(_) => "loss",
            Self::Corrupt(_) => "corrupt",
            Self::Duplicate(_) => "duplicate",
            Self::Reorder(_) => "reorder",
            Self::Queue(_) => "queue",
            Self::Mtu(_) => "mtu",
            Self::Oversize(_) => "oversize",
            Self::Config(_) => "config",
        }
    }
}
