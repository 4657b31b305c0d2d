//! What users and SCTP say to each other (RFC 9260 §11): commands one way, events the other, and views.

mod close_reason;
mod histogram;
mod mobility;
mod names;
mod totals;
mod view;

use core::net::SocketAddr;

use bytes::Bytes;
use whimbrel_machine::Route;
pub use whimbrel_path::{Delay, Estimate, PathQuality};
use whimbrel_wire::{PayloadProtocolId, StreamId};

pub use self::close_reason::CloseReason;
pub use self::histogram::DurationHistogram;
pub use self::mobility::{
    AddressChange, AddressChangeError, AgreedChange, Mobility, PathShape, PeerAddressChange, StaticReason,
};
pub use self::names::{AssociationId, ConnectToken, PathId};
pub use self::totals::Totals;
pub use self::view::{
    AssociationAddresses, AssociationState, AssociationStats, PathCounters, PathState, PathView,
};
use crate::auth::{AuthKeyChange, AuthKeyNews, AuthScope};
use crate::protection::PeerKey;

/// Whether a message waits for earlier ones of its stream (RFC 9260 §6.6).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Delivery {
    /// In order within the stream.
    #[default]
    Ordered,
    /// As soon as it is complete (U bit).
    Unordered,
}

/// When the peer should acknowledge a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Acknowledge {
    /// As the peer's delayed acknowledgement has it.
    #[default]
    Delayed,
    /// At once: sets the I bit of the last DATA chunk (RFC 7053).
    Immediately,
}

/// How much it matters that a message comes at once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Urgency {
    /// It goes by one path.
    #[default]
    Usual,
    /// Where several paths carry data at the same time ([`Config::combining_paths`](crate::Config::combining_paths)) copies go by the others, too, and fill a quarter of
    /// their windows at most: what one path loses or delays another brings. Each copy costs as much as the message, so that this is for the few that matter. With one path at a time there are no copies.
    Urgent,
}

/// A user message to send.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    /// Outbound stream.
    pub stream: StreamId,
    /// Payload protocol identifier, passed on unseen.
    pub ppid: PayloadProtocolId,
    /// Ordered or not.
    pub delivery: Delivery,
    /// Delayed or immediate acknowledgement.
    pub acknowledge: Acknowledge,
    /// By one path or by all.
    pub urgency: Urgency,
    /// The content; must not be empty (RFC 9260 §6.2: no user data is an error).
    pub payload: Bytes,
}

impl Message {
    /// An ordered message on `stream` with payload protocol identifier 0.
    pub fn new(stream: StreamId, payload: impl Into<Bytes>) -> Self {
        Self {
            stream,
            ppid: PayloadProtocolId(0),
            delivery: Delivery::Ordered,
            acknowledge: Acknowledge::Delayed,
            urgency: Urgency::Usual,
            payload: payload.into(),
        }
    }
}

/// Which part of a user message a [`Received`] carries.
///
/// Anything but `Whole` comes from partial delivery (RFC 9260 §6.9), where [`LargeMessages`](crate::LargeMessages) asks for it: the message is
/// too large for the receive buffer. The parts of one message arrive in order, and nothing else of the same stream and [`Delivery`] between.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Part {
    /// The whole message.
    Whole,
    /// The beginning.
    First,
    /// Neither beginning nor end.
    Middle,
    /// The end.
    Last,
}

/// A received user message, or a part of one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Received {
    /// Inbound stream.
    pub stream: StreamId,
    /// Payload protocol identifier.
    pub ppid: PayloadProtocolId,
    /// Ordered or not.
    pub delivery: Delivery,
    /// Whole message or which part.
    pub part: Part,
    /// The content, contiguous.
    pub payload: Bytes,
}

