/// What a datagram is when it stands directly on IP: what the protocol field of its IP header says. In UDP it plays no role.
///
/// Captures of simulated networks are all that reads it; machines at the other end know what they are sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum IpProtocol {
    /// An SCTP packet, complete (RFC 9260).
    #[default]
    Sctp,
    /// A TCP segment (RFC 9293). Its checksum covers the segment alone; the pseudo-header with the addresses is for the network
    /// interface to add, as with checksum offload.
    Tcp,
    /// An IPv4 packet in another (RFC 2003). A header checksum of 0 is for the network interface to fill in.
    Ipv4,
    /// What is on no wire of the Internet in this form, and what it stands for.
    Simplified(&'static str),
}

impl IpProtocol {
    /// The assigned number; what is simplified has the first that is for experiments (RFC 3692 §2.1).
    pub const fn number(self) -> u8 {
        match self {
            Self::Ipv4 => 4,
            Self::Tcp => 6,
            Self::Sctp => 132,
            Self::Simplified(_) => 253,
        }
    }

    /// What somebody who reads a capture should know besides.
    pub const fn remark(self) -> Option<&'static str> {
        match self {
            Self::Simplified(what) => Some(what),
            Self::Sctp | Self::Tcp | Self::Ipv4 => None,
        }
    }
}
