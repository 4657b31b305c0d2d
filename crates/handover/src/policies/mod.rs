//! One policy per file.

pub(crate) mod aisle;
pub(crate) mod concurrent;
pub(crate) mod failover;
pub(crate) mod fastest_network;
pub(crate) mod seamless;
pub(crate) mod signal_strength;
