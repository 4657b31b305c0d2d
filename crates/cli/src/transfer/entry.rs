//! A file that a sender has offered, as the receiver has it.

use super::partial::Partial;
use super::partials::Start;
use super::protocol::Offer;
use super::store::{Look, Tried};

/// A file on its way.
pub(super) struct Entry {
    pub(super) offer: Offer,
    pub(super) state: State,
}

pub(super) enum State {
    /// The sender must prove that it has the same beginning.
    Proving { look: Look, tried: Tried },
    /// May begin.
    Accepted(Start),
    /// Content is arriving on a stream.
    Arriving(Arriving),
    /// Over for us; the sender will abandon it when our result reaches it, and may have offered it again by then.
    Failed(Option<Offer>),
}

pub(super) struct Arriving {
    pub(super) partial: Partial,
    pub(super) resumed: u64,
    pub(super) length: u64,
}
