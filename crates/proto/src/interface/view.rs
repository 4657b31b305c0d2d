//! Views of paths and totals of associations.

use core::net::SocketAddr;
use core::time::Duration;

use whimbrel_machine::Route;
use whimbrel_path::{Estimate, PathQuality};

use super::PathId;
use crate::path::congestion::CongestionPhase;

/// The state of a path (RFC 9260 §5.4, §8.2; RFC 7829).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PathState {
    /// Not yet known to lead to the peer; carries no data.
    Unconfirmed,
    /// Usable.
    Active,
    /// Recent timeouts: avoided while another path is active (RFC 7829).
    PotentiallyFailed,
    /// Dead until a heartbeat is answered.
    Inactive,
}

/// The state of an association (RFC 9260 §4).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AssociationState {
    /// There is none, or no more.
    Closed,
    /// INIT has been sent, INIT ACK is waited for.
    CookieWait,
    /// COOKIE ECHO has been sent, COOKIE ACK is waited for.
    CookieEchoed,
    /// Data can go both ways.
    Established,
    /// The user has closed, data is outstanding.
    ShutdownPending,
    /// SHUTDOWN has been sent.
    ShutdownSent,
    /// The peer has sent SHUTDOWN, data is outstanding.
    ShutdownReceived,
    /// SHUTDOWN ACK has been sent.
    ShutdownAckSent,
}

/// A view of one path.
#[derive(Clone, Debug, PartialEq)]
pub struct PathView {
    /// Its name.
    pub id: PathId,
    /// Its addresses.
    pub route: Route,
    /// Its state.
    pub state: PathState,
    /// Whether it is the primary path.
    pub primary: bool,
    /// Whether new data goes out on it now.
    pub in_use: bool,
    /// Smoothed round-trip time, if measured.
    pub srtt: Option<Duration>,
    /// Current retransmission timeout, backoff included.
    pub rto: Duration,
    /// Congestion window, bytes.
    pub cwnd: usize,
    /// Slow-start threshold, bytes.
    pub ssthresh: usize,
    /// What the congestion window does.
    pub phase: CongestionPhase,
    /// Bytes in flight.
    pub flight_size: usize,
    /// Bytes of DATA chunks a second that it is paced at; `None` without pacing.
    pub pacing_rate: Option<u64>,
    /// Packet size in use (SCTP packet), bytes.
    pub packet_size: usize,
    /// What it is worth beside other paths.
    pub quality: PathQuality,
    /// What it can carry, as packet trains have told ([`HeartbeatForm::Train`](crate::HeartbeatForm::Train)); `None` if none has.
    pub capacity: Option<Estimate>,
    /// What it carries of late, by what is acknowledged (Westwood+); `None` before anything is.
    pub available: Option<Estimate>,
    /// Consecutive errors.
    pub error_count: u32,
    /// Totals since the path began.
    pub counters: PathCounters,
}

/// Totals of one path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PathCounters {
    /// Packets sent.
    pub packets_sent: u64,
    /// Bytes of SCTP packets sent.
    pub bytes_sent: u64,
    /// Packets received.
    pub packets_received: u64,
    /// Bytes of SCTP packets received.
    pub bytes_received: u64,
    /// DATA chunks sent for the first time.
    pub data_sent: u64,
    /// DATA chunks retransmitted on this path.
    pub data_retransmitted: u64,
    /// T3-rtx expirations.
    pub timeouts: u64,
    /// Tail-loss probes of this path.
    pub tail_probes: u64,
    /// Fast retransmit events.
    pub fast_retransmits: u64,
    /// How often the window was given back because nothing had been lost.
    pub undone: u64,
}

/// The addresses of both ends of an association, paths or not.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AssociationAddresses {
    /// Ours that the peer knows, and has not been asked to delete.
    pub local: Vec<SocketAddr>,
    /// The peer's.
    pub remote: Vec<SocketAddr>,
}

/// Totals of one association.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AssociationStats {
    /// User messages handed over by the user.
    pub messages_sent: u64,
    /// Bytes of these.
    pub bytes_sent: u64,
    /// DATA chunks sent for the first time, on all paths, those that are gone included.
    pub data_sent: u64,
    /// DATA chunks retransmitted, likewise.
    pub data_retransmitted: u64,
    /// T3-rtx expirations, likewise.
    pub timeouts: u64,
    /// Tail-loss probes, likewise.
    pub tail_probes: u64,
    /// Fast retransmit events, likewise.
    pub fast_retransmits: u64,
    /// How often a window was given back because nothing had been lost, likewise.
    pub undone: u64,
    /// User messages delivered to the user.
    pub messages_received: u64,
    /// Bytes of these.
    pub bytes_received: u64,
    /// DATA chunks received twice.
    pub duplicates_received: u64,
    /// Packets dropped because of a wrong checksum, tag or form, or since they were not authenticated: among them is what a peer answers that has been
    /// started anew, and has no keys.
    pub packets_dropped: u64,
    /// User bytes accepted and not yet acknowledged.
    pub send_queued: usize,
    /// Bytes in the receive buffer.
    pub receive_queued: usize,
}
