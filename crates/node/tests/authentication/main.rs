//! Authenticated chunks (RFC 4895), against a peer that is driven by hand.

#[path = "../common/auth_peer.rs"]
mod auth_peer;
#[path = "../common/mod.rs"]
mod common;
#[path = "../common/wire_peer.rs"]
mod wire_peer;

mod collisions;
mod cookie_echo;
mod keys;
mod offers;
mod receiving;
mod sending;
mod worlds;