/// A wish of the user.
#[derive(Clone, Debug)]
pub enum Command {
    /// Accept associations on SCTP port `port` from now on.
    Listen {
        /// SCTP port, not the UDP encapsulation port.
        port: u16,
    },
    /// Accept no further associations on `port`; existing ones live on.
    StopListening {
        /// SCTP port.
        port: u16,
    },
    /// Set up an association (ASSOCIATE, RFC 9260 §11.1.2). Answered by [`Event::Up`] or [`Event::ConnectFailed`].
    Connect {
        /// Comes back in the answer.
        token: ConnectToken,
        /// The peer's addresses, best first, at least one. All count as confirmed (RFC 9260 §5.4).
        remote: Vec<SocketAddr>,
        /// The peer's SCTP port.
        remote_port: u16,
        /// Our SCTP port; `None` picks a random ephemeral one.
        local_port: Option<u16>,
    },
    /// Give up an attempt to connect.
    CancelConnect {
        /// As given to [`Command::Connect`].
        token: ConnectToken,
    },
    /// Send a message. Refused messages come back as [`Event::SendRefused`].
    Send {
        /// The association that carries the message.
        association: AssociationId,
        /// The message, with its stream and payload.
        message: Message,
    },
    /// The user has taken this many bytes of received messages; opens the receive window.
    Release {
        /// The association that received them.
        association: AssociationId,
        /// Bytes of [`Received::payload`] consumed.
        bytes: usize,
    },
    /// Close gracefully: everything queued is delivered first (RFC 9260 §9.2).
    Shutdown {
        /// The association to close.
        association: AssociationId,
    },
    /// Close at once, telling the peer why (RFC 9260 §9.1).
    Abort {
        /// The association to close.
        association: AssociationId,
        /// Upper layer abort reason, truncated to 512 bytes.
        reason: Bytes,
    },
    /// Make a path the primary path.
    SetPrimary {
        /// The association that the path belongs to.
        association: AssociationId,
        /// The path that becomes primary; it must be confirmed.
        path: PathId,
    },
    /// Send a heartbeat on a path now (RFC 9260 §11.1.10).
    RequestHeartbeat {
        /// The association that the path belongs to.
        association: AssociationId,
        /// The path that the HEARTBEAT goes out on.
        path: PathId,
    },
    /// Tell the peer of changes to our addresses (RFC 5061). Each change is answered by one
    /// [`Event::AddressChanged`], in the order given.
    ///
    /// The changes go out in this order, in one ASCONF chunk if they fit one packet, behind whatever was asked for
    /// before; one that cannot be sent at all is answered at once. A [`AddressChange::Delete`] takes the address out of use at once, a [`AddressChange::Add`] puts it to
    /// use once the peer has acknowledged it and a heartbeat has been answered.
    ///
    /// When no address that the peer knows can be sent from any more, the ASCONF leaves from the first address to be
    /// added and names an old one, by which the peer finds the association (RFC 5061 §5.3.2): give the new address, the
    /// deletion of the old one and the request to make the new one primary in this order (break before make).
    ChangeAddresses {
        /// The association whose addresses change.
        association: AssociationId,
        /// In the order in which the peer is to carry them out.
        changes: Vec<AddressChange>,
    },
    /// Take over changes of addresses that were agreed on without ASCONF, in the order given. What cannot be done is left out. Whoever
    /// gives this answers for it: no peer is asked, and no key is needed.
    AgreeAddresses {
        /// The association whose addresses change.
        association: AssociationId,
        /// In the order in which they are carried out.
        changes: Vec<AgreedChange>,
    },
    /// Install congestion state on a path, as a handover policy knows more about a link than slow start does.
    ShapePath {
        /// The association that the path belongs to.
        association: AssociationId,
        /// The path whose congestion state is replaced.
        path: PathId,
        /// What to install.
        shape: PathShape,
    },
    /// Take what is in flight on a path for lost now, because the link it went over is known to be gone. It goes out
    /// again on the path for retransmissions; the congestion window of this path stays as it is.
    RetransmitLost {
        /// The association that the path belongs to.
        association: AssociationId,
        /// The path whose data in flight is lost.
        path: PathId,
    },
    /// Change shared keys (RFC 4895 §6.1, RFC 6458 §8.3). Refusals come back as [`Event::AuthKey`].
    ChangeAuthKey {
        /// Whose keys change: those of one association, or of all to come.
        scope: AuthScope,
        /// What is done with which key.
        change: AuthKeyChange,
    },
}

/// Why a message was not accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SendError {
    /// The association is unknown or gone.
    #[error("the association is closed")]
    Closed,
    /// Shutdown has begun: no new data (RFC 9260 §9.2).
    #[error("the association is shutting down")]
    ShuttingDown,
    /// No such outbound stream.
    #[error("no such outbound stream")]
    NoSuchStream,
    /// Empty messages cannot be sent (RFC 9260 §6.2).
    #[error("an empty message cannot be sent")]
    Empty,
    /// A payload protocol identifier that is used for keys of protected packets (key draft §4), over an association whose packets are protected:
    /// 4242, 4243 or 0x57485300.
    #[error("this payload protocol identifier is used for keys of the association itself")]
    ReservedIdentifier,
    /// The send buffer is full; wait for [`Event::Sent`].
    #[error("the send buffer is full")]
    BufferFull,
}

