//! Keys for associations whose packets are protected.
//!
//! `whimbrel-proto` knows how packets are sealed and when keys change, and nothing of ciphers and TLS. This crate implements its traits: TLS 1.3
//! by rustls in user messages (draft-porfiri-tsvwg-sctp-dtls-handshake-02), AES-128-GCM and ChaCha20-Poly1305 by ring, and who the ends are:
//! an [`Identity`] is an Ed25519 key without certificate (RFC 7250), [`Trust`] says whose are accepted, and a [`Ticket`] carries what two hosts need that have
//! not met before.
//!
//! ```
//! use whimbrel_secure::{Identity, Trust, required};
//!
//! let robot = Identity::generate()?;
//! let laptop = Identity::generate()?;
//! let config = whimbrel_proto::Config {
//!     security: required(&laptop, Trust::keys([robot.public_key()])),
//!     ..whimbrel_proto::Config::mobile()
//! };
//! config.validate()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod base32;
mod cipher;
mod identity;
mod public_key;
mod ticket;
#[cfg(any(test, fuzzing))]
mod ticket_operations;
mod tls;
mod trust;

/// The bodies of the fuzz targets that reach inside.
#[cfg(fuzzing)]
pub mod fuzzing {
    /// Tickets and keys as people type them.
    pub fn ticket(bytes: &[u8]) {
        crate::ticket_operations::run(bytes);
    }
}

pub use identity::{Identity, IdentityError};
pub use public_key::{PublicKey, PublicKeyError};
pub use ticket::{Ticket, TicketError};
pub use tls::required;
pub use tls::stream::StreamTls;
pub use trust::{Keyring, Trust};
