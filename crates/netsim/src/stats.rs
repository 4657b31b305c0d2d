use serde::Serialize;

/// Why a packet did not arrive.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum DropReason {
    /// The queue in front of the bottleneck was full.
    Queue,
    /// The wire lost it.
    Loss,
    /// Longer than the link's MTU.
    Mtu,
    /// The link was down when the packet came to it.
    Down,
    /// The link went down while the packet was in its queue or on its wire.
    Cut,
    /// The sender has no interface with the packet's source address, or source and destination differ in family.
    NoSource,
    /// Nothing leads to the destination address from here.
    NoRoute,
    /// The destination host is not running.
    HostDown,
    /// Longer than an IP packet can be, or more packets in flight than the world carries.
    Limit,
    /// A NAT box knows nobody whom it is for, or does not translate its kind.
    Nat,
}

impl DropReason {
    /// How many reasons there are.
    pub const COUNT: usize = 10;

    /// The reason's name in traces and captures.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Loss => "loss",
            Self::Mtu => "mtu",
            Self::Down => "down",
            Self::Cut => "cut",
            Self::NoSource => "no-source",
            Self::NoRoute => "no-route",
            Self::HostDown => "host-down",
            Self::Limit => "limit",
            Self::Nat => "nat",
        }
    }
}

/// What one direction of a link has seen. Bytes are as on the link: IP header and frame overhead included.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DirectionStats {
    /// Packets that came to the link, dropped ones included.
    pub offered_packets: u64,
    /// Their bytes.
    pub offered_bytes: u64,
    /// Packets that arrived at the other end, duplicates included.
    pub delivered_packets: u64,
    /// Their bytes.
    pub delivered_bytes: u64,
    /// Packets dropped, by [`DropReason`] in its order.
    pub dropped: [u64; DropReason::COUNT],
    /// Packets the wire doubled.
    pub duplicated: u64,
    /// Packets with flipped bits.
    pub corrupted: u64,
    /// Packets that took the detour, or will arrive before one offered earlier.
    pub reordered: u64,
    /// The most packets that ever waited.
    pub queue_packets_max: u64,
    /// The most bytes that ever waited.
    pub queue_bytes_max: u64,
}

impl DirectionStats {
    /// Packets dropped for `reason`.
    pub const fn dropped_for(&self, reason: DropReason) -> u64 {
        self.dropped[reason as usize]
    }

    /// Packets dropped for any reason.
    pub fn dropped_packets(&self) -> u64 {
        self.dropped.iter().sum()
    }
}
