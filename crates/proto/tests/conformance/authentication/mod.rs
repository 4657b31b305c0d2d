//! Authenticated chunks (RFC 4895), against a peer that is driven by hand.

mod collisions;
mod cookie_echo;
mod keys;
mod offers;
mod receiving;
mod sending;
mod worlds;
