//! A network in virtual time.
//!
//! A [`World`] holds hosts, links between their interfaces, and an event queue in integer nanoseconds. Each host
//! runs one [`Machine`](whimbrel_machine::Machine) with an [`App`] on top; the world knows nothing of the protocol
//! in the machine. Everything random comes from one [`Seed`](whimbrel_machine::Seed) by named streams, so a run is a
//! pure function of its seed: [`World::trace_hash`] tells two runs apart.
//!
//! A link is two [`LinkDirection`]s, each a bottleneck (rate, drop-tail queue or a queue per flow) followed by a wire (delay, jitter,
//! loss, corruption, duplication, reordering). A direction is a plain object that says what becomes of each packet
//! offered to it; it runs as well in real time, without a world.
//!
//! ```
//! use std::time::Duration;
//! use whimbrel_machine::{Instant, Seed};
//! use whimbrel_netsim::{Fate, LinkConfig, LinkDirection};
//!
//! let config = LinkConfig { rate_bps: Some(8_000_000), delay: Duration::from_millis(10), ..LinkConfig::default() };
//! let mut link = LinkDirection::new(config, &Seed::from_u64(1), 0);
//! // 1000 bytes take 1 ms to send at 8 Mbit/s, then 10 ms to arrive.
//! let Fate::Passed { first, .. } = link.offer(Instant::ZERO, 1000) else { panic!("the link loses nothing") };
//! assert_eq!(first.flight.arrives, Instant::from_nanos(11_000_000));
//! ```
#![forbid(unsafe_code)]

mod app;
mod bottleneck;
mod capture;
mod cells;
mod config;
mod direction;
mod event_queue;
mod fabric;
mod hash;
mod headers;
mod intruder;
mod loss;
mod medium;
mod mixed;
mod motion;
mod nat;
mod offload;
mod packets;
mod parts;
mod pattern;
mod pcapng;
mod presets;
mod queue;
mod stats;
mod topology;
mod trace;
pub mod units;
mod watching;
mod world;

pub use app::{App, Context};
pub use cells::{Acquisition, Cell, CellEvent, Cells, LayerTwo};
pub use config::{Change, InFlight, LinkConfig, Oversize, QueueLimit, Queueing, Reorder};
pub use direction::{Arrival, Effect, Fate, Flight, LinkDirection, Offered};
pub use headers::{Framing, MAX_PAYLOAD};
pub use intruder::{Forged, Forgery, Intruder, Overheard};
pub use loss::{GilbertElliott, Loss, Ramp};
pub use medium::{Dcf, DcfConfig, Outcome, Phy, SharedMedium, Umts, UmtsConfig};
pub use mixed::Mixed;
pub use motion::{Area, Position, Trajectory};
pub use parts::{Composite, Hearing, Offers, Parts, Told, Using, Voice};
pub use pattern::{Pattern, PatternError, STEPS_MAX as PATTERN_STEPS_MAX, TEXT_MAX as PATTERN_TEXT_MAX};
pub use pcapng::{Captured, Pcapng};
pub use stats::{DirectionStats, DropReason};
pub use topology::{Attachment, HostId, InterfaceId, LinkId, RouterId, Side};
pub use world::{Action, Stopped, World};
