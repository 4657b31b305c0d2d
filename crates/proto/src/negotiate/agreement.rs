use core::net::IpAddr;

use whimbrel_wire::{Init, Tsn};

use super::Extensions;
use crate::association::peer_init::PeerParameters;
use crate::auth::offer::Offer;
use crate::config::Config;
use crate::protection::negotiate::PeerProtection;

/// What a handshake settles: what the peer says of itself in INIT or INIT ACK, as far as both sides can do it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Agreement {
    /// The Verification Tag of packets to the peer.
    pub(crate) peer_tag: u32,
    /// The first TSN the peer will send.
    pub(crate) peer_initial_tsn: Tsn,
    /// The peer's advertised receiver window credit in bytes.
    pub(crate) peer_a_rwnd: u32,
    /// Outbound streams, the smaller of what we want and what the peer takes (RFC 9260 §5.1.1).
    pub(crate) outbound_streams: u16,
    /// Inbound streams, likewise.
    pub(crate) inbound_streams: u16,
    /// The error detection method for which the peer accepts a zero checksum (RFC 9653 §4); never 0.
    pub(crate) zero_checksum: Option<u32>,
    /// The code point of the peer's upper layer (RFC 5061 §4.2.6).
    pub(crate) adaptation: Option<u32>,
    /// The address that the peer would like to be sent to (RFC 5061 §4.2.4).
    pub(crate) primary: Option<IpAddr>,
    /// The extensions that the peer supports (RFC 5061 §4.2.7) and that can be used with it.
    pub(crate) extensions: Extensions,
    /// What the peer offers of authentication, if it can be used (RFC 4895 §6.3).
    pub(crate) auth: Option<Offer>,
    /// What the peer says of keys for whole packets, where they are to be protected.
    pub(crate) protection: Option<PeerProtection>,
}

impl Agreement {
    /// What follows from the peer's `init`, its `parameters`, and what they offer of authentication and protection.
    pub(crate) fn new(
        config: &Config,
        init: &Init<'_>,
        parameters: &PeerParameters<'_>,
        auth: Option<Offer>,
        protection: Option<PeerProtection>,
    ) -> Self {
        Self {
            peer_tag: init.initiate_tag,
            peer_initial_tsn: init.initial_tsn,
            peer_a_rwnd: init.a_rwnd,
            outbound_streams: config.streams.outbound.min(init.inbound_streams),
            inbound_streams: config.streams.inbound_max.min(init.outbound_streams),
            zero_checksum: parameters.zero_checksum.filter(|&edmid| edmid != 0),
            adaptation: parameters.adaptation,
            primary: parameters.primary,
            extensions: parameters
                .extensions
                .unwrap_or_default()
                .with(auth.is_some() || protection.is_some()),
            auth,
            protection,
        }
    }
}
