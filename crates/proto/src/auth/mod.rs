//! Authenticated chunks (RFC 4895).
//!
//! Both sides say in INIT and INIT ACK what they can do and which chunk types they take only authenticated
//! ([`offer`]). From the two offers and a shared key both compute the same association key ([`key`]), which lives in the
//! association's [`session`]. Outgoing packets get their AUTH chunk in [`chunk_writer`], incoming ones are judged by the
//! [`gate`].

mod chunk_types;
pub(crate) mod chunk_writer;
mod config;
pub(crate) mod gate;
mod interface;
pub(crate) mod key;
pub(crate) mod offer;
#[cfg(any(test, fuzzing))]
pub(crate) mod operations;
pub(crate) mod session;
mod shared_keys;

pub(crate) use chunk_types::ChunkTypes;
pub use config::{AuthConfig, AuthSupport, HmacAlgorithm};
pub use interface::{AuthKeyChange, AuthKeyNews, AuthScope};
pub use shared_keys::{AuthKeyError, SharedKeys, SharedSecret};
