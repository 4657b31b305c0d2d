//! Handover that the network controls, on real sockets (paper d10: UFA).
//!
//! [`whimbrel_ufa`] has the machines: gateway, terminal and correspondent. This crate gives them a clock, SIP over TLS, and a kernel:
//!
//! - [`Gateway`] runs one gateway. It routes as the kernel does, and only what is for a terminal on its way comes to it, by a TUN device, and waits there.
//! - [`Agent`] stands beside an [`Endpoint`](whimbrel::Endpoint), as the SIP side of a terminal or of a correspondent, and does to its associations what the
//!   gateway says.
//!
//! Everybody is known by a key ([`PublicKey`](whimbrel::secure::PublicKey)), as associations are: a gateway hears the gateways and hosts of its file, and a host its
//! gateways.
#![forbid(unsafe_code)]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "this crate lives in real time")]

#[cfg(target_os = "linux")]
mod acquaintances;
mod agent;
#[cfg(target_os = "linux")]
mod authority;
mod connections;
mod conversation;
mod driver;
mod follow;
mod framing;
mod gated;
#[cfg(target_os = "linux")]
mod gateway;
mod gateway_address;
#[cfg(target_os = "linux")]
mod hold;
#[cfg(target_os = "linux")]
mod kernel;
mod moving;
mod network_control;
mod news;
#[cfg(target_os = "linux")]
mod numbers;
#[cfg(target_os = "linux")]
mod order;
#[cfg(target_os = "linux")]
mod plain;
mod plain_settings;
mod runner;
mod settings;
mod settling;
mod values;
mod witness;

pub use agent::{Agent, AgentError, Attach};
pub use gated::Gated;
#[cfg(target_os = "linux")]
pub use gateway::{Gateway, GatewayError};
pub use gateway_address::GatewayAddress;
pub use network_control::NetworkControl;
pub use news::{AgentNews, GatewayNews, SessionNews};
#[cfg(target_os = "linux")]
pub use numbers::GatewayNumbers;
#[cfg(target_os = "linux")]
pub use order::{Order, OrderError};
pub use plain_settings::{DigestAlgorithm, Password, PlainSipSettings, UserSettings};
pub use settings::{
    AccessSettings, GatewaySettings, HostSettings, ResourceSettings, Settings, SettingsError,
};
pub use values::{Amount, Range};
#[cfg(target_os = "linux")]
pub use whimbrel_ufa::SessionView;
pub use whimbrel_ufa::sip::Transport;
pub use whimbrel_ufa::{Transition, Ufa, UfaPlus, UfaPlusPlus, trusting};
pub use witness::{Witness, Witnessed};
