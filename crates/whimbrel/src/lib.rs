//! Whimbrel: mobile, multihomed SCTP (RFC 9260) for tokio.
//!
//! An [`Endpoint`] owns the sockets: one per local address, SCTP inside UDP (RFC 6951) or directly on IP. It connects
//! to peers, or listens for them; either way yields an [`Association`], which carries messages on many streams and
//! over every path that the two hosts have between them. When a path dies, the messages take another.
//!
//! ```no_run
//! use whimbrel::{Endpoint, Message, StreamId};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! // One port, every address the host is to be reached at.
//! let endpoint = Endpoint::bind(["192.0.2.7:9899".parse()?, "198.51.100.7:9899".parse()?]).await?;
//! let association = endpoint.connect(&["203.0.113.1:9899".parse()?], 5001).await?;
//! association.send(Message::new(StreamId(0), "hello")).await?;
//! while let Some(received) = association.recv().await? {
//!     println!("{} bytes on stream {}", received.payload.len(), received.stream.0);
//! }
//! association.shutdown().await?;
//! # Ok(())
//! # }
//! ```
//!
//! and on the other side:
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let endpoint = whimbrel::Endpoint::bind(["203.0.113.1:9899".parse()?]).await?;
//! let listener = endpoint.listen(5001)?;
//! loop {
//!     let association = listener.accept().await?;
//!     tokio::spawn(async move {
//!         let stream = association.stream(0).expect("there is always a stream 0");
//!         while let Ok(Some(received)) = association.recv().await {
//!             stream.send(received.payload).await?;
//!         }
//!         Ok::<(), whimbrel::SendError>(())
//!     });
//! }
//! # }
//! ```
//!
//! # Moving
//!
//! Addresses may come and go. An endpoint bound to `0.0.0.0` or `[::]` has all that the host has, and follows them:
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use whimbrel::{Endpoint, EndpointEvent, interfaces::{FactFile, Preferences}};
//!
//! let endpoint = Endpoint::builder()
//!     .addresses(["0.0.0.0:9899".parse()?, "[::]:9899".parse()?])
//!     // Cellular costs money; a program of ours writes its signal strength to a file.
//!     .link_source(Preferences::default().prefer(["wlan0", "wwan0"]).metered(["wwan0"]))
//!     .link_source(FactFile::open("/run/modem/links")?)
//!     .bind()
//!     .await?;
//! let mut events = endpoint.events();
//! while let Some(event) = events.recv().await {
//!     if let EndpointEvent::AddressUp { address, interface } = event {
//!         println!("{address} is there, on {}", interface.as_deref().unwrap_or("some interface"));
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! A policy decides for each association when to move, and does what it takes: it tells the peer about new addresses, asks it
//! to send there, moves what we send, and takes lost addresses out. [`AssociationEvent::Decision`] says what it did and why;
//! [`EndpointBuilder::policy`] chooses another one. A program that knows better does without
//! ([`EndpointBuilder::without_policy`]) and uses [`Association::add_address`] and its kin.
//!
//! # Encryption
//!
//! Endpoints speak in clear unless [`EndpointBuilder::security`] gives them an identity and says whom they trust. Then every packet behind the handshake
//! is encrypted, each end knows the other's key ([`Association::peer_key`]), and peers that cannot are refused. [`secure`] has what it takes.
//!
//! # Who keeps what alive
//!
//! The endpoint's task ends when the last handle is gone ([`Endpoint`], [`Listener`], [`Association`], [`Stream`]) and
//! the last association has been shut down. Dropping the endpoint alone does no harm to its associations; dropping an
//! association shuts it down gracefully in the background, for which the runtime must live on: a program that is about
//! to end calls [`Endpoint::close`] or [`Association::shutdown`] and waits.
//!
//! # Cancellation
//!
//! Every future here may be dropped at any time, for instance by `tokio::select!`, without losing or doubling a
//! message; each method's documentation says what remains.
#![forbid(unsafe_code)]
// This crate owns the clock: elsewhere in the workspace time is an argument.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

mod accept;
mod anticipation;
mod association;
mod builder;
mod changes;
mod clock;
mod delivery;
mod driver;
mod drivers;
mod endpoint;
mod endpoint_events;
mod error;
mod event_log;
mod events;
mod inbox;
pub mod interfaces;
mod link_news;
mod locals;
mod mailbox;
mod metrics;
mod output;
mod persistence;
mod received;
mod recorder;
mod registry;
mod send_memory;
mod send_queue;
mod shared;
mod socket;
#[cfg(feature = "tracing")]
#[path = "spans/tracing.rs"]
mod spans;
#[cfg(not(feature = "tracing"))]
#[path = "spans/none.rs"]
mod spans;
mod stream;
mod stuck_flows;
mod timer;
mod witness;

pub use accept::Listener;
pub use association::Association;
pub use builder::{Encapsulation, EndpointBuilder, SCTP_OVER_UDP_PORT, SHARDS_MAX};
pub use endpoint::{AssociationView, Endpoint, HandOvers};
pub use endpoint_events::{EndpointEvent, EndpointEvents};
pub use error::{BindError, ConnectError, EndpointClosed, ListenError, RecvError, TrySendError};
pub use events::{AssociationEvent, Events};
pub use metrics::{Ended, Metrics, PrometheusText};
pub use recorder::Recorder;
pub use stream::Stream;

pub use bytes::Bytes;
pub use whimbrel_handover as handover;
pub use whimbrel_machine::{ReceivedPower, Record, Route, Seed, Value as RecordValue};
pub use whimbrel_proto as proto;
pub use whimbrel_proto::{
    Acknowledge, AddressChange, AddressChangeError, AssociationId, AssociationStats, AuthKeyNews,
    BufferSizing, CloseReason, Config, Delivery, DurationHistogram, EndpointStats, KEY_EXCHANGE,
    KeyExchangeError, LargeMessages, Message, Mobility, Part, PathCounters, PathId, PathState, PathView,
    PeerAddressChange, Received, Security, SendError, StaticReason, Totals, Urgency,
};
pub use whimbrel_secure as secure;
pub use whimbrel_wire::{PayloadProtocolId, StreamId};
