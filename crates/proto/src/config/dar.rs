/// Dynamic address reconfiguration (RFC 5061).
#[derive(Clone, Debug)]
pub struct DarConfig {
    /// Whether to offer it.
    pub mode: DarMode,
    /// What the peer may ask for.
    pub peer_requests: PeerRequests,
    /// How our addresses are named to the peer, in the handshake as well.
    pub naming: AddressNaming,
    /// Address changes of ours that may wait for the peer's answer, at most.
    pub queue: usize,
    /// ASCONF-ACK chunks kept in case they were lost, at most (RFC 5061 §5.2 E2).
    pub cached_acks: usize,
    /// A code point for the peer's upper layer, told in INIT and INIT ACK (RFC 5061 §4.2.6): what it means is between the
    /// users of both ends. Needs no [`DarMode`]. The peer's is in [`Event::Up`](crate::Event::Up).
    pub adaptation_indication: Option<u32>,
}

/// Whether dynamic address reconfiguration is offered to the peer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DarMode {
    /// ASCONF is not announced, and treated as an unknown chunk.
    Off,
    /// ASCONF and AUTH are announced and used with peers that announce them, too.
    Negotiated,
}

/// Which authenticated requests of the peer are carried out; others are refused with "Request Refused - No
/// Authorization" (RFC 5061 §4.3.5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PeerRequests {
    /// All that RFC 5061 allows.
    Accept,
    /// Only those that name their address: a wildcard means the source address of the packet, which is not authenticated,
    /// so that an attacker on the path could choose it (RFC 5061 §6).
    RefuseWildcards,
    /// None: the peer's addresses stay as they are.
    Refuse,
}

/// How our own addresses are named to the peer. Addresses that are translated on the way must not be put into packets
/// (RFC 6951 §5.7): ASCONF then uses the wildcard, which means the source address of the packet, and the handshake lists nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AddressNaming {
    /// As they are, unless SCTP runs in UDP, the address is a private one and the peer's is not: then there must be a translator
    /// between.
    ByScope,
    /// As they are: there is no translator.
    Literal,
    /// Never: there is a translator that the addresses do not tell of.
    Wildcards,
}
