//! Whimbrel's SCTP (RFC 9260): endpoints, associations, paths and streams as a pure state machine.
//!
//! No socket, clock, thread or ambient randomness: facts and wishes go in through `handle_*` and
//! [`Endpoint::handle_command`], packets, events and deadlines come out through `poll_*`. Same inputs and seed, same
//! bytes out.
#![forbid(unsafe_code)]

mod arrival;
mod association;
mod auth;
mod config;
mod cookie;
mod endpoint;
mod interface;
mod negotiate;
pub mod path;
mod printable;
mod protection;
mod receive;
#[cfg(any(test, fuzzing))]
mod script;
pub mod send;
mod timers;

#[cfg(test)]
#[path = "../tests/support/corpus.rs"]
mod corpus;

/// The bodies of the fuzz targets that reach inside.
#[cfg(fuzzing)]
pub mod fuzzing {
    /// Operations on the chunks that are outstanding.
    pub fn outstanding(bytes: &[u8]) {
        crate::send::operations::run(bytes);
    }

    /// Operations on the sending half.
    pub fn sender(bytes: &[u8]) {
        crate::send::sender_operations::run(bytes);
    }

    /// Packets between two sides that authenticate.
    pub fn authentication(bytes: &[u8]) {
        crate::auth::operations::run(bytes);
    }

    /// Two ends that agree on keys and exchange protected packets.
    pub fn protection(bytes: &[u8]) {
        crate::protection::operations::run(bytes);
    }

    /// Records, genuine or not.
    pub fn record(bytes: &[u8]) {
        crate::protection::record_operations::run(bytes);
    }

    /// Operations on the receiving half.
    pub fn receive(bytes: &[u8]) {
        crate::receive::operations::run(bytes);
    }

    /// Operations on the set of received TSNs.
    pub fn tsn_map(bytes: &[u8]) {
        crate::receive::tsn_map_operations::run(bytes);
    }
}

pub use auth::{
    AuthConfig, AuthKeyChange, AuthKeyError, AuthKeyNews, AuthScope, AuthSupport, HmacAlgorithm, SharedKeys,
    SharedSecret,
};
pub use config::*;
pub use endpoint::{Endpoint, EndpointStats, HandOver, Shard};
pub use interface::*;
pub use protection::{
    KEY_EXCHANGE, KeyContext, KeyExchange, KeyExchangeError, KeyExchanges, KeyRole, Keys, PeerKey,
    RecordCipher, Security, is_about_keys,
};
pub use whimbrel_wire::{PayloadProtocolId, StreamId, cause_name};