/// What an endpoint tells its user.
#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    /// An association is up (COMMUNICATION UP, RFC 9260 §11.2.4).
    Up {
        /// Its name.
        association: AssociationId,
        /// Set when it answers a [`Command::Connect`]; `None` for one that the peer set up.
        token: Option<ConnectToken>,
        /// Usable outbound streams: ids 0 to this − 1.
        outbound_streams: u16,
        /// Inbound streams the peer may use.
        inbound_streams: u16,
        /// Our SCTP port.
        local_port: u16,
        /// The peer's SCTP port.
        remote_port: u16,
        /// The primary path's addresses.
        primary: Route,
        /// Whether addresses can come and go while the association lives.
        mobility: Mobility,
        /// The code point that the peer's upper layer has announced (RFC 5061 §4.2.6).
        peer_adaptation: Option<u32>,
        /// Who the peer has proved to be; `None` if packets go in clear.
        peer_key: Option<PeerKey>,
    },
    /// A [`Command::Connect`] came to nothing.
    ConnectFailed {
        /// As given to [`Command::Connect`].
        token: ConnectToken,
        /// Why there is no association.
        reason: CloseReason,
    },
    /// User data arrived. Every byte must be given back by [`Command::Release`] once taken.
    Message {
        /// The association that the message came by.
        association: AssociationId,
        /// The message, with its stream and payload.
        received: Received,
    },
    /// The peer has acknowledged this many bytes of user data: the send buffer has room again.
    Sent {
        /// The association that carried it.
        association: AssociationId,
        /// Bytes of [`Message::payload`].
        bytes: usize,
        /// How many bytes may wait for acknowledgement from now on, see [`LimitConfig::sizing`](crate::LimitConfig::sizing). What waits already may be
        /// more.
        room: usize,
    },
    /// A message was not accepted.
    SendRefused {
        /// The association that was to carry it.
        association: AssociationId,
        /// The message, as given.
        message: Message,
        /// Why it was not accepted.
        error: SendError,
    },
    /// A path has come up or changed state (NETWORK STATUS CHANGE, RFC 9260 §11.2.3).
    Path {
        /// The association that the path belongs to.
        association: AssociationId,
        /// The path that has changed.
        path: PathId,
        /// Its addresses.
        route: Route,
        /// Its new state.
        state: PathState,
    },
    /// New data now goes out on another path than before, or another path was made primary. While a heartbeat asks whether the path in use is
    /// alive, data may avoid it for a moment without this event.
    PathInUse {
        /// The association that the path belongs to.
        association: AssociationId,
        /// The path that carries new data from now on.
        path: PathId,
        /// Its addresses.
        route: Route,
    },
    /// What a path is worth beside others has changed: by a quarter of its delay and 10 ms, or in kind. At most four times a second for each
    /// path, and only with [`Comparison::WhenWorse`](crate::Comparison::WhenWorse).
    PathQuality {
        /// The association that the path belongs to.
        association: AssociationId,
        /// The path that has changed.
        path: PathId,
        /// Its addresses.
        route: Route,
        /// What it is worth now.
        quality: PathQuality,
    },
    /// More is known of what a path can carry, or what it carries has changed by a quarter, or it is congested: T3-rtx has expired, or Fast
    /// Recovery has begun. Only with [`HeartbeatForm::Train`](crate::HeartbeatForm::Train); what is new is in the path's view.
    PathEstimates {
        /// The association that the path belongs to.
        association: AssociationId,
        /// The path that has changed.
        path: PathId,
    },
    /// A path is no more: one of its addresses has left the association.
    PathGone {
        /// The association that the path belonged to.
        association: AssociationId,
        /// The path that is no more.
        path: PathId,
        /// The addresses it had.
        route: Route,
    },
    /// The answer to one change of a [`Command::ChangeAddresses`].
    AddressChanged {
        /// The association whose addresses were to change.
        association: AssociationId,
        /// The change, as given.
        change: AddressChange,
        /// Whether the peer has carried it out.
        outcome: Result<(), AddressChangeError>,
    },
    /// The peer has changed its addresses (RFC 5061 §5.2).
    PeerAddress {
        /// The association with that peer.
        association: AssociationId,
        /// The address; its port is the UDP encapsulation port.
        address: SocketAddr,
        /// What became of it.
        change: PeerAddressChange,
    },
    /// The mobility announced by [`Event::Up`] holds no more: the peer has turned out not to understand ASCONF
    /// (RFC 5061 §5.1 A9), or a restart has changed what it can do.
    MobilityChanged {
        /// The association whose mobility has changed.
        association: AssociationId,
        /// Whether addresses can change from now on.
        mobility: Mobility,
    },
    /// The peer has restarted (RFC 9260 §5.2.4 A): data in flight either way may be lost, sequence numbers began
    /// anew, and whoever restarted may be someone else (RFC 5062 §4). Never ignore it.
    Restarted {
        /// The association, which keeps its name.
        association: AssociationId,
        /// Outbound streams after the restart.
        outbound_streams: u16,
        /// Bytes of user data that were accepted before and not acknowledged; they are given up.
        undelivered: usize,
    },
    /// The peer has begun a graceful shutdown: it takes no new data, and will send what it has queued.
    PeerShutdown {
        /// The association that is closing.
        association: AssociationId,
    },
    /// The peer reported errors that do not end the association (COMMUNICATION ERROR, RFC 9260 §11.2.6).
    PeerError {
        /// The association with that peer.
        association: AssociationId,
        /// Cause codes.
        causes: Vec<u16>,
    },
    /// News of a shared key (RFC 6458 §6.1.8).
    AuthKey {
        /// The association that has the key; `None` for the keys that associations to come begin with.
        association: Option<AssociationId>,
        /// Shared Key Identifier.
        key: u16,
        /// What has become of the key.
        news: AuthKeyNews,
    },
    /// The association is gone; nothing further comes of it.
    Closed {
        /// The association that is gone.
        association: AssociationId,
        /// Why it ended.
        reason: CloseReason,
        /// Bytes of user data that were accepted but not acknowledged by the peer.
        undelivered: usize,
    },
}
