use bytes::Bytes;
use whimbrel_wire::{cause_code, cause_name, draft};

use crate::protection::KeyExchangeError;

/// Why an association ended, or never began.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CloseReason {
    /// Both sides agreed: a graceful shutdown.
    #[error("closed")]
    Shutdown,
    /// We aborted it on the user's wish.
    #[error("aborted")]
    Aborted,
    /// The peer aborted it.
    #[error("aborted by the peer: {}", describe_abort(.causes, .reason))]
    AbortedByPeer {
        /// Cause codes of the ABORT, in order (RFC 9260 §3.3.10).
        causes: Vec<u16>,
        /// Upper layer abort reason, or else what a protocol violation is explained with (RFC 9260 §3.3.10.12, §3.3.10.13); empty
        /// if none.
        reason: Bytes,
    },
    /// We aborted it because the peer broke the protocol.
    #[error("protocol violation by the peer: {0}")]
    ProtocolViolation(&'static str),
    /// The peer does not answer (Association.Max.Retrans or Max.Init.Retransmits).
    #[error("the peer does not answer")]
    Unreachable,
    /// ICMP said that nothing receives SCTP at the peer's address: the host has no SCTP, or with UDP encapsulation the
    /// peer's program has ended.
    #[error("the peer's host says that no program receives SCTP there (any more)")]
    NoSctp,
    /// We aborted it because other associations needed the memory and its peer had been silent for longest.
    #[error("the memory for what peers have sent ran short, and this peer had been silent for longest")]
    OutOfResource,
    /// We aborted it because a message of the peer's is larger than the receive buffer, and the program has not asked for messages in parts
    /// ([`LargeMessages`](crate::LargeMessages)).
    #[error(
        "a message of the peer's is larger than the receive buffer ({limit} bytes), and this program takes whole messages only"
    )]
    MessageTooLarge {
        /// Bytes of the receive buffer.
        limit: usize,
    },
    /// We protect packets, and the peer does not.
    #[error("the peer speaks SCTP without encryption")]
    PeerUnprotected,
    /// No keys were agreed on with the peer.
    #[error("{0}")]
    KeyExchange(KeyExchangeError),
    /// The peer has read another INIT or INIT ACK than was sent, or the other way round.
    #[error("somebody on the way has changed how the association was set up")]
    Tampered,
    /// The user's own request could not be carried out.
    #[error("{0}")]
    Refused(&'static str),
}

impl CloseReason {
    /// Whether the peer has ended it because it has, or does, too much already (RFC 9260 §3.3.10.4): later it may have room.
    pub fn is_peer_out_of_resource(&self) -> bool {
        matches!(self, Self::AbortedByPeer { causes, .. } if causes.contains(&cause_code::OUT_OF_RESOURCE))
    }
}

fn describe_abort(causes: &[u16], reason: &Bytes) -> String {
    if !reason.is_empty() {
        return crate::printable::printable(reason);
    }
    match causes.first() {
        Some(&draft::CAUSE_MISSING_SUPPORT) => "it only speaks with encryption".to_owned(),
        Some(&cause_code::OUT_OF_RESOURCE) => {
            "it is out of resources; trying again later may help".to_owned()
        }
        Some(&code) => format!("cause {code}, {}", cause_name(code)),
        None => "no reason given".to_owned(),
    }
}
