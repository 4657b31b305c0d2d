//! Addresses that come and go (RFC 5061), against a peer that is driven by hand, and between two nodes.

#[path = "../common/auth_peer.rs"]
mod auth_peer;
#[path = "../common/mod.rs"]
mod common;
mod mobile;
#[path = "../common/wire_peer.rs"]
mod wire_peer;

mod abuses;
mod announced;
mod answers;
mod attacks;
mod behind_nat;
mod break_before_make;
mod collisions;
mod links;
mod malformed;
mod outgoing;
mod requests;
mod serials;
mod worlds;
